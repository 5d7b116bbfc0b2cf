#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Response times equal the times of the program."""
import collections
import unittest

import decoded
import harness
import tables

NAMES = ("login", "loss-burst", "duplicate", "legacy", "restart", "two-clients")
REPORTED = {"c2s": "by the server", "s2c": "by the client"}
PRECISION_S = 2e-6


class Times(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = harness.Stage()
        cls.addClassCleanup(cls.stage.__exit__)
        cls.tables, cls.events = {}, {}
        for name in NAMES:
            path = cls.stage.copy(decoded.path_of(name))
            cls.text = cls.stage.tshark("-2", "-q", "-r", path, "-z", "uerudp,srt")
            cls.tables[name] = tables.read_times(cls.text)
            cls.events[name] = decoded.run("decode", "--events", "-", path)[1:]

    def assert_times(self, rows, wanted):
        """wanted: nanoseconds by row."""
        self.assertEqual(set(rows), set(wanted))
        for name, spans in wanted.items():
            calls, lowest, highest, average = rows[name]
            self.assertEqual(calls, len(spans))
            self.assertAlmostEqual(lowest, min(spans) / 1e9, delta=PRECISION_S)
            self.assertAlmostEqual(highest, max(spans) / 1e9, delta=PRECISION_S)
            self.assertAlmostEqual(average, sum(spans) / len(spans) / 1e9, delta=PRECISION_S)

    def test_headings(self):
        """The headings, all that tshark prints of the names of the tables, differ, and no row is too long for its columns."""
        lines = self.text.splitlines()
        headings = [line for line in lines if line.startswith("Index")]
        self.assertEqual(3, len({heading.split("Calls")[0] for heading in headings}))
        self.assertEqual(1, len({heading.index("Min SRT") for heading in headings}))
        self.assertEqual(1, len({len(line) for line in lines if line[:5].strip().isdigit()}))

    def test_handshake(self):
        for name in NAMES:
            with self.subTest(name):
                wanted = collections.defaultdict(list)
                for event in self.events[name]:
                    if event["name"] == "transport:handshake_sent" and "answer_ns" in event["data"]:
                        wanted[event["data"]["type"]].append(event["data"]["answer_ns"])
                self.assertTrue(wanted)
                self.assert_times(self.tables[name][0], wanted)

    def test_acks(self):
        for name in NAMES:
            for table, kind in ((1, "recovery:packet_acked"), (2, "recovery:packet_lost")):
                with self.subTest(name, kind=kind):
                    wanted = collections.defaultdict(list)
                    for event in self.events[name]:
                        if event["name"] == kind and "elapsed_ns" in event["data"]:
                            side = "c2s" if event["role"] == "client" else "s2c"
                            wanted[REPORTED[side]].append(event["data"]["elapsed_ns"])
                    self.assert_times(self.tables[name][table], wanted)


if __name__ == "__main__":
    harness.main()
