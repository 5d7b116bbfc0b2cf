#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp info --bandwidth rebuilds when a sender was saturated: against the QueuedBits of the simulated senders."""
import json
import pathlib
import tempfile
import unittest

import uerudp
from conversation import CLIENT, SERVER, Conversation, hello_sent

SCENARIO = uerudp.ROOT / "captures/saturated.ini"
RATE = 10000
HZ = 30
TICK_BITS = 8 * RATE / HZ
WAYS = ("c2s", "s2c")


def bandwidth_of(path, *options):
    output = uerudp.run("info", "--json", "--bandwidth", *options, path, status=None).stdout
    connection, = map(json.loads, output.decode().splitlines())
    return connection["bandwidth"]


def generate(folder, *options):
    path = pathlib.Path(folder, "x.pcapng")
    uerudp.run("generate", SCENARIO, *options, "--output", path, status=None)
    return path, json.loads(path.with_suffix(".sent.json").read_text())


def true_spans(sidecar, way):
    """[begin, end] in seconds: from a tick that leaves bits in the queue, until they have drained or the capture ends."""
    spans = []
    last = max(int(each["time"]) / 1e9 for each in sidecar["datagrams"] if each["frame"])
    for each in sidecar["datagrams"]:
        if each["dir"] == way and each["queued_bits"] is not None and each["queued_bits"] > 0:
            begin = int(each["time"]) / 1e9
            end = begin + (each["queued_bits"] + TICK_BITS) / (8 * RATE)
            end = min(end, last)
            if spans and begin <= spans[-1][1]:
                spans[-1][1] = max(spans[-1][1], end)
            else:
                spans.append([begin, end])
    return spans


class Truth(unittest.TestCase):
    def test_against_the_sidecar(self):
        saturated = 0
        for seed in range(1, 9):
            for options in ([], ["--duration=8"]):
                with self.subTest(seed=seed, options=options), tempfile.TemporaryDirectory() as folder:
                    path, sidecar = generate(folder, f"--seed={seed}", "--capture-at=sender", *options)
                    bandwidth = bandwidth_of(path)
                    for way in WAYS:
                        found = bandwidth["saturation"][way]
                        spans = true_spans(sidecar, way)
                        length_ms = 1000 * sum(end - begin for begin, end in spans)
                        peak = max(each["queued_bits"] for each in sidecar["datagrams"]
                                   if each["dir"] == way and each["queued_bits"] is not None)
                        self.assertEqual(RATE, found["rate_bytes_per_s"])
                        self.assertAlmostEqual(1000 / HZ, found["tick_ms"], delta=1)
                        self.assertEqual(len(spans), found["times"])
                        self.assertAlmostEqual(length_ms, found["total_ms"], delta=5 * len(spans) + 0.01)
                        if peak > 0:
                            self.assertAlmostEqual(peak + TICK_BITS, found["queued_peak_bits"], delta=100)
                        saturated += len(spans)
        self.assertGreater(saturated, 20)

    def test_other_capture_points(self):
        """At the receiver packets are missing or moved, so that the queue seems shorter, never much longer."""
        for point in ("client", "server"):
            for loss in (0, 0.1):
                with self.subTest(point, loss=loss), tempfile.TemporaryDirectory() as folder:
                    path, sidecar = generate(folder, "--seed=3", f"--capture-at={point}", f"--loss={loss}", "--duration=8")
                    found = bandwidth_of(path)["saturation"]["s2c"]
                    length_ms = 1000 * sum(end - begin for begin, end in true_spans(sidecar, "s2c"))
                    self.assertLessEqual(found["total_ms"], 1.1 * length_ms + 20)

    def test_packets_that_are_missing(self):
        """A capture at the receiver lacks packets, and with them saturation of the sender; the text says it."""
        with tempfile.TemporaryDirectory() as folder:
            path, sidecar = generate(folder, "--seed=3", "--capture-at=client", "--loss=0.3", "--duration=8")
            found = bandwidth_of(path)["saturation"]["s2c"]
            text = uerudp.run("info", "--bandwidth", path, status=None).stdout.decode()
        self.assertLess(found["total_ms"], 0.8 * 1000 * sum(end - begin for begin, end in true_spans(sidecar, "s2c")))
        self.assertIn("and more where packets are missing in the capture\n", text)


