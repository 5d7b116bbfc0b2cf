#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Captures that begin in the middle of a connection, on a port that nobody named."""
import json
import pathlib
import tempfile
import unittest

import recordings
import uerudp

RELEASES = ("4.13", "4.16", "4.18", "4.19", "4.21", "4.22", "4.24", "4.25", "5.0", "5.3", "5.4", "5.6", "5.8")
UNKNOWN_PORT = "--port=1"
FIRST_MAX = 24  # frame
SIDES = ("client", "server")


class Recognition(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def info(self, path, *options):
        return json.loads(uerudp.run("info", "--json", path, *options).stdout.decode() or "null")

    def second_half(self, path, count):
        half = self.folder / "half.pcapng"
        uerudp.run("edit", f"--frames={count // 2}-{count}", path, half)
        return half

    def check(self, half):
        """What is told without the port equals what is told with it, from some frame on."""
        unknown, known = self.info(half, UNKNOWN_PORT), self.info(half)
        self.assertIsNotNone(unknown, "recognised")
        first = unknown["frames"]["first"]
        self.assertLessEqual(first, FIRST_MAX)
        later = self.folder / "later.pcapng"
        uerudp.run("edit", f"--frames={first}-", half, later) if first > 1 else later.write_bytes(half.read_bytes())
        same = self.info(later)
        for key in ("packets", "bytes", "resends", "late", "malformed", *SIDES):
            self.assertEqual(unknown[key], same[key], key)
        self.assertNotIn("capture_incomplete", [finding["kind"] for finding in unknown["findings"]])
        self.assertTrue(known["server_known"])

    def test_each_release(self):
        for release in RELEASES:
            for point in SIDES:
                with self.subTest(release=release, point=point):
                    path = self.folder / "game.pcapng"
                    uerudp.run("generate", "stream", "--generation", release, "--duration=6", "--capture-at", point, "--no-sidecar", "-o", path)
                    frames = len(uerudp.run("decode", "--fields=frame", path).stdout.splitlines()) - 1
                    self.check(self.second_half(path, frames))

    def test_loss(self):
        path = self.folder / "game.pcapng"
        uerudp.run("generate", "stream", "--duration=20", "--loss=0.05", "--jitter=10", "--no-sidecar", "-o", path)
        whole = self.info(path)
        self.check(self.second_half(path, whole["frames"]["last"]))

    def test_sessions_of_another_implementation(self):
        for name in ("utcp-clean", "utcp-loss", "utcp-orig-clean"):
            with self.subTest(name):
                path = recordings.path(name)
                self.check(self.second_half(path, self.info(path)["frames"]["last"]))

    def test_restart(self):
        """The client moves to another port; its first handshake is not in the capture."""
        path = self.folder / "restart.pcapng"
        uerudp.run("generate", "restart", "--no-sidecar", "-o", path)
        whole = self.info(path)
        late = self.folder / "late.pcapng"
        uerudp.run("edit", "--frames=30-", path, late)
        moved = self.info(late)
        self.assertEqual((moved["client"], moved["client_before"]), (whole["client"], whole["client_before"]))
        self.assertIn("restart", [finding["kind"] for finding in moved["findings"]])

    def test_sides(self):
        """Without evidence it is said that the server is assumed; a channel that is opened shows it."""
        path = self.folder / "world.pcapng"
        uerudp.run("generate", "game", "--duration=6", "--no-sidecar", "-o", path)
        half = self.second_half(path, self.info(path)["frames"]["last"])
        text = uerudp.run("info", UNKNOWN_PORT, half).stdout.decode()
        info = self.info(half, UNKNOWN_PORT)
        self.assertEqual(info["server_known"], "assumed: the side with the lower port" not in text)
        opened = uerudp.decode(half, UNKNOWN_PORT)
        senders = {each["src"] for each in opened for bunch in each.get("bunches", []) if bunch.get("open")}
        self.assertEqual(senders, {info["server"]})
        self.assertTrue(info["server_known"])

        path = self.folder / "game.pcapng"
        uerudp.run("generate", "stream", "--generation=4.25", "--duration=6", "--no-sidecar", "-o", path)
        half = self.second_half(path, self.info(path)["frames"]["last"])
        self.assertFalse(self.info(half, UNKNOWN_PORT)["server_known"])
        self.assertIn("assumed: the side with the lower port", uerudp.run("info", UNKNOWN_PORT, half).stdout.decode())

    def test_sides_with_equal_ports(self):
        path = self.folder / "game.pcapng"
        uerudp.run("generate", "stream", "--generation=4.25", "--duration=6", "--no-sidecar", "-o", path)
        half = self.second_half(path, self.info(path)["frames"]["last"])
        lines = uerudp.run("decode", "--json", half).stdout.replace(b":50000", b":7777")
        equal = self.folder / "equal.pcapng"
        equal.write_bytes(uerudp.run("encode", data=lines).stdout)
        info = self.info(equal)
        self.assertFalse(info["server_known"])
        self.assertEqual(info["client"], json.loads(lines.splitlines()[0])["src"])
        text = " ".join(uerudp.run("info", equal).stdout.decode().split())
        self.assertIn("if the ports are equal, the one that sent second", text)


if __name__ == "__main__":
    uerudp.main()
