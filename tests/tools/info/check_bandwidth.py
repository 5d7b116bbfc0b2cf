#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp info --bandwidth: each bit is counted once, as what it is for and for whom."""
import collections
import csv
import io
import json
import pathlib
import re
import tempfile
import unittest
from xml.etree import ElementTree

import uerudp
from conversation import CLIENT, SERVER, Conversation

CAPTURES = uerudp.ROOT / "captures"
LOSS = CAPTURES / "recordings/utcp-loss.pcap"
WAYS = ("c2s", "s2c")
OUTSIDE = {"headers", "acks", "handshake", "unread"}
BY = ("classes", "actors", "channels")
NONE = {"c2s": 0, "s2c": 0}


def infos(*arguments, data=b""):
    output = uerudp.run("info", "--json", "--bandwidth", *arguments, data=data, status=None).stdout
    return [json.loads(line, object_pairs_hook=uerudp.without_duplicates) for line in output.decode().splitlines()]


def of(conv, *options):
    return conv.info("--bandwidth", *options)["bandwidth"]


def in_bunches(bandwidth, way):
    return sum(bits[way] for kind, bits in bandwidth["bits"].items() if kind not in OUTSIDE)


def all_captures():
    """(path, options) of every capture of the tree, and of the shared ones if they are there."""
    paths = [(path, []) for path in sorted(CAPTURES.glob("*.pcapng")) + sorted(CAPTURES.glob("fields/*.pcapng"))]
    return paths + [(path, options) for _, path, options in uerudp.captures()]


def sum_of(rows, key):
    return {way: sum(row[key][way] for row in rows) for way in WAYS}


class Identity(unittest.TestCase):
    def check(self, connection):
        bandwidth = connection["bandwidth"]
        for way in WAYS:
            self.assertEqual(8 * connection["bytes"][way], bandwidth["total"][way])
            self.assertEqual(bandwidth["total"][way], sum(bits[way] for bits in bandwidth["bits"].values()))
            for by in BY:
                rows = bandwidth[by]
                self.assertEqual(in_bunches(bandwidth, way), sum(row["total"][way] for row in rows), by)
                for kind, bits in bandwidth["bits"].items():
                    if kind not in OUTSIDE:
                        self.assertEqual(bits[way], sum(row["bits"].get(kind, NONE)[way] for row in rows), (by, kind))
            if bandwidth["series"] is not None:
                for kind, bins in bandwidth["series"]["kinds"].items():
                    self.assertEqual(bandwidth["bits"][kind][way], sum(bins[way]), kind)
                self.assertEqual(in_bunches(bandwidth, way), sum(sum(row[way]) for row in bandwidth["series"]["classes"]))
        for by in BY:
            for key in ("bunches", "updates", "bunch_headers"):
                self.assertEqual(bandwidth[key], sum_of(bandwidth[by], key), (by, key))
        self.assertEqual(1, len({sum(row["opens"] for row in bandwidth[by]) for by in BY}))

    def test_every_capture(self):
        connections = 0
        for path, options in all_captures():
            with self.subTest(path.name):
                for connection in infos(*options, path):
                    self.check(connection)
                    connections += 1
        self.assertGreater(connections, 40)

    def test_cut_by_a_snap_length(self):
        """What is not captured is still counted."""
        whole = infos(LOSS)[0]["bandwidth"]
        with tempfile.TemporaryDirectory() as folder:
            for length in (60, 80, 100, 200):
                cut = pathlib.Path(folder, "cut.pcapng")
                cut.write_bytes(uerudp.pcap([(port, 7777 if port != 7777 else 50000, payload) for port, payload in
                                             uerudp.payloads(LOSS)], snap=length))
                connection, = infos(cut)
                self.check(connection)
                self.assertEqual(whole["total"], connection["bandwidth"]["total"])
                self.assertGreater(sum(connection["bandwidth"]["bits"]["unread"].values()), 0)

    def test_malformed_and_foreign_generations(self):
        for generation in ("4.13", "4.20", "4.25", "5.8"):
            for connection in infos(f"--generation={generation}", LOSS):
                self.check(connection)

    def test_limited_rows(self):
        """The rows above --top are one row, with their sum."""
        path = CAPTURES / "game.pcapng"
        whole, = infos(path)
        for top in (1, 3, 40):
            connection, = infos("--top", top, path)
            self.check(connection)
            for by in BY:
                rows = connection["bandwidth"][by]
                all_rows = whole["bandwidth"][by]
                self.assertEqual(min(len(all_rows), top + 1), len(rows))
                self.assertEqual(len(all_rows) > top, rows[-1]["others"])
                self.assertEqual(all_rows[:top], rows[:top])


