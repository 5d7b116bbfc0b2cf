#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Thousands of small bunches in one datagram to which later datagrams refer out of order: each keeps its own links."""
import unittest

import harness

BUNCHES = 2000
CHANNELS = 20
RESENDS = 8
SETTINGS = {"max_packet": 65000, "max_items": 100_000}


def bunch(number):
    """In sequence, the bunches of every channel are in order."""
    return {"channel": 3 + number % CHANNELS, "reliable": True, "ch_seq": 100 + number // CHANNELS,
            "name_hardcoded": True, "name_index": 102, "data": "01"}


def resend_of(number):
    """The later datagram that has the retransmission."""
    return number * 13 % RESENDS


def datagram(seq, numbers):
    return {"src": "10.0.0.2:7777", "dst": "10.0.0.1:50123", "direction": 2, "generation": "5.5",
            "packet": {"seq": seq, "ack": 4263, "history": [1]}, "bunches": [bunch(number) for number in numbers]}


def datagrams():
    """All bunches, then retransmissions of some in each datagram, from the last to the first."""
    yield datagram(5000, range(BUNCHES))
    for resend in range(RESENDS):
        yield datagram(5001 + resend, [i for i in reversed(range(BUNCHES)) if resend_of(i) == resend])


class Many(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with harness.Stage() as stage:
            path = stage.encode("many.pcapng", datagrams(), "--max-packet", str(SETTINGS["max_packet"]))
            cls.packets = stage.packets(path, SETTINGS)

    def check(self, frame, key, expected):
        """Each bunch of the frame has the field once, with the expected number."""
        found = [[field.number() for field in group if field.key == key] for group in self.packets[frame].groups("bunch")]
        self.assertEqual(len(found), len(expected))
        self.assertEqual([], [i for i, numbers in enumerate(found) if numbers != [expected[i]]][:20])

    def test_copied_in(self):
        self.check(1, "analysis.retransmitted_in", [2 + resend_of(number) for number in range(BUNCHES)])

    def test_reliable_ids(self):
        self.check(1, "bunch.reliable_id", [100 + number // CHANNELS for number in range(BUNCHES)])

    def test_copies(self):
        for resend in range(RESENDS):
            self.check(2 + resend, "analysis.retransmission_of", [1] * (BUNCHES // RESENDS))


if __name__ == "__main__":
    harness.main()
