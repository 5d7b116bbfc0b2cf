#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The stats trees count what the program decodes."""
import collections
import unittest

import decoded
import harness
import tables

NAMES = ("close-reasons", "legacy", "actor-world", "voice", "fuzz", "restart", "two-clients", "ue4.13", "ue5.8")
TREES = ("uerudp", "uerudp_bunches", "uerudp_channels", "uerudp_losses")
HANDSHAKES = ("Initial", "Challenge", "Response", "Ack", "RestartHandshake", "RestartResponse", "VersionUpgrade")


def kind_of(datagram):
    """As the tree names packets."""
    if "fault" in datagram:
        return "malformed"
    if datagram["is_handshake"]:
        return HANDSHAKES[datagram["handshake"]["type"]]
    return "with bunches" if list(decoded.bunches([datagram])) else "without bunches"


def bunch_kinds(bunch):
    yield "reliable" if bunch["reliable"] else "unreliable"
    yield "parts of messages" if bunch["partial"] else "whole messages"
    if bunch.get("open", False):
        yield "open a channel"
    if bunch.get("close", False):
        yield "close a channel"


class Stats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = harness.Stage()
        cls.addClassCleanup(cls.stage.__exit__)
        cls.decoded, cls.trees = {}, {}
        for name in NAMES:
            path = cls.stage.copy(decoded.path_of(name))
            text = cls.stage.tshark("-2", "-q", "-r", path, *(part for tree in TREES for part in ("-z", tree + ",tree")))
            cls.trees[name] = tables.read_trees(text)
            cls.decoded[name] = decoded.datagrams(path)

    def expect_by_direction(self, rows, root, wanted):
        """wanted: counts by direction and kind."""
        for direction in {direction for direction, _ in wanted}:
            got = tables.counts(rows, root, decoded.DIRECTIONS[direction])
            self.assertEqual(got, {kind: n for (side, kind), n in wanted.items() if side == direction})

    def test_packets(self):
        for name in NAMES:
            with self.subTest(name):
                datagrams = self.decoded[name]
                rows = self.trees[name]["Packets"]
                self.assertEqual(rows[("Packets",)][0], len(datagrams))
                self.expect_by_direction(rows, "Packets",
                                         collections.Counter((d["direction"], kind_of(d)) for d in datagrams))
                self.assertEqual(tables.counts(rows, "Generations"),
                                 collections.Counter(d["generation"] for d in datagrams))
                sizes = [d["length"] for d in datagrams]
                self.assertEqual(rows[("Bytes",)],
                                 (len(sizes), round(sum(sizes) / len(sizes), 2), min(sizes), max(sizes)))

    def test_bunches(self):
        for name in NAMES:
            with self.subTest(name):
                bunches = list(decoded.bunches(self.decoded[name]))
                rows = self.trees[name]["Bunches"]
                self.assertEqual(rows[("Bunches",)][0], len(bunches))
                self.expect_by_direction(rows, "Bunches", collections.Counter(
                    (b.direction, kind) for b in bunches for kind in bunch_kinds(b.bunch)))
                bits = [b.bunch["data_bits"] for b in bunches]
                self.assertEqual(rows[("Payload bits",)],
                                 (len(bits), round(sum(bits) / len(bits), 2), min(bits), max(bits)))

    def test_channels(self):
        for name in NAMES:
            with self.subTest(name):
                rows = self.trees[name]["Channels"]
                got = collections.Counter()
                for path, row in rows.items():
                    if path[0] == "Bunches by channel" and len(path) == 3:
                        got[path[2]] += row[0]
                self.assertEqual(got, collections.Counter(f"stream {b.stream}, channel {b.bunch['channel']}"
                                                          for b in decoded.bunches(self.decoded[name])))

    def test_closings(self):
        rows = self.trees["close-reasons"]["Channels"]
        reasons = collections.Counter()
        for bunch in decoded.bunches(self.decoded["close-reasons"]):
            if bunch.bunch.get("close", False):
                reasons[bunch.bunch["close_reason"]] += 1
        got = tables.counts(rows, "Closed")
        self.assertEqual(sorted(got.values()), sorted(reasons.values()))
        self.assertEqual(set(got), {"Destroyed", "Dormancy", "LevelUnloaded", "Relevancy", "TearOff", "Migrated"})


if __name__ == "__main__":
    harness.main()