class Counted(unittest.TestCase):
    """Against numbers that were counted without info.

    Of utcp-loss.pcap, with J='uerudp decode --json --bits captures/recordings/utcp-loss.pcap':
    bits in bunches by direction:
      $J | jq -s -c 'group_by(.direction)[] | [.[].bits[] | select(.[0] | startswith("bunch.")) | .[2]] | add'
    payload bits of channel 63 from the server:
      $J | jq -s '[.[] | select(.direction == 2).bunches[]? | select(.channel == 63).data_bits] | add'
    payload bits that were sent again by the server (in 40 s no channel sequence returns within 512 bunches):
      $J | jq -s '[.[] | select(.direction == 2).bunches[]? | select(.reliable)] | group_by([.channel, .ch_seq, .data])
                  | [.[] | .[1:][].data_bits] | add'
    """
    BUNCHES = {"c2s": 141148, "s2c": 775005}
    CHANNEL_63 = 74387

    def test_recording(self):
        connection, = infos(LOSS)
        bandwidth = connection["bandwidth"]
        self.assertEqual(self.BUNCHES, {way: in_bunches(bandwidth, way) for way in WAYS})
        row, = (row for row in bandwidth["channels"] if row["channel"] == 63)
        self.assertEqual(self.CHANNEL_63, row["total"]["s2c"] - row["bunch_headers"]["s2c"])

    def test_decode(self):
        """The bits of each kind, counted from the bits that decode reports."""
        for path, options in all_captures():
            connections = infos(*options, path)
            if len(connections) != 1 or connections[0]["malformed"] != NONE or connections[0]["opaque"] != NONE or \
                    connections[0]["duplicates"] != NONE:
                continue
            with self.subTest(path.name):
                expected = count_kinds(uerudp.decode("--bits", *options, path, status=None))
                bandwidth = connections[0]["bandwidth"]["bits"]
                for kind in ("headers", "acks", "handshake"):
                    self.assertEqual(expected[kind], bandwidth.get(kind, NONE), kind)

    def test_sidecar(self):
        """What the simulated senders sent: the length of each datagram, and messages by channel."""
        for scenario, options in (("mixed", []), ("big-bunch", []), ("mixed", ["--loss=0.05"])):
            with self.subTest(scenario), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "x.pcapng")
                scenario = CAPTURES / "big-bunch.ini" if scenario == "big-bunch" else scenario
                uerudp.run("generate", scenario, "--duration=3", "--seed=5", "--capture-at=sender", *options, "--output", path,
                           status=None)
                sidecar = json.loads(path.with_suffix(".sent.json").read_text())
                connection, = infos(path)
                bandwidth = connection["bandwidth"]
                for way in WAYS:
                    lengths = sum(each["length"] for each in sidecar["datagrams"] if each["frame"] and each["dir"] == way)
                    self.assertEqual(8 * lengths, bandwidth["total"][way])
                sent = collections.Counter((each["channel"], each["from"]) for each in sidecar["messages"])
                self.assertTrue(sent)
                rows = {row["channel"]: row for row in bandwidth["channels"]}
                for (channel, side), count in sent.items():
                    way = WAYS[side == "server"]
                    self.assertLessEqual(abs(rows[channel]["updates"][way] - count), 2, (channel, way))  # open and close


