#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No datagram has more tree items than the preference allows; what is left out is counted, and the rest is as ever."""
import pathlib
import re
import unittest

import harness

CAPTURE = pathlib.Path(__file__).resolve().parents[2] / "captures/ue5.5.pcapng"
LIMIT = 12
MORE = re.compile(r"(\d+) more items not shown")


def items_of(packet):
    """The items that the limit is about: those of the bits, and of their context."""
    names = [node.get("name") or "" for node in packet.protocol.iter("field")]
    return [name for name in names if name.startswith("uerudp.") and
            not name.startswith(("uerudp.analysis", "uerudp.bunch.reliable_id", "uerudp.expert", "uerudp.fault",
                                 "uerudp.canonical"))]


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = harness.Stage()
        cls.addClassCleanup(cls.stage.__exit__)
        cls.path = cls.stage.copy(CAPTURE)
        cls.whole = cls.stage.packets(cls.path)

    def test_few(self):
        limited = self.stage.packets(self.path, {"max_items": LIMIT})
        self.assertEqual(set(limited), set(self.whole))
        many = 0
        for frame, packet in limited.items():
            wanted = items_of(self.whole[frame])
            texts = [node.get("showname") or "" for node in packet.node.iter("field")]
            said = max((int(found.group(1)) for found in map(MORE.search, texts) if found), default=0)
            self.assertEqual(items_of(packet), wanted[:LIMIT], f"frame {frame}")
            self.assertEqual(said, max(0, len(wanted) - LIMIT), f"frame {frame}")
            many += said != 0
        self.assertGreater(many, 20)

    def test_stock(self):
        """Ordinary packets are far from it; a limit of nothing is one item."""
        self.assertNotIn("uerudp.expert.items", sum((packet.experts for packet in self.whole.values()), []))
        for packet in self.stage.packets(self.path, {"max_items": 0}).values():
            self.assertEqual(len(items_of(packet)), 1)

    def test_the_line_is_whole(self):
        line = ("-T", "fields", "-e", "frame.number", "-e", "_ws.col.Info", "-e", "_ws.col.info")
        self.assertEqual(self.stage.tshark("-r", self.path, "-o", f"uerudp.max_items:{LIMIT}", *line),
                         self.stage.tshark("-r", self.path, *line))


if __name__ == "__main__":
    harness.main()
