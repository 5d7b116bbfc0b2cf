#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The stats trees have the counts of uerudp decode."""
import collections
import unittest

import decoded
import harness
import tables

NAMES = ("close-reasons", "legacy", "actor-world", "voice", "fuzz", "restart", "two-clients", "ue4.13", "ue5.8")
TREES = ("uerudp", "uerudp_bunches", "uerudp_channels", "uerudp_losses")
HANDSHAKES = ("Initial", "Challenge", "Response", "Ack", "RestartHandshake", "RestartResponse", "VersionUpgrade")


def kind_of(datagram):
    """Names of packets in the tree."""
    if "fault" in datagram:
        return "malformed"
    if datagram["is_handshake"]:
        return HANDSHAKES[datagram["handshake"]["type"]]
    return "with bunches" if list(decoded.bunches([datagram])) else "without bunches"


def bunch_kinds(bunch):
    yield "reliable" if bunch["reliable"] else "unreliable"
    yield "fragments" if bunch["partial"] else "whole messages"
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

    def assert_by_direction(self, rows, root, wanted):
        """wanted: counts by direction and kind."""
        for direction in {direction for direction, _ in wanted}:
            got = tables.counts(rows, root, decoded.DIRECTIONS[direction])
            self.assertEqual(got, {kind: n for (side, kind), n in wanted.items() if side == direction})

    def test_packets(self):
        for name in NAMES:
            with self.subTest(name):
                datagrams = self.decoded[name]
                rows = self.trees[name]["Packets"]
                self.assertEqual(rows[("Packets",)], len(datagrams))
                self.assert_by_direction(rows, "Packets",
                                         collections.Counter((d["direction"], kind_of(d)) for d in datagrams))
                self.assertEqual(tables.counts(rows, "Generations"),
                                 collections.Counter(d["generation"] for d in datagrams))

    def test_bunches(self):
        for name in NAMES:
            with self.subTest(name):
                bunches = list(decoded.bunches(self.decoded[name]))
                rows = self.trees[name]["Bunches"]
                self.assertEqual(rows[("Bunches",)], len(bunches))
                self.assert_by_direction(rows, "Bunches", collections.Counter(
                    (b.direction, kind) for b in bunches for kind in bunch_kinds(b.bunch)))

    def test_one_pass(self):
        """Items that the analysis has just decoded are counted like items that are decoded again."""
        for name in NAMES:
            with self.subTest(name):
                path = self.stage.copy(decoded.path_of(name))
                options = ("-o", f"uerudp.generation:{decoded.sent(name)['generation']}", "-q", "-r", path,
                           *(part for tree in TREES[:3] for part in ("-z", tree + ",tree")))
                one = tables.read_trees(self.stage.tshark(*options))
                self.assertEqual(one, tables.read_trees(self.stage.tshark("-2", *options)))
                self.assertTrue(one["Packets"] and one["Bunches"] and one["Channels"])

    def test_closings(self):
        rows = self.trees["close-reasons"]["Channels"]
        reasons = collections.Counter()
        for bunch in decoded.bunches(self.decoded["close-reasons"]):
            if bunch.bunch.get("close", False):
                reasons[bunch.bunch["close_reason"]] += 1
        got = tables.counts(rows, "Closed")
        self.assertEqual(sorted(got.values()), sorted(reasons.values()))
        self.assertEqual(set(got), {"Destroyed", "Dormancy", "LevelUnloaded", "Relevancy", "TearOff", "Migrated"})


LOSSES = {"Packets out of order": "late", "Packets duplicated": "duplicates",
          "Packets reported as not delivered": "not_acked", "Reliable bunches retransmitted": "resends",
          "Spurious retransmissions": "spurious"}
LOSSY = ("loss-burst", "reorder", "duplicate", "mixed", "legacy", "big-bunch", "two-clients")
SIDES = {"c2s": "client to server", "s2c": "server to client"}


class Losses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = harness.Stage()
        cls.addClassCleanup(cls.stage.__exit__)
        cls.rows, cls.connections = {}, {}
        for name in LOSSY:
            path = cls.stage.copy(decoded.path_of(name))
            cls.rows[name] = tables.read_trees(
                cls.stage.tshark("-2", "-q", "-r", path, "-z", "uerudp_losses,tree"))["Losses"]
            cls.connections[name] = decoded.connections(path)

    def assert_counts(self, name, row, counts):
        """counts: by direction; rows without a count are absent."""
        self.assertEqual(self.rows[name][(row,)], sum(counts.values()))
        self.assertEqual(tables.counts(self.rows[name], row), {SIDES[side]: n for side, n in counts.items() if n})

    def sums(self, connections, key):
        return {side: sum(connection[key][side] for connection in connections) for side in SIDES}

    def test_equal_to_info(self):
        for name in LOSSY:
            for row, key in LOSSES.items():
                with self.subTest(name, row=row):
                    self.assert_counts(name, row, self.sums(self.connections[name], key))

    def test_equal_to_the_sidecar(self):
        for name in LOSSY:
            truth = decoded.sent(name)["connections"]
            for row, key in (("Packets reported as not delivered", "not_acked"),
                             ("Reliable bunches retransmitted", "resends")):
                with self.subTest(name, row=row):
                    counts = self.sums(truth, key)
                    if name == "legacy" and key == "not_acked":  # a missing packet may have held the ack of one
                        counts["c2s"] -= 1
                    self.assert_counts(name, row, counts)

    def test_losses_exist(self):
        for row in set(LOSSES) - {"Spurious retransmissions"}:
            self.assertGreater(sum(self.rows[name][(row,)] for name in LOSSY), 0, row)

    def test_missing(self):
        """Packets that arrive later are not lost."""
        for name in LOSSY:
            with self.subTest(name):
                lost = [c["lost"][side] for c in self.connections[name] for side in SIDES]
                if None not in lost:
                    late = sum(self.sums(self.connections[name], "late").values())
                    self.assertEqual(self.rows[name][("Packets missing",)], sum(lost) + late)


if __name__ == "__main__":
    harness.main()
