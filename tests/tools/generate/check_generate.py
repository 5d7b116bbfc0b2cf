#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp generate: captures and their sidecars."""
import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import uerudp

ROOT = uerudp.ROOT
GENERATIONS = ("4.13", "4.14", "4.18", "4.19", "4.20", "4.22", "4.24", "4.25", "5.1", "5.4", "5.5", "5.8")
LINE = re.compile(r"^(\S+) +(\S.*)$", re.M)


def scenarios():
    return dict(LINE.findall(uerudp.run("generate", "--list").stdout.decode()))


def errors(*arguments):
    """The text of stderr for unusable arguments."""
    return uerudp.run("generate", *arguments, status=2).stderr.decode()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def generate(self, *arguments, name="a", status=0):
        """The capture's path and its sent.json."""
        path = self.folder / f"{name}.pcapng"
        uerudp.run("generate", *arguments, "--output", path, status=status)
        return path, json.loads((self.folder / f"{name}.sent.json").read_text())

    def comments(self, path):
        """Comments by frame number, read block by block."""
        data, at, frame, found = path.read_bytes(), 0, 0, {}
        while at < len(data):
            kind, length = (int.from_bytes(data[at + i:at + i + 4], "little") for i in (0, 4))
            if kind == 6:
                frame += 1
                captured = int.from_bytes(data[at + 20:at + 24], "little")
                option = at + 28 + (captured + 3) // 4 * 4
                if option < at + length - 4 and int.from_bytes(data[option:option + 2], "little") == 1:
                    size = int.from_bytes(data[option + 2:option + 4], "little")
                    found[frame] = data[option + 4:option + 4 + size].decode()
            at += length
        return found


    def read(self, command, *arguments):
        """The JSON Lines of a subcommand, whose exit status may be 1."""
        result = subprocess.run([uerudp.PROGRAM, command, "--json", *map(str, arguments)], capture_output=True,
                                timeout=60)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return result.stdout


