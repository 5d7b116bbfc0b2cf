#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plugin's findings in captures of real implementations: the known events, and nothing impossible."""
import collections
import json
import re
import unittest

import harness

LOSSES = {"utcp-loss": {"C2S": 40, "S2C": 44}, "utcp-ue418-loss": {"C2S": 61, "S2C": 75}}
SIDES = {"C2S": "client", "S2C": "server"}
DIRECTIONS = {1: "C2S", 2: "S2C"}
IMPOSSIBLE = {"uerudp.analysis.reliable_jump", "uerudp.analysis.partial_error"}

# Known properties of the captures, except findings of group Sequence; no capture has an error.
WARNINGS = {  # fragments were lost before the capture point
    "fortnite1510-081d-plain-scrubbed": {"Not all fragments of this message are in the capture": 3}}
LISTED = re.compile(r"^ +(\d+) +(\S+) +UERUDP +([^:\n]*)", re.MULTILINE)


class RealData(unittest.TestCase):
    def listed(self, stage, path, severity):
        """Number of expert items of at least a severity, except group Sequence, by their first words."""
        text = stage.tshark("-2", "-r", stage.copy(path), *harness.preferences(harness.settings_of(path)), "-q", "-z",
                            f"expert,{severity}")
        counts = collections.Counter()
        for count, group, summary in LISTED.findall(text):
            counts[summary.rstrip()] += int(count) if group != "Sequence" else 0
        return {summary: count for summary, count in counts.items() if count}

    def test_experts(self):
        with harness.Stage() as stage:
            for name, path in harness.recorded().items():
                with self.subTest(name):
                    self.assertEqual(self.listed(stage, path, "error"), {})
                    self.assertEqual(self.listed(stage, path, "warn"), WARNINGS.get(name, {}))

    def test_captures(self):
        with harness.Stage() as stage:
            for name, path in harness.recorded().items():
                with self.subTest(name):
                    packets = stage.packets(stage.copy(path), harness.settings_of(path))
                    wrong = [(frame, text) for frame, packet in packets.items() for flag, text in packet.sentences
                             if flag in IMPOSSIBLE]
                    self.assertEqual(wrong, [])
                    if name in LOSSES:
                        self.compare_losses(path, packets, LOSSES[name])

    def compare_losses(self, path, packets, known):
        with open(path.removesuffix(".pcap") + ".sent.json", encoding="utf-8") as file:
            sent = json.load(file)
        dropped = {datagram["frame"] for datagram in sent["datagrams"] if datagram["dropped"]}
        naks = {way: set() for way in DIRECTIONS.values()}
        for frame, packet in packets.items():
            way = DIRECTIONS[packet.numbers("direction")[0]]
            naks["S2C" if way == "C2S" else "C2S"].update(packet.not_delivered())
            if frame in dropped:
                self.assertEqual(packet.numbers("analysis.acked_in"), [], f"frame {frame}")
        for way, count in known.items():
            reported = {notice["packet_id"] for notice in sent["delivery_notifications"]
                    if notice["side"] == SIDES[way] and not notice["ack"]}
            self.assertEqual(len(reported), count)
            self.assertEqual(len(naks[way]), count)
            self.assertEqual({packet_id & 16383 for packet_id in naks[way]}, {packet_id & 16383 for packet_id in reported})


if __name__ == "__main__":
    harness.main()
