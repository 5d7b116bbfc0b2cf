#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A capture with a snap length: the tree reports the cut and has every field before it, and no packet is malformed."""
import os
import subprocess
import unittest

import harness


# Capture, snap length, and the generation if the cut leaves too little to detect it.
LEGACY = {"generation": "4.18", "max_packet": 512, "ch_seq_bound": 4096}
CASES = [("utcp-clean", 60, {}), ("utcp-clean", 72, {}), ("utcp-ue418-clean", 64, LEGACY),
         ("supervive-ue54", 96, {"generation": "5.4"})]

GAME = os.path.join(os.path.dirname(__file__), "..", "..", "captures", "game.pcapng")


class Remarks(unittest.TestCase):
    def test_one_space(self):
        """Also before a remark of the info column that follows the direction, because nothing was decoded."""
        with harness.Stage() as stage:
            lines = stage.info(os.path.join(os.path.dirname(GAME), "fuzz.pcapng"), "-2").values()
            self.assertTrue(any("S [Malformed" in line or "C [Malformed" in line for line in lines))
            self.assertTrue(any("] [Malformed" in line for line in lines))
            self.assertEqual([], [line for line in lines if "  " in line])


class Cut(unittest.TestCase):
    def test_fields_before_the_cut(self):
        with harness.Stage() as stage:
            for name, snap, settings in CASES:
                with self.subTest(name, snap=snap):
                    self.compare(stage, harness.recording(name), snap, settings)

    def test_generation_is_detected(self):
        """Whole packets fit several generations, which partial bunches, mostly in cut packets, tell apart."""
        with harness.Stage() as stage:
            for snap in (64, 96, 128, 200):
                with self.subTest(snap=snap):
                    self.compare(stage, GAME, snap, {})

    def compare(self, stage, path, snap, settings):
        whole = stage.packets(stage.copy(path), settings)
        cut_path = os.path.join(stage.home, "cut.pcap")
        subprocess.run(["editcap", "-F", "pcap", "-s", str(snap), path, cut_path], check=True)
        os.chmod(cut_path, 0o644)
        cut = stage.packets(cut_path, settings)
        shortened = 0
        for frame, packet in cut.items():
            present = snap - packet.origin
            if int(whole[frame].protocol.get("size")) <= present:
                self.assertNotIn("uerudp.expert.size_limited", packet.experts)
                continue
            shortened += 1
            self.assertIn("uerudp.expert.size_limited", packet.experts, f"frame {frame}")
            self.assertEqual(packet.texts("fault.status"), ["size limited"])
            self.compare_packet(packet, whole[frame], present)
        shown = ["-r", cut_path, *harness.preferences(settings), "-Y"]
        self.assertEqual(stage.tshark(*shown, "uerudp.expert.malformed || _ws.malformed || _ws.short"), "")
        lines = stage.tshark(*shown, "uerudp.expert.size_limited")
        self.assertEqual(lines.count("[Packet size limited during capture]"), lines.count("\n"))
        print(f"{harness.capture_name(path)} at {snap} bytes: {shortened} of {len(whole)} cut")
        self.assertGreater(shortened, 3)

    def compare_packet(self, packet, whole, present):
        """The fields are a prefix of the fields of the whole packet, with all fields that can be decoded before the cut."""
        def wire(fields):
            return [(f.key, f.text, f.begin_bit, f.bits) for f in fields if f.begin_bit is not None]
        got, want = wire(packet.wire()), wire(f for f in whole.wire() if f.key != "terminator")
        self.assertEqual(got, want[:len(got)], f"frame {packet.frame}")
        self.assertLessEqual({f.text for f in packet.inside()}, {f.text for f in whole.inside()})
        if whole.numbers("is_handshake") == [0]:
            header = [f for f in want if f[0].startswith("packet.") and f[2] + f[3] <= present * 8]
            self.assertEqual([f for f in got if f[0].startswith("packet.")], header)


if __name__ == "__main__":
    harness.main()
