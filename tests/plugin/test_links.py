#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every link between frames has the right target, and a link back, in every capture."""
import collections
import os
import unittest

import capture
import decoded
import harness
import traffic

ACKS = {"analysis.acks_frame": "analysis.acked_in", "analysis.nacks_frame": "analysis.nacked_in"}


def captures():
    own = [decoded.path_of(name.removesuffix(".pcapng")) for name in sorted(os.listdir(decoded.CAPTURES))
           if name.endswith(".pcapng")]
    return own + list(harness.recorded().values())


def links(packets, key):
    return sorted((frame, to) for frame, packet in packets.items() for to in packet.numbers(key))


def backwards(pairs):
    return sorted((to, frame) for frame, to in pairs)


def way(packet):
    return *packet.numbers("stream"), *packet.numbers("direction")


def fragments(packets):
    """(completing frame, fragment's frame) of messages, and of discarded fragments."""
    whole = sorted((frame, field.number()) for frame, packet in packets.items() for group in packet.groups("reassembled")
                   for field in group if field.key == "fragment")
    given_up = collections.Counter(links(packets, "fragment")) - collections.Counter(whole)
    return whole, sorted(given_up.elements())


def names(bunch):
    """The keys that a bunch and its retransmission share."""
    return [field.number() for key in ("bunch.channel", "bunch.ch_seq") for field in bunch if field.key == key]


class Late(unittest.TestCase):
    def test_reported_before_it_arrived(self):
        """A packet that arrived after a later one, and was reported as not delivered before, has the links, too."""
        frames = traffic.generate("game", "--generation=5.0", "--duration=12", "--loss=0.05", "--loss-burst=2", "--dup=0.03",
                                  "--reorder=0.04", "--corrupt=0.01", "--delay=40", "--jitter=10", "--seed=4",
                                  "--capture-at=client").frames
        with harness.Stage() as stage:
            packets = stage.packets(stage.put("a.pcapng", traffic.write(frames)))
        self.assertEqual([12176, 12177], packets[754].numbers("packet.nacked"))
        self.assertEqual([755, 756], packets[754].numbers("analysis.nacks_frame"))
        pairs = links(packets, "analysis.nacks_frame")
        self.assertEqual(backwards(pairs), links(packets, "analysis.nacked_in"))
        self.assertGreater(len(pairs), len([(frame, to) for frame, to in pairs if to > frame]))
        for frame, to in pairs:
            self.assertIn(packets[to].numbers("packet.id")[0], packets[frame].numbers("packet.nacked"), frame)


    def test_acked_before_it_was_captured(self):
        """A packet that a capture has after its ack has the links, and is not missing: one in a gap, and the newest."""
        with harness.Stage() as stage:
            stage.tshark("-r", stage.copy(decoded.path_of("game")), "-F", "pcap", "-w", os.path.join(stage.home, "a.pcap"))
            datagrams = capture.read(os.path.join(stage.home, "a.pcap"))
            packets = stage.packets(stage.put("a.pcap", capture.pcap(datagrams)))
            acks = {to: frame for frame, to in reversed(links(packets, "analysis.acks_frame"))}
            ways = {frame: way(packet) for frame, packet in packets.items()}
            followed = {to: ways[to] in [ways[frame] for frame in range(to + 1, acks[to])] for to in sorted(acks) if to > 20}
            gap, newest = (next(to for to in followed if followed[to] == wanted) for wanted in (True, False))
            for name, late in (("gap", gap), ("newest", newest)):
                with self.subTest(name, late=late, ack=acks[late]):
                    moved = datagrams[:late - 1] + datagrams[late:acks[late]] + [datagrams[late - 1]] + datagrams[acks[late]:]
                    found = stage.packets(stage.put("b.pcap", capture.pcap(moved)))
                    self.assertEqual(packets[late].numbers("packet.id"), found[acks[late]].numbers("packet.id"))
                    self.assertEqual([acks[late] - 1], found[acks[late]].numbers("analysis.acked_in"))
                    self.assertIn(acks[late], found[acks[late] - 1].numbers("analysis.acks_frame"))
                    self.assertNotIn("uerudp.analysis.ack_of_unseen", sum((packet.experts for packet in found.values()), []))


class Links(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with harness.Stage() as stage:
            cls.captures = {harness.capture_name(path): stage.packets(stage.copy(path), harness.settings_of(path))
                            for path in captures()}

    def check(self, least, count_links):
        """Runs a check on every capture; together the captures must have at least this many links."""
        total = 0
        for name, packets in self.captures.items():
            with self.subTest(name):
                total += count_links(packets)
        self.assertGreaterEqual(total, least)

    def test_acks(self):
        self.check(1000, self.check_acks)

    def check_acks(self, packets):
        count = 0
        for back, forth in ACKS.items():
            pairs = links(packets, back)
            self.assertEqual(pairs, backwards(links(packets, forth)), back)
            for frame, to in pairs:
                (stream, direction), (other_stream, other) = way(packets[frame]), way(packets[to])
                self.assertEqual((stream, 3 - direction), (other_stream, other), f"{back} {frame}: the other side")
            count += len(pairs)
        return count

    def test_copies(self):
        self.check(50, self.check_copies)

    def check_copies(self, packets):
        found = []
        for frame, packet in packets.items():
            for bunch in packet.groups("bunch"):
                for to in [field.number() for field in bunch if field.key == "analysis.retransmission_of"]:
                    found.append((frame, to))
                    self.assertEqual(way(packet), way(packets[to]))
                    there = [other for other in packets[to].groups("bunch") if names(other) == names(bunch)]
                    self.assertIn(frame, [field.number() for other in there for field in other
                                          if field.key == "analysis.retransmitted_in"], f"{frame} to {to}")
        self.assertEqual(sorted(found), backwards(links(packets, "analysis.retransmitted_in")))
        return len(found)

    def test_fragments(self):
        self.check(50, self.check_fragments)

    def check_fragments(self, packets):
        whole, given_up = fragments(packets)
        self.assertEqual(whole, backwards(links(packets, "reassembled_in")))
        self.assertEqual(given_up, backwards(links(packets, "fragment.given_up_in")))
        for frame, to in whole + given_up:
            self.assertEqual(way(packets[frame]), way(packets[to]))
        return len(whole)

    def test_duplicates(self):
        self.check(3, self.check_duplicates)

    def check_duplicates(self, packets):
        pairs = links(packets, "analysis.duplicate_of")
        for frame, to in pairs:
            self.assertGreater(frame, to)
            self.assertEqual(way(packets[frame]) + tuple(packets[frame].numbers("packet.id")),
                             way(packets[to]) + tuple(packets[to].numbers("packet.id")))
        return len(pairs)


if __name__ == "__main__":
    harness.main()
