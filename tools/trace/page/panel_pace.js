/* SPDX-License-Identifier: MIT */
/* The time between the frames of each side in which it sent, by its own clock: its tick, and where it hung. */
"use strict";

(function () {
  const sides = [data.tables.paces0, data.tables.paces1], DOTS_MAX = 3000;
  const summaries = sides.map(rows => binned((from, to) => {
    const first = lowerBound(rows.t, from), last = lowerBound(rows.t, to, first);
    const values = rows.ms.slice(first, last).sort();
    return values.length === 0 ? null : { median: values[(values.length - 1) >> 1], most: values[values.length - 1], count: values.length };
  }));

  const interval = ms => duration(ms) + (ms < 1000 ? "" : " or more"); // the clock has no longer ones

  function visible(view, rows) {
    const first = lowerBound(rows.t, view.from), last = lowerBound(rows.t, view.to, first);
    return { first, last, isNear: last - first <= DOTS_MAX };
  }

  function each(view, side, visit) {
    const bins = view.bins(3);
    for (let i = bins.first; i <= bins.last; i++) {
      const value = summaries[side](bins, i);
      if (value) {
        visit(value, view.x(i * bins.ms), view.x((i + 1) * bins.ms));
      }
    }
  }

  frame.add({
    id: "pace", title: "Send interval, ms", height: 100,
    about: "between frames of a side that sent, by its own clock: its tick; where a side that has something to send pauses, it hung",
    legend: [["up", "client, median and longest"], ["down", "server, median and longest"]],
    isEmpty: () => sides.every(rows => rows.length === 0),
    range(view) {
      let most = 10;
      sides.forEach((rows, side) => each(view, side, value => { most = Math.max(most, value.most); }));
      return [0, most * 1.08];
    },
    draw(pen, view) {
      ["up", "down"].forEach((colour, side) => {
        const rows = sides[side], { first, last, isNear } = visible(view, rows);
        if (isNear) {
          pen.shape({ fill: colour, alpha: 0.8, name: "interval" }, path => {
            for (let i = first; i < last; i++) {
              path.rect(view.x(rows.t[i]) - 1, view.y(rows.ms[i]) - 1, 2.5, 2.5);
            }
          });
          return;
        }
        pen.shape({ fill: colour, alpha: 0.25, name: "longest" }, path => each(view, side, (value, from, to) =>
          path.rect(from, view.y(value.most), to - from, view.bottom - view.y(value.most))));
        pen.shape({ fill: colour, name: "median" }, path => each(view, side, (value, from, to) => path.rect(from, view.y(value.median) - 1, to - from, 2)));
      });
    },
    hover(view, t) {
      return sides.map((rows, side) => {
        const name = side === 0 ? "client" : "server", { first, last, isNear } = visible(view, rows);
        const at = lowerBound(rows.t, t, first, last);
        if (isNear) {
          return at < last ? `${name}: ${interval(rows.ms[at])} before frame ${rows.frame[at]}` : "";
        }
        const bins = view.bins(3), value = summaries[side](bins, Math.floor(t / bins.ms));
        return value ? `${name}: median ${interval(value.median)}, longest ${interval(value.most)}, of ${number(value.count)}` : "";
      }).filter(Boolean);
    },
  });
})();