class Files(Case):
    def test_every_scenario(self):
        """Each named scenario writes its capture and the files beside it."""
        for name, sentence in scenarios().items():
            self.assertGreater(len(sentence), 5)
            path, sent = self.generate(name, name=name)
            self.assertEqual((name, 1, "client"), (sent["scenario"], sent["seed"], sent["capture_point"]))
            decoded = self.read("decode", *(["--internal-ack=1"] if name == "demo" else []), path)
            self.assertEqual(decoded, path.with_suffix("").with_suffix(".expected.jsonl").read_bytes(), name)
            self.assertEqual(len(decoded.splitlines()), sum(sent["connections"][0]["packets"].values()))

    def test_determinism(self):
        """Equal seeds write equal files, different seeds different files."""
        for name in ("mixed", "corrupt"):
            first, second, third = (self.generate(name, "--duration=1", f"--seed={seed}", name=file)[0]
                                    for seed, file in ((5, "a"), (5, "b"), (6, "c")))
            for ending in (".pcapng", ".sent.json", ".expected.jsonl"):
                texts = [path.with_name(path.stem + ending).read_bytes() for path in (first, second, third)]
                self.assertEqual(texts[0], texts[1])
                self.assertNotEqual(texts[0], texts[2])

    def test_pipe(self):
        """Standard output gets the bytes of the capture file, with and without a sidecar."""
        path, _ = self.generate("mixed", "--duration=1")
        for arguments in (("--output", "-"), ()):
            self.assertEqual(path.read_bytes(), uerudp.run("generate", "mixed", "--duration=1", *arguments).stdout)
        bare = self.folder / "bare.pcapng"
        uerudp.run("generate", "mixed", "--duration=1", "--no-sidecar", "-o", bare)
        self.assertEqual(path.read_bytes(), bare.read_bytes())
        self.assertEqual({"a.pcapng", "a.sent.json", "a.expected.jsonl", "bare.pcapng"},
                         {file.name for file in self.folder.iterdir()})

    def test_help(self):
        """Its examples run, and the manual has every option."""
        text = uerudp.run("generate", "--help").stdout.decode()
        (self.folder / "uerudp").symlink_to(pathlib.Path(uerudp.PROGRAM).resolve())
        examples = re.findall(r"^  (uerudp generate .*)$", text.split("Examples:")[1], re.M)
        self.assertEqual(5, len(examples))
        for example in examples:
            result = subprocess.run(["bash", "-c", example], cwd=self.folder, capture_output=True, timeout=60,
                                    env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"})
            self.assertEqual(0, result.returncode, f"{example}\n{result.stderr.decode()}")
        manual = (ROOT / "docs/uerudp-generate.1").read_text().replace("\\-", "-")
        for option in re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.M):
            self.assertIn(option, manual)

    def test_unusable(self):
        self.assertIn("no scenario given", errors())
        self.assertIn("more than one scenario", errors("login", "mixed"))
        self.assertIn("neither a scenario nor a file", errors("nonsense"))
        self.assertIn("--generation=6.0", errors("login", "--generation=6.0"))
        self.assertIn("--capture-at=moon", errors("login", "--capture-at=moon"))
        self.assertIn("--seed=x", errors("login", "--seed=x"))
        self.assertIn("--connections=0", errors("login", "--connections=0"))
        self.assertIn("--tick=0", errors("login", "--tick=0"))
        self.assertIn("--duration=nan", errors("login", "--duration=nan"))
        self.assertIn("restart handshake", errors("restart", "--generation=4.20"))
        for option, value in (("loss", 2), ("loss-burst", -2), ("delay", 1e9), ("jitter", -5), ("reorder", "1.5"),
                              ("dup", 7), ("corrupt", 2), ("rate", 1e13), ("queue", 1e10), ("loss", -1),
                              ("delay", -1), ("rate", -1), ("duration", -1), ("tick", -1)):
            self.assertIn(f"--{option}=", errors("login", f"--{option}={value}"))
        self.assertIn("--loss-burst=0.5", errors("login", "--loss=0.1", "--loss-burst=0.5"))
        self.assertIn("--queue has no effect without --rate", errors("login", "--queue=1000"))
        self.assertIn("--loss-burst has no effect without --loss", errors("login", "--loss-burst=3"))
        self.assertIn("only --delay applies", errors("demo", "--loss=0.1"))
        self.assertIn("the login of 4.13 has no encryption token", errors("game", "--encrypt", "--generation=4.13"))
        self.assertIn("--magic-bits=33: use a number from 0 to 32", errors("login", "--magic-bits=33"))
        self.assertIn("--handlers=foo: use names separated by commas: oodle", errors("login", "--handlers=foo"))

    def test_unwritable(self):
        """No file remains, and an existing file is not changed."""
        self.assertIn("No such file", errors("login", "-o", self.folder / "none/a.pcapng"))
        if os.path.exists("/dev/full"):
            self.assertIn("cannot write", errors("login", "-o", "/dev/full", "--no-sidecar"))
        (self.folder / "a.sent.json").mkdir()
        errors("login", "-o", self.folder / "a.pcapng")
        self.assertEqual({"a.pcapng", "a.sent.json"}, {file.name for file in self.folder.iterdir()})

    def test_device(self):
        """A device or pipe has no files beside it."""
        pipe = self.folder / "a.pcapng"
        os.mkfifo(pipe)
        with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
            uerudp.run("generate", "login", "-o", pipe)
            self.assertEqual(uerudp.run("generate", "login", "-o", "-").stdout, reader.communicate()[0])
        self.assertEqual([pipe], list(self.folder.iterdir()))


