/* SPDX-License-Identifier: MIT */
/* The content of the fullest reliable buffer of each direction, beside its limit. */
"use strict";

(function () {
  const table = data.tables.levels, limit = data.info.reliable_limit;
  const sides = [0, 1].map(side => {
    const index = d3.range(table.length).filter(i => table.side[i] === side);
    return { t: Float64Array.from(index, i => table.t[i]), bunches: Uint16Array.from(index, i => table.bunches[i]),
      channel: Uint32Array.from(index, i => table.channel[i]) };
  });
  const highest = sides.map(({ t, bunches, channel }) => binned((from, to) => {
    let best = -1;
    for (let i = lowerBound(t, from), last = lowerBound(t, to, i); i < last; i++) {
      best = best < 0 || bunches[i] > bunches[best] ? i : best;
    }
    return best < 0 ? null : { bunches: bunches[best], channel: channel[best] };
  }));

  function each(view, side, visit) {
    const bins = view.bins(3);
    for (let i = bins.first; i <= bins.last; i++) {
      const value = highest[side](bins, i);
      if (value) {
        visit(value, view.x(i * bins.ms), view.x((i + 1) * bins.ms));
      }
    }
  }

  frame.add({
    id: "reliable-buffer", title: "Reliable buffer, bunches", height: 110,
    about: limit ? `unacknowledged reliable bunches of the fullest channel; at ${limit} an engine closes the connection`
      : "unacknowledged reliable bunches of the fullest channel",
    legend: [["up", DIRECTIONS[0]], ["down", DIRECTIONS[1]]].concat(limit ? [["error", `limit ${limit}`, "line"]] : []),
    isEmpty: () => table.length === 0,
    range(view) {
      let most = 4;
      [0, 1].forEach(side => each(view, side, ({ bunches }) => { most = Math.max(most, bunches); }));
      return [0, limit && most > limit / 4 ? Math.max(limit * 1.08, most * 1.08) : most * 1.15];
    },
    draw(pen, view) {
      ["up", "down"].forEach((colour, side) => pen.shape({ fill: colour, alpha: 0.55, name: "level" }, path =>
        each(view, side, ({ bunches }, from, to) => path.rect(from, view.y(bunches), Math.max(to - from, 1), view.bottom - view.y(bunches)))));
      if (limit && limit <= view.y.domain()[1]) {
        pen.shape({ stroke: "error", width: 1.5, dash: [5, 4], name: "limit" }, path => {
          path.moveTo(view.left, view.y(limit));
          path.lineTo(view.right, view.y(limit));
        });
      } else if (limit) {
        pen.text(view.right - 6, view.top + 12, `the limit of ${limit} is far above`, { anchor: "end" });
      }
    },
    hover(view, t) {
      const bins = view.bins(3), i = Math.floor(t / bins.ms);
      return highest.map((of, side) => ({ value: of(bins, i), side })).filter(({ value }) => value).map(({ value, side }) =>
        `${DIRECTIONS[side]}: at least ${value.bunches}${limit ? ` of ${limit}` : ""}, ${channelName(value.channel)}`);
    },
  });
})();
