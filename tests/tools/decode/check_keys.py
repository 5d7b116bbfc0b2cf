#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Key logs: generate writes them beside encrypted captures, and decode and info decrypt with them."""
import collections
import json
import pathlib
import tempfile
import unittest

import uerudp

SCENARIO = uerudp.ROOT / "tests" / "support" / "two_keys.ini"
HANDLERS = "--handlers=aesgcm"
PORTS = (50000, 50001)


def fragments(bunch, step):
    """A reliable bunch as two fragments, the second with the channel sequence after that many."""
    data = bytes.fromhex(bunch["data"])
    partial = {key: value for key, value in bunch.items() if key not in ("messages", "data", "data_bits")} | {"partial": True}
    later = {key: value for key, value in partial.items() if key not in ("open", "close", "close_reason")}
    return [{**partial, "partial_initial": True, "partial_final": False, "data": data[:9].hex()},
            {**later, "control": False, "ch_seq": (bunch["ch_seq"] + step) % 1024, "partial_initial": False,
             "partial_final": True, "data": data[9:].hex()}]


class Keys(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.capture = cls.folder / "two.pcapng"
        uerudp.run("generate", SCENARIO, "--connections=2", "--output", cls.capture)
        cls.log = cls.folder / "two.keys"
        cls.keys = [line.split() for line in cls.log.read_text().splitlines() if not line.startswith("#")]

    @classmethod
    def put(cls, name, text):
        path = cls.folder / name
        path.write_text(text)
        return path

    def decrypted(self, *options):
        """The number of datagrams by (stream, key); key None: not decrypted."""
        lines = uerudp.decode(HANDLERS, *options, self.capture)
        encrypted = [line for line in lines if line.get("handler", {}).get("encrypted")]
        for line in encrypted:
            self.assertEqual("seq" in line.get("packet", {}), "key" in line["handler"])
        return collections.Counter((line["stream"], line["handler"].get("key")) for line in encrypted)

    def test_generate(self):
        self.assertEqual(len(self.keys), 2)
        self.assertNotEqual(self.keys[0][0], self.keys[1][0])
        hello = [line["bunches"][0]["messages"][0] for line in uerudp.decode(HANDLERS, self.capture)
                 if "bunches" in line and line["bunches"][0].get("messages", [{}])[0].get("type") == 0]
        self.assertEqual({message["hello"]["encryption_token"] for message in hello}, {key[2] for key in self.keys})
        uerudp.run("generate", "login", "--output", self.folder / "plain.pcapng")
        self.assertFalse((self.folder / "plain.keys").exists())

    def test_by_token(self):
        closed = self.decrypted()
        self.assertEqual(set(closed), {(0, None), (1, None)})
        both = self.decrypted("--key", self.log)
        self.assertEqual(both, {(i, f"line {i + 2} of two.keys"): closed[i, None] for i in (0, 1)})
        first = self.put("first.keys", "{} * {}".format(self.keys[0][0], self.keys[0][2]))
        self.assertEqual(self.decrypted("--key", first),
                         {(0, "line 1 of first.keys"): closed[0, None], (1, None): closed[1, None]})

    def test_by_address(self):
        closed = self.decrypted()
        for form in ("198.51.100.1:{}", "*:{}"):
            text = "".join(f"{key[0]} {form.format(port)}\n" for key, port in zip(self.keys, PORTS))
            both = self.decrypted("--key", self.put("place.keys", text))
            self.assertEqual(both, {(i, f"line {i + 1} of place.keys"): closed[i, None] for i in (0, 1)})
        swapped = "".join(f"{key[0]} *:{port}\n" for key, port in zip(self.keys, reversed(PORTS)))
        self.assertEqual(self.decrypted("--key", self.put("place.keys", swapped)), closed)

    def test_any(self):
        closed = self.decrypted()
        both = self.decrypted("--key", self.keys[0][0], "--key", self.put("any.keys", self.keys[1][0] + "\n"))
        self.assertEqual(both, {(0, "given key"): closed[0, None], (1, "line 1 of any.keys"): closed[1, None]})

    def test_info(self):
        """The tracker has every packet of both connections."""
        text = uerudp.run("info", HANDLERS, "--key", self.log, self.capture).stdout.decode()
        self.assertNotIn("encrypted", text)
        self.assertIn("encrypted", uerudp.run("info", HANDLERS, self.capture, status=None).stdout.decode())

    def test_hello_in_fragments(self):
        """The token of a Hello in fragments selects the key, where no tag confirms it. Fragments with a gap between them
        are no Hello."""
        whole = self.folder / "whole.pcapng"
        options = ("--encrypt", "--handlers=aes-ecb", "--connections=2", "--generation=5.4", "--duration=1")
        uerudp.run("generate", "login", *options, "--output", whole)
        lines = uerudp.decode("--handlers=aes-ecb", whole)
        for step, is_read in ((1, True), (2, False)):
            found = 0
            text = []
            for line in lines:
                bunch = line.get("bunches", [{}])[0]
                if bunch.get("messages", [{}])[0].get("type") == 0:
                    found += 1
                    line = {**line, "bunches": fragments(bunch, step)}
                text.append(json.dumps(line))
            self.assertEqual(2, found)
            path = self.folder / "fragments.pcapng"
            path.write_bytes(uerudp.run("encode", "--handlers=aes-ecb", data="\n".join(text).encode()).stdout)
            keys = {(line["stream"], line["handler"].get("key"))
                    for line in uerudp.decode("--handlers=aes-ecb", "--key", self.folder / "whole.keys", path)
                    if line.get("handler", {}).get("encrypted")}
            self.assertEqual({(i, f"line {i + 2} of whole.keys" if is_read else None) for i in (0, 1)}, keys)

    def test_unusable(self):
        for text in ("nothing", self.keys[0][0] + " nowhere", self.keys[0][0] + " *:0"):
            error = uerudp.run("decode", HANDLERS, "--key", self.put("bad.keys", text), self.capture, status=2).stderr
            self.assertIn(b"--key", error)
            self.assertNotIn(self.keys[0][0].encode(), error)


if __name__ == "__main__":
    uerudp.main()
