#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fragmented messages: links in both directions, the bits that were sent, and an expert item for fragments of incomplete
messages."""
import json
import os
import subprocess
import unittest

import decoded
import harness
import messages

CAPTURES = ("big-bunch", "mixed", "game", "voice", "wrap")
SCENARIO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fragments.ini")
LATER = {"reassembled_in", "fragment.given_up_in"}
UNFINISHED = "uerudp.expert.unfinished"
MISSING = "Not all fragments of this message are in the capture"


def shown(packets):
    """{(completing frame, fragment frames): (bits, data, count)} of the messages in the tree."""
    found = {}
    for frame, packet in packets.items():
        for group in packet.groups("reassembled"):
            values = {field.key: field for field in group}
            frames = tuple(field.number() for field in group if field.key == "fragment")
            data = values["reassembled.data"].payload().hex() if "reassembled.data" in values else ""
            found.setdefault((frame, frames), []).append(
                (values["reassembled.bits"].number(), data, values["fragment.count"].number()))
    return found


def expected(path):
    """The same messages by a direct implementation of protocol.md 10.2: exports are not part of the message."""
    found = {}
    for parts in messages.chains(messages.first_copies(decoded.bunches(decoded.datagrams(path)))):
        if parts[0].bunch["partial"]:
            whole = messages.join([part for part in parts if not part.bunch["has_exports"]])
            frames = tuple(part.frame for part in parts)
            found.setdefault((max(frames), frames), []).append((whole.bits, whole.data.hex(), len(parts)))
    return found


def links(packets):
    """Links from fragments: (fragment's frame, completing frame), sorted."""
    return sorted((frame, number) for frame, packet in packets.items() for number in packet.numbers("reassembled_in"))


class Reassembly(unittest.TestCase):
    def setUp(self):
        self.stage = self.enterContext(harness.Stage())
        self.fragments = os.path.join(self.stage.home, "fragments.pcapng")
        subprocess.run([os.environ["UERUDP_PROGRAM"], "generate", SCENARIO, "--capture-at=sender", "--output", self.fragments],
                       stderr=subprocess.DEVNULL, check=True)
        os.chmod(self.fragments, 0o644)

    def packets(self, name, **arguments):
        return self.stage.packets(self.stage.copy(decoded.path_of(name)), **arguments)

    def without(self, *frames):
        """The capture of fragments without some frames; the remaining frames are renumbered."""
        path = os.path.join(self.stage.home, "lost.pcapng")
        subprocess.run(["editcap", self.fragments, path, *map(str, frames)], check=True)
        os.chmod(path, 0o644)
        return path

    def unfinished(self, path):
        """{frame: expert texts} of fragments of incomplete messages, on the second pass."""
        text = self.stage.tshark("-2", "-r", path, "-Y", UNFINISHED, "-T", "fields", "-e", "frame.number", "-e",
                                 "_ws.expert.message")
        return {int(frame): sentences for frame, sentences in (line.split("\t") for line in text.splitlines())}

    def test_messages_and_links(self):
        for name in CAPTURES:
            with self.subTest(name):
                packets = self.packets(name)
                want = expected(decoded.path_of(name))
                self.assertTrue(want)
                self.assertEqual(shown(packets), want)
                there = sorted((frame, last) for (last, frames), group in want.items() for frame in frames * len(group))
                self.assertEqual(links(packets), there)
                self.assertFalse([packet.frame for packet in packets.values() if UNFINISHED in packet.experts])

    def test_messages_of_the_sidecar(self):
        """The simulator recorded which packets carry the first transmission of a message, and how many bytes it has."""
        with open(self.fragments.replace(".pcapng", ".sent.json"), encoding="utf-8") as file:
            sidecar = json.load(file)
        packet_ids = {row["frame"]: row["packet_id"] for row in sidecar["datagrams"]}
        found = {(packet_ids[frames[0]], packet_ids[frames[-1]]): group[0][0]
                 for (_, frames), group in shown(self.stage.packets(self.fragments)).items()}
        large = [message for message in sidecar["messages"] if message["packets"][0] != message["packets"][1]]
        self.assertEqual([message["bits"] for message in large], [40000, 12000])
        for message in large:
            self.assertEqual(found[tuple(message["packets"])], message["bits"])

    def test_one_pass_lacks_only_links_to_later_frames(self):
        two = self.packets("mixed")
        one = self.packets("mixed", two_pass=False)
        self.assertEqual(shown(one), shown(two))
        for frame, packet in one.items():
            early = [(field.key, field.text) for field in packet.analysis() if field.key in LATER]
            late = [(field.key, field.text) for field in two[frame].analysis() if field.key in LATER]
            self.assertEqual(early, [link for link in late if int(link[1]) <= frame])

    def test_retransmitted_fragment(self):
        packets = self.stage.packets(self.without(19))
        self.assertIn((25, (16, 17, 18, 25, 19, 20)), shown(packets)) # one frame earlier than in the whole capture

    def test_incomplete_message(self):
        found = self.unfinished(self.without(18))
        self.assertEqual(sorted(found), [16, 17, 18, 19, 20])
        self.assertTrue(all(MISSING in sentences for sentences in found.values()))
        self.assertEqual(sorted(self.unfinished(self.without(23))), [23])

    def test_a_new_message_before_the_end(self):
        """The third of six fragments is marked as the first of another message."""
        objects = decoded.datagrams(self.fragments)
        objects[17]["bunches"][0]["partial_initial"] = True
        path = self.stage.encode("changed.pcapng", objects)
        packets = self.stage.packets(path)
        self.assertEqual([frame for frame, packet in packets.items()
                          if "uerudp.analysis.partial_error" in packet.experts], [18])
        self.assertEqual(packets[18].numbers("fragment"), [16, 17])
        self.assertEqual([field.label for field in packets[18].fields if field.key == "fragment"],
                         ["Fragment: 16, bunch 0: 7616 bits", "Fragment: 17, bunch 0: 7616 bits"])
        self.assertEqual([packets[frame].numbers("fragment.given_up_in") for frame in (16, 17)], [[18], [18]])
        self.assertIn((21, (18, 19, 20, 21)), shown(packets))
        text = self.stage.tshark("-r", path, "-Y", "frame.number == 18", "-T", "fields", "-e", "_ws.expert.message")
        self.assertIn("Another message began before the last fragment of this message; fragments given up on channel 2: "
                      "frame 16, 17", text)

    def test_cut_datagrams_complete_nothing(self):
        path = os.path.join(self.stage.home, "cut.pcapng")
        subprocess.run(["editcap", "-s", "400", self.fragments, path], check=True)
        os.chmod(path, 0o644)
        packets = self.stage.packets(path)
        self.assertGreater(len([packet for packet in packets.values()
                                if "uerudp.expert.size_limited" in packet.experts]), 5)
        self.assertEqual(links(packets), [])
        self.assertEqual([(frame, sentences.split(",")[0]) for frame, sentences in self.unfinished(path).items()],
                         [(21, MISSING)]) # short and complete

    def test_preference(self):
        packets = self.stage.packets(self.fragments, settings={"reassemble": "FALSE"})
        self.assertEqual((shown(packets), links(packets)), ({}, []))
        self.assertTrue(packets[26].numbers("analysis.retransmission_of"))


if __name__ == "__main__":
    harness.main()
