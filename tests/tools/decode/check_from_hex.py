#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""encode --from-hex: hex texts as captures, with addresses and times."""
import pathlib
import tempfile
import unittest

import uerudp

ONE, TWO = uerudp.encode([{"handshake": {"type": 0}}, {"packet": {"seq": 5}}], "--generation=5.5")


def dump(payload):
    return "".join(f"{at:06x}  {payload[at:at + 16].hex(' ')}\n" for at in range(0, len(payload), 16))


def encoded(text, *options):
    """(time, src, dst, raw) of each datagram of the text."""
    capture = uerudp.run("encode", "--from-hex", *options, data=text.encode()).stdout
    fields = uerudp.run("decode", "--port=7777,9999", "--fields=time,src,dst,raw", "-", data=capture).stdout
    return [tuple(line.split("\t")) for line in fields.decode().splitlines()]


class FromHex(unittest.TestCase):
    def test_every_form(self):
        array = ", ".join(f"0x{byte:02x}" for byte in ONE)
        for text in (ONE.hex(), ONE.hex(" "), f"uint8_t a[] = {{ {array} }};", dump(ONE)):
            self.assertEqual(encoded(text), [("0", "10.0.0.1:50000", "10.0.0.2:7777", ONE.hex())])

    def test_marks_and_times(self):
        text = f"O 2026-01-31 23:59:59.5\n{dump(ONE)}I 2026-01-31T23:59:59.75Z\n{dump(TWO)}{ONE.hex()}\n"
        self.assertEqual(encoded(text), [
            ("1769903999500000000", "10.0.0.1:50000", "10.0.0.2:7777", ONE.hex()),
            ("1769903999750000000", "10.0.0.2:7777", "10.0.0.1:50000", TWO.hex()),
            ("1769903999760000000", "10.0.0.1:50000", "10.0.0.2:7777", ONE.hex())])

    def test_addresses(self):
        options = ["--src", "[::1]:1234", "--dst", "[::2]:9999"]
        self.assertEqual([line[1:3] for line in encoded(f"{ONE.hex()}\nS> {TWO.hex()}", *options)],
                         [("[::1]:1234", "[::2]:9999"), ("[::2]:9999", "[::1]:1234")])

    def test_several_files(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder, name) for name in ("a.hex", "b.hex")]
            out = pathlib.Path(folder, "out.pcapng")
            paths[0].write_text(f"0.5 {ONE.hex()}")
            paths[1].write_text(ONE.hex())
            uerudp.run("encode", "--from-hex", "-o", out, *paths)
            self.assertEqual([each["time"] for each in uerudp.decode(out)], ["500000000", "510000000"])

    def test_times_in_decode(self):
        seen, = uerudp.decode("--hex", "-", data=f"00:01:00.5 {ONE.hex()}".encode())
        self.assertEqual(seen["time"], "60500000000")

    def test_back_to_hex(self):
        text = f"C> {ONE.hex()}\nS> {TWO.hex()}\n"
        again = uerudp.run("encode", "--from-hex", "--hex", data=text.encode()).stdout
        self.assertEqual(again.decode(), text)

    def test_mistakes(self):
        for arguments, what in ((["--src=1.2.3.4:5"], "require --from-hex"), (["--from-hex", "--src=x"], "--src=x: "),
                                (["--from-hex", "--dst=[::1]:5"], "IPv6"),
                                (["--from-hex", "/nonexistent"], "/nonexistent: ")):
            self.assertIn(what, uerudp.run("encode", *arguments, status=2).stderr.decode())

    def test_no_output_for_a_bad_text(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder, "out.pcapng")
            result = uerudp.run("encode", "--from-hex", "-o", out, data=b"80 00\n80 0g\n", status=2)
            self.assertIn(b"-: line 2, column 4: ", result.stderr)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])


if __name__ == "__main__":
    uerudp.main()
