#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The stats trees and tables have the counts of uerudp decode and info."""
import collections
import os
import re
import struct
import subprocess
import tempfile
import unittest

import decoded
import harness
import tables

NAMES = ("close-reasons", "legacy", "game", "voice", "fuzz", "restart", "two-clients", "ue4.13", "ue5.8")
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


class Stats(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
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

    def test_duplicates(self):
        """The channels of a packet that was captured before have the same names as of the first."""
        path = os.path.join(self.stage.path, "dup.pcapng")
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, "dup.pcapng")
            subprocess.run([os.environ["UERUDP_PROGRAM"], "generate", "game", "--generation=5.5", "--duration=5", "--dup=0.1",
                            "--seed=21", "--output", made], check=True, capture_output=True, timeout=harness.TIMEOUT_S)
            path = self.stage.copy(made)
        rows, = tables.read_trees(self.stage.tshark("-2", "-q", "-r", path, "-z", "uerudp_channels,tree")).values()
        bunches = len(list(decoded.bunches(decoded.datagrams(path))))
        self.assertEqual({row: count for row, count in rows.items() if row[0] == "Bunches" and "unknown" in row}, {})
        self.assertEqual(rows[("Bunches",)], bunches)

    def test_one_pass(self):
        """Items that the analysis has just decoded are counted like items that are decoded again. In `restart` the first
        packets from the client's new address are another stream in one pass."""
        for name in set(NAMES) - {"restart"}:
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


LOSSES = {("Packets captured", "out of order"): "late", ("Packets captured", "duplicate"): "duplicates",
          ("Packets reported", "reported as not delivered"): "not_acked", ("Reliable bunches", "retransmitted"): "resends",
          ("Reliable bunches", "retransmitted although delivered"): "spurious"}
LOSSY = ("loss-burst", "reorder", "duplicate", "mixed", "legacy", "big-bunch", "two-clients")
SIDES = {"c2s": "client to server", "s2c": "server to client"}


