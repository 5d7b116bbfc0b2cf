#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Options of serve, connect and link: the effect of each on traffic."""
import json
import pathlib
import tempfile
import time
import unittest

import live
import uerudp

FAST = "--tick=120"


class Repeat(unittest.TestCase):
    def test_copies(self):
        """Each side that has the option sends copies, and the other, which has it not, sends none."""
        for with_option in ("server", "client"):
            options = {side: ["--delay=30"] + ["--repeat=2"] * (side == with_option) for side in ("server", "client")}
            with live.Server(FAST, *options["server"]) as server:
                events, _ = live.client(server, FAST, "--check", *options["client"])
                ends = {"server": server.reported("left"), "client": events["connection"]}
            for side, end in ends.items():
                self.assertEqual(side == with_option, end["counters"]["repeated"] > 0, side)


class Login(unittest.TestCase):
    def test_names_and_url(self):
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
            options = ["--handlers=aesgcm", key, "--fields=control.hello.encryption_token"]
            self.assertIn(b"letmein\n", uerudp.run("decode", *options, path).stdout)

    def test_what_is_wrong_is_named(self):
        """Handlers are named only if a connection can be created without them."""
        for options, text in ((["--max-packet=64", "--handlers=oodle"], "no connection can be created with these settings"),
                              (["--handlers=oodle,oodle"], "--handlers: use each component once\n"),
                              (["--handlers=unknown"], "--handlers: unknown stands for a component of a capture"),
                              (["--handlers=aesgcm,dtls"], "--handlers: use at most one of aesgcm, aesgcm-bytes, "),
                              (["--handlers=oodle,aesgcm-bytes", "--compress"], "aesgcm-bytes and --compress exclude"),
                              (["--handlers=foo"], "--handlers=foo: use names separated by commas: oodle, "),
                              (["--magic-bits=33"], "--magic-bits=33: use a number from 0 to 32; "),
                              (["--ch-seq-bound=1000"], "--ch-seq-bound=1000: use a power of two up to 1073741824, "
                               "or automatic; "),
                              (["--reliable-buffer=x"], "--reliable-buffer=x: use a number from 1 to 65535, or automatic; "),
                              ([f"--key={'5a' * 32}", "--generation=4.13"], "--key: the login of 4.13 has no encryption"),
                              (["--min-handshake-version=3", "--generation=4.17"], "handshakes of 4.14 to 4.17 have no"),
                              (["--beacon=PartyBeaconClient", "--generation=5.8"], "--generation=5.8: the form of "
                               "BeaconAssignGUID is not known")):
            result = uerudp.run("connect", *options, "127.0.0.1:1", status=2)
            self.assertIn(text, result.stderr.decode())

    def test_constants_of_a_game(self):
        """Both sides have constants that differ from the engine's; decode needs them, too."""
        settings = ["--ch-seq-bound=4096", "--extra-bits=3", "--reliable-buffer=300"]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "session.pcapng"
            with live.Server(FAST, *settings, f"--pcap={path}") as server:
                live.check(server, FAST, *settings)
            uerudp.run("decode", "--quiet", "--generation=5.5", *settings, path)
            uerudp.run("decode", "--quiet", "--generation=5.5", path, status=1)


class ActorContent(unittest.TestCase):
    """decode --content reads actor channels of serve and connect completely."""

    def content(self, generation, *job):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "session.pcapng"
            with live.Server(FAST, f"--generation={generation}", f"--pcap={path}", *job, bind="127.0.0.1") as server:
                live.client(server, FAST, f"--generation={generation}", *(job or ["--check"]))
            decoded = uerudp.decode("--content", f"--generation={generation}", path)
        bunches = [bunch for packet in decoded for bunch in [*packet.get("bunches", []), *packet.get("items", [])]]
        return [part for bunch in bunches if bunch.get("channel", 0) != 0 for part in bunch.get("content", [])]

    def test_every_generation(self):
        for generation, job in (("4.18", []), ("4.26", []), ("5.5", []), ("5.8", []), ("5.5", ["--scenario=game"])):
            with self.subTest(generation, job=job):
                content = self.content(generation, *job)
                self.assertLessEqual(1, sum("actor" in part for part in content))
                self.assertLess(8, sum("blocks" in part for part in content))
                broken = [part for part in content if "fault" in part or "opaque" in part]
                self.assertEqual([], broken)


