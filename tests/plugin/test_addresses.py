#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Datagrams in ICMP errors are left to ICMP; a client whose address a router changes gets a second stream. The same as
tests/tools/info/check_addresses.py for the program."""

import harness
import traffic

GENERATIONS = ("4.18", "4.25", "5.5")
LOSSY = ("lossy", "--duration=2", "--dup=0.03", "--loss=0.05")
LOSSLESS = ("login", "--duration=3")
EVERY = 5
OTHER_PORT = 61000
WRONG = ("analysis.missing", "analysis.lost", "analysis.nak", "analysis.ack_of_unseen", "analysis.duplicate",
         "analysis.retransmission")  # captures without loss




def later(frame):
    """The number of a frame in a capture that has another frame after each EVERYth."""
    return frame + (frame - 1) // EVERY


class Case(harness.StageCase):
    def frame_fields(self):
        """The keys of fields that hold the number of a frame."""
        rows = (line.split("\t") for line in self.stage.tshark("-G", "fields").splitlines())
        return {row[2].removeprefix("uerudp.") for row in rows if row[0] == "F" and row[3] == "FT_FRAMENUM"}

    def packets(self, frames):
        return self.stage.packets(self.stage.put("a.pcapng", traffic.write(frames)))


class IcmpErrors(Case):
    def test_no_frame_is_ours(self):
        """The frames that are ours have the same fields, with the numbers of other frames as they are now."""
        of_frames = self.frame_fields()

        def fields(packet, number=int):
            return [(each.key, number(int(each.text)) if each.key in of_frames else each.text) for each in packet.fields]

        for generation in GENERATIONS:
            frames = traffic.generate(*LOSSY, "--generation", generation).frames
            expected = self.packets(frames)
            shown = self.packets(traffic.answered(frames, EVERY, lambda frame: traffic.icmp_error(frame, 65535)))
            with self.subTest(generation):
                self.assertEqual([later(frame) for frame in expected], list(shown))
                for before, after in zip(expected.values(), shown.values()):
                    self.assertEqual(fields(before, later), fields(after))
                    self.assertEqual(before.experts, after.experts)


class MovedClient(Case):
    def test_moved(self):
        for generation in GENERATIONS:
            frames = traffic.generate(*LOSSLESS, "--generation", generation).frames
            first = len(frames) // 2
            shown = self.packets(traffic.moved(frames, first, OTHER_PORT))
            with self.subTest(generation):
                self.assertEqual(list(range(1, len(frames) + 1)), list(shown))
                self.assertEqual([["0"]] * first + [["1"]] * (len(frames) - first),
                                 [packet.texts("stream") for packet in shown.values()])
                self.assertEqual([], [(frame, field.key) for frame, packet in shown.items() for field in packet.fields
                                      if field.key in WRONG])


if __name__ == "__main__":
    harness.main()
