#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""On any port the heuristic accepts a connection by its handshake, from its first packet on, or by packets of both sides
that agree."""

import capture
import harness

PORT = 31415


class Heuristic(harness.StageCase):
    def moved(self, datagrams, **arguments):
        content = capture.pcap(capture.with_server_port(datagrams, PORT))
        return self.stage.packets(self.stage.put("moved.pcap", content), **arguments)

    def test_whole_connection_on_another_port(self):
        for name in ("utcp-clean", "utcp-orig-clean", "utcp-ue418-clean"):
            with self.subTest(name):
                datagrams = capture.read(harness.recording(name))
                self.assertEqual(len(self.moved(datagrams)), len(datagrams))
                once = self.moved(datagrams, two_pass=False)
                self.assertEqual(min(once), 2, "the answer to the Initial proves the connection")
                self.assertEqual(len(once), len(datagrams) - 1)

    def test_same_fields_as_on_the_default_port(self):
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

    def test_challenge_response_and_ack_of_the_original_layout(self):
        """A Response has the same bytes as its Challenge there, like an echo; the Ack differs."""
        datagrams = capture.read(harness.recording("utcp-orig-clean"))[1:20]
        self.assertEqual(sorted(self.moved(datagrams, two_pass=False)), list(range(3, 20)))
        self.assertEqual(sorted(self.moved(datagrams)), list(range(1, 20)))
        self.assertEqual(self.moved(datagrams[:2] * 8), {}, "an echo")

    def test_initials_without_answer(self):
        initial = capture.read(harness.recording("utcp-clean"))[0]
        self.assertEqual(self.moved([initial] * 2), {})
        self.assertEqual(sorted(self.moved([initial] * 3)), [1, 2, 3])

    def test_initial_and_packets(self):
        """The login of an engine client of whose handshake only the Initial was captured."""
        datagrams = capture.read(harness.recording("utcp-tests-ue50"))
        self.assertEqual(sorted(self.moved(datagrams, two_pass=False)), list(range(3, 8)))
        self.assertEqual(sorted(self.moved(datagrams)), list(range(1, 8)))
        self.assertEqual(self.moved(datagrams[:1] + datagrams[3:4]), {})

    def test_message_without_body(self):
        restart = bytes.fromhex("ff810700b635288c612b45e963e50e96c6d1cc5b9665b1149a")
        ordinary = [capture.from_server(bytes([n] * 40)) for n in range(20)]
        self.assertEqual(self.moved([capture.from_server(restart), capture.from_client(restart)] * 10 + ordinary), {})

    def test_challenge_alone(self):
        datagrams = capture.read(harness.recording("utcp-clean"))
        self.assertEqual(self.moved([datagrams[1]]), {})
        self.assertEqual(self.moved([datagrams[1]] + datagrams[4:20]), {})

    def test_packets_without_handshake(self):
        for name in ("utcp-clean", "utcp-orig-clean"):
            with self.subTest(name):
                datagrams = capture.read(harness.recording(name))[4:]
                for two_pass in (False, True):
                    moved = self.moved(datagrams, two_pass=two_pass)
                    first = min(moved)
                    self.assertLess(first, 30)
                    self.assertEqual(sorted(moved), list(range(first, len(datagrams) + 1)))

    def test_packets_of_one_side_without_handshake(self):
        datagrams = capture.read(harness.recording("utcp-clean"))[4:]
        for port in (capture.SERVER_PORT, capture.CLIENT_PORT):
            self.assertEqual(self.moved([each for each in datagrams if each.source_port == port]), {})

    def test_restart_request(self):
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
