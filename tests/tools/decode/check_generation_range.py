#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The range of generations with the same packet layout, which is printed until an actor spawn decides."""
import pathlib
import tempfile
import unittest

import uerudp

BOTH, OLDER, NEWER = "4.22 to 4.24", "4.22 to 4.23", "4.24"


def find(key, value):
    """The values of a key at any depth."""
    if isinstance(value, dict):
        yield from [value[key]] if key in value else []
        value = list(value.values())
    for member in value if isinstance(value, list) else []:
        yield from find(key, member)


class GenerationRange(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def generate(self, generation, scenario, *options):
        path = pathlib.Path(self.folder) / "game.pcapng"
        uerudp.run("generate", scenario, "--generation", generation, "--duration", "6", "--no-sidecar", "-o", path, *options)
        return path

    def check(self, path, wanted):
        """decode, info and trace print the same range."""
        self.assertIn(f", generation {wanted} (", uerudp.run("decode", "--quiet", path).stderr.decode())
        lines = uerudp.run("info", path, status=None).stdout.decode().split("\n")
        self.assertIn(f"generation {wanted} (", " ".join(lines[1].split()))
        self.assertIn(f'"generations":"{wanted}"', uerudp.run("trace", "-o", "-", path).stdout.decode())

    def test_without_spawns(self):
        for generation in ("4.22", "4.23", "4.24"):
            self.check(self.generate(generation, "refused"), BOTH)

    def test_spawn_vectors_decide(self):
        for options in ((), ("--seed", "2"), ("--seed", "3", "--loss", "0.1")):
            self.check(self.generate("4.22", "game", *options), OLDER)
            self.check(self.generate("4.24", "game", *options), NEWER)

    def test_neighbours_stay(self):
        for generation, wanted in (("4.21", "4.20 to 4.21"), ("4.25", "4.25 to 5.0")):
            self.check(self.generate(generation, "game"), wanted)

    def test_given(self):
        for generation, wanted in (("4.23", OLDER), ("4.24", NEWER)):
            path = self.generate(generation, "game")
            summary = uerudp.run("decode", "--quiet", "--generation", generation, path).stderr.decode()
            self.assertIn(f", generation {wanted} (given as a setting)", summary)

    def test_actors_are_decoded(self):
        """Location, scale and velocity of the spawned actors have the quantised bit from 4.24 on."""
        for generation in ("4.22", "4.24"):
            datagrams = uerudp.decode("--content", "--generation", generation, self.generate(generation, "game"))
            actors = [actor for actor in find("actor", datagrams) if actor.get("has_location")]
            self.assertTrue(actors)
            self.assertEqual({generation == "4.24"}, {"location_quantized" in actor for actor in actors})


if __name__ == "__main__":
    uerudp.main()
