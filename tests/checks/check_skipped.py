#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/support/skipped.py finds every skipped test, and skipped part of a test, in a report of ctest, with the reason."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import recordings

SCRIPT = recordings.ROOT / "tests/support/skipped.py"

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(skips NONE)
enable_testing()
function(add name)
    add_test(NAME ${name} COMMAND sh -c "${ARGN}")
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()
add(passes "seq 2000")
add(fails "echo skipped: nothing && false")
add(whole "echo 'skipped: bits.json needs the folder UERUDP_SHARED' && exit 77")
add(parts "seq 2000 && echo 'test_a ... skipped: one needs the folder UERUDP_SHARED' && echo '.skipped: two needs the folder UERUDP_SHARED'")
add(tool "echo 'no such program' && exit 77")
add(disabled true)
set_tests_properties(disabled PROPERTIES DISABLED TRUE)
"""


class Skipped(unittest.TestCase):
    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            (work / "CMakeLists.txt").write_text(PROJECT)
            subprocess.run(["cmake", "-G", "Ninja", "-S", work, "-B", work / "build"], check=True, stdout=subprocess.DEVNULL)
            subprocess.run(["ctest", "--test-dir", work / "build", "--test-output-size-passed", "100000",
                            "--output-junit", work / "report.xml"], check=False, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            found = subprocess.run([sys.executable, SCRIPT, work / "report.xml"], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout.splitlines()
        self.assertEqual(found, ["folder whole: bits.json", "folder parts: one", "folder parts: two", "other tool",
                                 "other disabled"])

    def test_recording_without_the_folder(self):
        """A test of a recording that this tree does not have is skipped, and the script continues."""
        script = ("import recordings, unittest\n"
                  "class T(unittest.TestCase):\n"
                  "    def test_own(self):\n        self.assertTrue(recordings.path('utcp-loss').is_file())\n"
                  "    def test_other(self):\n        recordings.path('supervive-ue54')\n"
                  "    def test_sub(self):\n        with self.subTest(1):\n            recordings.path('supervive-ue54')\n"
                  "unittest.main()\n")
        result = subprocess.run([sys.executable, "-B", "-c", script], env=os.environ | {"UERUDP_SHARED": "/nonexistent"},
                                text=True, capture_output=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("skipped=2", result.stderr)
        self.assertEqual(result.stdout.count("skipped: supervive-ue54 needs the folder UERUDP_SHARED\n"), 2)

    def test_own_files(self):
        """Each recording of this tree has its expected decode, and its vectors need no folder."""
        names = sorted(path.stem for path in recordings.OWN.glob("*.pcap"))
        self.assertEqual(len(names), 6)
        for name in names:
            self.assertEqual(recordings.path(name).parent, recordings.OWN)
            self.assertTrue(recordings.path(name).with_suffix(".expected.json").is_file(), name)
        for file in recordings.OWN_VECTORS.glob("*.json"):
            self.assertTrue(recordings.vectors(file.name), file)


if __name__ == "__main__":
    unittest.main()
