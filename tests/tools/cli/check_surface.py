#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each subcommand has a help text, a manual page, examples that run, and a test of each option."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import uerudp

ROOT = uerudp.ROOT
OPTION = re.compile(r"^  (?:-\w, )?(--[a-z-]+)", re.M)
COMMAND = re.compile(r"^ *((?:echo|printf|cat|uerudp|tcpdump|jq) .*)$", re.M)
ELSEWHERE = re.compile(r"192\.0\.2\.1|127\.0\.0\.1|localhost|::1|uerudp (serve|link|connect)| -i |session\.pcapng|again\.pcapng|/opt/")


def help_of(name):
    return uerudp.run(name, "--help").stdout.decode()


SUBCOMMANDS = re.findall(r"^  (\w+) ", uerudp.run("help").stdout.decode(), re.M)[:-1]


def page(name=None):
    path = ROOT / "docs" / (f"uerudp-{name}.1" if name else "uerudp.1")
    return path.read_text().replace("\\-", "-").replace("\\e", "\\").replace("\\\\", "\\")


def options(name):
    """(option, title of its group in the help)."""
    for group in re.split(r"\n(?=\S)", help_of(name)):
        for option in OPTION.findall(group):
            yield option, group.split("\n")[0]


class Help(unittest.TestCase):
    def test_list(self):
        self.assertEqual(12, len(SUBCOMMANDS))
        for arguments in (["--help"], ["-h"]):
            self.assertEqual(uerudp.run("help").stdout, uerudp.run(*arguments).stdout)

    def test_each(self):
        for name in SUBCOMMANDS:
            text = help_of(name)
            self.assertEqual(text, uerudp.run("help", name).stdout.decode())
            self.assertIn(f"uerudp {name} ", text.split("Examples:\n")[1])
            self.assertIn("\nExit status: 0 ", text)
            self.assertLessEqual(3, len(list(options(name))), name)

    def test_unknown_subcommand(self):
        self.assertIn("frobnicate", uerudp.run("help", "frobnicate", status=2).stderr.decode())


class Manual(unittest.TestCase):
    def test_sections(self):
        overview = page()
        for name in SUBCOMMANDS:
            sections = re.findall(r"^\.SH (.*)$", page(name), re.M)
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"):
                self.assertIn(section, sections, name)
            self.assertIn(f"\n.SS uerudp {name}\n", overview)
            self.assertIn(f"\n.BR uerudp-{name} (1)", overview)

    def test_options(self):
        """Each option is in the page of its subcommand; shared options may be in uerudp.1."""
        shared = "Decoding", "Live capture", "Wire options", "Network impairment"
        for name in SUBCOMMANDS:
            own = page(name)
            for option, group in options(name):
                text = own + page() if group.startswith(shared) else own
                self.assertRegex(text, rf"{option}(?![a-z-])", f"{name} {option}")

    def test_no_others(self):
        """The page of a subcommand names only its options."""
        everybody = {option for name in SUBCOMMANDS for option, _ in options(name)} | {"--help", "--version"}
        for name in [None, *SUBCOMMANDS]:
            named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z]", page(name)))
            self.assertEqual(set(), named - everybody, name)


class Examples(unittest.TestCase):
    def test_examples(self):
        """Examples that need no other host, server or permission run."""
        ran = 0
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            self.prepare(path)
            for name in [None, *SUBCOMMANDS]:
                text = page(name).split("\n.SH EXAMPLES\n")[1].split("\n.SH ")[0]
                text += help_of(name).split("Examples:\n")[1] if name else ""
                for command in dict.fromkeys(COMMAND.findall(text)):
                    if not ELSEWHERE.search(command):
                        self.run_example(path, command)
                        ran += 1
        self.assertGreater(ran, 25)

    @staticmethod
    def prepare(path):
        game = ROOT / "captures/mixed.pcapng"
        (path / "game.pcapng").write_bytes(game.read_bytes())
        for name, capture in (("client", "ends-client"), ("server", "ends-server"), ("before", "ue5.5"), ("after", "loss-burst")):
            (path / f"{name}.pcapng").write_bytes((ROOT / f"captures/{capture}.pcapng").read_bytes())
        (path / "game.hex").write_bytes(uerudp.run("decode", "--fields=raw", ROOT / "captures/fuzz.pcapng", status=1).stdout)
        (path / "login.txt").write_bytes((ROOT / "tests/scenarios/history-overflow-unsent-acks.txt").read_bytes())
        (path / "uerudp").symlink_to(pathlib.Path(uerudp.PROGRAM).resolve())

    def run_example(self, path, command):
        command = re.sub(r"tcpdump [^|]*\|", "cat game.pcapng |", command)
        result = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=path, capture_output=True, timeout=60,
                                env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}"})
        self.assertIn(result.returncode, (0, 1), f"{command}\n{result.stderr.decode()}")
        self.assertNotRegex(result.stderr.decode(), r"cannot open|not found|jq: error", command)


class Tested(unittest.TestCase):
    def test_every_option(self):
        """A test of the subcommand uses the option."""
        texts = [path.read_text() for folder in ("tests/tools", "tests/bench") for path in sorted((ROOT / folder).rglob("*.py"))
                 if path.name != pathlib.Path(__file__).name]
        texts.append((ROOT / "captures/make").read_text())
        missing = []
        for name in SUBCOMMANDS:
            about = [text for text in texts if re.search(rf"\b{name}\b", text)]
            for option, _ in options(name):
                if not any(re.search(rf"{option}(?![a-z-])", text) for text in about):
                    missing.append(f"{name} {option}")
        self.assertEqual([], missing)


if __name__ == "__main__":
    uerudp.main()
