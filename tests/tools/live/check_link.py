#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp link on the loopback interface, between connect and serve and between plain UDP sockets."""
import collections
import concurrent.futures
import json
import pathlib
import re
import signal
import socket
import tempfile
import threading
import time
import unittest

import live
import pcapng
import uerudp

CHECKED = 64  # reliable messages that connect --check sends
TICK = ["--tick", 120]
CLIENT_SIDE, SERVER_SIDE = "client side", "server side"
FIRST_COPIES = "drop channel=0 reliable copy=1"


def send(link, count, returning=None, size=64, quiet=0.3, pause=0.0):
    """Send numbered datagrams. Returns the numbers that come back, in the order of arrival: as soon as `returning`
    datagrams have come back, or without it when none has come back for `quiet` seconds."""
    with live.udp_socket() as sender:
        sender.settimeout(quiet if returning is None else live.SECONDS)
        for number in range(count):
            sender.sendto(number.to_bytes(4, "big").ljust(size, b"-"), ("127.0.0.1", link.port))
            time.sleep(pause)
        numbers = []
        try:
            while len(numbers) != returning:
                numbers.append(int.from_bytes(sender.recv(65536)[:4], "big"))
        except TimeoutError:
            pass
        return numbers


def echo_counters(options, count=200, **rest):
    """The counters (up, down) that a link reports of datagrams to an echo server and back."""
    with live.Echo() as echo, live.Link(echo.port, *options) as link:
        send(link, count, **rest)
    left = link.reported("left")
    return left["up"], left["down"]


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.sides = [self.folder / "client.pcapng", self.folder / "server.pcapng"]

    def record(self):
        return ["--pcap-client", self.sides[0], "--pcap-server", self.sides[1]]


