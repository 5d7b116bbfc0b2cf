#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What programs that run in real time show on a terminal while they run, and that nothing of it stays."""
import pathlib
import re
import signal
import tempfile
import time
import unittest

import live
import uerudp
from terminal import ERASED, Terminal, shown

COLUMNS = 90
SLOW = ["--delay", 150]  # a check takes some seconds


def progress(text, name):
    """The lines of progress that begin with this name; another one or a report replaces each."""
    return re.findall(re.escape(ERASED) + f"({name}: [^\r]*)(?={re.escape(ERASED)})", text)


class Progress(unittest.TestCase):
    def check_screen(self, text, name, *lines):
        """Lines of progress fit into the terminal, and of them nothing is left at the end."""
        seen = progress(text, name)
        self.assertGreater(len(seen), 1, text)
        self.assertLess(max(map(len, seen)), COLUMNS)
        screen = shown(text)
        self.assertEqual(text.count("\n"), screen.count("\n"))
        self.assertNotIn("\033", screen)
        for line in lines:
            self.assertRegex(screen, re.compile(f"^{line}", re.MULTILINE))
        return screen

    def test_serve_link_connect(self):
        ports = [live.free_port(), live.free_port()]
        server = Terminal("serve", "--mode=echo", "--port", ports[0], columns=COLUMNS)
        live.wait_until(lambda: b"listening on" in server.text)
        link = Terminal("link", "--once", ports[1], f"127.0.0.1:{ports[0]}", columns=COLUMNS)
        live.wait_until(lambda: b"listening on" in link.text)
        client = Terminal("connect", "--check", *SLOW, f"127.0.0.1:{ports[1]}", columns=COLUMNS)
        text = client.end()
        self.assertEqual(0, client.process.returncode, text)
        self.check_screen(text, "check", "joined: ", "check: channels 4, reliable sent 64, reliable echoed 64, ", "connection: ")
        text = link.end()
        self.check_screen(text, "linking", "listening on ", "connected: ", "left: ", "linked: clients 1, ")
        self.assertRegex(progress(text, "linking")[0], r"^linking: seconds \d+, clients 1, up \d+ of \d+ datagrams")
        live.wait_until(lambda: b"clients 0" in server.text)
        self.check_screen(server.end(signal.SIGINT), "serving", "joined: ", "left: ", "served: clients 1, ")

    def test_waiting(self):
        """A client without an answer, and a script that waits for its client."""
        with live.udp_socket() as silent, tempfile.TemporaryDirectory() as folder:
            client = Terminal("connect", "--check", "--timeout", 2, f"127.0.0.1:{silent.getsockname()[1]}", columns=COLUMNS)
            script = pathlib.Path(folder, "new.txt")
            script.write_text("fixture new\n")
            waiting = Terminal("script", "--listen", live.free_port(), script, columns=COLUMNS)
            screen = self.check_screen(client.end(), "connecting")
            self.assertEqual(1, screen.count("\n"), screen)
            self.assertRegex(screen, r"^uerudp: no answer from 127\.0\.0\.1")
            live.wait_until(lambda: b"waiting for a client at port" in waiting.text)
            waiting.end(signal.SIGTERM)

    def test_replay(self):
        capture = uerudp.ROOT / "captures/login.pcapng"
        with live.Server("--generation", "5.5", "--once") as server:
            replayed = Terminal("replay", "--live", server.address, "--generation", "5.5", capture, columns=COLUMNS)
            text = replayed.end()
            server.wait()
        self.check_screen(text, "(?:connecting|replaying)", "replayed: ", "connection: ")

    def test_without_terminal(self):
        """Nothing is shown where standard error is none, and of typed lines the user sees only the replies."""
        with live.Server("--once") as server:
            client = Terminal("connect", "--check", *SLOW, server.address, streams=["stdout"])
            self.assertNotIn(ERASED, client.end())
            server.wait()
        with live.Server("--once") as server:
            client = Terminal("connect", "--lines", server.address)
            live.wait_until(lambda: b"joined: " in client.text)
            time.sleep(1.5)
            self.assertEqual([], progress(client.end(signal.SIGINT), "lines"))
            server.wait()


if __name__ == "__main__":
    uerudp.main()
