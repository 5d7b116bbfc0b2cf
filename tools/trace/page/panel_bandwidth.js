/* SPDX-License-Identifier: MIT */
/* Bunch data by channel: upwards from client to server, downwards from server to client. */
"use strict";

(function () {
  const NAMED = 9, count = data.tables.bins0.length, bits = data.tables.bands.bits;
  const all = data.bands.map((channel, i) => ({
    name: channelName(channel),
    bits: [0, 1].map(side => bits.subarray((2 * i + side) * count, (2 * i + side + 1) * count)),
  })).sort((a, b) => size(b) - size(a));
  function size(band) {
    return d3.sum(band.bits[0]) + d3.sum(band.bits[1]);
  }
  const bands = all.slice(0, NAMED), others = all.slice(NAMED);
  if (others.length > 0) {
    const sum = side => Float64Array.from({ length: count }, (_, bin) => d3.sum(others, band => band.bits[side][bin]));
    bands.push({ name: `${others.length} others`, bits: [sum(0), sum(1)] });
  }
  const sums = bands.map(band => band.bits.map(side => {
    const running = new Float64Array(count + 1);
    side.forEach((value, i) => { running[i + 1] = running[i] + value; });
    return running;
  }));

  /* kbit/s of a band, whose bits are spread evenly over the bins of the data. */
  function rate(band, side, from, to) {
    const running = sums[band][side], at = t => {
      const place = Math.min(Math.max(t / data.bin_ms, 0), count), whole = Math.floor(place);
      return running[whole] + (place > whole ? (place - whole) * (running[whole + 1] - running[whole]) : 0);
    };
    return (at(to) - at(from)) / lengthOf(from, to);
  }
  const rates = binned((from, to) => bands.map((_, band) => [0, 1].map(side => rate(band, side, from, to))));
  const binsOf = view => view.bins(3, data.bin_ms);

  function each(view, visit) {
    const bins = binsOf(view);
    for (let i = bins.first; i <= bins.last; i++) {
      visit(rates(bins, i), view.x(i * bins.ms), view.x((i + 1) * bins.ms));
    }
  }

  frame.add({
    id: "bandwidth", title: "Bunch data by channel, kbit/s", height: 170,
    about: `above ${DIRECTIONS[0]}, below ${DIRECTIONS[1]}; without headers and acknowledgements`,
    legend: bands.map((band, i) => ["band" + i, band.name]),
    isEmpty: () => bands.length === 0,
    format: value => decimal(Math.abs(value)),
    range(view) {
      const most = [0, 0];
      each(view, values => most.forEach((value, side) => { most[side] = Math.max(value, d3.sum(values, of => of[side])); }));
      return [-most[1] * 1.05 - 0.1, most[0] * 1.05 + 0.1];
    },
    draw(pen, view) {
      bands.forEach((_, band) => pen.shape({ fill: "band" + band, name: "band" }, path => each(view, (values, from, to) => [1, -1].forEach((sign, side) => {
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