class Losses(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.rows, cls.connections, cls.datagrams = {}, {}, {}
        for name in LOSSY:
            path = cls.stage.copy(decoded.path_of(name))
            cls.rows[name] = tables.read_trees(
                cls.stage.tshark("-2", "-q", "-r", path, "-z", "uerudp_losses,tree"))["Losses"]
            cls.connections[name] = decoded.connections(path)
            cls.datagrams[name] = decoded.datagrams(path)

    def assert_counts(self, name, row, counts):
        """counts: by direction."""
        root, kind = row
        self.assertEqual({side: self.rows[name][root, SIDES[side], kind] for side in SIDES}, counts)

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
            for row, key in ((("Packets reported", "reported as not delivered"), "not_acked"),
                             (("Reliable bunches", "retransmitted"), "resends")):
                with self.subTest(name, row=row):
                    self.assert_counts(name, row, self.sums(truth, key))

    def test_totals(self):
        """What losses are a share of: what was captured, what was captured or is missing, and what was reported."""
        for name in LOSSY:
            with self.subTest(name):
                for direction, side in ((1, "c2s"), (2, "s2c")):
                    of_side = [d for d in self.datagrams[name] if d["direction"] == direction]
                    ids = [(d["stream"], d["packet"]["id"]) for d in of_side if "packet" in d]
                    reliable = sum(b.bunch["reliable"] for b in decoded.bunches(of_side))
                    self.assertEqual(self.rows[name]["Packets captured", SIDES[side]], len(ids))
                    missing = self.rows[name]["Packets captured or missing", SIDES[side], "missing"]
                    late = self.rows[name]["Packets captured", SIDES[side], "out of order"]
                    self.assertEqual(self.rows[name]["Packets captured or missing", SIDES[side]], len(set(ids)) + missing - late)
                    self.assertEqual(self.rows[name]["Reliable bunches", SIDES[side]], reliable)
                    reported = sum(c["acked"][side] + c["not_acked"][side] for c in self.connections[name])
                    self.assertEqual(self.rows[name]["Packets reported", SIDES[side]], reported)

    def test_no_part_exceeds_its_whole(self):
        """Percentages are shares of the row above, also where a capture lacks what was lost before it."""
        for name, rows in self.rows.items():
            for path, count in rows.items():
                self.assertLessEqual(count, rows.get(path[:-1], count), (name, path))
        sides = {"sides.pcapng": ("-Y", "uerudp.direction == 2")}
        for name, options in sides.items():
            path = os.path.join(self.stage.home, name)
            self.stage.tshark("-2", "-r", self.stage.copy(decoded.path_of("loss-burst")), *options, "-w", path)
            rows = tables.read_trees(self.stage.tshark("-2", "-q", "-r", path, "-z", "uerudp_losses,tree"))["Losses"]
            self.assertEqual(0, rows["Packets captured", "client to server"])
            self.assertGreater(rows["Packets reported", "client to server", "reported as not delivered"], 0)
            for row, count in rows.items():
                self.assertLessEqual(count, rows.get(row[:-1], count), row)

    def test_losses_exist(self):
        for (root, kind), key in LOSSES.items():
            if key != "spurious":
                self.assertGreater(sum(self.rows[name][root, side, kind] for name in LOSSY for side in SIDES.values()), 0)

    def test_missing(self):
        """Packets that arrive later are not lost."""
        for name in LOSSY:
            with self.subTest(name):
                lost = [c["lost"][side] for c in self.connections[name] for side in SIDES]
                if None not in lost:
                    late = sum(self.sums(self.connections[name], "late").values())
                    missing = sum(self.rows[name]["Packets captured or missing", side, "missing"] for side in SIDES.values())
                    self.assertEqual(missing, sum(lost) + late)


class Channels(unittest.TestCase):
    def test_equal_to_decode(self):
        """The table has the bunches and bytes of uerudp decode, and the retransmissions of uerudp info."""
        stage = self.enterContext(harness.Stage())
        for name in ("loss-burst", "game", "two-clients", "legacy", "ue5.8"):
            with self.subTest(name):
                path = stage.copy(decoded.path_of(name))
                text = stage.tshark("-2", "-q", "-r", path, "-z", "uerudp,channels")
                bunches, bits = collections.Counter(), collections.Counter()
                for datagram in decoded.datagrams(path):
                    for bunch in (item.bunch for item in decoded.bunches([datagram])):
                        key = datagram["stream"], bunch["channel"], datagram["direction"]
                        bunches[key] += 1
                        bits[key] += bunch["data_bits"]
                rows, subjects, resends = self.rows(text)
                self.assertEqual({key: count for key, (count, _) in rows.items() if count}, bunches)
                for key, (_, size) in rows.items():
                    self.assertLessEqual(abs(size - bits[key] / 8), 1 if len(subjects[key[:2]]) == 1 else 3)
                wanted = sum(sum(c["resends"].values()) for c in decoded.connections(path))
                self.assertEqual(resends, wanted)
                if name == "game":
                    self.assertEqual((subjects[0, 0], subjects[0, 2], subjects[0, 28]), ({"Control"}, {"Pilot_C"}, {"Lamp_1"}))

    @staticmethod
    def rows(text):
        """Count and bytes by stream, channel and direction; subjects by stream and channel; retransmissions."""
        rows, subjects, resends, stream = {}, {}, 0, None
        for line in text.splitlines():
            if line.startswith("Connection "):
                stream = int(line.split()[1])
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) != 9 or not cells[0].isdigit():
                continue
            channel, subject, numbers = int(cells[0]), cells[1], [int(cell) for cell in cells[2:8]]
            subjects.setdefault((stream, channel), set()).add(subject)
            for direction in (1, 2):
                count, size = rows.get((stream, channel, direction), (0, 0))
                rows[stream, channel, direction] = count + numbers[2 * direction - 2], size + numbers[2 * direction - 1]
            resends += numbers[4]
        return rows, subjects, resends


