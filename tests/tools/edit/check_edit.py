#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp edit: only what the options select changes."""
import gzip
import json
import os
import pathlib
import struct
import tempfile
import unittest

import blocks
import uerudp

CAPTURES = sorted(pathlib.Path("captures").glob("*.pcapng"))
GAME = pathlib.Path("captures/ue5.5.pcapng")


def edit(data, *options, status=0):
    """The output of edit for the bytes of a file."""
    return uerudp.run("edit", *options, "-", "-", data=data, status=status).stdout


def complaint(data, *options):
    """The error of edit, which must have no output."""
    result = uerudp.run("edit", *options, "-", os.devnull, data=data, status=2)
    return result.stderr.decode()


def decode(data, *options, status=0):
    return uerudp.decode(*options, "-", data=data, status=status)


def frames_of(path):
    """The Ethernet frames of a capture."""
    return [packet.data for packet in blocks.packets(path.read_bytes())]


def exotic():
    """A file with both byte orders, several link types and clocks, old and unknown blocks, and a game."""
    game = frames_of(GAME)
    out = blocks.section(opts=blocks.options("<", (2, b"hardware"), (blocks.COMMENT, b"written by")))
    out += blocks.interface(opts=blocks.options("<", (2, b"eth0"), (blocks.TSRESOL, b"\x09"), (14, bytes(8))))
    out += blocks.interface(link=blocks.RAW, snap=64, opts=blocks.options("<", (blocks.TSRESOL, b"\x94")))
    out += blocks.block("<", blocks.NAMES, struct.pack("<HH", 1, 9) + b"\x0a\0\0\x01host\0\0\0\0" + bytes(4))
    out += blocks.block("<", blocks.SECRETS, struct.pack("<II", 0x544C534B, 6) + b"secret")
    for number, data in enumerate(game[:8]):
        opts = blocks.options("<", (blocks.FLAGS, b"\1\0\0\0"), (2988, b"\0\0\0\0custom"), end=number % 2 == 0)
        out += blocks.enhanced(data, 1700000000_000000000 + number * 1000, opts=opts)
        out += blocks.block("<", blocks.CUSTOM, struct.pack("<I", 4711) + bytes(range(number)))
    out += blocks.block("<", blocks.UNKNOWN, bytes(300_000))
    out += blocks.enhanced(b"\x45" + bytes(30), 1 << 40, number=1, length=90)
    out += blocks.simple(game[8]) + blocks.obsolete(game[9], 1700000001_000000000)
    out += blocks.block("<", blocks.STATISTICS, struct.pack("<IIIHHQ", 0, 1, 2, 4, 8, 99) + bytes(4))
    rest = b"".join(blocks.enhanced(data, 1700000002_000000 + number, ">") for number, data in enumerate(game[10:]))
    rest = blocks.interface(">", opts=blocks.options(">", (blocks.COMMENT, b"second"))) + rest
    return out + blocks.section(">", length=len(rest)) + rest


class Identity(unittest.TestCase):
    def test_captures(self):
        for path in CAPTURES:
            self.assertEqual(edit(path.read_bytes()), path.read_bytes(), path)
        self.assertGreater(len(CAPTURES), 5)

    def test_exotic_blocks(self):
        data = exotic()
        self.assertEqual(len(decode(data)), len(frames_of(GAME)))
        self.assertEqual(edit(data), data)
        self.assertEqual(edit(gzip.compress(data)), data)

    def test_classic(self):
        game = [(1700000000 + number, 999_999, data) for number, data in enumerate(frames_of(GAME))]
        for order in "<>":
            for magic, extra in ((0xA1B2C3D4, b""), (0xA1B23C4D, b""), (0xA1B2CD34, b"\1\0\0\0\2\0\3\0")):
                data = blocks.classic(order, magic, game, extra=extra)
                self.assertEqual(edit(data), data)
                self.assertEqual(edit(gzip.compress(data)), data)

    def test_no_packets(self):
        for data in (blocks.section(), blocks.section(">") + blocks.interface(">"), blocks.classic("<", 0xA1B2C3D4, [])):
            self.assertEqual(edit(data), data)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out.pcapng"
            uerudp.run("edit", GAME, out)
            self.assertEqual(out.read_bytes(), GAME.read_bytes())
            uerudp.run("edit", "--frames", "1", out, out)
            self.assertEqual(len(blocks.packets(out.read_bytes())), 1)
            self.assertEqual(os.listdir(folder), ["out.pcapng"])


