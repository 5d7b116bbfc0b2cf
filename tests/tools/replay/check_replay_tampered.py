#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp replay --check on captures with one random fault each: no innocent frame is accused.

usage: check_replay_tampered.py [FIRST COUNT]

Fault N is equal in every run. A report passes if it names the changed frame, with the changed field and the original
datagram where it prints them, or if its sentence has a condition that covers the fault. No report passes, too, and the reason is counted. Without arguments 20
faults.
"""
import collections
import json
import pathlib
import random
import sys
import tempfile

import pcapng
import uerudp

CAPTURES = [("5.5", "sender"), ("5.5", "client"), ("4.18", "sender"), ("4.18", "client")]
KINDS = ("drop", "duplicate", "reorder", "flip", "flip", "flip")
FIELDS = {"5.5": ("packet.seq", "packet.ack", "packet.history", "bunch.ch_seq", "bunch.channel", "bunch.reliable",
                  "bunch.data_bits", "bunch.data", "bunch.partial", "bunch.control", "session_id", "client_id"),
          "4.18": ("packet.seq", "legacy.ack_id", "bunch.ch_seq", "bunch.channel", "bunch.reliable", "bunch.data_bits",
                   "bunch.data", "bunch.partial", "bunch.control")}
ACCUSED, WRONG_FIELD, WRONG_DATAGRAM = "an innocent frame is accused", "another field", "another datagram is expected"
FAILURES = ACCUSED, WRONG_FIELD, WRONG_DATAGRAM


class Captures:
    """The captures without a fault, made once each."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.made = {}

    def get(self, generation, point):
        """(path, objects, payloads)"""
        key = generation, point
        if key not in self.made:
            path = self.folder / f"{generation}-{point}.pcapng"
            uerudp.run("generate", "game", "--no-sidecar", "--seed=5", "--duration=6", "--loss=0.05",
                       f"--capture-at={point}", f"--generation={generation}", "-o", path)
            self.made[key] = path, uerudp.decode(path), [packet.payload for packet in pcapng.read(path)]
        return self.made[key]


def check(path):
    output = uerudp.run("replay", "--check", "--json", path, status=None).stdout
    return [json.loads(line, object_pairs_hook=uerudp.without_duplicates) for line in output.decode().splitlines()]


class Fault:
    def __init__(self, number, captures, folder):
        self.random = random.Random(number)
        self.generation, self.point = CAPTURES[number % len(CAPTURES)]
        self.original, self.objects, self.payloads = captures.get(self.generation, self.point)
        self.path = pathlib.Path(folder) / "tampered.pcapng"
        self.kind = self.random.choice(KINDS)
        self.field = self.random.choice(FIELDS[self.generation]) if self.kind == "flip" else None
        self.seed = number
        self.frame = self.make()

    def make(self):
        """Write the capture. Returns the frame, which has the field."""
        action = f"corrupt@{self.field}" if self.field else self.kind
        while True:
            frame = self.random.choice([o["frame"] for o in self.objects if "packet" in o])
            self.rule = f"{action} frame={frame}"
            text = uerudp.run("edit", "--seed", self.seed, "--rule", self.rule, self.original, self.path, status=None).stderr
            if f"{self.rule}: 1 datagram".encode() in text:
                return frame

    def __str__(self):
        return f"fault {self.seed}: {self.generation} at {self.point}, {self.rule}"

    def is_covered(self, difference):
        """Whether the condition of a difference in another frame covers the fault."""
        condition = difference.get("condition", "")
        if self.kind != "flip":
            words = ("the capture lacks",) if self.kind == "drop" else ("another order", "has one later")
            return any(word in condition for word in words)
        is_earlier = "an earlier packet is not" in condition and self.frame < difference["frame"]
        is_report = "a later packet is not" in condition and (
            self.frame <= difference["suspect_frame"] or self.frame >= difference["frame"])
        is_next = "one of its next packets" in condition and self.frame > difference["frame"]
        return is_earlier or is_next or is_report or (bool(condition) and difference.get("suspect_frame") == self.frame)

    def is_acknowledged(self):
        """Whether a later packet acknowledges the changed one, which a receiver else never had."""
        changed = next(each for each in self.objects if each["frame"] == self.frame)
        acks = [each.get("packet", {}).get("acked", []) + [item["ack_id"] for item in each.get("items", []) if item["is_ack"]]
                for each in self.objects if each["direction"] != changed["direction"] and each["frame"] > self.frame]
        return any(changed["packet"]["seq"] in each for each in acks)

    def silence(self):
        """Why a fault is no difference: it changes nothing that has a meaning, or nothing else shows what was sent; or it is
        missed."""
        if self.kind in ("duplicate", "reorder"):
            return "the order of a capture, and copies in it, are not the side's"
        if not self.is_acknowledged():
            return "the packet is lost in any case"
        if self.kind == "drop":
            return "missed"
        was, now = ([each.get("bunches", each.get("items")) for each in objects if each["frame"] == self.frame][0]
                    for objects in (self.objects, uerudp.decode(f"--generation={self.generation}", self.path, status=None)))
        changed = [bunch for bunch, after in zip(was, now) if bunch != after]
        if self.field == "legacy.ack_id":
            return "each ack is sent twice"
        is_free = self.field == "bunch.data" or not any(bunch.get("reliable") for bunch in changed)
        return "content that was sent once, on a channel that is open" if is_free else "missed"

    def judge(self, result):
        """What the report says: a word, or one of FAILURES."""
        if not result["differs"]:
            return f"no difference: {self.silence()}"
        difference = result["difference"]
        if self.kind != "flip" or difference["frame"] != self.frame:
            return "with a condition" if self.is_covered(difference) else ACCUSED
        if "expected" in difference and bytes.fromhex(difference["expected"]) != self.payloads[self.frame - 1]:
            return WRONG_DATAGRAM
        if "field" in difference and self.field not in difference["field"].split(" or "):
            return WRONG_FIELD
        return "field named" if "field" in difference else "frame named"


def check_faults(first, count):
    """The shares of what reports say; returns the exit status."""
    shares = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        captures = Captures(folder)
        for number in range(first, first + count):
            fault = Fault(number, captures, folder)
            result, = check(fault.path)
            verdict = fault.judge(result)
            shares[verdict] += 1
            if verdict in FAILURES:
                found = {k: v for k, v in result["difference"].items() if k not in ("expected", "recorded")}
                print(f"{fault}: {verdict}: {json.dumps(found)}", flush=True)
    print(", ".join(f"{n} {word}" for word, n in shares.most_common()))
    return 1 if any(shares[word] for word in FAILURES) else 0


if __name__ == "__main__":
    sys.exit(check_faults(*(map(int, sys.argv[1:]) if len(sys.argv) > 2 else (0, 20))))
