#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print the tests and parts of tests that a report (ctest --output-junit) has as skipped, one line each.

usage: skipped.py REPORT

"folder NAME: WHAT" is a test, or a part of a test that passed, which printed that it needs the folder UERUDP_SHARED;
"other NAME" is a test that was skipped or disabled for another reason.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

NEEDS_FOLDER = re.compile(r"skipped: (.+) needs the folder UERUDP_SHARED$", re.MULTILINE)


def skips(case):
    name = case.get("name")
    found = [f"folder {name}: {what}" for what in NEEDS_FOLDER.findall(case.findtext("system-out") or "")]
    is_whole = case.find("skipped") is not None or case.get("status") == "disabled"
    return found[:1] or [f"other {name}"] if is_whole else found


def main():
    for case in ElementTree.parse(sys.argv[1]).iter("testcase"):
        for line in skips(case):
            print(line)


if __name__ == "__main__":
    main()
