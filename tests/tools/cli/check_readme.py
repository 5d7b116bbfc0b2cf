#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The commands in README.md and in documents about the program run and print the output that is shown there (sessions.py)."""
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import unittest

import uerudp
from sessions import NUMBER, ROOT, blocks, outputs, pattern, script


def free_port():
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        probe.bind(("::", 0))
        return str(probe.getsockname()[1])


def is_live(session):
    return any("uerudp serve" in command for command, _ in session)


class Folder:
    """A folder with the captures and the files that the text names, and the program in PATH."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder)
        (self.path / "uerudp").symlink_to(pathlib.Path(uerudp.PROGRAM).resolve())
        (self.path / "build/release/tools").mkdir(parents=True)
        (self.path / "build/release/tools/uerudp").symlink_to(pathlib.Path(uerudp.PROGRAM).resolve())
        (self.path / "captures").symlink_to(ROOT / "captures")
        game = ROOT / "captures/mixed.pcapng"
        (self.path / "game.pcapng").write_bytes(game.read_bytes())
        (self.path / "game.jsonl").write_bytes(uerudp.run("decode", "--json", game).stdout)

    def files(self):
        return {path.name for path in self.path.iterdir()}

    def run(self, script):
        environment = {**os.environ, "PATH": f"{self.path}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        return subprocess.run(["bash", "-c", script], cwd=self.path, capture_output=True, env=environment, timeout=120)


class Documents(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Folder(folder.name)
        elsewhere = tempfile.TemporaryDirectory()
        self.addCleanup(elsewhere.cleanup)
        self.elsewhere = elsewhere.name

    def play(self, session):
        """The output of each command."""
        steps = []
        for command, shown in session:
            if command.startswith("cat "):  # prints a file that the reader of the document writes
                (self.folder.path / command.split()[1]).write_text(shown)
            steps.append(command)
        text = script(steps).replace("/tmp/", f"{self.elsewhere}/")
        if is_live(session):
            ports = {"7777": free_port(), "7778": free_port()}
            text = re.sub(r"\b777[78]\b", lambda port: ports[port[0]], text)
        result = self.folder.run(text)
        self.assertEqual(0, result.returncode, result.stderr.decode())
        return outputs(result.stdout.decode()), result.stderr.decode()

    def compare(self, document):
        shown_lines = 0
        for session in blocks(document):
            if session[0][0].startswith("tools/dissect"):  # a test of the plugin
                continue
            printed_texts, errors = self.play(session)
            for (command, shown), output in zip(session, printed_texts, strict=True):
                if shown:
                    self.assertRegex(output, rf"\A{pattern(shown, False)}\Z", f"{command}\n{errors}")
                    shown_lines += len(shown.splitlines())
        return shown_lines

    def test_readme(self):
        """The commands print what is shown, and leave nothing behind in the clone."""
        before = self.folder.files()
        self.assertGreater(self.compare("README.md"), 20)
        self.assertEqual(before, self.folder.files())

    def test_program(self):
        self.compare("docs/program.md")

    def test_guide(self):
        self.assertGreater(self.compare("docs/guide.md"), 10)

    def test_troubleshooting(self):
        self.assertGreater(self.compare("docs/troubleshooting.md"), 8)

    def test_size(self):
        lines = (ROOT / "README.md").read_text().splitlines()
        self.assertLessEqual(len(lines), 150)
        self.assertLessEqual(max(map(len, lines)), 140)

    def test_json(self):
        self.assertGreater(self.compare("docs/json.md"), 3)

    def test_lists(self):
        """Indented commands, with remarks in a column after them, run."""
        text = (ROOT / "README.md").read_text() + (ROOT / "docs/program.md").read_text()
        commands = re.findall(r"^    ((?:build/release/tools/)?uerudp .*?)(?:   .*)?$", text, re.M)
        self.assertGreater(len(commands), 6)
        for command in commands:
            result = self.folder.run(f"set -o pipefail; {command}")
            self.assertEqual(0, result.returncode, f"{command}\n{result.stderr.decode()}")

    def test_links(self):
        """The files that the documents link to exist."""
        for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
            for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
                self.assertTrue((document.parent / target).exists(), f"{document}: {target}")

    def test_subcommands(self):
        """The documents name every subcommand, and README.md names no other one."""
        known = set(re.findall(r"^  (\w+) ", uerudp.run("help").stdout.decode(), re.M)) - {"help"}
        text = (ROOT / "README.md").read_text()
        reference = (ROOT / "docs/program.md").read_text()
        self.assertEqual(set(), {name for name in known if f"| `{name}`" not in reference and f", `{name}` |" not in reference})
        for command in re.findall(r"\$ (.*uerudp .*)", text):
            named = set(re.findall(r"uerudp (\w+)", command))
            self.assertLessEqual(named, known, command)


class Patterns(unittest.TestCase):
    """The comparison finds differences."""

    def test_pattern(self):
        for shown, output, same in (("a\n", "a\n", True), ("a\n", "b\n", False), ("a\n", "a\nb\n", False), ("a\n...\n", "a\nb\n", True),
                                    ("a\n  ...\nc\n", "a\nb\nc\n", True), ("a\n...\nc\n", "a\nb\n", False), ("x 1", "x 2", False)):
            self.assertEqual(same, re.fullmatch(pattern(shown, False), output) is not None, shown)
        self.assertTrue(re.fullmatch(pattern("x 12.5 ms", True), NUMBER.sub("#", "x 3 ms\n")))
        self.assertFalse(re.fullmatch(pattern("x 12.5 ms", True), NUMBER.sub("#", "y 3 ms\n")))


if __name__ == "__main__":
    uerudp.main()
