/* SPDX-License-Identifier: MIT */
/* The packets of each direction: from near, packet ids over time, with acknowledgements, losses and retransmissions;
   from afar, packets per second, of which the lost ones are a part of the same scale. */
"use strict";

(function () {
  const NEAR_MAX = 2500, resends = data.tables.resends, gaps = data.tables.gaps;
  const LEGEND = [["lost", "not delivered"], ["open", "not reported"], ["ok", "until acknowledged", "line"], ["late", "late, duplicate or missing"],
    ["band7", "retransmission"]];
  const LATE = 1, DUPLICATE = 2;

  function dash(path, x, y) {
    path.moveTo(x - 2, y);
    path.lineTo(x + 2, y);
  }

  function cross(path, x, y) {
    path.moveTo(x - 3, y - 3);
    path.lineTo(x + 3, y + 3);
    path.moveTo(x + 3, y - 3);
    path.lineTo(x - 3, y + 3);
  }

  function ring(path, x, y) {
    path.moveTo(x + 3.5, y);
    path.arc(x, y, 3.5, 0, 2 * Math.PI);
  }

  function describePacket(rows, i, side) {
    const lines = [`packet ${rows.id[i]} ${DIRECTIONS[side]}` + (rows.frame[i] ? `, frame ${rows.frame[i]}, ${rows.bytes[i]} bytes` : ", not in this capture")];
    lines.push(STATES[rows.state[i]] + (rows.report_frame[i] ? `: frame ${rows.report_frame[i]}` +
      (rows.frame[i] ? `, ${duration(rows.report_ms[i])} later` : "") : ""));
    return lines.concat(rows.flags[i] & LATE ? ["arrived after later packets"] : [], rows.flags[i] & DUPLICATE ? ["duplicate"] : []);
  }

  function describeResend(i) {
    return [`${channelName(resends.channel[i])}, reliable bunch ${resends.reliable[i]}, transmission ${resends.copy[i]}` +
      (resends.spurious[i] ? ", although it was delivered" : ""),
    `frame ${resends.frame[i]}; previous transmission in frame ${resends.previous_frame[i]}, first in frame ${resends.first_frame[i]}`];
  }

  function describeGap(i) {
    const which = gaps.first[i] === gaps.last[i] ? `packet ${gaps.first[i]}` : `packets ${gaps.first[i]} to ${gaps.last[i]}`;
    return [`${which} missing`, Number.isNaN(gaps.filled_ms[i]) ? "never arrived" : `arrived ${duration(gaps.filled_ms[i])} later (order cache)`];
  }

  [0, 1].forEach(side => {
    const rows = traffic[side].rows, colour = side === 0 ? "up" : "down";
    /* Reports reach back: a packet before the view may be acknowledged in it. */
    const longest = rows.length === 0 ? 0 : Math.min(d3.max(rows.report_ms, ms => ms || 0), 5000);
    const sums = binned((from, to) => traffic[side].between(from, to));

    function visible(view) {
      const first = lowerBound(rows.t, view.from), last = lowerBound(rows.t, view.to, first);
      const isKept = data.detail_end_ms === null || view.to <= data.detail_end_ms;
      return { first: lowerBound(rows.t, view.from - longest), last, isNear: isKept && last - first <= NEAR_MAX };
    }

    const reported = sum => sum.lost + sum.delivered;
    const total = sum => Math.max(sum.packets, reported(sum)); /* lost packets need not be in the capture */

    function each(view, visit) {
      const bins = view.bins(3);
      for (let i = bins.first; i <= bins.last; i++) {
        visit(sums(bins, i), bins, i);
      }
    }

    function drawRates(pen, view) {
      const bars = part => path => each(view, (sum, bins, i) => {
        const perSecond = count => count * 1000 / view.lengthOf(bins, i), [low, high] = part(sum);
        if (high > low) {
          const from = view.x(i * bins.ms);
          path.rect(from, view.y(perSecond(high)), view.x(i * bins.ms + view.lengthOf(bins, i)) - from,
            view.y(perSecond(low)) - view.y(perSecond(high)));
        }
      });
      pen.shape({ fill: "lost", name: "lost" }, bars(sum => [0, sum.lost]));
      pen.shape({ fill: colour, alpha: 0.55, name: "delivered" }, bars(sum => [sum.lost, reported(sum)]));
      pen.shape({ fill: "open", alpha: 0.6, name: "pending" }, bars(sum => [reported(sum), total(sum)]));
    }

    function among(table, view, visit) {
      for (let i = lowerBound(table.t, view.from - longest), last = lowerBound(table.t, view.to, i); i < last; i++) {
        if (table.side[i] === side) {
          visit(i);
        }
      }
    }

    function drawPackets(pen, view) {
      const { first, last } = visible(view);
      const all = (isWanted, mark) => path => {
        for (let i = first; i < last; i++) {
          if (isWanted(i)) {
            mark(path, view.x(rows.t[i]), view.y(rows.id[i]), i);
          }
        }
      };
      const until = (path, x, y, i) => { path.moveTo(x, y); path.lineTo(view.x(rows.t[i] + rows.report_ms[i]), y); };
      const isLost = i => rows.state[i] >= NOT_DELIVERED;
      pen.shape({ stroke: "ok", alpha: 0.7, name: "ack" }, all(i => rows.state[i] === DELIVERED, until));
      pen.shape({ stroke: "lost", dash: [3, 2], name: "nak" }, all(i => rows.state[i] === NOT_DELIVERED, until));
      pen.shape({ stroke: "late", width: 3, alpha: 0.5, name: "gap" }, path => among(gaps, view, i => {
        const x = view.x(gaps.t[i]);
        path.moveTo(x, view.y(gaps.first[i] - 0.5));
        path.lineTo(x, view.y(gaps.last[i] + 0.5));
        if (!Number.isNaN(gaps.filled_ms[i])) {
          path.moveTo(x, view.y(gaps.last[i]));
          path.lineTo(view.x(gaps.t[i] + gaps.filled_ms[i]), view.y(gaps.last[i]));
        }
      }));
      pen.shape({ stroke: colour, width: 2, name: "delivered" }, all(i => rows.state[i] === DELIVERED, dash));
      pen.shape({ stroke: "open", width: 2, name: "pending" }, all(i => rows.state[i] < DELIVERED, dash));
      pen.shape({ stroke: "late", width: 2, name: "late" }, all(i => rows.flags[i] !== 0, ring));
      pen.shape({ stroke: "band7", fill: "back", width: 1.5, name: "resend" }, path => among(resends, view, i =>
        ring(path, view.x(resends.t[i]), view.y(resends.id[i]))));
      pen.shape({ stroke: "lost", width: 2, name: "lost" }, all(isLost, cross));
    }

    function nearest(view, px, py) {
      const { first, last } = visible(view);
      let best = null, least = 12;
      const offer = (x, y, describe) => {
        const distance = Math.hypot(x - px, y - py);
        if (distance < least) {
          least = distance;
          best = describe;
        }
      };
      among(resends, view, i => offer(view.x(resends.t[i]), view.y(resends.id[i]), () => describeResend(i)));
      among(gaps, view, i => offer(view.x(gaps.t[i]), view.y(gaps.first[i]), () => describeGap(i)));
      for (let i = first; i < last; i++) {
        offer(view.x(rows.t[i]), view.y(rows.id[i]), () => describePacket(rows, i, side));
      }
      return best && best();
    }

    function describeNotes(view, px) {
      return data.notes.filter(([t]) => Math.abs(view.x(t) - px) < 3).slice(0, 6).map(([, , number, text]) => `frame ${number}: ${text}`);
    }

    frame.add({
      id: "packets-" + WAYS[side], title: `Packets ${DIRECTIONS[side]}`, height: 190,
      about: "packets per second, of which not delivered; from near, packet ids over time",
      legend: [[colour, "delivered"]].concat(LEGEND),
      isEmpty: () => rows.length === 0,
      format: value => number(value),
      range(view) {
        const { first, last, isNear } = visible(view);
        if (isNear) {
          const ids = rows.id.subarray(Math.min(lowerBound(rows.t, view.from), Math.max(last - 1, first)), last);
          return [(d3.min(ids) || 0) - 1, (d3.max(ids) || 1) + 1];
        }
        let most = 1;
        each(view, (sum, bins, i) => { most = Math.max(most, total(sum) * 1000 / view.lengthOf(bins, i)); });
        return [0, most * 1.08];
      },
      draw(pen, view) {
        pen.shape({ stroke: "quiet", dash: [1, 3], name: "note" }, path => data.notes.forEach(([t]) => {
          if (t >= view.from && t <= view.to) {
            path.moveTo(view.x(t), view.top);
            path.lineTo(view.x(t), view.bottom);
          }
        }));
        (visible(view).isNear ? drawPackets : drawRates)(pen, view);
      },
      hover(view, t, px, py) {
        if (visible(view).isNear) {
          return (nearest(view, px, py) || []).concat(describeNotes(view, px));
        }
        const bins = view.bins(3), sum = sums(bins, Math.floor(t / bins.ms));
        return [`within ${duration(bins.ms)}: ${number(sum.packets)} ${sum.packets === 1 ? "packet" : "packets"} captured`,
          `reported: ${number(sum.delivered)} delivered, ${number(sum.lost)} not delivered` + (reported(sum) > 0 ? ` (${percent(sum.lost / reported(sum))})` : "")];
      },
    });
  });
})();
