#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp edit on recordings of other implementations."""
import os
import unittest

import uerudp
import recordings


class Realdata(unittest.TestCase):
    def test_identity(self):
        for name, path, settings in uerudp.captures():
            output = uerudp.run("edit", *settings, path, "-").stdout
            self.assertEqual(output, path.read_bytes(), name)

    def test_anonymised(self):
        """Streams, times, sizes, generations, packets and channels stay."""
        for name, path, settings in uerudp.captures():
            before, after = (uerudp.run("decode", "--fields", "frame,time,length,stream,direction,generation,packet.seq,"
                                        "bunch.channel,bunch.ch_seq,bunch.data_bits", *settings, "-", data=data).stdout
                             for data in (path.read_bytes(), uerudp.run("edit", "--anonymise", *settings, path, "-").stdout))
            self.assertEqual(before, after, name)
            self.assertTrue(before)

    def test_delivery_rules_match_the_tracker(self):
        """Dropping all copies but the first leaves a capture without retransmissions."""
        path = recordings.path("utcp-loss")
        once = uerudp.run("edit", "--rule", "drop reliable copy=2-", path, "-").stdout
        self.assertLess(len(once), os.path.getsize(path))
        report = uerudp.run("edit", "--rule", "drop reliable copy=2-", "-", "-", data=once).stderr.decode()
        self.assertIn(": 0 datagrams", report)


if __name__ == "__main__":
    uerudp.main()
