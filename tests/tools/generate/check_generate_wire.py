#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp generate with a magic header and orders of handlers: decode with the same settings reads every datagram."""
import json
import pathlib
import tempfile
import unittest

import uerudp

GENERATIONS = ("4.13", "4.18", "4.22", "4.24", "4.25", "5.1", "5.4", "5.5", "5.8")
MAGICS = (("--magic-bits=1", "--magic=1"), ("--magic-bits=13", "--magic=0x1234"), ("--magic-bits=32", "--magic=0xdeadbeef"))
ORDERS = ("oodle", "aesgcm", "aes-ecb", "oodle,aesgcm", "aesgcm,oodle", "oodle,aes-ecb")


class Wire(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = self.folder / "game.pcapng"
        self.encrypted = self.folder / "secret.ini"
        self.encrypted.write_text("[scenario]\nbase=login\nname=secret\nencrypt=true\n", encoding="utf-8")

    def generate(self, scenario, *options):
        uerudp.run("generate", scenario, "--duration=1", "-o", self.path, *options)
        return self.path

    def read(self, *options):
        """All datagrams, none of them malformed or unknown."""
        summary = uerudp.run("decode", "--quiet", *options, self.path).stderr.decode()
        self.assertRegex(summary, r"\n\d+ datagrams in 1 connection, 0 malformed\n$", options)
        self.assertNotIn("no known form", summary)
        return uerudp.decode(*options, self.path)

    def test_magic_header(self):
        for generation in GENERATIONS:
            for magic in MAGICS:
                self.generate("login", "--generation", generation, "--no-sidecar", *magic)
                datagrams = self.read(*magic)
                value = int(magic[1].split("=")[1], 0)
                self.assertEqual({value}, {datagram["magic"] for datagram in datagrams})
                self.assertTrue(any("handshake" in datagram for datagram in datagrams))

    def test_orders_of_handlers(self):
        for order in ORDERS:
            for generation in ("4.25", "5.5"):
                self.generate("mixed", "--generation", generation, f"--handlers={order}", "--no-sidecar")
                self.read(f"--handlers={order}")

    def test_encryption(self):
        """The key log beside the capture decrypts it, with a magic header and any order that begins with aesgcm."""
        for order in ("aesgcm", "aesgcm,oodle"):
            self.generate(self.encrypted, f"--handlers={order}", *MAGICS[1])
            datagrams = self.read(f"--handlers={order}", *MAGICS[1], "--key", self.folder / "game.keys")
            encrypted = [datagram for datagram in datagrams if datagram.get("handler", {}).get("encrypted")]
            self.assertGreater(len(encrypted), 10)
            self.assertTrue(all("packet" in datagram or datagram["is_handshake"] for datagram in encrypted))

    def test_sidecars(self):
        """decode with the options prints the sidecar."""
        options = (*MAGICS[1], "--handlers=oodle")
        self.generate("login", "--generation=5.4", *options)
        printed = uerudp.run("decode", "--json", *options, self.path).stdout
        self.assertEqual(printed, (self.folder / "game.expected.jsonl").read_bytes())
        self.assertEqual("5.4", json.loads((self.folder / "game.sent.json").read_text())["generation"])

    def test_stock(self):
        """The values of the stock engine change no datagram."""
        plain = self.generate("login", "--no-sidecar").read_bytes()
        self.assertEqual(plain, self.generate("login", "--no-sidecar", "--magic-bits=0", "--magic=0").read_bytes())

    def test_invalid_options(self):
        for options, error in ((("--magic-bits=33",), "--magic-bits=33: use a number from 0 to 32"),
                              (("--magic-bits=4", "--magic=16"), "--magic=0x10: not a value of 4 bits"),
                              (("--magic=1",), "--magic=0x1: not a value of 0 bits"),
                              (("--handlers=zip",), "--handlers=zip: use names separated by commas: ")):
            errors = uerudp.run("generate", "login", "-o", self.path, *options, status=2).stderr.decode()
            self.assertIn(error, errors)
        errors = uerudp.run("generate", self.encrypted, "--handlers=oodle", "-o", self.path, status=2).stderr.decode()
        self.assertIn("encryption needs one of aesgcm", errors)


if __name__ == "__main__":
    uerudp.main()
