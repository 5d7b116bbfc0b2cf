#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp replay --check reports no difference for captures without a fault.

usage: check_replay_faultless.py [FIRST COUNT]

With arguments it checks these captures of faultless_captures.py; tests/run --long checks 2,000. Without, it checks small
captures for which replay once reported a false difference.
"""
import json
import pathlib
import sys
import tempfile
import unittest

import uerudp
from faultless_captures import FaultlessCapture

UNKNOWN_MAX = 0.01  # share of the sides that may be left uncompared
SURE_LOSS = 0.05  # up to this loss all sides of a hundred connections are compared


def results(*arguments):
    """The objects of replay --check --json."""
    output = uerudp.run("replay", "--check", "--json", *arguments, status=(0, 1, 2)).stdout  # 2: no side was compared
    return [json.loads(line) for line in output.splitlines()]


def sides(objects):
    return [o[side] for o in objects for side in ("client", "server")]


def has_packets(result):
    """Whether the handshake was completed, so that there are packets to compare."""
    reasons = [result[side].get("not_compared") for side in ("client", "server")]
    return reasons != ["no packet of this side was captured"] * 2


def check_captures(first, count):
    """Print a line for each capture with a false difference; returns the exit status."""
    wrong = all_sides = unknown = 0
    for number in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            capture = FaultlessCapture(number, folder)
            found = results(*capture.make())
        has_run = bool(found)
        found = [o for o in found if has_packets(o)]
        missed = [side["not_compared"] for side in sides(found) if "not_compared" in side]
        false_differences = [o["difference"] for o in found if o["differs"]]
        is_sure = capture.connections == 100 and capture.loss <= SURE_LOSS
        if false_differences or missed or not has_run:
            print(capture, "false differences:", [(d["type"], d["side"], d["frame"]) for d in false_differences], "unknown:",
                  missed, flush=True)
        wrong += bool(false_differences or (is_sure and missed) or not has_run)
        all_sides += len(sides(found))
        unknown += len(missed)
    print(f"{count} captures, {all_sides} sides, {unknown} of them unknown, {wrong} captures wrong")
    return 1 if wrong or unknown > all_sides * UNKNOWN_MAX else 0


FLOOD = """
[scenario]
base=clean
duration=3
[client]
generation=5.5
tick=10
[server]
generation=5.5
burst-limit=1
tick=5
[path client]
delay=50
loss=0.2
[path server]
delay=50
loss=0.2
[stream flood]
from=server
channel=2
channels=4
reliable=true
every=1
burst=20
bits=4000-7800
[stream moves]
from=server
channel=30
channels=4
every=1
burst=20
bits=4000-7800
hasty=true
"""

MANY_ACKS = """
[scenario]
base=clean
duration=8
[client]
generation=4.18
tick=4
[server]
generation=4.18
tick=60
[path client]
delay=5
loss=0.2
[path server]
delay=5
loss=0.2
[stream flood]
from=server
channel=2
channels=8
reliable=true
every=1
burst=3
bits=4000-7800
[stream calls]
from=client
channel=2
channels=2
reliable=true
every=2
bits=64-2000
"""

# The client sends so rarely that the histories of its headers do not cover all received packets.
SHORT_HISTORY = """
[scenario]
base=mixed
duration=8
[client]
generation=4.22
tick=2
[server]
generation=4.22
tick=120
[path client]
delay=5
loss=0.1
[path server]
delay=5
loss=0.05
[stream flood]
from=server
channel=2
channels=8
reliable=true
every=1
burst=40
bits=4000-7800
"""


class FalseDifferences(unittest.TestCase):
    """Captures for which replay once reported a false difference."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def generate(self, scenario, *options):
        path = self.folder / "capture.pcapng"
        uerudp.run("generate", scenario, "--no-sidecar", *options, "-o", path, status=None)
        return path

    def play(self, text, *options):
        scenario = self.folder / "scenario.ini"
        scenario.write_text(text)
        return self.generate(scenario, *options)

    def assert_faultless(self, *arguments):
        found = results(*arguments)
        self.assertEqual([o["difference"] for o in found if o["differs"]], [])
        return found

    def assert_compared(self, *arguments):
        missed = [side["not_compared"] for side in sides(self.assert_faultless(*arguments)) if "not_compared" in side]
        self.assertEqual(missed, [])

    def test_retransmissions_in_many_ticks(self):
        for seed in range(3):
            self.assert_compared("--generation=5.5", self.play(FLOOD, f"--seed={seed}", "--capture-at=server"))

    def test_more_acks_in_a_packet_than_are_tracked(self):
        self.assert_compared("--generation=4.18", self.play(MANY_ACKS, "--seed=54", "--capture-at=client"))

    def test_histories_with_gaps(self):
        for seed in range(4):
            path = self.play(SHORT_HISTORY, f"--seed={seed}", "--capture-at=client")
            self.assert_faultless("--generation=4.22", path)

    def test_copies_in_several_packets(self):
        """The report of one of them does not end the retransmissions of a sender that counts only the first."""
        for base in ("mixed", "game"):
            text = f"[scenario]\nbase={base}\n[client]\nrepeat-reliable=true\n[server]\nrepeat-reliable=true\n"
            for seed in range(4):
                for end in ("client", "server"):
                    path = self.play(text, f"--seed={seed}", "--loss=0.15", f"--capture-at={end}")
                    self.assert_faultless("--generation=5.5", path)

    def test_handshake_retries(self):
        path = self.generate("login-lossy", "--seed=51", "--connections=100", "--capture-at=server", "--generation=4.18",
                             "--loss=0.05", "--jitter=40", "--duration=2")
        self.assert_faultless("--generation=4.18", path)

    def test_captures_of_the_long_run(self):
        """Histories of 5.8 after a flush, acks of 4.x in lost packets, more bunches than a window."""
        for number in (157, 870, 1767, 1837):
            capture = FaultlessCapture(number, self.folder)
            found = results(*capture.make())
            self.assertEqual([o["difference"]["type"] for o in found if o["differs"]], [], str(capture))

    def test_reordered_reliable_bunches(self):
        path = self.generate("churn", "--seed=1015", "--connections=33", "--capture-at=client", "--generation=4.13",
                             "--loss=0.2", "--loss-burst=5", "--delay=60", "--jitter=40", "--dup=0.02", "--duration=3")
        self.assert_faultless("--generation=4.13", path)

    def test_a_hundred_connections(self):
        path = self.generate("mixed", "--seed=50", "--connections=100", "--loss=0.05", "--duration=5",
                             "--generation=5.5")
        self.assert_compared(path)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(check_captures(*map(int, sys.argv[1:])))
    uerudp.main()
