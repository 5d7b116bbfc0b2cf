/* SPDX-License-Identifier: MIT */
/* The share of lost packets of each direction, in bins of at least 250 ms. */
"use strict";

(function () {
  const LEAST_MS = 250;
  const shares = traffic.map(side => binned((from, to) => {
    const { lost, delivered } = side.between(from, to);
    return { lost, of: lost + delivered, share: lost + delivered === 0 ? null : lost / (lost + delivered) };
  }));
  const reported = traffic.map(side => side.between(0, data.end * 2));

  function each(view, visit) {
    const bins = view.bins(3, LEAST_MS);
    for (let i = bins.first; i <= bins.last; i++) {
      visit(i, bins);
    }
  }

  frame.add({
    id: "loss", title: "Loss rate, %", height: 110,
    about: "packets that the receiver reported as not delivered, where they were sent",
    legend: [["up", DIRECTIONS[0], "line"], ["down", DIRECTIONS[1], "line"]],
    isEmpty: () => reported.every(sums => sums.lost + sums.delivered === 0),
    range(view) {
      let most = 0;
      each(view, (i, bins) => shares.forEach(share => { most = Math.max(most, share(bins, i).share || 0); }));
      return [0, Math.max(most * 108, 2)];
    },
    draw(pen, view) {
      ["up", "down"].forEach((colour, side) => {
        const steps = draw => each(view, (i, bins) => {
          const { share } = shares[side](bins, i);
          draw(view.x(i * bins.ms), view.x((i + 1) * bins.ms), share === null ? null : view.y(share * 100));
        });
        pen.shape({ fill: colour, alpha: 0.18 }, path => steps((from, to, y) => {
          if (y !== null) {
            path.rect(from, y, to - from, view.bottom - y);
          }
        }));
        pen.shape({ stroke: colour, width: 1.3, name: "loss" }, path => {
          let isOpen = false;
          steps((from, to, y) => {
            if (y !== null) {
              path[isOpen ? "lineTo" : "moveTo"](from, y);
              path.lineTo(to, y);
            }
            isOpen = y !== null;
          });
        });
      });
    },
    hover(view, t) {
      const bins = view.bins(3, LEAST_MS), i = Math.floor(t / bins.ms);
      return [`within ${duration(bins.ms)}:`].concat(shares.map((share, side) => {
        const { lost, of } = share(bins, i);
        return of < 0.5 ? `${DIRECTIONS[side]}: no report` : `${DIRECTIONS[side]}: ${percent(lost / of)}, ${number(lost)} of ${number(of)}`;
      }));
    },
  });
})();
