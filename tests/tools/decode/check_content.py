#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""decode --content prints the simulated actor content and voice, reassembled from fragments."""
import json
import pathlib
import tempfile
import unittest

import uerudp

RELEASES = ("4.13", "4.18", "4.19", "4.20", "4.22", "4.25", "5.1", "5.4", "5.5", "5.8")
CRATE = "/Game/Actors/Crate.Default__Crate_C"
PILOT = "/Game/Actors/Pilot.Default__Pilot_C"
SHIP = "/Game/Actors/Ship.Default__Ship_C"
LEVEL = "/Game/Maps/Sim.Sim:PersistentLevel"


def bunches(lines):
    for datagram in map(json.loads, lines):
        for bunch in datagram.get("bunches") or datagram.get("items", []):
            yield datagram, bunch


def decode(*arguments):
    return uerudp.run("decode", "--json", "--content", *arguments).stdout.splitlines()


class Generated(unittest.TestCase):
    def generate(self, *arguments):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()) if hasattr(self, "enterContext")
                              else tempfile.mkdtemp())
        path = folder / "a.pcapng"
        uerudp.run("generate", *arguments, "--duration=4", "--output", path)
        return path

    def contents(self, path):
        """(datagram, bunch, message) of each message, which must be completely decoded."""
        for datagram, bunch in bunches(decode(path)):
            for message in bunch.get("content", []):
                self.assertFalse({"opaque", "fault"} & set(message), message)
                yield datagram, bunch, message


