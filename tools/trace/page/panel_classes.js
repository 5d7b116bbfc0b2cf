/* SPDX-License-Identifier: MIT */
/* All bits of the datagrams, stacked: bunches by class, and what is outside of bunches. Upwards from client to server,
   downwards from server to client. */
"use strict";

(function () {
  const OUTSIDE = [["headers", "packet headers, acks"], ["acks", "packets without bunches"], ["handshake", "handshake"],
    ["unread", "not readable"]];
  const series = data.bandwidth.series, bin_ms = series === null ? 1000 : series.bin_s * 1000;
  const nameOf = row => row.others ? "other classes" : row.class === null ? "not known" : row.class.split(/[./:]/).pop();
  const bands = series === null ? [] : series.classes.map(row => ({ name: nameOf(row), bits: [row.c2s, row.s2c] }))
    .concat(OUTSIDE.filter(([kind]) => series.kinds[kind] !== undefined)
      .map(([kind, name]) => ({ name, bits: [series.kinds[kind].c2s, series.kinds[kind].s2c] })));
  const count = bands.length === 0 ? 0 : d3.max(bands, band => band.bits[0].length);
  const sums = bands.map(band => band.bits.map(side => {
    const running = new Float64Array(count + 1);
    for (let i = 0; i < count; i++) {
      running[i + 1] = running[i] + (side[i] || 0);
    }
    return running;
  }));

  /* kbit/s of a band, whose bits are spread evenly over the bins of the data. */
  function rate(band, side, from, to) {
    const running = sums[band][side], at = t => {
      const place = Math.min(Math.max(t / bin_ms, 0), count), whole = Math.floor(place);
      return running[whole] + (place > whole ? (place - whole) * (running[whole + 1] - running[whole]) : 0);
    };
    return (at(to) - at(from)) / lengthOf(from, to);
  }
  const rates = binned((from, to) => bands.map((_, band) => [0, 1].map(side => rate(band, side, from, to))));
  const binsOf = view => view.bins(3, bin_ms);

  function each(view, visit) {
    const bins = binsOf(view);
    for (let i = bins.first; i <= bins.last; i++) {
      visit(rates(bins, i), view.x(i * bins.ms), view.x((i + 1) * bins.ms));
    }
  }

  frame.add({
    id: "classes", title: "All bits by class of actor, kbit/s", height: 170,
    about: `above ${DIRECTIONS[0]}, below ${DIRECTIONS[1]}; the headers of bunches count for their class`,
    legend: bands.map((band, i) => ["band" + i, band.name]),
    isEmpty: () => bands.length === 0,
    format: value => decimal(Math.abs(value)),
    range(view) {
      const most = [0, 0];
      each(view, values => most.forEach((value, side) => { most[side] = Math.max(value, d3.sum(values, of => of[side])); }));
      return [-most[1] * 1.05 - 0.1, most[0] * 1.05 + 0.1];
    },
    draw(pen, view) {
      bands.forEach((_, band) => pen.shape({ fill: "band" + band, name: "class" }, path => each(view, (values, from, to) => [1, -1].forEach((sign, side) => {
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
})();
