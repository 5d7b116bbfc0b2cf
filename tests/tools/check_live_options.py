#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options of serve, connect and link that change what is said or what is done to it, each with its effect."""
import pathlib
import socket
import tempfile
import time
import unittest

import live
import uerudp

FAST = "--tick=120"


class Login(unittest.TestCase):
    def test_what_is_said(self):
        with live.Server(FAST, "--map=/Game/Maps/Hill", "--game=/Script/Hill.Mode") as server:
            events, _ = live.client(server, FAST, "--name=Anna", "--url=?team=1")
        self.assertEqual(("/Game/Maps/Hill", "/Script/Hill.Mode"), (events["joined"]["map"], events["joined"]["game"]))
        url = server.reported("joined")["url"]
        self.assertIn("Name=Anna", url)
        self.assertIn("?team=1", url)

    def test_token(self):
        key = f"--key={'5a' * 32}"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "session.pcapng"
            with live.Server(FAST, key) as server:
                live.client(server, FAST, key, "--token=letmein", f"--pcap={path}")
            read = ["--handlers=aesgcm", key, "--fields=control.hello.encryption_token"]
            self.assertIn(b"letmein\n", uerudp.run("decode", *read, path).stdout)

    def test_constants_of_a_game(self):
        """Both sides with other constants than the engine's; decode needs them, too."""
        settings = ["--ch-seq-bound=4096", "--extra-bits=3", "--reliable-buffer=300"]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "session.pcapng"
            with live.Server(FAST, *settings, f"--pcap={path}") as server:
                live.check(server, FAST, *settings)
            uerudp.run("decode", "--quiet", "--generation=5.5", *settings, path)
            uerudp.run("decode", "--quiet", "--generation=5.5", path, status=1)


class Protection(unittest.TestCase):
    """What serve does about senders without connection; a client joins all the same."""

    def refused(self, count, *options):
        with live.Server(FAST, *options, bind="127.0.0.1") as server:
            senders = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(8)]
            for number in range(count):
                senders[number % 8].sendto(b"\x80", ("127.0.0.1", server.port))
                time.sleep(0.05 if number % 200 == 199 else 0)
            for sender in senders:
                sender.close()
            live.check(server, FAST)
        self.assertEqual(1, server.reported("served")["clients"])
        return server.reported("refused")

    def test_restart_requests(self):
        for options, most in (([], 3 * 9), (["--restart-requests=32"], 3 * 2)):  # to one machine a 32nd, and one
            refused = self.refused(600, *options)
            self.assertLess(0, refused["restart_requests"])
            self.assertLessEqual(refused["restart_requests"], most)
            self.assertLess(400, refused["restart_requests_withheld"])
        refused = self.refused(600, "--restart-requests=0")
        self.assertEqual(0, refused["restart_requests_withheld"])
        self.assertLess(500, refused["restart_requests"])

    def test_flood_detection(self):
        few = "--max-clients=1"  # for more clients more packets are no flood
        self.assertEqual(0, self.refused(500, few)["dropped"])
        self.assertLess(100, self.refused(3000, few)["dropped"])
        self.assertEqual(0, self.refused(3000, few, "--no-flood-detection")["dropped"])


    def test_clients_of_one_address(self):
        with live.Server(FAST, "--max-per-address=1", bind="127.0.0.1") as server:
            first = live.start_client(server, FAST)
            server.wait_for("joined")
            live.client(server, FAST, "--timeout=2", status=1)
            first.communicate(timeout=live.SECONDS)
            server.wait_for("left")
            live.check(server, FAST)
        self.assertLess(0, server.reported("refused")["address_full"])
        self.assertEqual(2, server.reported("served")["clients"])


class Lanes(unittest.TestCase):
    def join(self, *options):
        with live.Server(FAST) as server, live.Link(server.port, "--seed=5", *options) as link:
            live.start_client(link, "--check", FAST).communicate(timeout=live.SECONDS)  # what is damaged is not echoed well
        left, = link.all("left")
        return left["up"], left["down"]

    def assert_only(self, done, counts):
        """Of what chance may do, exactly these happened."""
        happened = {fate for fate in ("lost", "corrupted", "duplicated") if counts[fate] > 0}
        self.assertEqual(set(done), happened, counts)

    def test_up(self):
        up, down = self.join("--up-dup=0.2", "--up-corrupt=0.1", "--down-loss=0.1")
        self.assert_only(["duplicated", "corrupted"], up)
        self.assert_only(["lost"], down)

    def test_down(self):
        up, down = self.join("--down-dup=0.2", "--down-corrupt=0.1", "--up-loss=0.1")
        self.assert_only(["lost"], up)
        self.assert_only(["duplicated", "corrupted"], down)

    def test_reorder(self):
        for way, other in (("up", "down"), ("down", "up")):
            option = "--up-reorder=0.2" if way == "up" else "--down-reorder=0.2"
            counts = dict(zip(("up", "down"), self.join(option)))
            self.assertGreater(counts[way]["reordered"], 0)
            self.assertEqual(0, counts[other]["reordered"])


if __name__ == "__main__":
    uerudp.main()
