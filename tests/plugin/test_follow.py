#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Follow shows every message of the selected channel, complete, in both directions, and nothing else."""
import json
import re

import decoded
import harness
import messages

NAMES = ("close-reasons", "login", "legacy", "two-clients", "big-bunch")


class Follow(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.paths = {name: cls.stage.copy(decoded.path_of(name)) for name in NAMES}
        cls.messages = {name: messages.of(path) for name, path in cls.paths.items()}
        version = re.search(r"TShark \(Wireshark\) (\d+)\.(\d+)", cls.stage.tshark("--version"))
        cls.has_sub_streams = tuple(map(int, version.groups())) >= (4, 4)

    def test_filter_without_a_tree(self):
        """sharkd asks how to follow a frame without passing its tree."""
        text = harness.request(1, "load", file=self.paths[NAMES[0]]) + harness.request(2, "frame", frame=9)
        answer = json.loads(self.stage.run(["sharkd", "-"], stdin=text).stdout.splitlines()[-1])
        filters = {name: text for name, text, *_ in answer["result"]["fol"]}  # from 4.4 on with the stream number
        self.assertRegex(filters["UERUDP"], "^uerudp.stream == 0")

    def follow(self, name, what, *options, mode="raw"):
        return self.stage.tshark("-2", "-q", "-r", self.paths[name], *options, "-z", f"follow,uerudp,{mode},{what}")

    def follow_channel(self, name, stream, channel, mode="raw"):
        """Wireshark 4.4 changed the way to name a channel."""
        if self.has_sub_streams:
            return self.follow(name, f"{stream},{channel}", mode=mode)
        return self.follow(name, stream, "-o", f"uerudp.follow_channel:{channel}", mode=mode)

    def ends(self, name):
        connection = decoded.connections(self.paths[name])[0]
        return connection["client"], connection["server"]

    def records(self, text):
        """(direction, bytes) of each line after the names of both nodes; lines of the second node are indented."""
        lines = text[text.index("Node 1:"):].splitlines()[1:]
        return [(1 + line.startswith("\t"), bytes.fromhex(line.strip())) for line in lines if not line.startswith("=")]

    def wanted(self, name, stream, channels):
        return [(m.direction, m.data) for m in self.messages[name] if m.stream == stream and m.channel in channels]

    def test_every_channel(self):
        for name in NAMES:
            for stream, channel in sorted({(m.stream, m.channel) for m in self.messages[name]})[:5]:
                with self.subTest(name, stream=stream, channel=channel):
                    wanted = self.wanted(name, stream, {channel})
                    self.assertTrue(wanted)
                    self.assertEqual(self.records(self.follow_channel(name, stream, channel)), wanted)

    def test_control_channel_is_the_default(self):
        text = self.follow("login", ",".join(self.ends("login")))
        self.assertEqual(self.records(text), self.wanted("login", 0, {0}))

    def test_preference(self):
        ends = ",".join(self.ends("close-reasons"))
        for channels, chosen in (("3", {3}), ("2-4,6", {2, 3, 4, 6}), ("0-32767", set(range(32768)))):
            with self.subTest(channels):
                text = self.follow("close-reasons", ends, "-o", f"uerudp.follow_channel:{channels}")
                self.assertEqual(self.records(text), self.wanted("close-reasons", 0, chosen))

    def test_nodes(self):
        client, server = self.ends("login")
        text = self.follow_channel("login", 0, 0, mode="ascii")
        self.assertIn(f"Node 0: {client}\n", text)
        self.assertIn(f"Node 1: {server}\n", text)


if __name__ == "__main__":
    harness.main()
