/* SPDX-License-Identifier: MIT */
/* Reliable bunches that arrived late: a bar from the first transmission to the one that arrived, in a line for each
   channel. */
"use strict";

(function () {
  const rows = data.tables.stalls, LINES_MAX = 12, LINE = 13;
  const worst = new Map();
  for (let i = 0; i < rows.length; i++) {
    const key = `${rows.side[i]}/${rows.channel[i]}`;
    worst.set(key, Math.max(worst.get(key) || 0, rows.ms[i]));
  }
  const keys = Array.from(worst.keys()).sort((a, b) => worst.get(b) - worst.get(a)).slice(0, LINES_MAX);
  const rest = worst.size - keys.length;
  const lines = Uint8Array.from({ length: rows.length }, (_, i) => {
    const line = keys.indexOf(`${rows.side[i]}/${rows.channel[i]}`);
    return line < 0 ? keys.length : line;
  });
  const longest = d3.max(rows.ms) || 0;

  function each(view, visit) {
    for (let i = lowerBound(rows.t, view.from - longest); i < rows.length && rows.t[i] <= view.to; i++) {
      visit(i, view.x(rows.t[i]), view.x(rows.t[i] + rows.ms[i]), view.top + 3 + lines[i] * LINE);
    }
  }

  frame.add({
    id: "stalls", title: "Reliable bunches that came late", height: 18 + (keys.length + (rest > 0)) * LINE,
    about: "nothing that was sent later on the channel takes effect before the bar ends: the longest first",
    legend: [["up", DIRECTIONS[0]], ["down", DIRECTIONS[1]], ["lost", "never known to arrive"]],
    isEmpty: () => rows.length === 0,
    draw(pen, view) {
      ["up", "down", "lost"].forEach((colour, kind) => pen.shape({ fill: colour, alpha: 0.8, name: "stall" }, path => {
        const ends = new Float64Array(keys.length + 1).fill(-1); /* from afar, what lies within a pixel is one bar */
        each(view, (i, from, to, y) => {
          const end = Math.max(to, from + 1.5);
          if (kind === (rows.open[i] ? 2 : rows.side[i]) && end > ends[lines[i]] + 0.7) {
            path.rect(from, y, end - from, LINE - 4);
            ends[lines[i]] = end;
          }
        });
      }));
      const names = keys.map(key => channelName(+key.split("/")[1])).concat(rest > 0 ? [`${rest} other channels`] : []);
      pen.shape({ fill: "back", alpha: 0.8 }, path => names.forEach((name, line) => path.rect(view.left, view.top + LINE * line + 3, name.length * 5.8 + 8, LINE - 4)));
      names.forEach((name, line) => pen.text(view.left + 4, view.top + LINE * line + 12, name, { fill: "text" }));
    },
    hover(view, t, px, py) {
      const lines = [];
      each(view, (i, from, to, y) => {
        if (px >= from - 2 && px <= to + 2 && py >= y - 2 && py <= y + LINE - 2 && lines.length < 12) {
          lines.push(`${channelName(rows.channel[i])}, ${DIRECTIONS[rows.side[i]]}: ${duration(rows.ms[i])}` +
            (rows.open[i] ? ", not known to have arrived" : ""), `sent in frame ${rows.first_frame[i]}` +
            (rows.open[i] ? "" : `, arrived with frame ${rows.last_frame[i]}`) + (rows.losses[i] ? `, not delivered ${rows.losses[i]} times` : ""));
        }
      });
      return lines;
    },
  });
})();