def count_kinds(datagrams):
    """Bits outside of bunches, by kind."""
    kinds = collections.defaultdict(lambda: {"c2s": 0, "s2c": 0})
    for datagram in datagrams:
        way = WAYS[datagram["direction"] - 1]
        is_bunch = [bits[0].startswith("bunch.") for bits in datagram["bits"]]
        flags = [bits[0] == "legacy.is_ack" for bits in datagram["bits"]]  # before each item, up to 4.21
        in_bunch = sum(bits[2] for number, bits in enumerate(datagram["bits"])
                       if is_bunch[number] or (flags[number] and is_bunch[number + 1]))
        kind = "handshake" if datagram["is_handshake"] else "headers" if in_bunch else "acks"
        kinds[kind][way] += 8 * datagram["length"] - in_bunch
    return kinds


def opening(conv, channel, **keys):
    return conv.reliable(SERVER, channel, open=True, **keys)


class Kinds(unittest.TestCase):
    def conversation(self):
        conv = Conversation()
        conv.handshake()
        conv.send(CLIENT, conv.reliable(CLIENT, 0, open=True, messages=[{"hello": {}}]))
        return conv.wait(50)

    def kinds(self, conv):
        return {kind: sum(bits.values()) for kind, bits in of(conv)["bits"].items()}

    def difference(self, conv, send):
        before = self.kinds(conv)
        send()
        after = self.kinds(conv)
        return {kind for kind in after if after[kind] != before.get(kind, 0)} - {"headers", "acks"}

    def test_kinds(self):
        conv = self.conversation()
        bunch = opening(conv, 3)
        cases = [({"open"}, lambda: conv.send(SERVER, bunch, arrives=False)),
                 ({"content"}, lambda: conv.send(SERVER, conv.reliable(SERVER, 3))),
                 ({"control"}, lambda: conv.send_message(SERVER, "challenge", text="ABCD")),
                 ({"retransmission"}, lambda: conv.wait(100).send(SERVER, bunch)),
                 ({"exports"}, lambda: conv.send(SERVER, conv.reliable(SERVER, 3, has_exports=True))),
                 (set(), lambda: conv.send(SERVER))]
        for expected, send in cases:
            self.assertEqual(expected, self.difference(conv, send))
            conv.wait(20)

    def test_fragments_of_an_open(self):
        """A spawn with exports is a fragment with exports, and others without the open flag."""
        conv = self.conversation()
        parts = [dict(partial=True, partial_initial=initial, partial_final=final) for initial, final in
                 ((True, False), (False, False), (False, True))]
        cases = [({"exports"}, opening(conv, 3, has_exports=True, **parts[0])),
                 ({"open"}, conv.reliable(SERVER, 3, **parts[1])),
                 ({"open"}, conv.reliable(SERVER, 3, **parts[2])),
                 ({"content"}, conv.reliable(SERVER, 3, **parts[0])),
                 ({"content"}, conv.reliable(SERVER, 3, **parts[2]))]
        for expected, bunch in cases:
            self.assertEqual(expected, self.difference(conv, lambda: conv.send(SERVER, bunch)))
            conv.wait(20)
        row, = (row for row in of(conv)["channels"] if row["channel"] == 3)
        self.assertEqual(2, row["updates"]["s2c"])
        self.assertEqual(1, row["opens"])

    def test_dormancy(self):
        """An actor that is dormant opens a channel again. Rates count the time in which it was open."""
        conv = self.conversation()
        for _ in range(2):
            conv.send(SERVER, opening(conv, 3))
            for _ in range(9):
                conv.wait(100).send(SERVER, conv.reliable(SERVER, 3))
            conv.wait(100).send(SERVER, conv.reliable(SERVER, 3, close=True, close_reason=1, data=""))
            conv.wait(3000)
        conv.send(SERVER, opening(conv, 3))
        conv.send(SERVER, conv.reliable(SERVER, 3, close=True, close_reason=0, data=""))
        row, = (row for row in of(conv)["channels"] if row["channel"] == 3)
        self.assertEqual([3, 2], [row["opens"], row["dormant"]])
        self.assertEqual(24, row["updates"]["s2c"])
        self.assertAlmostEqual(2.0, row["open_s"], places=6)
        self.assertAlmostEqual(12.0, row["updates_per_s"], places=6)

    def test_peak_second(self):
        conv = self.conversation()
        conv.send(SERVER, opening(conv, 3))
        start = conv.now
        conv.wait(2500 - start)
        for _ in range(5):
            conv.send(SERVER, conv.reliable(SERVER, 3))
        row, = (row for row in of(conv)["channels"] if row["channel"] == 3)
        one = (row["total"]["s2c"] - row["bits"]["open"]["s2c"]) // 5
        self.assertEqual([5 * one, 2], [row["peak_bits"]["s2c"], row["peak_second"]["s2c"]])


