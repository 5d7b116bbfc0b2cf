#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Names from the wire break no line and control no terminal, wherever they are shown."""
import re
import unittest

import decoded
import harness

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
ESCAPE = 0x1B << 1  # characters of the exports begin at the second bit of a byte


def steering():
    """The beginning of a capture in which channel, actor and a class path have names with control characters."""
    objects = decoded.datagrams(decoded.path_of("big-bunch"))[:13]
    exports = next(bunch for bunch in objects[12]["bunches"] if bunch["has_exports"])
    pilot = "Pilot".encode().translate(bytes(byte << 1 & 255 for byte in range(256))).hex()
    assert exports["data"].count(pilot) == 2
    exports["data"] = exports["data"].replace(pilot, f"{ESCAPE:02x}{pilot[2:]}")
    name = {"channel": 9, "open": True, "control": True, "reliable": True, "ch_seq": 391, "name_hardcoded": False,
            "name_text": "Ac\x1b[31mtor\nnext\u009bline", "data": "00"}
    objects[12]["bunches"].append(name)
    return objects


class Names(unittest.TestCase):
    def setUp(self):
        self.stage = self.enterContext(harness.Stage())
        self.path = self.stage.encode("names.pcapng", steering())

    def shown(self, *options):
        """The output of tshark. No generation fits such names, so it is a preference."""
        return self.stage.tshark("-2", "-o", "uerudp.generation:5.5", "-r", self.path, *options)

    def test_list(self):
        lines = self.shown().splitlines()
        self.assertEqual(len(lines), 13)
        self.assertIn("Ch 9 Ac?[31mtor?next??line open", lines[12])
        self.assertIn("Ch 2 ?ilot_C open", lines[12])

    def test_everywhere(self):
        trees = [part for tree in ("uerudp_channels,tree", "expert") for part in ("-z", tree)]
        for options, name in ((["-V", "-O", "uerudp"], "Ch 9 Ac?[31mtor"), (["-V", "-x"], "Ch 9 Ac?[31mtor"),
                              (["-q", *trees], " Ac?[31mtor?next??line ")):
            with self.subTest(options):
                text = self.shown(*options)
                self.assertIn(name, text)
                self.assertEqual(CONTROL.findall(text), [])


if __name__ == "__main__":
    harness.main()