class Ends(Folder):
    """connect and serve at the ends of a link."""

    def join(self, *options, wire=(), record=True):
        files = self.record() if record else []
        with live.Server(*TICK, *wire) as server, live.Link(server.port, *files, *options) as link:
            counted = live.check(link, *TICK, *wire)
        self.assertEqual(counted["reliable_echoed"], CHECKED)
        return link.reported("left")

    def test_no_impairment(self):
        both = self.folder / "both.pcapng"
        left = self.join("--pcap", both)
        self.assertEqual(left["generation"], "5.5 to 5.7")
        connection, = map(json.loads, uerudp.run("info", "--json", both, status=None).stdout.splitlines())
        self.assertEqual([connection["interface"], connection["other_end"]["interface"]], ["client side", "server side"])
        for way in ("up", "down"):
            self.assertEqual(left[way]["delivered"], left[way]["datagrams"])
            self.assertEqual(left[way]["delivered_bytes"], left[way]["bytes"])
        near, far = (pcapng.read(path) for path in self.sides)
        self.assertEqual([packet.payload for packet in near], [packet.payload for packet in far])
        self.assertEqual({packet.comment for packet in near + far}, {""})

    def test_bad_network(self):
        left = self.join("--loss", 0.08, "--delay", 5, "--jitter", 3, "--dup", 0.05, "--reorder", 0.05, "--seed", 3)
        for way, side in (("up", 0), ("down", 1)):
            counts = left[way]
            for counter in ("lost", "duplicated", "reordered"):
                self.assertGreater(counts[counter], 0, counter)
            self.assertEqual(counts["delivered"], counts["datagrams"] + counts["duplicated"] - counts["lost"])
        for path in self.sides:
            live.datagrams(path)  # nothing is malformed
        self.assert_comments(left)

    def test_info_of_both_ends(self):
        """info finds what the link counted, from the two files and from the file with two interfaces; of the ways it has the
        delay of the link, and of the offset of the clocks that they are one."""
        both = self.folder / "both.pcapng"
        left = self.join("--loss", 0.08, "--down-loss", 0.12, "--delay", 20, "--jitter", 8, "--reorder", 0.03, "--seed", 4, "--pcap", both)
        for files in self.sides, [both]:
            connection, = map(json.loads, uerudp.run("info", "--json", *files, status=None).stdout.splitlines())
            found = connection["both_ends"]
            clock = found["clock"]  # a busy machine delays one way more: its bound holds for that, too
            self.assertLessEqual(abs(clock["offset_ms"]), clock["offset_bound_ms"])
            for way, key in ("up", "c2s"), ("down", "s2c"):
                outside = found[key]["not_comparable"]
                self.assertLess(outside, 10)
                self.assertEqual([left[way][name] for name in ("datagrams", "delivered", "delivered_bytes", "lost")],
                                 [found[key][name] + more for name, more in (
                                     ("sent", outside), ("arrived", 0), ("arrived_bytes", 0), ("lost", outside))], way)
                self.assertEqual([0, 0, 0], [found[key][name] for name in (
                    "only_acknowledged", "not_seen_leaving", "arrived_again")])
                self.assertGreater(found[key]["lost"], 0)
                self.assertGreater(found[key]["delay_ms"]["p50"], 15)

    def assert_comments(self, left):
        """The comments agree with the counters, and the recording of each side has the datagrams of that side."""
        near, far = (pcapng.read(path) for path in self.sides)
        server_port = far[0].destination
        link_port = near[0].destination
        for way, entries, exits in (
                ("up", [p for p in near if p.destination == link_port], [p for p in far if p.destination == server_port]),
                ("down", [p for p in far if p.source == server_port], [p for p in near if p.source == link_port])):
            counts = left[way]
            self.assertEqual((len(entries), len(exits)), (counts["datagrams"], counts["delivered"]))
            words = collections.Counter(part for p in entries for part in p.comment.split("; "))
            self.assertEqual(words["lost"], counts["lost"])
            self.assertEqual(words["duplicated"], counts["duplicated"])
            self.assertEqual(sum("reordered" in p.comment for p in exits), counts["reordered"])
            delays = [float(re.search(r"delayed by ([\d.]+) ms", p.comment)[1]) for p in exits]
            self.assertGreaterEqual(min(delays), 5)

    def test_first_copies(self):
        """The rule drops the first copy of every reliable bunch on channel 0, and nothing else."""
        for generation in ("5.5", "4.14"):
            left = self.join("--rule", FIRST_COPIES, wire=["--generation", generation])
            for direction, way, entry in ((1, "up", 0), (2, "down", 1)):
                before, after = (self.packets(path, direction) for path in (self.sides[entry], self.sides[1 - entry]))
                first = {}
                for number, (_, sequences) in enumerate(before):
                    for sequence in sequences:
                        first.setdefault(sequence, number)
                self.assertGreater(len(first), 1)
                kept = [packet for number, packet in enumerate(before) if number not in first.values()]
                self.assertEqual(after, kept)
                self.assertEqual(left[way]["dropped"], len(before) - len(kept))
                dropped = [p.comment for p in pcapng.read(self.sides[entry]) if "dropped" in p.comment]
                self.assertEqual(dropped, len(set(first.values())) * [f"rule: {FIRST_COPIES}; dropped"])

    @staticmethod
    def packets(path, direction):
        """(number, sequences of the reliable bunches on channel 0) of the packets of one direction (enum.direction)."""
        found = []
        for line in uerudp.decode(path):
            if line["direction"] == direction and "packet" in line:
                bunches = line.get("bunches", []) + line.get("items", [])
                found.append((line["packet"]["seq"], [
                    bunch["ch_seq"] for bunch in bunches if bunch.get("reliable") and bunch["channel"] == 0]))
        return found

    def test_wire_options(self):
        magic = ["--magic-bits", 32, "--magic", "0x12345678"]
        left = self.join("--rule", "drop channel=0 reliable first=3", *magic, wire=magic, record=False)
        self.assertEqual(left["up"]["dropped"] + left["down"]["dropped"], 3)

    def test_generation(self):
        wire = ["--generation", "5.1"]
        self.assertEqual(self.join("--generation", "5.1", wire=wire, record=False)["generation"], "5.1 to 5.3")

    def generation_of(self, skipped, count):
        """What a link says of `count` datagrams of a session in 5.5 after the first ones."""
        path, via = self.folder / "game.pcapng", None
        uerudp.run("generate", "game", "--generation=5.5", "--duration=1", "--no-sidecar", "--output", path)
        packets = pcapng.read(path)
        with live.udp_socket() as server, live.udp_socket() as client:
            with live.Link(server.getsockname()[1]) as link:
                for packet in packets[skipped:skipped + count]:
                    if packet.destination == 7777:
                        client.sendto(packet.payload, ("127.0.0.1", link.port))
                        via = server.recvfrom(2048)[1]
                    elif via is not None:
                        server.sendto(packet.payload, via)
                        client.recv(2048)
        return link.reported("left")["generation"]

    def test_generations_that_fit(self):
        """All that fit: a lone Initial, packets without a handshake, and a session from its beginning on."""
        for skipped, count, expected in ((0, 1, "5.4 to 5.8"), (100, 60, "5.1 to 5.7"), (0, 60, "5.5 to 5.7")):
            with self.subTest(skipped=skipped, count=count):
                self.assertEqual(expected, self.generation_of(skipped, count))

    def test_many_clients(self):
        with live.Server(*TICK) as server, live.Link(server.port, "--loss", 0.02) as link:
            with concurrent.futures.ThreadPoolExecutor(6) as pool:
                counted = list(pool.map(lambda seed: live.check(link, *TICK, "--seed", seed), range(6)))
        self.assertEqual([each["reliable_echoed"] for each in counted], 6 * [CHECKED])
        self.assertEqual(link.reported("linked")["clients"], 6)
        self.assertEqual(len({event["via"] for event in link.named("connected")}), 6)

    def test_once(self):
        with live.Server(*TICK) as server, live.Link(server.port, "--once") as link:
            live.check(link, *TICK)
            self.assertEqual(link.wait(), 0)
        self.assertEqual(link.reported("left")["reason"], "closed")


