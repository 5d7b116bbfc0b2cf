#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""serve and connect on the loopback interface: delivery, bad networks, errors and hostile senders."""
import concurrent.futures
import contextlib
import json
import pathlib
import random
import signal
import socket
import tempfile
import time
import types
import unittest

import live
import uerudp

GENERATIONS = ["4.13", "4.14", "4.18", "4.19", "4.20", "4.22", "4.24", "4.25", "5.1", "5.4", "5.5", "5.8"]
KEY = "00112233445566778899aabbccddeeff" * 2
OTHER_KEY = "f" * 64
BAD_NETWORK = ["--loss", 0.1, "--delay", 5, "--jitter", 3, "--reorder", 0.05, "--dup", 0.05]
CHECKED = 64  # reliable messages that connect --check sends: 16 sizes on 4 channels
TICK = ["--tick", 120]  # faster than the default, for tests that do not depend on the tick rate


def bad_network(seed):
    return [*BAD_NETWORK, "--seed", seed]


class Delivery(unittest.TestCase):
    def check_generation(self, generation):
        wire = ["--generation", generation, *TICK]
        with live.Server("--once", *wire) as server:
            counted = live.check(server, *wire)
            self.assertEqual(server.wait(), 0)
        self.assertEqual(counted["reliable_echoed"], CHECKED)
        self.assertEqual(counted["unreliable_echoed"], CHECKED)
        left = server.reported("left")
        self.assertEqual((left["reason"], left["messages"]), ("ControlChannelClose", 2 * CHECKED))
        self.assertEqual((left["malformed"], left["counters"]["out_packets_lost"]), (0, 0))

    def test_every_generation(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(self.check_generation, GENERATIONS))

    def check_bad_network(self, generation):
        wire = ["--generation", generation, *TICK]
        with live.Server("--once", *wire, *bad_network(1)) as server:
            counted = live.check(server, *wire, *bad_network(2))
            self.assertEqual(server.wait(), 0)
        self.assertEqual(counted["reliable_echoed"], CHECKED)
        left = server.reported("left")
        self.assertGreater(left["counters"]["out_packets_lost"], 0)
        self.assertGreater(left["resent"], 0)

    def test_bad_network(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(self.check_bad_network, ["4.20", "5.1", "5.8"]))

    def check_lost_handshake(self, generation):
        for number in (1, 2, 3):  # Initial, Response, Hello
            with live.Server("--generation", generation) as server, live.Proxy(server, dropped=[number]) as proxy:
                events, _ = live.client(proxy, "--generation", generation, "--timeout", live.SECONDS)
            self.assertEqual(proxy.drop_count, 1)
            self.assertIn("joined", events)

    def test_lost_handshake(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(self.check_lost_handshake, ["4.13", "4.18", "4.22", "4.25", "5.5"]))

    def test_many_clients(self):
        with live.Server(*TICK) as server, concurrent.futures.ThreadPoolExecutor(4) as pool:
            counted = list(pool.map(lambda seed: live.check(server, *TICK, "--seed", seed), range(6)))
            server.wait_for("left", 6)
        self.assertEqual([each["reliable_echoed"] for each in counted], 6 * [CHECKED])
        self.assertEqual(server.reported("served")["clients"], 6)

    @unittest.skipUnless(live.has_ipv6(), "this machine has no IPv6")
    def test_ipv6(self):
        for bind in ("::1", None):
            with live.Server(bind=bind) as server:
                live.check(server, host="[::1]")

    def test_ipv4_alone(self):
        with live.Server(bind="127.0.0.1") as server:
            self.assertEqual(server.address, f"127.0.0.1:{server.port}")
            live.check(server)

    def test_magic(self):
        magic = ["--magic-bits", 32, "--magic", "0x12345678"]
        with live.Server(*magic) as server:
            live.check(server, *magic)

    def test_small_packets(self):
        small = ["--max-packet", 300]
        with live.Server(*small) as server:
            live.check(server, *small)


