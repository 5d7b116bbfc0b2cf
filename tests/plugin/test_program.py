#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plugin and `uerudp decode` show the same values for every capture, at the same bits."""
import json
import os
import subprocess
import unittest

import harness
import recordings

LIMITED = "uerudp.expert.items"
LEGACY_KEYS = {"is_ack", "ack_id", "has_frame_time", "frame_time_ms", "remote_kbps"}
# Keys about capture, file and encoding that only the program has.
PROGRAM_ONLY = {"schema", "frame", "time", "src", "dst", "length", "raw", "bits", "settings"}
# Lists, and objects around them, whose elements have keys under their own prefix.
PREFIXES = {"bunches": "bunch.", "items": "bunch.", "messages": "control.", "content": "content.", "exports": "export.",
            "objects": "export.", "outer": "export.", "object": "export.", "archetype_object": "export.",
            "level_object": "export.", "class_object": "export.", "outer_object": "export.", "mapped": "mapped.", "ids": "mapped.", "actor": "actor.",
            "blocks": "block.", "properties": "property.", "voice": "voice."}


def prefix_of(prefix, key):
    """The content of an object or list; None: a value."""
    if key == "fields":
        return "field_export." if prefix == "export." else "field."
    return PREFIXES.get(key)


def flatten(value, prefix, into):
    """Values of a JSON object by dotted key, each a list in wire order."""
    for key, member in value.items():
        if prefix == "" and key in PROGRAM_ONLY or key.endswith("_raw") or prefix == "content." and key in ("frames", "fault"):
            continue
        elements = member if isinstance(member, list) else [member]
        for element in elements:
            inner = prefix_of(prefix, key) if isinstance(element, dict) else None
            if inner is not None:
                flatten(element, inner, into)
            elif isinstance(element, dict):
                flatten(element, f"{prefix}{key}.", into)
            else:
                legacy = prefix == "bunch." and key in LEGACY_KEYS
                into.setdefault(("legacy." if legacy else prefix) + key, []).append(element)
    return into


def same(field, value):
    """Whether a tree item shows a JSON value."""
    if value is None:
        return field.text.lower() in ("nan", "-nan", "inf", "-inf")
    if isinstance(value, bool):
        return field.text in (("1", "True") if value else ("0", "False"))
    if isinstance(value, float) or isinstance(value, int) and "." in field.text:
        return abs(float(field.text) - value) <= 1e-12 * max(abs(value), 1e-300)
    if isinstance(value, int):
        return field.number() == value
    return value in (field.text, field.text.replace(":", "")) or value == str(try_number(field))


def try_number(field):
    try:
        return field.number()
    except ValueError:
        return None


class Program(unittest.TestCase):
    def decode(self, path, settings):
        options = [f"--{key.replace('_', '-')}={value}" for key, value in settings.items()]
        result = subprocess.run([os.environ["UERUDP_PROGRAM"], "decode", "--json", "--bits", "--content", *options, path],
                                capture_output=True, text=True, timeout=harness.TIMEOUT_S, check=False)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return {line["frame"]: line for line in map(json.loads, result.stdout.splitlines())}

    def compare_values(self, packet, line):
        wanted = flatten(line, "", {})
        shown = {}
        for field in packet.wire() + packet.inside():
            shown.setdefault(field.key, []).append(field)
        if LIMITED in packet.experts: # the plugin shows only the first items of a datagram
            wanted = {key: wanted[key][:len(fields)] for key, fields in shown.items()}
        self.assertEqual(sorted(shown), sorted(wanted), f"frame {packet.frame}: keys")
        for key, values in wanted.items():
            agree = len(values) == len(shown[key]) and all(map(same, shown[key], values))
            self.assertTrue(agree, f"frame {packet.frame} {key}: plugin {[f.text for f in shown[key]]}, program {values}")
        return sum(map(len, wanted.values()))

    def compare_places(self, packet, line):
        places = {}
        for key, bit, bits, *where in line["bits"]:
            begin = packet.origin * 8 if where == ["message"] else 0 # a separate data source, whose offsets begin at 0
            places.setdefault(key, []).append((bit - begin, bits))
        for key, wanted in places.items():
            fields = packet.all(key)
            wanted = wanted[:len(fields)] if LIMITED in packet.experts else wanted
            ranges = [(bit // 8, -(-(bit + bits) // 8) - bit // 8 if bits else 0) for bit, bits in wanted]
            self.assertEqual([(f.first_byte, f.bytes) for f in fields], ranges, f"frame {packet.frame} {key}: bytes")
            drawn = [(f.begin_bit, f.bits) for f in fields]
            pictured = [place for place, picture in zip(wanted, drawn) if picture != (None, None)]
            self.assertEqual([p for p in drawn if p != (None, None)], pictured, f"frame {packet.frame} {key}: bits")
        return sum(map(len, places.values()))

    def compare(self, stage, path, settings):
        packets = stage.packets(stage.copy(path), settings)
        lines = {frame: line for frame, line in self.decode(path, settings).items() if "generation" in line}
        self.assertEqual(sorted(packets), sorted(lines))
        values = sum(self.compare_values(packets[frame], line) for frame, line in lines.items())
        places = sum(self.compare_places(packets[frame], line) for frame, line in lines.items())
        print(f"{os.path.basename(path)}: {len(lines)} frames, {values} values, {places} places")
        self.assertGreater(places, 0)

    def test_captures(self):
        own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "captures")
        own = [os.path.join(own, name) for name in sorted(os.listdir(own)) if name.endswith(".pcapng")]
        with harness.Stage() as stage:
            for path in [*harness.recorded().values(), *own]:
                with self.subTest(os.path.basename(path)):
                    self.compare(stage, path, harness.settings_of(path))
            for path, settings, _ in recordings.documented():
                with self.subTest(path.name):
                    if settings: # the others are among the captures above
                        self.compare(stage, str(path), settings)


if __name__ == "__main__":
    harness.main()
