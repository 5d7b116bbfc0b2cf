#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every finding in every frame of every capture equals the finding of the reference model (course.py)."""
import collections
import os
import re
import unittest

import course
import decoded
import harness

DAMAGED = {"corrupt", "fuzz"}  # the capture differs from what was sent
NAMES = sorted({name.removesuffix(".pcapng") for name in os.listdir(decoded.CAPTURES) if name.endswith(".pcapng")} - DAMAGED)
FLAGS = ("lost", "out_of_order", "duplicate", "nak", "retransmission", "spurious_retransmission", "reliable_gap",
         "ack_of_unseen", "reliable_jump", "partial_error", "buffer_high")


def flags_of(frame):
    """The number of each flag in the reference model."""
    bunches = [bunch for bunch in frame.bunches if bunch is not None]
    return {flag: count for flag, count in {
        "lost": bool(frame.missing), "out_of_order": frame.is_late, "duplicate": frame.is_duplicate,
        "nak": bool(frame.nacked), "ack_of_unseen": len(frame.acked) > len(frame.acks_frames),
        "retransmission": sum(bunch.previous_frame is not None for bunch in bunches),
        "spurious_retransmission": sum(bunch.is_spurious for bunch in bunches),
        "reliable_gap": sum(bunch.is_gap for bunch in bunches)}.items() if count}


def flags_shown(packet):
    counts = collections.Counter(name.removeprefix("uerudp.analysis.") for name in packet.experts)
    return {flag: counts[flag] for flag in FLAGS if counts[flag]}


def ids_in_text(packet, expert):
    """Packet ids in the sentence of an expert item."""
    return [int(number) for name, text in packet.sentences if name == "uerudp." + expert
            for number in re.findall(r"\d+", text.partition(": ")[2])]


def own(bunch, key):
    return [field.number() for field in bunch if field.key == key]


class Truth(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with harness.Stage() as stage:
            cls.captures = {name: (stage.packets(stage.copy(decoded.path_of(name))), course.Course(name))
                            for name in NAMES}

    def frames(self):
        """Each frame of the plugin with the frame of the model; prints the first differences."""
        for name, (packets, truth) in self.captures.items():
            for number, frame in truth.frames.items():
                decided = {*ids_in_text(packets[number], "analysis.nak")} & (frame.other.skipped if frame.other else set())
                frame.nacked = sorted({*frame.nacked} | decided)
                yield f"{name} frame {number}", packets[number], frame

    def test_flags(self):
        raised = collections.Counter()
        for where, packet, frame in self.frames():
            want, shown = flags_of(frame), flags_shown(packet)
            self.assertEqual(shown, want, where)
            raised.update(want)
        self.assertEqual(set(raised), set(FLAGS) - {"ack_of_unseen", "reliable_jump", "partial_error", "buffer_high"})

    def test_missing(self):
        for where, packet, frame in self.frames():
            self.assertEqual(sum(packet.numbers("analysis.missing")), len(frame.missing), where)
            self.assertEqual(ids_in_text(packet, "analysis.lost"), sorted({*frame.missing[:1], *frame.missing[-1:]}), where)

    def test_acked_and_lost(self):
        for where, packet, frame in self.frames():
            self.assertEqual(packet.numbers("analysis.acks_frame"), frame.acks_frames, where)
            self.assertEqual(packet.numbers("analysis.nacks_frame"), frame.nacks_frames() if frame.other else [], where)
            self.assertEqual(ids_in_text(packet, "analysis.nak"), frame.nacked, where)

    def test_lost_acknowledgements(self):
        """Up to 4.21 a retransmission proves that the sender never received an ack. The packet that carries this
        finding does not itself report a nak."""
        found = [(where, ids_in_text(packet, "expert.ack_lost")) for where, packet, _ in self.frames()]
        self.assertEqual([(where, ids) for where, ids in found if ids], [("spurious frame 24", [9250]), ("spurious frame 40", [5736, 5738])])
        packets = self.captures["spurious"][0]
        self.assertEqual([packets[frame].numbers("analysis.nacked_in") for frame in (17, 30, 34)], [[], [], []])
        self.assertEqual([packets[frame].numbers("analysis.acked_in") for frame in (17, 30, 34)], [[18], [31], [35]])

    def test_reliable_bunches(self):
        compared = 0
        for where, packet, frame in self.frames():
            if frame.is_duplicate:
                continue
            for shown, bunch in zip(packet.groups("bunch"), frame.bunches, strict=True):
                want = {"bunch.reliable_id": [], "analysis.reliable_in_flight": [], "analysis.retransmission_of": []}
                if bunch is not None:
                    want = {"bunch.reliable_id": [bunch.id], "analysis.reliable_in_flight": [bunch.in_flight],
                            "analysis.retransmission_of": [bunch.previous_frame] if bunch.previous_frame else []}
                found = {key: own(shown, key) for key in want}
                if any(field.key == "analysis.reliable_gap" for field in shown):  # then the number is only a lower bound
                    self.assertLessEqual(found["analysis.reliable_in_flight"], want["analysis.reliable_in_flight"])
                    found["analysis.reliable_in_flight"] = want["analysis.reliable_in_flight"]
                self.assertEqual(found, want, where)
                compared += bunch is not None
        self.assertGreater(compared, 600)

    def test_duplicates(self):
        """The bunches of a duplicate packet have the numbers of the first copy."""
        found = []
        for packets, _ in self.captures.values():
            for packet in packets.values():
                for first in packet.numbers("analysis.duplicate_of"):
                    ids = packet.numbers("bunch.reliable_id")
                    self.assertEqual(ids, packets[first].numbers("bunch.reliable_id"))
                    found += ids
        self.assertGreaterEqual(len(found), 3)


if __name__ == "__main__":
    harness.main()
