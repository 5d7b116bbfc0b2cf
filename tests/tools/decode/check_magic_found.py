#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Detection of settings that are not set: a magic header, handlers and constants are reported, and only where they exist."""
import pathlib
import random
import tempfile
import unittest

import uerudp

GENERATIONS = ("4.18", "4.22", "4.25", "5.1", "5.4", "5.8")
ALL_GENERATIONS = ("4.13", "4.14", "4.18", "4.19", "4.20", "4.22", "4.24", "4.25", "5.1", "5.4", "5.5", "5.8")
MAGICS = ((1, 1), (7, 0x55), (13, 0x1234), (16, 0xbeef), (32, 0xdeadbeef))
SIGN = "looks like"


class Found(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.path = self.folder / "game.pcapng"
        self.encrypted = self.folder / "secret.ini"
        self.encrypted.write_text("[scenario]\nbase=login\nencrypt=true\n", encoding="utf-8")

    def generate(self, scenario, *options):
        uerudp.run("generate", scenario, "--duration=3", "-o", self.path, *options)

    def output(self, command, *options):
        return uerudp.run(command, *options, self.path, status=None).stderr.decode()

    def summary(self, command):
        """Standard output and standard error without the datagrams."""
        options = ("--quiet",) if command == "decode" else ()
        result = uerudp.run(command, *options, self.path, status=None)
        return (result.stdout + result.stderr).decode()

    def named(self, bits, value, generation, seed=2):
        self.generate("login", f"--seed={seed}", "--generation", generation, "--no-sidecar", f"--magic-bits={bits}", f"--magic={value}")
        plural = "" if bits == 1 else "s"
        wanted = (f"stream 0: looks like a magic header of {bits} bit{plural}, value 0x{value:x}: "
                  f"--magic-bits {bits} --magic 0x{value:x}\n")
        for command in ("decode", "info"):
            output = self.output(command)
            self.assertIn(wanted, output)
            self.assertIn(", 0 malformed\n", output)


class Magic(Found):
    def test_magic_header(self):
        for bits, value in MAGICS[1:]:
            for generation in GENERATIONS:
                self.named(bits, value, generation)
        for generation in GENERATIONS[1:]:
            self.named(*MAGICS[0], generation)

    def test_reason(self):
        """The summary says why the generation is not known."""
        self.generate("login", "--generation=5.1", "--no-sidecar", "--magic-bits=13", "--magic=0x1234")
        self.assertIn("generation unknown (a handshake may follow a magic header; check magic_bits)\n",
                      self.output("decode", "--quiet"))
        self.generate("login", "--generation=5.1", "--no-sidecar")
        self.assertNotIn("magic", self.output("decode", "--quiet"))

    def test_one_bit_before_a_handshake_of_4_18(self):
        """Its 194 bits after one more bit look like the 195 bits of a 4.22 handshake."""
        self.named(1, 1, "4.18")

    def test_first_bit_like_a_handshake(self):
        """A header that begins with 1 makes packets look like handshake messages, and with this seed one fits."""
        self.named(7, 0x55, "4.25", seed=1)
        for generation in ("5.1", "5.4"):
            self.named(1, 1, generation, seed=1)

    def test_32_bits_before_a_handshake_of_4_22(self):
        """32 bits that begin with 1, 0 and the 195 bits of a Challenge have the form of one of 4.25."""
        for seed in (1, 2):
            self.named(32, 0xdeadbeed, "4.22", seed=seed)

    def test_five_bits_like_ids(self):
        """Packets of 4.25 behind five bits are packets of 5.1 with these bits as ids; the handshake tells them apart."""
        for seed in (1, 2):
            self.named(5, 9, "4.25", seed=seed)

    def test_no_magic_header(self):
        for number, generation in enumerate(ALL_GENERATIONS):
            has_restarts = number >= ALL_GENERATIONS.index("4.22")
            for scenario in ("login", "lossy", "corrupt") + ("restart",) * has_restarts:
                self.generate(scenario, "--generation", generation, "--no-sidecar")
                for command in ("decode", "info"):
                    self.assertNotIn(SIGN, self.output(command))

    def test_configured_magic_header(self):
        self.generate("login", "--no-sidecar", "--magic-bits=13", "--magic=0x1234")
        for value in (0x1234, 0x0fff):
            self.assertNotIn(SIGN, self.output("info", "--magic-bits=13", f"--magic={value}"))

    def test_captures(self):
        for path in (uerudp.ROOT / "captures").glob("*.pcapng"):
            self.path = path
            self.assertNotIn(SIGN, self.output("decode", "--quiet"))

    def test_foreign_traffic_on_the_port(self):
        """Constant headers, random or zero bodies, also of the sizes of handshakes, in both directions."""
        chance = random.Random(26)
        for flow in range(200):
            head = chance.randbytes(chance.randrange(1, 9))
            there, back = (40000 + flow, 7777), (7777, 40000 + flow)
            datagrams = []
            for _ in range(40):
                size = chance.choice((17, 25, 28, 29, 33, 46, 49, 60, chance.randrange(1, 90)))
                body = bytes(size) if chance.random() < 0.3 else chance.randbytes(size)
                datagrams.append((*chance.choice((there, back)), head + body))
            self.path.write_bytes(uerudp.pcap(datagrams))
            self.assertNotIn(SIGN, self.output("decode", "--quiet"))

    def test_withdrawn(self):
        """A magic header that one short packet suggests is withdrawn."""
        for seed in range(1, 6):
            self.generate("login", "--generation=5.4", "--no-sidecar", "--magic-bits=13", "--magic=0x1234", f"--seed={seed}")
            output = self.output("info")
            self.assertIn(", 0 malformed\n", output)

    def test_no_connection_by_chance(self):
        """Without a matching generation there is no connection."""
        self.generate("login", "--generation=5.4", "--no-sidecar", "--magic-bits=13", "--magic=0x1234", "--duration=5")
        self.assertEqual(b"", uerudp.run("info", self.path).stdout)


class Constants(Found):
    """Detected constants of a game are printed as lines of a profile."""

    def with_bound(self, *options):
        """A capture with a handshake, encoded with bounds of a game."""
        self.generate("mixed", "--generation=4.25", "--no-sidecar")
        datagrams = uerudp.run("decode", "--json", self.path).stdout
        uerudp.run("encode", *options, "-o", self.path, "-", data=datagrams)

    def test_not_malformed_before_detection(self):
        """The handshake decides the generation, not its constants."""
        self.with_bound("--ch-seq-bound=4096")
        self.assertIn(", 0 malformed\n", self.output("decode", "--quiet"))

    def test_bound_is_named(self):
        self.with_bound("--ch-seq-bound=4096")
        for command in ("decode", "info"):
            self.assertRegex(self.summary(command), r"\bch_seq_bound=4096\b")

    def test_packet_size_is_named(self):
        self.with_bound("--max-packet=2048")
        for command in ("decode", "info"):
            self.assertRegex(self.summary(command), r"\bmax_packet=2048\b")

    def test_stock_bounds(self):
        self.generate("mixed", "--generation=4.25", "--no-sidecar")
        output = self.output("decode", "--quiet") + self.summary("info")
        self.assertNotIn("ch_seq_bound=", output)
        self.assertNotIn("max_packet=", output)


class Handlers(Found):
    def secret(self, *handlers):
        self.generate(self.encrypted, *handlers)
        return "--key", self.folder / "game.keys"

    def test_encryption_is_named(self):
        """The packets after EncryptionAck cannot be decoded."""
        self.secret()
        self.assertIn("looks like --handlers aesgcm\n", self.output("info"))

    def test_order_is_named(self):
        key = self.secret("--handlers=aesgcm,oodle")
        self.assertIn("looks like --handlers aesgcm,oodle\n", self.output("info", *key, "--handlers=oodle,aesgcm"))

    def test_wrong_key(self):
        self.secret()
        key = "--key=" + "00" * 32
        self.assertRegex(self.output("info", key, "--handlers=aesgcm"), r"the key opens none of \d+ encrypted packets")

    def test_nothing_to_report(self):
        key = self.secret()
        for options in ((*key, "--handlers=aesgcm"), ("--handlers=aesgcm",)):
            output = self.output("info", *options)
            self.assertNotIn(SIGN, output)
            self.assertNotIn("opens none", output)
        self.generate("login", "--no-sidecar")
        self.assertNotIn(SIGN, self.output("info"))


if __name__ == "__main__":
    uerudp.main()
