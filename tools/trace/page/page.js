/* SPDX-License-Identifier: MIT */
"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const WIDTH = 1200, LEFT = 70, RIGHT = 20, GAP = 46;
  const DIRECTIONS = ["client to server", "server to client"];
  const STATES = ["unknown whether delivered", "not reported in this capture", "delivered", "not delivered",
    "delivered, but the acks were lost"];
  const isLost = p => p.state >= 3;
  const BANDS_NAMED = 9;

  /* Part of the picture, so that a saved SVG has the same style. */
  const STYLE = `text { font: 11px system-ui, sans-serif; fill: #222; } .name { font-weight: bold; font-size: 12px; }
    .axis path, .axis line, .frame { stroke: #999; fill: none; } .grid line { stroke: #eee; } .grid path { stroke: none; }
    .delivered { stroke: #3b78c4; } .pending { stroke: #9aa5b1; } .lost { stroke: #d62728; stroke-width: 2; }
    .late { stroke: #ff7f0e; stroke-width: 2; fill: none; }
    .duplicate { stroke: #9467bd; stroke-width: 2; fill: none; }
    .ack { stroke: #2ca02c; fill: none; stroke-opacity: .7; } .nak { stroke: #d62728; fill: none; stroke-dasharray: 3 2; }
    .resend { stroke: #8c564b; fill: #fff; stroke-width: 1.5; } .spurious { stroke: #e377c2; fill: #fff; stroke-width: 1.5; }
    .gap { stroke: #ff7f0e; stroke-width: 3; stroke-opacity: .5; } .note { stroke: #666; stroke-dasharray: 1 3; }
    .half0 { stroke: #3b78c4; stroke-width: 3; stroke-linecap: round; } .half1 { stroke: #2ca02c; stroke-width: 3; stroke-linecap: round; }`;

  /* ---- rows of the data, with names ---- */

  const packets = data.packets.map(([t, side, id, frame, bytes, state, reported, reportFrame, late, duplicate]) =>
    ({ t, side, id, frame, bytes, state, reported, reportFrame, late, duplicate }));
  const resends = data.resends.map(([t, side, id, frame, channel, reliable, copy, first, before, spurious]) =>
    ({ t, side, id, frame, channel, reliable, copy, first, before, spurious }));
  const gaps = data.gaps.map(([t, side, first, last, filled]) => ({ t, side, id: first, first, last, filled }));
  const count = data.counts; /* of all points, shown or not */
  const notes = data.notes.map(([t, side, frame, text]) => ({ t, side, frame, text }));
  const numbers = d3.format(",d"), numbersOf = d3.format(",~r"), ms = value => `${d3.format(",.3f")(value)} ms`;

  /* ---- the picture ---- */

  const panels = [
    { kind: "sequence", side: 0, height: 230, name: "Packets " + DIRECTIONS[0] + ": packet id over time" },
    { kind: "sequence", side: 1, height: 230, name: "Packets " + DIRECTIONS[1] + ": packet id over time" },
    { kind: "rtt", height: 130, name: "Time from a packet to the first that acknowledges it, ms" },
    { kind: "bandwidth", height: 170, name: "Bunch data by channel, kbit/s: up client to server, down server to client" },
  ];
  let top = 40;
  panels.forEach(panel => { panel.top = top; top += panel.height + GAP; });
  const HEIGHT = top + 10;

  const end = Math.max(data.duration_ms, 1);
  const everything = d3.scaleLinear().domain([0, end]).range([LEFT, WIDTH - RIGHT]);
  let x = everything;

  const svg = d3.select("#picture").append("svg").attr("xmlns", "http://www.w3.org/2000/svg")
    .attr("viewBox", `0 0 ${WIDTH} ${HEIGHT}`).attr("width", WIDTH).attr("height", HEIGHT);
  svg.append("style").text(STYLE);
  svg.append("title").text(document.title);
  svg.append("rect").attr("width", WIDTH).attr("height", HEIGHT).attr("fill", "#fff");
  panels.forEach((panel, i) => {
    svg.append("clipPath").attr("id", "clip" + i).append("rect").attr("x", LEFT).attr("y", panel.top)
      .attr("width", WIDTH - LEFT - RIGHT).attr("height", panel.height);
    panel.group = svg.append("g");
    panel.group.append("text").attr("class", "name").attr("x", LEFT).attr("y", panel.top - 6).text(panel.name);
    panel.grid = panel.group.append("g").attr("class", "grid");
    panel.marks = panel.group.append("g").attr("clip-path", `url(#clip${i})`);
    panel.group.append("rect").attr("class", "frame").attr("x", LEFT).attr("y", panel.top)
      .attr("width", WIDTH - LEFT - RIGHT).attr("height", panel.height);
    panel.axis = panel.group.append("g").attr("class", "axis").attr("transform", `translate(${LEFT},0)`);
    panel.times = panel.group.append("g").attr("class", "axis").attr("transform", `translate(0,${panel.top + panel.height})`);
  });

  /* ---- marks: one path for all points of a kind ---- */

  const dash = (px, py) => `M${px - 2},${py}h4`;
  const cross = (px, py) => `M${px - 3},${py - 3}l6,6m0,-6l-6,6`;
  const ring = (px, py) => `M${px - 3.5},${py}a3.5,3.5,0,1,0,7,0a3.5,3.5,0,1,0,-7,0`;
  const point = value => Math.round(value * 10) / 10;

  function isVisible(row) {
    const [from, to] = x.domain();
    return row.t <= to && Math.max(row.t, row.reported || row.filled || row.t) >= from;
  }

  function put(panel, kind, rows, shape) {
    panel.marks.append("path").attr("class", kind).attr("d", rows.map(shape).join(""));
  }

  function drawSequence(panel) {
    const mine = packets.filter(p => p.side === panel.side && isVisible(p));
    const again = resends.filter(r => r.side === panel.side && isVisible(r));
    const missing = gaps.filter(g => g.side === panel.side && isVisible(g));
    const ids = d3.extent(mine.concat(again, missing), p => p.id);
    const y = d3.scaleLinear().domain([(ids[0] || 0) - 1, (ids[1] || 1) + 1]).range([panel.top + panel.height, panel.top]);
    const at = shape => p => shape(point(x(p.t)), point(y(p.id)));
    const to = p => `M${point(x(p.t))},${point(y(p.id))}H${point(x(p.reported))}`;
    const known = mine.filter(p => p.reported !== null);
    put(panel, "ack", known.filter(p => p.state === 2), to);
    put(panel, "nak", known.filter(p => p.state === 3), to);
    put(panel, "gap", missing, g => `M${point(x(g.t))},${point(y(g.first - 0.5))}V${point(y(g.last + 0.5))}` +
      (g.filled === null ? "" : `M${point(x(g.t))},${point(y(g.last))}H${point(x(g.filled))}`));
    put(panel, "delivered", mine.filter(p => p.state === 2), at(dash));
    put(panel, "pending", mine.filter(p => p.state < 2), at(dash));
    put(panel, "lost", mine.filter(isLost), at(cross));
    put(panel, "late", mine.filter(p => p.late), at(ring));
    put(panel, "duplicate", mine.filter(p => p.duplicate), at(ring));
    put(panel, "resend", again.filter(r => !r.spurious), at(ring));
    put(panel, "spurious", again.filter(r => r.spurious), at(ring));
    panel.hits = mine.concat(again, missing).map(p => ({ px: x(p.t), py: y(p.id), row: p }));
    return y;
  }

  function drawRtt(panel) {
    const samples = packets.filter(p => p.state === 2 && isVisible(p));
    const most = d3.max(samples, p => p.reported - p.t) || 1;
    const y = d3.scaleLinear().domain([0, most * 1.05]).range([panel.top + panel.height, panel.top]);
    const dot = p => `M${point(x(p.reported))},${point(y(p.reported - p.t))}h0`;
    [0, 1].forEach(side => put(panel, "half" + side, samples.filter(p => p.side === side), dot));
    panel.hits = samples.map(p => ({ px: x(p.reported), py: y(p.reported - p.t), row: p }));
    return y;
  }

  const kbits = bits => bits / data.bin_ms;
  const bandsBySize = data.bands.slice().sort((a, b) => size(b) - size(a));
  function size(band) {
    return d3.sum(band.bits[0]) + d3.sum(band.bits[1]);
  }
  const shownBands = bandsBySize.slice(0, BANDS_NAMED);
  if (bandsBySize.length > BANDS_NAMED) {
    const others = bandsBySize.slice(BANDS_NAMED);
    const sum = side => others[0].bits[side].map((_, i) => d3.sum(others, band => band.bits[side][i]));
    shownBands.push({ name: others.length + " others", bits: [sum(0), sum(1)] });
  }
  const colour = d3.scaleOrdinal(d3.schemeTableau10);
  const label = band => (band.channel === undefined || band.name === "all others" ? band.name
    : `channel ${band.channel} ${band.name}`);

  function drawBandwidth(panel) {
    const bins = d3.range(shownBands.length === 0 ? 0 : shownBands[0].bits[0].length);
    const stack = side => d3.stack().keys(d3.range(shownBands.length))
      .value((bin, band) => kbits(shownBands[band].bits[side][bin]) * (side === 0 ? 1 : -1))(bins);
    const layers = [stack(0), stack(1)];
    const visible = bins.filter(bin => (bin + 1) * data.bin_ms >= x.domain()[0] && bin * data.bin_ms <= x.domain()[1]);
    const edge = side => d3.extent(visible, bin => d3.sum(shownBands, band => kbits(band.bits[side][bin])))[1] || 0;
    const y = d3.scaleLinear().domain([-edge(1) - 0.1, edge(0) + 0.1]).range([panel.top + panel.height, panel.top]).nice();
    const area = d3.area().curve(d3.curveStepAfter).x((_, bin) => point(x(bin * data.bin_ms)))
      .y0(d => point(y(d[0]))).y1(d => point(y(d[1])));
    layers.forEach(layer => layer.forEach((band, i) => {
      panel.marks.append("path").attr("fill", colour(i)).attr("d", area(band.concat(band.slice(-1))));
    }));
    panel.marks.append("line").attr("class", "frame").attr("x1", LEFT).attr("x2", WIDTH).attr("y1", y(0)).attr("y2", y(0));
    panel.hits = visible.map(bin => ({ px: x((bin + 0.5) * data.bin_ms), py: null, bin }));
    return y;
  }

  const draw = { sequence: drawSequence, rtt: drawRtt, bandwidth: drawBandwidth };

  function drawNotes(panel) {
    put(panel, "note", notes.filter(isVisible), n => `M${point(x(n.t))},${panel.top}v${panel.height}`);
  }

  function redraw() {
    panels.forEach(panel => {
      panel.marks.selectAll("*").remove();
      drawNotes(panel);
      const y = draw[panel.kind](panel);
      const format = panel.kind === "sequence" ? d3.format("d") : value => numbersOf(Math.abs(value));
      panel.axis.call(d3.axisLeft(y).ticks(6).tickFormat(format)); // values below zero are of the other direction
      panel.grid.attr("transform", `translate(${LEFT},0)`)
        .call(d3.axisLeft(y).ticks(6).tickSize(-(WIDTH - LEFT - RIGHT)).tickFormat(""));
      panel.times.call(d3.axisBottom(x).ticks(12).tickFormat(value => d3.format(",")(value / 1000) + " s"));
    });
  }

  /* ---- descriptions ---- */

  function describePacket(p) {
    const lines = [`packet ${p.id} ${DIRECTIONS[p.side]}` + (p.frame ? `, frame ${p.frame}` : ", not in this capture")];
    lines.push(`${ms(p.t)}` + (p.bytes ? `, ${p.bytes} bytes` : ""));
    lines.push(p.reported === null ? STATES[p.state] : `${STATES[p.state]}: frame ${p.reportFrame}, ${ms(p.reported - p.t)} later`);
    return lines.concat(p.late ? ["arrived after later packets"] : [], p.duplicate ? ["duplicate"] : []);
  }

  function describeResend(r) {
    return [`channel ${r.channel}, reliable bunch ${r.reliable}, transmission ${r.copy}` + (r.spurious ? ", although it was delivered" : ""),
      `frame ${r.frame}, packet ${r.id}`, `previous transmission in frame ${r.before}, first in frame ${r.first}`];
  }

  function describeGap(g) {
    const which = g.first === g.last ? `packet ${g.first}` : `packets ${g.first} to ${g.last}`;
    return [`${which} missing`, g.filled === null ? "never arrived" : `arrived ${ms(g.filled - g.t)} later (order cache)`];
  }

  function describeBin(bin) {
    const rate = (band, side) => d3.format(",.1f")(kbits(band.bits[side][bin]));
    return [`from ${ms(bin * data.bin_ms)}, for ${ms(data.bin_ms)}`].concat(shownBands
      .filter(band => band.bits[0][bin] + band.bits[1][bin] > 0)
      .map(band => `${label(band)}: ${rate(band, 0)} up, ${rate(band, 1)} down kbit/s`));
  }

  function describe(hit) {
    if (hit.bin !== undefined) {
      return describeBin(hit.bin);
    }
    const row = hit.row;
    return row.copy !== undefined ? describeResend(row) : row.first !== undefined ? describeGap(row) : describePacket(row);
  }

  /* ---- pointing and zooming ---- */

  function nearest(panel, px, py) {
    const distance = hit => Math.hypot(hit.px - px, hit.py === null ? 0 : hit.py - py);
    const i = d3.scan(panel.hits, (a, b) => distance(a) - distance(b));
    return i !== undefined && distance(panel.hits[i]) < 12 ? panel.hits[i] : null;
  }

  function pointAt() {
    const [px, py] = d3.mouse(svg.node());
    const panel = panels.find(p => py >= p.top && py <= p.top + p.height);
    const hit = panel && nearest(panel, px, py);
    const near = notes.filter(n => panel && Math.abs(x(n.t) - px) < 3).slice(0, 8);
    const lines = (hit ? describe(hit) : []).concat(near.map(n => `frame ${n.frame}: ${n.text}`));
    d3.select("#tip").attr("hidden", lines.length === 0 ? "" : null).text(lines.join("\n"))
      .style("left", d3.event.pageX + 14 + "px").style("top", d3.event.pageY + 10 + "px");
  }

  const zoom = d3.zoom().scaleExtent([1, 10000]).translateExtent([[LEFT, 0], [WIDTH - RIGHT, HEIGHT]])
    .extent([[LEFT, 0], [WIDTH - RIGHT, HEIGHT]]).on("zoom", () => { x = d3.event.transform.rescaleX(everything); redraw(); });
  svg.call(zoom).on("dblclick.zoom", showAll).on("mousemove", pointAt).on("mouseleave", () => d3.select("#tip").attr("hidden", ""));

  function showAll() {
    svg.call(zoom.transform, d3.zoomIdentity);
  }

  /* ---- legend and headings ---- */

  function legend(entries, left, y, mark) {
    entries.forEach(([kind, text]) => {
      mark(kind, left, y);
      left += 14 + svg.append("text").attr("x", left + 9).attr("y", y + 4).text(text).node().getComputedTextLength() + 9;
    });
  }

  const line = (px, py) => `M${px - 6},${py}h12`;
  const SHAPES = { delivered: line, pending: line, lost: cross, ack: line, nak: line, gap: line };
  legend([["delivered", "delivered"], ["pending", "not reported"], ["lost", "not delivered"], ["ack", "until acknowledged"],
    ["nak", "until reported lost"], ["gap", "missing until it arrived"], ["late", "overtaken"], ["duplicate", "duplicate"],
    ["resend", "retransmission"], ["spurious", "spurious retransmission"]], LEFT + 10, 14,
  (kind, left, y) => svg.append("path").attr("class", kind).attr("d", (SHAPES[kind] || ring)(left, y)));
  const rtt = panels[2], bandwidth = panels[3];
  legend([["half0", DIRECTIONS[0]], ["half1", DIRECTIONS[1]]], 500, rtt.top - 10,
    (kind, left, y) => svg.append("path").attr("class", kind).attr("d", dash(left, y)));
  legend(shownBands.map((band, i) => [i, label(band)]), LEFT + 10, bandwidth.top + bandwidth.height + 30,
    (i, left, y) => svg.append("rect").attr("x", left - 4).attr("y", y - 4).attr("width", 8).attr("height", 8).attr("fill", colour(i)));

  const words = `Stream ${data.stream}: client ${data.client}, server ${data.server}`;
  document.title = "uerudp trace: " + words;
  svg.select("title").text(document.title);
  d3.select("#title").text(words);
  d3.select("#story").text(`Engine ${data.generation}, ${d3.format(",.3f")(data.duration_ms / 1000)} s. ` +
    `Not acknowledged: ${numbers(count.not_acked[0])} ${DIRECTIONS[0]}, ${numbers(count.not_acked[1])} ${DIRECTIONS[1]}; ` +
    `retransmitted reliable bunches: ${numbers(count.resends)}.`);
  d3.select("#findings").selectAll("li").data(data.findings).enter().append("li").attr("class", finding => finding.severity)
    .each(function (finding) {
      d3.select(this).append("b").text(finding.severity);
      d3.select(this).append("span").text(finding.text);
    });
  const drawn = [[packets.length, count.packets, "packets"], [packets.filter(isLost).length, d3.sum(count.not_acked), "packets not acknowledged"],
    [resends.length, count.resends, "retransmissions"], [gaps.length, count.gaps, "gaps"], [notes.length, count.notes, "notes"]];
  const thinned = drawn.filter(([shown, all]) => shown < all);
  if (thinned.length !== 0) {
    d3.select("#thinned").attr("hidden", null).text("There are too many points for one picture. It shows " +
      thinned.map(([shown, all, what]) => `${numbers(shown)} of ${numbers(all)} ${what}`).join(", ") +
      ", evenly thinned. Bandwidth and the counts above include everything.");
  }

  /* ---- saving ---- */

  const serialised = () => new XMLSerializer().serializeToString(svg.node());
  d3.select("#all").on("click", showAll);
  d3.select("#save").on("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([serialised()], { type: "image/svg+xml" }));
    link.download = `stream-${data.stream}.svg`;
    link.click();
  });

  redraw();
  if (location.hash === "#svg") { /* requested by uerudp trace --svg, which reads the text of the document */
    const bytes = new TextEncoder().encode(serialised());
    document.body.textContent = "SVG:" + btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join("")) + ":SVG";
  }
})();
