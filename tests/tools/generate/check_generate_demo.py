#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packets of a generated replay, read back from the capture alone: every message of the intent is there, once and in
order, and no conclusion is drawn from answers that a replay does not have."""
import collections
import json
import pathlib
import tempfile
import unittest

import traffic
import uerudp


class Run:
    def __init__(self, *options, generation="5.5"):
        wire = "--internal-ack=1", "--generation", generation
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "demo.pcapng"
            uerudp.run("generate", "demo", "--generation", generation, "--output", path, *options)
            self.sent = json.loads(path.with_suffix(".sent.json").read_text())
            lines = uerudp.run("decode", "--json", "--content", *wire, path).stdout.decode().splitlines()
            self.info, = map(json.loads, uerudp.run("info", "--json", *wire, path).stdout.splitlines())
            self.text = uerudp.run("info", *wire, path).stdout.decode()
        self.datagrams = list(map(json.loads, lines))
        self.bunches = [bunch for line in self.datagrams for bunch in line["bunches"]]


class Demo(unittest.TestCase):
    def check_messages(self, run):
        """The sizes of the values of each channel, in order."""
        sent, found = collections.defaultdict(list), collections.defaultdict(list)
        for message in run.sent["messages"]:
            self.assertIsNotNone(message["delivered"])
            sent[message["channel"]].append(message["bits"])
        for bunch in run.bunches:
            for message in bunch["content"]:
                self.assertFalse({"opaque", "fault"} & set(message), message)
                for block in message.get("blocks", ()):
                    found[bunch["channel"]] += [each["bits"] for each in block.get("properties", ())]
        self.assertEqual(sent, found)
        self.assertGreater(sum(map(len, sent.values())), 300)

    def check_info(self, run):
        self.assertTrue(run.info["internal_ack"])
        self.assertEqual([], run.info["findings"])
        self.assertEqual({"c2s": 0, "s2c": len(run.datagrams)}, run.info["packets"])
        self.assertRegex(run.text, r"(?m)^  replay +packets with internal acks")
        for word in ("not acknowledged", "missing", "resends of them", "buffer peak", "round trip "):
            self.assertNotIn(word, run.text)
        closes = sum(bunch.get("close", False) for bunch in run.bunches)
        self.assertEqual(closes, sum(channel["closes"] for channel in run.info["channels"]))

    def test_generations(self):
        for generation in ("4.13", "4.18", "4.22", "4.25", "5.1", "5.5", "5.8"):
            with self.subTest(generation):
                run = Run("--duration=2", generation=generation)
                for datagram in run.datagrams:
                    self.assertNotIn("packet", datagram)
                self.check_messages(run)
                self.check_info(run)

    def test_long(self):
        """Nobody times out, however long nobody answers."""
        run = Run("--duration=90", "--tick=5")
        self.check_messages(run)
        self.check_info(run)

    def test_one_direction_of_a_game(self):
        """Its answers are missing in the capture, which info says."""
        frames = [frame for frame in traffic.generate("login", "--seed=1").frames]
        objects = uerudp.decode("-", data=traffic.write(frames))
        downward = [frame for frame, each in zip(frames, objects, strict=True) if each["direction"] == 2]
        connection, = traffic.lines("info", "--json", frames=downward)
        self.assertNotIn("internal_ack", connection)
        self.assertTrue([each for each in connection["findings"] if each["kind"] == "one_direction"])

    def test_wrong_options(self):
        disturbed = ("--loss=0.1", "--jitter=5", "--reorder=0.1", "--dup=0.1", "--corrupt=0.1", "--rate=10000")
        for options, why in (*((["generate", "demo", each, "-o", "/dev/null"], "no network") for each in disturbed),
                             (["serve", "--scenario=demo"], "not served"),
                             (["connect", "--scenario=demo", "127.0.0.1"], "not played")):
            self.assertIn(why, uerudp.run(*options, status=2).stderr.decode(), options)
        uerudp.run("generate", "demo", "--delay=5", "--loss=0", "-o", "/dev/null")


if __name__ == "__main__":
    uerudp.main()