class Truth(Case):
    """The sidecar agrees with itself and with the decode."""

    def check_datagrams(self, path, sent):
        decoded = {datagram["frame"]: datagram for datagram in
                   map(json.loads, path.with_suffix("").with_suffix(".expected.jsonl").read_text().splitlines())}
        framed = [datagram for datagram in sent["datagrams"] if datagram["frame"] is not None]
        for datagram in framed:
            shown = decoded[datagram["frame"]]
            self.assertEqual(datagram["length"], shown["length"])
            self.assertEqual(datagram["stream"], shown["stream"])
            if datagram["packet_id"] is not None and "packet" in shown:
                self.assertEqual(datagram["packet_id"] % 16384, shown["packet"]["seq"])
        copies = sum(max(0, len(datagram["arrived"]) - 1) for datagram in sent["datagrams"])
        self.assertLessEqual(len(framed), len(decoded))
        self.assertLessEqual(len(decoded) - len(framed), copies)

    def check_figures(self, sent):
        for connection in sent["connections"]:
            mine = [datagram for datagram in sent["datagrams"] if datagram["stream"] == connection["stream"]]
            for direction in ("c2s", "s2c"):
                packets = [d for d in mine if d["dir"] == direction and d["packet_id"] is not None]
                seen = max(d["packet_id"] for d in packets if d["frame"] is not None)
                missing = sum(d["frame"] is None and d["packet_id"] < seen for d in packets)
                hidden = missing == 0 and connection["not_acked"][direction] > 0
                self.assertEqual(None if hidden else missing, connection["lost"][direction])
                ids = [d["packet_id"] for d in packets]
                self.assertEqual(list(range(ids[0], ids[0] + len(ids))), ids)

    def check_messages(self, sent):
        numbers = collections.Counter()
        for message in sent["messages"]:
            lane = (message["stream"], message["from"], message["channel"], message["reliable"])
            self.assertEqual(numbers[lane], message["number"])
            numbers[lane] += 1
            self.assertTrue(message["delivered"] is not None or not message["reliable"])
            self.assertLess(int(message["sent"]), int(message["delivered"] or 1 << 63))
            self.assertLessEqual(message["packets"][0], message["packets"][1])
        self.assertGreater(len(numbers), 1)

    def test_points_and_generations(self):
        for point in ("client", "server", "sender"):
            for generation in GENERATIONS:
                path, sent = self.generate("mixed", "--duration=1", "--generation", generation, "--capture-at", point)
                self.assertEqual(generation, sent["generation"])
                self.check_datagrams(path, sent)
                self.check_figures(sent)
                self.check_messages(sent)

    def test_datagrams_by_capture_point(self):
        """A capture at the sender has every datagram in the order of sending, a capture at the receiver those that arrived."""
        for point, whole in (("client", ["c2s"]), ("server", ["s2c"]), ("sender", ["c2s", "s2c"])):
            _, sent = self.generate("lossy", "--duration=2", "--capture-at", point)
            for direction in ("c2s", "s2c"):
                lost = [d for d in sent["datagrams"] if d["dir"] == direction and "lost" in d["fate"]]
                self.assertGreater(len(lost), 0)
                self.assertEqual(direction in whole, all(d["frame"] is not None for d in lost))

    def test_both(self):
        """One command writes the captures of two, with their sidecars."""
        arguments = ("login-lossy", "--connections=2", "--duration=2", "--seed=7")
        for point in ("client", "server"):
            self.generate(*arguments, "--capture-at", point, name=f"one-{point}")
        uerudp.run("generate", *arguments, "--capture-at=both", "--output", self.folder / "two.pcapng")
        uerudp.run("generate", *arguments, "--capture-at=both", "--no-sidecar", "--output", self.folder / "bare")
        for point in ("client", "server"):
            for ending in ("pcapng", "sent.json", "expected.jsonl"):
                self.assertEqual((self.folder / f"one-{point}.{ending}").read_bytes(),
                                 (self.folder / f"two-{point}.{ending}").read_bytes(), (point, ending))
            self.assertEqual((self.folder / f"one-{point}.pcapng").read_bytes(), (self.folder / f"bare-{point}.pcapng").read_bytes())
        names = {path.name for path in self.folder.iterdir()}
        self.assertFalse({"two.pcapng", "bare", "bare-client.sent.json"} & names, names)
        self.assertIn("requires --output", errors("login", "--capture-at=both"))
        self.assertIn("requires --output", errors("login", "--capture-at=both", "--output=-"))
        self.assertIn("--fuzz", errors("login", "--capture-at=both", "--fuzz", "--output", self.folder / "no.pcapng"))

    def peak(self, generation, server="", client=""):
        """The reliable peak of a server that writes three bunches every 100 ms, one more in the first packet and fifteen
        in all. The client acknowledges them within 50 ms; `server` and `client` are keys of the paths from there."""
        text = ("[scenario]\nduration=1\n[client]\ntick=100\n[server]\ntick=10\n"
                f"[path client]\ndelay=10\n{client}\n[path server]\ndelay=10\n{server}\n"
                "[stream calls]\nfrom=server\nchannel=3\nchannels=1\nreliable=true\nburst=3\n"
                "every=1\nbits=64-64\ntotal=15\n")
        path = self.folder / "calls.ini"
        path.write_text(text)
        _, sent = self.generate(path, "--generation", generation)
        peaks = {each["channel"]: each["bunches"] for each in sent["connections"][0]["reliable_peak"]["s2c"]}
        return peaks[3]

    def test_reliable_peak(self):
        """The peak is the span from the oldest unacknowledged bunch to the newest, not their number: when packet 2 is
        acknowledged and packet 1 is retransmitted in packet 3, none of the ten bunches is released."""
        for generation in GENERATIONS:
            self.assertEqual(4, self.peak(generation))
            self.assertEqual(10, self.peak(generation, server="mask=x"))
            self.assertEqual(16, self.peak(generation, client="outages=0.02-0.9"))

    def test_reliable_peak_of_every_point(self):
        """The reliable peak is a figure of the sender, whatever the capture shows."""
        points = [self.generate("lossy", "--duration=2", "--capture-at", point)[1]["connections"][0]["reliable_peak"]
                  for point in ("client", "server", "sender")]
        self.assertEqual(points[0], points[1])
        self.assertEqual(points[0], points[2])

    def test_no_datagram_is_empty(self):
        """The oldest handshake has no Ack message."""
        for generation in ("4.13", "4.14"):
            _, sent = self.generate("login", "--generation", generation)
            self.assertGreater(min(datagram["length"] for datagram in sent["datagrams"]), 0)

    def test_endings(self):
        for name, who in (("login", "client"), ("kick", "server"), ("timeout", "timeout"), ("refused", "server"),
                          ("upgrade", "server"), ("clean", "none")):
            path, sent = self.generate(name)
            self.assertEqual(who, sent["connections"][0]["closed_by"])
            text = path.with_suffix("").with_suffix(".expected.jsonl").read_text()
            self.assertEqual(name == "refused", '"failure":{' in text)
            self.assertEqual(name == "upgrade", '"upgrade":{' in text)

    def test_ended_before_the_join(self):
        """Exit status 1 with a capture and to a pipe, and nobody told a close; a run that is long enough joins."""
        for arguments, packets in ((("game", "--duration=0.1"), 0), (("beacon", "--loss=0.3"), 0)):
            path = self.folder / "early.pcapng"
            for output in (path, "-"):
                result = uerudp.run("generate", *arguments, "-o", output, status=1)
                self.assertIn("ended before the client had joined", result.stderr.decode())
            sent = json.loads(path.with_suffix(".sent.json").read_text())
            self.assertEqual(packets, sum(datagram["packet_id"] is not None for datagram in sent["datagrams"]))
            self.assertEqual("none", sent["connections"][0]["closed_by"])
        self.assertEqual("client", self.generate("game", "--duration=0.5")[1]["connections"][0]["closed_by"])

    def test_close_reasons(self):
        path, _ = self.generate("close-reasons")
        bunches = [bunch for datagram in uerudp.decode(path) for bunch in datagram.get("bunches", ())]
        self.assertEqual(set(range(6)), {bunch["close_reason"] for bunch in bunches if bunch.get("close")})

    def test_restart(self):
        path, sent = self.generate("restart")
        ports = {datagram["src"] for datagram in uerudp.decode(path)} - {sent["connections"][0]["server"]}
        self.assertEqual({"198.51.100.1:50000", "198.51.100.1:60000"}, ports)
        kinds = [datagram["handshake"]["type"] for datagram in uerudp.decode(path) if datagram["is_handshake"]]
        self.assertEqual([0, 1, 2, 3, 4, 0, 1, 5, 3], kinds)
        self.assertEqual(("client", "198.51.100.1:60000"),
                         (sent["connections"][0]["closed_by"], sent["connections"][0]["client"]))

    def test_connections(self):
        path, sent = self.generate("mixed", "--duration=1", "--connections=5", "--delay=20", "--reorder=0")
        clients = [connection["client"] for connection in sorted(sent["connections"], key=lambda c: c["stream"])]
        self.assertEqual(5, len(set(clients)))
        decoded = uerudp.decode(path)
        self.assertEqual(sorted(int(d["time"]) for d in decoded), [int(d["time"]) for d in decoded])
        self.check_datagrams(path, sent)
        self.check_figures(sent)
        self.assertEqual(set(range(5)), {d["stream"] for d in sent["datagrams"]})


