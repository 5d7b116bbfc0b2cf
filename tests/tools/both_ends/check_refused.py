#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp info with the captures of both ends: packets that arrived, but were reported as not received."""
import pcapng
import uerudp
from both_ends import MS, SERVER_PORT, Folder, info


class Refused(Folder):
    def test_refused(self):
        """A bunch of a packet that arrived and was refused was delivered with it. The sender's capture names this condition;
        with the capture of the receiver no such delay is reported, and the others are."""
        for generation, seeds in ("5.5", (11, 24)), ("4.18", (11,)):
            for seed in seeds:
                ends = self.generate("game", "--duration=30", "--loss=0.06", "--delay=60", f"--seed={seed}", f"--generation={generation}")
                refused = {sent["packet_id"] for sent in ends.sent["datagrams"] if sent["fate"] == ["arrived"] and not sent["delivered"]}
                self.assertTrue(refused)
                (alone,), _ = info("--findings=1000", ends.server)
                (connection,), _ = info("--findings=1000", ends.client, ends.server)
                delays = [[finding for finding in each["findings"] if finding["kind"] in ("reliable_stall", "repeated_loss")
                           and finding["direction"] == "s2c"] for each in (alone, connection["other_end"])]
                unsure = [[finding["text"] for finding in each if finding.get("maybe_refused")] for each in delays]
                self.assertTrue(unsure[0])
                self.assertEqual([], unsure[1])
                self.assertEqual(len(delays[0]) - len(unsure[0]), len(delays[1]))

    def test_dropped(self):
        """A packet that its receiver dropped after the capture point delivered no bunch: delays by it are reported."""
        ends = self.generate("lossy", "--duration=30", "--loss=0.3", "--delay=2")
        arrived, packets = {packet.payload for packet in pcapng.read(ends.client)}, pcapng.read(ends.client)
        packets += [packet._replace(time_ns=packet.time_ns + 2 * MS) for packet in pcapng.read(ends.server)
                    if packet.destination != SERVER_PORT and packet.payload not in arrived]
        tapped = self.write("tapped.pcap", sorted(packets, key=lambda packet: packet.time_ns))
        (alone,), _ = info("--findings=1000", ends.server)
        (connection,), _ = info("--findings=1000", tapped, ends.server)
        delays = [[finding["text"] for finding in each["findings"] if finding["kind"] == "repeated_loss" and finding["direction"] == "s2c"]
                  for each in (alone, connection["other_end"])]
        self.assertGreater(connection["both_ends"]["s2c"]["not_accepted"], 10)
        self.assertTrue(delays[0])
        self.assertEqual(*delays)


if __name__ == "__main__":
    uerudp.main()