class Jobs(unittest.TestCase):
    def test_lines(self):
        with live.Server() as server:
            events, _ = live.client(server, data="hello\nwörld".encode())
        self.assertEqual(events["message"]["text"], "wörld")
        self.assertEqual((events["lines"]["sent"], events["lines"]["received"]), (2, 2))

    def test_line_too_long(self):
        with live.Server() as server:
            _, errors = live.client(server, data=b"x" * 10000, status=1)
        self.assertIn("too long", errors)

    def test_no_lines(self):
        with live.Server() as server:
            events, _ = live.client(server)
            server.wait_for("left")
        self.assertEqual(events["joined"]["map"], "/Game/Maps/Entry")

    def test_file(self):
        data = random.Random(1).randbytes(100000)
        with tempfile.NamedTemporaryFile() as file, live.Server("--mode", "sink", *TICK) as server:
            file.write(data)
            file.flush()
            events, _ = live.client(server, "--file", file.name, "--channel", 3, *TICK)
            left, = server.wait_for("left")
        self.assertEqual((events["file"]["bytes"], events["file"]["bytes_echoed"]), (100000, 0))
        self.assertEqual(left["message_bytes"], 100000)

    def test_scenario(self):
        for name in ("close-reasons", "game"):
            play = ["--scenario", name]
            with self.subTest(name), live.Server(*play) as server:
                events, _ = live.client(server, *play)
                left, = server.wait_for("left")
                for side in (events["scenario"], left):
                    self.assertEqual(side["wrong"], 0)
                    self.assertGreater(side["received"], 10)
                self.assertGreater(events["scenario"]["received"], 400 if name == "game" else 10)

    def test_default(self):
        """Without options both ends play the game."""
        with live.Listener("serve", "--port", 0, "--json", "--once") as server:
            output = uerudp.run("connect", "--json", server.address).stdout
            server.wait()
        events = {event["event"]: event for event in map(json.loads, output.splitlines())}
        self.assertEqual(("game", 0), (events["scenario"]["scenario"], events["scenario"]["wrong"]))
        self.assertGreater(events["scenario"]["received"], 400)
        self.assertEqual((0, "Disconnect"), (server.reported("left")["wrong"], server.reported("left")["told"]))

    def test_beacon(self):
        with live.Server("--scenario", "beacon") as server:
            events, _ = live.client(server, "--scenario", "beacon")
            joined, = server.wait_for("joined")
            left, = server.wait_for("left")
        self.assertEqual(("PartyBeaconClient", "PartyBeaconClient"), (events["joined"]["beacon"], joined["beacon"]))
        self.assertEqual((0, left["sent"], left["received"]),
                         (events["scenario"]["wrong"], events["scenario"]["received"], events["scenario"]["sent"]))

    def test_beacon_is_no_game(self):
        """A game's client ignores a beacon's host, and a beacon's client a game."""
        with live.Server("--scenario", "beacon") as server:
            _, errors = live.client(server, "--scenario", "game", "--timeout=3", status=1)
        self.assertIn("the login was not finished in time\n", errors)
        with live.Server() as server:
            _, errors = live.client(server, "--beacon", "PartyBeaconClient", "--timeout=3", status=1)
        self.assertIn("the login was not finished in time", errors)

    def test_voice(self):
        """Each side hears what the other side's talkers said, who talk in spurts that overlap."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "voice.pcapng"
            with live.Server("--scenario", "voice", "--pcap", path) as server:
                events, _ = live.client(server, "--scenario", "voice")
                left, = server.wait_for("left")
            info, = map(json.loads, uerudp.run("info", "--json", path, status=None).stdout.splitlines())
        self.assertEqual([0, 0], [side["wrong"] for side in (events["scenario"], left)])
        talkers = {(talker["from"], talker["sender"]): talker["packets"] for talker in info["talkers"]}
        self.assertEqual({("client", "Sim-0"), ("server", "Sim-1"), ("server", "Sim-2"), ("server", "Sim-3")}, set(talkers))
        self.assertGreater(min(talkers.values()), 3) # of 30 to 40 in time: a loaded machine leaves some out

    def test_wrong_scenario(self):
        """A client whose scenario has no voice, or another one, reports what it receives as wrong."""
        for served, played in (("voice", "game"), ("close-reasons", "beacon")):
            with self.subTest(played), live.Server("--scenario", served) as server:
                _, errors = live.client(server, "--scenario", played, "--timeout=3", status=1)
            self.assertRegex(errors, "does the server run the scenario|login was not finished")
        with live.Server() as server: # actors of another class
            _, errors = live.client(server, "--scenario", "game", status=1)
        self.assertIn("does the server run the scenario?", errors)

    def test_measurements_are_not_played(self):
        for command in (["serve", "--scenario=bulk"], ["connect", "--scenario=bulk", "127.0.0.1"]):
            errors = uerudp.run(*command, status=2).stderr.decode()
            self.assertIn("not a game; use one of game, beacon, ", errors)
            self.assertNotIn("demo", errors)

    def test_check_needs_an_echo(self):
        """A server that returns nothing is named as the cause; one that returns messages is not."""
        hint = "--check needs a server that returns them (serve --mode echo)"
        with live.Server("--mode", "sink") as server:
            _, errors = live.client(server, "--check", "--timeout", 5, status=1)
        self.assertIn("not finished in time; no message came back: " + hint, errors)
        with live.Server("--mode", "scenario") as server:
            _, errors = live.client(server, "--check", "--timeout", 5, status=1)
        self.assertIn(hint, errors)
        with live.Server("--mode", "echo") as server:
            _, errors = live.client(server, "--check", "--timeout", 0.6, "--delay", 300, status=1)
        self.assertNotIn(hint, errors)


class Recording(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.paths = [pathlib.Path(folder.name) / name for name in ("server.pcapng", "client.pcapng")]

    def record(self, *options):
        with live.Server("--pcap", self.paths[0], *options, *TICK) as server:
            live.check(server, "--pcap", self.paths[1], *options, *TICK)
            server.wait_for("left")

    def test_both_ends_record_the_same(self):
        for generation in ("4.20", "5.5"):
            self.record("--generation", generation)
            recorded = [sorted(live.datagrams(path)) for path in self.paths]
            self.assertGreater(len(recorded[0]), 500)
            self.assertEqual(*recorded)

    def test_encrypted(self):
        self.record("--key", KEY)
        decrypt = ["--handlers", "aesgcm", "--key", KEY]
        for path in self.paths:
            live.datagrams(path, *decrypt)
            text = uerudp.run("decode", "--json", *decrypt, path).stdout
            self.assertIn(b'"challenge"', text)
            info, = map(json.loads, uerudp.run("info", "--json", *decrypt, path).stdout.splitlines())
            self.assertEqual((info["packets"]["c2s"] > 0, len(info["channels"])), (True, 5))
            compared, = map(json.loads, uerudp.run("replay", "--check", "--json", *decrypt, path).stdout.splitlines())
            self.assertGreater(min(compared[side]["compared"] for side in ("client", "server")), 5)
            self.assertEqual(len(json.loads(uerudp.run("info", "--json", "--handlers=aesgcm", path).stdout)["channels"]),
                             1)  # what is sent before the encryption
        encrypted = b"".join(payload for _, payload in live.datagrams(self.paths[0], *decrypt))
        self.assertNotIn(b"uerudp", encrypted[2000:])  # the greeting of each channel is sent after EncryptionAck

    def test_file_cannot_be_written(self):
        uerudp.run("serve", "--port", 0, "--pcap", "/nonexistent/live.pcapng", status=2)


class Endings(unittest.TestCase):
    def test_server_stops(self):
        for stop_signal in (signal.SIGINT, signal.SIGTERM):
            with live.Server() as server:
                process = live.start_client(server)
                server.wait_for("joined")
                self.assertEqual(server.stop(stop_signal), 0)
                _, errors = process.communicate(timeout=live.SECONDS)
            self.assertEqual(process.returncode, 1)
            self.assertIn(b"HostClosedConnection", errors)

    def test_client_stops(self):
        with live.Server() as server:
            process = live.start_client(server)
            server.wait_for("joined")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=live.SECONDS)
            left, = server.wait_for("left")
        self.assertEqual((process.returncode, left["told"]), (1, "Disconnect"))

    def test_client_dies(self):
        with live.Server("--once") as server:
            process = live.start_client(server)
            server.wait_for("joined")
            process.kill()
            process.communicate()
            server.wait()  # an ICMP error reports the closed port
        self.assertGreater(server.reported("served")["unreachable"], 0)

    def test_lost_close_is_sent_again(self):
        with live.Server("--once") as server, live.Proxy(server) as proxy:
            process = live.start_client(proxy)
            server.wait_for("joined")
            proxy.drop_next = 2
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=live.SECONDS)
            server.wait()
        left = server.reported("left")
        self.assertEqual((proxy.drop_count, left["told"], left["reason"]), (2, "Disconnect", "ControlChannelClose"))

    def test_address_changes(self):
        """A restart handshake keeps the connection; the client accepts one 10 s after its last handshake."""
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            self.change_address(log)
            events = [json.loads(line) for line in log.read_text().splitlines()[1:]]
        self.assertEqual({event["stream"] for event in events}, {0})
        self.assertIn("connectivity:connection_restarted", [event["name"] for event in events])

    def change_address(self, log):
        with live.Server(*TICK, "--events", log) as server, live.Proxy(server) as proxy:
            process = live.start_client(proxy)
            process.stdin.write(b"before\n")
            process.stdin.flush()
            server.wait_for("joined")
            time.sleep(11)
            proxy.change_address()
            output, _ = process.communicate(b"after\n", timeout=live.SECONDS)
            server.wait_for("left")
        self.assertEqual(process.returncode, 0)
        self.assertIn(b'"after"', output)
        self.assertEqual([server.reported("served")[key] for key in ("clients", "moved")], [1, 1])


class Errors(unittest.TestCase):
    def errors(self, *arguments, status=2):
        return uerudp.run(*arguments, status=status).stderr.decode()

    def test_port_taken(self):
        with live.Server(bind="127.0.0.1") as server:
            errors = self.errors("serve", "--bind", "127.0.0.1", "--port", server.port)
        self.assertIn(f"port {server.port} is in use", errors)

    def test_foreign_address(self):
        self.assertIn("192.0.2.1", self.errors("serve", "--port", 0, "--bind", "192.0.2.1"))

    def test_unknown_host(self):
        self.assertIn("a..b", self.errors("connect", "a..b"))
        self.assertIn("a..b", self.errors("serve", "--port", 0, "--bind", "a..b"))
        self.errors("connect", "127.0.0.1:99999")

    def test_nobody_listens(self):
        """One sentence, and nothing else."""
        result = uerudp.run("connect", f"127.0.0.1:{live.free_port()}", status=1)
        self.assertRegex(result.stderr.decode(), r"^uerudp: no program listens at 127\.0\.0\.1:\d+; .*\n$")
        self.assertEqual(b"", result.stdout)

    def test_nobody_answers(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
            silent.bind(("127.0.0.1", 0))
            port = silent.getsockname()[1]
            result = uerudp.run("connect", "--timeout", 1, f"127.0.0.1:{port}", status=1)
        self.assertRegex(result.stderr.decode(), rf"^uerudp: no answer from 127\.0\.0\.1:{port} within 1\.\d s; .*\n$")
        self.assertEqual(b"", result.stdout)

    def test_wrong_key(self):
        with live.Server("--key", KEY) as server:
            _, errors = live.client(server, "--key", OTHER_KEY, "--timeout", 2, status=1)
            live.check(server, "--key", KEY)
        self.assertIn("cannot be decoded: do both sides have the same --generation, --handlers and --key?", errors)

    def test_key_is_required(self):
        with live.Server("--key", KEY) as server:
            _, errors = live.client(server, "--timeout", 2, status=1)
        self.assertIn("no packet of the server followed its handshake: do both sides have the same ", errors)
        self.assertIn("--key?", errors)

    def test_other_generation(self):
        """A server answers no client of another form of handshake."""
        with live.Server("--generation=5.5", bind="127.0.0.1") as server:
            result = uerudp.run("connect", "--generation=4.26", "--timeout=1.5", server.address, status=1)
        self.assertRegex(result.stderr.decode(), "no answer from .*whether both sides have the same --generation")

    def test_other_network_version(self):
        with live.Server("--network-version", 1) as server:
            _, errors = live.client(server, "--network-version", 2, "--timeout", live.SECONDS, status=1)
        self.assertIn("the connection ended: Upgrade; do both sides have the same --network-version?", errors)

    def test_options(self):
        for arguments in (["serve", "host"], ["serve", "--port", 65536], ["serve", "--mode", "x"],
                          ["serve", "--max-clients", 0], ["serve", "--max-per-address", -1],
                          ["serve", "--restart-requests", -1], ["serve", "--scenario", "x"], ["connect"],
                          ["connect", "a", "b"], ["connect", "--check", "--file", "x", "a"], ["connect", "--lines", "--check", "a"],
                          ["connect", "--file", "/nonexistent", "127.0.0.1"],
                          ["connect", "--scenario", "x", "127.0.0.1"], ["connect", "--timeout", "nan", "a"],
                          ["connect", "--channel", -2, "a"]):
            self.assertTrue(self.errors(*arguments))
        for option in ("--loss=2", "--loss=nan", "--delay=-1", "--tick=0", "--seed=x", "--key=00", "--generation=3",
                       "--magic-bits=33", "--network-version=x", "--burst=-1"):
            self.assertIn(option.partition("=")[0], self.errors("serve", option))
        self.assertNotIn("secret", self.errors("serve", "--key", "secret"))

    def test_help(self):
        for name in ("serve", "connect"):
            text = uerudp.run(name, "--help").stdout.decode()
            self.assertIn(f"Examples:\n  uerudp {name}", text)


class Hostile(unittest.TestCase):
    """Whatever unknown addresses send, the server serves its clients and reports what it refused."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "client.pcapng"
            with live.Server("--seed", 1) as server:
                live.client(server, "--pcap", path, "--seed", 2, data=b"hello\n")
            datagrams = live.datagrams(path)
        cls.client_datagrams = [payload for port, payload in datagrams if port != server.port]
        cls.server_datagrams = [payload for port, payload in datagrams if port == server.port]
        cls.initial = cls.client_datagrams[0]

    def flood(self, server, payloads, sockets=1):
        """Send the payloads from these sockets in turn."""
        senders = [live.udp_socket() for _ in range(sockets)]
        for i, payload in enumerate(payloads):
            senders[i % sockets].sendto(payload, ("127.0.0.1", server.port))
        for sender in senders:
            sender.close()

    def attack(self, *payloads, sockets=1, options=()):
        """Flood a server, which must then serve a client. Returns its reports "refused" and "served"."""
        with live.Server(*options, bind="127.0.0.1") as server:
            self.flood(server, payloads, sockets)
            live.check(server, *TICK)
        return server.reported("refused"), server.reported("served")

    def idle_memory(self, *payloads, sockets=1):
        """The memory of a server that had no client."""
        with live.Server(bind="127.0.0.1") as server:
            self.flood(server, payloads, sockets)
            with live.udp_socket() as last:  # its answer shows that the server has read all datagrams before
                last.settimeout(live.SECONDS)
                last.sendto(self.initial, ("127.0.0.1", server.port))
                last.recv(2048)
        return server.reported("served")["memory_bytes"]

    def test_garbage(self):
        rng = random.Random(3)
        garbage = [b"", *(rng.randbytes(rng.randrange(1400)) for _ in range(2000))]
        refused, served = self.attack(*garbage, sockets=20)
        self.assertGreaterEqual(served["unknown_senders"], 1900)
        self.assertGreater(refused["malformed"] + refused["wrong_session"], 1000)
        self.assertGreater(refused["empty"], 0)
        self.assertEqual(served["clients"], 1)

    def test_half_open(self):
        _, served = self.attack(*[self.initial] * 300, sockets=300)
        self.assertGreaterEqual(served["handshakes"], 300)
        self.assertEqual(served["clients"], 1)

    def test_forged_cookies(self):
        rng = random.Random(4)
        forged = []
        for payload in self.client_datagrams[1:2] * 300:  # the response to a challenge of another server
            corrupted = bytearray(payload)
            corrupted[rng.randrange(len(corrupted) - 4)] ^= 1 << rng.randrange(8)
            forged += [payload, bytes(corrupted)]
        refused, served = self.attack(*forged, sockets=50)
        self.assertGreater(refused["bad_cookies"] + refused["old_cookies"], 250)
        self.assertEqual(served["clients"], 1)

    def test_unknown_addresses_cost_no_memory(self):
        rng = random.Random(5)
        datagrams = [self.initial, *self.client_datagrams[1:2], *[rng.randbytes(100) for _ in range(8)]] * 200
        self.assertEqual(self.idle_memory(*datagrams, sockets=200), self.idle_memory())

    def test_replay_of_a_finished_client(self):
        _, served = self.attack(*self.client_datagrams * 20, sockets=2, options=["--seed", 1])
        self.assertGreater(served["unknown_senders"], 20 * len(self.client_datagrams) // 2)
        self.assertEqual(served["clients"], 1)

    def test_replay_from_the_same_port(self):
        with live.Server(bind="127.0.0.1") as server, live.Proxy(server) as proxy:
            process = live.start_client(proxy)
            server.wait_for("joined")
            process.communicate(b"hello\n", timeout=live.SECONDS)
            server.wait_for("left")
            time.sleep(1.5)  # a closed connection still answers for one second
            for payload in self.client_datagrams[2:] * 5:
                proxy.send(payload)
            for payload in self.client_datagrams * 5:
                proxy.send(payload)
            live.check(server, *TICK)
        self.assertEqual(server.reported("served")["clients"], 2)
        self.assertGreaterEqual(server.reported("refused")["stragglers"], 5 * len(self.client_datagrams[2:]))

    def test_garbage_beside_a_client(self):
        rng = random.Random(6)
        with live.Server(bind="127.0.0.1") as server:
            process = live.start_client(server, "--check", "--seed", 7)
            server.wait_for("joined")
            self.flood(server, [rng.randbytes(200) for _ in range(200)])
            live.check(server, *TICK)
            process.communicate(timeout=live.SECONDS)
        self.assertEqual(process.returncode, 0)

    def test_server_that_sends_garbage(self):
        """The client times out and reports an error."""
        rng = random.Random(8)
        with live.udp_socket() as server:
            server.settimeout(0.2)
            process = live.start_client(types.SimpleNamespace(port=server.getsockname()[1]), "--timeout", 2)
            while process.poll() is None:
                with contextlib.suppress(TimeoutError):
                    _, client = server.recvfrom(2048)
                    for payload in rng.sample(self.server_datagrams, min(20, len(self.server_datagrams))):
                        corrupted = bytearray(payload)
                        corrupted[rng.randrange(len(corrupted))] ^= 1 << rng.randrange(8)
                        server.sendto(payload, client)
                        server.sendto(corrupted, client)
                        server.sendto(rng.randbytes(rng.randrange(1400)), client)
            process.communicate()
        self.assertEqual(process.returncode, 1)

    def test_corruption(self):
        """Encryption rejects corrupted datagrams; without it the check finds them."""
        for generation in ("4.20", "5.5"):
            wire = ["--generation", generation, *TICK]
            with live.Server(*wire, "--key", KEY) as server, live.Proxy(server, corruption=0.05) as proxy:
                live.check(proxy, *wire, "--key", KEY)
            with live.Server(*wire) as server, live.Proxy(server, corruption=0.05) as proxy:
                _, errors = live.client(proxy, "--check", *wire, status=1)
            self.assertRegex(errors, "was returned|connection ended|in time")

    def test_full_server(self):
        with live.Server("--max-clients", 1) as server:
            process = live.start_client(server)
            server.wait_for("joined")
            live.client(server, "--timeout", 2, status=1)
            process.communicate(timeout=live.SECONDS)
            server.wait_for("left")
            live.check(server)
        self.assertGreater(server.reported("refused")["full"], 0)


if __name__ == "__main__":
    uerudp.main()
