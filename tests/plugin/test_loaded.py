#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plugin is loaded and registers the documented fields and preferences. Other tests rely on it."""
import os
import re

import harness

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PREFERENCES = {"generation": "automatic", "magic_bits": "0", "magic": "0", "skip_bytes": "0", "max_packet": "automatic",
               "ch_seq_bound": "automatic", "extra_bits": "0", "terminators": "automatic", "handlers": "", "key": "",
               "analyse": "TRUE", "internal_ack": "FALSE", "guid_bits": "automatic", "netver": "automatic",
               "reliable_buffer": "automatic"}


def catalogue():
    with open(os.path.join(ROOT, "libcodec/include/uerudp/fields.def"), encoding="utf-8") as file:
        rows = re.findall(r'^UE_FIELD\((\w+), "([^"]+)", "([^"]+)", (\w+), \w+, "([^"]+)"', file.read(), re.MULTILINE)
    return [row for row in rows if row[0] != "NONE"]


class Loaded(harness.StageCase):
    def test_plugin_is_listed(self):
        self.assertRegex(self.stage.tshark("-G", "plugins"), r"(?m)^uerudp\.so\s+\d+\.\d+\.\d+\s+dissector\s")

    def test_protocol(self):
        self.assertIn("Unreal Engine Reliable UDP\tUERUDP\tuerudp", self.stage.tshark("-G", "protocols"))

    def test_every_field_of_the_catalogue(self):
        types = {"BOOL": "FT_BOOLEAN", "U8": "FT_UINT8", "U16": "FT_UINT16", "U32": "FT_UINT32", "U64": "FT_UINT64",
                 "X32": "FT_UINT32", "I32": "FT_INT32", "BYTES": "FT_BYTES", "TEXT": "FT_STRING", "REAL": "FT_DOUBLE",
                 "STRING": "FT_STRING", "FRAME": "FT_FRAMENUM", "SPAN": "FT_RELATIVE_TIME", "FLAG": "FT_NONE",
                 "FINDING": "FT_NONE"}
        listed = {}
        for line in self.stage.tshark("-G", "fields").splitlines():
            columns = line.split("\t")
            if columns[0] == "F" and columns[2].startswith("uerudp."):
                listed[columns[2]] = (columns[1], columns[3])
        self.assertGreater(len(catalogue()), 100)
        for _, key, label, kind, description in catalogue():
            name = description if kind == "FINDING" else label  # prefix of an expert item
            self.assertEqual(listed.get("uerudp." + key), (name, types[kind]), key)

    def test_heuristic_is_on(self):
        self.assertRegex(self.stage.tshark("-G", "heuristic-decodes"), r"(?m)^udp\tuerudp\tT\b")

    def test_port(self):
        self.assertRegex(self.stage.tshark("-G", "decodes"), r"(?m)^udp\.port\t7777\tuerudp$")

    def test_preferences_and_their_defaults(self):
        text = self.stage.tshark("-G", "currentprefs")
        found = dict(re.findall(r"(?m)^#?uerudp\.(\w+): ?(.*)$", text))
        for name, value in PREFERENCES.items():
            self.assertEqual(found.get(name), value, name)

    def errors(self, setting):
        return self.stage.run(["tshark", "-o", "uerudp." + setting, "-r", self.stage.put("empty.pcap", EMPTY)]).stderr

    def test_invalid_preference_is_reported(self):
        for setting in ("generation:9.9", "handlers:rot13", "max_packet:70000", "ch_seq_bound:1000", "terminators:3",
                        "terminators:3 (modified game)", "guid_bits:64", "guid_bits:64 bits (modified game)",
                        "magic_bits:33", "magic:x", "skip_bytes:65536", "extra_bits:4097", "netver:61",
                        "reliable_buffer:x", "key:/nonexistent"):
            with self.subTest(setting):
                self.assertIn("uerudp." + setting.split(":")[0], self.errors(setting))

    def test_valid_preference_is_not(self):
        for setting in ("generation:5.4", "max_packet:700", "terminators:1", "terminators:2", "terminators:automatic",
                        "terminators:1 (modified game)", "terminators:2 (engine)", "guid_bits:128", "guid_bits:automatic",
                        "guid_bits:128 bits (modified game)", "magic_bits:32"):
            with self.subTest(setting):
                self.assertNotIn("uerudp", self.errors(setting))

    def test_value_of_the_former_lists(self):
        """Wireshark saved the item of a list, whose number means what the number alone does."""
        capture = self.stage.copy(GAME)
        for name, number, item in (("terminators", "1", "1 (modified game)"),
                                   ("guid_bits", "128", "128 bits (modified game)")):
            with self.subTest(name):
                automatic, plain, saved = (
                    self.stage.tshark("-r", capture, "-V", *harness.preferences({"generation": "5.5", name: value}))
                    for value in ("automatic", number, item))
                self.assertEqual(plain, saved)
                self.assertNotEqual(automatic, saved)


GAME = os.path.join(ROOT, "captures", "ue5.5.pcapng")
EMPTY = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")

if __name__ == "__main__":
    harness.main()
