/* SPDX-License-Identifier: MIT */
/* The frame of the page: panels below each other that share one time axis.

   How to add a panel:
   1. Its data. What uerudp info --json prints is in data.info. Numbers with a row for each element are a table: an array
      in struct trace_plot, its columns in plot_json.c, and a WRITE line there (page_table.h); data.tables.NAME has it.
   2. A file panel_SUBJECT.js in this folder that calls frame.add({...}), and its line among the scripts of page.html; the
      order of the lines is the order of the panels. CMake finds the file.
   3. A test in tests/tools/trace that compares the table with info or the sidecar.

   A panel has
     id, title, about    names it, and one sentence that says what it means for players
     height              in pixels
     legend              [[colour, text, "line" or "area"], ...]; colours are names of page.css
     isEmpty()           optional: true hides the panel
     range(view)         the lowest and the highest value of its axis; null: no axis
     format(value)       optional: the text of a tick
     draw(pen, view)     draws (pen.js) into the plot, to which it is clipped
     hover(view, t, px, py)  lines for the tooltip at a time and a point, or null
     setup(section)      optional: called once with its HTML element
     key(event)          optional: handles a key, returns whether it did

   view has x and y (d3 scales to pixels), from and to (ms), left, right, top, bottom (pixels), and bins(pixels, ms): bins
   {ms, first, last} of equal width, at least so many pixels and ms wide. Bin i is from i * ms to (i + 1) * ms. Their
   borders do not depend on the view, so that marks do not flicker while it moves, and binned() keeps their values.
   view.lengthOf(bins, i) is the part of a bin, in ms, before the end of the capture; a rate is divided by it. */
"use strict";

