#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare uerudp decode with an independent decoder on every capture: every key, bit positions and lengths."""
import hashlib
import json
import unittest

import uerudp
import recordings

NAMES = json.loads((uerudp.ROOT / "tests" / "reference/names.json").read_text())
DIRECTIONS = {"C2S": 1, "S2C": 2}
# Absent on the wire without the bit before it; the independent decoder has 0 then.
IMPLIED = ("bunch.open", "bunch.close", "bunch.dormant")


def lookup(datagram, key):
    """The value of a dotted key; None where it is absent."""
    for part in key.split("."):
        if not isinstance(datagram, dict):
            return None
        datagram = datagram.get(part)
    return datagram


class Bits:
    """The bit list of a datagram, by field and by item."""

    def __init__(self, bits):
        self.fields = {}
        self.items = []
        for key, bit, length in bits:
            self.fields.setdefault(key, []).append((bit, length))
            starts = key == "legacy.is_ack" or (key == "bunch.control" and not self.continues_item())
            if starts:
                self.items.append({})
            if self.items and key.startswith(("bunch.", "legacy.")):
                self.items[-1][key] = (bit, length)

    def continues_item(self):
        return bool(self.items) and list(self.items[-1]) == ["legacy.is_ack"]

    def begin(self, index):
        return next(iter(self.items[index].values()))[0]


class Comparison(unittest.TestCase):
    def setUp(self):
        self.compared = 0
        self.unmapped = set()

    def same(self, where, expected, actual):
        self.compared += 1
        self.assertEqual(expected, actual, where)

    def value(self, where, path, expected, element, prefix=""):
        """Compare one expected value with the field of its name."""
        name = NAMES["captures"].get(path)
        if name is None:
            self.fail(f"{where}: {path} is mapped to no field")
        self.assertFalse(name.startswith("not "), f"{where}: {path} is not compared")
        actual = lookup(element, name.removeprefix(prefix))
        if isinstance(actual, bool) or (actual is None and name in IMPLIED):
            actual = int(bool(actual))
        if path.endswith(".timestamp"):
            self.same(where + path, True, abs(actual - expected) < 1e-4)
        elif path.endswith(".dir"):
            self.same(where + path, DIRECTIONS[expected], actual)
        elif path.endswith(".custom"):
            self.same(where + path, int(expected, 16), int.from_bytes(bytes.fromhex(actual), "little"))
        elif path.endswith(".name"):
            self.same(where + path, expected, f"#{actual}")
        else:
            self.same(where + path, expected, actual)

    def bunch(self, where, expected, actual, bits, index):
        fields = bits.items[index]
        data_bit, data_bits = fields["bunch.data"]
        digest = hashlib.sha1(bytes.fromhex(actual["data"])).hexdigest()[:16]
        special = {"bit": bits.begin(index), "hdr_bits": data_bit - bits.begin(index), "data_sha1": digest}
        self.same(where + "length of data", expected["data_bits"], data_bits)
        for key, value in expected.items():
            if key in special:
                self.same(where + key, value, special[key])
            else:
                self.value(where, f"frames[].bunches[].{key}", value, actual, "bunch.")

    def ack(self, where, expected, actual, bits, index):
        for key, value in expected.items():
            if key == "bit":
                self.same(where + key, value, bits.begin(index))
            else:
                self.value(where, f"frames[].acks[].{key}", value, actual, "legacy.")

    def items(self, where, expected, datagram, bits):
        actual = datagram.get("items", datagram.get("bunches", []))
        self.same(where + "items with bits", len(actual), len(bits.items))
        acks = [i for i, item in enumerate(actual) if item.get("is_ack")]
        bunches = [i for i, item in enumerate(actual) if not item.get("is_ack")]
        self.same(where + "acks", len(expected.get("acks", [])), len(acks))
        self.same(where + "bunches", len(expected.get("bunches", [])), len(bunches))
        for index, wanted in zip(acks, expected.get("acks", [])):
            self.ack(f"{where}items[{index}].", wanted, actual[index], bits, index)
        for index, wanted in zip(bunches, expected.get("bunches", [])):
            self.bunch(f"{where}bunches[{index}].", wanted, actual[index], bits, index)

    def handshake(self, where, expected, datagram, bits):
        for key, value in expected.items():
            if key == "random_bits":
                self.same(where + key, value, bits.fields["handshake.random"][0][1])
            elif key == "left_bits":
                self.same(where + key, value, 0)
            else:
                self.value(where, f"frames[].hs.{key}", value, datagram)

    def frame(self, where, expected, datagram):
        bits = Bits(datagram["bits"])
        terminators = [bit for bit, _ in bits.fields["terminator"]]
        special = {"frame": datagram["frame"], "len": datagram["length"], "payload_bits": terminators[-1],
                   "netconn_bits_end": terminators[0]}
        for key, value in expected.items():
            if key in special:
                self.same(where + key, value, special[key])
            elif key == "hs":
                self.handshake(where, value, datagram, bits)
            elif key == "history":
                self.same(where + key, [int(word, 16) for word in value], lookup(datagram, "packet.history"))
            elif key not in ("bunches", "acks"):
                self.value(where, f"frames[].{key}", value, datagram)
        self.items(where, expected, datagram, bits)

    def contiguous(self, where, datagram):
        """Fields cover every bit. Control messages are inside the data of their bunch."""
        at = 0
        for key, bit, length in datagram["bits"]:
            if not key.startswith("control."):
                self.assertEqual(at, bit, f"{where}{key} begins elsewhere")
                at = bit + length
        self.assertEqual(at, datagram["bits"][-1][1] + 1, where)
        self.assertLess(datagram["length"] * 8 - at, 8, f"{where}bits after the terminator")

    def test_expected(self):
        for name, path, settings in uerudp.captures():
            expected = json.loads(path.with_suffix(".expected.json").read_text())["frames"]
            datagrams = uerudp.decode("--bits", *settings, path)
            self.assertEqual(len(expected), len(datagrams), name)
            for wanted, datagram in zip(expected, datagrams):
                where = f"{name} frame {wanted['frame']} "
                self.frame(where, wanted, datagram)
                self.contiguous(where, datagram)
        print(f"{self.compared} values compared")
        self.assertGreater(self.compared, 100000)


