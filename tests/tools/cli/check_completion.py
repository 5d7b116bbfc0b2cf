#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The completion of command lines in bash, fish and zsh."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import uerudp

SCRIPT = uerudp.ROOT / "tools/completion/uerudp.bash"
ZSH = pathlib.Path(__file__).resolve().parent / "complete.zsh"
ASK = 'source "$1"; COMP_WORDS=("${@:2}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _uerudp; printf "%s\\n" "${COMPREPLY[@]}"'


def complete(*words, folder=None):
    """The completions of the last word."""
    result = subprocess.run(["bash", "-c", ASK, "bash", SCRIPT, uerudp.PROGRAM, *words], capture_output=True, text=True,
                            timeout=60, cwd=folder, check=True)
    if result.stderr:
        raise AssertionError(result.stderr)
    return result.stdout.split()


class Completion(unittest.TestCase):
    def test_subcommands(self):
        everything = complete("")
        for name in ("decode", "encode", "serve", "connect", "link", "doctor", "help", "--version"):
            self.assertIn(name, everything)
        self.assertEqual(complete("deco"), ["decode"])
        self.assertEqual(complete("--v"), ["--version"])
        self.assertEqual(complete("help", "deco"), ["decode"])

    def test_options(self):
        self.assertEqual(complete("decode", "--js"), ["--json"])
        self.assertEqual(complete("link", "--up-lo"), ["--up-loss", "--up-loss-burst"])
        self.assertEqual(complete("connect", "--che"), ["--check"])
        self.assertIn("-o", complete("encode", "-"))
        self.assertIn("--output", complete("encode", "--out"))
        self.assertEqual(complete("doctor", "--he"), ["--help"])

    def test_every_option(self):
        """Every option that begins a line of the help is completed."""
        for subcommand in complete(""):
            if subcommand.startswith("-") or subcommand == "help":
                continue
            text = uerudp.run(subcommand, "--help").stdout.decode()
            options = [line.split("=")[0].split()[-1 if ", --" in line.split("=")[0][:12] else 0]
                       for line in text.splitlines() if line.startswith("  --")]
            self.assertLessEqual(set(options), set(complete(subcommand, "--")), subcommand)

    def test_generations(self):
        self.assertEqual(complete("decode", "--generation", "5."), [f"5.{minor}" for minor in range(9)])
        self.assertEqual(complete("decode", "--generation", "=", "au"), ["auto"])
        self.assertEqual(len(complete("link", "--generation", "=")), 25)
        for subcommand, option in (("serve", "--generation"), ("connect", "--generation"), ("generate", "--generation"),
                                   ("edit", "--to-generation")):  # options of output have no release "auto"
            self.assertEqual(len(complete(subcommand, option, "=")), 24, subcommand)
        for name in complete("decode", "--generation", ""):
            uerudp.run("encode", "--generation", name, data=b"")

    def test_words(self):
        self.assertEqual(complete("serve", "--mode", "s"), ["sink", "scenario"])
        self.assertEqual(complete("generate", "--capture-at", "s"), ["server", "sender"])
        self.assertEqual(complete("decode", "--kind", "un"), ["unreliable"])
        self.assertEqual(complete("link", "--pkt", "PktLo"), ["PktLoss="])
        self.assertEqual(complete("serve", "--port", ""), [])

    def test_modes_of_replay(self):
        names = complete("replay", "--mode", "")
        self.assertEqual(sorted(names), ["check", "live", "observe", "wire"])
        for name in names:
            result = subprocess.run([uerudp.PROGRAM, "replay", f"--mode={name}", os.devnull], capture_output=True, timeout=60)
            self.assertNotIn(b"there is no mode", result.stderr, name)

    def test_scenarios(self):
        if "generate" not in complete(""):
            self.skipTest("there is no generate")
        names = complete("serve", "--scenario", "")
        self.assertGreater(len(names), 5)
        self.assertIn(names[0], complete("generate", names[0][:2]))

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("game.pcapng", "gamma"):
                (pathlib.Path(folder) / name).touch()
            for words in (["decode"], ["decode", "--json"], ["link", "--pcap"], ["link", "--pcap", "="],
                          ["encode", "-o"], ["encode", "--output"], ["doctor", "--plugin"], ["decode", "--key"]):
                self.assertEqual(sorted(complete(*words, "ga", folder=folder)), ["game.pcapng", "gamma"], words)
            self.assertEqual(complete("decode", "--stream", "ga", folder=folder), [])


class OtherShells(unittest.TestCase):
    """fish and zsh, where they are installed."""

    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.folder = pathlib.Path(folder)
        (cls.folder / "uerudp").symlink_to(uerudp.PROGRAM)
        (cls.folder / "_uerudp").write_bytes(SCRIPT.with_suffix(".zsh").read_bytes())

    def run_shell(self, *command):
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        variables = os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}", "TERM": "dumb", "HOME": str(self.folder)}
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=self.folder, env=variables,
                                check=True, stdin=subprocess.DEVNULL)
        return result.stdout.splitlines()

    def fish(self, line):
        lines = self.run_shell("fish", "-N", "-c", f"source {SCRIPT.with_suffix('.fish')}; complete -C '{line}'")
        return [text.split("\t")[0] for text in lines]

    def zsh(self, line):
        return [text for text in self.run_shell("zsh", "-f", str(ZSH), str(self.folder), line) if text]

    def assert_offers(self, complete):
        self.assertEqual(complete("uerudp deco"), ["decode"])
        self.assertEqual(complete("uerudp help deco"), ["decode"])
        self.assertEqual(complete("uerudp generate mix"), ["mixed"])
        self.assertIn("--json", complete("uerudp decode --js"))
        self.assertEqual({value.split("=")[-1] for value in complete("uerudp decode --generation=5.")},
                         {f"5.{minor}" for minor in range(9)})
        self.assertEqual({value.split("=")[-1] for value in complete("uerudp info --color=a")}, {"auto", "always"})
        (self.folder / "capture.pcapng").touch()
        self.assertEqual(complete("uerudp info capt"), ["capture.pcapng"])

    def test_fish(self):
        self.assert_offers(self.fish)

    def test_zsh(self):
        self.assert_offers(self.zsh)


if __name__ == "__main__":
    if shutil.which("bash") is None or os.name != "posix":
        sys.exit(77)
    uerudp.main()