class Rules(unittest.TestCase):
    def setUp(self):
        self.data = uerudp.run("encode", "captures/example-5.5.jsonl").stdout
        self.before = blocks.packets(self.data)

    def assert_same(self, packet, number):
        self.assertEqual(packet.raw, self.before[number - 1].raw)

    def test_drop(self):
        after = blocks.packets(edit(self.data, "--rule", "drop frame=5,7,9-10"))
        self.assertEqual(len(after), len(self.before) - 4)
        notes = [comment for packet in after for comment in packet.comments]
        self.assertEqual(notes, ["dropped 4 before, frames 5 to 10"])
        for packet in after:
            if not packet.comments:
                self.assertIn(packet.raw, [one.raw for one in self.before])

    def test_drop_of_one_direction(self):
        """The comment on a dropped packet is on the next packet of its direction."""
        before = decode(self.data)
        up = [one["frame"] for one in before if one["direction"] == 1]
        after = edit(self.data, "--rule", f"drop frame={up[3]}")
        notes = [number for number, packet in enumerate(blocks.packets(after), 1) if packet.comments]
        self.assertEqual(notes, [up[4] - 1])
        after = edit(self.data, "--rule", f"drop frame={up[3]},{up[4]},{up[5]}")
        notes = [comment for packet in blocks.packets(after) for comment in packet.comments]
        self.assertEqual(notes, [f"dropped 3 before, frames {up[3]} to {up[5]}"])

    def test_duplicate(self):
        after = blocks.packets(edit(self.data, "--rule", "duplicate=2 frame=6"))
        self.assertEqual(len(after), len(self.before) + 2)
        self.assertEqual({packet.data for packet in after[5:8]}, {self.before[5].data})
        self.assertEqual([packet.comments for packet in after[5:8]],
                         [["duplicated 2 times"], ["copy of the one before"], ["copy of the one before"]])

    def test_delay(self):
        """A delayed packet is later in the file and in its time; the other packets stay."""
        after = blocks.packets(edit(self.data, "--rule", "delay=75.5 frame=3"))
        ticks = [packet.ticks for packet in after]
        late = self.before[2].ticks + 75_500_000
        self.assertEqual(ticks, sorted(ticks))
        place = ticks.index(late)
        self.assertGreater(place, 2)
        self.assertEqual(after[place].data, self.before[2].data)
        self.assertEqual(after[place].comments, ["delayed 75.5 ms"])
        self.assertEqual([packet.raw for packet in after[:place] + after[place + 1:]],
                         [packet.raw for packet in self.before[:2] + self.before[3:]])

    def test_delay_ends_with_its_section(self):
        """Interface numbers of the next section are other interfaces."""
        data = self.data + self.data
        after = edit(data, "--rule", "delay=1e9 frame=2")
        kinds = [kind for kind, _, _ in blocks.split(after)]
        self.assertEqual(kinds, [kind for kind, _, _ in blocks.split(data)])
        self.assertEqual(blocks.packets(after)[len(self.before) - 1].comments, ["delayed 1e+09 ms"])

    def test_reorder(self):
        up = [one["frame"] for one in decode(self.data) if one["direction"] == 1]
        after = blocks.packets(edit(self.data, "--rule", f"reorder frame={up[2]}"))
        place = [packet.data for packet in after].index(self.before[up[2] - 1].data)
        self.assertEqual(after[place - 1].raw, self.before[up[3] - 1].raw)
        self.assertEqual(after[place].ticks, self.before[up[3] - 1].ticks)
        self.assertEqual(after[place].comments, ["moved after the next"])
        last = blocks.packets(edit(self.data, "--rule", f"reorder frame={up[-1]}"))
        self.assertEqual(len(last), len(self.before))
        self.assertEqual(sorted(packet.data for packet in last), sorted(packet.data for packet in self.before))

    def test_reorder_of_all_packets(self):
        after = blocks.packets(edit(self.data, "--rule", "reorder dir=c2s"))
        up = [index for index, one in enumerate(decode(self.data)) if one["direction"] == 1]
        order = [packet.data for packet in after if packet.data in {self.before[index].data for index in up}]
        was = [self.before[index].data for index in up]
        pairs = [was[index ^ 1] if index ^ 1 < len(was) else was[index] for index in range(len(was))]
        self.assertEqual(order, pairs)

    def test_corrupt(self):
        after = blocks.packets(edit(self.data, "--rule", "corrupt=3 frame=6"))
        turned = int.from_bytes(after[5].data, "little") ^ int.from_bytes(self.before[5].data, "little")
        payload = turned >> 42 * 8
        comment = after[5].comments[0].removeprefix("corrupted bits ")
        self.assertEqual({int(bit) for bit in comment.split(", ")},
                         {bit for bit in range(payload.bit_length()) if payload >> bit & 1})
        self.assertEqual(payload.bit_count(), 3)
        self.assertTrue(blocks.has_valid_checksums(after[5].data[14:]))
        for number, packet in enumerate(after, 1):
            if number != 6:
                self.assert_same(packet, number)

    def test_corrupt_field(self):
        after = edit(self.data, "--rule", "corrupt@packet.seq max=1")
        changed = [(old, new) for old, new in zip(decode(self.data), decode(after)) if old != new]
        old, new = changed[0][0]["packet"], changed[0][1]["packet"]
        self.assertEqual((old["seq"] ^ new["seq"]).bit_count(), 1)
        self.assertEqual({key for key in old if old[key] != new.get(key)} - {"id", "acked", "nacked"}, {"seq"})

    def test_pass(self):
        self.assertEqual(edit(self.data, "--rule", "pass", "--rule", "drop"), self.data)

    def test_conditions(self):
        """Each condition selects packets by a value that decode prints."""
        objects = decode(self.data)

        def has(one, test):
            return any(test(bunch) for bunch in one.get("bunches", []))

        ids = sorted(one["packet"]["id"] for one in objects if "packet" in one)
        cases = {
            "dir=s2c": lambda one: one["direction"] == 2,
            "stream=0": lambda one: True,
            "frame=3-6": lambda one: 3 <= one["frame"] <= 6,
            f"id={ids[2]}-{ids[4]}": lambda one: one.get("packet", {}).get("id") in range(ids[2], ids[4] + 1),
            f"seq={ids[2] % 16384}": lambda one: one.get("packet", {}).get("seq") == ids[2] % 16384,
            "channel=0": lambda one: has(one, lambda bunch: bunch["channel"] == 0),
            "channel=0 kind=open": lambda one: has(one, lambda b: b["channel"] == 0 and b.get("open")),
            "ch_seq=168": lambda one: has(one, lambda bunch: bunch.get("ch_seq") == 168),
            "reliable": lambda one: has(one, lambda bunch: bunch["reliable"]),
            "unreliable": lambda one: has(one, lambda bunch: not bunch["reliable"]),
            "kind=handshake": lambda one: one["is_handshake"],
            "kind=open": lambda one: has(one, lambda bunch: bunch.get("open")),
            "message=hello": lambda one: has(one, lambda b: any("hello" in m for m in b.get("messages", []))),
            "size=40-60": lambda one: 40 <= one["length"] <= 60,
            "time=0.05-0.2": lambda one: 50_000_000 <= int(one["time"]) - int(objects[0]["time"]) <= 200_000_000,
        }
        for text, test in cases.items():
            left = {packet.data for packet in blocks.packets(edit(self.data, "--rule", f"drop {text}"))}
            dropped = [one["frame"] for one, packet in zip(objects, self.before) if packet.data not in left]
            self.assertEqual(dropped, [one["frame"] for one in objects if test(one)], text)
            self.assertTrue(dropped, text)

    def test_copies(self):
        """copy=N selects retransmissions; first copies stay."""
        login = next(one for one in decode(self.data) if one.get("bunches"))
        objects = []
        for number, ch_seq in enumerate((5, 6, 5, 7, 5)):
            one = json.loads(json.dumps(login))
            one = {key: one[key] for key in ("generation", "packet", "bunches", "session_id", "client_id")}
            one["packet"] = dict(one["packet"], seq=100 + number)
            one["bunches"][0].update(ch_seq=ch_seq)
            objects.append(json.dumps(one))
        data = uerudp.run("encode", data="\n".join(objects).encode()).stdout
        for text, left in (("copy=1", [5, 5]), ("copy=2-", [5, 6, 7]), ("copy=3", [5, 6, 5, 7])):
            after = decode(edit(data, "--rule", f"drop reliable {text}"))
            self.assertEqual([one["bunches"][0]["ch_seq"] for one in after], left)

    def test_chance_and_count(self):
        def count(*options):
            return len(blocks.packets(edit(self.data, *options)))

        total = len(self.before)
        self.assertEqual(count("--rule", "drop every=5"), total - total // 5)
        self.assertEqual(count("--rule", "drop max=3"), total - 3)
        self.assertEqual(count("--rule", "drop first=3"), total - 3)
        self.assertEqual(count("--rule", "drop p=1"), 0)
        some = [edit(self.data, "--rule", "drop p=0.5", "--seed", str(seed)) for seed in (1, 1, 2)]
        self.assertEqual(some[0], some[1])
        self.assertNotEqual(some[0], some[2])
        self.assertEqual(some[0], edit(self.data, "--rule", "drop p=0.5"))

    def test_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "rules"
            path.write_text("# comment\npass frame=1 # stays\n\ndrop frame=1-3\n")
            after = blocks.packets(edit(self.data, "--rules", path))
            self.assertEqual(len(after), len(self.before) - 2)
            path.write_text("drop\nexplode\n")
            self.assertIn(f"{path}:2: 'explode'", complaint(self.data, "--rules", path))

    def test_report(self):
        text = uerudp.run("edit", "--rule", "drop frame=1-2", GAME, os.devnull).stderr.decode()
        self.assertIn("drop frame=1-2: 2 datagrams", text)

    def test_nothing_is_selected(self):
        for options in (["--stream=9"], ["--frames=9000"], ["--from=frame:9000"]):
            text = uerudp.run("edit", *options, GAME, os.devnull).stderr.decode()
            self.assertIn("no packet is selected", text, options)
        self.assertNotIn("selected", uerudp.run("edit", "--stream=0", GAME, os.devnull).stderr.decode())

    def test_only_the_block_changes(self):
        """In a file with all kinds of blocks one block changes and keeps its options."""
        data = exotic()
        after = edit(data, "--rule", "corrupt frame=3", "--rule", "corrupt frame=10", "--rule", "corrupt frame=12")
        old, new = list(blocks.split(data)), list(blocks.split(after))
        self.assertEqual(len(old), len(new))
        changed = [(a, b) for a, b in zip(old, new) if a != b]
        self.assertEqual([kind for (kind, _, _), _ in changed],
                         [blocks.ENHANCED, blocks.SIMPLE, blocks.SECTION, blocks.ENHANCED])
        old, new = (blocks.Packet(*block[1:]) for block in changed[0])
        self.assertEqual([option for option in new.options if option[0] != blocks.COMMENT], old.options)
        self.assertEqual((old.ticks, old.length), (new.ticks, new.length))
        length = struct.unpack_from(">q", changed[2][1][2], 16)[0]
        self.assertEqual(length, -1)

    def test_obsolete_packet(self):
        after = edit(exotic(), "--rule", "delay=1 frame=11")
        old, new = (next(blocks.Packet(order, raw) for kind, order, raw in blocks.split(data) if kind == blocks.OBSOLETE)
                    for data in (exotic(), after))
        self.assertEqual(new.ticks, old.ticks + 1_000_000)
        self.assertEqual(new.comments, ["delayed 1 ms"])
        self.assertEqual(new.raw[8:12], old.raw[8:12])

    def test_a_cut_datagram(self):
        """A rule cannot change bytes that the snap length cut."""
        frames = frames_of(GAME)
        data = blocks.section() + blocks.interface() + b"".join(
            blocks.enhanced(frame[:60], number * 1000, length=len(frame)) for number, frame in enumerate(frames))
        before, after = blocks.packets(data), blocks.packets(edit(data, "--rule", "corrupt=64"))
        for old, new in zip(before, after):
            self.assertEqual((len(new.data), new.length), (len(old.data), old.length))
            self.assertNotEqual(new.data[42:], old.data[42:])
            self.assertEqual(new.data[:14], old.data[:14])


if __name__ == "__main__":
    uerudp.main()
