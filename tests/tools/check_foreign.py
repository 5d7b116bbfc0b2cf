#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program takes no conversation of another protocol for its own on a port that is not ours."""
import os
import sys
import unittest

import uerudp

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "foreign"))
import strangers

DATAGRAMS = int(os.environ.get("UERUDP_FOREIGN_DATAGRAMS", "100000"))
PROTOCOLS_MIN = 36


class Foreign(unittest.TestCase):
    def test_conversations(self):
        """None of strangers.py; and our own, among them, is found."""
        for number, (content, protocols) in enumerate(strangers.captures(DATAGRAMS, with_ours=True)):
            with self.subTest(capture=number):
                claimed = strangers.claimed_by_program(uerudp.PROGRAM, content)
                self.assertEqual({protocols[place] for place in claimed}, {strangers.OURS})

    def test_protocols(self):
        self.assertGreaterEqual(len(strangers.NAMED), PROTOCOLS_MIN)
        content, protocols = next(strangers.captures(50000))
        self.assertEqual(len(set(protocols)), len(strangers.NAMED) + len(strangers.UNNAMED))
        self.assertEqual(content, next(strangers.captures(50000))[0], "the same seed makes the same conversations")

    def test_message_without_body(self):
        """A handshake message that ends after its versions proves nothing, nor do the packets after it."""
        restart = bytes.fromhex("ff810700b635288c612b45e963e50e96c6d1cc5b9665b1149a")
        datagrams = [(40000, 20000, restart), (20000, 40000, restart)]
        datagrams += [(40000 - n % 2 * 20000, 20000 + n % 2 * 20000, bytes([n] * 40)) for n in range(40)]
        self.assertEqual(uerudp.decode("-", data=uerudp.pcap(datagrams)), [])


if __name__ == "__main__":
    uerudp.main()
