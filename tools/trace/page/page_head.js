/* SPDX-License-Identifier: MIT */
/* The head of the page, and its start. */
"use strict";

(function () {
  const info = data.info, text = (id, value) => { document.getElementById(id).textContent = value; };

  function figure(name, value, severity) {
    const box = document.createElement("div"), term = document.createElement("dt"), description = document.createElement("dd");
    term.textContent = name;
    description.textContent = value;
    description.className = severity || "";
    box.append(term, description);
    document.getElementById("figures").append(box);
  }

  function loss(side) {
    const lost = info.not_acked[WAYS[side]], of = lost + info.acked[WAYS[side]];
    figure(`Not delivered ${DIRECTIONS[side]}`, of === 0 ? "not known" : `${percent(lost / of)} (${number(lost)} of ${number(of)})`,
      of !== 0 && lost / of >= 0.01 ? "warning" : "");
  }

  const words = `Stream ${info.stream}: client ${info.client}, server ${info.server}${info.server_known ? "" : " (assumed)"}`;
  document.title = `uerudp trace: ${words}`;
  text("title", words);
  const end = { none: "not closed in what is drawn", client: "closed by the client", server: "closed by the server", timeout: "ended by a timeout" };
  text("story", [`Engine ${data.generations}`, info.start && new Date(Number(BigInt(info.start) / 1000000n)).toISOString().replace("T", " ").slice(0, 19) + " UTC",
    end[info.closed_by] + (info.close && info.close.reason ? `: ${info.close.reason}` : "")].filter(Boolean).join("  ·  "));

  figure("Duration", duration(data.duration_ms));
  loss(0);
  loss(1);
  if (info.rtt_ms) {
    figure("Round trip, median / 99 %", `${decimal(info.rtt_ms.p50)} / ${decimal(info.rtt_ms.p99)} ms`);
  }
  const longest = d3.max(findings.filter(finding => finding.kind === "reliable_stall"), finding => finding.duration_ms);
  figure("Longest stall", longest ? duration(Math.round(longest)) : "none of 100 ms or more", longest ? "warning" : "");
  figure("Retransmissions captured", `${number(d3.sum(WAYS, way => info.resends[way]))} of ${number(d3.sum(WAYS, way => info.reliable[way]))} reliable`);

  if (data.detail_end_ms !== null) {
    const cut = document.getElementById("cut");
    cut.hidden = false;
    cut.textContent = `This page has each packet until ${frame.moment(data.detail_end_ms)}; later ones are in the rates only. ` +
      "To draw later packets, choose a part of the capture with --from and --to, or one connection with --stream.";
  }

  document.getElementById("save").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([frame.svgText()], { type: "image/svg+xml" }));
    link.download = `stream-${info.stream}.svg`;
    link.click();
  });
  frame.start();
  if (location.hash === "#svg") { /* requested by uerudp trace --svg, which reads the text of the document */
    const bytes = new TextEncoder().encode(frame.svgText());
    document.body.textContent = "SVG:" + btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join("")) + ":SVG";
  }
})();
