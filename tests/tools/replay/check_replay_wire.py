#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""replay --wire: the datagrams that arrive at a host, and their times."""
import json
import pathlib
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import unittest

import live
import uerudp

SO_TIMESTAMPNS = 35
GAP_S = 0.05


class Sink:
    """A socket, and the datagrams that it received."""

    def __enter__(self):
        self.socket = live.udp_socket()
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.settimeout(0.2)
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.received = []  # (time in seconds, source port, payload)
        self.is_open = True
        self.thread = threading.Thread(target=self.receive)
        self.thread.start()
        return self

    def receive(self):
        while True:
            try:
                payload, [(_, _, stamp)], _, source = self.socket.recvmsg(65536, 64)
                seconds, nanoseconds = struct.unpack("qq", stamp)
                self.received.append((seconds + nanoseconds / 1e9, source[1], payload))
            except TimeoutError:
                if not self.is_open:
                    return

    def __exit__(self, *_):
        self.is_open = False
        self.thread.join()
        self.socket.close()

    def payloads(self):
        return [payload for _, _, payload in self.received]


class Wire(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = pathlib.Path(folder.name, "game.pcapng")
        cls.client = uerudp.encode([{"packet": {"seq": seq}} for seq in range(8)], "--generation=5.5")
        cls.server = uerudp.encode([{"packet": {"seq": 100}}], "--generation=5.5")
        lines = [f"C> {number * GAP_S:.3f} {payload.hex()}" for number, payload in enumerate(cls.client)]
        lines.insert(1, f"S> 0.001 {cls.server[0].hex()}")
        other = f"C> 0.020 {cls.client[0].hex()}"
        uerudp.run("encode", "--from-hex", "-o", cls.path, data="\n".join(lines).encode())
        cls.second = pathlib.Path(folder.name, "second.pcapng")
        uerudp.run("encode", "--from-hex", "--src=10.0.0.9:1", "-o", cls.second, data=other.encode())

    def replay(self, *options, status=0):
        """The socket that received, and the report."""
        with Sink() as sink:
            result = uerudp.run("replay", "--wire", sink.address, "--json", *options, status=status)
        return sink, json.loads(result.stdout)

    def assert_duration(self, report, seconds):
        """No datagram is sent before its time, and a machine that is busy sends late: by how much is reported."""
        self.assertGreaterEqual(report["seconds"], seconds - 0.001)
        self.assertLessEqual(report["seconds"], seconds + report["late_us_max"] / 1e6 + 0.001)

    def test_as_captured(self):
        sink, report = self.replay(self.path)
        self.assertEqual(sink.payloads(), self.client)
        self.assertEqual([report[key] for key in ("schema", "event", "datagrams", "bytes", "senders", "rounds",
                                                  "skipped", "unreachable", "failed")],
                         [1, "sent", 8, sum(map(len, self.client)), 1, 1, 0, 0, 0])
        self.assert_duration(report, 7 * GAP_S)
        self.assertGreater(sink.received[-1][0] - sink.received[0][0], 6 * GAP_S)
        self.assertLessEqual(report["late_us_mean"], report["late_us_max"])

    def test_direction(self):
        sink, _ = self.replay("--direction=s2c", self.path)
        self.assertEqual(sink.payloads(), self.server)

    def test_speed(self):
        _, report = self.replay("--speed=4", self.path)
        self.assert_duration(report, 7 * GAP_S / 4)
        _, report = self.replay("--speed=0", self.path)
        self.assertLess(report["seconds"], 7 * GAP_S / 4)

    def test_rate(self):
        sink, report = self.replay("--pps=100", self.path)
        self.assertEqual(sink.payloads(), self.client)
        self.assert_duration(report, 0.07)
        self.assertAlmostEqual(report["rate_error_percent"], 100 * (report["seconds"] / 0.07 - 1), delta=0.1)

    def test_rounds(self):
        sink, report = self.replay("--loop=3", "--speed=0", self.path)
        self.assertEqual(sink.payloads(), 3 * self.client)
        self.assertEqual(report["rounds"], 3)
        _, report = self.replay("--loop=2", "--speed=10", self.path)
        self.assert_duration(report, 15 * GAP_S / 10)

    def test_connections_have_addresses_of_their_own(self):
        sink, report = self.replay(self.path, self.second)
        self.assertEqual((report["senders"], len({port for _, port, _ in sink.received})), (2, 2))
        sink, report = self.replay("--stream=1", self.path, self.second)
        self.assertEqual((report["senders"], sink.payloads()), (1, self.client[:1]))

    def test_signal(self):
        with Sink() as sink, subprocess.Popen(
                [uerudp.PROGRAM, "replay", "--wire", sink.address, "--json", "--loop=0", self.path],
                stdout=subprocess.PIPE) as process:
            live.wait_until(lambda: sink.received)
            process.send_signal(signal.SIGINT)
            report = json.loads(process.communicate(timeout=live.SECONDS)[0])
        self.assertEqual(process.returncode, 0)
        self.assertEqual(report["datagrams"], len(sink.received))

    def test_nobody_listens(self):
        result = uerudp.run("replay", "--wire", f"127.0.0.1:{live.free_port()}", self.path, status=1)
        self.assertIn(b"no program listens at 127.0.0.1", result.stderr)

    def test_mistakes(self):
        empty = b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0\0"
        for arguments, what in ((["--wire", "127.0.0.1", "-"], "nothing to send"),
                                (["--wire", "a..b", self.path], "a..b"),
                                (["--wire", "127.0.0.1", "--speed=nan", self.path], "--speed=nan"),
                                (["--wire", "127.0.0.1", "--pps=-1", self.path], "--pps=-1"),
                                (["--wire", "127.0.0.1", "--loop=-1", self.path], "--loop=-1"),
                                (["--wire", "127.0.0.1", "--pcap=x", self.path], "--pcap requires"),
                                (["--speed=2", self.path], "require --wire"), (["--mode=wire", self.path], "target"),
                                (["--wire", "127.0.0.1", "/nonexistent"], "/nonexistent")):
            self.assertIn(what, uerudp.run("replay", *arguments, data=empty, status=2).stderr.decode())


if __name__ == "__main__":
    uerudp.main()
