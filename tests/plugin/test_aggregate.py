#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two datagrams in one frame: an 802.11 aggregate holds several."""
import struct
import unittest

import capture
import classic_pcap
import harness

LINKTYPE_IEEE802_11 = 105
QOS_DATA = bytes.fromhex("88010000" + "020000000001" * 3 + "0000")
AGGREGATE = bytes.fromhex("8000")
SNAP = bytes.fromhex("aaaa03000000")


def subframe(datagram):
    """One subframe: addresses, length, then a SNAP header and the Ethernet payload."""
    ethernet = capture.ethernet(datagram)
    content = SNAP + ethernet[12:]
    return ethernet[:12] + struct.pack(">H", len(content)) + content + bytes(-(14 + len(content)) % 4)


def pcap(frames):
    bodies = (QOS_DATA + AGGREGATE + b"".join(map(subframe, datagrams)) for datagrams in frames)
    return classic_pcap.file(((1_000_000 * (1_700_000_000 + number), body) for number, body in enumerate(bodies)),
                        LINKTYPE_IEEE802_11)


class Aggregate(unittest.TestCase):
    def test_two_datagrams_in_a_frame(self):
        datagrams = capture.read(harness.recording("utcp-clean"))[:60]
        pairs = [datagrams[i:i + 2] for i in range(0, len(datagrams), 2)]
        fields = ("-T", "fields", "-e", "uerudp.packet.id", "-e", "uerudp.direction", "-e", "uerudp.handshake.type")
        with harness.Stage() as stage:
            single = stage.put("single.pcap", capture.pcap(datagrams))
            double = stage.put("double.pcap", pcap(pairs))
            for passes in ([], ["-2"]):
                one = [line.split("\t") for line in stage.tshark(*passes, "-r", single, *fields).splitlines()]
                two = [line.split("\t") for line in stage.tshark(*passes, "-r", double, *fields).splitlines()]
                joined = [[",".join(filter(None, values)) for values in zip(*one[i:i + 2])]
                          for i in range(0, len(one), 2)]
                self.assertEqual(two, joined)
                self.assertTrue(all(line[1].count(",") == 1 for line in two))


if __name__ == "__main__":
    harness.main()
