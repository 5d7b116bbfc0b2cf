#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/protocol.md names a capture for each field of the wire, which has that field; what it has no capture for, and
what is not on the wire, it lists, too."""
import json
import re
import unittest

import uerudp
from recordings import ROOT

PROTOCOL = (ROOT / "docs/protocol.md").read_text()
# Fields of the plugin's analysis follow the codec's.
CATALOGUE = next(ROOT.glob("libcodec/**/fields.def")).read_text().split("/* Analysis")[0]
FIELDS = re.findall(r'^UE_FIELD\((?!NONE)\w+, "([\w.]+)"', CATALOGUE, re.M)


def section(number):
    return re.search(rf"^## {number}\. .*?(?=^## |\Z)", PROTOCOL, re.M | re.S)[0]


def rows():
    """(capture, options, fields) of section 24."""
    for row in re.findall(r"^\| `([\w./-]+pcapng)` \| (.*?) \| (.*?) \|$", section(24), re.M):
        yield row[0], row[1].strip("`").split(), re.findall(r"`([\w.]+)`", row[2])


def named_in(text):
    return set(re.findall(r"`([\w.]+)`", text)) & set(FIELDS)


def fields_in(value):
    """Names of all fields in a decoded datagram: those of "bits", at each level."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from (field[0] for field in inner) if key == "bits" else fields_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from fields_in(inner)


def shown(capture, options):
    lines = uerudp.run("decode", "--json", "--bits", "--content", *options, ROOT / "captures" / capture).stdout
    return {field for line in lines.splitlines() for field in fields_in(json.loads(line))}


class Fields(unittest.TestCase):
    def test_each_capture_has_its_fields(self):
        for capture, options, fields in rows():
            self.assertEqual(set(fields) - shown(capture, options), set(), capture)

    def test_each_field_is_listed_once(self):
        listed = [field for _, _, fields in rows() for field in fields]
        absent = named_in(section(24).rpartition("|")[2])
        self.assertEqual(sorted(listed), sorted(set(listed)))
        self.assertFalse(set(listed) & absent)
        self.assertEqual(set(FIELDS), set(listed) | absent | named_in(section(22)))

    def test_another_capture_does_not_have_them(self):
        self.assertNotIn("voice.sender", shown("login.pcapng", []))


if __name__ == "__main__":
    uerudp.main()