class Impairments(unittest.TestCase):
    """Each option for both directions and for one of them."""

    def check_ways(self, option, value, acts, **rest):
        """acts(counters) is whether the option had its effect in a direction: it has in both, or in one alone."""
        up, down = (option.replace("--", f"--{way}-") for way in ("up", "down"))
        options = [[option, value], [up, value], [option, value, up, 0], [down, value]]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = pool.map(lambda each: echo_counters(["--seed", 1, *each], **rest), options)
        acted = [tuple(map(acts, ways)) for ways in found]
        self.assertEqual(acted, [(True, True), (True, False), (False, True), (False, True)], option)

    def test_by_chance(self):
        for option, counter in (("--loss", "lost"), ("--dup", "duplicated"), ("--reorder", "reordered"),
                                ("--corrupt", "corrupted")):
            self.check_ways(option, 0.3, lambda counters, counter=counter: counters[counter] > 20)

    def test_jitter(self):
        self.check_ways("--jitter", 40, lambda counters: counters["reordered"] > 20)

    def runs(self, *options):
        """Lengths of the runs of lost datagrams on the way to the server."""
        with tempfile.TemporaryDirectory() as folder, live.Echo() as echo:
            path = pathlib.Path(folder) / "client.pcapng"
            with live.Link(echo.port, "--seed", 1, "--pcap-client", path, *options) as link:
                send(link, 1000, pause=0.0002)
            sent = [packet.comment for packet in pcapng.read(path) if packet.destination == link.port]
        self.assertEqual(1000, len(sent))
        return [len(run) for run in re.findall("x+", "".join(".x"[comment == "lost"] for comment in sent))]

    def test_bursts(self):
        runs = self.runs("--loss", 0.3, "--up-loss-burst", 8)
        self.assertAlmostEqual(sum(runs) / 1000, 0.3, delta=0.1)
        self.assertAlmostEqual(sum(runs) / len(runs), 8, delta=3)
        runs = self.runs("--loss", 0.3, "--loss-burst", 8, "--up-loss-burst", 1, "--down-loss-burst", 2)
        self.assertAlmostEqual(sum(runs) / len(runs), 1 / 0.7, delta=0.3)

    def test_queue(self):
        for rate, queue, expected in (("--rate", "--queue", (True, False)),  # down is as slow as up already
                                      ("--up-rate", "--up-queue", (True, False)),
                                      ("--down-rate", "--down-queue", (False, True))):
            ways = echo_counters([rate, 20000, queue, 1000])
            self.assertEqual(tuple(counters["overflowed"] > 50 for counters in ways), expected)

    def delays_ms(self, *options, size):
        """The delays of a datagram up and down, by the comments of the recording."""
        with tempfile.TemporaryDirectory() as folder, live.Echo() as echo:
            path = pathlib.Path(folder) / "both.pcapng"
            with live.Link(echo.port, "--pcap", path, *options) as link:
                started = time.monotonic()
                self.assertEqual(send(link, 1, returning=1, size=size), [0])
                took_ms = (time.monotonic() - started) * 1000
            up, = (packet.comment for packet in pcapng.read(path) if packet.destination == link.port)
            down, = (packet.comment for packet in pcapng.read(path) if packet.source == echo.port)
        found = [re.fullmatch(r"delayed by ([\d.]+) ms", comment) for comment in (up, down)]
        delays = [float(each[1]) if each else 0 for each in found]
        self.assertGreaterEqual(took_ms, sum(delays) - 1)
        return delays

    def test_delay_and_rate(self):
        for options, expected in ((["--delay", 50], [50, 50]), (["--up-delay", 80], [80, 0]), (["--down-delay", 80], [0, 80]),
                                  (["--rate", 10000], [100, 100]), (["--up-rate", 10000, "--down-rate", 20000], [100, 50]),
                                  (["--jitter", 0, "--up-jitter", 0, "--down-jitter", 0], [0, 0])):
            with self.subTest(options):
                self.assertEqual(self.delays_ms(*options, size=1000), expected)

    def test_corrupted_bit(self):
        with tempfile.TemporaryDirectory() as folder, live.Echo() as echo:
            path = pathlib.Path(folder) / "both.pcapng"
            with live.Link(echo.port, "--seed", 1, "--up-corrupt", 1, "--pcap", path) as link:
                send(link, 5)
            packets = [p for p in pcapng.read(path) if echo.port == p.destination or link.port == p.destination]
        near = [p for p in packets if p.interface == CLIENT_SIDE]
        far = [p for p in packets if p.interface == SERVER_SIDE]
        self.assertEqual(len(near), 5)
        for before, after in zip(near, far):
            self.assertEqual(before.comment, after.comment)
            bits = re.fullmatch(r"corrupted bits? ([\d, ]+)", after.comment)[1].split(", ")
            repaired = bytearray(after.payload)
            for bit in map(int, bits):
                repaired[bit // 8] ^= 1 << bit % 8
            self.assertEqual(bytes(repaired), before.payload)


class Engine(unittest.TestCase):
    def test_both_ends(self):
        up, down = echo_counters(["--pkt", "PktLoss=30"])
        self.assertGreater(up["lost"], 20)
        self.assertGreater(down["lost"], 10)

    def test_one_end(self):
        up, down = echo_counters(["--client-pkt", "PktLoss=30"])
        self.assertEqual((up["lost"] > 20, down["lost"]), (True, 0))
        up, down = echo_counters(["--server-pkt", "PktLoss=30"])
        self.assertEqual((up["lost"], down["lost"] > 20), (0, True))
        up, down = echo_counters(["--server-pkt", "PktIncomingLoss=30"])
        self.assertEqual((up["lost"] > 20, down["lost"]), (True, 0))

    def test_ticks(self):
        with live.Echo() as echo, live.Link(echo.port, "--client-pkt", "PktFrameDelay=3", "--tick", 20) as link:
            started = time.monotonic()
            send(link, 1, returning=1)
            self.assertGreaterEqual(time.monotonic() - started, 0.1)

    def test_unknown(self):
        for wrong in ("PktLos=5", "PktLoss", "PktLoss=101", "PktLag=x"):
            for option in ("--pkt", "--client-pkt", "--server-pkt"):
                uerudp.run("link", option, wrong, 0, "127.0.0.1:1", status=2)
        for wrong, why in (("PktLoss=101", "must be PktLoss=N, N from 0 to 100 (%)"), ("PktLag", "N from 0 to 60000 (ms)"),
                           ("PktLos=1", "must be NAME=N, such as PktLoss=5; there are PktLoss, ")):
            result = uerudp.run("link", "--pkt", wrong, 0, "127.0.0.1:1", status=2)
            self.assertIn(why, result.stderr.decode())


class Rules(Folder):
    def test_actions(self):
        """Rules for datagrams that are not of the protocol."""
        rules = self.folder / "rules.txt"
        rules.write_text("# a comment\ndrop frame=3\n")
        options = ["--rules", rules, "--rule", "duplicate frame=1", "--rule", "corrupt=2 frame=5",
                   "--rule", "delay=60 frame=7", "--pcap", self.folder / "both.pcapng"]
        with live.Echo() as echo, live.Link(echo.port, *options) as link:
            send(link, 1)  # frames 1 to 3: the datagram and two echoes
            send(link, 1)  # frames 4 and 5
        self.assertEqual([event["acted"] for event in link.named("rule")], [1, 1, 1, 0])
        up, down = (link.reported("linked")[way] for way in ("up", "down"))
        self.assertEqual((up["duplicated"], up["dropped"], down["dropped"], down["corrupted"]), (1, 0, 1, 1))
        comments = [p.comment for p in pcapng.read(self.folder / "both.pcapng") if p.comment]
        self.assertIn("rule: drop frame=3; dropped", comments)
        self.assertEqual(sum("rule: corrupt=2 frame=5" in comment for comment in comments), 2)

    def test_delay_and_reorder(self):
        with live.Echo() as echo, live.Link(echo.port, "--rule", "delay=500 dir=c2s frame=1") as link:
            self.assertEqual(send(link, 2, returning=2), [1, 0])
        self.assertEqual(link.reported("left")["up"]["reordered"], 1)
        with live.Echo() as echo, live.Link(echo.port, "--rule", "reorder dir=c2s frame=1") as link:
            self.assertEqual(send(link, 3, returning=3), [1, 0, 2])

    def test_wrong(self):
        result = uerudp.run("link", "--rule", "drop chanel=0", 0, "127.0.0.1:1", status=2)
        self.assertIn(b"chanel", result.stderr)
        uerudp.run("link", "--rules", self.folder / "absent", 0, "127.0.0.1:1", status=2)
        result = uerudp.run("link", "--rule", f"@{__file__}", 0, "127.0.0.1:1", status=2)  # no file: --rules names one
        self.assertIn(f"--rule: '@{__file__}': unknown action", result.stderr.decode())


class Life(Folder):
    def test_same_seed(self):
        def lost(seed):
            with live.Echo() as echo, live.Link(echo.port, "--up-loss", 0.2, "--seed", seed) as link:
                return send(link, 200)
        self.assertEqual(sorted(lost(7)), sorted(lost(7)))
        self.assertNotEqual(sorted(lost(7)), sorted(lost(8)))

    def test_seed_is_reported(self):
        with live.Echo() as echo, live.Link(echo.port) as link:
            pass
        self.assertRegex(link.reported("linked")["seed"], r"^\d+$")

    def test_both_sides_in_one_file(self):
        path = self.folder / "both.pcapng"
        for stop_signal in (signal.SIGINT, signal.SIGTERM):
            with live.Echo() as echo, live.Link(echo.port, "--pcap", path, "--delay", 20) as link:
                send(link, 20, returning=20)
                self.assertEqual(link.stop(stop_signal), 0)
            packets = pcapng.read(path)
            self.assertEqual(collections.Counter(p.interface for p in packets), {CLIENT_SIDE: 40, SERVER_SIDE: 40})
            times = [p.time_ns for p in packets]
            self.assertEqual(times, sorted(times))
            self.assertEqual(sum("delayed by 20.0 ms" in p.comment for p in packets), 80)

    def test_datagrams_in_flight_at_the_end(self):
        with live.Echo() as echo, live.Link(echo.port, "--delay", 5000, *self.record()) as link:
            send(link, 3)
        self.assertEqual([p.comment for p in pcapng.read(self.sides[0])], 3 * ["under way when the link ended"])

    def test_duration(self):
        with live.Echo() as echo, live.Link(echo.port, "--duration", 0.3) as link:
            self.assertEqual(link.wait(), 0)

    def test_idle(self):
        with live.Echo() as echo, live.Link(echo.port, "--idle", 0.2) as link:
            for _ in range(2):
                send(link, 1, returning=1)
            link.wait_for("left", 2)
        self.assertEqual([event["reason"] for event in link.named("left")], ["idle", "idle"])

    def test_once_with_two_clients(self):
        """The first client that leaves ends the link for the other client, too."""
        with live.Echo() as echo, live.Link(echo.port, "--once", "--idle", 1) as link:
            with live.udp_socket() as first, live.udp_socket() as second:
                first.sendto(b"first", ("127.0.0.1", link.port))
                while link.process.poll() is None:
                    second.sendto(b"second", ("127.0.0.1", link.port))
                    time.sleep(0.02)
            self.assertEqual(link.wait(), 0)
        self.assertEqual([event["reason"] for event in link.named("left")], ["idle", "end"])

    def test_no_room(self):
        with live.Echo() as echo:
            link = live.Link(echo.port, "--max-clients", 1)
            with live.udp_socket() as first:
                for _ in range(2):
                    first.sendto(b"first", ("127.0.0.1", link.port))
                    self.assertEqual(first.recv(100), b"first")
                self.assertEqual(send(link, 3), [])
                first.sendto(b"last", ("127.0.0.1", link.port))
                self.assertEqual(first.recv(100), b"last")  # the link has read the three datagrams before
            self.assertEqual(link.stop(), 0)
        self.assertIn("no place for another client; a client that is silent for 5 s is removed, or for 2 s if it has sent "
                      "nothing after the server's first reply\n", link.errors)
        self.assertEqual(link.errors.count("no place"), 1)
        self.assertEqual(link.reported("linked")["refused"], 3)

    def test_place_of_a_client_without_answer(self):
        """It becomes free after five seconds, or after two seconds for a new client if no place is free."""
        with live.Echo() as echo:
            port = echo.port
        with live.Link(port, "--max-clients", 2, "--idle", 600) as link:
            for _ in range(2):
                send(link, 1, quiet=0.01)
            link.wait_for("connected", 2)
            with live.Echo(port):
                self.assertEqual(send(link, 1, quiet=0.1), [])
                time.sleep(2)
                self.assertEqual(send(link, 1, returning=1), [0])
                link.wait_for("left", 3)  # the other client, and the new one, which sent nothing after its answer
            self.assertEqual(link.stop(), 0)
            link.errors = ""  # "no program listens", "no place"
        self.assertEqual([event["reason"] for event in link.named("left")], ["unanswered", "unanswered", "idle"])
        self.assertEqual(link.reported("linked")["unconfirmed"], 3)

    def test_place_of_an_answered_client(self):
        """A client that was answered keeps its place for five seconds of silence: its source may be forged."""
        with live.Echo() as echo, live.Link(echo.port, "--max-clients", 2, "--idle", 600) as link:
            for _ in range(2):
                self.assertEqual([0, 1], send(link, 2, returning=2, pause=0.2))
            self.assertEqual([], send(link, 1))
            time.sleep(5)
            self.assertEqual([0, 1], send(link, 2, returning=2, pause=0.2))
            self.assertEqual(link.stop(), 0)
            self.assertEqual(link.errors.count("no place"), 1)
            link.errors = ""
        self.assertEqual("idle", link.named("left")[0]["reason"])
        self.assertEqual(0, link.reported("linked")["unconfirmed"])

    def test_place_of_a_retrying_client(self):
        """A client retries its handshake every second until the server has started."""
        with live.Echo() as echo:
            port = echo.port
        link = live.Link(port)
        with live.udp_socket() as client:
            client.settimeout(live.SECONDS)
            for number in range(7):
                client.sendto(b"%d" % number, ("127.0.0.1", link.port))
                time.sleep(1)
            with live.Echo(port):
                client.sendto(b"there?", ("127.0.0.1", link.port))
                self.assertEqual(client.recv(100), b"there?")
                client.sendto(b"yes", ("127.0.0.1", link.port))
                self.assertEqual(client.recv(100), b"yes")
        self.assertEqual(link.stop(), 0)
        self.assertEqual(len(link.named("connected")), 1)
        self.assertEqual(link.reported("linked")["unconfirmed"], 0)

    def test_flood_of_sources(self):
        """1500 sources, about 250 each second: the log stays short, a client stays connected and another one joins."""
        def flood():
            while len(sources) < 1500 or not is_over.is_set():
                for _ in range(5):
                    with live.udp_socket() as source:
                        source.sendto(b"\x80", ("127.0.0.1", link.port))
                        sources.append(source)
                time.sleep(0.02)

        sources, is_over = [], threading.Event()
        with live.Server(*TICK, bind="127.0.0.1") as server:
            link = live.Link(server.port)
            client = live.start_client(link, *TICK)
            server.wait_for("joined")
            thread = threading.Thread(target=flood, daemon=True)
            started = time.monotonic()
            thread.start()
            live.wait_until(lambda: len(sources) > 1500)
            live.check(link, *TICK)
            output, _ = client.communicate(b"still here\n", timeout=live.SECONDS)
            is_over.set()
            thread.join()
            self.assertEqual(link.stop(), 0)
            seconds = time.monotonic() - started
        self.assertIn(b'"still here"', output)
        linked = link.reported("linked")
        self.assertGreater(linked["unconfirmed"], 500)
        # 20 clients at once and 5 a second have the lines "connected" and "left"; "unreported" counts the others.
        self.assertLess(len(link.events), 2 * (20 + 5 * seconds) + 10 + len(link.named("unreported")))
        self.assertGreater(sum(event["clients"] for event in link.named("unreported")), 300)
        self.assertEqual(len(link.named("connected")), len(link.named("left")))
        self.assertLessEqual(link.errors.count("\n"), 3)

    def test_dead_server(self):
        """The link reports the missing server once, and forwards when it has started."""
        with live.Echo() as echo:
            port = echo.port
        link = live.Link(port)
        for _ in range(3):
            self.assertEqual(send(link, 2), [])
        with live.Echo(port):
            self.assertEqual(send(link, 2, returning=2), [0, 1])
        self.assertEqual(link.stop(), 0)
        self.assertEqual(link.errors.count("no program listens"), 1)

    def test_text(self):
        with live.Echo() as echo:
            link = uerudp.subprocess.Popen([uerudp.PROGRAM, "link", "--up-loss", "1", "--once", "--idle", "1", "0",
                                            f"localhost:{echo.port}"], stdout=uerudp.subprocess.PIPE, text=True)
            link.port = int(link.stdout.readline().rpartition(":")[2])
            send(link, 3, quiet=0.01)
            output, _ = link.communicate(timeout=live.SECONDS)
        self.assertIn("up 0 of 3 datagrams (3 lost), down 0 of 0 datagrams", output)

    def test_unusable(self):
        for arguments in ([], [7777], ["x", "localhost:7777"], [70000, "localhost:1"], [0, "nosuch.invalid:1"],
                          ["--bind", "192.0.2.1", 0, "127.0.0.1:1"], ["--loss", 2, 0, "127.0.0.1:1"],
                          ["--up-delay", "x", 0, "127.0.0.1:1"], ["--tick", 0, 0, "127.0.0.1:1"],
                          ["--idle", 0, 0, "127.0.0.1:1"], ["--max-clients", 0, 0, "127.0.0.1:1"],
                          ["--duration", -1, 0, "127.0.0.1:1"], ["--seed", "x", 0, "127.0.0.1:1"],
                          ["--pcap", "/nonexistent/x.pcapng", 0, "127.0.0.1:1"],
                          ["--port", 7777, 0, "127.0.0.1:1"], ["--generation", "3.0", 0, "127.0.0.1:1"]):
            result = uerudp.run("link", *arguments, status=2)
            self.assertEqual(result.stderr.count(b"\n"), 1, result.stderr)

    def test_without_effect(self):
        """An option that only changes another one is refused alone, and accepted where that one applies."""
        for options, text in ((["--queue=1000"], "--queue has no effect without --rate"),
                              (["--up-queue=1000", "--down-rate=5000"], "--up-queue has no effect without --up-rate"),
                              (["--loss-burst=3", "--dup=0.1"], "--loss-burst has no effect without --loss"),
                              (["--loss-burst=0.5", "--loss=0.1"], "--loss-burst=0.5: not between 1 and 1000")):
            self.assertIn(text, uerudp.run("link", *options, 0, "127.0.0.1:1", status=2).stderr.decode())
        for options in (["--queue=1000", "--up-rate=5000"], ["--up-queue=1000", "--rate=5000"], ["--loss-burst=3", "--up-loss=0.1"]):
            uerudp.run("link", "--duration=0.1", *options, 0, "127.0.0.1:1")

    def test_itself(self):
        with live.Echo() as echo:
            port = echo.port
        result = uerudp.run("link", "--bind", "127.0.0.1", port, f"127.0.0.1:{port}", status=2)
        self.assertIn(b"itself", result.stderr)

    def test_datagrams_of_any_size(self):
        with live.Echo() as echo, live.Link(echo.port, "--rule", FIRST_COPIES) as link:
            with live.udp_socket() as sender:
                sender.settimeout(live.SECONDS)
                for payload in (b"", b"\0", b"\xff" * 1400, bytes(60000), b"\1" * 23):
                    sender.sendto(payload, ("127.0.0.1", link.port))
                    self.assertEqual(sender.recv(65536), payload)


if __name__ == "__main__":
    uerudp.main()
