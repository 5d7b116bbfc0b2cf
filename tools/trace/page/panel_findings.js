/* SPDX-License-Identifier: MIT */
/* Findings as flags where they begin, and as bars as long as they lasted; and the list below the panels. Those that only
   the capture of the other end has are outlined. */
"use strict";

(function () {
  const LETTERS = { error: "E", warning: "W", note: "N" }, ROW = 24;
  const placed = findings.filter(finding => finding.t !== null).sort((a, b) => a.t - b.t);
  const severities = ["error", "warning", "note"].filter(severity => placed.some(finding => finding.severity === severity));
  const box = document.createElement("div"), sentence = document.createElement("p"), flags = [];
  let current = -1;

  /* The sentence of the current finding, while it is in the view. */
  function showSentence(view) {
    const { t, ms, sentence: text } = findings[current] || {};
    const isVisible = current >= 0 && t + ms >= view.from && t <= view.to;
    sentence.textContent = isVisible ? `${secondsText(t)}  ${text}` : "";
  }

  function mark() {
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
    }
  }

  /* Each severity has a row. Flags that would cover each other are one, with their number. */
  function groupsOf(view) {
    const groups = [];
    severities.forEach((severity, row) => {
      let last = null;
      placed.filter(finding => finding.severity === severity).forEach(finding => {
        const px = view.x(finding.t);
        if (last && px - last.px < 21) {
          last.members.push(finding);
        } else {
          last = { px, row, severity, members: [finding] };
          groups.push(last);
        }
      });
    });
    return groups;
  }

  function goTo(members) {
    const last = d3.max(members, finding => finding.t + finding.ms);
    if (members.length === 1 || last - members[0].t < 1) {
      go(members[0]);
      return;
    }
    const around = (last - members[0].t) * 0.2;
    frame.show(members[0].t - around, last + around);
  }

  function showFlag(flag, group) {
    flag.className = "flag " + group.severity + (group.members.some(finding => finding.i === current) ? " current" : "") +
      (group.members.every(finding => finding.isOther) ? " other" : "");
    flag.textContent = group.members.length === 1 ? LETTERS[group.severity] : group.members.length;
    flag.setAttribute("aria-label", group.members.slice(0, 3).map(finding => finding.sentence).join("; "));
    flag.style.transform = `translate(${group.px + 9}px,${ROW * group.row + 9}px)`;
    flag.onclick = () => goTo(group.members);
  }

  function draw(pen, view) {
    const groups = groupsOf(view).filter(group => group.px > view.left - 1 && group.px < view.right + 1);
    severities.forEach((severity, row) => {
      pen.shape({ fill: severity, alpha: 0.35, name: "finding" }, path => placed.filter(finding => finding.severity === severity)
        .forEach(finding => path.rect(view.x(finding.t), ROW * row + 25, Math.max(view.x(finding.t + finding.ms) - view.x(finding.t), 1), 4)));
    });
    groups.forEach(group => pen.shape({ fill: group.severity, name: "flag" }, path => path.rect(group.px - 1, ROW * group.row + 9, 2, 20)));
    if (!pen.isScreen) {
      return;
    }
    showSentence(view);
    while (flags.length < groups.length) {
      const flag = document.createElement("button");
      flag.type = "button";
      box.append(flag);
      flags.push(flag);
    }
    flags.forEach((flag, i) => {
      flag.hidden = i >= groups.length;
      if (i < groups.length) {
        showFlag(flag, groups[i]);
      }
    });
  }

  frame.add({
    id: "findings", title: "Findings", height: severities.length * ROW + 14,
    about: "what uerudp info reports, where it begins and how long it lasts; click a flag to go there" +
      (findings.some(finding => finding.isOther) ? `; outlined: only ${data.info.both_ends.captures[1]} shows it` : ""),
    legend: severities.map(severity => [severity, severity]),
    isEmpty: () => placed.length === 0,
    draw,
    hover: (view, t) => placed.filter(finding => Math.abs(view.x(finding.t) - view.x(t)) < 8 || (finding.t <= t && t <= finding.t + finding.ms))
      .slice(0, 4).map(finding => `${finding.severity}: ${finding.sentence}`),
    setup(section) {
      box.className = "flags";
      section.querySelector("canvas").replaceWith(box);
      box.append(this.canvas);
      sentence.className = "sentence";
      sentence.setAttribute("aria-live", "polite");
      section.append(sentence);
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
    sign.className = "mark " + finding.severity + (finding.isOther ? " other" : "");
    sign.textContent = LETTERS[finding.severity];
    sign.setAttribute("aria-label", finding.severity);
    time.textContent = finding.t === null ? "" : secondsText(finding.t);
    text.textContent = finding.sentence;
    button.type = "button";
    button.disabled = finding.t === null;
    button.append(sign, time, text);
    button.addEventListener("click", () => go(finding));
    item.append(button);
    list.append(item);
  });
  document.getElementById("list").hidden = findings.length === 0;
})();
