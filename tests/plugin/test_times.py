#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Response times equal the times of the program."""
import collections

import decoded
import harness
import tables

NAMES = ("login", "loss-burst", "duplicate", "legacy", "restart", "two-clients")
REPORTED = {"c2s": "by the server", "s2c": "by the client"}
PRECISION_S = 2e-6


class Times(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
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

    def reports(self, name, kind):
        """The times of the event log by row. It has none for an ack of which only later packets show that it is the first."""
        wanted = collections.defaultdict(list)
        for event in self.events[name]:
            if event["name"] == kind and "elapsed_ns" in event["data"]:
                side = "c2s" if event["role"] == "client" else "s2c"
                wanted[REPORTED[side]].append(event["data"]["elapsed_ns"])
        return wanted

    def test_naks(self):
        for name in NAMES:
            with self.subTest(name):
                self.assert_times(self.tables[name][2], self.reports(name, "recovery:packet_lost"))

    def test_acks(self):
        """The two passes have all times of info, and those of the event log where it has all."""
        for name in NAMES:
            with self.subTest(name):
                halves = [connection["half_ms"] for connection in decoded.connections(decoded.path_of(name))]
                reports = self.reports(name, "recovery:packet_acked")
                for side, row in REPORTED.items():
                    known = [half[side] for half in halves if half[side]["samples"] != 0]
                    calls, lowest, highest, _ = self.tables[name][1][row]
                    self.assertEqual(calls, sum(half["samples"] for half in known))
                    self.assertAlmostEqual(lowest, min(half["min"] for half in known) / 1e3, delta=PRECISION_S)
                    self.assertAlmostEqual(highest, max(half["max"] for half in known) / 1e3, delta=PRECISION_S)
                    if len(reports[row]) == calls:
                        self.assert_times({row: self.tables[name][1][row]}, {row: reports[row]})
                    else:
                        self.assertLess(len(reports[row]), calls)


if __name__ == "__main__":
    harness.main()
