#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Payloads are data sources, and a dissector of another plugin gets the payloads of the channel that it registered for."""
import collections
import os
import re

import decoded
import harness

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "channel.lua")
BYTES_SHOWN_MIN = 24  # with spaces, by Wireshark 4.0
FIELDS = ["frame.number", "testactor.size", "testactor.first"]


class Payload(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = cls.stage.copy(harness.recording("utcp-clean"))
        cls.script = cls.stage.copy(SCRIPT)

    def actor_payloads(self):
        """Payloads of actor channels that are not fragments: (frame, bytes, first byte) of bunches that name their
        channel, and of bunches whose channel an earlier one named."""
        named, unnamed, actors = [], [], set()
        for frame, packet in self.stage.packets(self.path).items():
            for fields in packet.groups("bunch"):
                texts = {field.key: field for field in fields}
                if texts["bunch.partial"].number() != 0 or texts["bunch.data_bits"].number() == 0:
                    continue
                payload, channel = texts["bunch.data"].payload(), texts["bunch.channel"].number()
                entry = (frame, len(payload), payload[0])
                if "bunch.channel_name" not in texts:
                    unnamed += [entry] if channel in actors else []
                elif texts["bunch.channel_name"].text == "Actor":
                    actors.add(channel)
                    named.append(entry)
        return collections.Counter(named), collections.Counter(unnamed)

    def dissected(self, *options):
        """The payloads that the script's dissector got."""
        columns = [part for name in FIELDS for part in ("-e", name)]
        text = self.stage.tshark(*options, "-X", f"lua_script:{self.script}", "-r", self.path, "-Y", "testactor",
                                 "-T", "fields", *columns)
        lines = [line.split("\t") for line in text.splitlines()]
        return collections.Counter((int(frame), int(size), int(first, 0)) for frame, sizes, firsts in lines
                                   for size, first in zip(sizes.split(","), firsts.split(","), strict=True))

    def test_lua_dissector(self):
        named, unnamed = self.actor_payloads()
        self.assertGreater(named.total(), 100)
        self.assertGreater(unnamed.total(), 10)
        self.assertEqual(self.dissected("-2"), named + unnamed)

    def test_in_one_pass(self):
        """A bunch that does not name its channel is passed on only when the generation is known."""
        named, unnamed = self.actor_payloads()
        got = self.dissected()
        self.assertTrue(named <= got <= named + unnamed)
        self.assertGreater((got - named).total(), 0)

    def test_dissector_that_throws(self):
        """A C dissector that reads beyond the end does not affect the next message."""
        script = self.stage.put("dns.lua", b'DissectorTable.get("uerudp.channel"):add("Actor", Dissector.get("dns"))')
        path = self.stage.copy(decoded.path_of("loss-burst"))
        text = self.stage.tshark("-2", "-X", f"lua_script:{script}", "-r", path, "-V", "-O", "uerudp",
                                 "-Y", "frame.number == 16")
        self.assertEqual(text.count("[Malformed Packet: DNS]"), 5, text)

    def test_payload_is_aligned_in_a_view_of_its_own(self):
        text = self.stage.tshark("-r", self.path, "-Y", "uerudp.bunch.data_bits == 80", "-x")
        views = re.findall(r"(?m)^Payload, (.* 80 bits) \(10 bytes\):\n0000  ((?:[0-9a-f]{2} ){10})", text)
        self.assertTrue(views, text[:2000])
        packets = self.stage.packets(self.path)
        payloads = {field.payload().hex(" ") for packet in packets.values() for field in packet.all("bunch.data")}
        for _, content in views:
            self.assertIn(content.strip(), payloads)

    def test_labels_of_bytes(self):
        """The first bytes (their number depends on Wireshark), in the form that the preference selects."""
        for preference, between in (("FALSE", ""), ("TRUE", " ")):
            option = ("-o", f"protocols.display_byte_fields_with_spaces:{preference}")
            labels = [(between.join(f"{byte:02x}" for byte in field.payload()), field.label)
                      for packet in self.stage.packets(self.path, options=option).values()
                      for field in packet.all("bunch.data") if field.bytes != 0]
            least = len(between.join(["00"] * BYTES_SHOWN_MIN))
            self.assertEqual({len(digits) > least for digits, _ in labels}, {True, False})
            for digits, label in labels:
                mark, _, shown = label.removeprefix("Data").partition(": ")
                shown = shown.rstrip("\N{HORIZONTAL ELLIPSIS} ")
                self.assertIn(mark, ("", " [\N{HORIZONTAL ELLIPSIS}]"))
                self.assertEqual(shown, digits[:len(shown)])
                self.assertGreaterEqual(len(shown), min(len(digits), least))


if __name__ == "__main__":
    harness.main()