class Replays(unittest.TestCase):
    """Packets of replays, which have no packet header."""

    def test_replays(self):
        if not recordings.has_shared():
            self.skipTest(recordings.skipped("replays"))
        generations = {"11": "4.23", "13": "4.24"}
        compared = 0
        for path in sorted(recordings.SHARED.glob("realdata/replay-*.json")):
            replay = json.loads(path.read_text())
            netver = replay["meta"]["engine"].split("EngineNetworkVersion ")[1].split()[0].rstrip(",;)")
            text = "\n".join(packet["hex"] for packet in replay["packets"]).encode()
            options = ["--hex", "--internal-ack", "--generation", generations[netver]]
            datagrams = uerudp.decode(*options, "-", data=text)
            self.assertEqual(len(replay["packets"]), len(datagrams))
            for packet, datagram in zip(replay["packets"], datagrams):
                compared += self.compare(packet, datagram)
            self.assertEqual([bytes.fromhex(packet["hex"]) for packet in replay["packets"]],
                             uerudp.encode(datagrams))
        self.assertGreater(compared, 1000)

    def compare(self, packet, datagram):
        bunches = datagram.get("bunches", [])
        self.assertEqual(len(packet["bunches"]), len(bunches))
        compared = 0
        for wanted, bunch in zip(packet["bunches"], bunches):
            for key, value in wanted.items():
                name = NAMES["replays"][f"packets[].bunches[].{key}"]
                actual = bunch.get(name.removeprefix("bunch."))
                if key == "name":
                    actual = f"#{actual}"
                elif isinstance(actual, bool) or (actual is None and name in IMPLIED):
                    actual = int(bool(actual))
                self.assertEqual(value, actual, f"{packet['hex']} {key}")
                compared += 1
        return compared


if __name__ == "__main__":
    uerudp.main()
