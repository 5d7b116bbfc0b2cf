#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One pass, two passes and a display filter have equal results, except for fields that one pass cannot know yet."""
import os
import subprocess
import unittest

import decoded
import harness

# Final only after enough of a connection was captured, or after its last restart message, which names the earlier one;
# fields that depend on it may differ until then.
LATER = {"generation", "generation_reason", "stream"}
# Added by a later datagram; the class of an actor, at the first fragments of the message that spawns it; the time to an
# ack, where packets before it are missing.
TOLD_LATER = {"analysis.class", "analysis.acked_in", "analysis.nacked_in", "analysis.nacks_frame",
              "analysis.retransmitted_in", "analysis.stall", "analysis.ack_rtt", "reassembled_in",
              "fragment.given_up_in"}
HELD = 64  # datagrams of a connection that may be analysed later than one pass shows them
# A restart on other addresses, bounds that are detected later, a login, packets with long histories.
CAPTURES = ("utcp-orig-restart", "utcp-ue418-clean", "supervive-ue54", "fortnite1510-081d-plain-scrubbed")


def settled_fields(packet):
    return [(field.key, field.text, field.first_byte, field.bytes) for field in packet.wire() if field.key not in LATER]


def analysis(packet, left_out=()):
    return [(field.key, field.text) for field in packet.analysis() if field.key not in left_out]


def inside(packet):
    return [(field.key, field.text, field.first_byte, field.bytes) for field in packet.inside()]


def known_at_once(packet):
    return [(field.key, field.text, field.first_byte, field.bytes) for field in packet.fields if field.key not in TOLD_LATER]


def result(packet):
    return [packet.texts(key) for key in sorted(LATER)]


def sentences(packet):
    """Those of findings, which are items of the first frame that they name and known later, are left out."""
    kept, is_finding = [], False
    for name, text in packet.sentences:
        if name.startswith("uerudp."):
            is_finding = name.startswith("uerudp.finding.")
        if not is_finding:
            kept.append((name, text))
    return kept


class Passes(unittest.TestCase):
    def test_captures(self):
        with harness.Stage() as stage:
            for name in CAPTURES:
                with self.subTest(name):
                    path = harness.recording(name)
                    self.compare(stage, stage.copy(path), harness.settings_of(path))

    def compare(self, stage, capture, settings):
        one = stage.packets(capture, settings, two_pass=False)
        two = stage.packets(capture, settings)
        last = stage.packets(capture, settings, options=["-Y", f"uerudp && frame.number > {max(two) // 2}"])
        same = analysed = 0
        for frame, packet in two.items():
            if frame in one and result(one[frame]) == result(packet):
                self.assertEqual(settled_fields(one[frame]), settled_fields(packet), f"frame {frame}")
                same += 1
                if inside(one[frame]):
                    self.assertEqual(inside(one[frame]), inside(packet), f"frame {frame}")
                if analysis(one[frame], TOLD_LATER):
                    self.assertEqual(analysis(one[frame], TOLD_LATER), analysis(packet, TOLD_LATER), f"frame {frame}")
                    analysed += 1
            if frame in last:
                self.assertEqual(settled_fields(last[frame]), settled_fields(packet), f"frame {frame}")
                self.assertEqual(analysis(last[frame]), analysis(packet), f"frame {frame}")
                self.assertEqual(inside(last[frame]), inside(packet), f"frame {frame}")
        print(f"{len(two)} frames, {same} the same in one pass, {len(last)} filtered")
        self.assertGreaterEqual(same, len(two) - HELD)
        self.assertGreaterEqual(analysed, len([packet for packet in two.values() if analysis(packet, TOLD_LATER)]) - HELD)
        self.assertEqual(len(last), len([frame for frame in two if frame > max(two) // 2]))

    def test_known_generation(self):
        """If nothing waits for detection, one pass shows every field except those that later datagrams add."""
        compared = 0
        with harness.Stage() as stage:
            for name in ("game", "big-bunch", "voice", "mixed", "legacy", "spurious", "wrap"):
                settings = {"generation": decoded.sent(name)["generation"]}
                path = stage.copy(decoded.path_of(name))
                one = stage.packets(path, settings, two_pass=False)
                for frame, packet in stage.packets(path, settings).items():
                    self.assertEqual(known_at_once(one[frame]), known_at_once(packet), f"{name} frame {frame}")
                    self.assertEqual(sentences(one[frame]), sentences(packet), f"{name} frame {frame}")
                    compared += len(known_at_once(packet))
        self.assertGreater(compared, 10000)

    def test_netver(self):
        """The EngineNetVer that actor spawns have shown applies to the same messages in every pass, and in the program."""
        with harness.Stage() as stage:
            path = os.path.join(stage.path, "spawns.pcapng")
            subprocess.run([os.environ["UERUDP_PROGRAM"], "generate", "game", "--generation=4.25", "--netver=22",
                            "--duration=2", "--no-sidecar", "--output", path], check=True, timeout=harness.TIMEOUT_S)
            two = stage.packets(path, {})
            netvers = {frame: packet.numbers("content.netver") for frame, packet in two.items()}
            self.assertEqual({22}, {netver for each in netvers.values() for netver in each})
            once = stage.packets(path, {}, two_pass=False)
            alike = [frame for frame, packet in once.items() if result(packet) == result(two[frame])]
            self.assertGreater(len(alike), 100)
            for frame in alike:
                self.assertEqual(inside(once[frame]), inside(two[frame]), f"frame {frame}")
            lines = decoded.run("decode", "--json", "--content", path)
            self.assertEqual(len(two), len(lines))
            for line in lines:
                stated = [each["netver"] for bunch in line.get("bunches", ()) for each in bunch.get("content", ())
                          if "netver" in each]
                self.assertEqual(stated, netvers[line["frame"]], line["frame"])


if __name__ == "__main__":
    harness.main()
