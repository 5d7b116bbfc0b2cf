#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--from and --to: parts of a capture by time since the first packet, time of day, time, and frame."""
import datetime
import json
import pathlib
import re
import tempfile
import unittest

import traffic
import uerudp
from conversation import CLIENT, hello_sent

CAPTURE = uerudp.ROOT / "captures/mixed.pcapng"


def frames(*options, path=CAPTURE, data=b""):
    return [datagram["frame"] for datagram in uerudp.decode(*options, path, data=data, status=None)]


def info(*options, path=CAPTURE, data=b""):
    connection, = map(json.loads, uerudp.run("info", "--json", *options, path, data=data, status=None).stdout.splitlines())
    return connection


def clock(ns, form="%H:%M:%S"):
    return datetime.datetime.fromtimestamp(ns // 10 ** 9, datetime.timezone.utc).strftime(form) + f".{ns % 10 ** 9:09}"


class Range(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = uerudp.decode(CAPTURE, status=None)
        cls.begin = int(cls.all[0]["time"])

    def between(self, first_ns, last_ns):
        return [each["frame"] for each in self.all if first_ns <= int(each["time"]) - self.begin <= last_ns]

    def test_decode(self):
        """Both bounds are part of the range, to the nanosecond."""
        bounds = [int(self.all[number]["time"]) - self.begin for number in (7, 20)]
        expected = self.between(*bounds)
        seconds = [f"{ns // 10 ** 9}.{ns % 10 ** 9:09}" for ns in bounds]
        self.assertEqual(expected, frames(f"--from={seconds[0]}", f"--to={seconds[1]}"))
        self.assertEqual(expected, frames(f"--from={clock(self.begin + bounds[0])}", f"--to={clock(self.begin + bounds[1])}"))
        self.assertEqual(expected, frames(f"--from=frame:{expected[0]}", f"--to=frame:{expected[-1]}"))
        self.assertEqual(expected[1:], frames(f"--from=frame:{expected[0] + 1}", f"--to={seconds[1]}"))
        self.assertEqual([each["frame"] for each in self.all], frames("--from=0"))
        self.assertEqual([], frames("--from=1000"))

    def test_part(self):
        """What lies outside of the part is not said to be missing in the capture."""
        text = uerudp.run("info", "--from=1", "--to=1.5", CAPTURE, status=None).stdout.decode()
        self.assertIn("no close of it is in this part of the capture\n", text)
        self.assertIn("handshake and login are not in this part of the capture\n", text)
        self.assertIn("  missing in this part  ", text)
        self.assertNotIn("missing in the capture", text)
        self.assertNotIn("part of the capture", uerudp.run("info", CAPTURE, status=None).stdout.decode())

    def test_reordered_at_the_edge(self):
        """Packets of a silence that come late, after the part, are missing in it; no sentence says that they were lost."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "outage.pcapng")
            uerudp.run("generate", "outage", "--generation=5.1", "--seed=1", "--jitter=80", "--reorder=0.1",
                       "--duration=6", "--output", path)
            missing = []
            for options in ((), ("--to=frame:360",)):
                text, = (each["text"] for each in info(*options, path=path)["findings"] if each["kind"] == "silence")
                self.assertRegex(text, "were lost, not analysed, or from another address$")
                missing.append(int(re.search(r"(\d+) packets of it are missing", text)[1]))
            self.assertEqual([63, 69], missing)

    def test_full_time(self):
        whole = clock(self.begin, "%Y-%m-%dT%H:%M:%S").split(".")[0] + "Z"
        self.assertEqual(len(self.all), len(frames(f"--from={whole}")))
        self.assertEqual([], frames(f"--to={whole}"))

    def test_midnight(self):
        """A time of day before that of the first packet is of the next day."""
        conv = hello_sent().idle(60000)
        for number, each in enumerate(conv.objects):
            each["time"] = str((86400 - 1 + 86400 * 20000) * 10 ** 9 + number * 10 ** 8)
        after = frames("--from=00:00:00", path="-", data=conv.capture())
        self.assertEqual(list(range(11, len(conv.objects) + 1)), after)
        self.assertEqual(10, len(frames("--from=23:59:59", "--to=23:59:59.999", path="-", data=conv.capture())))

    def test_content_begins_before(self):
        """What was exported before the range is known in it."""
        whole = {each["frame"]: each for each in uerudp.decode("--content", CAPTURE, status=None)}
        for each in uerudp.decode("--content", "--from=1.0", CAPTURE, status=None):
            self.assertEqual(whole[each["frame"]], each)

    def test_same_as_a_part(self):
        """info of a range counts what info of the part counts that edit cuts out; of acks it knows more."""
        with tempfile.TemporaryDirectory() as folder:
            part = pathlib.Path(folder, "part.pcapng")
            for options in (("--from=0.4", "--to=1.5"), ("--from=frame:20",), ("--to=frame:40",)):
                uerudp.run("edit", *options, CAPTURE, part, status=None)
                generation = f"--generation={self.all[0]['generation'].split()[0]}"
                one, two = info(generation, *options), info(generation, path=part)
                for key in ("packets", "bytes", "reliable", "resends", "start", "duration_s"):
                    self.assertEqual(two[key], one[key], (options, key))

    def test_no_accusation_at_the_end_of_the_range(self):
        """A login that the range ends in did not stop."""
        conv = hello_sent().idle(15000)
        kinds = [each["kind"] for each in info("--to=frame:5", path="-", data=conv.capture())["findings"]]
        self.assertNotIn("login_stopped", kinds)

    def test_what_comes_after_the_range(self):
        """Packets that are reported after the range, and a bunch that arrives after it: the sentences are about the range."""
        with tempfile.TemporaryDirectory() as folder:
            scenario, path = (pathlib.Path(folder, name) for name in ("gap.ini", "gap.pcapng"))
            scenario.write_text("[scenario]\nbase=game\nduration=6\n[path client]\noutages=3-5\n")
            uerudp.run("generate", scenario, "--output", path, "--capture-at", "client", status=None)
            whole, part = (self.gaps(path, *options) for options in ([], ["--to=4.5"]))
        self.assertRegex(whole, r"then it reported \d+ packets of the client as not delivered$")
        self.assertRegex(part, r"; in what was analysed, the last \d+ packets of the client have no report$")
        path = uerudp.ROOT / "captures/head-of-line.pcapng"
        undelivered = [[each["text"] for each in info(*options, path=path)["findings"] if each["kind"] == "undelivered"]
                       for options in ([], ["--from=frame:33", "--to=frame:56"])]
        self.assertEqual([], undelivered[0])
        self.assertTrue(undelivered[1])
        for text in undelivered[1]:
            self.assertIn("before the end of the connection, or of what was analysed of it: ", text)

    def test_sentences(self):
        """What a range ends before may be in the capture: its sentences say what was analysed of it."""
        conv = hello_sent().idle(600)
        conv.idle(6000, sides=(CLIENT,))
        silent = len(conv.objects)
        conv.idle(300)
        conv.handshake((4,))
        restarting = len(conv.objects)
        conv.handshake((0, 1, 5, 3), restart=True)
        conv.idle(300)
        for bound, kind, text in ((1, "no_answer", "no answer of the server was analysed in this connection"),
                                  (4, "no_answer", "no packet of this connection was analysed after"),
                                  (silent, "silence", "no packet from the server was analysed in the last"),
                                  (silent - 30, "silence", "no packet from the server was analysed in the last"),
                                  (restarting + 1, "restart", "was not completed in what was analysed after it, 20 ms$")):
            with self.subTest(bound, kind=kind):
                part = info(f"--to=frame:{bound}", path="-", data=conv.capture())
                texts = [each["text"] for each in part["findings"] if each["kind"] == kind]
                self.assertRegex("\n".join(texts), text)
                self.assertNotIn("timeout", [each["kind"] for each in part["findings"]])
                self.assertEqual("none", part["closed_by"])
                self.assertNotIn("timeout", uerudp.run("info", f"--to=frame:{bound}", "-", data=conv.capture(), status=None)
                                 .stdout.decode().split("findings")[0])
        self.assertNotIn("timeout", [each["kind"] for each in info(path="-", data=conv.capture())["findings"]])
        del conv.objects[silent:]
        self.assertEqual("timeout", conv.info()["closed_by"])

    def test_timeout_in_a_part(self):
        """A side is gone only where the part reaches the end of the capture."""
        with tempfile.TemporaryDirectory() as folder:
            scenario, long, path = (pathlib.Path(folder, name) for name in ("o.ini", "long.pcapng", "o.pcapng"))
            scenario.write_text("[scenario]\nbase=game\nduration=16\n[path server]\noutages=3-14\n")
            uerudp.run("generate", scenario, "--output", long, status=None)
            uerudp.run("edit", "--to=10", long, path)
            last = len(traffic.read(path.read_bytes()))
            for capture, options, end in ((path, (), "timeout"), (path, ("--from=0",), "timeout"),
                                          (path, ("--to=frame:99999",), "timeout"), (path, (f"--to=frame:{last}",), "timeout"),
                                          (path, (f"--to=frame:{last - 1}",), "none"), (long, ("--to=10",), "none"),
                                          (long, ("--from=1", "--to=10"), "none"), (long, ("--from=1",), "client")):
                with self.subTest(capture.name, options=options):
                    part = info(*options, path=capture)
                    kinds = [each["kind"] for each in part["findings"] if each["frames"][:1] != [1]]
                    self.assertEqual(end, part["closed_by"])
                    self.assertEqual(end == "timeout", "timeout" in kinds)
                    self.assertEqual(end == "none", any(each["kind"] == "silence" and "was analysed in the last" in each["text"]
                                                        for each in part["findings"]))

    def test_words(self):
        """No sentence of a range says of the capture what holds for the range only."""
        for path in sorted((uerudp.ROOT / "captures").glob("*.pcapng")):
            count = len(traffic.read(path.read_bytes()))
            for bounds in (("--from=frame:9", ), (f"--to=frame:{count * 2 // 3}",), ("--from=frame:5", f"--to=frame:{max(5, count // 2)}")):
                output = uerudp.run("info", "--json", "--findings=1000", *bounds, path, status=None).stdout
                for each in (each for line in output.splitlines() for each in json.loads(line)["findings"]):
                    self.assertNotRegex(each["text"], r"(was|were) captured (in|of) this|not in the capture", (path, bounds))

    def gaps(self, path, *options):
        """The text of the gap between acks of the client's packets."""
        text, = (each["text"] for each in info(*options, path=path)["findings"]
                 if each["kind"] == "ack_gap" and each["direction"] == "c2s")
        return text

    def test_trace_and_replay(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.html")
            uerudp.run("trace", "--from=frame:10", "--to=frame:30", f"--output={page}", CAPTURE, status=None)
        lines = uerudp.run("replay", "--from=frame:10", "--to=frame:12", CAPTURE, status=None).stdout.decode()
        shown = {int(match[1]) for match in re.finditer(r"^ *(\d+) \d+\.\d+ stream", lines, re.MULTILINE)}
        self.assertEqual({10, 11, 12}, shown)
        self.assertEqual(0, uerudp.run("replay", "--check", "--from=frame:10", CAPTURE).returncode)

    def test_unusable(self):
        for text in ("", "x", "1s", "-1", "1:2:3", "24:00:00", "12:60:00", "12:00:60", "12:00", "frame:0", "frame:x", "1e3",
                     "2026-13-01T00:00:00Z", "0x10:00:00", "99999999999"):
            for command in ("decode", "info", "edit"):
                with self.subTest(command, text=text):
                    more = ("/dev/null",) if command == "edit" else ()
                    result = uerudp.run(command, f"--from={text}", CAPTURE, *more, status=2)
                    self.assertIn("from", result.stderr.decode())
        uerudp.run("edit", "--from=2", "--to=1", CAPTURE, "/dev/null", status=2)
        for options in (("--from=2", "--to=1"), ("--to=1", "--from=2"), ("--from=frame:1", "--to=frame:9", "--from=frame:10")):
            self.assertIn("--to is before --from", uerudp.run("decode", *options, CAPTURE, status=2).stderr.decode())
        self.assertEqual(list(range(5, 11)),
                         frames("--from=frame:20", "--to=frame:10", "--from=frame:5"))


if __name__ == "__main__":
    uerudp.main()