class Innocent(unittest.TestCase):
    def test_below_the_rate(self):
        """A packet that one tick can pay for is no saturation."""
        conv = Conversation()
        conv.handshake()
        conv.send_message(CLIENT, "hello", network_version=7)
        conv.wait(30).send_message(CLIENT, "netspeed", rate=RATE)
        for _ in range(60):
            conv.wait(33).send(SERVER, conv.reliable(SERVER, 3, open=True) if conv.next_seq.get((SERVER, 3)) is None
                               else conv.reliable(SERVER, 3, data="55" * 100))
            conv.send(CLIENT)
        found = conv.info("--bandwidth")["bandwidth"]["saturation"]["s2c"]
        self.assertEqual([0, 0, None], [found["times"], found["total_ms"], found["longest"]])

    def test_unknown_rate(self):
        conv = Conversation()
        conv.handshake()
        for _ in range(50):
            conv.wait(10).send(SERVER, conv.reliable(SERVER, 3, data="55" * 800))
        self.assertEqual({"c2s": None, "s2c": None}, conv.info("--bandwidth")["bandwidth"]["saturation"])


class Waits(unittest.TestCase):
    def conversation(self, pause):
        """Updates each 33 ms on channel 3; then 12,000 bytes on channel 4, for which 10,000 bytes/s need 1.2 s. With pause,
        channel 3 is silent until they have left."""
        conv = Conversation()
        conv.handshake()
        conv.send_message(CLIENT, "netspeed", rate=RATE)
        conv.send(SERVER, conv.reliable(SERVER, 3, open=True))
        for _ in range(20):
            conv.wait(33).send(SERVER, conv.reliable(SERVER, 3))
        for _ in range(12):
            conv.send(SERVER, conv.reliable(SERVER, 4, data="55" * 950))
        for _ in range(40):
            conv.wait(33)
            if not pause:
                conv.send(SERVER, conv.reliable(SERVER, 3))
        for _ in range(5):
            conv.wait(33).send(SERVER, conv.reliable(SERVER, 3))
        return conv.info("--bandwidth")["bandwidth"]

    def test_waits(self):
        bandwidth = self.conversation(True)
        self.assertEqual(1, bandwidth["saturation"]["s2c"]["times"])
        self.assertGreater(bandwidth["saturation"]["s2c"]["longest"]["duration_ms"], 1000)
        row, = (row for row in bandwidth["channels"] if row["channel"] == 3)
        self.assertEqual(1, row["waits"]["s2c"])
        self.assertAlmostEqual(33 * 41, row["longest_wait_ms"]["s2c"], delta=1)

    def test_does_not_wait(self):
        bandwidth = self.conversation(False)
        self.assertGreater(bandwidth["saturation"]["s2c"]["total_ms"], 1000)
        self.assertEqual([0], [row["waits"]["s2c"] for row in bandwidth["channels"] if row["channel"] == 3])


class Times(unittest.TestCase):
    def test_times_that_are_too_close(self):
        """Without true times, as of a dump that was converted, no rate is known, and no side is saturated."""
        conv = hello_sent()
        conv.send_message(CLIENT, "netspeed", rate=2000)
        for _ in range(60):
            conv.send(SERVER, {"channel": 5, "data": "00" * 100})
            conv.idle(50)
        self.assertGreater(len(conv.objects), 100)
        for step_ns, is_saturated in ((0, False), (1000, False), (20_000_000, True)):
            for number, datagram in enumerate(conv.objects):
                datagram["time"] = str(step_ns * number)
            kinds = {finding["kind"] for finding in conv.info()["findings"]}
            self.assertEqual(is_saturated, "saturated" in kinds, step_ns)


if __name__ == "__main__":
    unittest.main()
