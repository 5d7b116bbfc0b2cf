#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp link between clients and servers on the loopback interface: our own, and plain sockets that count."""
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

CHECKED = 64  # reliable messages of a check
TICK = ["--tick", 120]
CLIENT_SIDE, SERVER_SIDE = "client side", "server side"
FIRST_COPIES = "drop channel=0 reliable copy=1"


def send(link, count, size=64, wait=0.3, pause=0.0):
    """Sends numbered datagrams and returns the numbers that come back, in their order."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.settimeout(wait)
        for number in range(count):
            sender.sendto(number.to_bytes(4, "big").ljust(size, b"-"), ("127.0.0.1", link.port))
            time.sleep(pause)
        numbers = []
        try:
            while True:
                numbers.append(int.from_bytes(sender.recv(65536)[:4], "big"))
        except socket.timeout:
            return numbers


def report(options, count=200, **rest):
    """What a link reports of datagrams that go to an echo and back: (up, down)."""
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
    """connect, link and serve."""

    def join(self, *options, speak=(), record=True):
        files = self.record() if record else []
        with live.Server(*TICK, *speak) as server, live.Link(server.port, *files, *options) as link:
            counted = live.check(link, *TICK, *speak)
        self.assertEqual(counted["reliable_echoed"], CHECKED)
        return link.reported("left")

    def test_nothing_is_done(self):
        both = self.folder / "both.pcapng"
        left = self.join("--pcap", both)
        self.assertEqual(left["generation"], "5.5")
        told = map(json.loads, uerudp.run("info", "--json", both, status=None).stdout.splitlines())
        self.assertEqual([connection["interface"] for connection in told], ["client side", "server side"])
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
            for fate in ("lost", "duplicated", "reordered"):
                self.assertGreater(counts[fate], 0, fate)
            self.assertEqual(counts["delivered"], counts["datagrams"] + counts["duplicated"] - counts["lost"])
        for path in self.sides:
            live.datagrams(path)  # nothing is malformed
        self.assert_comments(left)

    def assert_comments(self, left):
        """The comments tell what the counters count, and each side has what went over it."""
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
        """The first copy of every reliable bunch on channel 0 ends at the link, and nothing else does."""
        for generation in ("5.5", "4.14"):
            left = self.join("--rule", FIRST_COPIES, speak=["--generation", generation])
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

    def test_settings_of_the_wire(self):
        magic = ["--magic-bits", 32, "--magic", "0x12345678"]
        left = self.join("--rule", "drop channel=0 reliable first=3", *magic, speak=magic, record=False)
        self.assertEqual(left["up"]["dropped"] + left["down"]["dropped"], 3)

    def test_generation(self):
        speak = ["--generation", "5.1"]
        self.assertEqual(self.join("--generation", "5.1", speak=speak, record=False)["generation"], "5.1")

    def test_many_clients(self):
        with live.Server(*TICK) as server, live.Link(server.port, "--loss", 0.02) as link:
            with concurrent.futures.ThreadPoolExecutor(6) as pool:
                counted = list(pool.map(lambda seed: live.check(link, *TICK, "--seed", seed), range(6)))
        self.assertEqual([each["reliable_echoed"] for each in counted], 6 * [CHECKED])
        self.assertEqual(link.reported("linked")["clients"], 6)
        self.assertEqual(len({event["via"] for event in link.all("connected")}), 6)

    def test_once(self):
        with live.Server(*TICK) as server, live.Link(server.port, "--once") as link:
            live.check(link, *TICK)
            self.assertEqual(link.end(with_signal=None), 0)
        self.assertEqual(link.reported("left")["reason"], "closed")


class Impairments(unittest.TestCase):
    """Each option both ways, and for one direction with another value."""

    def check_ways(self, name, value, count, **rest):
        """count(counters) tells whether the option acted: it does both ways, or in one alone."""
        options = [[f"--{name}", value], [f"--up-{name}", value], [f"--{name}", value, f"--up-{name}", 0],
                   [f"--down-{name}", value]]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = pool.map(lambda each: report(["--seed", 1, *each], **rest), options)
        acted = [tuple(map(count, ways)) for ways in found]
        self.assertEqual(acted, [(True, True), (True, False), (False, True), (False, True)], name)

    def test_by_chance(self):
        for name, fate in (("loss", "lost"), ("dup", "duplicated"), ("reorder", "reordered"), ("corrupt", "corrupted")):
            self.check_ways(name, 0.3, lambda counters, fate=fate: counters[fate] > 20, wait=0.1)

    def test_jitter(self):
        self.check_ways("jitter", 40, lambda counters: counters["reordered"] > 20)

    def runs(self, echo, *options):
        """Lengths of the runs of numbers that did not come to the server."""
        with live.Link(echo.port, "--seed", 1, *options) as link:
            send(link, 1000, pause=0.0002)
        came = {int.from_bytes(payload[:4], "big") for payload in echo.heard}
        return [len(run) for run in re.findall("x+", "".join(".x"[number not in came] for number in range(1000)))]

    def test_bursts(self):
        with live.Echo() as echo:
            runs = self.runs(echo, "--loss", 0.3, "--up-loss-burst", 8)
        self.assertAlmostEqual(sum(runs) / 1000, 0.3, delta=0.1)
        self.assertAlmostEqual(sum(runs) / len(runs), 8, delta=3)
        with live.Echo() as echo:
            runs = self.runs(echo, "--loss", 0.3, "--loss-burst", 8, "--up-loss-burst", 1, "--down-loss-burst", 2)
        self.assertAlmostEqual(sum(runs) / len(runs), 1 / 0.7, delta=0.3)

    def test_queue(self):
        for rate, queue, expected in (("--rate", "--queue", (True, False)),  # what passes the first is slow enough
                                      ("--up-rate", "--up-queue", (True, False)),
                                      ("--down-rate", "--down-queue", (False, True))):
            ways = report([rate, 20000, queue, 1000])
            self.assertEqual(tuple(counters["overflowed"] > 50 for counters in ways), expected)

    def round_trip_ms(self, *options, size=64):
        with live.Echo() as echo, live.Link(echo.port, *options) as link:
            begun = time.monotonic()
            self.assertEqual(send(link, 1, size=size, wait=1), [0])
        return (time.monotonic() - begun - 1) * 1000

    def test_delay_and_rate(self):
        for options, least_ms in ((["--delay", 50], 100), (["--up-delay", 80], 80), (["--down-delay", 80], 80),
                                  (["--rate", 10000], 200), (["--up-rate", 10000, "--down-rate", 20000], 150),
                                  (["--jitter", 0, "--up-jitter", 0, "--down-jitter", 0], 0)):
            took_ms = self.round_trip_ms(*options, size=1000)
            self.assertGreaterEqual(took_ms, least_ms, options)
            self.assertLess(took_ms, least_ms + 300, options)

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
        up, down = report(["--pkt", "PktLoss=30"])
        self.assertGreater(up["lost"], 20)
        self.assertGreater(down["lost"], 10)

    def test_one_end(self):
        up, down = report(["--client-pkt", "PktLoss=30"])
        self.assertEqual((up["lost"] > 20, down["lost"]), (True, 0))
        up, down = report(["--server-pkt", "PktLoss=30"])
        self.assertEqual((up["lost"], down["lost"] > 20), (0, True))
        up, down = report(["--server-pkt", "PktIncomingLoss=30"])
        self.assertEqual((up["lost"] > 20, down["lost"]), (True, 0))

    def test_ticks(self):
        with live.Echo() as echo, live.Link(echo.port, "--client-pkt", "PktFrameDelay=3", "--tick", 20) as link:
            begun = time.monotonic()
            send(link, 1, wait=1)
        self.assertGreaterEqual(time.monotonic() - begun - 1, 0.1)

    def test_unknown(self):
        for wrong in ("PktLos=5", "PktLoss", "PktLoss=101", "PktLag=x"):
            for option in ("--pkt", "--client-pkt", "--server-pkt"):
                uerudp.run("link", option, wrong, 0, "127.0.0.1:1", status=2)
        for wrong, why in (("PktLoss=101", "should be PktLoss=N, N from 0 to 100 (%)"), ("PktLag", "N from 0 to 60000 (ms)"),
                           ("PktLos=1", "should be NAME=N, such as PktLoss=5; there are PktLoss, ")):
            said = uerudp.run("link", "--pkt", wrong, 0, "127.0.0.1:1", status=2)
            self.assertIn(why, said.stderr.decode())


class Rules(Folder):
    def test_actions(self):
        """Rules on what any datagram has."""
        rules = self.folder / "rules.txt"
        rules.write_text("# for plain datagrams\ndrop frame=3\n")
        options = ["--rules", rules, "--rule", "duplicate frame=1", "--rule", "corrupt=2 frame=5",
                   "--rule", "delay=60 frame=7", "--pcap", self.folder / "both.pcapng"]
        with live.Echo() as echo, live.Link(echo.port, *options) as link:
            send(link, 1, wait=0.2)  # frames 1 to 3: the datagram, its echoes
            send(link, 1, wait=0.2)  # 4, 5
        self.assertEqual([event["acted"] for event in link.all("rule")], [1, 1, 1, 0])
        up, down = (link.reported("linked")[way] for way in ("up", "down"))
        self.assertEqual((up["duplicated"], up["dropped"], down["dropped"], down["corrupted"]), (1, 0, 1, 1))
        comments = [p.comment for p in pcapng.read(self.folder / "both.pcapng") if p.comment]
        self.assertIn("rule: drop frame=3; dropped", comments)
        self.assertEqual(sum("rule: corrupt=2 frame=5" in comment for comment in comments), 2)

    def test_held_back(self):
        with live.Echo() as echo, live.Link(echo.port, "--rule", "delay=60 dir=c2s frame=1") as link:
            self.assertEqual(send(link, 2), [1, 0])
        self.assertEqual(link.reported("left")["up"]["reordered"], 1)
        with live.Echo() as echo, live.Link(echo.port, "--rule", "reorder dir=c2s frame=1") as link:
            self.assertEqual(send(link, 3), [1, 0, 2])

    def test_wrong(self):
        said = uerudp.run("link", "--rule", "drop chanel=0", 0, "127.0.0.1:1", status=2)
        self.assertIn(b"chanel", said.stderr)
        uerudp.run("link", "--rules", self.folder / "absent", 0, "127.0.0.1:1", status=2)


class Life(Folder):
    def test_same_seed(self):
        def lost(seed):
            with live.Echo() as echo, live.Link(echo.port, "--up-loss", 0.2, "--seed", seed) as link:
                return send(link, 300, pause=0.0005)
        self.assertEqual(sorted(lost(7)), sorted(lost(7)))
        self.assertNotEqual(sorted(lost(7)), sorted(lost(8)))

    def test_seed_is_told(self):
        with live.Echo() as echo, live.Link(echo.port) as link:
            pass
        self.assertRegex(link.reported("linked")["seed"], r"^\d+$")

    def test_both_sides_in_one_file(self):
        path = self.folder / "both.pcapng"
        for asked in (signal.SIGINT, signal.SIGTERM):
            with live.Echo() as echo, live.Link(echo.port, "--pcap", path, "--delay", 20) as link:
                send(link, 20)
                self.assertEqual(link.end(asked), 0)
            packets = pcapng.read(path)
            self.assertEqual(collections.Counter(p.interface for p in packets), {CLIENT_SIDE: 40, SERVER_SIDE: 40})
            times = [p.time_ns for p in packets]
            self.assertEqual(times, sorted(times))
            self.assertEqual(sum("delayed by 20.0 ms" in p.comment for p in packets), 80)

    def test_under_way_at_the_end(self):
        with live.Echo() as echo, live.Link(echo.port, "--delay", 5000, *self.record()) as link:
            send(link, 3, wait=0.1)
        self.assertEqual([p.comment for p in pcapng.read(self.sides[0])], 3 * ["under way when the link ended"])

    def test_duration(self):
        with live.Echo() as echo, live.Link(echo.port, "--duration", 0.3) as link:
            begun = time.monotonic()
            self.assertEqual(link.end(with_signal=None), 0)
            self.assertLess(time.monotonic() - begun, 10)

    def test_idle(self):
        with live.Echo() as echo, live.Link(echo.port, "--idle", 0.2) as link:
            for _ in range(2):
                send(link, 1, wait=0.1)
            link.wait_for("left", 2)
        self.assertEqual([event["reason"] for event in link.all("left")], ["idle", "idle"])

    def test_once_of_several(self):
        """The first client that leaves ends the link for the others, too."""
        with live.Echo() as echo, live.Link(echo.port, "--once", "--idle", 0.3) as link:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
                other.sendto(b"first", ("127.0.0.1", link.port))
            send(link, 60, pause=0.02, wait=0.1)
            self.assertEqual(link.end(with_signal=None), 0)
        self.assertEqual([event["reason"] for event in link.all("left")], ["idle", "end"])

    def test_no_room(self):
        with live.Echo() as echo:
            link = live.Link(echo.port, "--max-clients", 1)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as first:
                for _ in range(2):
                    first.sendto(b"first", ("127.0.0.1", link.port))
                    self.assertEqual(first.recv(100), b"first")
                self.assertEqual(send(link, 3, wait=0.1), [])
            self.assertEqual(link.end(), 0)
        self.assertIn("no room", link.errors)
        self.assertEqual(link.errors.count("no room"), 1)
        self.assertEqual(link.reported("linked")["refused"], 3)

    def test_place_of_who_was_not_answered(self):
        """It is free after five seconds; a newcomer who finds no other gets it after two."""
        with live.Echo() as echo:
            port = echo.port
        with live.Link(port, "--max-clients", 2, "--idle", 600) as link:
            for _ in range(2):
                send(link, 1, wait=0.01)
            link.wait_for("connected", 2)
            with live.Echo(port):
                self.assertEqual(send(link, 1, wait=0.1), [])
                time.sleep(2)
                self.assertEqual(send(link, 1, wait=1), [0])
                link.wait_for("left", 3)  # the other one, and the newcomer, who sent nothing after its answer
            self.assertEqual(link.end(), 0)
            link.errors = ""  # nobody listens, no room
        self.assertEqual([event["reason"] for event in link.all("left")], ["unanswered", "unanswered", "idle"])
        self.assertEqual(link.reported("linked")["unconfirmed"], 3)

    def test_place_of_who_fell_silent(self):
        """A forged source can send twice, too: who was answered keeps its place for five seconds of silence only."""
        with live.Echo() as echo, live.Link(echo.port, "--max-clients", 2, "--idle", 600) as link:
            for _ in range(2):
                self.assertEqual([0, 1], send(link, 2, pause=0.2))
            self.assertEqual([], send(link, 1))
            time.sleep(5)
            self.assertEqual([0, 1], send(link, 2, pause=0.2))
            self.assertEqual(link.end(), 0)
            self.assertEqual(link.errors.count("no room"), 1)
            link.errors = ""
        self.assertEqual("idle", link.all("left")[0]["reason"])
        self.assertEqual(0, link.reported("linked")["unconfirmed"])

    def test_place_of_who_goes_on(self):
        """A client who waits for a server that is not there yet, and repeats its handshake each second."""
        with live.Echo() as echo:
            port = echo.port
        link = live.Link(port)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(2)
            for number in range(7):
                client.sendto(b"%d" % number, ("127.0.0.1", link.port))
                time.sleep(1)
            with live.Echo(port):
                client.sendto(b"there?", ("127.0.0.1", link.port))
                self.assertEqual(client.recv(100), b"there?")
                client.sendto(b"yes", ("127.0.0.1", link.port))
                self.assertEqual(client.recv(100), b"yes")
        self.assertEqual(link.end(), 0)
        self.assertEqual(len(link.all("connected")), 1)
        self.assertEqual(link.reported("linked")["unconfirmed"], 0)

    def test_flood_of_sources(self):
        """250 new sources a second: the log stays short, who is in stays in, and a newcomer comes in."""
        def flood():
            while not is_over.wait(0.02):
                for _ in range(5):
                    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
                        source.sendto(b"\x80", ("127.0.0.1", link.port))

        is_over = threading.Event()
        with live.Server(*TICK, bind="127.0.0.1") as server:
            link = live.Link(server.port)
            inside = live.start_client(link, *TICK)
            server.wait_for("joined")
            thread = threading.Thread(target=flood, daemon=True)
            thread.start()
            time.sleep(6)
            live.check(link, *TICK)
            output, _ = inside.communicate(b"still here\n", timeout=live.SECONDS)
            is_over.set()
            thread.join()
            self.assertEqual(link.end(), 0)
        self.assertIn(b'"still here"', output)
        linked = link.reported("linked")
        self.assertGreater(linked["unconfirmed"], 500)
        self.assertLess(len(link.events), 250)
        self.assertGreater(sum(event["clients"] for event in link.all("unreported")), 300)
        self.assertEqual(len(link.all("connected")), len(link.all("left")))
        self.assertLessEqual(link.errors.count("\n"), 3)

    def test_dead_server(self):
        """A sentence, and the link is there when the server comes."""
        with live.Echo() as echo:
            port = echo.port
        link = live.Link(port)
        for _ in range(3):
            self.assertEqual(send(link, 2, wait=0.1), [])
        with live.Echo(port):
            self.assertEqual(send(link, 2), [0, 1])
        self.assertEqual(link.end(), 0)
        self.assertEqual(link.errors.count("nobody listens"), 1)

    def test_text(self):
        with live.Echo() as echo:
            link = uerudp.subprocess.Popen([uerudp.PROGRAM, "link", "--up-loss", "1", "--duration", "0.5", "0",
                                            f"localhost:{echo.port}"], stdout=uerudp.subprocess.PIPE, text=True)
            link.port = int(link.stdout.readline().rpartition(":")[2])
            send(link, 3, wait=0.1)
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
            said = uerudp.run("link", *arguments, status=2)
            self.assertEqual(said.stderr.count(b"\n"), 1, said.stderr)

    def test_itself(self):
        with live.Echo() as echo:
            port = echo.port
        said = uerudp.run("link", "--bind", "127.0.0.1", port, f"127.0.0.1:{port}", status=2)
        self.assertIn(b"itself", said.stderr)

    def test_strangers(self):
        """Whatever is sent, empty and large datagrams included, goes through."""
        with live.Echo() as echo, live.Link(echo.port, "--rule", FIRST_COPIES) as link:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.settimeout(2)
                for payload in (b"", b"\0", b"\xff" * 1400, bytes(60000), b"\1" * 23):
                    sender.sendto(payload, ("127.0.0.1", link.port))
                    self.assertEqual(sender.recv(65536), payload)


if __name__ == "__main__":
    uerudp.main()