class Network(Case):
    def events(self, *arguments):
        path, sent = self.generate("stream", "--duration=2", *arguments)
        return path, collections.Counter(fate for datagram in sent["datagrams"] for fate in datagram["fate"]), sent

    def test_options(self):
        """Each option of the network has its effect."""
        _, events, sent = self.events()
        self.assertEqual({"arrived"}, set(events))
        rtt = sent["connections"][0]["rtt_ms"]["p50"]
        self.assertLess(rtt + 150, self.events("--delay=100")[2]["connections"][0]["rtt_ms"]["p50"])
        self.assertLess(rtt, self.events("--jitter=60")[2]["connections"][0]["rtt_ms"]["p50"])
        self.assertGreater(self.events("--loss=0.2")[1]["lost"], 20)
        self.assertGreater(self.events("--dup=0.2")[1]["duplicated"], 20)
        self.assertGreater(self.events("--reorder=0.2")[1]["put_aside"], 20)
        self.assertGreater(self.events("--rate=5000", "--queue=2000")[1]["overflowed"], 5)

    def test_path_of_one_side(self):
        """The queue and the bursts of losses need a path with a rate or with loss, which may be one side's alone."""
        overflowed = [sum("overflowed" in datagram["fate"] for datagram in self.generate("overload", *options)[1]["datagrams"])
                      for options in ((), ("--queue=16000",), ("--queue=1000000",))]
        self.assertEqual(sorted(set(overflowed), reverse=True), overflowed)
        self.assertIn("--queue has no effect without --rate", errors("overload", "--rate=0", "--queue=16000"))
        scenario = self.folder / "scenario.ini"
        scenario.write_text("[scenario]\nbase=stream\n[path server]\nloss=0.1\n")
        _, sent = self.generate(scenario, "--loss-burst=3")
        self.assertEqual({"s2c"}, {datagram["dir"] for datagram in sent["datagrams"] if "lost" in datagram["fate"]})
        self.assertIn("--loss-burst has no effect without --loss", errors(scenario, "--loss=0", "--loss-burst=3"))

    def test_tick(self):
        """A lower tick rate sends fewer datagrams."""
        seldom, often = (len(self.generate("stream", f"--tick={hz}")[1]["datagrams"]) for hz in (10, 60))
        self.assertLess(seldom * 4, often)

    def test_bursts(self):
        def runs(*arguments):
            _, _, sent = self.events("--loss=0.2", *arguments)
            lost = "".join("x" if "lost" in d["fate"] else "-" for d in sent["datagrams"] if d["dir"] == "c2s")
            found = re.findall("x+", lost)
            return sum(map(len, found)) / len(found)
        self.assertGreater(runs("--loss-burst=6"), 2 * runs())

    def test_comments(self):
        for point, phrases in (("client", ("lost after this point", "duplicate", "late by")),
                               ("sender", ("lost after this point", "duplicated after this point", "overtaken"))):
            path, sent = self.generate("stream", "--loss=0.05", "--dup=0.05", "--reorder=0.05", "--jitter=20",
                                       "--capture-at", point)
            comments = self.comments(path)
            for phrase in phrases:
                self.assertTrue(any(phrase in comment for comment in comments.values()), phrase)
            for datagram in sent["datagrams"]:
                if datagram["frame"] is not None and datagram["fate"] == ["lost"]:
                    self.assertEqual("lost after this point", comments[datagram["frame"]])
        self.assertEqual({}, self.comments(self.generate("stream")[0]))

    def test_corruption(self):
        """The comment names the first corrupted bit."""
        path, sent = self.generate("corrupt", "--duration=2", "--seed=3", "--corrupt=0.1")
        flipped = [comment for comment in self.comments(path).values() if comment.startswith("corrupted at bit")]
        self.assertGreater(len(flipped), 0)
        self.assertEqual(1, len({sent["scenario"], "corrupt"}))


