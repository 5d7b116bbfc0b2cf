#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Head-of-line blocking, ack delays and the pace of both sides in info and in trace, against what the simulator knows:
when each datagram arrived."""
import collections
import functools
import json
import pathlib
import re
import statistics
import tempfile
import unittest

import receivers
import trace_page
import uerudp
from receivers import WAYS

NS_PER_MS = 1e6


class Run:
    """A simulated run: its capture, its datagrams by the sidecar, and what decode prints of them."""

    def __init__(self, folder, *arguments):
        self.path = pathlib.Path(folder) / "a.pcapng"
        uerudp.run("generate", *arguments, "-o", self.path, status=None)
        sidecar = json.loads(self.path.with_suffix(".sent.json").read_text())
        self.generation = sidecar["generation"]
        self.sent = {each["frame"]: each for each in sidecar["datagrams"] if each["frame"] is not None}
        self.decoded = receivers.decode(self.path, self.generation)
        self.info, = map(json.loads, uerudp.run("info", "--json", "--generation", self.generation, self.path, status=None).stdout.splitlines())

    @functools.cached_property
    def page(self):
        return trace_page.read(uerudp.run("trace", "--generation", self.generation, self.path, status=None).stdout.decode())

    def time_of(self, way):
        return {each["packet_id"]: int(each["time"]) for each in self.sent.values() if each["dir"] == way}.get


class Waits(unittest.TestCase):
    def check(self, *arguments):
        """info and the page have the waits of the receiver. Returns how many bunches waited."""
        with tempfile.TemporaryDirectory() as folder:
            run = Run(folder, *arguments, "--capture-at=sender")
            page = run.page
        found = {(each["direction"], each["channel"]): each for each in run.info["waits"]}
        drawn = collections.Counter()
        for each in page["waits"]:
            drawn[WAYS[each["side"]], each["channel"]] += each["bunches"]
        count = 0
        for way in WAYS:
            truth = receivers.Sent(run.sent, run.decoded).waits(way, run.time_of(way))
            self.assertEqual({channel for direction, channel in found if direction == way}, set(truth), (arguments, way))
            for channel, waits in truth.items():
                each = found[way, channel]
                self.assertFalse(each["at_least"], (arguments, way, channel))
                self.assertEqual(len(waits), each["bunches"], (arguments, way, channel))
                self.assertEqual(len(waits), drawn[way, channel])
                self.assertAlmostEqual(sum(wait for wait, *_ in waits) / NS_PER_MS, each["total_ms"], delta=0.01 * len(waits))
                longest = max(wait for wait, *_ in waits)
                self.assertAlmostEqual(longest / NS_PER_MS, each["longest_ms"], delta=0.01)
                self.assertIn(each["frames"], [[first, last] for wait, first, last in waits if wait > longest - 10000])
                count += len(waits)
        return count

    def test_against_the_receiver(self):
        for scenario, *options in (("lossy",), ("stream", "--loss=0.1"), ("burst",), ("mixed", "--reorder=0", "--dup=0", "--corrupt=0", "--rate=0"), ("churn", "--loss=0.05"),
                                   ("bulk", "--loss=0.02", "--duration=1", "--rate=0"), ("wrap", "--loss=0.05"), ("loss-burst",)):
            with self.subTest(scenario):
                self.assertGreater(self.check(scenario, "--jitter=0", *options), 0)

    def test_nothing_waits_without_loss(self):
        for scenario in ("clean", "login", "game"):
            with self.subTest(scenario):
                self.assertEqual(0, self.check(scenario, "--loss=0", "--jitter=0", "--reorder=0", "--dup=0", "--corrupt=0"))

    def test_after_the_loss(self):
        """A capture at the receiver lacks the lost copies, and shows the same waits."""
        infos = []
        with tempfile.TemporaryDirectory() as folder:
            for point in ("sender", "client"):
                run = Run(folder, "stream", "--loss=0.1", "--jitter=0", f"--capture-at={point}")
                infos.append({each["channel"]: (each["bunches"], round(each["total_ms"])) for each in run.info["waits"]
                              if each["direction"] == "s2c"})
        self.assertTrue(infos[0])
        self.assertEqual(*infos)


class Bounds(unittest.TestCase):
    """What a capture at one end, or one that lacks packets, does not show makes bounds of the numbers: no bound is above what
    the receiver did, and a number that is none is equal."""

    NETWORK = ("--jitter=0", "--reorder=0", "--dup=0", "--corrupt=0", "--rate=0", "--duration=6")
    LEGACY, MODERN = ("4.13", "4.18", "4.20"), ("4.27", "5.5")

    def setUp(self):
        self.found, self.true, self.rows = 0, 0, collections.Counter()

    def compare(self, info, truth, way):
        found = {each["channel"]: each for each in info["waits"] if each["direction"] == way}
        for channel in set(found) | set(truth):
            each = found.get(channel, {"bunches": 0, "total_ms": 0, "longest_ms": 0, "at_least": True})
            spans = [wait / NS_PER_MS for wait, *_ in truth.get(channel, [])]
            for number, true in ((each["bunches"], len(spans)), (each["total_ms"], sum(spans)), (each["longest_ms"], max(spans, default=0))):
                self.assertLessEqual(number, true + 0.01 * len(spans), (way, channel))
                self.assertTrue(each["at_least"] or number >= true - 0.01 * len(spans), (way, channel))
            self.found += each["bunches"]
            self.true += len(spans)
            self.rows[each["at_least"]] += bool(each["bunches"])

    def check(self, generations, losses, point, kept=None):
        for generation in generations:
            for seed, loss in enumerate(losses, 43):
                with self.subTest(generation=generation, loss=loss), tempfile.TemporaryDirectory() as folder:
                    arguments = ("game", f"--seed={seed}", f"--generation={generation}", f"--loss={loss}", *self.NETWORK)
                    whole = Run(folder, *arguments, "--capture-at=sender")
                    sent = receivers.Sent(whole.sent, whole.decoded)
                    run = Run(folder, *arguments, f"--capture-at={point}")
                    info = self.part(run, kept) if kept else run.info
                    for way in WAYS:
                        self.compare(info, sent.waits(way, whole.time_of(way)), way)

    def part(self, run, kept):
        path = run.path.with_name("part.pcapng")
        uerudp.run("edit", "--frames", kept(max(run.sent)), run.path, path)
        return json.loads(uerudp.run("info", "--json", "--generation", run.generation, path, status=None).stdout.splitlines()[0])

    def test_few_lost_acks(self):
        """Each ack up to 4.21 is in two packets: if few are lost, what a capture at the sender shows is exact."""
        self.check(self.LEGACY, (0.02, 0.02), "server")
        self.assertEqual(self.found, self.true)
        self.assertEqual([False], list(self.rows))

    def test_many_lost_acks(self):
        self.check(self.LEGACY, (0.15, 0.1, 0.05), "server")
        self.assertGreater(self.found, 0.85 * self.true)
        self.assertTrue(self.rows[True])

    def test_history(self):
        """From 4.22 on each packet has the history of acks."""
        self.check(self.MODERN, (0.15, 0.1, 0.05), "server")
        self.assertEqual([False], list(self.rows))

    def test_no_loss(self):
        self.check(self.LEGACY + self.MODERN, (0,), "server")
        self.assertFalse(self.rows)

    def test_a_capture_that_lacks_packets(self):
        """What waits for a bunch that may have arrived is not counted."""
        self.check(("4.13", "4.20", "5.5"), (0.15, 0.1, 0.05), "server",
                   lambda last: ",".join(f"{first}-{first + 12}" for first in range(1, last, 14)))
        self.assertTrue(self.rows[True])

    def test_a_capture_that_begins_late(self):
        self.check(("4.13", "4.20", "5.5"), (0.15, 0.1, 0.05), "server", lambda last: f"{last // 3}-{last}")
        self.assertTrue(self.found)


class Sentences(unittest.TestCase):
    """Of one bunch the time is said once: all that waited is the longest wait."""

    WAITED = re.compile(r"(at least )?(\d+) bunch(?:es)? waited ([^,]*)(?:, (one of them at least|at most) [^,]*)?, from frame (\d+) until")

    def test_rows(self):
        kinds = collections.Counter()
        with tempfile.TemporaryDirectory() as folder:
            for seed, loss in ((2, 0.02), (3, 0.02), (4, 0.2)):
                run = Run(folder, "game", f"--seed={seed}", f"--loss={loss}", "--generation=4.18", *Bounds.NETWORK, "--capture-at=server")
                text = uerudp.run("info", "--generation=4.18", run.path, status=None).stdout.decode()
                rows = {each["frames"][0]: each for each in run.info["waits"] if each["bunches"]}
                for line in (line for line in text.splitlines() if " waited " in line):
                    match = self.WAITED.search(line)
                    self.assertTrue(match, line)
                    bound, count, total, longest, frame = match.groups()
                    row = rows[int(frame)]
                    self.assertEqual((row["bunches"], row["at_least"]), (int(count), bound is not None), line)
                    self.assertEqual((row["at_least"], row["bunches"] > 1), (total.startswith("at least "), total.endswith(" in all")), line)
                    expected = ("one of them at least" if bound else "at most") if row["bunches"] > 1 else None
                    self.assertEqual(expected, longest, line)
                    kinds[row["at_least"], row["bunches"] > 1] += 1
        self.assertEqual(4, len(kinds), kinds)


    def test_not_known(self):
        """Text and JSON have a row for each channel of a direction on which bunches waited or may have; else none."""
        known = re.compile(r"(client to server|server to client), channel (\d+) .*?: (bunches may have waited; the capture does not show whether, or how long)?")
        found = 0
        with tempfile.TemporaryDirectory() as folder:
            for loss, generation in ((0, "4.18"), (0, "5.5"), (0.2, "4.18"), (0.2, "4.13")):
                run = Run(folder, "game", "--seed=7", f"--loss={loss}", f"--generation={generation}", *Bounds.NETWORK, "--capture-at=server")
                text = uerudp.run("info", f"--generation={generation}", run.path, status=None).stdout.decode()
                rows = [known.search(line).groups() for line in text.splitlines() if re.search(r", channel \d+ .*waited", line)]
                shown = {(dict(zip(("client to server", "server to client"), WAYS))[way], int(channel)): bool(may) for way, channel, may in rows}
                waits = {(each["direction"], each["channel"]): each["bunches"] == 0 for each in run.info["waits"]}
                more = re.search(r"^    and on (\d+) more$", text, re.M)
                self.assertEqual(len(waits), len(shown) + (int(more[1]) if more else 0))
                self.assertEqual(shown, {key: waits[key] for key in shown})
                for each in run.info["waits"]:
                    self.assertEqual((each["bunches"] == 0,) * 3, tuple(each[key] is None for key in ("time_s", "ch_seq", "frames")))
                    self.assertTrue(each["bunches"] or each["at_least"] and each["total_ms"] == each["longest_ms"] == 0)
                may_have = sum(shown.values())
                self.assertFalse(may_have and loss == 0)
                found += may_have
        self.assertGreater(found, 0)


class SeenAtTheReceiver(unittest.TestCase):
    """A capture at the receiver lacks the copies that were lost. It shows a stall if a later bunch waited for the lost one: the
    wait is exact, and the stall at most as long as in truth."""

    def bunches(self, path, sent, generation, way):
        """(datagram of the sidecar, frame, channel, sequence) of each reliable bunch."""
        datagrams = {each["frame"]: each for each in sent["datagrams"] if each["frame"] is not None and each["dir"] == way}
        for each in uerudp.decode(f"--generation={generation}", path, status=None):
            for bunch in each.get("bunches", []) if each["frame"] in datagrams else []:
                if bunch.get("reliable"):
                    yield datagrams[each["frame"]], each["frame"], bunch["channel"], bunch["ch_seq"]

    def check(self, path, receiver, way):
        sender = "server" if receiver == "client" else "client"
        files = {end: path.with_name(f"{path.stem}-{end}.pcapng") for end in (sender, receiver)}
        sidecars = {end: json.loads(file.with_suffix(".sent.json").read_text()) for end, file in files.items()}
        generation = sidecars[sender]["generation"]
        sent, arrivals = {}, []
        for datagram, _, channel, seq in self.bunches(files[sender], sidecars[sender], generation, way):
            sent.setdefault((channel, seq), int(datagram["time"]))
        for datagram, frame, channel, seq in self.bunches(files[receiver], sidecars[receiver], generation, way):
            arrivals.append((int(datagram["arrived"][0]), frame, channel, seq))
        fastest = min(int(each["arrived"][0]) - int(each["time"]) for each in sidecars[sender]["datagrams"] if each["dir"] == way and each["arrived"])
        info, = map(json.loads, uerudp.run("info", "--json", "--findings=1000", "--generation", generation, files[receiver], status=None).stdout.splitlines())
        stalls = [each for each in info["findings"] if "of at least" in each["text"] and each["direction"] == way]
        for stall in stalls:
            last = stall["last_ch_seq"]
            missing = [(stall["first_ch_seq"] + i) % 1024 for i in range((last - stall["first_ch_seq"]) % 1024 + 1)]
            begin = min(sent[stall["channel"], seq] for seq in missing)
            end = max(time for time, frame, channel, seq in arrivals
                      if (frame, channel) == (stall["frames"][-1], stall["channel"]) and seq in missing)
            self.assertLessEqual(stall["duration_ms"], (end - begin - fastest) / NS_PER_MS + 0.01, stall["text"])
            waited = min(time for time, _, channel, seq in arrivals if channel == stall["channel"] and time > begin and 0 < (seq - last) % 1024 < 512)
            self.assertAlmostEqual((end - waited) / NS_PER_MS, stall["least_ms"], delta=0.01, msg=stall["text"])
        return len(stalls)

    def test_against_both_ends(self):
        found = collections.Counter()
        for scenario, *options in (("overload", "--loss=0.05", "--duration=5"), ("overload", "--loss=0.05", "--duration=5", "--generation=4.18"),
                                   ("game", "--loss=0.15", "--duration=10", "--seed=4"), ("clean", "--loss=0.15", "--duration=10", "--seed=4"), ("stream", "--loss=0.1", "--duration=20"),
                                   ("stream", "--loss=0.1", "--duration=20", "--generation=4.18"), ("stream", "--loss=0.1", "--reorder=0.1", "--seed=2", "--duration=20")):
            with self.subTest((scenario, options)), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "a.pcapng"
                uerudp.run("generate", scenario, *options, "--capture-at=both", "--output", path, status=None)
                for receiver, way in (("server", "c2s"), ("client", "s2c")):
                    found[way] += self.check(path, receiver, way)
        self.assertGreater(min(found["c2s"], found["s2c"]), 0, found)


class Pace(unittest.TestCase):
    def run_of(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            run = Run(folder, *arguments)
            return run, run.page

    def test_tick(self):
        """The clocks of the packets show the tick of both sides, whatever the network does."""
        for hz, ms in ((20, 50), (50, 20), (100, 10)):
            run, page = self.run_of("stream", f"--tick={hz}", "--jitter=30", "--loss=0.05", "--duration=10")
            for way in WAYS:
                self.assertEqual(ms, run.info["send_interval_ms"][way]["p50"], (hz, way))
                self.assertEqual(len(page[f"paces{WAYS.index(way)}"]), run.info["send_interval_ms"][way]["samples"])

    def test_no_clock(self):
        """Packets up to 4.21 carry no clock."""
        run, _ = self.run_of("stream", "--generation=4.18", "--duration=3")
        self.assertEqual({"c2s": None, "s2c": None}, run.info["send_interval_ms"])

    def test_longest_interval(self):
        """A server that hangs for 400 ms; packets that are missing make no interval, and neither do delays of the network. A clock
        that has no value shows a second or more."""
        def packets(clocks, ids=None):
            for i, clock in enumerate(clocks):
                number = i if ids is None else ids[i]
                is_old = i > 0 and clock - clocks[i - 1] >= 1000
                yield {"generation": "5.5", "src": "10.0.0.2:7777", "dst": "10.0.0.1:50000", "time": str(10**18 + clock * 10**6),
                       "packet": {"seq": 100 + number, "ack": 500, "history": [1], "has_info": True, "jitter_ms": 1023 if is_old else clock % 1000},
                       "bunches": []}

        def reports(*arguments):
            text = "\n".join(map(json.dumps, packets(*arguments))).encode()
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "a.pcapng"
                path.write_bytes(uerudp.run("encode", "-", data=text).stdout)
                text, line = (uerudp.run("info", *options, "--generation=5.5", path, status=None).stdout.decode() for options in ((), ("--json",)))
            return text, json.loads(line)

        def interval(*arguments):
            _, info = reports(*arguments)
            return info["send_interval_ms"]["s2c"], info["longest_send_interval"]["s2c"]
        steady = list(range(0, 3300, 33))
        hung = steady[:50] + [each + 400 for each in steady[50:]]
        self.assertEqual(33, interval(steady)[0]["max"])
        found, where = interval(hung)
        self.assertEqual((33, 433, 51), (found["p50"], found["max"], where["frame"]))
        self.assertAlmostEqual(hung[49] / 1000, where["time_s"], 3)
        found, where = interval([0, 33, 1032, 2031, 2064])
        self.assertEqual((999, 4, 3), (found["max"], found["samples"], where["frame"]))
        late = [0, 33, 2466, 2499]
        found, where = interval(late)
        self.assertEqual((1000, 2, 3), (found["max"], found["samples"], where["frame"]))
        self.assertIn("the server sends every 33 ms, the longest 1000 ms or more (before frame 3,", reports(late)[0])
        self.assertIn("at most 433 ms (before frame 51,", reports(hung)[0])
        self.assertEqual(3, interval([0, 33, 2466, 4899])[0]["samples"])
        found, _ = interval(hung, [i + 5 * (i >= 50) for i in range(100)])
        self.assertEqual((33, 98), (found["max"], found["samples"]))

    def test_ack_delay(self):
        """From arrival to the packet that acknowledges, as the simulator knows both; the path takes the same time always."""
        with tempfile.TemporaryDirectory() as folder:
            run = Run(folder, "stream", "--jitter=0", "--loss=0", "--tick=20", "--duration=20", "--capture-at=sender")
        for way, other in (WAYS, WAYS[::-1]):
            arrived = {run.sent[each["frame"]]["packet_id"]: int(run.sent[each["frame"]]["arrived"][0]) for each in run.decoded
                       if run.sent[each["frame"]]["dir"] == way and run.sent[each["frame"]]["arrived"]}
            delays = []
            for each in run.decoded:
                sent = run.sent[each["frame"]]
                if sent["dir"] == other:
                    delays += [int(sent["time"]) - arrived.pop(number) for number in sorted(arrived)
                               if number % 16384 in each["packet"].get("acked", []) and arrived[number] <= int(sent["time"])]
            expected = (statistics.median(delays) - min(delays)) / NS_PER_MS
            self.assertGreater(len(delays), 300)
            self.assertAlmostEqual(expected, run.info["ack_delay_ms"][way]["p50"], delta=0.5 + expected * 0.02)


class DeadWay(unittest.TestCase):
    """The client goes on sending, and from 3 s on nothing of it arrives, or everything."""
    def gaps(self, *path):
        with tempfile.TemporaryDirectory() as folder:
            scenario = pathlib.Path(folder) / "dead.ini"
            scenario.write_text("\n".join(("[scenario]", "base=game", "duration=9", "ending=quiet", "timeout=4", *path)) + "\n")
            run = Run(folder, scenario)
        return [each for each in run.info["findings"] if each["kind"] == "ack_gap" and each["direction"] == "c2s"], run

    def test_dead(self):
        (gap,), run = self.gaps("[path client]", "outages=3-")
        unreported = [each for each in run.sent.values() if each["dir"] == "c2s" and each["packet_id"] is not None and not each["delivered"]]
        self.assertEqual(len(unreported), gap["count"])
        self.assertGreater(gap["duration_ms"], 2500)
        self.assertIn(f"; in what was analysed, the last {len(unreported)} packets of the client have no report", gap["text"])

    def test_alive(self):
        self.assertEqual([], self.gaps()[0])


if __name__ == "__main__":
    uerudp.main()
