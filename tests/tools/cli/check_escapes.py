#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Texts from files, captures and the command line are printed escaped: no control characters, and no characters that
reorder or hide text."""
import json
import subprocess
import tempfile
import unittest

import live
import uerudp
from control_message import message_payload, partial_capture

ROOT = uerudp.ROOT
SAMPLE = ROOT / "captures/login.pcapng"
EVIL = "a\x1b]0;x\x07\x9b31m\u202e\u2066\u200f\u061c\u2028\u2029\ufeff\u200b\u00ad\U000e0041z"
GOOD = "\u00e9 \u6f22\u5b57 \u0639\u0631\u0628\u064a \U0001f600"
RAW = EVIL.encode() + b"\x9b31m\xff"  # with bytes that are not UTF-8
HIDDEN = set(EVIL) - set("a]0;x31mz")


def outputs(*arguments, data=b""):
    result = subprocess.run([uerudp.PROGRAM, *arguments], input=data, capture_output=True, timeout=60)
    assert result.returncode in (0, 1, 2), (arguments, result)
    return result.stdout, result.stderr


class Escapes(unittest.TestCase):
    def clean(self, *arguments, data=b"", shown=True):
        """Standard output and standard error, one of which has the escaped text."""
        both = outputs(*arguments, data=data)
        for output in both:
            try:
                text = output.decode()
            except UnicodeDecodeError:
                self.fail(f"{arguments}: {output} is no UTF-8")
            hidden = {hex(ord(each)) for each in text if each in HIDDEN or (ord(each) < 32 and each != "\n") or
                      0x7f <= ord(each) < 0xa0}
            self.assertEqual(set(), hidden - ({"0x9"} if "--fields=raw,bunch.name_text" in arguments else set()), (arguments, text))
        if shown:
            self.assertIn(b"\\x1b", b"".join(both), arguments)
        return both


class Files(Escapes):
    """Error messages about input files of each kind."""

    def file(self, data):
        handle = tempfile.NamedTemporaryFile(suffix=".txt")
        self.addCleanup(handle.close)
        handle.write(data)
        handle.flush()
        return handle.name

    def test_rules(self):
        for text in (RAW, b"drop " + RAW, b"drop channel=" + RAW, b"drop p=" + RAW, b"corrupt@" + RAW):
            self.clean("edit", "--rules", self.file(text), SAMPLE, "/dev/null")
            self.clean("link", "--rules", self.file(text), "0", "127.0.0.1:9")
            self.clean("edit", "--rule", text, SAMPLE, "/dev/null", shown=False)

    def test_matching_rules(self):
        _, error = outputs("edit", "--rule", "drop message=Hello frame=1", SAMPLE, "/dev/null")
        self.assertIn(b"0 datagrams", error)
        self.clean("edit", "--rules", self.file(b"drop \x1b frame=1"), SAMPLE, "/dev/null")

    def test_profiles(self):
        for text in (RAW, b"[" + RAW + b"]\nbase=5.5\nx=1\n", b"[game]\n" + RAW + b"=1\n", b"[game]\nbase=" + RAW + b"\n",
                     b"[game]\nserver=" + RAW + b"\n", b"[game]\nbase=5.5\nmax_packet=" + RAW + b"\n"):
            self.clean("decode", "--profiles", self.file(text), SAMPLE, shown=False)

    def test_scenarios(self):
        for text in (RAW, b"[" + RAW + b"]\n", b"[scenario]\n" + RAW + b"=1\n", b"[scenario]\nduration=" + RAW + b"\n",
                     b"[scenario]\nname=" + RAW + b"\nduration=1\n[client]\ntick=x\n", b"[scenario]\nending=" + RAW + b"\n",
                     b"[stream " + RAW + b"]\nfrom=x\n"):
            self.clean("generate", self.file(text), "-o", "/dev/null", shown=False)

    def test_scripts(self):
        for text in (RAW, b"fixture\n" + RAW + b"\n", b"fixture " + RAW + b"\n", b"generation " + RAW + b"\n",
                     b"fixture\nC send 5 " + RAW + b"\n"):
            for options in ([], ["--verbose"], ["--json"]):
                if options != ["--json"]:
                    self.clean("script", *options, self.file(text), shown=False)
        self.clean("script", "--verbose", self.file(b"# " + RAW + b"\n" + RAW), shown=False)

    def test_json(self):
        for text in (RAW, b'{"' + RAW + b'":1}', json.dumps({"generation": EVIL}).encode(),
                     json.dumps({"generation": "5.5", EVIL: 1}).encode(),
                     json.dumps({"generation": "5.5", "bunches": [{EVIL: 1}]}).encode(),
                     json.dumps({"generation": "5.5", "src": EVIL}).encode(),
                     json.dumps({"generation": "5.5", "packet": {"seq": EVIL}}).encode(),
                     json.dumps({"generation": "5.5", "settings": {EVIL: 1}}).encode(),
                     json.dumps({"generation": "5.5", "bunches": [{"messages": [{EVIL: {}}]}]}).encode()):
            self.clean("encode", "-o", "/dev/null", self.file(text), shown=False)

    def test_others(self):
        for arguments in (["decode"], ["decode", "--hex"], ["encode", "--from-hex", "-o", "/dev/null"], ["info"]):
            self.clean(*arguments, self.file(RAW), shown=False)
        self.clean("decode", "--key", self.file(RAW + b" x"), SAMPLE, shown=False)

    def test_names(self):
        """File names and arguments."""
        with tempfile.TemporaryDirectory() as folder:
            missing = folder.encode() + b"/" + RAW
            for arguments in (["decode", missing], ["info", missing], ["trace", missing], ["replay", missing], ["encode", "-o", "/dev/null", missing],
                              ["edit", missing, "-"], ["edit", SAMPLE, missing + b"/x"], ["script", missing], ["generate", missing],
                              ["generate", "login", "-o", missing + b"/x"], ["decode", b"--profiles=" + missing, SAMPLE],
                              ["edit", b"--rules=" + missing, SAMPLE, "-"], ["connect", b"--file=" + missing, "127.0.0.1:9"],
                              ["decode", b"--events=" + missing + b"/x", SAMPLE], ["connect", RAW], ["serve", b"--bind=" + RAW],
                              [RAW], ["decode", b"--" + RAW], ["decode", b"--generation=" + RAW, SAMPLE],
                              ["decode", b"--fields=" + RAW, SAMPLE], ["info", b"--stream=" + RAW, SAMPLE],
                              ["edit", b"--from=" + RAW, SAMPLE, "-"], ["generate", b"--seed=" + RAW, "login"],
                              ["decode", b"--handlers=" + RAW, SAMPLE], ["trace", "--svg", b"--browser=" + RAW, SAMPLE, "-o",
                                                                         folder + "/p.html"]):
                self.clean(*arguments, shown=False)
            self.clean("decode", missing)
            self.clean("decode", missing + b"/x")

    def test_doctor(self):
        with tempfile.TemporaryDirectory() as folder:
            self.clean("doctor", b"--plugin=" + folder.encode() + b"/" + RAW, shown=False)


class Captures(Escapes):
    """Texts of a capture in each text output."""

    def capture(self, text):
        bunches = [{"reliable": True, "ch_seq": 5, "messages": [{"login": {"url": f"?Name={text}", "response": text, "platform": text},
                                                             "unique_id": {"text": text}}, {"close_reason": {"text": text}}]},
                   {"reliable": True, "ch_seq": 6, "messages": [{"failure": {"text": text}}]},
                   {"open": True, "control": True, "reliable": True, "channel": 5, "ch_seq": 3, "data": "00",
                    "name_hardcoded": False, "name_text": text, "name_number": 0}]
        objects = [{"generation": "5.5", "direction": 1, "packet": {"seq": 100 + number, "ack": 10, "history": [1]}, "bunches": [bunch]}
                   for number, bunch in enumerate(bunches)]
        return uerudp.pcap([(50000, 7777, each) for each in uerudp.encode(objects)])

    OUTPUTS = (["decode"], ["decode", "--content"], ["decode", "--json"], ["decode", "--fields=control.login.url,bunch.name_text"],
               ["decode", "--fields=control.login.url,bunch.name_text", "--separator=comma"], ["info"], ["replay"],
               ["decode", "--json", "--content"])

    def test_hidden(self):
        capture, parts = self.capture(EVIL), partial_capture("5.5", message_payload("5.5", {"login": {"url": EVIL}}))
        for arguments in self.OUTPUTS:
            for each in (capture, parts):
                with self.subTest(arguments):
                    out, _ = outputs(*arguments, "--generation=5.5", "-", data=each)
                    hidden = {hex(ord(character)) for character in out.decode() if character in HIDDEN}
                    self.assertEqual(set(), hidden, out)
        for arguments in self.OUTPUTS[:1] + self.OUTPUTS[3:4]:
            out, _ = outputs(*arguments, "--generation=5.5", "-", data=capture)
            for shown in (b"\\x1b", b"\\x9b", b"\\u202e", b"\\u2066", b"\\u2028", b"\\ufeff", b"\\U000e0041"):
                self.assertIn(shown, out)

    def test_text_in_json(self):
        login = uerudp.decode("--generation=5.5", "-", data=self.capture(EVIL), status=None)[0]["bunches"][0]["messages"][0]
        self.assertEqual(EVIL, login["login"]["response"])
        lines = uerudp.run("decode", "--json", "--generation=5.5", "-", data=self.capture(EVIL), status=None).stdout
        self.assertEqual(uerudp.run("decode", "--fields=raw", "--generation=5.5", "-", data=self.capture(EVIL), status=None).stdout.split(),
                         [line.split()[1] for line in uerudp.run("encode", "--hex", "-", data=lines).stdout.splitlines()])

    def test_letters_are_unchanged(self):
        """Letters of any script and emoji are printed unchanged."""
        for arguments in (["decode"], ["decode", "--fields=control.login.response"]):
            self.assertIn(GOOD, outputs(*arguments, "--generation=5.5", "-", data=self.capture(GOOD))[0].decode())
        _, error = outputs("decode", f"/nonexistent/{GOOD}/C:\\x")
        self.assertIn(f"/nonexistent/{GOOD}/C:\\x", error.decode())


class Programs(unittest.TestCase):
    def test_player_name(self):
        """The name of a player in the reports of serve."""
        with live.Server("--tick=120") as server:
            live.client(server, "--tick=120", f"--name={EVIL}{GOOD}")
        url = server.reported("joined")["url"]
        self.assertEqual(set(), HIDDEN & set(url))
        self.assertIn(GOOD.split()[1], url)


if __name__ == "__main__":
    uerudp.main()
