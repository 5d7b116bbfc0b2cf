#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A client that moves to another port: what is known of its connection counts from its first packet there."""
import os
import subprocess
import unittest

import harness

GENERATIONS = ("4.22", "4.25", "5.1", "5.4", "5.5", "5.8")


def generate(generation):
    command = [os.environ["UERUDP_PROGRAM"], "generate", "restart", "--generation", generation]
    return subprocess.run(command, capture_output=True, timeout=harness.TIMEOUT_S, check=True).stdout


class Restart(unittest.TestCase):
    def test_generations(self):
        with harness.Stage() as stage:
            for generation in GENERATIONS:
                with self.subTest(generation):
                    path = stage.put(generation + ".pcapng", generate(generation))
                    for two_pass in (False, True):
                        packets = stage.packets(path, two_pass=two_pass).values()
                        self.assertNotIn("uerudp.expert.malformed", sum((packet.experts for packet in packets), []))
                    self.assertEqual({("0",)}, {tuple(packet.texts("stream")) for packet in packets})
                    self.assertEqual(1, len({tuple(packet.texts("generation")) for packet in packets}))


if __name__ == "__main__":
    harness.main()
