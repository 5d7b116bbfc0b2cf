#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Wire options: every subcommand accepts them, and each has its effect."""
import tempfile
import unittest

import uerudp

GAME = uerudp.ROOT / "captures/ue5.5.pcapng"
DEMO = uerudp.ROOT / "captures/replay/demo.pcapng"
# Option, a value that is the default, and an invalid value.
OPTIONS = [("--generation", "5.5", "3.9"), ("--profiles", None, "/nowhere"), ("--port", "7777", "9-3"),
           ("--key", None, "12"), ("--magic-bits", "0", "99"), ("--magic", "0", "x"), ("--skip-bytes", "0", "-1"),
           ("--max-packet", "0", "x"), ("--ch-seq-bound", "0", "1000"), ("--extra-bits", "0", "x"),
           ("--terminators", "2", "3"), ("--handlers", "", "zip"), ("--internal-ack", "false", "maybe"),
           ("--guid-bits", "0", "x"), ("--netver", "0", "61"),
           ("--reliable-buffer", "0", "x")]
COMMANDS = {"decode": ["--json", GAME], "info": ["--json", GAME], "replay": [GAME], "trace": [GAME], "edit": [GAME, "-"],
            "encode": ["--hex", "-"], "link": ["0", "localhost"]}
HELLO = {"bunches": [{"open": True, "reliable": True, "messages": [{"hello": {}}]}]}


def options_of(command):
    """All; but the ports of link are arguments."""
    return [each for each in OPTIONS if command != "link" or each[0] != "--port"]


def hexed(object, *options):
    return uerudp.run("encode", "--hex", *options, data=str(object).replace("'", '"').replace("True", "true").encode()).stdout


class Everywhere(unittest.TestCase):
    def test_all_of_them(self):
        for command in COMMANDS:
            group = uerudp.run(command, "--help").stdout.decode().split("Decoding:\n")[1].split("\n\n")[0]
            self.assertEqual({option for option, _, _ in options_of(command)},
                             {line.split("=")[0].strip() for line in group.splitlines() if line.startswith("  --")})

    def test_stock_values(self):
        """The values of the stock engine change nothing."""
        for command, arguments in COMMANDS.items():
            if command == "link":  # see check_link
                continue
            data = b'{"bunches":[{"messages":[{"hello":{}}]}]}' if command == "encode" else b""
            choice = ["--generation=5.5"]  # a chosen generation has another reason than a detected one
            plain = uerudp.run(command, *choice, *arguments, data=data).stdout
            for option, stock, _ in OPTIONS:
                if stock is not None:
                    self.assertEqual(plain, uerudp.run(command, *choice, f"{option}={stock}", *arguments, data=data).stdout,
                                     f"{command} {option}")

    def test_invalid_values(self):
        for command, arguments in COMMANDS.items():
            for option, _, bad in options_of(command):
                errors = uerudp.run(command, f"{option}={bad}", *arguments, status=2).stderr.decode()
                self.assertRegex(errors, option[2:5] + "|" + bad, f"{command} {option}")

    def test_range(self):
        """The text says what an option accepts: automatic instead of 0 where there is automatic."""
        for option, accepted in (("--terminators=3", "a number from 1 to 2, or automatic"),
                                 ("--ch-seq-bound=3", "a power of two up to 1073741824, or automatic"),
                                 ("--guid-bits=64", "128, or automatic"), ("--extra-bits=x", "a number from 0 to 4096")):
            self.assertIn(f"{option}: use {accepted}; ", uerudp.run("decode", option, GAME, status=2).stderr.decode())


