#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No finding of uerudp info, no wait and no round trip is contradicted by what the simulation of the capture knows.

usage: check_truth.py FIRST COUNT
       check_truth.py NUMBER NUMBER NUMBER...

Captures are numbered, and each is equal in every run. tests/run checks 500, --long 10,000.
"""
import json
import pathlib
import random
import sys
import tempfile
import unittest

import mishaps
import receivers
import truth
import uerudp
from faultless_captures import GENERATIONS, MODERN_ONLY, SCENARIOS

NETWORK = (("loss", (0, 0, 0.01, 0.03, 0.1, 0.2)), ("jitter", (0, 0, 5, 15, 40)), ("reorder", (0, 0, 0, 0.05)),
           ("dup", (0, 0, 0, 0.03)), ("delay", (5, 20, 60, 120)), ("corrupt", (0, 0, 0, 0, 0.01)))
OWN_NETWORK = ("kick", "timeout", "refused", "upgrade", "restart", "outage", "overload", "terrible", "bloat")


class Capture:
    """Capture N: a simulated run, and what happened to the capture of it."""

    def __init__(self, number, part=None):
        self.number, self.random = number, random.Random(number)
        self.scenario = self.random.choice([name for name in SCENARIOS if name != "sealed"])
        generations = [each for each in GENERATIONS if each >= "4.22" or self.scenario not in MODERN_ONLY]
        self.arguments = [self.scenario, f"--seed={number}", f"--generation={self.random.choice(generations)}",
                          f"--duration={self.random.choice((2, 3, 5))}",
                          f"--capture-at={self.random.choice(('client', 'server', 'sender'))}"]
        if self.scenario not in OWN_NETWORK:
            self.arguments += [f"--{name}={self.random.choice(values)}" for name, values in NETWORK]
        self.part = part or self.random.choice(mishaps.PARTS)
        self.net_speed = self.random.choice((None, None, 4000, 10000, 25000))

    def __str__(self):
        return f"uerudp generate {' '.join(self.arguments)} ({self.part}; net-speed {self.net_speed})"

    def run(self, folder, name, arguments):
        path = pathlib.Path(folder, f"{name}.pcapng")
        if self.net_speed:
            scenario = pathlib.Path(folder, f"{name}.ini")
            scenario.write_text(f"[scenario]\nbase={arguments[0]}\n[client]\nnet-speed={self.net_speed}\n")
            arguments = [scenario, *arguments[1:]]
        uerudp.run("generate", *arguments, "--output", path, status=None)
        return path, json.loads(path.with_suffix(".sent.json").read_text())

    def make(self, folder):
        """Write the capture. Returns its path, the sidecar, and its records."""
        path, sidecar = self.run(folder, "capture", self.arguments)
        head, records = mishaps.records_of(path.read_bytes())
        other = []
        if self.part == "merged":
            again, _ = self.run(folder, "other", ["login", f"--seed={self.number + 1}", self.arguments[2], "--duration=3"])
            _, other = mishaps.records_of(again.read_bytes())
        datagrams = {each["frame"]: each for each in sidecar["datagrams"]}
        records = mishaps.Mishap(self.part, self.random, datagrams).applied(records, other)
        path.write_bytes(mishaps.file_of(head, records))
        return path, sidecar, records


def capture_of_senders(capture, folder):
    path, sidecar = capture.run(folder, "senders", [*capture.arguments, "--capture-at=sender"])
    sent = {each["frame"]: each for each in sidecar["datagrams"]}
    return receivers.Sent(sent, receivers.decode(path, sidecar["generation"]))


def wrong(number, part=None):
    """What info says of capture N and its simulation contradicts, as texts."""
    capture, found, senders = Capture(number, part), [], None
    with tempfile.TemporaryDirectory() as folder:
        path, sidecar, records = capture.make(folder)
        output = uerudp.run("info", "--json", f"--generation={sidecar['generation']}", path, status=None).stdout
        for connection in map(json.loads, output.splitlines()):
            run = truth.run_of(sidecar, records, connection)
            if run and connection["waits"] and not run.is_damaged:
                senders = senders or capture_of_senders(capture, folder)
                found += [(f"waits: {row}", reason) for row, reason in
                          truth.wrong_waits(run, connection, senders, capture.part in ("whole", "vlan", "merged"))]
            found += [(f"{finding['kind']}: {finding['text']}", reason)
                      for finding, reason in truth.contradictions(run, connection)] if run else []
    return [f"{number}: {capture}: {text}: {reason}" for text, reason in found]


def halves_of(path, generation):
    """half_ms of each connection."""
    output = uerudp.run("info", "--json", f"--generation={generation}", path, status=None).stdout
    return [json.loads(line)["half_ms"] for line in output.splitlines()]


def longer_halves(number):
    """The longest half of a round trip in capture N, and in the same without packets that the capture lost, where it is
    longer, as texts. At the end that receives the acks, a packet that is in neither capture was lost on its way; a
    receiver reports a packet that it refuses like a lost one, so that the capture keeps those."""
    capture = Capture(number, "whole")
    with tempfile.TemporaryDirectory() as folder:
        path, sidecar = capture.run(folder, "capture", capture.arguments)
        way = {"client": "c2s", "server": "s2c"}.get(sidecar["capture_point"])
        if way is None or any("corrupted" in each["fate"] for each in sidecar["datagrams"]):
            return []
        head, records = mishaps.records_of(path.read_bytes())
        share = capture.random.choice((0.02, 0.1, 0.3, 0.5))
        refused = {each["frame"] for each in sidecar["datagrams"] if each["arrived"] and each["delivered"] is False}
        lossy = pathlib.Path(folder, "lossy.pcapng")
        lossy.write_bytes(mishaps.file_of(head, [each for each in records if capture.random.random() > share
                                                 or each.frame in refused]))
        longest = [[halves[way]["max"] for halves in halves_of(each, sidecar["generation"]) if halves[way]]
                   for each in (path, lossy)]
    is_longer = all(map(len, longest)) and max(longest[1]) > max(longest[0])
    return [f"{capture}, without {share} of its packets: {longest}"] if is_longer else []


class Truth(unittest.TestCase):
    maxDiff = None

    def test_findings(self):
        found = [text for number in self.NUMBERS for text in wrong(number)]
        self.assertEqual("", "\n".join(found))

    def test_round_trips(self):
        """An ack that a packet may have had which the capture lacks is no sample. One capture of four is enough."""
        found = [text for number in self.NUMBERS if number % 4 == 0 for text in longer_halves(number)]
        self.assertEqual("", "\n".join(found))


if __name__ == "__main__":
    numbers = list(map(int, sys.argv[1:]))
    Truth.NUMBERS = range(numbers[0], sum(numbers)) if len(numbers) == 2 else numbers
    unittest.main(argv=sys.argv[:1])
