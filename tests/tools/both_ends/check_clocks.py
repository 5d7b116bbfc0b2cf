#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp info with the captures of both ends: the clocks of the capture points."""
import datetime

import pcapng
import uerudp
from both_ends import MS, SERVER_PORT, WAYS, Folder, info, text_of


class Clocks(Folder):
    def test_offset(self):
        """Of a quarter of a second, and of years."""
        for shift in (0.25, -0.25, 3600, -100_000_000):
            with self.subTest(shift):
                ends = self.generate("stream", "--loss", "0.02", "--jitter", "5")
                shifted = self.path / "shifted.pcapng"
                uerudp.run("edit", f"--shift={shift}", ends.server, shifted)
                (connection,), _ = info(ends.client, shifted)
                clock = self.compare(ends, connection)["clock"]
                self.assertAlmostEqual(1000 * shift, clock["offset_ms"], delta=0.5)
                self.assertAlmostEqual(25, clock["offset_bound_ms"], delta=1)
                (connection,), _ = info(shifted, ends.client)
                self.assertAlmostEqual(-1000 * shift, connection["both_ends"]["clock"]["offset_ms"], delta=0.5)

    def drifting(self, path, ppm, way=None, growth_ppm=0):
        """A copy of the server's capture by a clock that drifts; the delay of the packets of a way grows, too."""
        packets = pcapng.read(path)
        begin = packets[0].time_ns

        def of(packet):
            own = "c2s" if packet.destination == SERVER_PORT else "s2c"
            later = 0 if own != way else growth_ppm if own == "c2s" else -growth_ppm  # it is sent earlier, or arrives later
            return packet._replace(time_ns=packet.time_ns + (packet.time_ns - begin) * (ppm + later) // 1_000_000)
        return self.write("drifting.pcap", sorted(map(of, packets), key=lambda packet: packet.time_ns))

    def check_bounds(self, clock, ppm, offset_ms=0):
        """The true drift is within the bounds, if the captures are long enough for them, and the true offset too."""
        self.assertEqual(clock["least_drift_ppm"] is None, clock["most_drift_ppm"] is None)
        self.assertNotEqual((-500, 500), (clock["least_drift_ppm"], clock["most_drift_ppm"]))
        if clock["least_drift_ppm"] is not None:
            self.assertTrue(clock["least_drift_ppm"] <= ppm <= clock["most_drift_ppm"], clock)
        self.assertLessEqual(abs(clock["offset_ms"] - offset_ms), clock["offset_bound_ms"])

    def test_drift(self):
        ends = self.generate("stream", "--duration", "60", "--jitter", "4", "--loss", "0.02")
        for ppm in (80, -80):
            drifting = self.drifting(ends.server, ppm)
            for order in ((ends.client, drifting), (drifting, ends.client)):
                (connection,), _ = info(*order)
                clock = self.compare(ends, connection)["clock"]
                true = ppm if order[0] == ends.client else -ppm
                self.assertAlmostEqual(true, clock["drift_ppm"], delta=8)
                self.check_bounds(clock, true)

    def test_no_drift(self):
        """Delays that vary are no drift."""
        for seed in range(1, 6):
            ends = self.generate("stream", "--duration", "20", "--jitter", "30", "--seed", seed)
            (connection,), _ = info(ends.client, ends.server)
            clock = self.compare(ends, connection)["clock"]
            self.assertIsNone(clock["drift_ppm"])
            self.check_bounds(clock, 0)
        self.assertIn("no drift is seen", text_of(ends.client, ends.server))

    def test_drift_beside_growing_delays(self):
        """A delay that grows in one direction looks like a drift of half its growth; the bounds hold in any case."""
        ends = self.generate("stream", "--duration", "40", "--delay", "2", "--jitter", "1", "--seed", "5")
        for ppm, way, growth in ((200, None, 0), (200, "s2c", 120), (200, "c2s", 120), (0, "s2c", 300), (-300, "c2s", 40)):
            drifting = self.drifting(ends.server, ppm, way, growth)
            (connection,), _ = info(ends.client, drifting)
            clock = connection["both_ends"]["clock"]
            self.check_bounds(clock, ppm)
            if growth == 0:
                self.assertAlmostEqual(ppm, clock["drift_ppm"], delta=8)
                self.assertLess(clock["most_drift_ppm"] - clock["least_drift_ppm"], 250)
            elif growth > 100:
                self.assertGreater(abs(ppm - (clock["drift_ppm"] or 0)), 40)
        text = text_of(ends.client, drifting)
        self.assertRegex(text, r"the drift is between -[\d.]+ and -?[\d.]+ ppm:\n +with any other, some packets would arrive before")

    def test_captures_too_short_for_bounds(self):
        """A round trip of 50 ms in 20 s bounds no drift below 500 ppm, which is that of any clock; one of 4 ms does."""
        for delay, is_bounded in ((25, False), (2, True)):
            ends = self.generate("stream", "--duration", "20", "--delay", str(delay), "--jitter", "1")
            (connection,), _ = info(ends.client, ends.server)
            clock = connection["both_ends"]["clock"]
            self.check_bounds(clock, 0)
            self.assertEqual(is_bounded, clock["least_drift_ppm"] is not None, clock)
            self.assertEqual(is_bounded, "the drift is between" in text_of(ends.client, ends.server))

    def test_drift_beside_a_queue(self):
        """A bottleneck that fills up, and delays that differ between the directions."""
        for seed in range(1, 3):
            ends = self.generate("stream", "--duration", "20", "--rate", "12000", "--queue", "20000", "--delay", "10", "--seed", seed)
            for ppm in (-200, 0, 200):
                (connection,), _ = info(ends.client, self.drifting(ends.server, ppm))
                self.check_bounds(connection["both_ends"]["clock"], ppm)

    def test_asymmetry(self):
        """Half of the difference goes into the offset; the sum of the delays stays right."""
        ends = self.generate("stream")
        slow = self.write("slow.pcap", sorted((packet._replace(time_ns=packet.time_ns + 20 * MS) if packet.destination == SERVER_PORT
                                               else packet for packet in pcapng.read(ends.server)), key=lambda packet: packet.time_ns))
        (connection,), _ = info(ends.client, slow)
        found = connection["both_ends"]
        self.assertAlmostEqual(10, found["clock"]["offset_ms"], delta=0.1)
        self.assertAlmostEqual(35, found["clock"]["offset_bound_ms"], delta=0.2)
        self.assertAlmostEqual(35, found["c2s"]["delay_ms"]["p50"], delta=0.1)  # in truth 45
        self.assertAlmostEqual(35, found["s2c"]["delay_ms"]["p50"], delta=0.1)  # in truth 25
        self.assertIn("half of the difference is in the offset", text_of(ends.client, slow))

    def test_clock_was_set(self):
        """A step of the clock explains what no straight line does: no delay is stated, and losses are still right."""
        ends = self.generate("stream", "--loss", "0.05")
        packets = pcapng.read(ends.server)
        middle = packets[len(packets) // 2].time_ns
        packets = [packet._replace(time_ns=packet.time_ns + (500 * MS if packet.time_ns > middle else 0)) for packet in packets]
        stepped = self.write("stepped.pcap", packets)
        (connection,), _ = info(ends.client, stepped)
        found = connection["both_ends"]
        self.assertIsNone(found["clock"])
        for way in WAYS:
            datagrams = [sent for sent in ends.sent["datagrams"] if sent["dir"] == way]
            self.assertIsNone(found[way]["delay_ms"])
            self.assertEqual(sum(1 for sent in datagrams if sent["arrived"]), found[way]["arrived"])
        text = text_of(ends.client, stepped)
        self.assertIn("a clock was set", text)
        here = pcapng.read(ends.client)
        begin = here[0].time_ns
        for sent, way in ((here, "c2s"), (packets, "s2c")):
            times = [packet.time_ns for packet in sent]
            for loss in found[way]["losses"]:
                time_ns = times[loss["first_frame"] - 1]
                if way == "c2s":
                    self.assertAlmostEqual((time_ns - begin) / 1e9, loss["time_s"], places=6)
                else:
                    self.assertIsNone(loss["time_s"])
        first = max(found["s2c"]["losses"], key=lambda loss: (loss["count"], -loss["first_frame"]))
        time_ns = times[first["first_frame"] - 1]
        clock = datetime.datetime.fromtimestamp(time_ns // 10**9, datetime.timezone.utc).strftime("%H:%M:%S")
        self.assertRegex(text, rf"frames? {first['first_frame']}\b.*\[{clock}\.{time_ns // 10**8 % 10} UTC by its own clock\]")
        self.assertNotIn("own clock]", text_of(ends.client, ends.server))

    def test_one_direction(self):
        """Packets of one side only: nothing relates the clocks, so that those of the second capture have no time in the first."""
        ends = self.generate("stream", "--loss", "0.05")
        for way, other in (("c2s", "s2c"), ("s2c", "c2s")):
            paths = [self.path / f"{way}-{number}.pcapng" for number in range(2)]
            for path, whole in zip(paths, (ends.client, ends.server)):
                uerudp.run("edit", "--rule", f"drop dir={other}", whole, path)
            for captures, ends_of in ((paths, "client,server"), (paths[::-1], "server,client")):
                sender = ends_of.split(",").index("client" if way == "c2s" else "server")
                (connection,), _ = info(*captures, f"--vantage={ends_of}")
                self.assertIsNone(connection["both_ends"]["clock"])
                losses = connection["both_ends"][way]["losses"]
                self.assertTrue(losses)
                for loss in losses:
                    self.assertEqual(sender == 1, loss["time_s"] is None, (way, sender))


if __name__ == "__main__":
    uerudp.main()
