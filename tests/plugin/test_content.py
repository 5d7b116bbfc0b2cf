#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Content of whole messages in the tree: the values that were sent, with one-line labels, and payloads of blocks for
dissectors that registered for a class."""
import os
import re
import unittest

import harness

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
EXAMPLE = os.path.join(ROOT, "docs", "examples", "crate.lua")
CRATE = "/Game/Actors/Crate.Crate_C"
LABEL = "/Game/Actors/Label.Label_C"


def capture(name):
    return os.path.join(ROOT, "captures", f"{name}.pcapng")


def labels(packet, kind):
    """The subtrees of one kind."""
    return [group.get("showname") for group in packet.protocol.iter("field") if group.get("name") == f"uerudp.{kind}"]


class Content(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = harness.Stage()
        cls.addClassCleanup(cls.stage.__exit__)
        cls.world = cls.stage.copy(capture("actor-world"))
        cls.packets = cls.stage.packets(cls.world)

    def every(self, kind):
        return [label for packet in self.packets.values() for label in labels(packet, kind)]

    def test_labels_of_exports(self):
        objects = self.every("export")
        self.assertIn("Object 101: /Game/Actors/Crate.Default__Crate_C", objects)
        self.assertIn("Object 5009: /Game/Maps/Sim.Sim:PersistentLevel.Lamp_4.Light", objects)
        self.assertIn("Exports: 3 names", self.every("exports"))

    def test_labels_of_blocks(self):
        blocks = self.every("block")
        for wanted in (r"Block: actor, properties, \d+ bits", r"Block: actor, \d+ bits",
                       r"Block: object \d+ of class Label_C(, properties)?, \d+ bits",
                       r"Block: object 50\d\d /Game/Maps/Sim.Sim:PersistentLevel.Lamp_\d+.Light(, properties)?, \d+ bits"):
            self.assertTrue([label for label in blocks if re.fullmatch(wanted, label)], wanted)

    def test_labels_of_actors(self):
        """Actor spawns in fragmented messages."""
        actors = self.every("actor")
        self.assertIn("Actor 134 Crate_C at (300.0, -150.0, 88.5)", actors)
        self.assertIn("Actor 1009 Lamp_4", actors)
        self.assertIn("Must be mapped: 1 id", self.every("mapped"))

    def test_actor_is_named_where_its_channel_opens(self):
        lines = self.stage.tshark("-2", "-r", self.world, "-T", "fields", "-e", "_ws.col.Info")
        self.assertIn("[Ch 2 Actor open Pilot_C reliable", lines)
        self.assertIn("[Ch 5 Actor open Crate_C reliable", lines)
        self.assertIn("[Ch 4 Actor open Lamp_4 reliable", lines)

    def test_filters(self):
        """A filter on content fields finds the frames whose tree shows them, without a visible tree."""
        wanted = [frame for frame, packet in self.packets.items() if LABEL in packet.texts("block.class_path")]
        text = self.stage.tshark("-2", "-r", self.world, "-Y", f'uerudp.block.class_path == "{LABEL}"', "-T", "fields", "-e",
                                 "frame.number")
        self.assertEqual([int(line) for line in text.split()], wanted)
        self.assertTrue(wanted)

    def test_voice(self):
        packets = self.stage.packets(self.stage.copy(capture("voice")))
        spoken = [label for packet in packets.values() for label in labels(packet, "voice")]
        self.assertGreater(len(spoken), 5)
        self.assertRegex(spoken[0], r"^Voice packet of Sim, \d+ bytes$")

    def payloads(self):
        """Sizes of the payloads of crates and labels by frame, from uerudp's own fields."""
        wanted = {}
        crates = {channel for channel in range(3, 42) if channel % 4}
        for frame, packet in self.packets.items():
            for bunch in packet.protocol.iter("field"):
                if bunch.get("name") != "uerudp.bunch":
                    continue
                fields = [harness.Field(node, packet.origin) for node in bunch.iter("field")
                          if (node.get("name") or "").startswith("uerudp.")]
                channel = next(field.number() for field in fields if field.key == "bunch.channel")
                for block in bunch.iter("field"):
                    if block.get("name") != "uerudp.block":
                        continue
                    texts = {node.get("name").removeprefix("uerudp."): node.get("show") for node in block.iter("field")}
                    is_actor = texts["block.is_actor"] in ("1", "True")
                    size = len(texts.get("block.payload", "").replace(":", "")) // 2
                    if size and (texts.get("block.class_path") == LABEL if not is_actor else channel in crates):
                        wanted.setdefault(str(frame), []).append(str(size))
        return wanted

    def test_example_of_a_dissector_by_class(self):
        script = self.stage.copy(EXAMPLE)
        wanted = self.payloads()
        self.assertGreater(len(wanted), 10)
        for options in (["-2"], []):
            text = self.stage.tshark(*options, "-X", f"lua_script:{script}", "-r", self.world, "-Y", "crate", "-T", "fields",
                                     "-e", "frame.number", "-e", "crate.size")
            got = {line.split("\t")[0]: line.split("\t")[1].split(",") for line in text.splitlines()}
            self.assertEqual({frame: sorted(sizes) for frame, sizes in got.items()},
                             {frame: sorted(sizes) for frame, sizes in wanted.items()}, options)


if __name__ == "__main__":
    harness.main()
