#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp info --bandwidth rebuilds when a sender was saturated: against the QueuedBits of the simulated senders."""
import json
import pathlib
import random
import tempfile
import unittest

import truth
import uerudp
from conversation import CLIENT, SERVER, Conversation, hello_sent

SCENARIO = uerudp.ROOT / "captures/saturated.ini"
RATE = 10000
HZ = 30
WAYS = ("c2s", "s2c")
NETWORKS = ((), ("--jitter=30",), ("--loss=0.1",), ("--delay=120",),
            ("--jitter=15", "--loss=0.05", "--reorder=0.05", "--dup=0.03"))


def info_of(path):
    output = uerudp.run("info", "--json", "--bandwidth", path, status=None).stdout
    connection, = map(json.loads, output.decode().splitlines())
    return connection


def accused(connection):
    return [finding["direction"] for finding in connection["findings"] if finding["kind"] == "saturated"]


def generate(folder, *options, scenario=SCENARIO):
    path = pathlib.Path(folder, "x.pcapng")
    uerudp.run("generate", scenario, *options, "--output", path, status=None)
    return path, json.loads(path.with_suffix(".sent.json").read_text())


def game(folder, rate, hz=60):
    """A simulated game whose client asks for a rate."""
    path = pathlib.Path(folder, "game.ini")
    path.write_text(f"[scenario]\nbase=game\n[client]\ntick={hz}\nnet-speed={rate}\n[server]\ntick={hz}\n")
    return path


def true_spans(sidecar, way, rate=RATE, hz=HZ):
    return truth.saturated_spans(((int(each["time"]), each["queued_bits"]) for each in sidecar["datagrams"]
                                  if each["dir"] == way), rate, 1e9 / hz)


def lengths_ms(spans):
    """All, and the longest."""
    lengths = [(end - begin) / 1e6 for begin, end in spans]
    return sum(lengths), max(lengths, default=0)


def found_ms(connection, way):
    found = connection["bandwidth"]["saturation"][way]
    return found["total_ms"], found["longest"]["duration_ms"] if found["longest"] else 0


class Truth(unittest.TestCase):
    def test_against_the_sidecar(self):
        """Between calls the sender is idle, so that its count is known but for the estimate of its tick."""
        saturated = 0
        for seed in range(1, 9):
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                path, sidecar = generate(folder, f"--seed={seed}", "--capture-at=sender", "--duration=8")
                connection = info_of(path)
                for way in WAYS:
                    found = connection["bandwidth"]["saturation"][way]
                    spans = true_spans(sidecar, way)
                    length_ms, longest_ms = lengths_ms(spans)
                    self.assertEqual((RATE, 34), (found["rate_bytes_per_s"], found["tick_ms"]))
                    self.assertEqual(len(spans), found["times"])
                    self.assertAlmostEqual(length_ms, found["total_ms"], delta=5 * len(spans) + 0.01)
                    self.assertAlmostEqual(longest_ms, found_ms(connection, way)[1], delta=5)
                    saturated += len(spans)
                self.assertEqual(["s2c"], accused(connection))
        self.assertGreater(saturated, 20)

    def test_near_the_rate(self):
        """A server that is nearly always at its rate never shows how much it had left at the beginning: at least."""
        for generation in ("4.18", "4.22", "5.5"):
            with self.subTest(generation), tempfile.TemporaryDirectory() as folder:
                path, sidecar = generate(folder, "--capture-at=server", "--duration=10", f"--generation={generation}",
                                         scenario=game(folder, 9000))
                connection = info_of(path)
                text = uerudp.run("info", "--bandwidth", path, status=None).stdout.decode()
                true_ms, true_longest_ms = lengths_ms(true_spans(sidecar, "s2c", 9000, 60))
                total_ms, longest_ms = found_ms(connection, "s2c")
                self.assertLess(true_ms / 2, total_ms)
                self.assertLessEqual(total_ms, true_ms)
                self.assertLess(0.8 * true_longest_ms, longest_ms)
                self.assertLessEqual(longest_ms, true_longest_ms)
                self.assertEqual((0, 0), found_ms(connection, "c2s"))
                self.assertEqual(["s2c"], accused(connection))
                self.assertIn("if its rate before Netspeed was at most 100000 bytes/s", text)

    def test_bounds(self):
        """No more than the sidecar has, whatever the rate, the tick, the generation, the network and the capture point."""
        at_random = random.Random(1)
        for seed in range(60):
            rate, hz = at_random.choice((3000, 5000, 9000, 15000, 30000, 60000)), at_random.choice((20, 30, 60))
            options = [f"--seed={seed}", "--duration=4",
                       f"--generation={at_random.choice(('4.13', '4.18', '4.22', '4.25', '5.0', '5.5', '5.8'))}",
                       f"--capture-at={at_random.choice(('client', 'server', 'sender'))}", *at_random.choice(NETWORKS)]
            with self.subTest(rate=rate, hz=hz, options=options), tempfile.TemporaryDirectory() as folder:
                path, sidecar = generate(folder, *options, scenario=game(folder, rate, hz))
                connection = info_of(path)
                for way in WAYS:
                    spans = true_spans(sidecar, way, rate, hz)
                    for true_ms, ms in zip(lengths_ms(spans), found_ms(connection, way)):
                        self.assertLessEqual(ms, true_ms)

    def test_packets_that_are_missing(self):
        """A capture at the receiver lacks packets, and with them saturation of the sender; the text says it."""
        with tempfile.TemporaryDirectory() as folder:
            path, sidecar = generate(folder, "--seed=3", "--capture-at=client", "--loss=0.3", "--duration=8")
            connection = info_of(path)
            text = uerudp.run("info", "--bandwidth", path, status=None).stdout.decode()
        true_ms, true_longest_ms = lengths_ms(true_spans(sidecar, "s2c"))
        total_ms, longest_ms = found_ms(connection, "s2c")
        self.assertLess(total_ms, 0.9 * true_ms)
        self.assertLessEqual(longest_ms, true_longest_ms)
        self.assertIn("longer if packets are missing in the capture", text)


