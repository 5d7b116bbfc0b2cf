#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Payloads are views of their own, and a dissector from elsewhere gets those of the channel it asks for."""
import os
import re
import unittest

import harness

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "channel.lua")
FIELDS = ["frame.number", "testactor.size", "testactor.first"]


class Payload(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        captures = {harness.capture_name(path): path for path in harness.shared_captures()}
        cls.stage = harness.Stage()
        cls.addClassCleanup(cls.stage.__exit__)
        cls.path = cls.stage.copy(captures["utcp-clean"])
        cls.script = cls.stage.copy(SCRIPT)

    def actor_payloads(self):
        """By frame, from our own fields: the payloads that name the actor channel and are no fragments."""
        wanted = {}
        for frame, packet in self.stage.packets(self.path).items():
            for fields in packet.groups("bunch"):
                texts = {field.key: field for field in fields}
                actor = "bunch.channel_name" in texts and texts["bunch.channel_name"].text == "Actor"
                if actor and texts["bunch.partial"].number() == 0 and texts["bunch.data_bits"].number() > 0:
                    payload = texts["bunch.data"].payload()
                    wanted.setdefault(str(frame), []).append((str(len(payload)), f"0x{payload[0]:02x}"))
        return wanted

    def test_lua_dissector(self):
        wanted = self.actor_payloads()
        self.assertGreater(len(wanted), 100)
        columns = [part for name in FIELDS for part in ("-e", name)]
        for options in (["-2"], []):
            text = self.stage.tshark(*options, "-X", f"lua_script:{self.script}", "-r", self.path, "-Y", "testactor",
                                     "-T", "fields", *columns)
            got = {}
            for line in text.splitlines():
                frame, sizes, firsts = line.split("\t")
                got[frame] = list(zip(sizes.split(","), firsts.split(",")))
            self.assertEqual(got, wanted)

    def test_payload_is_aligned_in_a_view_of_its_own(self):
        text = self.stage.tshark("-r", self.path, "-Y", "uerudp.bunch.data_bits == 80", "-x")
        views = re.findall(r"(?m)^Payload, (.* 80 bits) \(10 bytes\):\n0000  ((?:[0-9a-f]{2} ){10})", text)
        self.assertTrue(views, text[:2000])
        packets = self.stage.packets(self.path)
        payloads = {field.payload().hex(" ") for packet in packets.values() for field in packet.all("bunch.data")}
        for _, content in views:
            self.assertIn(content.strip(), payloads)


if __name__ == "__main__":
    harness.main()
