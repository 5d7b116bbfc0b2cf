#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The EngineNetVer of a connection, which no packet states, is found by its actor spawns."""
import json
import pathlib
import tempfile
import unittest

import uerudp

# Generation, EngineNetVer, and spawns that may be read wrongly before three have shown it.
LATER = (("4.25", 22, 1), ("5.0", 23, 0))
# The form of 18 and 26 differs from that of 14 in sub-objects only, which their own messages show.
LOWEST = (("4.22", 10, 0), ("4.24", 13, 0), ("4.25", 14, 0), ("5.0", 18, 0), ("5.0", 26, 0), ("5.1", 30, 0), ("5.4", 33, 0))


def without_trial(content):
    """A message without what says how it was found."""
    if isinstance(content, dict):
        return {key: without_trial(value) for key, value in content.items() if key not in ("netver", "guess")}
    return [without_trial(value) for value in content] if isinstance(content, list) else content


class Netver(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def generate(self, generation, netver, scenario="game", *options):
        path = self.folder / f"{scenario}-{generation}-{netver}.pcapng"
        uerudp.run("generate", scenario, "--no-sidecar", "--duration=4", f"--generation={generation}", f"--netver={netver}",
                   *options, "--output", path)
        return path

    @staticmethod
    def contents(path, *options):
        """(frame, content) of each message."""
        return [(line["frame"], bunch["content"]) for line in uerudp.decode("--content", *options, path)
                for bunch in line.get("bunches", ()) if "content" in bunch]

    def compare(self, path, netver, *options):
        """Decodes without and with the setting; returns the contents without, and the numbers of spawns that differ."""
        found, given = self.contents(path, *options), self.contents(path, f"--netver={netver}")
        self.assertEqual(len(given), len(found))
        self.assertEqual([frame for frame, _ in given], [frame for frame, _ in found])
        differ = [frame for (frame, one), (_, other) in zip(found, given) if without_trial(one) != without_trial(other)]
        self.assertGreater(sum('"actor"' in json.dumps(content) for _, content in given), 20)
        return found, len(differ)

    def test_spawns(self):
        """Every spawn is read as with --netver."""
        for generation, netver, early in LATER + LOWEST:
            with self.subTest(generation=generation, netver=netver):
                _, differ = self.compare(self.generate(generation, netver), netver)
                self.assertLessEqual(differ, early)

    def test_given_generation(self):
        _, differ = self.compare(self.generate("5.0", 23), 23, "--generation=5.0")
        self.assertEqual(0, differ)

    def test_stated(self):
        """Messages of a connection that was found state it, and not as a guess; those of the lowest state nothing."""
        for generation, netver, _ in LATER:
            text = json.dumps(self.contents(self.generate(generation, netver))[-400:])
            self.assertIn(f'"netver": {netver}', text)
            self.assertNotIn(f'"netver": {netver}, "guess"', text)
        self.assertNotIn('"netver"', json.dumps(self.contents(self.generate("4.25", 14))))

    def test_classes(self):
        """info --bandwidth names the same classes with the same numbers."""
        path = self.generate("5.0", 23)
        found, given = (json.loads(uerudp.run("info", "--json", "--bandwidth", *options, path, status=None).stdout)
                        for options in ((), ("--netver=23",)))
        self.assertIn("Ship_C", json.dumps(given["bandwidth"]))
        self.assertEqual(given["bandwidth"], found["bandwidth"])


if __name__ == "__main__":
    uerudp.main()