const number = d3.format(",d");
const decimal = value => d3.format(",.3~r")(value);
function duration(ms) {
  const seconds = Math.round(ms / 1000), minutes = Math.floor(seconds / 60);
  return ms < 1000 ? `${d3.format(",.3~f")(ms)} ms` : ms < 600000 ? `${d3.format(",.3~f")(ms / 1000)} s`
    : minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min ${seconds % 60} s`;
}
const secondsText = ms => `${d3.format(",.3f")(ms / 1000)} s`;
const percent = share => `${d3.format(".3~r")(share * 100)} %`;

/* The part of a bin before the end of the capture, at least half of it. */
const lengthOf = (from, to) => Math.max(Math.min(to, data.duration_ms) - from, (to - from) / 2);

/* A function of bins that computes the value of each once: compute(from, to) in ms. */
function binned(compute) {
  const known = new Map();
  return (bins, i) => {
    const key = `${bins.ms}/${i}`;
    if (!known.has(key)) {
      if (known.size > 200000) {
        known.clear();
      }
      known.set(key, compute(i * bins.ms, (i + 1) * bins.ms));
    }
    return known.get(key);
  };
}

/* The findings of this capture, then those that only the capture of the other end has, with their time and length in ms and,
   of two captures, the name of the only one that has it. */
const findings = (function () {
  const { findings: own, both_ends: ends, other_end: other } = data.info, times = data.tables.other_findings;
  const only = (finding, i) => finding.in_both_captures === false ? `only ${ends.captures[i]}` : "";
  const here = own.map(finding => ({ ...finding, only: only(finding, 0), isOther: false,
    t: finding.time_s === undefined || finding.time_s === null ? null : finding.time_s * 1000 }));
  const there = (other ? other.findings : []).map((finding, i) => ({ ...finding, only: only(finding, 1), isOther: true,
    t: times && !Number.isNaN(times.t[i]) ? times.t[i] : null })).filter(finding => finding.in_both_captures === false);
  return [...here, ...there].map((finding, i) => ({ ...finding, i, ms: finding.duration_ms || 0,
    sentence: finding.only ? `${finding.only}: ${finding.text}` : finding.text }));
})();

const frame = (function () {
  const RIGHT = 14, TOP = 7, BOTTOM = 5, NAVIGATOR = 34, AXIS = 22, SHORTEST_MS = 0.5;
  const panels = [];
  const holder = document.getElementById("panels"), tip = document.getElementById("tip");
  const crosshair = document.getElementById("crosshair"), selection = document.getElementById("selection");
  const navigator = document.getElementById("navigator"), axis = document.getElementById("axis");
  const everything = d3.scaleLinear().domain([0, data.end]);
  let x = everything.copy(), left = 0, right = 0, isPending = false;
  let pointer = null; /* where it rests over the panels, so that the tooltip follows what moves below it */
  const beginMs = Number(BigInt(data.info.start || "0") / 1000000n), hasClock = Boolean(data.info.start);

  const clock = t => hasClock ? new Date(beginMs + t).toISOString().slice(11, 23) + " UTC" : "";
  const moment = t => [secondsText(t), clock(t)].filter(Boolean).join("  ·  ");

  function viewOf(panel, pen, scale, plotLeft, plotRight) {
    const [from, to] = scale.domain();
    const view = { x: scale, from, to, left: plotLeft, right: plotRight, top: TOP, bottom: panel.height - BOTTOM, width: plotRight - plotLeft };
    view.bins = (pixels, least = 0) => {
      const ms = 2 ** Math.ceil(Math.log2(Math.max((to - from) * pixels / view.width, least, 1e-6)));
      return { ms, first: Math.floor(Math.max(from, 0) / ms), last: Math.floor(Math.min(to, data.end) / ms) };
    };
    view.lengthOf = (bins, i) => lengthOf(i * bins.ms, (i + 1) * bins.ms);
    const range = panel.range && panel.range(view);
    view.y = range && d3.scaleLinear().domain(range).range([view.bottom, view.top]);
    return view;
  }

  function drawAxis(pen, panel, view) {
    const ticks = view.y.ticks(Math.max(2, Math.floor(panel.height / 34)));
    pen.shape({ stroke: "grid" }, path => ticks.forEach(tick => {
      path.moveTo(view.left, Math.round(view.y(tick)) + 0.5);
      path.lineTo(view.right, Math.round(view.y(tick)) + 0.5);
    }));
    ticks.forEach(tick => pen.text(view.left - 6, view.y(tick) + 4, (panel.format || decimal)(tick), { anchor: "end" }));
  }

  /* 12.5 s, or above two minutes 1:02:03 */
  function timeTick(t, span) {
    if (data.end < 120000 || span < 10000) {
      return `${d3.format(",.6~f")(t / 1000)} s`;
    }
    const seconds = Math.round(t / 1000), two = d3.format("02d");
    const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
    return hours > 0 ? `${hours}:${two(minutes % 60)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
  }

  /* From 10 s on, steps are those of a clock. */
  function timesOf(view) {
    const count = Math.max(2, Math.floor(view.width / 110)), wanted = (view.to - view.from) / count;
    const step = [10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400].find(each => each * 1000 >= wanted) * 1000;
    return wanted < 7000 || !step ? view.x.ticks(count) : d3.range(Math.ceil(view.from / step) * step, view.to, step);
  }

  function drawTimes(pen, view, y) {
    const ticks = timesOf(view);
    pen.shape({ stroke: "line" }, path => {
      path.moveTo(view.left, y + 0.5);
      path.lineTo(view.right, y + 0.5);
      ticks.forEach(tick => { path.moveTo(view.x(tick), y - 4); path.lineTo(view.x(tick), y); });
    });
    ticks.forEach(tick => pen.text(view.x(tick), y - 7, timeTick(tick, view.to - view.from), { anchor: "middle" }));
  }

  function drawPanel(panel, pen, view) {
    if (view.y) {
      drawAxis(pen, panel, view);
    }
    pen.shape({ stroke: "grid" }, path => timesOf(view).forEach(tick => {
      path.moveTo(Math.round(view.x(tick)) + 0.5, view.top);
      path.lineTo(Math.round(view.x(tick)) + 0.5, view.bottom);
    }));
    pen.clip(view.left, 0, view.width, panel.height, () => panel.draw(pen, view));
    pen.shape({ stroke: "line" }, path => path.rect(Math.round(view.left) - 0.5, view.top - 0.5, Math.round(view.width) + 1, view.bottom - view.top + 1));
  }

  /* ---- the navigator: everything, and a window that is what the panels show ---- */

  function drawNavigator() {
    const pen = canvasPen(navigator, NAVIGATOR), view = viewOf({ height: NAVIGATOR }, pen, everything, left, right);
    const bins = view.bins(2), most = [0, 1].map(side => d3.max(d3.range(bins.first, bins.last + 1), i =>
      traffic[side].between(i * bins.ms, (i + 1) * bins.ms).packets) || 1);
    pen.shape({ fill: "raised" }, path => path.rect(left, 0, right - left, NAVIGATOR));
    const middle = NAVIGATOR / 2, bar = (path, side, i, count) => {
      const height = Math.min(count / most[side], 1) * (middle - 2), at = everything(i * bins.ms);
      path.rect(at, side === 0 ? middle - height : middle, Math.max(everything((i + 1) * bins.ms) - at, 1), height);
    };
    [0, 1].forEach(side => {
      pen.shape({ fill: side === 0 ? "up" : "down", alpha: 0.35 }, path => {
        for (let i = bins.first; i <= bins.last; i++) {
          bar(path, side, i, traffic[side].between(i * bins.ms, (i + 1) * bins.ms).packets);
        }
      });
      pen.shape({ fill: "lost" }, path => {
        for (let i = bins.first; i <= bins.last; i++) {
          bar(path, side, i, traffic[side].between(i * bins.ms, (i + 1) * bins.ms).lost);
        }
      });
    });
    findings.filter(finding => finding.t !== null).forEach(finding =>
      pen.shape({ fill: finding.severity }, path => path.rect(everything(finding.t) - 1, 0, 2, 5)));
  }

  function placeWindow() {
    const box = document.getElementById("window"), [from, to] = x.domain().map(everything);
    box.style.left = from + "px";
    box.style.width = Math.max(to - from, 3) + "px";
  }

  /* ---- drawing ---- */

  function redraw() {
    isPending = false;
    placeWindow();
    const times = canvasPen(axis, AXIS);
    drawTimes(times, viewOf({ height: AXIS }, times, x, left, right), AXIS - 1);
    panels.forEach(panel => {
      const pen = canvasPen(panel.canvas, panel.height);
      panel.view = viewOf(panel, pen, x, left, right);
      drawPanel(panel, pen, panel.view);
    });
    if (pointer) {
      pointAt(pointer);
    }
  }

  function schedule() {
    if (!isPending) {
      isPending = true;
      requestAnimationFrame(redraw);
    }
  }

  function layout() {
    const width = holder.clientWidth, domain = x.domain(), gutter = width < 560 ? 42 : 62;
    if (width <= gutter + RIGHT) {
      return; // no space for a plot, as in a hidden frame
    }
    left = gutter;
    right = width - RIGHT;
    document.documentElement.style.setProperty("--gutter", left + "px");
    everything.range([left, right]);
    x = everything.copy().domain(domain);
    zoom.extent([[left, 0], [right, 1]]).translateExtent([[left, -Infinity], [right, Infinity]]);
    drawNavigator();
    show(domain[0], domain[1]);
    schedule();
  }

  /* ---- what is shown ---- */

  const zoom = d3.zoom().scaleExtent([1, Math.max(1, data.end / SHORTEST_MS)]).on("zoom", () => {
    x = d3.event.transform.rescaleX(everything);
    schedule();
  }).filter(() => {
    const event = d3.event;
    return event.type === "wheel" ? event.ctrlKey || event.metaKey || event.altKey
      : event.type === "mousedown" ? event.shiftKey && event.button === 0 : event.type !== "dblclick";
  });

  /* Shows a range of time, moved and widened to what there is. */
  function show(from, to) {
    const span = Math.min(Math.max(to - from, SHORTEST_MS), data.end);
    const begin = Math.min(Math.max((from + to - span) / 2, 0), data.end - span);
    const k = data.end / span;
    d3.select(holder).call(zoom.transform, d3.zoomIdentity.translate(left - k * everything(begin), 0).scale(k));
  }

  function move(share) {
    const [from, to] = x.domain(), by = (to - from) * share;
    const limited = Math.min(Math.max(by, -from), data.end - to);
    show(from + limited, to + limited);
  }

  function scale(factor) {
    const [from, to] = x.domain(), middle = (from + to) / 2, half = (to - from) / 2 * factor;
    show(middle - half, middle + half);
  }

  const showAll = () => show(0, data.end);

  /* ---- pointing ---- */

  function placeTip(lines, clientX, clientY) {
    tip.hidden = lines.length === 0;
    tip.textContent = lines.join("\n");
    const { offsetWidth, offsetHeight } = tip, margin = 14;
    const tipLeft = clientX + margin + offsetWidth > window.innerWidth ? clientX - margin - offsetWidth : clientX + margin;
    const tipTop = clientY + margin + offsetHeight > window.innerHeight ? clientY - margin - offsetHeight : clientY + margin;
    tip.style.transform = `translate(${Math.max(tipLeft, 2)}px,${Math.max(tipTop, 2)}px)`;
  }

  function pointAt({ target, clientX, clientY }) {
    const panel = panels.find(each => each.canvas === target), px = clientX - holder.getBoundingClientRect().left;
    pointer = { target, clientX, clientY };
    const isInside = px >= left && px <= right;
    crosshair.hidden = !isInside;
    crosshair.style.left = px + "px";
    if (!panel || !isInside) {
      tip.hidden = true;
      return;
    }
    const t = x.invert(px), py = clientY - panel.canvas.getBoundingClientRect().top;
    placeTip([moment(t)].concat((panel.hover && panel.hover(panel.view, t, px, py)) || []), clientX, clientY);
  }

  function endPointing() {
    pointer = null;
    crosshair.hidden = true;
    tip.hidden = true;
  }

  /* Calls moved(px) while the pointer is held, then ended(px), with pixels in the holder. */
  function track(event, moved, ended) {
    const at = each => Math.min(Math.max(each.clientX - holder.getBoundingClientRect().left, left), right);
    const onMove = each => moved(at(each));
    const onUp = each => {
      window.removeEventListener("pointermove", onMove);
      window.removeEventListener("pointerup", onUp);
      ended(at(each));
    };
    window.addEventListener("pointermove", onMove);
    window.addEventListener("pointerup", onUp);
    return at(event);
  }

  function select(event, scaleOf, top, ended) {
    const begin = track(event, px => {
      selection.hidden = Math.abs(px - begin) < 4;
      selection.style.left = Math.min(begin, px) + "px";
      selection.style.width = Math.abs(px - begin) + "px";
    }, px => {
      selection.hidden = true;
      if (Math.abs(px - begin) >= 4) {
        show(scaleOf.invert(Math.min(begin, px)), scaleOf.invert(Math.max(begin, px)));
      } else if (ended) {
        ended(px);
      }
    });
  }

  function onNavigator(event) {
    const [from, to] = x.domain(), px = event.clientX - holder.getBoundingClientRect().left;
    const isWindow = px >= everything(from) && px <= everything(to) && to - from < data.end * 0.999;
    event.preventDefault();
    if (isWindow) {
      const begin = track(event, at => {
        const by = everything.invert(at) - everything.invert(begin);
        const limited = Math.min(Math.max(by, -from), data.end - to);
        show(from + limited, to + limited);
      }, () => {});
    } else {
      select(event, everything, 0, at => {
        const half = (to - from) / 2, middle = everything.invert(at);
        show(middle - half, middle + half);
      });
    }
  }

  function onKey(event) {
    const actions = {
      ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), "+": () => scale(0.5), "=": () => scale(0.5), "-": () => scale(2),
      0: showAll, Home: () => move(-Infinity), End: () => move(Infinity), Escape: endPointing,
    };
    const isTyping = event.ctrlKey || event.metaKey || event.altKey;
    const action = !isTyping && (actions[event.key] || (panels.some(panel => panel.key && panel.key(event)) && (() => {})));
    if (action) {
      event.preventDefault();
      action();
    }
  }

  function onWheel(event) {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      move(event.deltaX / (right - left));
    }
  }

  /* ---- building ---- */

  function legendOf(panel) {
    const list = document.createElement("ul");
    list.className = "legend";
    (panel.legend || []).forEach(([colour, text, kind]) => {
      const item = document.createElement("li"), mark = document.createElement("i");
      mark.style.background = `var(--${colour})`;
      mark.className = kind || "area";
      item.append(mark, text);
      list.append(item);
    });
    return list;
  }

  function add(panel) {
    if (panel.isEmpty && panel.isEmpty()) {
      return;
    }
    const section = document.createElement("section"), header = document.createElement("header");
    const heading = document.createElement("h2"), about = document.createElement("span");
    section.className = "panel";
    section.id = "panel-" + panel.id;
    heading.textContent = panel.title;
    about.className = "about";
    about.textContent = panel.about || "";
    panel.canvas = document.createElement("canvas");
    panel.canvas.setAttribute("role", "img");
    panel.canvas.setAttribute("aria-label", `${panel.title}. ${panel.about || ""}`);
    header.append(heading, about, legendOf(panel));
    section.append(header, panel.canvas);
    holder.append(section);
    if (panel.setup) {
      panel.setup(section);
    }
    panels.push(panel);
  }

  /* ---- the picture as SVG: what the panels show now, in the colours of the page ---- */

  function svgText() {
    const WIDTH = 1200, LEFT = 62, HEAD = 44, TITLE = 22;
    const svg = d3.create("svg").attr("xmlns", "http://www.w3.org/2000/svg").attr("font", FONT)
      .attr("style", `font: ${FONT}`);
    const scale = x.copy().range([LEFT, WIDTH - RIGHT]);
    const background = svg.append("rect").attr("fill", colours.get("back"));
    const pen = svgPen(svg, WIDTH, HEAD);
    pen.text(LEFT, 16, document.getElementById("title").textContent, { fill: "text" });
    drawTimes(pen, viewOf({ height: HEAD }, pen, scale, LEFT, WIDTH - RIGHT), HEAD - 2);
    let top = HEAD;
    panels.forEach(panel => {
      const group = svg.append("g").attr("id", "panel-" + panel.id).attr("transform", `translate(0,${top})`);
      const plot = group.append("g").attr("transform", `translate(0,${TITLE})`);
      const head = svgPen(group, WIDTH, TITLE), body = svgPen(plot, WIDTH, panel.height);
      head.text(LEFT, 17, panel.title, { fill: "text" });
      let at = WIDTH - RIGHT;
      (panel.legend || []).slice().reverse().forEach(([colour, text]) => {
        head.text(at, 17, text, { anchor: "end" });
        at -= text.length * 5.8 + 12;
        head.shape({ fill: colour }, path => path.rect(at, 9, 8, 8));
        at -= 10;
      });
      drawPanel(panel, body, viewOf(panel, body, scale, LEFT, WIDTH - RIGHT));
      top += TITLE + panel.height + 6;
    });
    svg.attr("viewBox", `0 0 ${WIDTH} ${top}`).attr("width", WIDTH).attr("height", top);
    background.attr("width", WIDTH).attr("height", top);
    return new XMLSerializer().serializeToString(svg.node());
  }

  function start() {
    layout();
    new ResizeObserver(layout).observe(holder);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colours.forget(); layout(); });
    d3.select(holder).call(zoom).on("dblclick.zoom", showAll);
    holder.addEventListener("pointerdown", event => {
      if (event.pointerType === "mouse" && event.button === 0 && !event.shiftKey && event.target.tagName === "CANVAS") {
        select(event, x, 0);
      }
    });
    holder.addEventListener("pointermove", pointAt);
    holder.addEventListener("pointerleave", endPointing);
    holder.addEventListener("wheel", onWheel, { passive: false });
    navigator.addEventListener("pointerdown", onNavigator);
    document.addEventListener("keydown", onKey);
    document.getElementById("all").addEventListener("click", showAll);
    document.getElementById("in").addEventListener("click", () => scale(0.5));
    document.getElementById("out").addEventListener("click", () => scale(2));
  }

  return { add, start, show, showAll, redraw, moment, svgText, domain: () => x.domain() };
})();
