/* SPDX-License-Identifier: MIT */
/* The captures of both ends: from near, a line for each end and the way of each packet between them; from afar, which share
   of the packets of each direction was lost on the way. */
"use strict";

(function () {
  const NEAR_MAX = 300, MARGIN = 12, NOT_ACCEPTED = 1, LOST = 2, CHANGED = 3;
  const ways = [data.tables.paths0, data.tables.paths1].map(rows => rows || { length: 0, t: new Float64Array(0) });
  const ends = data.info.both_ends, isKnown = ways[0].length + ways[1].length > 0;
  const names = isKnown ? [ends.captures[ends.client_end], ends.captures[1 - ends.client_end]] : [];
  /* A way that is longer begins outside of the view without being drawn. */
  const longest = Math.min(d3.max(ways, rows => d3.max(rows.ms || [], ms => ms || 0)) || 0, 5000);
  const typical = ways.map(rows => d3.median(rows.ms || []) || 0);

  const sums = ways.map(rows => binned((from, to) => {
    const first = lowerBound(rows.t, from), last = lowerBound(rows.t, to, first);
    const lost = rows.fate ? rows.fate.subarray(first, last).filter(fate => fate === LOST).length : 0;
    return { sent: last - first, lost, delay: last > first ? d3.median(rows.ms.subarray(first, last)) : undefined };
  }));

  function visible(view, side) {
    const rows = ways[side];
    return [lowerBound(rows.t, view.from - longest), lowerBound(rows.t, view.to)];
  }

  const isNear = view => d3.sum([0, 1], side => visible(view, side)[1] - visible(view, side)[0]) <= NEAR_MAX;
  const lineOf = (view, side) => side === 0 ? view.top + MARGIN : view.bottom - MARGIN;

  /* The way of a packet in pixels; a lost one ends in the middle. */
  function way(view, side, i) {
    const rows = ways[side], isGone = Number.isNaN(rows.ms[i]), from = lineOf(view, side), to = lineOf(view, 1 - side);
    return [view.x(rows.t[i]), from, view.x(rows.t[i] + (isGone ? typical[side] / 2 : rows.ms[i])), isGone ? (from + to) / 2 : to];
  }

  function drawWays(pen, view) {
    [0, 1].forEach(side => {
      const [first, last] = visible(view, side), fate = ways[side].fate, key = "-" + WAYS[side];
      const lines = isWanted => path => {
        for (let i = first; i < last; i++) {
          if (isWanted(fate[i])) {
            const [x1, y1, x2, y2] = way(view, side, i);
            path.moveTo(x1, y1);
            path.lineTo(x2, y2);
          }
        }
      };
      pen.shape({ stroke: side === 0 ? "up" : "down", name: "arrived" + key }, lines(one => one === 0));
      pen.shape({ stroke: "late", name: "not-accepted" + key }, lines(one => one === NOT_ACCEPTED));
      pen.shape({ stroke: "late", dash: [2, 2], name: "changed" + key }, lines(one => one === CHANGED));
      pen.shape({ stroke: "open", dash: [2, 2], name: "only-acknowledged" + key }, lines(one => one > CHANGED));
      pen.shape({ stroke: "lost", dash: [3, 2], name: "lost-way" + key }, lines(one => one === LOST));
      pen.shape({ stroke: "lost", width: 2, name: "lost" + key }, path => {
        for (let i = first; i < last; i++) {
          if (fate[i] === LOST) {
            const [, , x, y] = way(view, side, i);
            path.moveTo(x - 3, y - 3);
            path.lineTo(x + 3, y + 3);
            path.moveTo(x + 3, y - 3);
            path.lineTo(x - 3, y + 3);
          }
        }
      });
    });
  }

  /* Bars from the line of the sender; half of the height is all packets. */
  function drawShares(pen, view) {
    const bins = view.bins(3), half = (view.bottom - view.top) / 2 - MARGIN;
    [0, 1].forEach(side => pen.shape({ fill: "lost", name: "share-" + WAYS[side] }, path => {
      for (let i = bins.first; i <= bins.last; i++) {
        const sum = sums[side](bins, i);
        if (sum.lost > 0) {
          const high = half * sum.lost / sum.sent, from = view.x(i * bins.ms), y = lineOf(view, side);
          path.rect(from, side === 0 ? y : y - high, view.x((i + 1) * bins.ms) - from, high);
        }
      }
    }));
  }

  function distance(px, py, [x1, y1, x2, y2]) {
    const length = (x2 - x1) ** 2 + (y2 - y1) ** 2;
    const at = length === 0 ? 0 : Math.max(0, Math.min(1, ((px - x1) * (x2 - x1) + (py - y1) * (y2 - y1)) / length));
    return Math.hypot(px - x1 - at * (x2 - x1), py - y1 - at * (y2 - y1));
  }

  function describe(side, i) {
    const rows = ways[side], id = rows.id[i] < 0 ? "packet without an id" : `packet ${rows.id[i]}`;
    const sent = `${id} ${DIRECTIONS[side]}, frame ${rows.sent_frame[i]} of ${names[side]}`;
    if (rows.arrived_frame[i] === 0) {
      return [sent, rows.fate[i] === LOST ? "lost on the way" : `acknowledged, but not in ${names[1 - side]}`];
    }
    return [sent, `arrived after ${duration(rows.ms[i])}, frame ${rows.arrived_frame[i]} of ${names[1 - side]}`]
      .concat(rows.fate[i] === NOT_ACCEPTED ? ["the receiver did not accept it"] : rows.fate[i] === CHANGED ? ["with other bytes"] : []);
  }

  function nearest(view, px, py) {
    let best = null, least = 8;
    [0, 1].forEach(side => {
      for (let [i, last] = visible(view, side); i < last; i++) {
        const away = distance(px, py, way(view, side, i));
        if (away < least) {
          least = away;
          best = () => describe(side, i);
        }
      }
    });
    return best && best();
  }

  frame.add({
    id: "both-ends", title: "Both ends", height: 170,
    about: isKnown ? `the client's end, ${names[0]}, above; the server's, ${names[1]}, below: from near the way of each packet, from afar the share that was lost`
      : "",
    legend: [["up", "client to server", "line"], ["down", "server to client", "line"], ["lost", "lost on the way"],
      ["late", "arrived, not accepted; dashed: changed on the way", "line"]],
    isEmpty: () => !isKnown,
    range: () => null,
    draw(pen, view) {
      (isNear(view) ? drawWays : drawShares)(pen, view);
      pen.shape({ stroke: "text", width: 1.5, name: "end" }, path => [0, 1].forEach(side => {
        path.moveTo(view.left, lineOf(view, side));
        path.lineTo(view.right, lineOf(view, side));
      }));
    },
    hover(view, t, px, py) {
      if (isNear(view)) {
        return nearest(view, px, py);
      }
      const bins = view.bins(3), i = Math.floor(t / bins.ms);
      return [0, 1].map(side => {
        const sum = sums[side](bins, i);
        return `${DIRECTIONS[side]}, within ${duration(bins.ms)}: ${number(sum.sent)} sent, ${number(sum.lost)} lost` +
          (sum.delay === undefined ? "" : `, ${duration(sum.delay)} on the way in the median`);
      });
    },
  });
})();
