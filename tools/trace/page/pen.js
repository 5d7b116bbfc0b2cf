/* SPDX-License-Identifier: MIT */
/* Where panels draw: a canvas on the screen, or a group of an SVG file. Both have the functions shape(), which builds a
   path with the calls of a canvas (moveTo, lineTo, rect, arc), and text(). A style has fill, stroke, width, dash and
   alpha; colours are names of page.css ("up" is --up). */
"use strict";

const colours = {
  of: name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim(),
  known: {},
  get(name) {
    return this.known[name] || (this.known[name] = this.of(name) || name);
  },
  forget() {
    this.known = {};
  },
};

const FONT = "11px system-ui, sans-serif";

function canvasPen(canvas, height) {
  const width = canvas.clientWidth, scale = window.devicePixelRatio || 1;
  const columns = Math.round(width * scale), lines = Math.round(height * scale);
  canvas.style.height = height + "px";
  if (canvas.width !== columns || canvas.height !== lines) {
    canvas.width = columns;
    canvas.height = lines;
  }
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  /* A path of many rectangles is slow to fill, so each is filled by itself, on whole pixels: neighbours have no seam. */
  const filler = {
    rect(x, y, w, h) {
      const from = Math.round(x * scale) / scale, to = Math.max(Math.round((x + w) * scale) / scale, from + 1 / scale);
      context.fillRect(from, y, to - from, h);
    },
  };
  ["moveTo", "lineTo", "arc", "closePath"].forEach(call => { filler[call] = (...numbers) => context[call](...numbers); });
  return {
    width, height, isScreen: true,
    shape(style, build) {
      context.globalAlpha = style.alpha === undefined ? 1 : style.alpha;
      context.beginPath();
      if (style.fill) {
        context.fillStyle = colours.get(style.fill);
        build(style.stroke ? context : filler);
        context.fill();
      } else {
        build(context);
      }
      if (style.stroke) {
        context.strokeStyle = colours.get(style.stroke);
        context.lineWidth = style.width || 1;
        context.setLineDash(style.dash || []);
        context.stroke();
      }
      context.globalAlpha = 1;
    },
    text(x, y, text, { anchor = "start", fill = "quiet" } = {}) {
      context.textAlign = anchor === "middle" ? "center" : anchor;
      context.fillStyle = colours.get(fill);
      context.fillText(text, x, y);
    },
    clip(x, y, w, h, build) {
      context.save();
      context.beginPath();
      context.rect(x, y, w, h);
      context.clip();
      build();
      context.restore();
    },
  };
}

let clips = 0;

function svgPen(group, width, height) {
  let target = group;
  const round = value => Math.round(value * 100) / 100;
  return {
    width, height,
    shape(style, build) {
      const path = d3.path();
      const rounded = {};
      ["moveTo", "lineTo", "rect"].forEach(call => { rounded[call] = (...numbers) => path[call](...numbers.map(round)); });
      rounded.arc = (x, y, r, ...angles) => path.arc(round(x), round(y), r, ...angles);
      rounded.closePath = () => path.closePath();
      build(rounded);
      if (path.toString() === "") {
        return;
      }
      target.append("path").attr("d", path.toString())
        .attr("class", style.name || null)
        .attr("fill", style.fill ? colours.get(style.fill) : "none")
        .attr("stroke", style.stroke ? colours.get(style.stroke) : null)
        .attr("stroke-width", style.width || null)
        .attr("stroke-dasharray", style.dash ? style.dash.join(" ") : null)
        .attr("opacity", style.alpha === undefined ? null : style.alpha);
    },
    text(x, y, text, { anchor = "start", fill = "quiet" } = {}) {
      target.append("text").attr("x", round(x)).attr("y", round(y)).attr("text-anchor", anchor)
        .attr("fill", colours.get(fill)).text(text);
    },
    clip(x, y, w, h, build) {
      const id = "clip" + clips++;
      group.append("clipPath").attr("id", id).append("rect").attr("x", x).attr("y", y).attr("width", w).attr("height", h);
      target = group.append("g").attr("clip-path", `url(#${id})`);
      build();
      target = group;
    },
  };
}