class ScenarioFile(Case):
    """Scenario files; the manual has an example."""

    def write(self, text):
        path = self.folder / "scenario.ini"
        path.write_text(text)
        return path

    def complaint(self, text):
        text = errors(self.write(text))
        self.assertTrue(text.startswith("uerudp: "), text)
        return text

    def test_example_of_the_manual(self):
        manual = (ROOT / "docs/uerudp-generate.1").read_text().replace("\\-", "-")
        text = re.search(r"^\[scenario\]\n.*?(?=\.RE)", manual, re.M | re.S).group(0)
        _, sent = self.generate(self.write(text))
        self.assertEqual(("4.22", "client"), (sent["generation"], sent["connections"][0]["closed_by"]))
        lost = collections.Counter(d["dir"] for d in sent["datagrams"] if "lost" in d["fate"])
        self.assertGreater(lost["s2c"], 5)
        self.assertEqual({("client", False), ("server", True)},
                         {(m["from"], m["reliable"]) for m in sent["messages"]})

    def test_base(self):
        """A file may change a named scenario, and options change the scenario of a file."""
        text = "[scenario]\nbase=login\nname=mine\n[path client]\nmask=--x\n"
        _, sent = self.generate(self.write(text), "--generation=5.1", "--duration=1.5")
        self.assertEqual(("mine", "5.1"), (sent["scenario"], sent["generation"]))
        self.assertEqual([2], [i for i, d in enumerate(d for d in sent["datagrams"] if d["dir"] == "c2s")
                               if "lost" in d["fate"]])

    def test_every_key(self):
        """Each key of the manual is accepted, and no other key."""
        sides = ("generation=5.4", "tick=30", "first-seq=16383", "reliable-buffer=300", "net-speed=50000",
                 "no-order-cache=true", "long-frame-every=9", "long-frame=2", "tail-probe=true", "tail-probe-data=true", "quiet=true", "send-window=true",
                 "burst-limit=8", "pacing=true", "reorder-wait=5", "resend-close=true", "strict-client=true",
                 "strict-header=true", "prompt-acks=true", "repeat-reliable=true", "repeat-ticks=2", "PktLoss=1", "PktLag=5")
        paths = ("mask=----x", "outages=0.3-0.4;0.5-0.6", "loss=0.01", "burst=2", "loss-min-bytes=10",
                 "loss-max-bytes=900", "loss-from=0.1", "corrupt=0", "corrupt-from=1", "corrupt-skip-bytes=2",
                 "dup=0.01", "shuffle=false", "reorder=0.01", "rate=100000", "queue=20000", "delay=10",
                 "jitter=2", "bloat=0")
        streams = ("from=server", "channel=3", "channels=2", "reliable=true", "merge=true", "hasty=false", "every=2",
                   "burst=2", "bits=10-300", "total=20", "close-after=5", "close-reason=relevancy", "voice=false", "talkers=0")
        scenario = ("name=all", "handshake=false", "login=false", "encrypt=false", "frame-time=true", "compress=false", "game=false", "ships=0", "crates=0",
                    "lamps=0", "crate-ticks=0", "hit-ticks=0", "news-ticks=0", "horn-ticks=0", "fire-ticks=0", "driver=game", "hostile=false",
                    "duration=1", "patience=20", "ending=quiet", "timeout=30", "move=0")
        sections = {"scenario": scenario, "client": sides, "server": sides, "path client": paths, "path server": paths,
                    "stream x": streams}
        text = "".join(f"[{name}]\n" + "\n".join(keys) + "\n" for name, keys in sections.items())
        self.generate(self.write(text))
        manual = (ROOT / "docs/uerudp-generate.1").read_text().replace("\\-", "-")
        for name, keys in sections.items():
            for key in (key.split("=")[0] for key in keys):
                self.assertRegex(manual, rf"\b{key}\b")
                if key not in ("name", "mask"): # any text is valid
                    self.assertIn(f"[{name}] {key}=?: invalid value", self.complaint(f"[{name}]\n{key}=?\n"))

    def test_complaints(self):
        self.assertIn("no such key", self.complaint("[client]\nPktLos=1\n"))
        self.assertIn("PktLoss=101: invalid value", self.complaint("[client]\nPktLoss=101\n"))
        self.assertIn("base=none", self.complaint("[scenario]\nbase=none\n"))
        self.assertIn("[paths]", self.complaint("[paths]\nloss=1\n"))
        self.assertIn("move: needs", self.complaint("[scenario]\nmove=1\n"))
        self.assertIn("login=true", self.complaint("[scenario]\nending=failure\n"))
        for stream, why in (("channel=1", "channel"), ("channel=2", "bits: missing"), ("channel=2\nbits=8", "needs 64"),
                            ("channel=2\nbits=64\nclose-after=1", "close-after"), ("channel=1024\nbits=64", "channel"), ("channel=2\nvoice=true\nbits=64", "1 for voice"),
                            ("channel=1\nvoice=true\nbits=65", "whole bytes")):
            self.assertIn(why, self.complaint(f"[stream a]\nfrom=client\nevery=1\n{stream}\n"))
        for cast, why in (("ships=17", "up to 16 ships"), ("crates=1", "at least 1"), ("crate-ticks=9", "at least 10")):
            self.assertIn(why, self.complaint(f"[scenario]\ngame=true\n{cast}\n"))
        for cast in ("ships=2", "crate-ticks=20"):
            self.assertIn("only with game=true", self.complaint(f"[scenario]\n{cast}\n"))
        self.assertIn("no streams", self.complaint("[scenario]\ngame=true\n[stream a]\nfrom=server\nchannel=2\nevery=1\nbits=64\n"))
        self.assertIn("streams", self.complaint("".join(f"[stream {i}]\nevery=0\n" for i in range(9))))
        self.assertIn("outages=3", self.complaint("[path client]\noutages=3\n"))
        self.assertIn("scenario.ini", self.complaint("loss=1\n"))
        (self.folder / "scenario.ini").write_bytes(bytes(range(256)) * 100)
        self.assertIn("scenario.ini", errors(self.folder / "scenario.ini"))
        self.assertIn(str(self.folder), errors(self.folder))


