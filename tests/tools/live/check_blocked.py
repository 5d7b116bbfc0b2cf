#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Live programs whose output nobody reads, or reads slowly: what they carry goes on, they end when asked to, and a reader who
reads gets every line."""
import fcntl
import json
import os
import signal
import socket
import subprocess
import time
import unittest

import live
import uerudp

FAST = "--tick=120"
F_SETPIPE_SZ = 1031
CLIENTS = 50  # what is reported of them does not fit into the pipe


class Blocked:
    """A program whose standard output is a pipe of 4 KiB; nobody reads it beyond the first line."""

    def __init__(self, *arguments, stderr=subprocess.PIPE):
        self.reading, writing = os.pipe()
        fcntl.fcntl(writing, F_SETPIPE_SZ, 4096)
        self.process = subprocess.Popen([uerudp.PROGRAM, *map(str, arguments)], stdin=subprocess.PIPE, stdout=writing,
                                        stderr=writing if stderr is None else stderr)
        os.close(writing)
        line = b""
        while not line.endswith(b"\n"):
            line += os.read(self.reading, 1)
        self.first = json.loads(line)
        self.port = int(self.first.get("address", ":0").rpartition(":")[2])

    def end(self):
        """Stops the program, which must end although nobody reads, and returns its errors."""
        self.process.send_signal(signal.SIGINT)
        return (self.process.communicate(timeout=live.SECONDS)[1] or b"").decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        os.close(self.reading)


def visit(link, rounds=2):
    """One client of a link: how many of its datagrams come back."""
    came = 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(2)
        for number in range(rounds):
            client.sendto(b"hello %d" % number, ("127.0.0.1", link.port))
            try:
                came += client.recv(2048) == b"hello %d" % number
            except TimeoutError:
                pass
    return came


class Link(unittest.TestCase):
    def carry(self, stderr):
        with live.Echo() as echo, Blocked("link", "--bind=127.0.0.1", "--json", "--idle=0.2", 0, f"127.0.0.1:{echo.port}",
                                     stderr=stderr) as link:
            self.assertEqual(CLIENTS * [2], [visit(link) for _ in range(CLIENTS)])
            errors = link.end()
            self.assertEqual(2, link.process.returncode)
        return errors

    def test_output(self):
        errors = self.carry(subprocess.PIPE)
        self.assertRegex(errors, r"^uerudp: standard output: \d+ lines were not written: the reader has stopped reading\n$")

    def test_output_and_errors(self):
        self.carry(None)


class Serve(unittest.TestCase):
    def test_output(self):
        with Blocked("serve", "--bind=127.0.0.1", "--port=0", "--json", FAST) as server:
            for seed in range(9):
                live.check(server, FAST, "--seed", seed)
            errors = server.end()
            self.assertEqual(2, server.process.returncode)
        self.assertIn("lines were not written", errors)


class Connect(unittest.TestCase):
    def test_output(self):
        """The server gets every line, and the farewell."""
        lines = b"".join(b"%0200d\n" % number for number in range(500))
        with live.Server(FAST, bind="127.0.0.1") as server:
            with Blocked("connect", "--json", FAST, f"127.0.0.1:{server.port}") as client:
                errors = client.process.communicate(lines, live.SECONDS)[1].decode()
            left, = server.wait_for("left")
        self.assertEqual((500, "Disconnect"), (left["messages"], left["told"]))
        self.assertIn("lines were not written", errors)


class Read(unittest.TestCase):
    """Who reads gets all of it, in order."""

    def test_at_once(self):
        with live.Echo() as echo, live.Link(echo.port, "--idle=0.2") as link:
            for _ in range(60):
                self.assertEqual(2, visit(link))
            link.wait_for("left", 60)
        events = [(event["event"], event["client"]) for event in link.events if "client" in event]
        for client in {client for _, client in events}:
            self.assertEqual(["connected", "left"], [event for event, who in events if who == client])
        self.assertEqual(60, len(link.all("connected")))
        self.assertEqual([], link.all("dropped") + link.all("unreported"))

    def test_late(self):
        """A reader who sleeps first, where more waits than the pipe holds."""
        lines = b"".join(b"%0200d\n" % number for number in range(800))
        with live.Server(FAST, bind="127.0.0.1") as server:
            with Blocked("connect", "--json", FAST, f"127.0.0.1:{server.port}") as client:
                client.process.stdin.write(lines)
                client.process.stdin.close()
                client.process.stdin = None
                time.sleep(0.5)
                with os.fdopen(os.dup(client.reading), "rb") as rest:
                    events = [json.loads(line) for line in rest]
                _, errors = client.process.communicate(timeout=live.SECONDS)
                self.assertEqual((0, b""), (client.process.returncode, errors))
        texts = [event["text"] for event in events if event["event"] == "message"]
        self.assertEqual([f"{number:0200}" for number in range(800)], texts)


if __name__ == "__main__":
    uerudp.main()
