#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp info for build machines: --fail-on, --junit, --summary, and the numbers and times of findings in JSON."""
import json
import pathlib
import re
import subprocess
import tempfile
import unittest
from xml.etree import ElementTree

import traffic
import uerudp
from conversation import SERVER, hello_sent

LOSSY = uerudp.ROOT / "captures/loss-burst.pcapng"  # a stall of 700 ms, a burst of 7, 8 of 16 lost, no error
# Findings of the whole connection, and one whose first frame is older than what reports it.
WITHOUT_TIME = {"never_sent", "times_implausible"}


def status(*rules, path=LOSSY):
    return subprocess.run([uerudp.PROGRAM, "info", "--summary", *[f"--fail-on={rule}" for rule in rules], path],
                          capture_output=True, check=False, timeout=60).returncode


def findings(path, *options):
    """(connection, finding) of every finding of a capture."""
    for line in uerudp.run("info", "--json", "--findings=1000", *options, path, status=None).stdout.splitlines():
        connection = json.loads(line)
        yield from ((connection, finding) for finding in connection["findings"])


class FailOn(unittest.TestCase):
    def test_rules(self):
        for expected, rules in ((0, ()), (0, ("error",)), (1, ("warning",)), (1, ("note",)),
                                (1, ("reliable_stall",)), (0, ("silence",)), (1, ("silence,loss",)),
                                (1, ("silence", "loss")), (1, ("stall:700ms",)), (0, ("stall:701ms",)),
                                (1, ("stall:0.7s",)), (0, ("stall:0.8s",)), (1, ("loss:50%",)), (0, ("loss:50.1%",)),
                                (1, ("loss_burst:7",)), (0, ("loss_burst:8",)), (0, ("ping:1ms",))):
            with self.subTest(rules):
                self.assertEqual(expected, status(*rules))

    def test_printed_share(self):
        """A limit is compared with what the sentence prints, whether that is rounded up or down."""
        rounded = set()
        for seed in range(1, 7):
            frames = traffic.generate("lossy", "--loss=0.1", "--duration=3", "--generation=5.5", f"--seed={seed}").frames
            info, = traffic.lines("info", "--json", frames=frames)
            worst = max((f for f in info["findings"] if f["kind"] == "loss"), key=lambda f: f["count"] / f["of"])
            printed = float(worst["text"].split(" %")[0])
            rounded.add(printed > 100 * worst["count"] / worst["of"])
            for limit, expected in ((printed, 1), (printed + 0.01, 0)):
                uerudp.run("info", f"--fail-on=loss:{limit:.2f}%", "-", data=traffic.write(frames), status=expected)
        self.assertEqual({True, False}, rounded)

    def test_loss_of_one_direction(self):
        """A limit of loss holds for each direction, also if the other one lost far less."""
        with tempfile.TemporaryDirectory() as folder:
            self.check_one_way(pathlib.Path(folder))

    def check_one_way(self, folder):
        path, scenario = folder / "one-way.pcapng", folder / "one-way.ini"
        scenario.write_text("[scenario]\nbase=stream\nduration=5\n[path client]\nloss=0\n[path server]\nloss=0.2\n")
        uerudp.run("generate", "--no-sidecar", "--output", path, scenario, status=None)
        share = max(self.lost(path).values())
        one_way, = [finding for _, finding in findings(path) if finding["kind"] in ("loss", "one_way_loss")]
        self.assertEqual("one_way_loss", one_way["kind"])
        self.assertAlmostEqual(share, 100 * one_way["count"] / one_way["of"], places=6)
        for expected, rule in ((1, "loss"), (1, f"loss:{share - 0.1}%"), (0, f"loss:{share + 0.1}%"), (1, "one_way_loss:5%"),
                               (1, "loss:1"), (0, f"loss:{one_way['count'] + 1}")):
            with self.subTest(rule):
                self.assertEqual(expected, status(rule, path=path))
        report = folder / "report.xml"
        uerudp.run("info", "--fail-on=loss:5%", "--junit", report, path, status=1)
        suite, = ElementTree.parse(report).getroot()
        self.assertEqual("1", suite.get("failures"))
        self.assertEqual(["one_way_loss"], [case.get("name") for case in suite if case.find("failure") is not None])

    def test_no_loss(self):
        """No loss reaches no limit, not even 0."""
        for path in uerudp.ROOT / "captures/login.pcapng", uerudp.ROOT / "captures/refused.pcapng":
            self.assertEqual(0, status("loss:0%", "loss:0", path=path))

    def test_loss_below_thresholds(self):
        """The limit of the user decides, not what is reported without one; and a share is what is printed."""
        for options in ("--loss=0.004", "--duration=20"), ("--loss=0.1", "--duration=1", "--seed=4"):
            with tempfile.TemporaryDirectory() as folder, self.subTest(options):
                path = pathlib.Path(folder, "few.pcapng")
                uerudp.run("generate", "stream", "--no-sidecar", *options, "--output", path, status=None)
                self.assertEqual([], [finding for _, finding in findings(path) if finding["kind"].endswith("loss")])
                share = max(self.lost(path).values())
                self.assertGreater(share, 0)
                printed = max(map(float, re.findall(r"\d+ of \d+ \((\S+) %\)", uerudp.run("info", path).stdout.decode())))
                self.assertAlmostEqual(share, printed, delta=0.051)
                for expected, limit in (1, printed), (0, printed + 0.01):
                    result = uerudp.run("info", f"--fail-on=loss:{limit}%", path, status=expected)
                    self.assertEqual(bool(expected), "were not delivered" in result.stdout.decode())
                self.assertEqual((0, 0, 0), tuple(status(rule, path=path) for rule in ("loss", "one_way_loss", "error")))

    def lost(self, path):
        """The share of packets that were not delivered, of each direction, in percent."""
        (connection,) = map(json.loads, uerudp.run("info", "--json", path, status=None).stdout.splitlines())
        return {way: 100 * connection["not_acked"][way] / (connection["acked"][way] + connection["not_acked"][way]) for way in ("c2s", "s2c")}

    def test_hint_at_the_unit(self):
        """A number without a unit is a count; one as high as a time gets a hint."""
        for rule, hint in (("stall:500", "500ms"), ("silence:1000", "1000ms"), ("stall:3", None), ("stall:500ms", None),
                           ("loss_burst:1000", None)):
            result = subprocess.run([uerudp.PROGRAM, "info", f"--fail-on={rule}", LOSSY], capture_output=True, check=False, timeout=60)
            self.assertEqual(hint is not None, b"a time, which has a unit" in result.stderr, rule)
            self.assertIn((hint or "").encode(), result.stderr, rule)

    def test_limit_of_every_finding(self):
        """A limit holds for all findings, also for those that are not printed."""
        output = uerudp.run("info", "--json", "--findings=1", "--fail-on=stall:300ms", LOSSY, status=1).stdout
        self.assertEqual(1, json.loads(output)["findings_more"]["reliable_stall"])

    def test_malformed(self):
        """Without rules a malformed datagram fails; with rules only if they name it."""
        damaged = uerudp.ROOT / "captures/fuzz.pcapng"
        self.assertEqual((1, 1, 1, 0), tuple(status(*rules, path=damaged)
                                             for rules in ((), ("error",), ("malformed",), ("stall:1000s",))))

    def test_unusable(self):
        for rule, words in (("foo", ("foo", "reliable_stall")), ("reliable", ("reliable_stall", "reliable_gap")),
                            ("stall:5", None), ("stall:2%", ("500ms",)), ("stall:x", ("500ms",)), ("stall:-1ms", ("500ms",)),
                            ("stall:nanms", ("500ms",)), ("closed:3", ("no limit",)), ("warning:5", ("a severity has no limit",)), ("", ("--fail-on",)), ("stall:", ("500ms",))):
            with self.subTest(rule):
                result = uerudp.run("info", f"--fail-on={rule}", LOSSY, status=2 if words else 0)
                for word in words or ():
                    self.assertIn(word, result.stderr.decode())

    def test_counts_in_the_manual(self):
        """The man page says of each kind that has a count what it counts, and of no other."""
        kinds = json.loads((uerudp.ROOT / "docs/uerudp.schema.json").read_text())["$defs"]["finding_kind"]["enum"]
        manual = (uerudp.ROOT / "docs/uerudp-info.1").read_text()
        part = manual[manual.index("A number is the count of one"):manual.index("Other kinds have no count")]
        with_count = {kind for kind in kinds if subprocess.run(
            [uerudp.PROGRAM, "info", f"--fail-on={kind}:1000000", LOSSY], capture_output=True, check=False, timeout=60).returncode == 0}
        self.assertEqual(with_count, {kind for kind in kinds if re.search(rf"(?m)^\.B.*\b{kind}\b", part)})

    def test_nothing_examined(self):
        """Without a connection no rule can pass: the capture is empty, of something else, or the wrong part of it."""
        with tempfile.TemporaryDirectory() as folder:
            for options in (("--stream=9",), ("--from=2099-01-01T00:00:00Z",)):
                with self.subTest(options):
                    uerudp.run("info", "--json", *options, LOSSY, status=0)
                    for judged in ("--fail-on=error", "--junit=" + folder + "/report.xml"):
                        result = uerudp.run("info", judged, *options, LOSSY, status=2)
                        self.assertIn("no connection", result.stderr.decode())
                    uerudp.run("info", "--compare", *options, LOSSY, LOSSY, status=0)
                    uerudp.run("info", "--compare", "--fail-on=error", *options, LOSSY, LOSSY, status=2)

    def test_summary(self):
        lines = uerudp.run("info", "--summary", LOSSY).stdout.decode().splitlines()
        self.assertEqual(3, len(lines), lines)
        self.assertIn("warning: reliable stall of 700 ms", lines[2])

    def test_failures_in_summary(self):
        """The table has the worst finding only; standard error has the worst that a rule names, also of the second capture."""
        result = uerudp.run("info", "--summary", "--fail-on=loss_burst", LOSSY, status=1)
        line, = [line for line in result.stderr.decode().splitlines() if "--fail-on" in line]
        self.assertRegex(line, "connection 0: --fail-on: .* packets in a row were not delivered")
        result = uerudp.run("info", "--summary", "--fail-on=stall:5s", LOSSY, status=0)
        self.assertNotIn("--fail-on", result.stderr.decode())
        ends = [uerudp.ROOT / f"captures/ends-{end}.pcapng" for end in ("client", "server")]
        result = uerudp.run("info", "--summary", "--fail-on=note", *ends, status=1)
        lines = [line for line in result.stderr.decode().splitlines() if "--fail-on" in line]
        self.assertEqual(["connection 0, ends-client.pcapng", "connection 0, ends-server.pcapng"],
                         [line.split(": --fail-on")[0] for line in lines])

    def test_order_of_connections(self):
        """Of connections whose worst findings are of the same kind, that with the longest stall comes first."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "several.pcapng")
            uerudp.run("generate", "lossy", "--seed=6", "--no-sidecar", "--connections=5", "--duration=8", "--output", path)
            text = uerudp.run("info", "--summary", path).stdout.decode()
            stalls = [int(each) for each in re.findall(r"stall of (?:at least )?(\d+) ms", text)]
            self.assertGreater(len(set(stalls)), 2)
            self.assertEqual(sorted(stalls, reverse=True), stalls)


class Junit(unittest.TestCase):
    def report(self, path, *options, data=b"", expected=0):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "report.xml")
            uerudp.run("info", "--summary", f"--junit={file}", *options, path, data=data, status=expected)
            return ElementTree.parse(file).getroot()

    def test_failures(self):
        root = self.report(LOSSY, "--fail-on=stall:500ms,loss_burst:8", expected=1)
        suite, = root
        self.assertEqual("1", suite.get("failures"))
        self.assertEqual(int(suite.get("tests")), len(suite))
        self.assertEqual(len(suite), len({case.get("name") for case in suite}))
        failed = {case.get("name"): case.find("failure") for case in suite if case.find("failure") is not None}
        self.assertEqual(["reliable_stall"], list(failed))
        self.assertIn("reliable stall of 700 ms", failed["reliable_stall"].get("message"))
        told = {case.get("name") for case in suite if case.find("system-out") is not None}
        self.assertEqual({finding["kind"] for _, finding in findings(LOSSY)}, told)

    def test_hostile_text(self):
        """Texts of messages are data in XML."""
        conv = hello_sent().idle(500)
        conv.send_message(SERVER, "failure", text="]]></failure> \"&<\u00e9\x01\x1b[31m\u2028")
        suite, = self.report("-", data=conv.idle(100).capture(), expected=1)
        failure, = suite.iter("failure")
        self.assertIn("]]></failure> \"&<\u00e9", failure.get("message"))

    def test_unwritable(self):
        uerudp.run("info", "--junit=/nonexistent/report.xml", LOSSY, status=2)


class Numbers(unittest.TestCase):
    def test_time_of_first_frame(self):
        """A finding begins at its first frame, on the clock of the capture."""
        paths = [(path, ()) for path in sorted(uerudp.ROOT.glob("captures/*.pcapng"))]
        seen = set()
        for path, options in paths + [(path, options) for _, path, options in uerudp.captures()]:
            time_of = {}
            for connection, finding in findings(path, *options):
                if not finding["frames"] or finding["kind"] in WITHOUT_TIME:
                    continue
                time_of = time_of or {datagram["frame"]: datagram["time"] for datagram in
                                      uerudp.decode(*options, path, status=None)}
                with self.subTest(path.name, finding=finding):
                    self.assertEqual(time_of[finding["frames"][0]], finding["time"])
                    since_ns = int(finding["time"]) - int(connection["start"])
                    self.assertAlmostEqual(since_ns / 1e9, finding["time_s"], places=6)
                seen.add(finding["kind"])
        self.assertLessEqual({"reliable_stall", "loss_burst", "timeout", "malformed"}, seen)

    def test_numbers_are_in_the_sentence(self):
        stall, *_ = [finding for _, finding in findings(LOSSY) if finding["kind"] == "reliable_stall"]
        expected = {"duration_ms": 700, "channel": 2, "first_ch_seq": 834, "last_ch_seq": 834, "count": 1, "others": 5,
                    "direction": "s2c"}
        self.assertEqual(expected, {key: stall[key] for key in expected})
        for word in ("700 ms", "channel 2", "ChSequence 834", "5 other", "server to client"):
            self.assertIn(word, stall["text"])

    def bounds(self, finding):
        return {key: value for key, value in finding.items() if "at_most" in key}

    def test_lower_bounds(self):
        """A number that may be higher has an upper bound beside it, also where there is none (null); an exact one has not."""
        for _, finding in findings(LOSSY):
            self.assertEqual({}, self.bounds(finding), finding)
        capture = traffic.generate("lossy", "--loss=0.1", "--duration=3", "--generation=4.18")
        info, = traffic.lines("info", "--json", frames=capture.frames) # an ack that was lost reports nothing
        losses = [finding for finding in info["findings"] if finding["kind"] == "loss"]
        self.assertEqual(2, len(losses))
        for finding in losses:
            way = finding["direction"]
            self.assertGreater(info["not_acked_unsure"][way], 0)
            self.assertEqual({"count_at_most": finding["count"] + info["not_acked_unsure"][way]}, self.bounds(finding))
        sender = traffic.generate("lossy", "--loss=0.1", "--duration=3", "--generation=4.18", "--capture-at=sender")
        info, = traffic.lines("info", "--json", frames=sender.frames)
        needless, = [finding for finding in info["findings"] if finding["kind"] == "spurious_resends"]
        self.assertIn(f"at least {needless['count']} of {needless['of']} resends", needless["text"])
        self.assertEqual({"count_at_most": needless["of"]}, self.bounds(needless))

    def test_highest_jitter(self):
        """As in the text."""
        text = uerudp.run("info", LOSSY, status=None).stdout.decode()
        info = json.loads(uerudp.run("info", "--json", LOSSY, status=None).stdout)
        for way, side in (("c2s", "client"), ("s2c", "server")):
            now, most = re.search(rf"jitter of the {side} +([\d.]+) now, ([\d.]+) at most", text).groups()
            self.assertEqual((float(now), float(most)),
                             (round(info["jitter_ms"][way], 1), round(info["jitter_max_ms"][way], 1)))


if __name__ == "__main__":
    uerudp.main()
