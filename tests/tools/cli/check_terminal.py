#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What helps a person at a terminal: suggestions and lists of names."""
import os
import pty
import re
import subprocess
import tempfile
import time
import unittest

import uerudp
from terminal import Terminal, everything_from

LOGIN = uerudp.ROOT / "captures/login.pcapng"
LOSS = uerudp.ROOT / "captures/loss-burst.pcapng"
SEQUENCE = re.compile(rb"\033\[[\d;]*m")


def on_terminal(arguments, streams=("stdout", "stderr"), columns=0, **environment):
    """What the program writes to a terminal, which these of its streams are."""
    return Terminal(*arguments, streams=streams, columns=columns, **environment).end().encode()


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


class Colors(unittest.TestCase):
    """On a terminal, or where --color asks for them; without the escape sequences the text is the same."""

    def test_always_and_never(self):
        captures = [uerudp.ROOT / "captures" / f"{name}.pcapng" for name in ("login", "loss-burst", "refused", "mixed")]
        for command in (["info", *captures], ["info", "--bits", captures[1]], ["decode", "--content", *captures]):
            plain = uerudp.run(*command, "--color=never", status=None).stdout
            colored = uerudp.run(*command, "--color=always", status=None).stdout
            self.assertEqual(plain, uerudp.run(*command, status=None).stdout)
            self.assertNotIn(b"\033", plain)
            self.assertEqual(plain, SEQUENCE.sub(b"", colored))
            for line in colored.splitlines():  # no style reaches the next line
                self.assertEqual(line.count(b"\033[0m") * 2, line.count(b"\033["), line)

    def test_findings(self):
        text = uerudp.run("info", "--color=always", uerudp.ROOT / "captures/refused.pcapng", status=1).stdout
        self.assertIn(b"\033[1;31merror\033[0m", text)
        self.assertIn(b"\033[33mwarning\033[0m", uerudp.run("info", "--color=always", LOSS).stdout)

    def test_difference(self):
        """replay --check marks the connection that differs."""
        plain, colored = (uerudp.run("replay", "--check", f"--color={when}", LOSS, status=None).stdout for when in
                          ("never", "always"))
        self.assertEqual(plain, SEQUENCE.sub(b"", colored))
        self.assertRegex(colored, rb"\A\033\[1mstream 0: ")
        with tempfile.NamedTemporaryFile(suffix=".pcapng") as file:
            uerudp.run("edit", "--rule=drop frame=20", LOSS, file.name, status=None)
            text = uerudp.run("replay", "--check", "--color=always", file.name, status=None).stdout
        self.assertEqual(b": differs\n" in SEQUENCE.sub(b"", text), b"\033[1;31mdiffers\033[0m\n" in text)

    def test_doctor(self):
        command = ["doctor", "--wireshark", "/bin/true"]
        plain, colored = (uerudp.run(*command, f"--color={when}", status=1).stdout for when in ("never", "always"))
        self.assertEqual(plain, SEQUENCE.sub(b"", colored))
        self.assertIn(b"\033[33m- ", colored)

    def test_malformed(self):
        text = uerudp.run("decode", "--hex", "--generation=5.5", "--color=always", "-", data=b"00 00 28 00 00 0c\n", status=1).stdout
        self.assertIn(b"\033[1;31m  Malformed\033[0m: ", text)

    def test_terminal(self):
        for environment, is_colored in (({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)):
            text = on_terminal(["info", LOSS], **environment)
            self.assertEqual(is_colored, b"\033[33mwarning" in text, environment)
        self.assertIn(b"\033[33mwarning", on_terminal(["info", "--color=always", LOSS], NO_COLOR="1"))
        self.assertNotIn(b"\033[33m", on_terminal(["info", "--color=never", LOSS]))
        for other in ("--json", "--fields=frame"):
            self.assertNotIn(b"\033[3", on_terminal(["decode", other, LOGIN]))

    def test_wrong_value(self):
        self.assertIn("--color=red: must be auto, always or never", errors("info", "--color=red", LOSS))
        self.assertIn("did you mean --color?", errors("info", "--colour=always", LOSS))


class Wrapping(unittest.TestCase):
    """Lines of info that are longer than the terminal is wide continue below their text."""

    def lines(self, columns):
        text = SEQUENCE.sub(b"", on_terminal(["info", LOSS], streams=["stdout"], columns=columns))
        return text.decode().replace("\r", "").splitlines()

    def test_long_lines(self):
        whole, broken = self.lines(0), self.lines(70)
        finding, = (line for line in whole if "reliable stall of 700 ms" in line)
        self.assertGreater(len(finding), 70)
        at = next(i for i, line in enumerate(broken) if "reliable stall of 700 ms" in line)
        self.assertEqual(broken[at][:13], finding[:13])
        parts = [broken[at]]
        while len(" ".join(parts)) < len(finding):
            self.assertTrue(broken[at + len(parts)].startswith(" " * 13 + broken[at + len(parts)].strip()[0]))
            parts.append(broken[at + len(parts)].strip())
        self.assertEqual(" ".join(parts), finding)
        self.assertLessEqual(max(map(len, parts)), 70)

    def test_elsewhere(self):
        """Without a terminal, and on one of unknown width, lines are whole."""
        self.assertEqual(self.lines(0), uerudp.run("info", LOSS).stdout.decode().splitlines())


class Progress(unittest.TestCase):
    def test_generate(self):
        master, slave = pty.openpty()
        command = [uerudp.PROGRAM, "generate", "stream", "--connections=20", "--duration=20", "--output", "-"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        time.sleep(1.5)  # the pipe is full, so that the program is still running then
        process.communicate(timeout=120)
        text = everything_from(master).decode()
        self.assertRegex(text, r"\A(\r\033\[K *\d+ %, \d+ frames, \d+/s)+\r\033\[K\d+ frames in \d+\.\d s, \d+/s\r\n\Z")

    def test_short(self):
        """Nothing is shown of what is done at once."""
        self.assertNotIn("frames", on_terminal(["info", LOSS], streams=["stderr"]).decode())


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
