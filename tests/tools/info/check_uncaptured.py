#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What happened after the last captured packet of a side: a capture that lacks its packets does not show that it was silent,
and one that lacks its acks does not show that it received nothing."""
import itertools
import re
import unittest

import traffic
import uerudp
from check_partial_view import info
from traffic import WAYS

GENERATIONS = ("4.18", "5.4")
LIVE = ("stream", "--duration=7", "--loss=0.02", "--delay=40")
LOSSY = ("stream", "--duration=4", "--loss=0.2", "--delay=40")
SIDES = {"c2s": "client", "s2c": "server"}


def of_kind(connection, *kinds):
    return [finding for finding in connection["findings"] if finding["kind"] in kinds]


def without(frames, ways, is_dropped):
    """The frames of a capture, except those of a direction for which is_dropped(seconds)."""
    hidden = {id(frame) for way in ways for frame in traffic.one_way(frames, way)
              if is_dropped((frame.time_ns - frames[0].time_ns) / 1e9)}
    return [frame for frame in frames if id(frame) not in hidden]


def with_newest_missing(frames, way, count):
    """Without the last packets of a direction."""
    hidden = {id(frame) for frame in traffic.one_way(frames, way)[-count:]}
    return [frame for frame in frames if id(frame) not in hidden]


class FirstPackets(unittest.TestCase):
    """The first packets of one side are missing."""

    def test_after_the_handshake(self):
        for generation in GENERATIONS:
            frames = traffic.generate("stream", "--duration=4", "--delay=40", "--generation", generation).frames
            for way in WAYS:
                with self.subTest(generation=generation, way=way):
                    part = without(frames, [way], lambda s: 0.1 < s < 2)
                    connection = info(part)
                    warning, = of_kind(connection, "capture_incomplete")
                    self.assertEqual(len(frames) - len(part), warning["count"])
                    self.assertEqual(connection["lost"][way], warning["count"])

    def test_with_the_handshake(self):
        """The messages of the server have the first ids of the client."""
        frames = traffic.generate("game", "--duration=4", "--delay=40", "--generation=5.5").frames
        connection = info(without(frames, ["c2s"], lambda s: s < 2))
        warning, = (each for each in of_kind(connection, "capture_incomplete") if each["severity"] == "warning")
        self.assertEqual(connection["lost"]["c2s"], warning["count"])

    def test_without_loss(self):
        """What the packets that are missing acknowledged does not count as lost."""
        for generation, scenario, way in itertools.product(GENERATIONS, ("stream", "game"), WAYS):
            with self.subTest(generation=generation, scenario=scenario, way=way):
                frames = traffic.generate(scenario, "--duration=4", "--delay=40", "--generation", generation).frames
                connection = info(without(frames, [way], lambda s: s < 2))
                self.assertLessEqual(sum(connection["not_acked"].values()), 1 if generation == "4.18" else 0)
                severe = [each for each in connection["findings"] if each["severity"] != "note"]
                self.assertEqual(severe, of_kind({"findings": severe}, "capture_incomplete"))

    def test_one_direction(self):
        """Without any packet of that side, the finding says that there is one direction."""
        frames = traffic.generate("stream", "--duration=4", "--delay=40").frames
        for way in WAYS:
            connection = info(without(frames, [way], lambda s: True))
            self.assertEqual([], of_kind(connection, "capture_incomplete"))
            self.assertEqual(1, len(of_kind(connection, "one_direction")))

    def test_middle(self):
        """What was under way when the capture began is not missing."""
        frames = traffic.generate("stream", "--duration=4", "--delay=40").frames
        self.assertEqual([], of_kind(info(without(frames, WAYS, lambda s: s < 2)), "capture_incomplete"))


class LastSilence(unittest.TestCase):
    def test_live_side(self):
        """A side whose packets are missing from a time on, while the other side acknowledges them."""
        for generation in GENERATIONS:
            frames = traffic.generate(*LIVE, "--generation", generation).frames
            for way in WAYS:
                for since_s in (1.5, 5):
                    with self.subTest(generation=generation, way=way, since_s=since_s):
                        connection = info(without(frames, [way], lambda s, since_s=since_s: s > since_s))
                        self.assertEqual([], of_kind(connection, "timeout", "silence"))
                        self.assertEqual("none", connection["closed_by"])
                        note, = [each for each in of_kind(connection, "capture_incomplete")
                                 if each["severity"] == "note"]
                        self.assertIn(f"no packet of the {SIDES[way]} was analysed in this connection after frame",
                                      note["text"])
                        self.assertEqual(way, note["direction"])

    def test_both_directions(self):
        """Packets of both sides are missing in the middle and those of one side until the end."""
        for generation in GENERATIONS:
            frames = traffic.generate(*LIVE, "--generation", generation).frames
            for way in WAYS:
                with self.subTest(generation=generation, way=way):
                    part = without(without(frames, WAYS, lambda s: 1.5 < s < 2.2), [way], lambda s: s > 1.5)
                    self.assertEqual([], of_kind(info(part), "timeout", "silence"))

    def test_timeout(self):
        """A server that died: the capture has all of its packets, or lacks the last ones."""
        for generation in GENERATIONS:
            frames = traffic.generate("timeout", "--generation", generation).frames
            whole = info(frames)
            for count in (1, 3):
                with self.subTest(generation=generation, count=count):
                    part = info(with_newest_missing(frames, "s2c", count))
                    self.assertEqual(whole["closed_by"], part["closed_by"])
                    finding, = of_kind(part, "timeout", "silence")
                    expected, = of_kind(whole, "timeout", "silence")
                    self.assertEqual((expected["kind"], expected["severity"]), (finding["kind"], finding["severity"]))
                    self.assertRegex(finding["text"], rf"; {count} later packets? of it (was|were) acknowledged, up to")
                    self.assertLessEqual(finding["duration_ms"], expected["duration_ms"])
                    self.assertGreater(finding["duration_ms"], expected["duration_ms"] - 300)

    def test_text(self):
        """The line about the end names the evidence, too."""
        frames = with_newest_missing(traffic.generate("timeout", "--generation=5.4").frames, "s2c", 1)
        report = traffic.program("info", "-", data=traffic.write(frames)).decode()
        end, = re.findall(r"timeout: the newest packet of the server was acknowledged in frame (\d+),", report)
        self.assertIn(f"acknowledged, up to frame {end}, and no more in the", report)


if __name__ == "__main__":
    uerudp.main()
