#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Follow shows every message of the chosen channel, whole, in both directions, and nothing else."""
import re
import unittest

import decoded
import harness
import messages

NAMES = ("close-reasons", "login", "two-clients")
CLIENT_TO_SERVER = 1


class Follow(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stage = harness.Stage()
        cls.addClassCleanup(cls.stage.__exit__)
        cls.paths = {name: cls.stage.copy(decoded.path_of(name)) for name in NAMES}
        cls.messages = {name: messages.of(path) for name, path in cls.paths.items()}
        cls.series = re.search(r"TShark \(Wireshark\) (\d+)\.(\d+)", cls.stage.tshark("--version"))

    def follow(self, name, stream, *options, mode="raw", sub_stream=""):
        return self.stage.tshark("-2", "-q", "-r", self.paths[name], *options, "-z",
                                 f"follow,uerudp,{mode},{stream}{sub_stream}")

    def records(self, text):
        """(direction, bytes) of each line behind the names of both nodes; what the second node sent is indented."""
        lines = text[text.index("Node 1:"):].splitlines()[1:]
        return [(1 + line.startswith("\t"), bytes.fromhex(line.strip())) for line in lines if not line.startswith("=")]

    def wanted(self, name, stream, channels):
        return [(m.direction, m.data) for m in self.messages[name] if m.stream == stream and m.channel in channels]

    def test_control_channel_is_the_default(self):
        for name in NAMES:
            with self.subTest(name):
                wanted = self.wanted(name, 0, {0})
                self.assertGreater(len(wanted), 5)
                self.assertEqual(self.records(self.follow(name, 0)), wanted)

    def test_preference(self):
        for channels, chosen in (("3", {3}), ("2-4,6", {2, 3, 4, 6}), ("0-32767", set(range(32768)))):
            with self.subTest(channels):
                text = self.follow("close-reasons", 0, "-o", f"uerudp.follow_channel:{channels}")
                self.assertEqual(self.records(text), self.wanted("close-reasons", 0, chosen))

    def test_streams(self):
        first, second = (self.records(self.follow("two-clients", stream)) for stream in (0, 1))
        self.assertEqual(first, self.wanted("two-clients", 0, {0}))
        self.assertEqual(second, self.wanted("two-clients", 1, {0}))
        self.assertNotEqual(first, second)

    def test_nodes(self):
        client, server = (decoded.connections(self.paths["login"])[0][end] for end in ("client", "server"))
        text = self.follow("login", 0, mode="ascii")
        self.assertIn(f"Node 0: {client}\n", text)
        self.assertIn(f"Node 1: {server}\n", text)

    def test_sub_stream(self):
        if (int(self.series[1]), int(self.series[2])) < (4, 4):
            self.skipTest("followers of plugins have sub-streams from Wireshark 4.4 on")
        for channel in (0, 3):
            text = self.follow("close-reasons", 0, sub_stream=f",{channel}")
            self.assertEqual(self.records(text), self.wanted("close-reasons", 0, {channel}))


if __name__ == "__main__":
    harness.main()
