#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Live capture: decode and info with --interface, on the loopback interface."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time
import unittest

import uerudp

INITIAL, = uerudp.encode([{"handshake": {"type": 0}}], "--generation=5.5")
SECONDS = 60


def errors(*arguments):
    return uerudp.run(*arguments, status=2).stderr.decode()


def may_capture():
    result = subprocess.run([uerudp.PROGRAM, "decode", "-i", "lo", "--duration", "0.01"], capture_output=True,
                            timeout=SECONDS, check=False)
    return result.returncode == 0


class Sender:
    """Sends datagrams to two ports until it exits."""

    def __enter__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sinks = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
        for sink in self.sinks:
            sink.bind(("127.0.0.1", 0))
        self.port, self.other_port = (sink.getsockname()[1] for sink in self.sinks)
        self.filter = f"udp dst port {self.port}"
        self.is_open = True
        self.thread = threading.Thread(target=self.send)
        self.thread.start()
        return self

    def send(self):
        while self.is_open:
            for sink in self.sinks:
                self.socket.sendto(INITIAL, sink.getsockname())
            time.sleep(0.01)

    def __exit__(self, *_):
        self.is_open = False
        self.thread.join()
        for each in (self.socket, *self.sinks):
            each.close()


@unittest.skipUnless(may_capture(), "no permission to capture on lo")
class Capture(unittest.TestCase):
    def test_count_and_filter(self):
        with Sender() as sender:
            before = time.time()
            result = uerudp.run("decode", "--fields=frame,dst,raw,time", "-i", "lo", "--filter", sender.filter,
                                "--count", 3)
        seen = [line.split("\t") for line in result.stdout.decode().splitlines()]
        self.assertEqual([each[:3] for each in seen],
                         [[str(frame), f"127.0.0.1:{sender.port}", INITIAL.hex()] for frame in (1, 2, 3)])
        self.assertAlmostEqual(int(seen[0][3]) / 1e9, before, delta=SECONDS)

    def test_info(self):
        with Sender() as sender:
            result = uerudp.run("info", "--json", "-i", "lo", "--filter", sender.filter, "--count", 3,
                                status=None)  # 1 if the Initials were far enough apart to be tries without answer
        self.assertEqual(json.loads(result.stdout)["packets"], {"c2s": 3, "s2c": 0})

    def test_duration(self):
        started = time.monotonic()
        result = uerudp.run("decode", "--interface", "lo", "--filter", "udp port 9", "--duration", 0.3)
        self.assertGreaterEqual(time.monotonic() - started, 0.3)
        self.assertIn(b"0 datagrams in 0 connections", result.stderr)

    def test_signal(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with Sender() as sender, subprocess.Popen(
                    [uerudp.PROGRAM, "decode", "--json", "-i", "lo", "--filter", sender.filter],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                first = json.loads(process.stdout.readline())
                process.send_signal(number)
                _, errors = process.communicate(timeout=SECONDS)
            self.assertEqual((first["frame"], process.returncode), (1, 0))
            self.assertIn(b"in 1 connection, 0 malformed", errors)

    def test_errors(self):
        self.assertIn("there is no such interface; interfaces: ", errors("decode", "-i", "nowhere0"))
        self.assertIn("invalid filter: ", errors("decode", "-i", "lo", "--filter", "udp prot 1"))

    @unittest.skipUnless(os.geteuid() == 0, "only root can change the user")
    def test_permission(self):
        with contextlib.suppress(PermissionError):  # the program may be in a folder without access
            result = subprocess.run([uerudp.PROGRAM, "decode", "-i", "lo", "--duration", "1"], user=65534,
                                    extra_groups=[], capture_output=True, timeout=SECONDS, check=False)
            self.assertIn(b"no permission to capture: run as root, or ", result.stderr)
            self.assertEqual(result.returncode, 2)


class Arguments(unittest.TestCase):
    def test_unusable(self):
        self.assertIn("exclude each other", errors("decode", "-i", "lo", "game.pcapng"))
        self.assertIn("exclude each other", errors("decode", "-i", "lo", "--hex"))
        for option in ("--filter=udp", "--count=1", "--duration=1"):
            self.assertIn("require --interface", errors("decode", option, "game.pcapng"))
        self.assertIn("--count=-1", errors("decode", "-i", "lo", "--count=-1"))
        for seconds in ("-1", "nan", "inf"):
            self.assertIn("--duration=", errors("decode", "-i", "lo", f"--duration={seconds}"))


if __name__ == "__main__":
    uerudp.main()