class HandshakeVersions(unittest.TestCase):
    def test_client_of_version_1(self):
        """A server refuses a client whose lowest version is below its own, as the engine does, unless an option allows it."""
        with live.Server(FAST, "--min-handshake-version=1", bind="127.0.0.1") as server:
            live.check(server, FAST, "--min-handshake-version=1")
            live.check(server, FAST)
        self.assertEqual((2, 0), (server.reported("served")["clients"], server.reported("refused")["bad_versions"]))
        self.assertEqual([], server.named("refusal"))

    def test_old_version_alone(self):
        """Version 2 has no ids before packets."""
        with live.Server(FAST, "--handshake-version=2", "--min-handshake-version=2", bind="127.0.0.1") as server:
            live.check(server, FAST, "--handshake-version=2", "--min-handshake-version=1", "--timeout=2",
                       status=1)
            live.check(server, FAST, "--handshake-version=2", "--min-handshake-version=2")
        self.assertEqual(1, server.reported("served")["clients"])

    def test_invalid_versions(self):
        for option, complaint in (("--handshake-version=5", "handshake-version"), ("--min-handshake-version=-1", "min-"),
                                  ("--generation=4.25 --handshake-version=3", "no version"),
                                  ("--min-handshake-version=4 --handshake-version=3", "above")):
            with self.subTest(option):
                result = uerudp.run("connect", *option.split(), "127.0.0.1:9", status=2)
                self.assertIn(complaint, result.stderr.decode())


