/* SPDX-License-Identifier: MIT */
/* Round trip times: each from near, from afar the median, the tenth to the ninetieth percentile, and the extremes. */
"use strict";

(function () {
  const rows = data.tables.rtts, DOTS_MAX = 3000;
  const summary = binned((from, to) => {
    const first = lowerBound(rows.t, from), last = lowerBound(rows.t, to, first);
    const values = rows.ms.slice(first, last).sort(), at = share => values[Math.max(Math.ceil(values.length * share) - 1, 0)];
    return values.length === 0 ? null
      : { count: values.length, least: values[0], low: at(0.1), median: at(0.5), high: at(0.9), most: values[values.length - 1] };
  });

  function visible(view) {
    const first = lowerBound(rows.t, view.from), last = lowerBound(rows.t, view.to, first);
    return { first, last, isNear: last - first <= DOTS_MAX };
  }

  function summaries(view) {
    const bins = view.bins(3), found = [];
    for (let i = bins.first; i <= bins.last; i++) {
      const value = summary(bins, i);
      if (value) {
        found.push({ ...value, x: view.x((i + 0.5) * bins.ms), from: view.x(i * bins.ms), to: view.x((i + 1) * bins.ms) });
      }
    }
    return found;
  }

  function drawSummaries(pen, view) {
    const shown = summaries(view);
    const bars = (low, high) => path => shown.forEach(each => {
      path.rect(each.from, view.y(each[high]) - 0.5, each.to - each.from, view.y(each[low]) - view.y(each[high]) + 1);
    });
    pen.shape({ fill: "ok", alpha: 0.18 }, bars("least", "most"));
    pen.shape({ fill: "ok", alpha: 0.35 }, bars("low", "high"));
    pen.shape({ stroke: "ok", width: 1.5, name: "median" }, path => shown.forEach((each, i) => {
      path[i === 0 || shown[i - 1].to < each.from - 0.5 ? "moveTo" : "lineTo"](each.from, view.y(each.median));
      path.lineTo(each.to, view.y(each.median));
    }));
  }

  frame.add({
    id: "round-trip", title: "Round trip time, ms", height: 120,
    about: "from a packet to its acknowledgement and back; what players feel as ping, plus the time until an end acknowledges",
    legend: [["ok", "median", "line"], ["ok", "10 to 90 %, and extremes"]],
    isEmpty: () => rows.length === 0,
    range(view) {
      const { first, last, isNear } = visible(view);
      const most = isNear ? d3.max(rows.ms.subarray(first, last)) : d3.max(summaries(view), each => each.most);
      return [0, (most || 1) * 1.08];
    },
    draw(pen, view) {
      const { first, last, isNear } = visible(view);
      if (!isNear) {
        drawSummaries(pen, view);
        return;
      }
      pen.shape({ fill: "ok", alpha: 0.7, name: "round-trip" }, path => {
        for (let i = first; i < last; i++) {
          path.rect(view.x(rows.t[i]) - 1, view.y(rows.ms[i]) - 1, 2.5, 2.5);
        }
      });
    },
    hover(view, t) {
      const { first, last, isNear } = visible(view);
      if (isNear && last > first) {
        const after = lowerBound(rows.t, t, first, last), i = after > first && (after === last || rows.t[after] - t > t - rows.t[after - 1]) ? after - 1 : after;
        return [`${duration(rows.ms[i])} at ${duration(rows.t[i])}`];
      }
      const bins = view.bins(3), value = summary(bins, Math.floor(t / bins.ms));
      return value && [`within ${duration(bins.ms)}: ${number(value.count)} round trips`, `median ${duration(value.median)}`,
        `10 to 90 %: ${duration(value.low)} to ${duration(value.high)}`, `extremes: ${duration(value.least)} and ${duration(value.most)}`];
    },
  });
})();
