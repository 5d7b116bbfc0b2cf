#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Until generation and bounds of a connection are final, nothing of it is reported as malformed."""
import json
import os
import subprocess

import capture
import decoded
import harness
import tables

BOUNDS = {"ue4.18": ["--ch-seq-bound=4096"], "ue5.5": ["--ch-seq-bound=4096"], "mixed": ["--ch-seq-bound=4096"],
          "legacy": ["--max-packet=1024"]}
ACCUSATIONS = ("malformed", "not_canonical", "message")
HARMLESS = "uerudp.expert.unsettled"
DAMAGED_AT = 20  # number of datagrams that are damaged on purpose


def malformed(packets):
    return [frame for frame, packet in packets.items()
            if any("uerudp.expert." + name in packet.experts for name in ACCUSATIONS)]


class Settling(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.captures = {name: cls.stage.encode(name, decoded.datagrams(decoded.path_of(name)), "-o", "-", *options, "-")
                        for name, options in BOUNDS.items()}

    def kinds(self, path, *passes):
        """The count of each kind in the stats tree of packets."""
        tree, = tables.read_trees(self.stage.tshark(*passes, "-q", "-r", path, "-z", "uerudp,tree")).values()
        return {name: sum(count for path, count in tree.items() if path[-1] == name)
                for name in ("malformed", "generation not final")}

    def test_one_pass(self):
        waited = 0
        for name, path in self.captures.items():
            with self.subTest(name):
                packets = self.stage.packets(path, two_pass=False)
                self.assertEqual(malformed(packets), [])
                unsettled = [frame for frame, packet in packets.items() if HARMLESS in packet.experts]
                self.assertEqual(self.kinds(path), {"malformed": 0, "generation not final": len(unsettled)})
                waited += len(unsettled)
        self.assertGreater(waited, 0)

    def test_two_passes(self):
        for name, path in self.captures.items():
            with self.subTest(name):
                packets = self.stage.packets(path)
                self.assertEqual(malformed(packets), [])
                self.assertFalse([frame for frame, packet in packets.items() if HARMLESS in packet.experts])
                self.assertEqual(self.kinds(path, "-2"), {"malformed": 0, "generation not final": 0})

    def test_program_on_a_pipe(self):
        for name, path in self.captures.items():
            with self.subTest(name), open(path, "rb") as file:
                command = [os.environ["UERUDP_PROGRAM"], "decode", "--json", "-"]
                result = subprocess.run(command, input=file.read(), capture_output=True, check=True,
                                        timeout=harness.TIMEOUT_S)
                lines = [json.loads(line) for line in result.stdout.splitlines()]
                self.assertEqual(len(lines), len(decoded.datagrams(path)))
                self.assertFalse([line for line in lines if "fault" in line])

    def test_damage(self):
        """Two passes report every malformed datagram; one pass does once the generation is final."""
        columns = ("ip.src", "udp.srcport", "ip.dst", "udp.dstport", "udp.payload")
        text = self.stage.tshark("-r", self.stage.copy(decoded.path_of("mixed")), "-T", "fields",
                                 *(part for column in columns for part in ("-e", column)))
        rows = [line.split("\t") for line in text.splitlines()]
        datagrams = [capture.Datagram(row[0], int(row[1]), row[2], int(row[3]), bytes.fromhex(row[4])) for row in rows]
        for number in (5, DAMAGED_AT):
            with self.subTest(number):
                damaged = list(datagrams)
                damaged[number] = damaged[number]._replace(payload=damaged[number].payload[:-3] + b"\xff\xff\xff")
                path = self.stage.put(f"damaged-{number}.pcap", capture.pcap(damaged))
                frame = number + 1
                self.assertIn(frame, malformed(self.stage.packets(path)))
                one = self.stage.packets(path, two_pass=False)[frame]
                self.assertTrue("uerudp.expert.malformed" in one.experts or (number == 5 and HARMLESS in one.experts))


if __name__ == "__main__":
    harness.main()