class Talkers(harness.StageCase):
    """The table has what uerudp info counts."""

    def shown(self, path, *filters):
        """(stream, sender, direction, packets, bytes, spurts, talked)"""
        rows, stream = [], None
        for line in self.stage.tshark("-2", "-q", "-r", path, "-z", ",".join(["uerudp,talkers", *filters])).splitlines():
            if line.startswith("Connection "):
                stream = int(line.split()[1])
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) == 7 and cells[2].isdigit():
                rows.append((stream, *cells[:2], *map(int, cells[2:5]), float(cells[5])))
        return rows

    def assert_equal_to_info(self, path):
        shown = self.shown(path)
        wanted = [(connection["stream"], talker["sender"], f"{talker['from']} to {'server' if talker['from'] == 'client' else 'client'}",
                   talker["packets"], talker["bytes"], talker["spurts"], round(talker["talked_s"], 3))
                  for connection in decoded.connections(path) for talker in connection.get("talkers", ())]
        self.assertEqual(shown, wanted)
        return shown

    def generate(self, *options):
        """A capture of the scenario in the stage."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "capture.pcapng")
            subprocess.run([os.environ["UERUDP_PROGRAM"], "generate", *options, "--no-sidecar", "-o", path],
                           capture_output=True, check=True)
            return self.stage.copy(path)

    def test_equal_to_info(self):
        self.assertEqual(len(self.assert_equal_to_info(self.stage.copy(decoded.path_of("voice")))), 4)
        for options in (("--loss=0.1", "--dup=0.3", "--capture-at=client"), ("--generation=4.18",), ("--generation=4.24",)):
            with self.subTest(options):
                self.assertEqual(len(self.assert_equal_to_info(self.generate("voice", "--duration=4", *options))), 4)

    def test_without_voice(self):
        """Channel 1 of a connection that does not name it could be voice, but its content is not."""
        for options in (("game",), ("game", "--generation=4.18"), ("login",)):
            with self.subTest(options):
                self.assertEqual(self.assert_equal_to_info(self.generate(*options, "--duration=3")), [])

    def test_filter(self):
        path = self.stage.copy(decoded.path_of("voice"))
        self.assertEqual([row[1] for row in self.shown(path, "udp.srcport == 50000")], ["Sim-0"])

    def test_many_and_hostile(self):
        """After 256 talkers a row of each direction has the packets of all others. A text from the wire does not break the table."""
        numbers = iter(range(10**6))
        datagrams = decoded.datagrams(decoded.path_of("voice"))
        count = 0
        for item in decoded.bunches(datagrams):
            bunch = item.bunch
            if bunch["channel"] == 1 and not bunch["reliable"] and not bunch["partial"]:
                names = [b"T%04d\0" % next(numbers) for _ in range(20)]
                count += len(names)
                data = b"".join(struct.pack("<i", len(name)) + name + struct.pack("<HHQB", 1300, 1, 16, 7) for name in names)
                bunch.update(data=data.hex().replace(b"T0000".hex(), b"T\n\x1b[m".hex()), data_bits=8 * len(data))
        path = self.stage.encode("voice", datagrams)
        connection, = decoded.connections(path)
        self.assertEqual((len(connection["talkers"]), connection["talkers_more"]), (256, count - 256 + 2))
        shown = self.shown(path)
        self.assertEqual([(row[1], row[3]) for row in shown[:256]],
                         [(re.sub(r"[\n\x1b]", "?", talker["sender"]), talker["packets"]) for talker in connection["talkers"]])
        self.assertEqual([row[1] for row in shown[256:]], ["(others as one)"] * 2)
        self.assertEqual(sum(row[3] for row in shown[256:]), count - 256 + 2)
        self.assertIn("T??[m", [row[1] for row in shown])


if __name__ == "__main__":
    harness.main()
