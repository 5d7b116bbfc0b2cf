/* SPDX-License-Identifier: MIT */
/* The page that lists the connections of a capture. */
"use strict";

(function () {
  const rows = JSON.parse(document.getElementById("data").textContent);
  rows.forEach((row, rank) => { row.rank = rank; }); /* they come in the order of info: the worst finding first */
  const WAYS = ["c2s", "s2c"], SEVERITIES = ["error", "warning", "note"];
  const number = value => value.toLocaleString("en-US"), fixed = (value, digits) => value.toLocaleString("en-US", { maximumFractionDigits: digits });

  const counts = ({ info }) => SEVERITIES.map(severity => info.findings.filter(finding => finding.severity === severity).length);
  const longest = ({ info }) => Math.max(0, ...info.findings.filter(finding => finding.kind === "reliable_stall").map(finding => finding.duration_ms));

  function loss({ info }, side) {
    const lost = info.not_acked[WAYS[side]], of = lost + info.acked[WAYS[side]];
    return of === 0 ? 0 : lost / of;
  }

  function lossText(row, side) {
    const of = row.info.not_acked[WAYS[side]] + row.info.acked[WAYS[side]];
    return of === 0 ? "" : `${fixed(loss(row, side) * 100, 2)} %`;
  }

  const SVG = "http://www.w3.org/2000/svg";

  /* Two lines over the whole connection; values: for each direction numbers from 0. */
  function sparkline(values, label) {
    const WIDTH = 110, HEIGHT = 24, most = Math.max(1e-9, ...values.flat());
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute("width", WIDTH);
    svg.setAttribute("height", HEIGHT);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", label);
    values.forEach((line, side) => {
      const path = document.createElementNS(SVG, "path"), step = WIDTH / Math.max(line.length, 1);
      path.setAttribute("d", line.map((value, i) =>
        `${i === 0 ? "M" : "L"}${(i * step).toFixed(1)},${(HEIGHT - 1 - value / most * (HEIGHT - 3)).toFixed(1)}h${step.toFixed(1)}`).join(""));
      path.setAttribute("class", side === 0 ? "spark up" : "spark down");
      svg.append(path);
    });
    return svg;
  }

  function countsOf(row) {
    const box = document.createElement("span"), more = row.info.findings_more || {};
    counts(row).forEach((count, i) => {
      if (count > 0) {
        const mark = document.createElement("span");
        const isMore = row.info.findings.some(finding => finding.severity === SEVERITIES[i] && more[finding.kind]);
        mark.className = "mark " + SEVERITIES[i];
        mark.textContent = count + (isMore ? "+" : "");
        mark.setAttribute("aria-label", `${count} ${SEVERITIES[i]}`);
        box.append(mark, " ");
      }
    });
    return box;
  }

  /* A line of its own below the connection's, as wide as the table. */
  function worstOf(row) {
    const line = document.createElement("tr"), cell = document.createElement("td"), worst = row.info.findings[0];
    line.className = "worst";
    cell.colSpan = COLUMNS.length;
    cell.textContent = worst ? worst.text : "nothing found";
    line.append(cell);
    return line;
  }

  function linkOf(row) {
    const link = document.createElement("a");
    link.href = encodeURIComponent(row.page);
    link.textContent = row.info.client || "unknown";
    return link;
  }

  /* [heading, content of a cell, what it is sorted by (greater first), class] */
  const ALL = [
    ["Stream", row => String(row.info.stream), row => -row.info.stream, "number"],
    ["Client", linkOf, row => row.info.client],
    ["Server", row => row.info.server, row => row.info.server, "extra"],
    ["Engine", row => row.generations, row => row.generations, "extra"],
    ["Findings", countsOf, row => -row.rank],
    ["Duration", row => `${fixed(row.info.duration_s || 0, 1)} s`, row => row.info.duration_s, "number extra"],
    ["Packets", row => number(row.info.packets.c2s + row.info.packets.s2c), row => row.info.packets.c2s + row.info.packets.s2c, "number extra"],
    ["Not delivered client to server", row => lossText(row, 0), row => loss(row, 0), "number"],
    ["Not delivered server to client", row => lossText(row, 1), row => loss(row, 1), "number"],
    ["Loss", row => sparkline(WAYS.map((_, side) => row.lost[side].map((lost, i) => lost / Math.max(row.reported[side][i], 1))),
      "loss rate over time, client to server and server to client"), row => Math.max(loss(row, 0), loss(row, 1)), "picture"],
    ["Bytes/s", row => sparkline(row.bytes, "bytes over time, client to server and server to client"), row => row.info.bytes.c2s + row.info.bytes.s2c, "picture"],
    ["Round trip", row => row.info.rtt_ms ? `${fixed(row.info.rtt_ms.p50, 1)} ms` : "", row => row.info.rtt_ms ? row.info.rtt_ms.p50 : 0, "number"],
    ["Longest stall", row => longest(row) ? `${fixed(longest(row), 0)} ms` : "", longest, "number"],
  ];

  /* What all connections have in common is in the head. */
  const common = ALL.filter(([heading, content]) => ["Server", "Engine"].includes(heading) && rows.every(row => content(row) === content(rows[0])));
  const COLUMNS = ALL.filter(column => !common.includes(column));
  let sorted = COLUMNS.findIndex(([heading]) => heading === "Findings"), sign = 1;

  function compare(a, b) {
    const [x, y] = [a, b].map(COLUMNS[sorted][2]);
    return (x < y ? 1 : x > y ? -1 : a.info.stream - b.info.stream) * sign;
  }

  function fill() {
    const body = document.querySelector("#connections tbody");
    body.replaceChildren(...rows.sort(compare).flatMap(row => {
      const line = document.createElement("tr");
      COLUMNS.forEach(([, content, , kind]) => {
        const cell = document.createElement("td");
        cell.className = kind || "";
        cell.append(content(row));
        line.append(cell);
      });
      return [line, worstOf(row)];
    }));
    document.querySelectorAll("#connections th").forEach((cell, i) =>
      cell.setAttribute("aria-sort", i !== sorted ? "none" : sign > 0 ? "descending" : "ascending"));
  }

  COLUMNS.forEach(([heading, , , kind], i) => {
    const cell = document.createElement("th"), button = document.createElement("button");
    cell.className = kind || "";
    button.type = "button";
    button.textContent = heading;
    button.addEventListener("click", () => {
      sign = sorted === i ? -sign : 1;
      sorted = i;
      fill();
    });
    cell.append(button);
    document.querySelector("#connections thead tr").append(cell);
  });
  document.getElementById("title").textContent = [`${rows.length} connections`].concat(common.map(([heading, content]) =>
    `${heading.toLowerCase()} ${content(rows[0])}`)).join(", ");
  fill();
})();
