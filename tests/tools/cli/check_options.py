#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Invalid option values, port 0, and directories instead of files are errors, and nothing is started."""
import re
import subprocess
import tempfile
import unittest

import uerudp

ROOT = uerudp.ROOT
SAMPLE = ROOT / "captures/login.pcapng"
SCRIPT = next(path for path in sorted((ROOT / "tests/scenarios").rglob("legacy-ack-written-twice.txt")))
HERE = "127.0.0.1:9"  # each command exits before it sends
NUMERIC = re.compile(r"NUMBER|SECONDS|MS|HZ|P|BYTES|N|PORTS?|X|N\[.*")
IMPOSSIBLE = ("", "x", "nan", "inf", "-1", "9" * 23, "1e300", "1,x")


def commands(folder):
    """Valid arguments of each subcommand."""
    out = f"{folder}/out.pcapng"
    return {"decode": ["--quiet", SAMPLE], "info": [SAMPLE], "trace": [SAMPLE], "edit": [SAMPLE, out],
            "generate": ["login", "--no-sidecar", "-o", out], "replay": ["--wire", HERE, SAMPLE],
            "encode": [ROOT / "captures/example-5.5.jsonl", "-o", out], "serve": ["--port=0"], "connect": [HERE],
            "link": ["0", HERE], "script": [SCRIPT], "doctor": []}


def numeric_options(command):
    text = uerudp.run(command, "--help").stdout.decode()
    found = re.findall(r"^  (?:-\w, )?--([\w-]+)=(\S+)", text, re.M)
    return [option for option, unit in found if NUMERIC.fullmatch(unit)]


def outcome(*arguments):
    """(exit status, standard error); None for a program that was started."""
    try:
        result = subprocess.run([uerudp.PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                                timeout=20)
    except subprocess.TimeoutExpired:
        return None, ""
    return result.returncode, result.stderr.decode()


class Values(unittest.TestCase):
    def refuse(self, *arguments, why):
        status, error = outcome(*arguments)
        self.assertEqual((2, True), (status, why in error), (arguments, error))

    def test_invalid_numbers(self):
        count = 0
        with tempfile.TemporaryDirectory() as folder:
            for command, rest in commands(folder).items():
                for option in numeric_options(command):
                    for value in IMPOSSIBLE:
                        if (option, value) != ("shift", "-1"):
                            why = "" if (command, option) == ("script", "listen") else option  # the script is for no host
                            self.refuse(command, *rest, f"--{option}={value}", why=why)
                            count += 1
        self.assertGreater(count, 1000)

    def test_zero(self):
        for arguments in (["edit", "--frames=0", SAMPLE, "-"], ["edit", "--frames=0-5", SAMPLE, "-"],
                          ["decode", "-i", "lo", "--count=0"], ["decode", "-i", "lo", "--duration=0"],
                          ["decode", "--port=0", SAMPLE], ["info", "--port=0-5", SAMPLE],
                          ["replay", "--wire", HERE, "--pps=0", SAMPLE], ["connect", "--timeout=0", HERE],
                          ["serve", "--port=0", "--max-clients=0"], ["generate", "--connections=0", "login"],
                          ["link", "--max-clients=0", "0", HERE], ["link", "--idle=0", "0", HERE],
                          ["serve", "--port=0", "--tick=0"], ["connect", "--tick=0", HERE]):
            option = next(word for word in arguments if re.fullmatch(r"--[\w-]+=0\S*", str(word)) and word != "--port=0"
                          or arguments[0] == "decode" and word == "--port=0")
            self.refuse(*arguments, why=option.split("=")[0])

    def test_time_spans(self):
        for arguments in (["--from=-1"], ["--to=-0.5"], ["--from=0x10"], ["--from=5", "--to=3"], ["--to=1.", "--from="]):
            self.refuse("edit", *arguments, SAMPLE, "-", why="--")
        whole = uerudp.run("edit", SAMPLE, "-").stdout
        self.assertEqual(whole, uerudp.run("edit", "--shift=-0", SAMPLE, "-").stdout)
        some = [uerudp.run("edit", *cut, SAMPLE, "-").stdout for cut in (["--from=0", "--to=99999"], ["--frames=1-"])]
        self.assertEqual([len(uerudp.decode(SAMPLE))] * 2, [len(uerudp.decode("-", data=each)) for each in some])

    def test_port_0(self):
        for arguments in (["connect", "127.0.0.1:0"], ["link", "0", "127.0.0.1:0"], ["replay", "--live=[::1]:0", SAMPLE],
                          ["replay", "--wire=127.0.0.1:0", SAMPLE]):
            self.refuse(*arguments, why="port 0")
        self.refuse("script", "--host=127.0.0.1:0", ROOT / "tests/scenarios/none.txt", why="none.txt")
        with tempfile.NamedTemporaryFile("w", suffix=".ini") as profiles:
            profiles.write("[game]\nbase=5.5\nserver=10.0.0.1:0\n")
            profiles.flush()
            self.refuse("decode", f"--profiles={profiles.name}", SAMPLE, why="server")

    def test_directories(self):
        with tempfile.TemporaryDirectory() as folder:
            for arguments in (["decode", folder], ["info", folder], ["trace", folder], ["replay", folder],
                              ["edit", folder, "-"], ["edit", SAMPLE, folder], ["encode", folder],
                              ["encode", "--from-hex", folder], ["decode", "--hex", folder], ["script", folder],
                              ["generate", folder], ["generate", "login", "-o", folder],
                              ["decode", f"--events={folder}", SAMPLE], ["edit", f"--rules={folder}", SAMPLE, "-"],
                              ["decode", f"--profiles={folder}", SAMPLE], ["connect", f"--file={folder}", HERE],
                              ["connect", f"--pcap={folder}", HERE], ["connect", f"--events={folder}", HERE],
                              ["serve", "--port=0", f"--pcap={folder}"], ["serve", "--port=0", f"--events={folder}"],
                              ["link", f"--pcap={folder}", "0", HERE], ["link", f"--rules={folder}", "0", HERE],
                              ["replay", "--live", HERE, f"--pcap={folder}", SAMPLE]):
                self.refuse(*arguments, why=folder)
            self.refuse("decode", f"--key={folder}", SAMPLE, why="--key")


if __name__ == "__main__":
    uerudp.main()
