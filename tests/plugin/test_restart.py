#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A client that changes its port: the state of its connection applies from its first packet on the new port."""
import os
import subprocess
import unittest

import harness

GENERATIONS = ("4.22", "4.24", "4.25", "5.1", "5.4", "5.5", "5.8")


def generate(generation):
    command = [os.environ["UERUDP_PROGRAM"], "generate", "restart", "--generation", generation]
    return subprocess.run(command, capture_output=True, timeout=harness.TIMEOUT_S, check=True).stdout


def course(packets):
    """The analysis, frame by frame."""
    return {frame: (packet.texts("stream"), [(field.key, field.text) for field in packet.analysis()],
                    [text for name, text in packet.sentences if name.startswith("uerudp.analysis.")])
            for frame, packet in packets.items()}


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
                    names = list(dict.fromkeys(name for packet in packets for name in packet.texts("generation")))
                    # the packets of 4.22 and 4.24 are alike, until actors spawn
                    self.assertIn(names, [["4.22", "4.24"]] if generation == "4.24" else [[name] for name in names[:1]])

    def test_given_generation(self):
        """The change makes no difference: packets from the new port before the restart are not missing after it. Only one
        pass does not know yet that both ports belong to one stream."""
        with harness.Stage() as stage:
            for generation in GENERATIONS:
                with self.subTest(generation):
                    path = stage.put(generation + ".pcapng", generate(generation))
                    found, configured = (stage.packets(path, settings) for settings in ({}, {"generation": generation}))
                    self.assertEqual(course(configured), course(found))
                    once = stage.packets(path, {"generation": generation}, two_pass=False)
                    moved = min(frame for frame, packet in once.items() if packet.texts("handshake.orig_cookie"))
                    self.assertEqual({text for frame, packet in once.items() if frame >= moved
                                      for text in packet.texts("stream")}, {"0"})
                    course_once, course_found = course(once), course(found)
                    for frame in (frame for frame in found if frame > moved):
                        self.assertEqual(course_once[frame][2], course_found[frame][2], f"frame {frame}")


if __name__ == "__main__":
    harness.main()
