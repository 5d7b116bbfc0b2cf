#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A change of one value or one sentence fails the guard, which prints it in readable form."""
import contextlib
import hashlib
import io
import pathlib
import tempfile
import unittest
import unittest.mock

import guard
import outputs

DECODED = b'{"frame":7,"packet":{"seq":%d},"bunches":[{"channel":3,"data":"00ff"}]}\n\0exit status 0\n1 datagram\n'
DISSECTED = b"frame 1 Hello\n  Sequence: 1\nframe 2 Login\n  %s\n"


def row_hash(text):
    return hashlib.sha256(text).hexdigest()[:16]


class Changes(unittest.TestCase):
    def test_equal_rows_are_no_change(self):
        rows = {("captures/a", "decode"): "1", ("realdata/b", "info"): "2"}
        self.assertEqual({}, guard.changes(rows, dict(rows)))

    def test_each_kind_of_change_is_found(self):
        before = {("a", "decode"): "1", ("b", "decode"): "2", ("c", "info"): "3"}
        now = {("a", "decode"): "1", ("b", "decode"): "9", ("d", "info"): "3"}
        self.assertEqual({("b", "decode"): "differs", ("c", "info"): "gone", ("d", "info"): "new"},
                         guard.changes(before, now))

    def comparable(self, version, has_shared):
        rows = {("a", "decode"): "1", ("a", "wireshark"): "2", ("realdata/b", "decode"): "3"}
        with contextlib.redirect_stdout(io.StringIO()) as printed, \
                unittest.mock.patch.object(outputs.recordings, "has_shared", lambda: has_shared):
            left, left_out = guard.comparable(rows, version)
        return sorted(left), left_out, printed.getvalue()

    def test_rows_that_cannot_be_compared_are_counted(self):
        version = outputs.wireshark_version()
        self.assertEqual(([("a", "decode"), ("a", "wireshark"), ("realdata/b", "decode")], (), ""),
                         self.comparable(version, True))
        rows, left_out, printed = self.comparable(version, False)
        self.assertEqual(([("a", "decode"), ("a", "wireshark")], ()), (rows, left_out))
        self.assertIn("1 rows of recordings needs the folder UERUDP_SHARED", printed)
        rows, left_out, printed = self.comparable("4.0.99", True)
        self.assertEqual(([("a", "decode"), ("realdata/b", "decode")], ("wireshark",)), (rows, left_out))
        self.assertIn("1 rows that Wireshark 4.0.99 made", printed)

    def test_hashes_are_written_as_they_are_read(self):
        version, rows = guard.recorded()
        self.assertRegex(version, r"^4\.\d+\.\d+$")
        self.assertEqual({"decode", "events", "generate", "info", "page", "trace", "wireshark"}, {view for _, view in rows})
        self.assertEqual(list(rows), sorted(rows))


class Shown(unittest.TestCase):
    def shown(self, pairs):
        """The printed changes of rows {(capture, view): (bytes before, bytes now)}, with None for a missing row."""
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as printed:
            folders = pathlib.Path(folder, "base"), pathlib.Path(folder, "now")
            for (name, view), texts in pairs.items():
                for into, text in zip(folders, texts):
                    into.mkdir(exist_ok=True)
                    if text is not None:
                        (into / f"{name}.{view}.txt").write_text(outputs.readable(view, text), encoding="utf-8")
            guard.show(pairs, *folders)
            return printed.getvalue().splitlines()

    def test_a_changed_field_is_named_with_its_frame(self):
        lines = self.shown({("a", "decode"): (DECODED % 5, DECODED % 6)})
        self.assertIn("in 1 rows, 1 places, for example a decode:", lines)
        self.assertIn("-  packet.seq = 5", lines)
        self.assertIn("+  packet.seq = 6", lines)
        self.assertEqual(1, sum(line.startswith("+") for line in lines))

    def test_a_changed_sentence_is_shown_below_its_frame(self):
        lines = self.shown({("a", "wireshark"): (DISSECTED % b"Packet was lost", DISSECTED % b"Packet is lost")})
        self.assertTrue(any(line.startswith("@@") and line.endswith("frame 2 Login") for line in lines) or
                        " frame 2 Login" in lines, lines)
        self.assertIn("-  Packet was lost", lines)
        self.assertIn("+  Packet is lost", lines)

    def test_equal_changes_are_shown_once(self):
        pair = DISSECTED % b"Packet was lost", DISSECTED % b"Packet is lost"
        lines = self.shown({(f"capture{number}", "wireshark"): pair for number in range(50)})
        self.assertEqual(1, lines.count("+  Packet is lost"))
        self.assertIn("in 50 rows, 50 places, for example capture0 wireshark:", lines)

    def test_a_change_that_differs_in_numbers_only_is_shown_once(self):
        lines = self.shown({(f"capture{number}", "decode"): (DECODED % number, DECODED % (number + 1)) for number in range(9)})
        self.assertIn("in 9 rows, 9 places, for example capture0 decode:", lines)

    def test_what_is_printed_is_bounded(self):
        def long(row, side):
            words = ("".join(chr(ord("g") + int(digit)) for digit in f"{line:05}{row:02}") for line in range(5000))
            return "".join(f"frame {word} {side}\n" for word in words).encode()

        lines = self.shown({(f"capture{row}", "wireshark"): (long(row, "before"), long(row, "now")) for row in range(50)})
        self.assertLess(len(lines), guard.KINDS_SHOWN * (guard.LINES_SHOWN + 3) + 5)
        self.assertTrue(any("more lines" in line for line in lines))

    def test_a_new_row_is_shown(self):
        self.assertIn("+  packet.seq = 5", self.shown({("a", "decode"): (None, DECODED % 5)}))


class Hashed(unittest.TestCase):
    def test_seeds_have_names_of_their_own_and_vary(self):
        made = [outputs.generated(number) for number in range(outputs.GENERATED)]
        self.assertEqual(outputs.GENERATED, len({each.generate for each in made}))
        self.assertEqual(set(outputs.SCENARIOS), {each.generate[0] for each in made})
        for options, _ in outputs.VARIATIONS:
            self.assertTrue(any(set(options) <= set(each.generate) for each in made), options)
        for generation in outputs.GENERATIONS:
            self.assertTrue(any(f"--generation={generation}" in each.generate for each in made), generation)

    def test_one_value_changes_the_hash(self):
        """A capture, and the capture with one bit of its last datagram changed."""
        capture = outputs.Capture("captures/login", outputs.ROOT / "captures/login.pcapng")
        again = {view: row_hash(text) for _, view, text in outputs.outputs([capture])}
        data = bytearray(capture.path.read_bytes())
        at = data.rindex(b"\x01\x08\x00\x45") + 45  # a byte of the datagram in the last frame, after Ethernet, IP and UDP
        data[at] ^= 1
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "login.pcapng")
            path.write_bytes(data)
            changed = {view: row_hash(text) for _, view, text in outputs.outputs([capture._replace(path=path)])}
        for view in ("decode", "wireshark"):
            self.assertNotEqual(again[view], changed[view], view)


if __name__ == "__main__":
    unittest.main(verbosity=2)
