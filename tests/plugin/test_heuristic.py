#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""On any port a connection is found by its handshake, first packet included, and by nothing else."""
import unittest

import capture
import harness

PORT = 31415


class Heuristic(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = harness.Stage()
        cls.addClassCleanup(cls.stage.__exit__)

    def moved(self, datagrams, **arguments):
        content = capture.pcap(capture.with_server_port(datagrams, PORT))
        return self.stage.packets(self.stage.put("moved.pcap", content), **arguments)

    def test_whole_connection_on_another_port(self):
        for name in ("utcp-clean", "utcp-orig-clean", "utcp-ue418-clean"):
            with self.subTest(name):
                datagrams = capture.read(harness.recording(name))
                for two_pass in (False, True):
                    self.assertEqual(len(self.moved(datagrams, two_pass=two_pass)), len(datagrams))

    def test_same_fields_as_on_our_port(self):
        path = harness.recording("utcp-clean")
        here, moved = self.stage.packets(self.stage.copy(path)), self.moved(capture.read(path))
        for frame, packet in here.items():
            self.assertEqual([(f.key, f.text) for f in packet.wire()], [(f.key, f.text) for f in moved[frame].wire()])

    def test_challenge_and_response_without_initial(self):
        datagrams = capture.read(harness.recording("utcp-clean"))[1:20]
        one, two = self.moved(datagrams, two_pass=False), self.moved(datagrams)
        self.assertEqual(sorted(one), list(range(2, 20)), "the Response proves the connection")
        self.assertEqual(sorted(two), list(range(1, 20)), "the second pass knows the Challenge too")
        self.assertEqual(two[1].numbers("handshake.type"), [1])
        self.assertEqual(two[1].numbers("stream"), [0])

    def test_challenge_alone_proves_nothing(self):
        datagrams = capture.read(harness.recording("utcp-clean"))
        self.assertEqual(self.moved([datagrams[1]]), {})
        self.assertEqual(self.moved([datagrams[1]] + datagrams[4:20]), {})

    def test_packets_without_handshake(self):
        self.assertEqual(self.moved(capture.read(harness.recording("utcp-clean"))[4:]), {})

    def test_restart_request_proves_nothing(self):
        request = bytes([0b00000111])  # handshake bit, restart bit, terminator
        datagrams = [capture.from_server(request), capture.from_client(request)] * 3
        self.assertEqual(self.moved(datagrams), {})

    def test_restart_on_a_new_client_port(self):
        datagrams = capture.read(harness.recording("utcp-orig-restart"))
        moved = self.moved(datagrams)
        handshakes = [frame for frame, packet in moved.items() if packet.numbers("handshake.restart") == [1]]
        self.assertGreater(len(handshakes), 2)
        self.assertEqual(moved[max(moved)].numbers("stream"), [0], "the connection goes on after its move")

    def test_decode_as(self):
        datagrams = capture.read(harness.recording("utcp-clean"))[4:40]
        packets = self.moved(datagrams, options=["-d", f"udp.port=={PORT},uerudp"])
        self.assertEqual(len(packets), len(datagrams))

    def test_switched_off(self):
        datagrams = capture.read(harness.recording("utcp-clean"))
        self.assertEqual(self.moved(datagrams, options=["--disable-heuristic", "uerudp_udp"]), {})


if __name__ == "__main__":
    harness.main()