class Ticks(unittest.TestCase):
    """A side that sends a number of bytes, as engines count them, in some of its ticks of 50 ms, 500 bytes of the rate."""
    TICK_MS = 50

    def conversation(self, side, sizes, has_clocks=True, late_ms=lambda tick: 0, set_back_ms=0):
        conv = Conversation()
        conv.handshake()
        conv.send_message(CLIENT, "netspeed", rate=RATE)
        conv.wait(self.TICK_MS)
        for tick, size in enumerate(sizes):
            begin = conv.now
            for number in range(-(-size // 600)):
                info = {"has_info": True, "jitter_ms": int(begin) % 1000} if has_clocks and number == 0 else {}
                conv.wait(late_ms(tick))
                conv.send(side, {"channel": 5, "data": "00" * (min(600, size - 600 * number) - 45)}, **info)
                conv.now = begin
            conv.send(not side)
            conv.now = begin + self.TICK_MS
        conv.objects.sort(key=lambda each: int(each["time"]))
        for datagram in conv.objects[len(conv.objects) // 2:]:
            datagram["time"] = str(int(datagram["time"]) - set_back_ms * 10**6)
        return conv.info("--bandwidth")

    def check(self, sizes, is_saturated, **keys):
        for side, way in ((CLIENT, "c2s"), (SERVER, "s2c")):
            for has_clocks in (True, False):
                with self.subTest(way=way, has_clocks=has_clocks):
                    connection = self.conversation(side, sizes, has_clocks, **keys)
                    self.assertEqual([way] if is_saturated else [], accused(connection))
                    times = {each: connection["bandwidth"]["saturation"][each]["times"] for each in WAYS}
                    self.assertEqual([way] if is_saturated else [], [each for each in WAYS if times[each]])

    def test_nearly_the_rate(self):
        self.check([475] * 80, False)

    def test_more_than_the_rate(self):
        self.check([550] * 80, True)

    def test_small_bursts(self):
        """Two ticks of the rate after a tick that sent nearly nothing are what a sender may have left."""
        self.check([60, 900] * 40, False)

    def test_large_bursts(self):
        self.check([60] * 9 + ([3000] + [60] * 9) * 5, True)

    def test_held_by_the_network(self):
        """What waits for half a second and comes at once is no burst of the sender."""
        def late_ms(tick):
            return self.TICK_MS * (9 - tick % 10)
        self.check([400] * 80, False, late_ms=late_ms)

    def test_clock_that_is_set_back(self):
        """What is sent until the clock of the capture has passed its highest time is no burst."""
        self.check([475] * 80, False, set_back_ms=900)

    def test_ticks_that_vary(self):
        conv = Conversation()
        conv.handshake()
        conv.send_message(CLIENT, "netspeed", rate=RATE)
        for tick in range(120):
            conv.wait((20, 50, 80)[tick % 3])
            size = (200, 500, 800)[tick % 3] - 100
            conv.send(SERVER, {"channel": 5, "data": "00" * (size - 45)}, has_info=True, jitter_ms=int(conv.now) % 1000)
            conv.send(CLIENT)
        self.assertEqual([], accused(conv.info()))


class Rates(unittest.TestCase):
    """A client that asks for another rate while the server has much in its queue."""

    def saturation(self, first, second):
        conv = Conversation()
        conv.handshake()
        conv.send_message(CLIENT, "netspeed", rate=first)
        for tick in range(160):
            conv.wait(50)
            conv.send(SERVER, {"channel": 5, "data": "00" * (500 if tick < 40 else 50)}, has_info=True,
                      jitter_ms=int(conv.now) % 1000)
            if tick == 40:
                conv.send_message(CLIENT, "netspeed", rate=second)
            else:
                conv.send(CLIENT)
        connection = conv.info("--bandwidth")
        finding, = (finding for finding in connection["findings"] if finding["kind"] == "saturated")
        found = connection["bandwidth"]["saturation"]["s2c"]
        self.assertEqual(second, found["rate_bytes_per_s"])
        self.assertEqual(max(first, 1800), found["longest"]["rate_bytes_per_s"])
        self.assertEqual(max(first, 1800), finding["of"])
        self.assertIn(f"more than its rate, {max(first, 1800)} bytes/s; this holds if its ticks", finding["text"])
        return found["total_ms"]

    def test_higher_rate(self):
        self.assertLess(self.saturation(5000, 100000), 2200)

    def test_same_rate(self):
        self.assertGreater(self.saturation(5000, 5000), 3000)

    def test_less_than_servers_allow(self):
        self.assertLess(self.saturation(500, 100000), 2500)


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
        connection = conv.info("--bandwidth")
        self.assertEqual({"c2s": None, "s2c": None}, connection["bandwidth"]["saturation"])
        self.assertEqual([], accused(connection))


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
