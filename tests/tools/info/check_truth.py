#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No finding of uerudp info is contradicted by what the simulation of the capture knows.

usage: check_truth.py FIRST COUNT

Captures are numbered, and each is equal in every run. tests/run checks 500, --long 10,000.
"""
import json
import pathlib
import random
import sys
import tempfile
import unittest

import blocks
import truth
import uerudp
from faultless_captures import GENERATIONS, MODERN_ONLY, SCENARIOS

NETWORK = (("loss", (0, 0, 0.01, 0.03, 0.1, 0.2)), ("jitter", (0, 0, 5, 15, 40)), ("reorder", (0, 0, 0, 0.05)),
           ("dup", (0, 0, 0, 0.03)), ("delay", (5, 20, 60, 120)), ("corrupt", (0, 0, 0, 0, 0.01)))
OWN_NETWORK = ("kick", "timeout", "refused", "upgrade", "restart", "outage", "overload", "terrible", "bloat")


class Capture:
    """Capture N: a simulated run, and the part of it that was captured."""

    def __init__(self, number):
        self.random = random.Random(number)
        self.scenario = self.random.choice([name for name in SCENARIOS if name != "sealed"])
        generations = [each for each in GENERATIONS if each >= "4.22" or self.scenario not in MODERN_ONLY]
        self.arguments = [self.scenario, f"--seed={number}", f"--generation={self.random.choice(generations)}",
                          f"--duration={self.random.choice((2, 3, 5))}",
                          f"--capture-at={self.random.choice(('client', 'server', 'sender'))}"]
        if self.scenario not in OWN_NETWORK:
            self.arguments += [f"--{name}={self.random.choice(values)}" for name, values in NETWORK]
        self.part = self.random.choice(("whole", "whole", "begins late", "ends early", "hole", "one direction", "lost before"))

    def __str__(self):
        return f"uerudp generate {' '.join(self.arguments)} ({self.part})"

    def is_kept(self, frame, frame_count, datagram):
        """Whether a frame of the run is in the capture."""
        share = frame / frame_count
        return {"whole": True, "begins late": share > self.cut, "ends early": share <= self.cut,
                "hole": not self.cut < share < self.cut + 0.1, "one direction": datagram["dir"] == ("c2s", "s2c")[self.cut > 0.5],
                "lost before": datagram["arrived"] or self.random.random() < 0.5}[self.part]

    def make(self, folder):
        """Write the capture. Returns its path, the sidecar, and the number in the capture of each frame of the run."""
        path = pathlib.Path(folder, "capture.pcapng")
        uerudp.run("generate", *self.arguments, "--output", path, status=None)
        sidecar = json.loads(path.with_suffix(".sent.json").read_text())
        datagrams = {each["frame"]: each for each in sidecar["datagrams"]}
        self.cut = self.random.uniform(0.1, 0.8)
        kept, numbers, frame = [], {}, 0
        parts = list(blocks.split(path.read_bytes()))
        frame_count = sum(kind == blocks.ENHANCED for kind, _, _ in parts)
        for kind, _, data in parts:
            if kind == blocks.ENHANCED:
                frame += 1
                is_duplicate = frame not in datagrams  # made by the network
                if self.part != "whole" and (is_duplicate or not self.is_kept(frame, frame_count, datagrams[frame])):
                    continue
                numbers[frame] = len(numbers) + 1
            kept.append(data)
        path.write_bytes(b"".join(kept))
        return path, sidecar, numbers


def wrong(number):
    """The findings of capture N that its simulation contradicts, as texts."""
    capture = Capture(number)
    with tempfile.TemporaryDirectory() as folder:
        path, sidecar, numbers = capture.make(folder)
        output = uerudp.run("info", "--json", f"--generation={sidecar['generation']}", path, status=None).stdout
    if not output:
        return []
    run = truth.Run(sidecar, 0, numbers.get)
    return [f"{number}: {capture}: {finding['kind']}: {finding['text']}: {reason}"
            for line in output.splitlines() for finding, reason in truth.contradictions(run, json.loads(line)["findings"])]


class Truth(unittest.TestCase):
    def test_findings(self):
        found = [text for number in range(self.FIRST, self.FIRST + self.COUNT) for text in wrong(number)]
        self.assertEqual("", "\n".join(found))


if __name__ == "__main__":
    Truth.FIRST, Truth.COUNT = map(int, sys.argv[1:])
    unittest.main(argv=sys.argv[:1])
