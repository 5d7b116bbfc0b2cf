#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What generate's actor channels say, read again by the rules of the specification (5.4 to 5.7), in Python."""
import json
import pathlib
import tempfile
import unittest

import uerudp


class Bits:
    def __init__(self, bunch):
        self.value, self.left = int.from_bytes(bytes.fromhex(bunch["data"]), "little"), bunch["data_bits"]

    def take(self, count):
        assert count <= self.left, "too short"
        value, self.value, self.left = self.value & ((1 << count) - 1), self.value >> count, self.left - count
        return value

    def packed(self):
        group = self.take(8)
        return group >> 1 | (self.packed() << 7 if group & 1 else 0)

    def text(self):
        return bytes(self.take(8) for _ in range(self.take(32)))[:-1].decode()

    def bounded(self, bound):
        value, mask = 0, 1
        while value + mask < bound:
            value += self.take(1) * mask
            mask *= 2
        return value


def read_reference(bits, paths):
    """An exported object (5.4.1), whose path is kept by its id."""
    guid = bits.packed()
    if guid == 0:
        return ""
    flags = bits.take(8)
    assert flags in (5, 7)
    outer = read_reference(bits, paths)
    paths[guid] = f"{outer}.{bits.text()}"
    bits.take(32)
    return paths[guid]


def read_exports(bits, paths):
    assert bits.take(1) == 0
    for _ in range(bits.take(32)):
        read_reference(bits, paths)
    assert bits.left == 0


def read_vector(bits, netver):
    if not bits.take(1):
        return None
    assert netver < 13 or bits.take(1)
    if netver < 23:
        width = bits.bounded(24) + 2
        return tuple((bits.take(width) - (1 << (width - 1))) / 10 for _ in range(3))
    width = bits.take(6)
    assert bits.take(1)
    raw = [bits.take(width) for _ in range(3)]
    return tuple((value - (value >> (width - 1) << width)) / 10 for value in raw)


def read_actor(bits, netver):
    """Actor, archetype, level and location of an open (5.6)."""
    actor = bits.packed()
    if actor % 2 == 1:
        return actor, None, None, None
    archetype = bits.packed()
    level = bits.packed() if netver >= 5 else None
    location = read_vector(bits, netver)
    if bits.take(1):
        for _ in range(3):
            if bits.take(1):
                bits.take(16)
    assert read_vector(bits, netver) is None and read_vector(bits, netver) is None
    return actor, archetype, level, location


def read_blocks(bits):
    """Whether each block has properties (5.7)."""
    kinds = []
    while bits.left > 0:
        kinds.append(bits.take(1))
        assert bits.take(1) == 1
        bits.take(bits.packed())
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
            for bunch in datagram.get("bunches") or datagram.get("items", []): # of old engines: acks, too
                if bunch.get("channel", 0) >= 2:
                    self.take(bunch, datagram["direction"], netver)

    def take(self, bunch, direction, netver):
        """Parts: exports first, then all of the message, which is small."""
        bits = Bits(bunch)
        if bunch["has_exports"]:
            read_exports(bits, self.paths)
            return
        if bunch["has_mapped"]:
            self.assertEqual([101], [bits.packed() for _ in range(bits.take(16))])
        if bunch["partial"] or bunch.get("open"):
            self.actors.append(read_actor(bits, netver))
        self.kinds[direction] |= set(read_blocks(bits))

    def test_generations(self):
        for generation, netver in (("4.18", 0), ("4.22", 10), ("4.25", 13), ("5.1", 30), ("5.5", 36)):
            with self.subTest(generation):
                self.read(generation, netver)
                self.assertEqual(".Default__Crate_C", self.paths[101].removeprefix("./Game/Actors/Crate"))
                self.assertEqual("./Game/Maps/Sim.Sim.PersistentLevel.Lamp_4", self.paths[1009])
                self.assertGreater(len(set(self.actors)), 40) # some channels opened again
                for actor, archetype, level, location in self.actors:
                    if actor % 2 == 1:
                        self.assertIn(actor, self.paths)
                    else:
                        self.assertEqual((101, 3 if netver >= 5 else None), (archetype, level))
                        self.assertEqual(88.5, location[2])
                self.assertEqual({1, 0}, self.kinds[2]) # the server's: properties, and RPCs
                self.assertEqual({0}, self.kinds[1])    # the client's: RPCs


if __name__ == "__main__":
    unittest.main()
