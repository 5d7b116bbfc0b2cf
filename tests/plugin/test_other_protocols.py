#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The heuristic accepts no packets of other protocols and no random bytes."""
import os
import random

import capture
import other_protocol_datagrams
import harness
import other_protocols

PACKETS = 1500
RANDOM_PACKETS = 30000
CONVERSATION_PACKETS = int(os.environ.get("UERUDP_OTHER_DATAGRAMS", "60000"))
ONLY_OURS = [part for name in ("frame", "raw", "ip", "udp", "data", "uerudp") for part in ("--enable-protocol", name)]
SEED = 20240607


class OtherProtocols(harness.StageCase):
    def protocols(self, datagrams, *options):
        path = self.stage.put("other_protocol_datagrams.pcap", capture.pcap(datagrams))
        text = self.stage.tshark("-2", "-r", path, *options, "-T", "fields", "-e", "frame.protocols")
        return [line.split(":") for line in text.splitlines()]

    def both_ways(self, payloads, port):
        """Alternating directions between a few client ports and one server port."""
        made = []
        for number, payload in enumerate(payloads):
            client = 40000 + number // 2 % 50
            datagram = capture.from_client(payload, port) if number % 2 == 0 else capture.from_server(payload, port)
            made.append(datagram._replace(source_port=client) if number % 2 == 0
                        else datagram._replace(destination_port=client))
        return made

    def test_protocols(self):
        for name, (port, layer, make) in other_protocol_datagrams.PROTOCOLS.items():
            with self.subTest(name):
                generator = random.Random(SEED)
                datagrams = self.both_ways([make(generator) for _ in range(PACKETS)], port)
                decode_as = ["-d", f"udp.port=={port},{layer}"] if layer else []
                accepted = self.protocols(datagrams, *decode_as)
                if layer:
                    share = sum(layer in layers for layers in accepted) / PACKETS
                    self.assertGreater(share, 0.95, "tshark's own dissector should know these packets")
                asked = self.protocols(datagrams, "-o", "udp.try_heuristic_first:TRUE")
                self.assertEqual([layers for layers in accepted + asked if "uerudp" in layers], [])

    def test_conversations(self):
        """Of the conversations of other_protocols.py only those of uerudp are accepted."""
        for number, (content, protocols) in enumerate(other_protocols.captures(CONVERSATION_PACKETS, with_ours=True)):
            path = self.stage.put("other_protocols.pcap", content)
            text = self.stage.tshark("--disable-protocol", "ALL", *ONLY_OURS, "--enable-heuristic", "uerudp_udp", "-r",
                                     path, "-Y", "uerudp", "-T", "fields", "-e", "ip.src", "-e", "ip.dst")
            accepted = [other_protocols.conversation(line.split()) for line in text.splitlines()]
            with self.subTest(capture=number):
                self.assertEqual({protocols[place] for place in accepted}, {other_protocols.OURS})
                self.assertEqual(len(accepted), len(other_protocols.LOGIN) - 1, "all of ours but the first, in one pass")

    def test_own_port(self):
        """A restart request, an A2S query inside a connection, and a random packet, on the port of uerudp."""
        query = b"\xff\xff\xff\xffTSource Engine Query\0"
        login = [capture.from_server(payload) if side else capture.from_client(payload)
                 for side, payload in other_protocols.LOGIN]
        datagrams = login[:2] + [capture.from_client(query)] + login[2:] + [capture.from_client(query)]
        packets = self.stage.packets(self.stage.put("queries.pcap", capture.pcap(datagrams)))
        self.assertEqual(sorted(packets), [1, 2, 4, 5, 6])
        self.assertEqual([packet.experts for packet in packets.values() if "uerudp.expert.malformed" in packet.experts], [])
        lone = [b"\x07", bytes.fromhex("5882e02e00409c8080008101")]
        for payload in lone:
            path = self.stage.put("lone.pcap", capture.pcap([capture.from_client(payload)]))
            self.assertEqual(self.stage.packets(path), {})

    def test_random_bytes(self):
        generator = random.Random(SEED)
        payloads = [generator.randbytes(generator.randrange(1, 1401)) for _ in range(RANDOM_PACKETS)]
        layers = self.protocols(self.both_ways(payloads, 9999))
        self.assertEqual(len(layers), RANDOM_PACKETS)
        self.assertEqual([names for names in layers if "uerudp" in names], [])


if __name__ == "__main__":
    harness.main()
