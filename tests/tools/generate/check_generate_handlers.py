#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packet handlers of generate, serve and connect: every order is delivered, decoded with its key, and found without help as
far as bytes tell."""
import json
import pathlib
import re
import tempfile
import unittest

import live
import uerudp

CIPHERS = ("aesgcm", "aesgcm-bytes", "aes-ecb", "dtls")
OPENED = CIPHERS[:3]  # DTLS stays opaque
ORDERS = [order for cipher in CIPHERS for order in (cipher, f"oodle,{cipher}", f"{cipher},oodle")]
ORDERS += [order for cipher in ("aesgcm", "aes-ecb", "dtls") for order in (f"reliability,{cipher}", f"{cipher},reliability")]
GENERATIONS = ("4.18", "4.19", "4.20", "4.22", "4.24", "4.25", "5.1", "5.4", "5.5", "5.8")
KEY = "00112233445566778899aabbccddeeff" * 2
S2C = 2
COMPRESSED = ("oodle", "reliability,oodle", "oodle,aesgcm", "aesgcm,oodle")


def is_opaque(datagram):
    handlers = datagram.get("handler", {})
    return "ciphertext" in handlers or "compressed_data" in handlers


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = self.folder / "a.pcapng"
        self.keys = self.folder / "a.keys"

    def generate(self, *options):
        uerudp.run("generate", *options, "--output", self.path)

    def info(self, *options):
        return json.loads(uerudp.run("info", "--json", *options, self.path, status=None).stdout)

    def hint(self, *options):
        """The order that the program finds."""
        errors = uerudp.run("info", *options, self.path, status=None).stderr.decode()
        found = re.search(r"looks like --handlers (\S+)", errors)
        return found and found.group(1)


class Encryption(Case):
    def test_orders(self):
        """With the key every packet is read, but for DTLS; without the order, the program names it."""
        for order in ORDERS:
            with self.subTest(order):
                self.generate("mixed", "--duration=1", "--encrypt", f"--handlers={order}")
                with_key = self.info(f"--handlers={order}", "--key", self.keys)
                without = self.info(f"--handlers={order}")
                is_opened = not {*order.split(",")}.isdisjoint(OPENED)
                self.assertEqual(is_opened, with_key["opaque"] == {"c2s": 0, "s2c": 0})
                self.assertGreater(min(without["opaque"].values()), 10)
                self.assertEqual({"c2s": 0, "s2c": 0}, with_key["malformed"])
                self.assertEqual(order, self.hint())
                self.assertEqual(order, self.hint("--generation=5.5"))

    def test_no_accusation(self):
        """Without the settings nothing is said of packets that were not decrypted."""
        harmless = {"opaque", "handshake_retried", "reordered", "duplicates"}
        for scenario, order in (*(("mixed", order) for order in ORDERS), ("restart", "aesgcm"), ("game", "aes-ecb")):
            with self.subTest(scenario=scenario, order=order):
                self.generate(scenario, "--duration=3", "--loss=0.1", "--encrypt", f"--handlers={order}")
                info = self.info()
                self.assertLessEqual({each["kind"] for each in info["findings"]}, harmless)
                self.assertEqual({"c2s": 0, "s2c": 0}, info["malformed"])
                told = self.info(f"--handlers={order}")
                for key in ("not_acked", "lost", "opaque", "empty", "resends"):
                    self.assertEqual(told[key], info[key], key)
                self.assertGreater(min(info["opaque"].values()), 10)

    def test_damage_is_no_encryption(self):
        """Losses and damage of packets that are not encrypted are still findings."""
        for options in (("mixed", "--corrupt=0.2"), ("mixed", "--fuzz"), ("game", "--fuzz")):
            with self.subTest(options):
                uerudp.run("generate", *options, "--loss=0.1", "--duration=4", "--output", self.path, status=None)
                info = self.info()
                self.assertEqual({"c2s": 0, "s2c": 0}, info["opaque"])
                self.assertLessEqual({"malformed", "loss"}, {each["kind"] for each in info["findings"]})

    def test_generations(self):
        """Each generation with an encryption token: it is in Hello, EncryptionAck answers it in the clear, and everything
        after it is encrypted."""
        for generation in GENERATIONS:
            with self.subTest(generation):
                self.generate("login", "--encrypt", f"--generation={generation}")
                options = (f"--generation={generation}", "--handlers=aesgcm")
                text = uerudp.run("decode", "--json", *options, self.path).stdout.decode()
                token = re.search(r'"encryption_token":"([^"]+)"', text).group(1)
                self.assertIn(token, self.keys.read_text())
                story = {step["name"]: step["frame"] for step in self.info(*options, "--key", self.keys)["story"]
                         if step["kind"] == "message"}
                self.assertLess(story["Hello"], story["EncryptionAck"])
                self.assertLess(story["EncryptionAck"], story["Join"])
                for datagram in map(json.loads, text.splitlines()):
                    if datagram["direction"] == S2C and not datagram["is_handshake"]:
                        is_after = datagram["frame"] > story["EncryptionAck"]
                        self.assertEqual(is_after, datagram["handler"]["encrypted"], datagram["frame"])

    def test_releases_without_a_token(self):
        errors = uerudp.run("generate", "login", "--encrypt", "--generation=4.13", "-o", self.path, status=2).stderr
        self.assertIn(b"has no encryption token", errors)

    def test_clear(self):
        """Without encryption nothing is opaque, and a connection without handlers looks like no handlers."""
        self.generate("login")
        for options in ((), ("--generation=5.5",), ("--generation=4.25",)):
            self.assertIsNone(self.hint(*options))
        self.assertEqual({"c2s": 0, "s2c": 0}, self.info()["opaque"])
        for order in ("aesgcm", "dtls,oodle", "aesgcm-bytes"):
            self.generate("login", f"--handlers={order}")
            self.assertEqual({"c2s": 0, "s2c": 0}, self.info(f"--handlers={order}")["opaque"])


class Reliability(Case):
    def test_ids(self):
        """Each side counts its packets from 1; its acks are the newest id that arrived before."""
        self.generate("login", "--handlers=reliability", "--duration=4")
        newest = {1: 0, 2: 0}
        for datagram in uerudp.decode("--handlers=reliability", self.path):
            if datagram["is_handshake"]:
                continue
            side, handler = datagram["direction"], datagram["handler"]
            self.assertEqual(newest[side] + 1, handler["reliability_id"])
            newest[side] += 1
            self.assertLessEqual(handler["reliability_ack"], newest[3 - side])
        self.assertGreater(min(newest.values()), 130)  # ids of two bytes


class Compression(Case):
    def test_orders(self):
        """Some packets are marked, and all are delivered: the run is checked. What is marked counts as received."""
        for order in COMPRESSED:
            with self.subTest(order):
                options = ("--encrypt",) if "aesgcm" in order else ()
                self.generate("game", "--compress", f"--handlers={order}", "--loss=0", *options)
                datagrams = uerudp.decode(f"--handlers={order}", *(("--key", self.keys) if options else ()), self.path)
                marked = sum("compressed_data" in datagram.get("handler", {}) for datagram in datagrams)
                if order != "oodle,aesgcm":  # ciphertext becomes no smaller
                    self.assertGreater(marked, 5)
                info = self.info(f"--handlers={order}", *(("--key", self.keys) if options else ()))
                self.assertEqual({"c2s": 0, "s2c": 0}, info["malformed"])
                self.assertEqual({"c2s": 0, "s2c": 0}, info["lost"])

    def test_key(self):
        """The key decrypts in each order, although the Hello with its token may be compressed."""
        for order in (f"{one},{other}" for cipher in ("aesgcm", "aes-ecb") for one, other in (("oodle", cipher), (cipher, "oodle"))):
            with self.subTest(order):
                self.generate("game", "--duration=1", "--encrypt", "--compress", f"--handlers={order}")
                options = (f"--handlers={order}", "--key", self.keys, self.path)
                encrypted = [datagram["handler"] for datagram in uerudp.decode(*options)
                             if datagram.get("handler", {}).get("encrypted")]
                self.assertGreater(len(encrypted), 50)
                self.assertEqual([], [handler for handler in encrypted if "key" not in handler])
                for command in ("info", "decode"):
                    self.assertNotIn(b"opens none", uerudp.run(command, *options, status=None).stderr)

    def test_wrong_key(self):
        """A wrong key is still named as such."""
        for order in ("oodle,aesgcm", "aesgcm,oodle"):
            self.generate("game", "--duration=1", "--encrypt", "--compress", f"--handlers={order}")
            errors = uerudp.run("info", f"--handlers={order}", "--key", KEY, self.path, status=None).stderr
            self.assertRegex(errors, rb"the key opens none of \d+ encrypted packets")

    def test_no_accusation(self):
        """Without the settings nothing is said of packets that were not decompressed, and the program names the order."""
        for order in ("oodle", "reliability,oodle", "oodle,reliability"):
            with self.subTest(order):
                self.generate("game", "--duration=3", "--loss=0", "--compress", f"--handlers={order}")
                self.assertEqual(order, self.hint())
                info = self.info()
                self.assertEqual({"c2s": 0, "s2c": 0}, info["malformed"])
                self.assertLessEqual({each["kind"] for each in info["findings"]}, {"opaque"})

    def test_not_compressed(self):
        """Without the option the component only writes its bit."""
        self.generate("game", "--handlers=oodle")
        self.assertFalse(any(is_opaque(datagram) for datagram in uerudp.decode("--handlers=oodle", self.path)))


class Options(Case):
    def test_unusable(self):
        for options, error in ((("--handlers=aesgcm,aes-ecb",), "at most one of aesgcm"),
                               (("--handlers=oodle,oodle",), "use each component once"),
                               (("--handlers=oodle", "--encrypt"), "encryption needs one of"),
                               (("--compress",), "--compress needs oodle"),
                               (("--compress", "--handlers=aesgcm-bytes,oodle"), "aesgcm-bytes and --compress exclude each other")):
            errors = uerudp.run("generate", "login", "-o", self.path, *options, status=2).stderr.decode()
            self.assertIn(error, errors)
        for options, error in ((("--handlers=oodle", "--key", KEY), "encryption needs one of"),
                               (("--compress",), "--compress needs oodle")):
            errors = uerudp.run("connect", "localhost", *options, status=2).stderr.decode()
            self.assertIn(error, errors)


class Live(Case):
    def test_delivery(self):
        """serve and connect deliver everything with each cipher, with ids and with compression."""
        for options in (("--handlers=dtls", "--key", KEY), ("--handlers=aesgcm-bytes,reliability", "--key", KEY),
                        ("--handlers=reliability,aes-ecb,oodle", "--compress", "--key", KEY),
                        ("--handlers=oodle", "--compress")):
            with self.subTest(options), live.Server("--once", "--tick", 120, *options) as server:
                counted = live.check(server, "--tick", 120, "--pcap", self.path, "--loss=0.05", *options)
                self.assertEqual(64, counted["reliable_echoed"])
                opaque = sum(map(is_opaque, uerudp.decode(options[0], self.path)))
                self.assertGreater(opaque, 0)

    def test_other_order(self):
        """A client without the server's handlers does not get in."""
        with live.Server("--handlers=oodle,reliability") as server:
            result = uerudp.run("connect", "--check", "--timeout=2", server.address, status=1)
            self.assertNotEqual(b"", result.stderr)


if __name__ == "__main__":
    unittest.main()
