#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How connect ends: its exit status and its result when it is interrupted, and its counters after the close."""
import json
import pathlib
import signal
import subprocess
import tempfile
import unittest

import live
import uerudp

TICK = "--tick=120"


def events_of(output):
    """The last event of each name."""
    return {event["event"]: event for event in map(json.loads, output.splitlines())}


class Interrupted(unittest.TestCase):
    def interrupt(self, process):
        """Exit status, events and errors of a client that gets SIGINT."""
        process.send_signal(signal.SIGINT)
        process.wait(timeout=live.SECONDS)  # communicate ends the input, which would end the job, too
        output, errors = process.communicate(timeout=live.SECONDS)
        return process.returncode, events_of(output), errors.decode()

    def drop_all(self, proxy):
        """From now on the client's datagrams are dropped; the first of them was."""
        proxy.drop_next = 1 << 30
        live.wait_until(lambda: proxy.drop_count > 0)

    def test_unfinished_jobs(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(bytes(10_000_000))
            file.flush()
            for mode, job in (("sink", ["--file", file.name]), ("scenario", ["--scenario=game"]), ("echo", ["--check"])):
                with self.subTest(mode), live.Server("--mode", mode, TICK) as server, live.Proxy(server) as proxy:
                    process = live.start_client(proxy, TICK, *job)
                    server.wait_for("joined")
                    proxy.drop_next = 1 << 30
                    status, events, errors = self.interrupt(process)
                result = events[job[0].removeprefix("--").partition("=")[0]]
                self.assertEqual(1, status)
                self.assertRegex(result["problem"], "^interrupted(; no message came back: .*)?$")
                self.assertIn("interrupted", errors)
                if mode == "sink":
                    self.assertIs(False, result["delivered"])

    def test_lines(self):
        """The input has not ended, but all lines so far were delivered."""
        for line, delivered in ((b"hello\n", True), (b"never\n", False)):
            with self.subTest(line), live.Server("--mode", "echo", TICK) as server, live.Proxy(server) as proxy:
                process = live.start_client(proxy, TICK)
                self.assertIn(b"joined", process.stdout.readline())
                if not delivered:
                    self.drop_all(proxy)
                before = proxy.drop_count
                process.stdin.write(line)
                process.stdin.flush()
                if delivered:
                    self.assertIn(b"hello", process.stdout.readline())
                else:
                    live.wait_until(lambda: proxy.drop_count >= before + 2)
                status, events, _ = self.interrupt(process)
                self.assertEqual((1, delivered), (status, events["lines"]["delivered"]))

    def test_server_ends(self):
        """A line that the server never acknowledged is not delivered."""
        with live.Server(TICK) as server, live.Proxy(server) as proxy:
            process = live.start_client(proxy, TICK)
            self.assertIn(b"joined", process.stdout.readline())
            self.drop_all(proxy)
            before = proxy.drop_count
            process.stdin.write(b"never\n")
            process.stdin.flush()
            live.wait_until(lambda: proxy.drop_count >= before + 2)
            server.stop()
            output, _ = process.communicate(timeout=live.SECONDS)
        lines = events_of(output)["lines"]
        self.assertEqual((1, 1, False), (process.returncode, lines["sent"], lines["delivered"]))

    def test_mute_peer(self):
        with live.udp_socket() as mute:
            process = subprocess.Popen([uerudp.PROGRAM, "connect", "--json", "--file", __file__,
                                        "127.0.0.1:%d" % mute.getsockname()[1]],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for _ in range(2):  # after the first one the client may not handle signals yet
                mute.recv(2048)
            status, events, _ = self.interrupt(process)
        self.assertEqual((1, False), (status, events["file"]["delivered"]))


class Close(unittest.TestCase):
    def test_counters(self):
        """What connect reports at its end includes its close, and what followed."""
        for generation in ("4.18", "5.5"):
            with self.subTest(generation), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "client.pcapng"
                wire = [TICK, f"--generation={generation}"]
                with live.Server(*wire, bind="127.0.0.1") as server:
                    events, _ = live.client(server, *wire, f"--pcap={path}", data=b"hello\n")
                    server.wait_for("left")
                sent = [datagram for datagram in uerudp.decode(f"--generation={generation}", path)
                        if datagram["dst"] == server.address]
                connection = events["connection"]
                self.assertEqual(len(sent), connection["port"]["out_datagrams"])
                self.assertEqual(sum("handshake" not in datagram for datagram in sent), connection["out_packets"])
                self.assertLessEqual(server.reported("left")["counters"]["in_packets"], connection["out_packets"])


if __name__ == "__main__":
    uerudp.main()
