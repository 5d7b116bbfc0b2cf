#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What helps a person at a terminal: suggestions and lists of names."""
import unittest

import uerudp

LOGIN = uerudp.ROOT / "captures/login.pcapng"


def errors(*arguments, status=2):
    return uerudp.run(*arguments, status=status).stderr.decode()


class Suggestions(unittest.TestCase):
    def test_similar_names(self):
        for arguments, names in ((["decod"], "decode"), (["--verson"], "--version"), (["help", "trce"], "trace"),
                                 (["decode", "--jsn", LOGIN], "--json"), (["info", "--findigns=3", LOGIN], "--findings"),
                                 (["decode", "--fields=frame,packet.sec", LOGIN], "packet.seq"),
                                 (["decode", "--fields=fram", LOGIN], "frame"),
                                 (["decode", "--kind=packet,reliabel", LOGIN], "reliable"),
                                 (["decode", "--generation=5,3", LOGIN], "5.3"),
                                 (["generate", "--generation=5,3", "login"], "5.3"), (["generate", "logn"], "login"),
                                 (["connect", "--generation=5,3", "localhost"], "5.3"),
                                 (["edit", "--to-generation=4,26", LOGIN, "-"], "4.26"),
                                 (["edit", "--rule=drop chanel=3", LOGIN, "-"], "channel"),
                                 (["edit", "--rule=dorp", LOGIN, "-"], "drop"),
                                 (["edit", "--rule=drop kind=reliabel", LOGIN, "-"], "reliable")):
            text = errors(*arguments)
            self.assertTrue(text.endswith(f"; did you mean {names}?\n"), text)
            self.assertEqual(1, text.count("\n"), text)

    def test_nothing_similar(self):
        """A word that resembles nothing is not guessed; the message says where the names are listed."""
        for arguments, where in ((["frobnicate"], "see uerudp help"), (["decode", "--frobnicate", LOGIN], "see uerudp decode --help"),
                                 (["decode", "-x", LOGIN], "see uerudp decode --help"),
                                 (["decode", "--fields=frobnicate", LOGIN], "--fields help lists all"),
                                 (["decode", "--kind=frobnicate", LOGIN], "kinds are handshake, packet"),
                                 (["decode", "--generation=5.9", LOGIN], "from 4.13 to 5.8"),
                                 (["edit", "--rule=frobnicate", LOGIN, "-"], "actions are drop")):
            text = errors(*arguments)
            self.assertIn(where, text)
            self.assertNotIn("did you mean", text)

    def test_field_of_wireshark(self):
        self.assertIn("exists only in Wireshark", errors("decode", "--fields=analysis.lost", LOGIN))


class Lists(unittest.TestCase):
    def test_fields(self):
        """Each key that --fields help lists is accepted, and has a description."""
        lines = uerudp.run("decode", "--fields", "help").stdout.decode().splitlines()
        keys = [line.split()[0] for line in lines]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertLess({"frame", "raw", "packet.seq", "bunch.ch_seq", "stream"}, set(keys))
        for line in lines:
            self.assertRegex(line, r"^\S+ +\S+ .*\w")
        for first in range(0, len(keys), 64):
            uerudp.run("decode", "--fields", ",".join(keys[first:first + 64]), LOGIN)
        self.assertIn("only 64", errors("decode", "--fields", ",".join(keys[:65]), LOGIN))

    def test_version(self):
        version = uerudp.run("--version").stdout
        for name in ("decode", "serve", "doctor"):
            self.assertEqual(version, uerudp.run(name, "--version").stdout)
        self.assertIn("--version", errors("decode", "--", "--version"))  # a file


if __name__ == "__main__":
    uerudp.main()