class Info(Case):
    """The figures of info are the figures of the simulator."""

    def check_losses(self, wanted, info, where):
        """Up to 4.21 a capture does not show for every ack whether it arrived; info counts the unknown acks."""
        for way in ("c2s", "s2c"):
            least, unsure = info["not_acked"][way], info["not_acked_unsure"][way]
            self.assertTrue(least <= wanted["not_acked"][way] <= least + unsure, where)
            self.assertTrue(unsure == 0 or (wanted["generation"] < "4.22" and "'--loss=0'" not in where), where)
            if wanted["not_acked"][way] == 0 or least > 0:  # else no loss is certain that could be behind the capture point
                self.assertEqual(wanted["lost"][way], info["lost"][way], where)

    def compare(self, generation, point, *arguments):
        path, sent = self.generate(*arguments, "--generation", generation, "--capture-at", point)
        infos = [json.loads(line) for line in self.read("info", path).splitlines()]
        self.assertEqual(len(sent["connections"]), len(infos))
        for wanted, info in zip(sorted(sent["connections"], key=lambda c: c["stream"]), infos):
            where = f"{arguments} {generation} {point} stream {wanted['stream']}"
            for key in ("stream", "client", "server", "packets", "bytes", "resends", "closed_by"):
                self.assertEqual(wanted[key], info[key], f"{where}: {key}")
            self.check_losses(wanted, info, where)
            for key, rtt in (wanted["rtt_ms"] or {}).items():
                self.assertLess(abs(info["rtt_ms"][key] - rtt), rtt / 100, f"{where}: {key}")
        return wanted, info

    def test_generations(self):
        for generation in GENERATIONS:
            for point in ("client", "server", "sender"):
                self.compare(generation, point, "loss-burst", "--duration=3")

    def test_scenarios(self):
        for name in ("login", "mixed", "game", "big-bunch", "voice", "overload", "kick", "refused", "upgrade",
                     "close-reasons", "handshake", "login-lossy"):
            for seed in (1, 2):
                self.compare("5.5", "client", name, f"--seed={seed}")
        for generation in ("4.22", "4.24", "4.25", "5.1", "5.4", "5.5", "5.8"):
            self.compare(generation, "client", "restart")

    def test_timeout(self):
        """From 5.1 on the side that times out sends a close reason. Before, only the sidecar has the timeout."""
        for generation in ("5.1", "5.4", "5.5", "5.8"):
            for point in ("client", "server", "sender"):
                self.compare(generation, point, "timeout")

    def test_bad_networks(self):
        """Packet ids begin anywhere, histories overflow, and datagrams are reordered."""
        self.compare("5.5", "server", "shuffle", "--seed=1")
        self.compare("5.8", "client", "bulk", "--seed=2")
        for name in ("lossy", "jitter", "reorder", "burst", "duplicate"):
            self.compare("4.22", "sender", name)

    def test_before_the_generation_is_known(self):
        """Packets count that were decoded as another generation at first: packets after packet 0 are missing."""
        for generation in ("4.20", "4.22", "5.4", "5.5", "5.8"):
            self.compare(generation, "server", "stream", "--duration=2", "--loss=0.1", "--seed=3")

    def test_lost_acks(self):
        """Up to 4.21 acks are lost. Most are known; the unknown ones follow gaps of the capture."""
        for generation, point, loss, seed, unknown in (("4.13", "server", 0.02, 3, 0), ("4.18", "server", 0.1, 2, 3),
                                                       ("4.20", "client", 0.1, 3, 1), ("4.18", "sender", 0.1, 4, 0)):
            arguments = ("stream", f"--loss={loss}", f"--seed={seed}", "--duration=3")
            wanted, info = self.compare(generation, point, *arguments)
            self.assertEqual(unknown, wanted["not_acked"]["s2c"] - info["not_acked"]["s2c"], arguments)

    def test_acks_of_unsent_packets(self):
        """A damaged packet id is acknowledged; a sender that never sent it ignores the ack and the naks before it."""
        path, sent = self.generate(ROOT / "captures/play.ini", "--corrupt=0.06", "--seed=70")
        wanted, = sent["connections"]
        info = json.loads(self.read("info", path))
        self.check_losses(wanted, info, path)
        self.assertEqual({"c2s": 0, "s2c": 0}, info["not_acked"])

    def test_clean(self):
        """Without loss, all acks of old generations arrive."""
        for generation in ("4.13", "4.18", "4.20"):
            self.compare(generation, "client", "login", "--loss=0")

    def test_connections(self):
        self.compare("5.5", "server", "mixed", "--connections=4", "--duration=2")


