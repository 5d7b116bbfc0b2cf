#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp script against serve and connect on the loopback interface."""
import re
import subprocess
import unittest

import live
import uerudp

DOCUMENT = uerudp.ROOT / "docs/script.md"
TOLERANCE = ["--tolerance", 20000]  # for a slow machine

HELLO = """fixture new
C send 0 Hello
run until=0.3
    ...
    * C > 100 ... [0 R101 open:Control Hello ...
    ...
    * S > * ... [0 R501 Challenge ...
    ...
"""

# The packet with Login is lost, and Login is retransmitted.
LOGIN = """fixture new
C send 0 Hello
C flush
    * C > 100 ... [0 R101 open:Control Hello ...
S reads 100
    ...
    * S > 500 ... [0 R501 Challenge ...
    ...
C reads 500
    ...
    * C < 0 R* Challenge *
    ...
C send 0 Login
C flush
    ...
    * C > 101 ... [0 R102 Login ...
lose C 101
run until=2
    ...
    * C nak 101
    ...
    * C > * ... [0 R102 Login ...
    ...
    * C < 0 R* Welcome *
    ...
"""


def play(server, script, *options, status=0):
    result = uerudp.run("script", "--host", f"127.0.0.1:{server.port}", *options, data=script.encode(), status=status)
    if status == 0 and not options:
        assert result.stdout == b"", result
    return result


class Server(unittest.TestCase):
    def test_hello_in_every_generation(self):
        for generation in ("4.13", "4.20", "4.22", "4.25", "5.1", "5.4", "5.8"):
            with live.Server("--generation", generation) as server:
                play(server, HELLO, "--generation", generation, *TOLERANCE)
                server.wait_for("connected")

    def test_document(self):
        script, = (block for block in re.findall(r"^```\n(.*?)^```$", DOCUMENT.read_text(), re.M | re.S)
                   if "fixture new" in block)
        with live.Server() as server:
            play(server, script, *TOLERANCE)

    def test_a_lost_packet(self):
        with live.Server() as server:
            play(server, LOGIN, *TOLERANCE)

    def test_garbage_has_no_answer(self):
        with live.Server() as server:
            play(server, "fixture new\nS bytes 00ff\nS bytes deadbeef00112233\nS bytes\nat 0.4\n")
            server.wait_for("left")
            self.assertEqual(server.stop(), 0)

    def test_forged_packets(self):
        """A packet that acknowledges a packet id that was not sent is ignored; with a possible ack it is answered."""
        forged = "fixture new\nS forged 100 Ack={} hist=0 [0 R101 open:Control Hello 96]\nat 0.3\n"
        with live.Server() as server:
            play(server, forged.format(700))
        with live.Server() as server:
            play(server, forged.format(499) + "    ...\n    * S > 500 ... [0 R501 Challenge ...\n    ...\n", *TOLERANCE)

    def test_unexpected_answer(self):
        with live.Server() as server:
            errors = play(server, HELLO.replace("Challenge", "Welcome"), status=1).stderr.decode()
            self.assertTrue(errors.startswith("-:7: generation 5.5: no line of the output matches\n"), errors)
            self.assertIn("[0 R501 Challenge ", errors)

    def test_commands_that_need_an_endpoint(self):
        with live.Server() as server:
            for line, place, what in (("S tick", "2:3", "not possible for a real host"), ("S has InSeq=1", "2:3", "not possible for a real host"),
                                      ("S reads 100", "2:9", "C has sent no packet 100"),
                                      ("C reads 500", "2:9", "S has sent no packet 500")):
                errors = play(server, f"fixture new\n{line}\n", status=2).stderr.decode()
                self.assertRegex(errors, rf"^-:{place}: generation 5.5: {what}")
            errors = play(server, "fixture\n", status=2).stderr.decode()
            self.assertIn("fixture new", errors)

    def test_nobody_listens(self):
        errors = uerudp.run("script", "--host", f"127.0.0.1:{live.free_port()}", data=b"fixture new\n", status=1).stderr.decode()
        self.assertRegex(errors, r"^-:1: generation 5.5: no handshake with 127.0.0.1:\d+: no program listens there\n$")
        errors = uerudp.run("script", "--host", "nowhere.invalid", data=b"fixture new\n", status=1).stderr.decode()
        self.assertIn("nowhere.invalid", errors)


class Client(unittest.TestCase):
    SCRIPT = """fixture new
run until=0.4
    ...
    * S opens 0 Control
    * S < 0 R101 open Hello *
    ...
S send 0 Challenge
run until=0.8
    ...
    * S < 0 R102 Login *
    ...
"""

    def test_listen(self):
        port = live.free_port()
        with subprocess.Popen([uerudp.PROGRAM, "script", "--listen", str(port), "--tolerance", "20000"],
                              stdin=subprocess.PIPE, stderr=subprocess.PIPE) as script:
            script.stdin.write(self.SCRIPT.encode())
            script.stdin.close()
            with subprocess.Popen([uerudp.PROGRAM, "connect", f"127.0.0.1:{port}"], stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
                self.assertEqual((script.wait(live.SECONDS), script.stderr.read()), (0, b""))
                self.assertEqual(client.wait(live.SECONDS), 1)  # the script closes the connection

    def test_ports(self):
        for port in ("x", "70000"):
            errors = uerudp.run("script", "--listen", port, data=b"fixture new\n", status=1).stderr.decode()
            self.assertIn(f"{port} is not a port", errors)


if __name__ == "__main__":
    uerudp.main()
