#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The datagrams that the port preference and the table of servers select; random bytes on the port are data."""
import random

import capture
import harness

TABLE = "uerudp_servers"
COLUMNS = ("address", "port", "generation", "magic_bits", "magic", "skip_bytes", "max_packet", "ch_seq_bound",
           "extra_bits", "terminators", "handlers", "internal_ack", "guid_bits", "netver", "reliable_buffer")


def server_row(**values):
    """One row of the table as an option of tshark."""
    return f"uat:{TABLE}:" + ",".join('"%s"' % values.get(column, "") for column in COLUMNS)


class Ports(harness.StageCase):
    def layers(self, datagrams, two_pass=True):
        path = self.stage.put("ports.pcap", capture.pcap(datagrams))
        passes = ["-2"] if two_pass else []
        text = self.stage.tshark(*passes, "-r", path, "-T", "fields", "-e", "frame.protocols")
        return [line.split(":") for line in text.splitlines()]

    def test_garbage_on_the_port_is_data(self):
        generator = random.Random(7)
        sizes = [*range(1, 40), *(generator.randrange(40, 1400) for _ in range(60))]
        payloads = [generator.randbytes(size) for size in sizes]
        datagrams = [capture.from_client(payload)._replace(source_port=20000 + i) for i, payload in enumerate(payloads)]
        for two_pass in (False, True):
            layers = self.layers(datagrams, two_pass)
            ours = [i for i, names in enumerate(layers) if "uerudp" in names]
            # A single random datagram may decode by chance; none may be shown as malformed, and most are data.
            self.assertLess(len(ours), len(datagrams) // 10)
        path = self.stage.put("garbage.pcap", capture.pcap(datagrams))
        self.assertEqual(self.stage.tshark("-2", "-r", path, "-Y", "uerudp.expert.malformed || _ws.malformed"), "")

    def test_connection_of_garbage_is_data(self):
        generator = random.Random(8)
        datagrams = [capture.from_client(generator.randbytes(generator.randrange(20, 1400))) for _ in range(100)]
        for two_pass in (False, True):
            names = self.layers(datagrams, two_pass)
            self.assertTrue(all("uerudp" not in layer for layer in names), names)

    def test_damaged_packet_of_a_good_connection_is_malformed(self):
        datagrams = capture.read(harness.recording("utcp-clean"))
        victim = next(i for i, d in enumerate(datagrams) if i > 100 and len(d.payload) > 30)
        damaged = datagrams[victim].payload[:18] + b"\xff"
        datagrams[victim] = datagrams[victim]._replace(payload=damaged)
        packets = self.stage.packets(self.stage.put("damaged.pcap", capture.pcap(datagrams)))
        malformed = [frame for frame, packet in packets.items() if packet.texts("fault.status")]
        self.assertEqual(malformed, [victim + 1])
        packet = packets[victim + 1]
        self.assertIn("uerudp.expert.malformed", packet.experts)
        self.assertTrue(packet.texts("fault.field")[0].startswith("bunch."))
        self.assertGreater(packet.numbers("fault.bit")[0], 60)
        self.assertEqual(packet.numbers("packet.seq"), [packets[victim + 1].numbers("packet.seq")[0]])

    def test_port_preference(self):
        datagrams = capture.with_server_port(capture.read(harness.recording("utcp-clean"))[4:40], 9000)
        path = self.stage.put("ports.pcap", capture.pcap(datagrams))
        self.assertGreater(min(self.stage.packets(path)), 20, "recognised by packets of both sides only")
        packets = self.stage.packets(path, {"udp.port": "7777,8999-9001"})
        self.assertEqual(len(packets), len(datagrams))
        self.assertEqual({packet.numbers("direction")[0] for packet in packets.values()}, {1, 2})

    def test_one_direction(self):
        """Packets of one side are no proof: the preference is needed, where both sides need none."""
        datagrams = capture.with_server_port(capture.read(harness.recording("utcp-clean"))[60:], 9000)
        both, one = (self.stage.put(name, capture.pcap(sent)) for name, sent in (
            ("both.pcap", datagrams), ("one.pcap", [d for d in datagrams if d.source_port == 9000])))
        self.assertGreater(len(self.stage.packets(both)), len(datagrams) * 0.9)
        self.assertEqual({}, self.stage.packets(one))
        self.assertGreater(len(self.stage.packets(one, {"udp.port": "9000"})), 100)

    def test_server_table(self):
        """The table of servers alone finds a modified game, without any preference."""
        for name, settings in (("utcp-ue418-clean", {"generation": "4.18", "max_packet": 512, "ch_seq_bound": 4096}),
                               ("aoc-ue56-firebolt", harness.settings_of("aoc-ue56-firebolt"))):
            with self.subTest(name):
                self.check_server_table(capture.read(harness.recording(name))[4:100], settings)  # no handshake

    def check_server_table(self, datagrams, settings):
        direct = self.stage.packets(self.stage.put("direct.pcap", capture.pcap(datagrams)), settings)
        datagrams = capture.with_server_port(datagrams, 9000)
        path = self.stage.put("servers.pcap", capture.pcap(datagrams))
        for address in ("10.0.0.2", ""):
            row = server_row(address=address, port=9000, **settings)
            packets = self.stage.packets(path, options=["-o", row])
            self.assertEqual(len(packets), len(datagrams))
            for frame, packet in packets.items():
                self.assertEqual([(f.key, f.text) for f in packet.fields], [(f.key, f.text) for f in direct[frame].fields])
        other = server_row(address="10.9.9.9", port=9000, **settings)
        self.assertEqual(self.stage.packets(path, options=["-o", other]), {})

    def test_invalid_rows_are_refused(self):
        path = self.stage.put("servers.pcap", capture.pcap([]))
        for values in ({"port": 0}, {"port": "x"}, {"address": "host", "port": 1}, {"port": 1, "generation": "3.0"},
                       {"port": 1, "magic_bits": 33}, {"port": 1, "handlers": "rot13"}):
            with self.subTest(values):
                result = self.stage.run(["tshark", "-r", path, "-o", server_row(**values)], check=False)
                self.assertNotEqual(result.returncode, 0)


if __name__ == "__main__":
    harness.main()
