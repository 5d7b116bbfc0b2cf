#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every whole message is exported as a file with its bytes; the file name has its origin."""
import copy
import os
import re

import decoded
import harness
import messages

NAMES = ("close-reasons", "login", "legacy", "two-clients", "big-bunch")
SENDERS = ("unknown", "client", "server")
NAME = re.compile(r"stream(\d+)-frame(\d+)-(\d+)-(\w+)-channel(\d+)-(\w+)-(\d+)bits\.bin")


class Export(harness.StageCase):
    def exported(self, path):
        """The exported files of a capture: name to content."""
        folder = os.path.join(self.stage.home, os.path.basename(path) + ".objects")
        self.stage.tshark("-2", "-q", "-r", path, "--export-objects", f"uerudp,{folder}")
        files = {}
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                files[name] = file.read()
        return files

    def late_exports(self):
        """A login, and an actor spawn whose first fragment, the exports, arrives after the last."""
        objects = decoded.datagrams(decoded.path_of("big-bunch"))[:13]
        exports, last = [bunch for bunch in objects[12]["bunches"] if bunch["channel"] == 2]
        again = copy.deepcopy(objects[12])
        again["packet"]["seq"] += 1
        objects[12]["bunches"], again["bunches"] = [last], [exports]
        return self.stage.encode("late.pcapng", [*objects, again])

    def test_every_message_is_a_file(self):
        for capture in (*map(decoded.path_of, NAMES), self.late_exports()):
            with self.subTest(capture):
                path = self.stage.copy(capture)
                wanted = sorted((m.stream, m.frame, m.item, SENDERS[m.direction], m.channel, m.bits, m.data)
                                for m in messages.of(path))
                got = []
                for name, content in self.exported(path).items():
                    stream, frame, item, sender, channel, _, bits = NAME.fullmatch(name).groups()
                    got.append((int(stream), int(frame), int(item), sender, int(channel), int(bits), content))
                self.assertEqual(sorted(got), wanted)


if __name__ == "__main__":
    harness.main()
