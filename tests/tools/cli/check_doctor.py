#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp doctor with a script as tshark, which prints what each case needs, and with the installed tshark."""
import json
import os
import pathlib
import shlex
import shutil
import struct
import subprocess
import tempfile
import unittest

import uerudp

NOBODY = 65534
IS_ROOT = os.geteuid() == 0
MACHINE = pathlib.Path(uerudp.PROGRAM).read_bytes()[18:20]
AARCH64, X86_64 = b"\xb7\0", b"\x3e\0"


def plugin(major=4, minor=0, machine=MACHINE, names=("plugin_want_major", "plugin_want_minor")):
    """A shared library with only the two symbols that hold the series of a plugin."""
    strings = b"\0" + b"".join(name.encode() + b"\0" for name in names)
    numbers = struct.pack("=ii", major, minor)
    symbols, at = bytes(24), 1
    for index, name in enumerate(names):
        symbols += struct.pack("=IBBHQQ", at, 0x11, 0, 3, 0x1000 + 4 * index, 4)
        at += len(name) + 1
    content, sections = b"", [struct.pack("=IIQQQQIIQQ", *[0] * 10)]
    for kind, link, address, data in ((11, 2, 0, symbols), (3, 0, 0, strings), (1, 0, 0x1000, numbers)):
        sections.append(struct.pack("=IIQQQQIIQQ", 0, kind, 0, address, 64 + len(content), len(data), link, 0, 1, 24))
        content += data
    identity = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    head = identity + struct.pack("=H", 3) + machine + struct.pack(
        "=IQQQIHHHHHH", 1, 0, 0, 64 + len(content), 0, 64, 56, 0, 64, len(sections), 0)
    return head + content + b"".join(sections)


