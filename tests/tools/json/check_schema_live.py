#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The JSON schema against the reports of live programs on the loopback interface."""
import json
import pathlib
import tempfile
import unittest

import live
import schema
import uerudp


def run(*arguments, status=0):
    return schema.lines(uerudp.run(*arguments, status=status).stdout)


class Reports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def serve(self, jobs, *options):
        """Run clients one after the other and check the reports of both sides."""
        with live.Server(*options) as server:
            for arguments, data in jobs:
                events, _ = live.client(server, *arguments, data=data)
                schema.check("connect", events.values())
        schema.check("serve", server.events)

    def test_serve_and_connect(self):
        (self.folder / "file").write_bytes(b"x" * 5000)
        self.serve([(["--check", "--tick=120"], b""), ([f"--file={self.folder}/file"], b""), ([], b"hello\n")], "--tick=120")

    def test_scenario(self):
        self.serve([(["--scenario=voice"], b"")], "--scenario=voice")

    def test_problem(self):
        with live.Server() as server:
            events, _ = live.client(server, "--network-version=7", status=1)
        self.assertIn("problem", events["lines"])
        schema.check("connect", events.values())
        schema.check("serve", server.events)

    def test_events(self):
        logs = [self.folder / "server.jsonl", self.folder / "client.jsonl"]
        self.serve([(["--check", "--loss=0.05", "--tick=120", f"--events={logs[1]}"], b"")], "--tick=120", f"--events={logs[0]}")
        for path in logs:
            log, *events = schema.lines(path.read_text())
            schema.check("log", [log])
            schema.check("event", events)

    def test_link(self):
        with live.Server("--tick=120") as server, live.Link(server.port, "--loss=0.02", "--rule=drop first=1 kind=open") as link:
            live.check(link, "--tick=120")
        self.assertEqual({"listening", "connected", "left", "rule", "linked"}, {event["event"] for event in link.events})
        schema.check("link", link.events)

    def test_replay(self):
        path = self.folder / "then.pcapng"
        with live.Server("--tick=120", f"--pcap={path}") as server:
            live.check(server, "--tick=120")
        with live.Server("--tick=120") as server:
            target = f"127.0.0.1:{server.port}"
            schema.check("live", run("replay", "--live", target, "--json", "--speed=0", path))
            schema.check("wire", run("replay", "--wire", target, "--json", "--speed=0", path))
        schema.check("serve", server.events)

    def test_unknown_keys(self):
        """Reports have no unknown keys."""
        with live.Server("--tick=120") as server:
            events, _ = live.client(server, data=b"hello\n")
        for kind, reports in (("connect", events.values()), ("serve", server.events)):
            validator = schema.validator(kind)
            for event in reports:
                self.assertTrue(validator.is_valid(event))
                self.assertFalse(validator.is_valid({**event, "unknown": 1}), json.dumps(event))
                self.assertFalse(validator.is_valid({**event, "event": "unknown"}))


if __name__ == "__main__":
    uerudp.main()