class Replay(Case):
    """replay --check finds no difference in a clean run."""

    def test_clean(self):
        for generation in GENERATIONS:
            for name in ("login", "voice", "kick", "big-bunch"):
                path = self.folder / "a.pcapng"
                uerudp.run("generate", name, "--loss=0", "--generation", generation, "--no-sidecar", "-o", path)
                output = uerudp.run("replay", "--check", path).stdout.decode()
                self.assertIn("no difference", output)


class Fuzz(Case):
    def test_fuzz(self):
        """About half of the datagrams are corrupted; the comment names the field, and decode survives all of them."""
        path = self.folder / "a.pcapng"
        for generation in GENERATIONS:
            output = uerudp.run("generate", "login", "--fuzz", "--generation", generation, "-o", path).stderr.decode()
            damaged, total = map(int, re.search(r"seed 1, (\d+) of (\d+) datagrams", output).groups())
            comments = [text for text in self.comments(path).values() if text.startswith("fuzz: ")]
            self.assertEqual(damaged, len(comments))
            self.assertTrue(total / 4 < damaged < total * 3 / 4)
            for text in comments:
                self.assertRegex(text, r"^fuzz: [a-z_.]+ at bit \d+, \d+ bits: \S")
            self.assertEqual(total, len(self.read("decode", "--generation", generation, path).splitlines()))

    def test_seed(self):
        texts = []
        for seed in (1, 1, 2):
            texts.append(uerudp.run("generate", "login", "--fuzz", f"--seed={seed}").stdout)
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])


if __name__ == "__main__":
    uerudp.main()
