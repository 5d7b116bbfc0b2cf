/* SPDX-License-Identifier: MIT */
/* Panels of bits over time, stacked in bands: upwards from client to server, downwards from server to client. */
"use strict";

/* Panels of one page have the same bins, so that bits in one are comparable with those in another. */
const STACKED_BIN_MS = Math.max(data.bin_ms, data.bandwidth.series === null ? 0 : data.bandwidth.series.bin_s * 1000);

/* Adds a panel. bands: {name, bits}, where bits has an array for each direction, with a value for each bin of bin_ms from
   the beginning; shape: name of the shapes that are drawn. */
function addStackedPanel({ id, title, about, shape, bin_ms, bands }) {
  const count = d3.max(bands, band => band.bits[0].length) || 0;
  const sums = bands.map(band => band.bits.map(side => sumUntil(side, count, bin_ms)));
  const rates = binned((from, to) => sums.map(of => of.map(until => (until(to) - until(from)) / lengthOf(from, to))));
  const binsOf = view => view.bins(3, STACKED_BIN_MS);

  function each(view, visit) {
    const bins = binsOf(view);
    for (let i = bins.first; i <= bins.last; i++) {
      visit(rates(bins, i), view.x(i * bins.ms), view.x((i + 1) * bins.ms));
    }
  }

  frame.add({
    id, title: `${title}, kbit/s`, height: 170,
    about: `above ${DIRECTIONS[0]}, below ${DIRECTIONS[1]}; ${about}`,
    legend: bands.map((band, i) => ["band" + i, band.name]),
    isEmpty: () => bands.length === 0,
    format: value => decimal(Math.abs(value)),
    range(view) {
      const most = [0, 0];
      each(view, values => most.forEach((value, side) => { most[side] = Math.max(value, d3.sum(values, of => of[side])); }));
      return [-most[1] * 1.05 - 0.1, most[0] * 1.05 + 0.1];
    },
    draw(pen, view) {
      bands.forEach((_, band) => pen.shape({ fill: "band" + band, name: shape }, path => each(view, (values, from, to) => [1, -1].forEach((sign, side) => {
        const below = d3.sum(values.slice(0, band), of => of[side]) * sign, above = below + values[band][side] * sign;
        if (above !== below) {
          path.rect(from, view.y(Math.max(above, below)), to - from, Math.abs(view.y(above) - view.y(below)));
        }
      }))));
      pen.shape({ stroke: "text" }, path => {
        path.moveTo(view.left, view.y(0));
        path.lineTo(view.right, view.y(0));
      });
    },
    hover(view, t) {
      const bins = binsOf(view), values = rates(bins, Math.floor(t / bins.ms)), kbits = d3.format(",.1f");
      return [`within ${duration(bins.ms)}, kbit/s up and down:`].concat(bands
        .map((band, i) => ({ name: band.name, up: values[i][0], down: values[i][1] })).filter(each => each.up + each.down > 0)
        .map(each => `${each.name}: ${kbits(each.up)}, ${kbits(each.down)}`));
    },
  });
}
