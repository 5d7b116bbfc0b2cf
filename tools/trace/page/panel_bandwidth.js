/* SPDX-License-Identifier: MIT */
/* Bunch data by channel. */
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
    bands.push({ name: `${others.length} ${others.length === 1 ? "other" : "others"}`, bits: [sum(0), sum(1)] });
  }
  addStackedPanel({
    id: "bandwidth", title: "Bunch data by channel", about: "without headers and acknowledgements", shape: "band", bin_ms: data.bin_ms, bands,
  });
})();