class World(Generated):
    def check_actor(self, channel, actor, has_level):
        if "archetype" not in actor:
            self.assertRegex(actor["path"], rf"^{LEVEL}\.Lamp_\d$")
            return
        kind = actor["archetype_path"]
        self.assertIn(kind, (PILOT, SHIP, CRATE))
        self.assertEqual(LEVEL if has_level else None, actor.get("level_path"))
        place, x = actor["location"], actor["location"]["x"]
        index = int(x // 100)  # among the actors of its class
        self.assertEqual((index * 100 + {PILOT: 10, SHIP: 20, CRATE: 30}[kind], 88.5), (x, place["z"]))
        self.assertAlmostEqual(place["y"], -x / 2, 6)
        self.assertEqual({"x": 1.5, "y": 1.5, "z": 1.5} if kind == CRATE and index % 2 == 1 else None, actor.get("scale"))
        self.assertEqual({"x": 12, "y": -6, "z": 0} if kind == SHIP and index % 4 == 1 else None, actor.get("velocity"))
        self.assertEqual(index * 22.5 if kind == SHIP else 0, (actor.get("rotation") or {}).get("yaw", 0))

    def block_forms(self, block, direction):
        if block["is_actor"]:
            return "actor"
        if block.get("is_destroy") or block.get("class") == 0:
            return "destroyed"
        if block.get("stably_named"):
            self.assertRegex(block["path"], LEVEL + r"\.Lamp_\d+\.Light$")
            return "stable"
        self.assertEqual("/Game/Actors/Label.Label_C", block["class_path"])
        return "created"

    def test_every_release(self):
        for release in RELEASES:
            with self.subTest(release):
                path = self.generate("game", "--generation", release, "--capture-at=sender", "--loss=0.05")
                actors, forms = set(), {1: set(), 2: set()}
                for datagram, bunch, message in self.contents(path):
                    if "actor" in message:
                        self.check_actor(bunch["channel"], message["actor"], release >= "4.20")
                        actors.add((bunch["channel"], message["actor"]["guid"]))
                    for block in message.get("blocks", []):
                        forms[datagram["direction"]].add(self.block_forms(block, datagram["direction"]))
                self.assertGreaterEqual(len(actors), 31)
                self.assertEqual({"actor", "stable", "created", "destroyed"}, forms[2])
                self.assertEqual({"actor"}, forms[1])

    def test_payloads_are_in_the_data(self):
        """The content of a bunch that is not partial is inside the bits of its data."""
        path = self.generate("game", "--capture-at=sender")
        checked = 0
        for datagram, bunch in bunches(uerudp.run("decode", "--json", "--content", "--bits", path).stdout.splitlines()):
            for message in bunch.get("content", []):
                if "frames" in message or "blocks" not in message:
                    continue
                self.assertIn("block.payload", [place[0] for place in datagram["bits"]])
                checked += 1
        self.assertGreater(checked, 100)

    def test_encode_ignores_it(self):
        path = self.generate("game")
        lines = b"\n".join(decode(path))
        self.assertEqual(uerudp.run("encode", "-", data=lines).stdout,
                         uerudp.run("encode", "-", data=uerudp.run("decode", "--json", path).stdout).stdout)

    def test_text_and_columns(self):
        path = self.generate("game", "--capture-at=sender")
        text = uerudp.run("decode", "--content", path).stdout.decode()
        self.assertIn(f"[Archetype path: {CRATE}]", text)
        self.assertRegex(text, r"Content, reassembled from frames \d+")
        table = uerudp.run("decode", "--content", "--fields=actor.archetype_path,actor.location.x", path).stdout.decode()
        self.assertRegex(table, rf"(?m)^.*{CRATE}.*\t.*330\.0")
        self.assertNotIn("Content", uerudp.run("decode", path).stdout.decode())

    def test_goes_with(self):
        for other in ("--quiet", "--events=-", "--redact"):
            self.assertIn(b"--content", uerudp.run("decode", "--content", other, "/dev/null", status=2).stderr)


class Hostile(unittest.TestCase):
    """Names that a hostile sender chose."""

    def export(self, name):
        bits = [(0, 1), (1, 32), (5 << 1, 8), (1, 8), (0, 8), (len(name) + 1, 32), (int.from_bytes(name, "little"), 8 * len(name) + 8)]
        value = length = 0
        for number, width in bits:
            value |= number << length
            length += width
        data = value.to_bytes(-(-length // 8), "little").hex()
        return [{"generation": "5.5", "packet": {"seq": 9 + number, "ack": 1, "history_words": 1, "history": [0]},
                 "bunches": [{"channel": 0, "reliable": True, "ch_seq": 5, "name_hardcoded": True, "name_index": 255, "open": True,
                              "control": True, "has_exports": True, "data_bits": length, "data": data}]} for number in range(3)]

    def test_names(self):
        name = b'/Game/"quoted"\\and\nlines\x1b[31m\x9bm\xe9'
        packets = [(50000, 7777, packet) for packet in uerudp.encode(self.export(name))]
        capture = uerudp.pcap(packets)
        arguments = ("--content", "--generation=5.5", "-")
        lines = uerudp.run("decode", "--json", *arguments, data=capture, status=None).stdout.splitlines()
        paths = [thing["full_path"] for _, bunch in bunches(lines) for message in bunch.get("content", [])
                 for thing in message["exports"]["objects"]]
        self.assertEqual([name.decode("latin-1")], paths)
        for form in ([], ["--fields=export.full_path"]):
            text = uerudp.run("decode", *form, *arguments, data=capture, status=None).stdout.decode()
            self.assertIn('/Game/"quoted"\\\\and\\nlines\\x1b[31m\\x9bm\u00e9', text)


class Info(Generated):
    def test_channels_have_actors(self):
        path = self.generate("game", "--capture-at=sender")
        info = json.loads(uerudp.run("info", "--json", path).stdout.splitlines()[0])
        actors = {channel["channel"]: channel["actor"] for channel in info["channels"]}
        self.assertEqual((None, "/Game/Actors/Pilot.Pilot_C", "/Game/Actors/Ship.Ship_C"),
                         tuple(actors[channel] for channel in (0, 2, 3)))
        self.assertIn(f"{LEVEL}.Lamp_1", actors.values())
        self.assertRegex(uerudp.run("info", path).stdout.decode(), r"(?m)^ +2 Actor .* Pilot_C$")


class Voice(Generated):
    def test_every_release(self):
        for release in RELEASES:
            with self.subTest(release):
                packets = [packet for _, _, message in self.contents(self.generate("voice", "--generation", release))
                           for packet in message.get("voice", [])]
                self.assertGreater(len(packets), 50)
                for packet in packets:
                    self.assertRegex(packet["sender"], "^Sim-[0-3]$")
                    self.assertEqual(packet["length_bytes"], len(packet["data"]) // 2)
                    self.assertEqual(1200 + 100 * int(packet["sender"][-1]) if release >= "4.25" else None, packet.get("amplitude"))
                    self.assertEqual(16 * packet["length_bytes"] if release >= "4.19" else None, packet.get("samples"))


class Parts(Generated):
    def test_large_messages(self):
        """Calls of 20,000 bits and large voice packets, with lost and retransmitted parts."""
        path = uerudp.ROOT / "captures/big-bunch.pcapng"
        whole = [message for _, _, message in self.contents(path) if len(message.get("frames", [])) > 2]
        bits = [block["payload_bits"] for message in whole for block in message["blocks"]]
        self.assertEqual([20100], [size // 100 * 100 for size in bits])
        for message in whole:
            self.assertEqual(len(set(message["frames"])), len(message["frames"]))


if __name__ == "__main__":
    uerudp.main()