class Case(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="uerudp-doctor-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.root.chmod(0o755)
        self.program = self.root / "uerudp"
        shutil.copy(uerudp.PROGRAM, self.program)
        self.bin = self.root / "bin"
        self.bin.mkdir()
        self.personal = self.root / "home/.local/lib/wireshark/plugins/4.0"
        self.everyone = self.root / "lib/wireshark/plugins/4.0"
        self.tshark()
        self.script("dumpcap", "")

    def script(self, name, text):
        path = self.bin / name
        path.write_text("#!/bin/sh\n" + text)
        path.chmod(0o755)
        return path

    def tshark(self, name="tshark", version="4.0.17", loaded=None, complaint=None):
        """A script that prints the version and the plugins as tshark does."""
        folders = (f"Program:             \\t{self.bin}\\nPersonal Plugins:    \\t{self.personal}\\n"
                   f"Global Plugins:      \\t{self.everyone}\\n")
        line = f"uerudp.so       \\t0.1.0\\tdissector\\t{loaded}\\n" if loaded else ""
        complain = f"echo \"tshark: Couldn't load plugin 'uerudp.so': {complaint}\" >&2" if complaint else ":"
        return self.script(name, f"""case "$*" in
--version) echo "TShark (Wireshark) {version} (Git v{version} packaged as {version}-1).";;
"-G folders") printf '{folders}';;
"-G plugins") {complain}; printf 'ethercat.so \\t0.1.0\\tdissector\\t/x/ethercat.so\\n{line}';;
esac
""")

    def put(self, folder, content=None, name="epan/uerudp.so", mode=0o644):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(plugin() if content is None else content)
        path.chmod(mode)
        return path

    def run_doctor(self, *options, status=1, as_root=False, **variables):
        """Run doctor as an ordinary user or as root."""
        nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if IS_ROOT and not as_root else {}
        result = subprocess.run([self.program, "doctor", *map(str, options)], capture_output=True, timeout=60,
                                env={"PATH": str(self.bin), "HOME": str(self.root / "home"), **variables}, **nobody)
        self.assertEqual(result.returncode, status, (result.stdout, result.stderr))
        return result

    def diagnose(self, *options, **rest):
        report = json.loads(self.run_doctor("--json", *options, **rest).stdout)
        report["ids"] = [finding["id"] for finding in report["findings"] if finding["id"] != "no-capture"]
        return report


class Loads(Case):
    def test_loads(self):
        path = self.put(self.personal)
        self.tshark(loaded=path)
        report = self.diagnose(status=0)
        self.assertEqual((report["loads"], report["loaded"], report["loaded_version"], report["ids"]),
                         (True, str(path), "0.1.0", []))
        self.assertEqual((report["schema"], report["wireshark"]["version"], report["wireshark"]["series"]), (1, "4.0.17", "4.0"))
        copy, = report["copies"]
        self.assertEqual((copy["path"], copy["place"], copy["series"]), (str(path), "personal", "4.0"))
        text = self.run_doctor(status=0).stdout.decode()
        self.assertIn(f"It loads the plugin {path}, version 0.1.0.", text)

    def test_several(self):
        path = self.put(self.personal)
        self.put(self.everyone)
        self.tshark(loaded=path)
        report = self.diagnose(status=0)
        self.assertEqual(report["ids"], ["several"])
        self.assertEqual([copy["place"] for copy in report["copies"]], ["global", "personal"])

    def test_variable(self):
        self.tshark(loaded=self.put(self.everyone))
        self.assertEqual(self.diagnose(status=0, WIRESHARK_PLUGIN_DIR=str(self.everyone.parent))["ids"], ["variable"])

    def test_another_file(self):
        """The file of --plugin is not the file that is loaded."""
        self.tshark(loaded=self.put(self.personal))
        built = self.put(self.root / "build/plugins/4.0")
        report = self.diagnose("--plugin", built)
        self.assertEqual(report["ids"], ["wrong-folder"])
        self.assertIn(f"cp '{built}'", report["findings"][0]["advice"])
        odd = self.put(self.root / "it's built")
        advice = self.diagnose("--plugin", odd)["findings"][0]["advice"]
        make, copy = advice.split(" && ")
        self.assertEqual(["mkdir", "-p", f"{self.personal}/epan/"], shlex.split(make))
        self.assertEqual(["cp", str(odd), f"{self.personal}/epan/"], shlex.split(copy))
        self.diagnose("--plugin", self.personal / "epan/uerudp.so", status=0)


class DoesNotLoad(Case):
    def check_file(self, content, expected, **rest):
        self.put(self.personal, content, **rest)
        report = self.diagnose()
        self.assertEqual(report["ids"], [expected])
        self.assertIn(str(self.personal), report["findings"][0]["text"])
        return report["findings"][0]

    def test_missing(self):
        report = self.diagnose()
        self.assertEqual((report["ids"], report["copies"]), (["missing"], []))
        self.assertIn("install-user", report["findings"][0]["advice"])
        self.assertIn("It does not load the plugin.", self.run_doctor().stdout.decode())

    def test_wrong_series(self):
        finding = self.check_file(plugin(4, 4), "wrong-series")
        self.assertIn("built for Wireshark 4.4, but this Wireshark is 4.0.17", finding["text"])

    def test_wrong_architecture(self):
        other = AARCH64 if MACHINE != AARCH64 else X86_64
        finding = self.check_file(plugin(machine=other), "wrong-architecture")
        self.assertRegex(finding["text"], "AArch64|x86-64")

    def test_32_bits(self):
        self.check_file(bytes([*b"\x7fELF", 1, *plugin()[5:]]), "wrong-architecture")

    def test_not_a_plugin(self):
        self.check_file(b"-- a script in another language, which goes on for more than a header\n", "not-a-plugin")
        self.check_file(plugin(names=("something", "else")), "not-a-plugin")

    def test_damaged(self):
        whole = plugin()
        for size in (0, 10, 60, len(whole) // 2, len(whole) - 1):
            self.check_file(whole[:size], "damaged")

    def test_hostile(self):
        """doctor reports a finding whichever byte is damaged."""
        whole = plugin()
        for at in range(40, len(whole), 17):
            self.put(self.personal, whole[:at] + b"\xff" + whole[at + 1:])
            self.run_doctor("--json")

    def test_unreadable(self):
        finding = self.check_file(plugin(), "unreadable", mode=0)
        self.assertIn("chmod a+r", finding["advice"])

    def test_wrong_folder(self):
        for folder, name in ((self.personal, "uerudp.so"), (self.personal.parent, "uerudp.so"),
                             (self.personal.parent / "4.2", "epan/uerudp.so"), (self.everyone, "uerudp.so")):
            path = self.put(folder, name=name)
            report = self.diagnose()
            self.assertEqual((report["ids"], report["copies"][0]["place"]), (["wrong-folder"], "wrong"))
            path.unlink()

    def test_variable_without_series(self):
        folder = self.root / "elsewhere"
        self.put(folder, name="uerudp.so")
        self.assertEqual(self.diagnose(WIRESHARK_PLUGIN_DIR=str(folder))["ids"], ["wrong-folder", "variable"])

    def test_refused(self):
        self.put(self.personal)
        self.tshark(complaint="libwireshark.so.18: cannot open shared object file")
        report = self.diagnose()
        self.assertEqual(report["ids"], ["refused"])
        self.assertIn("libwireshark.so.18", report["findings"][0]["text"])

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_root(self):
        self.put(self.personal)
        report = self.diagnose(as_root=True)
        self.assertEqual((report["ids"], report["root"]), (["root"], True))
        report = self.diagnose(as_root=True, WIRESHARK_PLUGIN_DIR=str(self.everyone.parent))
        self.assertEqual(report["ids"], ["root", "root"])

    def test_no_wireshark(self):
        (self.bin / "tshark").unlink()
        report = self.diagnose()
        self.assertEqual((report["ids"], report["wireshark"]), (["no-wireshark"], None))
        self.script("tshark", "echo something else\n")
        self.assertEqual(self.diagnose()["ids"], ["no-wireshark"])


class Options(Case):
    def test_other_wireshark(self):
        other = self.tshark(name="tshark-4.4", version="4.4.18")
        self.put(self.personal)
        self.assertEqual(self.diagnose("--wireshark", other)["ids"], ["wrong-series"])

    def test_unusable(self):
        for options in (["--wireshark", self.root / "absent"], ["--plugin", self.root / "absent"], ["x"], ["--nosuch"]):
            self.assertEqual(self.run_doctor(*options, status=2).stderr.count(b"\n"), 1)

    def capture_advice(self, mode):
        (self.bin / "dumpcap").chmod(mode)
        report = json.loads(self.run_doctor("--json").stdout)
        advice = [finding["advice"] for finding in report["findings"] if finding["id"] == "no-capture"]
        self.assertEqual(report["can_capture"], not advice)
        return "".join(advice)

    def test_capture(self):
        self.assertIn("setcap", self.capture_advice(0o755))
        (self.bin / "dumpcap").unlink()
        report = json.loads(self.run_doctor("--json").stdout)
        self.assertEqual(report["findings"][-1]["id"], "no-capture")

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_capture_rights(self):
        self.assertIn("usermod", self.capture_advice(0o750))
        self.assertEqual(self.capture_advice(0o4755), "")

    @unittest.skipUnless(shutil.which("tshark"), "needs tshark")
    def test_real(self):
        variables = {"WIRESHARK_EXTCAP_DIR": "/nonexistent"}
        report = self.diagnose("--wireshark", shutil.which("tshark"), **variables)
        self.assertRegex(report["wireshark"]["version"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(report["ids"], ["missing"])
        built = os.environ.get("UERUDP_PLUGINS")
        if built and os.environ.get("UERUDP_PRELOAD") is None and pathlib.Path(built).is_dir():
            folder = self.root / "plugins"
            shutil.copytree(built, folder)
            subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
            report = self.diagnose("--wireshark", shutil.which("tshark"), status=0, WIRESHARK_PLUGIN_DIR=str(folder),
                                 **variables)
            self.assertEqual((report["ids"], report["copies"][0]["series"]), (["variable"], report["wireshark"]["series"]))


if __name__ == "__main__":
    uerudp.main()
