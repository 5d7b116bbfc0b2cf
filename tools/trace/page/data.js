/* SPDX-License-Identifier: MIT */
/* The data of the page. `data.info` is the object that uerudp info --json prints of the connection; a table of
   page_table.h is data.tables.NAME: {length, COLUMN: typed array, ...}, its rows sorted by time, the column t. Times are
   milliseconds since the first datagram. */
"use strict";

const STATES = ["unknown whether delivered", "not reported in this capture", "delivered", "not delivered",
  "delivered, but the acks were lost"];
const DELIVERED = 2, NOT_DELIVERED = 3;
const DIRECTIONS = ["client to server", "server to client"];
const WAYS = ["c2s", "s2c"]; /* keys of info */

const data = (function () {
  const TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f32: Float32Array, f64: Float64Array };

  function bytesOf(base64) {
    if (Uint8Array.fromBase64) {
      return Uint8Array.fromBase64(base64);
    }
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) {
      bytes[i] = text.charCodeAt(i);
    }
    return bytes;
  }

  const data = JSON.parse(document.getElementById("data").textContent);
  data.tables = {};
  for (const script of document.querySelectorAll("script[data-column]")) {
    const { table, column, type } = script.dataset;
    const values = new TYPES[type](bytesOf(script.textContent).buffer);
    (data.tables[table] = data.tables[table] || { length: values.length })[column] = values;
    script.remove();
  }
  data.end = Math.max(data.duration_ms * 1.003, 1); /* the last packet is inside */
  return data;
})();

/* The index of the first value that is not less, in an array that is sorted. */
function lowerBound(values, wanted, low = 0, high = values.length) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The sum up to a time, as a function of it, of values of bins over which they are spread evenly. A missing value is 0. */
function sumUntil(values, count, bin_ms) {
  const running = new Float64Array(count + 1);
  for (let i = 0; i < count; i++) {
    running[i + 1] = running[i] + (values[i] || 0);
  }
  return t => {
    const place = Math.min(Math.max(t / bin_ms, 0), count), whole = Math.floor(place);
    return running[whole] + (place > whole ? (place - whole) * (running[whole + 1] - running[whole]) : 0);
  };
}

/* Sums of a direction's packets over any range of time: of their rows, which are exact, or after data.detail_end_ms of
   the bins, in which packets count as spread evenly. */
const traffic = [0, 1].map(side => {
  const rows = data.tables["packets" + side], bins = data.tables["bins" + side];
  const KEYS = ["packets", "delivered", "lost"];
  const sums = {}, binSums = {};
  const valueOf = {
    packets: i => +(rows.frame[i] !== 0),
    delivered: i => +(rows.state[i] === DELIVERED), lost: i => +(rows.state[i] >= NOT_DELIVERED),
  };
  KEYS.forEach(key => {
    const running = sums[key] = new Float64Array(rows.length + 1), value = valueOf[key];
    for (let i = 0; i < rows.length; i++) {
      running[i + 1] = running[i] + value(i);
    }
    binSums[key] = sumUntil(bins[key], bins.length, data.bin_ms);
  });

  function between(from, to) {
    const isWhole = data.detail_end_ms === null || to <= data.detail_end_ms;
    const first = isWhole ? lowerBound(rows.t, from) : 0, last = isWhole ? lowerBound(rows.t, to, first) : 0;
    const result = {};
    KEYS.forEach(key => {
      result[key] = isWhole ? sums[key][last] - sums[key][first] : binSums[key](to) - binSums[key](from);
    });
    return result;
  }
  return { rows, between };
});

/* Names of channels, with the actor where info knows it. */
const channelNames = new Map(data.info.channels.map(channel => {
  const actor = channel.actor ? channel.actor.replace(/^.*[/.]/, "") : channel.name || "unnamed";
  return [channel.channel, channel.opens > 1 && channel.actor ? `${actor} and earlier actors` : actor];
}));
function channelName(channel) {
  return channel === null ? "all other channels" : `channel ${channel} ${channelNames.get(channel) || ""}`.trim();
}
