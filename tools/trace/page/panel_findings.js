/* SPDX-License-Identifier: MIT */
/* Findings as flags where they begin, and as bars as long as they lasted; and the list below the panels. */
"use strict";

(function () {
  const LETTERS = { error: "E", warning: "W", note: "N" }, ROWS = 3, ROW = 22;
  const findings = data.info.findings.map((finding, i) => ({
    ...finding, i,
    t: finding.time_s === undefined || finding.time_s === null ? null : finding.time_s * 1000,
    ms: finding.duration_ms || 0,
  }));
  const placed = findings.filter(finding => finding.t !== null).sort((a, b) => a.t - b.t);
  let current = -1, flags = [];

  function mark() {
    flags.forEach(flag => flag.classList.toggle("current", +flag.dataset.finding === current));
    document.querySelectorAll("#findings button").forEach((button, i) => button.classList.toggle("current", i === current));
  }

  /* Shows a finding with some time around it. */
  function go(finding) {
    const around = Math.max(finding.ms, Math.min(data.end, 2000) / 2, 50);
    current = finding.i;
    mark();
    frame.show(finding.t - around * 0.6, finding.t + finding.ms + around * 0.6);
  }

  function step(by) {
    const at = placed.findIndex(finding => finding.i === current);
    const next = at < 0 ? (by > 0 ? 0 : placed.length - 1) : (at + by + placed.length) % placed.length;
    if (placed.length !== 0) {
      go(placed[next]);
      document.querySelectorAll("#findings button")[placed[next].i].scrollIntoView({ block: "nearest" });
    }
  }

  /* Each flag is in the first row where it does not cover another; in the last row it may. */
  function rowsOf(view) {
    const ends = new Array(ROWS).fill(-Infinity);
    return placed.map(finding => {
      const px = view.x(finding.t), free = ends.findIndex(end => px - end > 22), row = free < 0 ? ROWS - 1 : free;
      ends[row] = px;
      return row;
    });
  }

  function draw(pen, view) {
    const rows = rowsOf(view);
    placed.forEach((finding, i) => {
      const px = view.x(finding.t), top = view.top + rows[i] * ROW + 3;
      pen.shape({ fill: finding.severity, alpha: 0.35, name: "finding" }, path =>
        path.rect(px, top + 16, Math.max(view.x(finding.t + finding.ms) - px, 1), 4));
      pen.shape({ fill: finding.severity }, path => path.rect(px - 1, top, 2, 20));
      if (flags[i]) {
        flags[i].style.display = px < view.left - 1 || px > view.right + 1 ? "none" : "";
        flags[i].style.transform = `translate(${px + 9}px,${top}px)`;
      }
    });
  }

  frame.add({
    id: "findings", title: "Findings", height: ROWS * ROW + 16,
    about: "what uerudp info reports, where it begins and how long it lasts; click a flag to go there",
    legend: [["error", "error"], ["warning", "warning"], ["note", "note"]],
    isEmpty: () => placed.length === 0,
    draw,
    hover: (view, t) => placed.filter(finding => Math.abs(view.x(finding.t) - view.x(t)) < 8 || (finding.t <= t && t <= finding.t + finding.ms))
      .slice(0, 4).map(finding => `${finding.severity}: ${finding.text}`),
    setup(section) {
      const box = document.createElement("div");
      box.className = "flags";
      section.querySelector("canvas").replaceWith(box);
      box.append(this.canvas);
      flags = placed.map(finding => {
        const flag = document.createElement("button");
        flag.type = "button";
        flag.className = "flag " + finding.severity;
        flag.dataset.finding = finding.i;
        flag.style.top = flag.style.left = "0";
        flag.textContent = LETTERS[finding.severity];
        flag.setAttribute("aria-label", finding.text);
        flag.addEventListener("click", () => go(finding));
        box.append(flag);
        return flag;
      });
    },
    key(event) {
      const by = { n: 1, p: -1 }[event.key];
      if (by) {
        step(by);
      }
      return Boolean(by);
    },
  });

  const list = document.getElementById("findings");
  findings.forEach(finding => {
    const item = document.createElement("li"), button = document.createElement("button");
    const sign = document.createElement("span"), time = document.createElement("time"), text = document.createElement("span");
    sign.className = "mark " + finding.severity;
    sign.textContent = LETTERS[finding.severity];
    sign.setAttribute("aria-label", finding.severity);
    time.textContent = finding.t === null ? "" : `${d3.format(",.3f")(finding.t / 1000)} s`;
    text.textContent = finding.text;
    button.type = "button";
    button.disabled = finding.t === null;
    button.append(sign, time, text);
    button.addEventListener("click", () => go(finding));
    item.append(button);
    list.append(item);
  });
  document.getElementById("list").hidden = findings.length === 0;
})();
