/* SPDX-License-Identifier: MIT */
/* All bits of the datagrams: bunches by class, and what is outside of bunches. */
"use strict";

(function () {
  const OUTSIDE = [["headers", "packet headers, acks"], ["acks", "packets without bunches"], ["handshake", "handshake"],
    ["unread", "not readable"]];
  const series = data.bandwidth.series, bin_ms = series === null ? 1000 : series.bin_s * 1000;
  const nameOf = row => row.others ? "other classes" : row.class === null ? "class or name not known" : row.class.split(/[./:]/).pop();
  const bands = series === null ? [] : series.classes.map(row => ({ name: nameOf(row), bits: [row.c2s, row.s2c] }))
    .concat(OUTSIDE.filter(([kind]) => series.kinds[kind] !== undefined)
      .map(([kind, name]) => ({ name, bits: [series.kinds[kind].c2s, series.kinds[kind].s2c] })));
  addStackedPanel({
    id: "classes", title: "All bits by class of actor", about: "the headers of bunches count for their class", shape: "class", bin_ms, bands,
  });
})();
