#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every whole message becomes a file with its bytes, under a name that says where it was."""
import os
import re
import unittest

import decoded
import harness
import messages

NAMES = ("close-reasons", "login", "legacy", "two-clients", "big-bunch")
SENDERS = ("unknown", "client", "server")
NAME = re.compile(r"stream(\d+)-frame(\d+)-(\d+)-(\w+)-channel(\d+)-(\w+)-(\d+)bits\.bin")


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = harness.Stage()
        cls.addClassCleanup(cls.stage.__exit__)

    def exported(self, path):
        """The files of a capture: name to content."""
        folder = os.path.join(self.stage.home, os.path.basename(path) + ".objects")
        self.stage.tshark("-2", "-q", "-r", path, "--export-objects", f"uerudp,{folder}")
        files = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                files[name] = file.read()
        return files

    def test_every_message_is_a_file(self):
        for capture in NAMES:
            with self.subTest(capture):
                path = self.stage.copy(decoded.path_of(capture))
                wanted = sorted((m.stream, m.frame, m.item, SENDERS[m.direction], m.channel, m.bits, m.data)
                                for m in messages.of(path))
                got = []
                for name, content in self.exported(path).items():
                    stream, frame, item, sender, channel, _, bits = NAME.fullmatch(name).groups()
                    got.append((int(stream), int(frame), int(item), sender, int(channel), int(bits), content))
                self.assertEqual(sorted(got), wanted)


if __name__ == "__main__":
    harness.main()