class NoLogin(unittest.TestCase):
    """Peers without a login: handshake and reliable layer only."""

    def test_ack_layouts(self):
        for generation in ("4.18", "4.26", "5.8"):
            with self.subTest(generation), \
                    live.Server(FAST, "--no-login", f"--generation={generation}", bind="127.0.0.1") as server:
                checked = live.check(server, FAST, "--no-login", f"--generation={generation}", "--loss=0.05")
                self.assertEqual(checked["reliable_sent"], checked["reliable_echoed"])

    def test_no_control_message_is_sent(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "session.pcapng"
            with live.Server(FAST, "--no-login", bind="127.0.0.1") as server:
                events, _ = live.client(server, FAST, "--no-login", "--channel=9", f"--pcap={path}", data=b"hello\n")
            self.assertEqual("hello", events["message"]["text"])
            self.assertNotIn("map", events["joined"])
            bunches = [bunch for packet in uerudp.decode("--content", path) for bunch in packet.get("bunches", [])]
            checked = uerudp.run("replay", "--check", path, status=2).stdout.decode()
        self.assertIn("no login", checked)
        self.assertNotIn("differs", checked)
        self.assertEqual({9}, {bunch["channel"] for bunch in bunches if not bunch.get("close")} - {0})
        closing = [bunch for bunch in bunches if bunch["channel"] == 0]
        messages = [message for bunch in closing for message in bunch.get("messages", [])]
        self.assertEqual([{"type", "close_reason"}] * len(messages), [set(message) for message in messages])

    def test_scenario(self):
        with live.Server(FAST, "--no-login", "--scenario=game", bind="127.0.0.1") as server:
            events, _ = live.client(server, FAST, "--no-login", "--scenario=game")
        self.assertEqual(0, events["scenario"]["wrong"])
        self.assertEqual(0, server.reported("left")["wrong"])

    def test_server_with_login(self):
        """A server that requires a login closes the connection, as the engine does."""
        with live.Server(FAST, bind="127.0.0.1") as server:
            _, errors = live.client(server, FAST, "--no-login", "--check", "--timeout=2", status=1)
        self.assertEqual([], server.named("joined"))

    def test_key(self):
        result = uerudp.run("connect", "--no-login", "--key", "5a" * 32, "127.0.0.1:9", status=2)
        self.assertIn("exclude each other", result.stderr.decode())


class Refusals(unittest.TestCase):
    def test_once_for_each_address_and_reason(self):
        with live.Server(FAST, bind="127.0.0.1") as server:
            live.client(server, FAST, "--check", "--min-handshake-version=1", status=1)
            with live.udp_socket() as sender:
                initial = uerudp.encode([{"schema": 1, "is_handshake": True, "session_id": 0, "client_id": 0,
                                          "handshake": {"restart": False, "min_version": 1, "version": 4, "type": 0,
                                                        "sent_count": 0, "network_version": 7, "features": 0,
                                                        "timestamp": 0, "cookie": "00" * 20, "secret_id": 0},
                                          "direction": 1}], "--generation=5.5")[0]
                for _ in range(5):
                    sender.sendto(initial, ("127.0.0.1", server.port))
                address = "127.0.0.1:%d" % sender.getsockname()[1]
                server.wait_for("refusal", 2)
            live.check(server, FAST)
        first, second = server.named("refusal")
        self.assertEqual(("handshake version", 1, 4), (first["reason"], first["min_version"], first["version"]))
        self.assertEqual((address, "handshake version", 7),
                         (second["client"], second["reason"], second["network_version"]))

    def test_other_forms(self):
        """Clients without ids before packets and without versions are refused by their version, not as a wrong session."""
        with live.Server(FAST, bind="127.0.0.1") as server:
            for options in (["--handshake-version=2", "--min-handshake-version=2"], ["--generation=4.25"],
                            ["--generation=4.18"]):
                live.client(server, FAST, *options, "--check", "--timeout=1", status=1)
            live.check(server, FAST)
        self.assertEqual([(2, 2, 0), (None, None, None), (None, None, None)],
                         [(event["min_version"], event["version"], event["network_version"])
                          for event in server.named("refusal")])
        self.assertEqual(3 * ["handshake version"], [event["reason"] for event in server.named("refusal")])
        refused = server.reported("refused")
        self.assertEqual((0, 0), (refused["wrong_session"], refused["malformed"]))

    def test_many_addresses_do_not_fill_the_log(self):
        """200 forged addresses get at most 100 lines and a count of the other ones."""
        with live.Server(FAST, bind="127.0.0.1") as server:
            with live.Server(FAST, bind="127.0.0.1") as other:
                response = self.response_to(other)
            senders = [live.udp_socket() for _ in range(200)]
            for sender in senders:
                sender.sendto(response, ("127.0.0.1", server.port))
            live.check(server, FAST)
            for sender in senders:  # not before: the next sender might get the port of one that was closed
                sender.close()
        lines, refused = len(server.named("refusal")), server.reported("refused")
        self.assertGreaterEqual(lines, 1)
        self.assertLessEqual(lines, 100)
        self.assertEqual(refused["bad_cookies"], lines + refused["unreported"])
        self.assertEqual({"bad cookie"}, {event["reason"] for event in server.named("refusal")})

    def response_to(self, server):
        """A client's Response to the challenge of another server."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "client.pcapng"
            live.client(server, FAST, "--pcap", path, data=b"hello\n")
            return [payload for port, payload in live.datagrams(path) if port != server.port][1]


class Figures(unittest.TestCase):
    def test_no_round_trip(self):
        """Without an answer no round-trip time is reported, not 0 ms."""
        with live.udp_socket() as silent:
            connect = ["connect", "--timeout=0.3", f"127.0.0.1:{silent.getsockname()[1]}"]
            text = uerudp.run(*connect, status=1).stdout.decode()
            reports = [json.loads(line) for line in uerudp.run(*connect, "--json", status=1).stdout.splitlines()]
        self.assertNotIn("rtt ms", text)
        self.assertEqual([None], [report["rtt_ms"] for report in reports if report["event"] == "connection"])


class Protection(unittest.TestCase):
    """serve limits packets of unknown addresses, and a client joins nevertheless."""

    def refused(self, count, *options):
        """The report "refused", with the seconds that the server ran, after `count` packets of unknown addresses."""
        started = time.monotonic()
        with live.Server(FAST, *options, bind="127.0.0.1") as server:
            senders = [live.udp_socket() for _ in range(8)]
            for number in range(count):
                senders[number % 8].sendto(b"\x80", ("127.0.0.1", server.port))
                time.sleep(0.002 if number % 200 == 199 else 0)
            for sender in senders:
                sender.close()
            live.check(server, FAST)
        self.assertEqual(1, server.reported("served")["clients"])
        return server.reported("refused") | {"seconds": time.monotonic() - started}

    def test_restart_requests(self):
        for options, per_second in (([], 9), (["--restart-requests=32"], 2)):  # 1/32 for one machine, and one more
            refused = self.refused(600, *options)
            self.assertLess(0, refused["restart_requests"])
            self.assertLessEqual(refused["restart_requests"], per_second * (1 + refused["seconds"]))
            self.assertLess(400, refused["restart_requests_withheld"])
        refused = self.refused(600, "--restart-requests=0")
        self.assertEqual(0, refused["restart_requests_withheld"])
        self.assertLess(500, refused["restart_requests"])

    def test_flood_detection(self):
        few = "--max-clients=1"  # the limit grows with the number of clients
        self.assertEqual(0, self.refused(500, few)["dropped"])
        # On a busy machine the server may read too late, and the socket loses what is beyond its buffer.
        self.assertTrue(any(self.refused(3000, few)["dropped"] > 100 for _ in range(5)))
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


class Directions(unittest.TestCase):
    def join(self, *options):
        with live.Server(FAST) as server, live.Link(server.port, "--seed=5", *options) as link:
            live.start_client(link, "--check", FAST).communicate(timeout=live.SECONDS)  # fails where datagrams are corrupted
        left, = link.named("left")
        return left["up"], left["down"]

    def assert_only(self, expected, counters):
        """Exactly the expected counters of impairments by chance are above 0."""
        found = {name for name in ("lost", "corrupted", "duplicated") if counters[name] > 0}
        self.assertEqual(set(expected), found, counters)

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
            counters = dict(zip(("up", "down"), self.join(option)))
            self.assertGreater(counters[way]["reordered"], 0)
            self.assertEqual(0, counters[other]["reordered"])


if __name__ == "__main__":
    uerudp.main()
