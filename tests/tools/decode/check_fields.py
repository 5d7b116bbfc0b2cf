#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""For each field docs/protocol.md names a capture that has it, or lists it as without a capture or not on the wire."""
import json
import re
import unittest

import uerudp
import recordings

PROTOCOL = (recordings.ROOT / "docs/protocol.md").read_text()
# Fields of the plugin's analysis follow the codec's.
CATALOGUE = next(recordings.ROOT.glob("libcodec/**/fields.def")).read_text().split("/* Analysis")[0]
FIELDS = re.findall(r'^UE_FIELD\((?!NONE)\w+, "([\w.]+)"', CATALOGUE, re.M)


def section(number):
    return re.search(rf"^## {number}\. .*?(?=^## |\Z)", PROTOCOL, re.M | re.S)[0]


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


def shown(path, settings):
    options = [f"--{key.replace('_', '-')}={value}" for key, value in settings.items()]
    lines = uerudp.run("decode", "--json", "--bits", "--content", *options, path).stdout
    return {field for line in lines.splitlines() for field in fields_in(json.loads(line))}


class Fields(unittest.TestCase):
    def test_each_capture_has_its_fields(self):
        for path, settings, fields in recordings.documented():
            self.assertEqual(set(fields) - shown(path, settings), set(), path)

    def test_each_field_is_listed_once(self):
        listed = [field for _, _, fields in recordings.documented() for field in fields]
        absent = named_in(section(24).rpartition("|")[2])
        self.assertEqual(sorted(listed), sorted(set(listed)))
        self.assertFalse(set(listed) & absent)
        self.assertEqual(set(FIELDS), set(listed) | absent | named_in(section(22)))

    def test_fields_that_a_capture_lacks(self):
        self.assertNotIn("voice.sender", shown(recordings.ROOT / "captures/login.pcapng", {}))


if __name__ == "__main__":
    uerudp.main()
