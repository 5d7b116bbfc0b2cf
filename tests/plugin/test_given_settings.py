#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Preferences that are wrong for a capture: a finding names what the first datagrams show, and every datagram is decoded
as it was asked for. Beside it, preferences that are right."""
import json
import re

import harness
import traffic

GENERATIONS = ("4.13", "4.20", "4.25", "5.1", "5.5")
HANDLERS = ("oodle", "aesgcm")
FINDING = "uerudp.finding.unreadable"
NOT_DECODED = re.compile(r"^\d+ packets were not decoded: ")


class GivenSettings(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.paths = {}
        for generation in GENERATIONS:
            data = traffic.program("generate", "game", "--duration=2", "--seed=3", f"--generation={generation}")
            cls.paths[generation] = cls.stage.put(f"{generation}.pcapng", data)

    def found(self, path, settings):
        """The sentences of the packets with the finding."""
        return self.stage.tshark("-2", "-r", path, "-Y", FINDING, *harness.preferences(settings), "-T", "fields",
                                 "-E", "separator=|", "-E", "aggregator=|", "-e", "_ws.expert.message")

    def sentence(self, path, key, value):
        """What info says, without the number of packets that it did not decode."""
        finding, = json.loads(traffic.program("info", "--json", f"--{key}={value}", path))["findings"]
        return NOT_DECODED.sub("", finding["text"])

    def test_wrong(self):
        for right, path in self.paths.items():
            for key, values in (("generation", GENERATIONS), ("handlers", HANDLERS)):
                for value in values:
                    if value != right:
                        found = self.found(path, {key: value}).strip().split("|")
                        self.assertEqual(1, found.count(self.sentence(path, key, value)), (right, value, found))

    def test_right(self):
        for right, path in self.paths.items():
            self.assertEqual("", self.found(path, {"generation": right}), right)

    def test_damaged(self):
        """Packets that match the setting follow, and no other setting matches the damaged ones."""
        frames = traffic.generate("game", "--duration=4", "--seed=3", "--generation=5.5").frames
        path = self.stage.put("damaged.pcapng", traffic.write(traffic.damaged_first(frames)))
        self.assertEqual("", self.found(path, {"generation": "5.5"}))


if __name__ == "__main__":
    harness.main()
