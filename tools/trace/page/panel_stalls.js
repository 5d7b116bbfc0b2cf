/* SPDX-License-Identifier: MIT */
/* In a line for each channel: reliable bunches that arrived late, a thin bar from the first transmission to the one that
   arrived; and head-of-line blocking, a thick bar while bunches that arrived waited for a lost one. */
"use strict";

(function () {
  const late = data.tables.stalls, waits = data.tables.waits, LINES_MAX = 12, LINE = 13;
  const worst = new Map();
  [late, waits].forEach(rows => {
    for (let i = 0; i < rows.length; i++) {
      const key = `${rows.side[i]}/${rows.channel[i]}`;
      worst.set(key, Math.max(worst.get(key) || 0, rows.ms[i]));
    }
  });
  const keys = Array.from(worst.keys()).sort((a, b) => worst.get(b) - worst.get(a)).slice(0, LINES_MAX);
  const rest = worst.size - keys.length;
  const linesOf = rows => Uint8Array.from({ length: rows.length }, (_, i) => {
    const line = keys.indexOf(`${rows.side[i]}/${rows.channel[i]}`);
    return line < 0 ? keys.length : line;
  });
  const tables = [late, waits].map(rows => ({ rows, lines: linesOf(rows), longest: d3.max(rows.ms) || 0 }));

  function each(view, { rows, lines, longest }, visit) {
    for (let i = lowerBound(rows.t, view.from - longest); i < rows.length && rows.t[i] <= view.to; i++) {
      visit(i, view.x(rows.t[i]), view.x(rows.t[i] + rows.ms[i]), view.top + 3 + lines[i] * LINE);
    }
  }

  /* From afar, what lies within a pixel is one bar. */
  function bars(path, view, table, isWanted, top, height) {
    const ends = new Float64Array(keys.length + 1).fill(-1);
    each(view, table, (i, from, to, y) => {
      const end = Math.max(to, from + 1.5);
      if (isWanted(i) && end > ends[table.lines[i]] + 0.7) {
        path.rect(from, y + top, end - from, height);
        ends[table.lines[i]] = end;
      }
    });
  }

  function describeLate(i) {
    return [`late: ${channelName(late.channel[i])}, ${DIRECTIONS[late.side[i]]}: ${duration(late.ms[i])}` + (late.open[i] ? ", not known to have arrived" : ""),
      `sent in frame ${late.first_frame[i]}` + (late.open[i] ? "" : `, arrived with frame ${late.last_frame[i]}`) +
        (late.losses[i] ? `, not delivered ${late.losses[i] === 1 ? "once" : `${late.losses[i]} times`}` : "")];
  }

  function describeWait(i) {
    const isOne = waits.bunches[i] === 1, bound = waits.at_least[i] ? "at least " : "";
    const bunches = isOne ? "1 bunch" : `${waits.bunches[i]} bunches`, longest = isOne ? bound : bound ? "one at least " : "up to ";
    return [`${bound}${bunches} of ${channelName(waits.channel[i])}, ${DIRECTIONS[waits.side[i]]}, waited ${longest}${duration(waits.ms[i])}`,
      `from frame ${waits.first_frame[i]} until ChSequence ${waits.ch_seq[i]} arrived with frame ${waits.frame[i]}`];
  }

  frame.add({
    id: "stalls", title: "Late reliable bunches, and what waited for them", height: 18 + (keys.length + (rest > 0)) * LINE,
    about: "bunches that wait have arrived, and take effect only when the bar ends; the longest first",
    legend: [["up", `↑ ${DIRECTIONS[0]}`], ["down", `↓ ${DIRECTIONS[1]}`], ["lost", "never known to arrive"], ["text", "thin: late", "line"], ["text", "thick: waited"]],
    isEmpty: () => late.length + waits.length === 0,
    draw(pen, view) {
      ["up", "down", "lost"].forEach((colour, kind) => pen.shape({ fill: colour, alpha: 0.55, name: "stall" }, path =>
        bars(path, view, tables[0], i => kind === (late.open[i] ? 2 : late.side[i]), 3, 3)));
      ["up", "down"].forEach((colour, side) => pen.shape({ fill: colour, name: "wait" }, path =>
        bars(path, view, tables[1], i => waits.side[i] === side, 0, LINE - 4)));
      const names = keys.map(key => `${key[0] === "0" ? "↑" : "↓"} ${channelName(+key.split("/")[1])}`).concat(rest > 0 ? [`${rest} other channels`] : []);
      pen.shape({ fill: "back", alpha: 0.8 }, path => names.forEach((name, line) => path.rect(view.left, view.top + LINE * line + 3, name.length * 5.8 + 8, LINE - 4)));
      names.forEach((name, line) => pen.text(view.left + 4, view.top + LINE * line + 12, name, { fill: "text" }));
    },
    hover(view, t, px, py) {
      const found = [];
      [describeWait, describeLate].forEach((describe, kind) => each(view, tables[1 - kind], (i, from, to, y) => {
        if (px >= from - 2 && px <= to + 2 && py >= y - 2 && py <= y + LINE - 2 && found.length < 12) {
          found.push(...describe(i));
        }
      }));
      return found;
    },
  });
})();