class Effects(unittest.TestCase):
    def decode(self, text, *options):
        return uerudp.decode("--hex", "--generation=5.5", *options, "-", data=text, status=None)[0]

    def assert_round_trip(self, object, *options):
        """decode reads the output of encode with the options, and not without them."""
        text = hexed(object, "--generation=5.5", *options)
        self.assertNotEqual(text, hexed(HELLO, "--generation=5.5"))
        self.assertNotEqual(self.decode(text), decoded := self.decode(text, *options))
        self.assertNotIn("fault", decoded)
        self.assertEqual(text.split()[1].decode(), uerudp.encode([decoded])[0].hex())
        return decoded

    def test_terminators(self):
        self.assertEqual([True], self.assert_round_trip(HELLO, "--terminators=1")["terminator"])

    def test_magic(self):
        self.assertEqual(5, self.assert_round_trip(HELLO, "--magic-bits=7", "--magic=5")["magic"])

    def test_extra_bits(self):
        self.assertEqual("00", self.assert_round_trip(HELLO, "--extra-bits=3")["packet"]["extra"])

    def test_guid_bits(self):
        message = {"net_guid_assign": {"path": "/x"}, "net_guid_bytes": "01" * 16}
        decoded = self.assert_round_trip({"bunches": [{"open": True, "reliable": True, "messages": [message]}]}, "--guid-bits=128")
        self.assertEqual("01" * 16, decoded["bunches"][0]["messages"][0]["net_guid_bytes"])

    def test_netver(self):
        message = {"type": 27, "beacon_assign_guid": {"guid": 1234}}
        text = hexed({"bunches": [{"open": True, "reliable": True, "messages": [message]}]}, "--generation=5.5")
        message = self.decode(text, "--generation=5.5")["bunches"][0]["messages"][0]
        self.assertEqual(1234, message["beacon_assign_guid"]["guid"])
        message = self.decode(text, "--generation=5.5", "--netver=39")["bunches"][0]["messages"][0]
        self.assertEqual("a512", message["net_guid_bytes"])

    def test_skip_bytes(self):
        text = hexed({**HELLO, "wrapper": "abcd"}, "--generation=5.5", "--skip-bytes=2")
        self.assertEqual("abcd", self.decode(text, "--skip-bytes=2")["wrapper"])

    def test_ch_seq_bound(self):
        text = hexed({"bunches": [{"reliable": True, "channel": 3, "ch_seq": 3000}]}, "--generation=5.5", "--ch-seq-bound=4096")
        self.assertEqual(3000, self.decode(text, "--ch-seq-bound=4096")["bunches"][0]["ch_seq"])

    def test_internal_ack(self):
        decoded = self.decode(hexed(HELLO, "--generation=5.5", "--internal-ack=true"), "--internal-ack=true")
        self.assertNotIn("packet", decoded)
        self.assertTrue(decoded["bunches"][0]["open"])

    def test_internal_ack_before_a_file(self):
        """Without a value it is on, and the next argument is a file."""
        first, *_ = uerudp.decode("--generation=5.5", "--internal-ack", DEMO)
        self.assertIn("bunches", first)
        self.assertEqual(uerudp.run("decode", "--internal-ack", DEMO).stdout, uerudp.run("decode", DEMO).stdout)
        self.assertNotEqual(uerudp.run("decode", "--internal-ack=0", DEMO, status=None).stdout, b"")

    def test_reliable_buffer(self):
        """info compares with the limit of the option."""
        limits = [uerudp.run("info", "--json", *options, GAME).stdout for options in ([], ["--reliable-buffer=64"])]
        self.assertIn(b'"reliable_limit":512', limits[0])
        self.assertIn(b'"reliable_limit":64', limits[1])

    def test_profiles(self):
        """Every subcommand that reads accepts the name of a profile."""
        with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
            file.write("[meadow]\nbase = 5.5\n")
            file.flush()
            options = [f"--profiles={file.name}", "--generation=meadow"]
            for command, arguments in COMMANDS.items():
                if command not in ("encode", "link"):
                    uerudp.run(command, *options, *arguments)
            self.assertEqual(hexed(HELLO, *options), hexed(HELLO, "--generation=5.5"))


if __name__ == "__main__":
    uerudp.main()
