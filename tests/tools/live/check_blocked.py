#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Live programs whose output is read slowly or not at all: traffic continues, a signal stops them, and a reader that
reads gets every line."""
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import time
import unittest

import live
import uerudp

FAST = "--tick=120"
F_SETPIPE_SZ = 1031
CLIENTS = 50  # their events exceed the pipe


class Blocked:
    """A program whose standard output is a pipe of 4 KiB, of which only the first line is read."""

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

    def stop(self):
        """Stop the program, which must exit although its output is not read. Returns its errors."""
        self.process.send_signal(signal.SIGINT)
        return (self.process.communicate(timeout=live.SECONDS)[1] or b"").decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        os.close(self.reading)


def exchange(link, clients):
    """Each of `clients` sockets exchanges two datagrams with the echo server. They stay open, so that their ports differ."""
    with contextlib.ExitStack() as stack:
        for client in [stack.enter_context(live.udp_socket()) for _ in range(clients)]:
            client.settimeout(live.SECONDS)
            for payload in (b"hello 0", b"hello 1"):
                client.sendto(payload, ("127.0.0.1", link.port))
                assert client.recv(2048) == payload


class Link(unittest.TestCase):
    def forward(self, stderr):
        with live.Echo() as echo, Blocked("link", "--bind=127.0.0.1", "--json", "--idle=0.2", 0, f"127.0.0.1:{echo.port}",
                                     stderr=stderr) as link:
            exchange(link, CLIENTS)
            errors = link.stop()
            self.assertEqual(2, link.process.returncode)
        return errors

    def test_output(self):
        errors = self.forward(subprocess.PIPE)
        self.assertRegex(errors, r"^uerudp: standard output: \d+ lines were not written: the reader has stopped reading\n$")

    def test_output_and_errors(self):
        self.forward(None)


class Serve(unittest.TestCase):
    def test_output(self):
        with Blocked("serve", "--mode=echo", "--bind=127.0.0.1", "--port=0", "--json", FAST) as server:
            for seed in range(9):
                live.check(server, FAST, "--seed", seed)
            errors = server.stop()
            self.assertEqual(2, server.process.returncode)
        self.assertIn("lines were not written", errors)


class Connect(unittest.TestCase):
    def test_output(self):
        """The server gets every line and the close."""
        lines = b"".join(b"%0200d\n" % number for number in range(500))
        with live.Server(FAST, bind="127.0.0.1") as server:
            with Blocked("connect", "--lines", "--json", FAST, f"127.0.0.1:{server.port}") as client:
                errors = client.process.communicate(lines, live.SECONDS)[1].decode()
            left, = server.wait_for("left")
        self.assertEqual((500, "Disconnect"), (left["messages"], left["told"]))
        self.assertIn("lines were not written", errors)


class Read(unittest.TestCase):
    """A reader gets every event, in order."""

    def test_at_once(self):
        with live.Echo() as echo, live.Link(echo.port, "--idle=0.2") as link:
            exchange(link, 60)
            link.wait_for("left", 60)
        events = [(event["event"], event["client"]) for event in link.events if "client" in event]
        for client in {client for _, client in events}:
            self.assertEqual(["connected", "left"], [event for event, who in events if who == client])
        self.assertEqual(60, len(link.named("connected")))
        self.assertEqual([], link.named("dropped") + link.named("unreported"))

    def test_late(self):
        """The reader starts when more output is ready than the pipe holds."""
        lines = b"".join(b"%0200d\n" % number for number in range(800))
        with live.Server(FAST, bind="127.0.0.1") as server:
            with Blocked("connect", "--lines", "--json", FAST, f"127.0.0.1:{server.port}") as client:
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
