#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The packet info of simulated connections against what the simulator did: frame times against the server's ticks, the
jitter clock against the delays of the network."""
import json
import pathlib
import tempfile
import unittest

import live
import uerudp

GENERATIONS = ("4.20", "4.22", "4.25", "5.1", "5.5", "5.8")
C2S, S2C = 1, 2
MS = 10**6
PLAYED = 45  # of these ticks, all but the first sends something


class Case(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = folder / "a.pcapng"
        self.sent = folder / "a.sent.json"

    def generate(self, *options):
        uerudp.run("generate", *options, "--output", self.path)

    def info(self):
        return json.loads(uerudp.run("info", "--json", self.path, status=None).stdout)


def frame_times(datagram):
    """(bit, byte) of a datagram's header or of its ack items; the byte is None where there is none."""
    heads = [datagram.get("packet", {})] + [item for item in datagram.get("items", ()) if item.get("is_ack")]
    return [(head["has_frame_time"], head.get("frame_time_ms")) for head in heads if "has_frame_time" in head]


class FrameTime(Case):
    def ticks_of_server(self, generation):
        """(time since its last datagram, frame time) in ms of each tick in which the server sent frame times. The
        client's packets ask, and have no byte."""
        before, ticks = None, []
        for datagram in uerudp.decode(f"--generation={generation}", self.path):
            pairs = frame_times(datagram)
            if datagram["direction"] == C2S:
                self.assertTrue(all(pair == (True, None) for pair in pairs), generation)
                continue
            now, timed = int(datagram["time"]), [value for has, value in pairs if has]
            if timed and before not in (None, now):
                ticks.append(((now - before) // MS, timed[-1]))
            before = now
        return ticks

    def test_ticks(self):
        """Of 20 ticks per second, a frame of three ticks in twenty: each frame time is that of the tick that ends, or of the
        one before, if the packet was begun before the tick ended. 100: a tick between sent nothing."""
        for generation in GENERATIONS:
            self.generate("frame-time", "--tick=20", f"--generation={generation}", "--capture-at=sender")
            spans, values = (list(column[:PLAYED]) for column in zip(*self.ticks_of_server(generation)))
            self.assertEqual({50, 150}, set(values), generation)
            unreported = [now for now, value, after in zip(spans, values, values[1:]) if now == 150 not in (value, after)]
            self.assertEqual([], unreported, generation)
            self.assertGreater(spans.count(150), 1)
            late = [(now, value) for before, now, value in zip(spans, spans[1:], values[1:])
                    if value not in (before, now) and now != 100]
            self.assertEqual([], late, generation)

    def test_statistics(self):
        """info has their least, median and most, and a sentence about long ones."""
        self.generate("frame-time", "--tick=20")
        times = self.info()["server_frame_time_ms"]
        self.assertEqual((50, 50, 150), (times["min"], times["p50"], times["max"]))
        self.assertIn("server_frame_time", {finding["kind"] for finding in self.info()["findings"]})

    def test_packets_of_a_frame(self):
        """Before 4.25 each packet has the frame time, not only the first of a frame: what is said is of packets."""
        for generation in GENERATIONS:
            self.generate("frame-time", "--tick=20", f"--generation={generation}")
            of_packets = sum(any(value is not None for _, value in frame_times(datagram))
                             for datagram in uerudp.decode(f"--generation={generation}", self.path))
            text = uerudp.run("info", self.path, status=None).stdout.decode()
            self.assertEqual(of_packets, self.info()["server_frame_time_ms"]["samples"], generation)
            self.assertEqual(generation < "4.25", "its packets report" in text and "server frame (packets)" in text, generation)
            self.assertEqual(generation >= "4.25", "one in ten takes" in text, generation)

    def test_copies(self):
        """A copy that the network made is no other frame."""
        for generation in ("4.20", "4.22", "5.1"):
            self.generate("frame-time", "--tick=20", f"--generation={generation}", "--dup=0.3", "--capture-at=client")
            info = self.info()
            numbers = {int(each["frame"]): each for each in uerudp.decode(f"--generation={generation}", self.path)}
            copies = {number: each["packet_id"] for each in json.loads(self.sent.read_text())["datagrams"]
                      for number in [each["frame"]] if number in numbers and each["dir"] == "s2c" and each["packet_id"] is not None
                      and any(value is not None for _, value in frame_times(numbers[number]))}
            self.assertGreater(info["duplicates"]["s2c"], 0)
            self.assertEqual(len(set(copies.values())), info["server_frame_time_ms"]["samples"], generation)

    def test_longest(self):
        """A byte holds 255 ms at most; the text says that such a frame may have taken longer."""
        for tick, is_said in (("10", True), ("20", False)):
            self.generate("frame-time", f"--tick={tick}")
            self.assertEqual(255 if is_said else 150, self.info()["server_frame_time_ms"]["max"])
            text = uerudp.run("info", self.path, status=None).stdout.decode()
            self.assertEqual(is_said, "255 ms or longer" in text)

    def test_fast_server(self):
        """Frames of 16 ms are no finding."""
        self.generate("login", "--frame-time")
        info = self.info()
        self.assertEqual((16, 16), (info["server_frame_time_ms"]["min"], info["server_frame_time_ms"]["max"]))
        self.assertNotIn("server_frame_time", {finding["kind"] for finding in info["findings"]})

    def test_not_asked(self):
        """Without the option no bit is set, and nothing is reported."""
        for generation in GENERATIONS:
            self.generate("login", f"--generation={generation}")
            pairs = [pair for datagram in uerudp.decode(f"--generation={generation}", self.path)
                     for pair in frame_times(datagram)]
            self.assertTrue(pairs)
            self.assertEqual({(False, None)}, set(pairs), generation)
            self.assertIsNone(self.info()["server_frame_time_ms"])
        self.assertNotIn("server frame", uerudp.run("info", self.path, status=None).stdout.decode())

    def test_old_releases(self):
        errors = uerudp.run("generate", "login", "--frame-time", "--generation=4.19", "-o", self.path, status=2).stderr
        self.assertIn(b"before 4.20 send no frame times", errors)


class Live(unittest.TestCase):
    def test_connect(self):
        """A server of 10 ticks per second says so to a client that asks, whose round trips are shorter by that."""
        rtt = {}
        with tempfile.TemporaryDirectory() as folder:
            for options in ((), ("--frame-time",)):
                capture = pathlib.Path(folder, f"{len(options)}.pcapng")
                with live.Server("--tick", 10, "--once") as server:
                    output = uerudp.run("connect", "--check", "--tick", 60, "--json", "--pcap", capture, *options,
                                        server.address).stdout
                reports = {report["event"]: report for report in map(json.loads, output.splitlines())}
                rtt[options] = reports["connection"]["rtt_ms"]
                times = json.loads(uerudp.run("info", "--json", capture, status=None).stdout)["server_frame_time_ms"]
                if options:
                    self.assertAlmostEqual(100, times["p50"], delta=20)
                else:
                    self.assertIsNone(times)
        self.assertLess(rtt["--frame-time",], rtt[()])


class Jitter(Case):
    def average(self, way):
        """As the engine smooths it: of the differences between the delays of the packets with info that arrived."""
        info = {datagram["frame"] for datagram in uerudp.decode(self.path)
                if datagram.get("packet", {}).get("jitter_ms", 1023) < 1000}
        delays = [int(each["arrived"][0]) - int(each["time"]) for each in
                  sorted((each for each in json.loads(self.sent.read_text())["datagrams"]
                          if each["dir"] == way and each["frame"] in info), key=lambda each: int(each["arrived"][0]))]
        average = 0
        for before, after in zip(delays, delays[1:]):
            average += (abs(after - before) - average) / 16
        return average / MS

    def test_simulated_network(self):
        """info, from clocks and arrivals alone, finds the jitter that the network had; the clock has whole milliseconds.
        Jitter below a tick does not reorder."""
        for jitter, least in ((0, 0), (10, 1.5), (20, 3)):
            with self.subTest(jitter=jitter):
                self.generate("jitter", "--tick=30", "--duration=20", f"--jitter={jitter}")
                measured = self.info()["jitter_ms"]["s2c"]
                self.assertAlmostEqual(self.average("s2c"), measured, delta=1)
                self.assertGreaterEqual(measured, least)

    def test_clock_is_of_the_sender(self):
        """Captured where they leave, packets have none, whatever the network does."""
        self.generate("jitter", "--tick=30", "--capture-at=sender")
        jitter = self.info()["jitter_ms"]
        self.assertLess(max(jitter["c2s"], jitter["s2c"]), 1)


class Silence(Case):
    """A server that hangs, and packets that the network holds, look alike but for the clock in the packets."""
    HANG = "[scenario]\nbase=game\nduration=4\n[server]\nlong-frame-every=150\nlong-frame={}\n"
    EITHER = {"no packet id is missing: the server did not send, or its packets were held on the way, or in the capture"}

    def hang(self, ticks, *options):
        scenario = self.path.with_name("hang.ini")
        scenario.write_text(self.HANG.format(ticks))
        uerudp.run("generate", scenario, *options, "--output", self.path)

    def hold(self, *options):
        whole = self.path.with_name("whole.pcapng")
        uerudp.run("generate", "game", "--duration=4", *options, "--output", whole)
        uerudp.run("edit", "--rule", "delay=800 dir=s2c time=2-", whole, self.path)

    def reasons(self):
        """What the silences of the server were."""
        return {finding["text"].partition("; ")[2] for finding in self.info()["findings"] if finding["kind"] == "silence"}

    def test_server_that_hangs(self):
        self.hang(42)
        self.assertEqual({"no packet id is missing: the server did not send for at least 699 ms, by the clock in its packets"},
                         self.reasons())

    def test_server_that_hangs_for_more_than_a_second(self):
        self.hang(90)
        self.assertEqual({"no packet id is missing: the server did not send for at least 1000 ms, by the clock in its packets"},
                         self.reasons())

    def test_packets_held_on_the_way(self):
        self.hold()
        reason, = self.reasons()
        self.assertRegex(reason, r"^no packet id is missing: the server sent the packet in frame \d+ at most 1[78] ms after the one "
                                 r"before, by the clock in its packets, and that packet was held on the way, or in the capture$")

    def test_packets_without_a_clock(self):
        for generation in ("4.20", "4.22"):
            self.hang(42, f"--generation={generation}")
            self.assertEqual(self.EITHER, self.reasons(), generation)
            self.hold(f"--generation={generation}")
            self.assertEqual(self.EITHER, self.reasons(), generation)


if __name__ == "__main__":
    unittest.main()