class Orders(unittest.TestCase):
    def test_orders(self):
        for order, key in (("total", lambda row: sum(row["total"].values())), ("peak", lambda row: max(row["peak_bits"].values())),
                           ("updates", lambda row: row["updates_per_s"] or 0)):
            connection, = infos("--by", order, LOSS)
            for by in BY:
                values = [key(row) for row in connection["bandwidth"][by]]
                self.assertEqual(sorted(values, reverse=True), values, (order, by))

    def test_csv(self):
        connection, = infos(LOSS)
        bandwidth = connection["bandwidth"]
        text = uerudp.run("info", "--csv", LOSS, status=None).stdout.decode()
        lines = list(csv.DictReader(io.StringIO(text)))
        self.assertTrue(all(len(line) == 17 and None not in line and None not in line.values() for line in lines))
        for way in WAYS:
            of_way = [line for line in lines if line["direction"] == way]
            sums = collections.Counter()
            for line in of_way:
                sums[line["by"]] += int(line["bits"])
                self.assertAlmostEqual(int(line["bits"]) / 8, float(line["bytes"]), places=3)
            inside = in_bunches(bandwidth, way)
            self.assertEqual({"all": bandwidth["total"][way], "kind": bandwidth["total"][way], "class": inside, "actor": inside,
                              "channel": inside, "kind over time": bandwidth["total"][way], "class over time": inside}, sums)

    def test_text(self):
        text = uerudp.run("info", "--bandwidth", "--top=2", CAPTURES / "game.pcapng", status=None).stdout.decode()
        for words in ("bandwidth by kind", "exports of net GUIDs", "bandwidth by classes, 10", "Ship_C", "8 more",
                      "bandwidth by actors", "guid 64 channel 2", "bandwidth by channels"):
            self.assertIn(words, text)
        text = uerudp.run("info", CAPTURES / "game.pcapng", status=None).stdout.decode()
        self.assertNotIn("bandwidth", text)

    def test_budget(self):
        """The exit status depends only on what a budget names; a budget that is just reached is kept."""
        path = CAPTURES / "game.pcapng"
        connection, = infos("--budget=1", path)
        peak = max(connection["peak_bytes_per_s"].values())
        bits = max(row["peak_bits"]["s2c"] for row in connection["bandwidth"]["classes"] if row["class"] == "/Game/Actors/Crate.Crate_C")
        crate = -(-bits // 8)
        self.assertEqual([True, True], [each["is_exceeded"] for each in connection["budget"]])
        for budget, status in ((peak, 0), (peak - 1, 1), (f"Crate_C={crate}", 0), (f"Crate_C={crate - 1}", 1),
                               (f"/Game/Actors/Crate.Crate_C={crate - 1}", 1), ("Crate_D=1", 2), ("Control=1", 1)):
            with self.subTest(budget):
                uerudp.run("info", f"--budget={budget}", path, status=status)
        uerudp.run("info", f"--budget={peak}", f"--budget=Crate_C={crate - 1}", path, status=1)

    def test_budget_of_the_table(self):
        """The bytes of the busiest second in the table are those that a budget compares, also if they are no whole number."""
        path, found = CAPTURES / "game.pcapng", set()
        text = uerudp.run("info", "--bandwidth", path, status=None).stdout.decode()
        text = text.partition("bandwidth by classes")[2].partition("bandwidth by actors")[0]
        for shown, name in re.findall(r"^ .* (\d+) at \d+ s .* (\w+)$", text, re.M):
            connection, = infos(f"--budget={name}=1", path)
            budget = max(connection["budget"], key=lambda each: each["peak_bytes"])
            self.assertEqual(budget["peak_bytes"], int(shown), name)
            row, = (row for row in connection["bandwidth"]["classes"] if row["class"] == budget["class"])
            found.add(max(row["peak_bits"].values()) % 8 in range(1, 4))
        self.assertIn(True, found)

    def test_budget_is_said(self):
        """In each form of output: which budget is exceeded, and which names nothing that was sent, as a misspelt one."""
        path = CAPTURES / "game.pcapng"
        for form in ([], ["--summary"], ["--csv"], ["--json"]):
            with self.subTest(form), tempfile.TemporaryDirectory() as folder:
                report = pathlib.Path(folder, "report.xml")
                result = uerudp.run("info", *form, "--budget=Crate_C=1", "--budget=Ship_C=1000000", "--budget=Shipp_C=1",
                                    f"--junit={report}", path, status=2)
                said = result.stdout.decode() + result.stderr.decode()
                self.assertIn("is_exceeded\":true" if form == ["--json"] else "over budget: Crate_C server to client", said)
                self.assertEqual(["--budget Shipp_C: no class of what was sent is known to have this name"],
                                 [line for line in result.stderr.decode().splitlines() if "--budget" in line])
                suite = ElementTree.parse(report).getroot().find("testsuite")
                cases = {case.get("name"): case.find("failure") for case in suite if case.get("name").startswith("budget")}
                self.assertEqual({"budget Crate_C server to client": True, "budget Ship_C server to client": False},
                                 {name: failure is not None for name, failure in cases.items()})
                self.assertEqual((int(suite.get("tests")), int(suite.get("failures"))),
                                 (len(suite.findall("testcase")), len(suite.findall("testcase/failure"))))
        result = uerudp.run("info", "--summary", "--budget=Crate_C=1000000", path)
        self.assertNotIn("budget", result.stderr.decode())
        ships = uerudp.run("info", "--summary", "--budget=Ship_C=1", CAPTURES / "recognition/middle.pcapng", status=2)
        self.assertIn("is known to have", ships.stderr.decode())  # they were opened before the capture began

    def test_budget_of_nothing(self):
        """A budget that nothing is compared with is no success, as after a class was renamed."""
        path = CAPTURES / "game.pcapng"
        for budgets, status in ((["Crate_C=1000000"], 0), (["Crate_C=1"], 1), (["Renamed_C=1000000"], 2),
                                (["Crate_C=1000000", "Renamed_C=1"], 2)):
            uerudp.run("info", *[f"--budget={budget}" for budget in budgets], path, status=status)
        uerudp.run("info", "--budget=1000000", path)
        uerudp.run("info", "--budget=1000000", "--stream=5", path, status=2)

    def test_summary_excludes(self):
        """A line per connection has none of these: they are refused, and not ignored."""
        for option in ("--json", "--bits", "--csv", "--bandwidth", "--top=3", "--by=peak"):
            result = uerudp.run("info", "--summary", option, LOSS, status=2)
            self.assertIn(option.partition("=")[0], result.stderr.decode())
        result = uerudp.run("info", "--compare", "--budget=5", LOSS, LOSS, status=2)
        self.assertIn("--budget", result.stderr.decode())

    def test_wrong_options(self):
        for options in (["--by", "size"], ["--bandwidth", "--top", "-1"], ["--bandwidth", "--top", "0"], ["--csv", "--json"], ["--budget", "x"], ["--budget", "=5"],
                        ["--budget", "Crate=0"]):
            result = uerudp.run("info", *options, LOSS, status=2)
            self.assertIn(options[0 if options[0] != "--bandwidth" else 1], result.stderr.decode())


if __name__ == "__main__":
    unittest.main()
