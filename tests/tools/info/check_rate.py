#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rates of uerudp info against the sizes and times of the frames: with the headers of IPv4 or IPv6, and no peak below a
mean."""
import collections
import re
import unittest

import traffic
from conversation import CLIENT, SERVER, hello_sent
from traffic import WAYS

SECOND_NS = 10**9


def by_second(frames, header_bytes):
    """(way, second) -> bytes with IP and UDP headers, and the number of whole seconds."""
    seconds = collections.Counter()
    for way in WAYS:
        for frame in traffic.one_way(frames, way):
            udp = traffic.udp_of(frame)[2]
            seconds[way, (frame.time_ns - frames[0].time_ns) // SECOND_NS] += len(udp) - traffic.UDP_BYTES + header_bytes
    return seconds, (frames[-1].time_ns - frames[0].time_ns) // SECOND_NS


def printed(frames):
    """(mean, peak) of both directions in the text."""
    text = traffic.program("info", "-", data=traffic.write(frames)).decode()
    up_mean, up_peak, down_mean, down_peak = re.search(
        r"bytes/s with headers +(\d+), peak (\d+) +(\d+), peak (\d+)", text).groups()
    return {"c2s": (int(up_mean), int(up_peak)), "s2c": (int(down_mean), int(down_peak))}


class Rate(unittest.TestCase):
    def test_rate(self):
        for seed in range(1, 6):
            frames = traffic.generate("game", "--duration=3", "--seed", seed).frames
            for wrap, header_bytes in ((traffic.plain, 28), (traffic.in_ipv6, 48)):
                with self.subTest(seed=seed, header_bytes=header_bytes):
                    self.check(frames, wrap(frames), header_bytes)

    def check(self, frames, wrapped, header_bytes):
        seconds, whole = by_second(frames, header_bytes)
        connection, = traffic.lines("info", "--json", "--budget=1", frames=wrapped)
        budgets = {each["direction"]: each["peak_bytes"] for each in connection["budget"]}
        for way, (mean, peak) in printed(wrapped).items():
            busiest = max(size for (each, _), size in seconds.items() if each == way)
            self.assertEqual([busiest] * 3, [peak, connection["peak_bytes_per_s"][way], budgets[way]])
            self.assertAlmostEqual(sum(seconds[way, second] for second in range(whole)) / whole, mean, delta=0.5)
            self.assertLessEqual(mean, peak)

    def test_saturation_counts_as_engines(self):
        """The finding is the same over IPv6, whose longer headers engines do not count."""
        conv = hello_sent().idle(500)
        conv.send_message(CLIENT, "netspeed", rate=5000)
        for _ in range(40):
            conv.send(SERVER, {"channel": 5, "data": "00" * 300})
            conv.idle(50)
        frames = traffic.read(conv.capture())
        saturated = [[finding["text"] for connection in traffic.lines("info", "--json", frames=wrap(frames))
                      for finding in connection["findings"] if finding["kind"] == "saturated"]
                     for wrap in (traffic.plain, traffic.in_ipv6)]
        self.assertEqual(*saturated)
        self.assertEqual(1, len(saturated[0]))


if __name__ == "__main__":
    unittest.main()
