#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Everything that the plugin shows of a generated game equals what the game intended, bit by bit, without expert items."""
import collections
import json
import os
import subprocess
import unittest

import harness


def packed(number):
    """The bits of a packed integer as (value, count)."""
    value, count = 0, 0
    while True:
        group, number = number & 127, number >> 7
        value |= (group << 1 | (number != 0)) << count
        count += 8
        if number == 0:
            return value, count


def properties_of(event):
    """The properties of a payload as (value, count): no checksum, handles with values, handle 0."""
    value, count = 0, 1
    for handle, bits, text in event["values"]:
        for part, length in packed(handle), (int.from_bytes(bytes.fromhex(text), "little"), bits):
            value, count = value | part << count, count + length
    return value, count + 8


class Game(unittest.TestCase):
    def generate(self, generation):
        stage = self.enterContext(harness.Stage())
        path = os.path.join(stage.path, "game.pcapng")
        subprocess.run([os.environ["UERUDP_PROGRAM"], "generate", "game", "--generation", generation, "--duration=4",
                        "--output", path], check=True, stderr=subprocess.DEVNULL, timeout=harness.TIMEOUT_S)
        os.chmod(path, 0o644)
        self.packets = stage.packets(path, options=("-o", f"uerudp.generation:{generation}")).values()
        with open(os.path.join(stage.path, "game.sent.json"), encoding="utf-8") as file:
            self.sent = json.load(file)

    def events(self, kind):
        return [event for event in self.sent["game"] if event["event"] == kind]

    def check_properties(self):
        """Each block with properties is an update, in the order of sending; calls may follow the properties."""
        blocks = []
        for packet in self.packets:
            for block in packet.groups("block"):
                fields = {field.key: field for field in block}
                if fields["block.has_rep_layout"].number() and fields["block.first_handle"].number() != 0:
                    blocks.append((int.from_bytes(fields["block.payload"].payload(), "little"),
                                   fields["block.first_handle"].number()))
        updates = self.events("values")
        self.assertEqual(len(blocks), len(updates))
        for (payload, handle), event in zip(blocks, updates):
            value, count = properties_of(event)
            self.assertEqual((payload & ((1 << count) - 1), handle), (value, event["values"][0][0]))

    def check_calls(self):
        """A field that is shown is a call that was sent. Most are: where several lengths of the index fit, none is shown."""
        indices = {(function["name"], entry["path"]): function["index"]
                   for entry in self.sent["classes"] for function in entry["functions"]}
        sent = collections.Counter((indices[event["function"], event["class"]], event["bits"], event["parameters"])
                                   for event in self.events("call"))
        shown = collections.Counter((fields["field.index"].number(), fields["field.payload_bits"].number(),
                                     fields["field.payload"].payload().hex() if "field.payload" in fields else "")
                                    for packet in self.packets for group in packet.groups("field")
                                    for fields in [{field.key: field for field in group}])
        self.assertFalse(shown - sent)
        self.assertGreater(shown.total(), sent.total() / 2)

    def check_names(self):
        """The ids and paths of spawned actors, classes of sub-objects, and exports."""
        classes = {entry["path"] for entry in self.sent["classes"]}
        spawned = {number for packet in self.packets for number in packet.numbers("actor.guid")}
        for event in self.events("actor"):
            self.assertIn(event["guid"], spawned)
        for packet in self.packets:
            for path in packet.texts("actor.archetype_path") + packet.texts("block.class_path"):
                self.assertIn(path.replace("Default__", ""), classes)

    def test_generations(self):
        for generation in ("4.18", "4.22", "4.25", "5.1", "5.5", "5.8"):
            with self.subTest(generation):
                self.generate(generation)
                severities = {text for packet in self.packets for name, text in packet.sentences
                              if name == "_ws.expert.severity"}
                self.assertEqual(severities, {"Severity level: Chat"}) # the generation
                self.assertFalse([packet.frame for packet in self.packets if packet.all("content.opaque")])
                self.check_properties()
                self.check_calls()
                self.check_names()


if __name__ == "__main__":
    harness.main()
