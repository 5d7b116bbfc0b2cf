#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Content of whole messages in the tree: the values that were sent, with one-line labels, and payloads of blocks for
dissectors that registered for a class."""
import collections
import os
import re
import unittest

import decoded
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


RELIABLE = {"reliable": True, "name_hardcoded": True, "name_index": 102}
OPEN, CLOSE = {"control": True, "open": True}, {"control": True, "close": True}
PARTIAL = {"partial": True, "partial_initial": False, "partial_exports_final": False, "partial_final": False}

# Bunches of packets after those that open channel 2 for Pilot_C and channel 3 for Ship_C, and their form in the column.
LATER = (
    ([{"channel": 3}], "[Ch 3 Ship_C 8 bits]"),
    ([{"channel": 3, "ch_seq": 834} | RELIABLE | CLOSE], "[Ch 3 Ship_C close reliable #834 8 bits]"),
    ([{"channel": 3}], "[Ch 3 Ship_C 8 bits]"),  # sent before its sender knew of the close
    # Another actor, which is not known before its message is complete:
    ([{"channel": 3, "ch_seq": 835, "partial_initial": True} | RELIABLE | OPEN],
     "[Ch 3 Actor open reliable #835 first part 8 bits]"),
    ([{"channel": 3, "ch_seq": 836} | RELIABLE], "[Ch 3 Actor reliable #836 part 8 bits]"),
    ([{"channel": 3, "ch_seq": 834} | RELIABLE | CLOSE], "[Ch 3 Ship_C close reliable #834 8 bits]"),
    # Equal bunches one after another are one entry:
    ([{"channel": 2}] * 5, "[Ch 2 Pilot_C \u00d75 40 bits]"),
    ([{"channel": 2, "ch_seq": 834 + i} | RELIABLE for i in range(3)], "[Ch 2 Pilot_C \u00d73 reliable #834-836 24 bits]"),
    ([{"channel": 2, "ch_seq": 837} | RELIABLE, {"channel": 2}, {"channel": 4}, {"channel": 2}, {"channel": 2}],
     "[Ch 2 Pilot_C reliable #837 8 bits] [Ch 2 Pilot_C 8 bits] [Ch 4 Ship_C 8 bits] [Ch 2 Pilot_C \u00d72 16 bits]"),
    ([{"channel": 2, "ch_seq": 838} | RELIABLE, {"channel": 2, "ch_seq": 840} | RELIABLE],
     "[Ch 2 Pilot_C reliable #838 8 bits] [Ch 2 Pilot_C reliable #840 8 bits]"),
    ([{"channel": 40}], "[Ch 40 Actor 8 bits]"),  # opened before the capture began
)


def later():
    """The beginning of game, and a packet of the server for each entry."""
    objects = decoded.datagrams(decoded.path_of("game"))[:14]
    for number, (bunches, _) in enumerate(LATER):
        parts = [{"data": "00"} | (PARTIAL if bunch.get("ch_seq") in (835, 836) and bunch["channel"] == 3 else {}) | bunch
                 for bunch in bunches]
        packet = {"seq": 6981 + number, "ack": 6712, "history": [15], "has_info": False}
        objects.append({key: objects[13][key] for key in ("src", "dst", "direction", "generation")} |
                       {"packet": packet, "bunches": parts})
    return objects


class Reused(unittest.TestCase):
    def test_later_bunches(self):
        """Bunches have the name of their actor, also after the channel is closed and opened for another."""
        stage = self.enterContext(harness.Stage())
        path = stage.encode("later.pcapng", later())
        for options in ([], ["-2"]):
            lines = stage.info(path, "-o", "uerudp.generation:5.5", *options)
            shown = [line[line.index("[Ch"):] for frame, line in lines.items() if frame > 14]
            self.assertEqual(shown, [line for _, line in LATER])


class Content(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.world = cls.stage.copy(capture("game"))
        cls.packets = cls.stage.packets(cls.world)

    def every(self, kind):
        return [label for packet in self.packets.values() for label in labels(packet, kind)]

    def test_labels_of_exports(self):
        objects = self.every("export")
        self.assertIn("Object 131: /Game/Actors/Crate.Default__Crate_C", objects)
        self.assertIn("Object 1019: /Game/Maps/Sim.Sim:PersistentLevel.Lamp_4.Light", objects)
        self.assertIn("Exports: 2 names", self.every("exports"))

    def test_labels_of_blocks(self):
        blocks = self.every("block")
        for wanted in (r"Block: actor, properties, \d+ bits", r"Block: actor, \d+ bits",
                       r"Block: object \d+ of class Label_C(, properties)?, \d+ bits",
                       r"Block: object 10\d\d /Game/Maps/Sim.Sim:PersistentLevel.Lamp_\d+.Light(, properties)?, \d+ bits"):
            self.assertTrue([label for label in blocks if re.fullmatch(wanted, label)], wanted)

    def test_labels_of_actors(self):
        """Actor spawns in fragmented messages."""
        actors = self.every("actor")
        self.assertIn("Actor 98 Crate_C at (30.0, -15.0, 88.5)", actors)
        self.assertIn("Actor 1017 Lamp_4", actors)
        self.assertIn("Must be mapped: 1 id", self.every("mapped"))

    def test_every_bunch_names_its_actor(self):
        lines = self.stage.info(self.world, "-2")
        self.assertIn("[Ch 2 Pilot_C open reliable", lines[14])
        counts = collections.Counter(re.findall(r"\[Ch (\d+) (\S+)", "".join(lines.values())))
        wanted = {"0": "Control", "2": "Pilot_C"} | {str(number): "Ship_C" if number < 19 else "Crate_C" if number < 27
                                                     else f"Lamp_{number - 27}" for number in range(3, 33)}
        self.assertEqual(dict(counts.keys()), wanted)
        self.assertGreater(min(counts.values()), 1)
        found = self.stage.tshark("-2", "-r", self.world, "-Y", "uerudp.analysis.class == \"Lamp_1\"", "-T", "fields", "-e",
                                  "frame.number")
        self.assertEqual([int(frame) for frame in found.split()],
                         [frame for frame, line in lines.items() if "[Ch 28 Lamp_1" in line])
        trees = self.stage.tshark("-2", "-r", self.world, "-V")
        self.assertIn("Bunch: Ch 5 Ship_C, 103 bits", trees)
        self.assertIn("[Reassembled message, Ch 5 Ship_C, 2 fragments, 209 bits]", trees)

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
        talkers = [re.fullmatch(r"Voice packet of (Sim-[0-3]), \d+ bytes", label)[1] for label in spoken]
        self.assertEqual({"Sim-0", "Sim-1", "Sim-2", "Sim-3"}, set(talkers))
        text = self.stage.tshark("-r", self.stage.copy(capture("voice")), "-Y", 'uerudp.voice.sender == "Sim-2"', "-T", "fields",
                                 "-e", "frame.number")
        self.assertEqual([int(line) for line in text.split()],
                         [frame for frame, packet in packets.items() if "Sim-2" in packet.texts("voice.sender")])

    def payloads(self):
        """Sizes of the payloads of crates and labels by frame, from uerudp's own fields."""
        wanted = {}
        crates = {channel for channel in range(19, 27)}
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
        self.assertGreater(len(wanted), 8)
        for options in (["-2"], []):
            text = self.stage.tshark(*options, "-X", f"lua_script:{script}", "-r", self.world, "-Y", "crate", "-T", "fields",
                                     "-e", "frame.number", "-e", "crate.size")
            got = {line.split("\t")[0]: line.split("\t")[1].split(",") for line in text.splitlines()}
            self.assertEqual({frame: sorted(sizes) for frame, sizes in got.items()},
                             {frame: sorted(sizes) for frame, sizes in wanted.items()}, options)


if __name__ == "__main__":
    harness.main()
