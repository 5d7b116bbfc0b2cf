#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Capture times that do not fit 64 bits of nanoseconds, that are 0 or that go backwards do not disturb dissection."""
import struct
import unittest

import capture
import decoded
import harness

SECONDS_PER_TICK, OFFSET = 9, 14  # options of an interface: if_tsresol and if_tsoffset
TIMES = {
    "end": (2**64 - 1, 2**63 - 1, 0),
    "beyond": (2**62, 2**62 + 1, 0),
    "negative": (0, 5, -2**62),
    "turn": (1, 2**63 - 2, 5),
    "zero": (0, 0, 0),
    "relative": (0, 1, 0),
    "ordinary": (1700000000, 1700000001, 0),
}


def block(kind, body):
    body += bytes(-len(body) % 4)
    size = len(body) + 12
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def option(code, value):
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def pcapng(frames, times, offset_s):
    """A capture whose interface counts whole seconds: the first half of the frames has one time, the second half
    another."""
    section = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
    options = option(SECONDS_PER_TICK, b"\0") + option(OFFSET, struct.pack("<q", offset_s)) + option(0, b"")
    parts = [block(0x0A0D0D0A, section), block(1, struct.pack("<HHI", 1, 0, 65535) + options)]
    for number, frame in enumerate(frames):
        ticks = times[number * 2 // len(frames)]
        head = struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame))
        parts.append(block(6, head + frame + bytes(-len(frame) % 4)))
    return b"".join(parts)


class Clock(unittest.TestCase):
    def test_times(self):
        """The findings are those without times; a build with sanitizers reports every overflow."""
        with harness.Stage() as stage:
            text = stage.tshark("-r", stage.copy(decoded.path_of("mixed")), "-T", "fields", "-e", "udp.srcport", "-e",
                                "udp.payload")
            frames = []
            for line in text.splitlines():
                port, payload = line.split("\t")
                send = capture.from_server if int(port) == capture.SERVER_PORT else capture.from_client
                frames.append(capture.ethernet(send(bytes.fromhex(payload))))
            found = {}
            for name, (first, second, offset_s) in TIMES.items():
                path = stage.put(name + ".pcapng", pcapng(frames, (first, second), offset_s))
                for passes in ([], ["-2"]):
                    shown = stage.tshark(*passes, "-r", path, "-T", "fields", "-e", "uerudp.packet.id", "-e",
                                         "uerudp.analysis.flags", "-e", "_ws.malformed")
                    self.assertEqual(shown, found.setdefault(len(passes), shown), name)
                stage.tshark("-2", "-V", "-q", "-r", path, "-z", "uerudp,srt", "-z", "conv,uerudp", "-z", "expert")
            self.assertIn("\t1\t", found[1])  # a packet with a finding


if __name__ == "__main__":
    harness.main()
