#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lone reliable messages, by the engine's rule and with the server's options: what is late, and what info says of it."""
import json
import pathlib
import statistics
import tempfile
import unittest

import uerudp

CAPTURES = uerudp.ROOT / "captures"
SEEDS = range(1, 11)
LOSS = "--loss=0.1"
LATE_MS = 200


class Run:
    def __init__(self, name, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "lone.pcapng"
            uerudp.run("generate", CAPTURES / f"{name}.ini", "--capture-at=server", "--output", path, *options)
            messages = json.loads(path.with_suffix(".sent.json").read_text())["messages"]
            self.info, = map(json.loads, uerudp.run("info", "--json", path, status=None).stdout.splitlines())
        self.kinds = {each["kind"] for each in self.info["findings"]}
        self.late_ms = [(int(each["delivered"]) - int(each["sent"])) / 1e6 for each in messages if each["channel"] == 2]


class Lone(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rule = [Run("lone", LOSS, f"--seed={seed}") for seed in SEEDS]
        cls.options = [Run("lone-repeat", LOSS, f"--seed={seed}") for seed in SEEDS]

    def test_latency(self):
        """Every message is delivered, and the options save the wait for a report."""
        rule, options = (sorted(late for run in runs for late in run.late_ms) for runs in (self.rule, self.options))
        self.assertGreater(min(len(rule), len(options)), 50)
        self.assertGreater(rule[-3], 250)
        self.assertLess(options[-3], 100)
        self.assertEqual(round(statistics.median(rule)), round(statistics.median(options)))

    def test_stalls(self):
        """What was late is a stall; a message of which a copy arrived in time is none, although its first packet was
        lost, and copies are no fault."""
        for run in self.rule:
            if max(run.late_ms) > LATE_MS:
                self.assertIn("reliable_stall", run.kinds)
        self.assertTrue(any("reliable_stall" in run.kinds for run in self.rule))
        for run in self.options:
            self.assertNotIn("reliable_stall", run.kinds)
            self.assertGreater(run.info["resends"]["s2c"], 20)

    def test_without_losses(self):
        """Nothing is wrong, although most bunches of the options are sent again; one copy may be after its report."""
        for name, wanted in (("lone", set()), ("lone-repeat", {"spurious_resends"})):
            run = Run(name)
            self.assertLessEqual(run.kinds, wanted)
            self.assertLessEqual({each["severity"] for each in run.info["findings"]}, {"note"})
            self.assertEqual(run.info["resends"]["s2c"] > 20, name == "lone-repeat")
            self.assertLess(max(run.late_ms), 50)


if __name__ == "__main__":
    uerudp.main()
