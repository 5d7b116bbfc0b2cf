#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The actor channels of generate, decoded in Python by the rules of protocol.md 23."""
import json
import pathlib
import struct
import tempfile
import unittest

import uerudp
from game_client import Bits, read_packed_vector


def read_reference(bits, paths):
    """An exported object (5.4.1); `paths` gets its path by id."""
    guid = bits.packed()
    if guid == 0:
        return ""
    flags = bits.read(8)
    assert flags in (5, 7)
    outer = read_reference(bits, paths)
    paths[guid] = f"{outer}.{bits.text()}"
    bits.read(32)
    return paths[guid]


def read_exports(bits, paths):
    assert bits.read(1) == 0
    for _ in range(bits.read(32)):
        read_reference(bits, paths)
    assert bits.left == 0


def read_vector(bits, netver):
    if not bits.read(1):
        return None
    if netver >= 13 and not bits.read(1):
        width, form = (64, "<d") if netver >= 22 else (32, "<f")
        return tuple(struct.unpack(form, bits.read(width).to_bytes(width // 8, "little"))[0] for _ in range(3))
    return read_packed_vector(bits, netver)


def read_actor(bits, netver, channel):
    """Actor, archetype, level, location, scale and velocity of an open (5.6); None after the end of the data."""
    actor = bits.packed()
    if actor % 2 == 1 or bits.left == 0:
        return actor, None
    archetype = bits.packed()
    level = bits.packed() if netver >= 5 else None
    location = read_vector(bits, netver)
    if bits.read(1):
        for _ in range(3):
            if bits.read(1):
                bits.read(16)
    scale, velocity = read_vector(bits, netver), read_vector(bits, netver)
    if channel == 2: # a player controller's player index, from 41 on with its owner (5.6.3)
        assert bits.read(8) == 0
        bits.read(32 if netver >= 41 else 0)
    return actor, (archetype, level, location, scale, velocity)


def read_blocks(bits, netver, from_server):
    """(whether it has properties, form) of each block (5.7)."""
    kinds = []
    while bits.left > 0:
        has_layout, is_actor, form = bits.read(1), bits.read(1), "actor"
        if not is_actor:
            bits.packed()
            form = "stable" if from_server and bits.read(1) else "client's" if not from_server else "created"
        if form == "created" and netver >= 30 and bits.read(1):
            bits.read(8)
            form = "destroyed"
        elif form == "created":
            if bits.packed() == 0:
                form = "deleted"
            elif netver >= 18 and not bits.read(1):
                bits.packed()
                form = "inner"
        if form not in ("destroyed", "deleted"):
            bits.read(bits.packed())
        kinds.append((has_layout, form))
    return kinds


class Actors(unittest.TestCase):
    def read(self, generation, netver):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.pcapng"
            uerudp.run("generate", "actor-world", "--generation", generation, "--capture-at=sender", "--loss=0.05",
                       "--duration=2", "--output", path)
            lines = uerudp.run("decode", "--json", path).stdout.splitlines()
        self.paths, self.actors, self.kinds = {}, [], {1: set(), 2: set()}
        for datagram in map(json.loads, lines):
            for bunch in datagram.get("bunches") or datagram.get("items", []): # up to 4.21 acks are among them
                if bunch.get("channel", 0) >= 2:
                    self.read_bunch(bunch, datagram["direction"], netver)

    def read_bunch(self, bunch, direction, netver):
        """Read the exports and then the message, which fits into one bunch."""
        bits = Bits.of(bunch["data"], bunch["data_bits"])
        if bunch["has_exports"]:
            read_exports(bits, self.paths)
            return
        if bunch["has_mapped"]:
            self.assertIn([bits.packed() for _ in range(bits.read(16))], ([101], [105]))
        if bunch["partial"] or bunch.get("open"):
            self.actors.append((bunch["channel"], read_actor(bits, netver, bunch["channel"])))
        self.kinds[direction] |= set(read_blocks(bits, netver, direction == 2))

    def check_actor(self, channel, actor, opening, netver):
        if opening is None:
            self.assertTrue(actor in self.paths or channel >= 42, channel) # spawned and destroyed before
            return
        archetype, level, location, scale, velocity = opening
        self.assertEqual((105 if channel == 2 else 101, 3 if netver >= 5 else None), (archetype, level))
        self.assertEqual(88.5, location[2])
        self.assertEqual((1.5, 1.5, 1.5) if channel % 8 == 3 else None, scale)
        self.assertEqual((12, -6, 0) if channel % 8 == 5 else None, velocity)

    def test_generations(self):
        for generation, netver in (("4.18", 0), ("4.22", 10), ("4.25", 13), ("5.1", 30), ("5.5", 36), ("5.8", 44)):
            with self.subTest(generation):
                self.read(generation, netver)
                self.assertEqual(".Default__Crate_C", self.paths[101].removeprefix("./Game/Actors/Crate"))
                self.assertEqual("./Game/Maps/Sim.Sim.PersistentLevel.Lamp_4.Light", self.paths[5009])
                self.assertGreater(len(set(self.actors)), 40) # some channels were reused
                for channel, (actor, opening) in self.actors:
                    self.check_actor(channel, actor, opening, netver)
                forms = {"stable", "created", "inner" if netver >= 18 else "created"}
                self.assertEqual({(flag, form) for flag in (0, 1) for form in forms | {"actor"}} |
                                 {(0, "destroyed" if netver >= 30 else "deleted")}, self.kinds[2])
                self.assertEqual({(0, "actor"), (0, "client's")}, self.kinds[1])


if __name__ == "__main__":
    uerudp.main()
