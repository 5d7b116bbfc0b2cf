#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packets of a generated replay, read back from the capture alone: every value of the intent is there, once and in
order, and no conclusion is drawn from answers that a replay does not have."""
import collections
import json
import pathlib
import tempfile
import unittest

import traffic
import uerudp


CAPTURES = pathlib.Path(__file__).parents[3] / "captures"


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
        """The values of each channel, in order, bit by bit."""
        sent, found = collections.defaultdict(list), collections.defaultdict(list)
        self.assertLessEqual({"actor", "values", "gone", "final"}, {event["event"] for event in run.sent["game"]})
        for event in run.sent["game"]:
            if event["event"] == "values":
                sent[event["channel"]] += [tuple(each) for each in event["values"]]
        for bunch in run.bunches:
            for message in bunch.get("content", ()):
                self.assertFalse({"opaque", "fault"} & set(message), message)
                for block in message.get("blocks", ()):
                    found[bunch["channel"]] += [(each["handle"], each["bits"], each["data"])
                                                for each in block.get("properties", ())]
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

    def test_nothing_is_resent(self):
        """Bunches of a replay have no sequences, and nothing is lost."""
        for generation in ("4.13", "5.8"):
            self.assertEqual({"c2s": 0, "s2c": 0}, Run(generation=generation).sent["connections"][0]["resends"])

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

    def test_found_without_option(self):
        """From the middle of a replay, too, and with the same results as with the option."""
        for generation in ("4.13", "4.18", "4.20", "4.22", "5.1", "5.8"):
            frames = traffic.generate("demo", "--duration=3", "--generation", generation).frames
            for part in (frames, frames[:20], frames[20:]):
                with self.subTest(generation, frames=len(part)):
                    content = traffic.write(part)
                    for command in (("decode", "--json", "--content"), ("info", "--json"), ("decode", "--events=-")):
                        found, given = (uerudp.run(*command, *option, "-", data=content, status=None).stdout
                                        for option in ((), ("--internal-ack",)))
                        self.assertEqual(found, given)
                    self.assertTrue(json.loads(uerudp.run("info", "--json", "-", data=content).stdout)["internal_ack"])

    def replays(self, frames):
        lines = uerudp.run("info", "--json", "-", data=traffic.write(frames), status=None).stdout.splitlines()
        return sum(json.loads(line).get("internal_ack", False) for line in lines)

    def test_not_found(self):
        """In few datagrams, and if there is an answer."""
        frames = traffic.generate("demo", "--duration=3").frames
        self.assertEqual([self.replays(frames[:15]), self.replays(frames[:16])], [0, 1])
        answer = [frame for frame in traffic.generate("login", "--seed=1").frames][:1]
        for place in (0, 10, 15):
            self.assertEqual(self.replays(frames[:place] + answer + frames[place:]), 0)

    def test_one_direction_of_others(self):
        """One direction of each of our captures, from its first packet on, is no replay, whatever the settings lack."""
        checked = 0
        for path in sorted(CAPTURES.rglob("*.pcapng")):
            by_direction = collections.defaultdict(list)
            for frame, each in zip(traffic.read(path.read_bytes()), uerudp.decode(path, status=None)):
                if not each.get("is_handshake", True):
                    by_direction[each["stream"], each["direction"]].append(frame)
            for (stream, direction), frames in by_direction.items():
                with self.subTest(path.stem, stream=stream, direction=direction):
                    self.assertEqual(self.replays(frames), len(frames) >= 16 and path.stem == "demo")
                    checked += len(frames) >= 16
        self.assertGreater(checked, 40)

    def test_wrong_options(self):
        disturbed = ("--loss=0.1", "--jitter=5", "--reorder=0.1", "--dup=0.1", "--corrupt=0.1", "--rate=10000")
        for options, why in (*((["generate", "demo", each, "-o", "/dev/null"], "no network") for each in disturbed),
                             (["serve", "--scenario=demo"], "not played with a peer"),
                             (["connect", "--scenario=demo", "127.0.0.1"], "not played with a peer")):
            self.assertIn(why, uerudp.run(*options, status=2).stderr.decode(), options)
        uerudp.run("generate", "demo", "--delay=5", "--loss=0", "-o", "/dev/null")


if __name__ == "__main__":
    uerudp.main()
