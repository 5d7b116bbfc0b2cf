#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program recognises no conversation of another protocol on other ports."""
import json
import os
import random
import struct
import unittest

import other_protocols
import uerudp

DATAGRAMS = int(os.environ.get("UERUDP_OTHER_DATAGRAMS", "100000"))
PROTOCOLS_MIN = 36
WINDOW = 500
ONE_WAY_DATAGRAMS = 50000


class OtherProtocols(unittest.TestCase):
    def test_conversations(self):
        """Of the conversations of other_protocols.py only the one of this protocol is recognised."""
        for number, (content, protocols) in enumerate(other_protocols.captures(DATAGRAMS, with_ours=True)):
            with self.subTest(capture=number):
                recognised = other_protocols.recognised_by_program(uerudp.PROGRAM, content)
                self.assertEqual({protocols[place] for place in recognised}, {other_protocols.OURS})

    def test_long_conversations(self):
        """Nor are those that are long enough to be recognised without handshake; all frames of these captures are
        compared."""
        captures = other_protocols.captures(DATAGRAMS, file_datagrams=WINDOW, lengths=range(30, 200))
        recognised = [other_protocols.recognised_by_program(uerudp.PROGRAM, content) for content, _ in captures]
        self.assertGreater(len(recognised), DATAGRAMS // WINDOW // 2)
        self.assertEqual(set().union(*recognised), set())

    def test_no_replay(self):
        """A known server port that one side sends another protocol to, and nobody answers, is no replay."""
        dice = random.Random(other_protocols.SEED)
        makes = other_protocols.NAMED + 2 * other_protocols.UNNAMED
        left, conversations = DATAGRAMS, 0
        while left > 0:
            parts = [struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)]
            while left > 0 and len(parts) <= ONE_WAY_DATAGRAMS:
                client = ((0x0A000000 + conversations).to_bytes(4, "big"), 40000)
                conversations += 1
                for side, payload in other_protocols.payloads(dice.choice(makes), dice, range(60, 160)):
                    if side == 0:
                        parts.append(other_protocols.record(len(parts), (client, (bytes(4), SERVER_PORT)), payload))
                        left -= 1
            lines = uerudp.run("info", "--json", "-", data=b"".join(parts), status=None).stdout.splitlines()
            self.assertEqual([line for line in map(json.loads, lines) if line.get("internal_ack")], [])

    def test_protocols(self):
        self.assertGreaterEqual(len(other_protocols.NAMED), PROTOCOLS_MIN)
        content, protocols = next(other_protocols.captures(50000))
        self.assertEqual(len(set(protocols)), len(other_protocols.NAMED) + len(other_protocols.UNNAMED))
        self.assertEqual(content, next(other_protocols.captures(50000))[0], "the same seed makes the same conversations")

    def test_message_without_body(self):
        """A handshake message that ends after its versions is no evidence, nor are packets after it."""
        restart = bytes.fromhex("ff810700b635288c612b45e963e50e96c6d1cc5b9665b1149a")
        datagrams = [(40000, 20000, restart), (20000, 40000, restart)]
        datagrams += [(40000 - n % 2 * 20000, 20000 + n % 2 * 20000, bytes([n] * 40)) for n in range(40)]
        self.assertEqual(uerudp.decode("-", data=uerudp.pcap(datagrams)), [])


QUERY = bytes.fromhex("ffffffff") + b"TSource Engine Query\0"
ANSWER = bytes.fromhex("ffffffff49") + bytes([17]) + b"Server\0Map\0"
SERVER_PORT, CLIENT_PORT = 7777, 50000


class OwnPort(unittest.TestCase):
    """Datagrams of another protocol to the server port are unknown, not malformed."""

    def kinds(self, payloads, status=0):
        datagrams = [(CLIENT_PORT, SERVER_PORT, payload) if side == 0 else (SERVER_PORT, CLIENT_PORT, payload)
                     for side, payload in payloads]
        return ["generation" in datagram for datagram in
                uerudp.decode("-", data=uerudp.pcap(datagrams), status=status)]

    def test_lone_restart_request(self):
        self.assertEqual(self.kinds([(0, b"\x07")]), [False])
        self.assertEqual(self.kinds([(1, b"\x07"), (0, b"\x07")]), [False, False])

    def test_restart_request_of_a_connection(self):
        login = list(other_protocols.LOGIN)
        self.assertEqual(self.kinds(login + [(1, b"\x07")]), [True] * (len(login) + 1))
        self.assertEqual(self.kinds([(1, b"\x07")] + login), [True] * (len(login) + 1))

    def test_lone_legacy_packet(self):
        ack = {"is_ack": True, "ack_id": 12000, "has_frame_time": False, "remote_kbps": 0}
        for channel, is_ours in ((5000, False), (12, True)):
            bunch = {"is_ack": False, "channel": channel, "data": "0102"}
            made = [uerudp.encode([{"generation": "4.14", "direction": 1, "packet": {"seq": seq}, "items": [ack, bunch]}])[0]
                    for seq in range(300, 303)]
            self.assertEqual(self.kinds([(0, made[0])]), [is_ours])
            self.assertEqual(self.kinds([(0, payload) for payload in made]), [True] * 3, "packets that follow each other")

    def test_queries_in_a_connection(self):
        """Steam sends queries to the port of the game."""
        login = list(other_protocols.LOGIN)
        for place in range(len(login) + 1):
            mixed = login[:place] + [(0, QUERY), (1, ANSWER)] + login[place:]
            wanted = [True] * place + [False] * 2 + [True] * (len(login) - place)
            self.assertEqual(self.kinds(mixed), wanted, place)

    def test_magic_header_of_set_bits(self):
        datagram = {"direction": 1, "generation": "5.0", "magic": 0xFFFFFFFF, "is_handshake": True, "handshake": {"type": 0}}
        options = ["--magic-bits=32", "--magic=0xffffffff"]
        payload, = uerudp.encode([datagram], *options)
        self.assertTrue(payload.startswith(bytes.fromhex("ffffffff")))
        decoded, = uerudp.decode("-", *options[:1], data=uerudp.pcap([(CLIENT_PORT, SERVER_PORT, payload)]))
        self.assertEqual(decoded["handshake"]["type"], 0)


if __name__ == "__main__":
    uerudp.main()
