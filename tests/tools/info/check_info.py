#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp info: figures, text, options, unusable input."""
import json
import pathlib
import random
import re
import tempfile
import unittest
import xml.etree.ElementTree

import blocks
import uerudp
from conversation import CLIENT, SERVER, Conversation

GOLDEN = pathlib.Path(__file__).with_name("info.txt")
WAYS = ("c2s", "s2c")


def login():
    """A short connection with a login, a lost bunch, a channel that closes, and a close of the connection."""
    conv = Conversation()
    conv.handshake()
    conv.send(CLIENT, conv.reliable(CLIENT, 0, open=True, messages=[{"hello": {"network_version": 0x1234}}]))
    conv.wait(50).send_message(SERVER, "challenge", text="ABCD")
    conv.wait(50).send_message(CLIENT, "login", url="/Game/Maps/M?Name=Ada?Token=secret", platform="NULL")
    conv.wait(50).send_message(SERVER, "welcome", map="/Game/Maps/M", game="/Script/M.Mode")
    conv.wait(50).send_message(CLIENT, "netspeed", rate=100000)
    conv.send_message(CLIENT, "join")
    conv.idle(100)
    opening = conv.reliable(SERVER, 3, open=True)
    conv.send(SERVER, opening, arrives=False)
    conv.idle(250)
    conv.send(SERVER, opening)
    conv.idle(200)
    conv.send(SERVER, conv.reliable(SERVER, 3, close=True, close_reason=1, data=""))
    conv.idle(150)
    conv.send(CLIENT, conv.reliable(CLIENT, 0, messages=[{"close_reason": {"text": "Disconnect"}}]),
              conv.reliable(CLIENT, 0, close=True, data=""))
    return conv


def random_conversation(seed):
    """A conversation with losses, captured at the senders. Returns it with the lost packets and retransmissions of each side."""
    rng = random.Random(seed)
    conv = Conversation(generation=rng.choice(["4.25", "5.1"]), latency=rng.randrange(5, 60))
    conv.handshake()
    conv.send(CLIENT, conv.reliable(CLIENT, 0, open=True, messages=[{"hello": {}}]))
    pending, resends = [[], []], [0, 0]
    lost = [set(), set()]
    for _ in range(300):
        side = rng.randrange(2)
        again = [bunch for bunch in pending[side] if rng.random() < 0.3]
        fresh = [conv.reliable(side, rng.randrange(3, 6)) for _ in range(rng.randrange(3))]
        arrives = rng.random() < 0.9
        if not arrives:
            lost[side].add(conv.next_id[side])
        conv.send(side, *again, *fresh, arrives=arrives)
        pending[side] = [b for b in pending[side] if b not in again] + ([] if arrives else again + fresh)
        resends[side] += len(again)
        conv.wait(rng.randrange(1, 40))
    conv.wait(300)
    for side in (CLIENT, SERVER, CLIENT):
        conv.send(side)
        conv.wait(300)
    return conv, [len(packets) for packets in lost], resends


class Figures(unittest.TestCase):
    def test_login(self):
        connection = login().info(status=0)
        self.assertEqual([1, 0, "10.0.0.1:50000", "10.0.0.2:7777", "5.1", "client"],
                         [connection[key] for key in ("schema", "stream", "client", "server", "generation", "closed_by")])
        steps = [(step["from"], step["name"]) for step in connection["story"]]
        self.assertEqual([("client", "Initial"), ("server", "Challenge"), ("client", "Response"), ("server", "Ack"),
                          ("client", "Hello"), ("server", "Challenge"), ("client", "Login"), ("server", "Welcome"),
                          ("client", "Netspeed"), ("client", "Join"), ("client", "CloseReason")], steps)
        self.assertNotIn("secret", json.dumps(connection))
        self.assertNotIn("Ada", json.dumps(connection))
        self.assertEqual(100000, connection["agreed_bytes_per_s"])
        self.assertEqual(40.0, connection["handshake_rtt_ms"])
        control, actor = connection["channels"]
        self.assertEqual([0, "Control", 3, "Actor"], [control["channel"], control["name"], actor["channel"], actor["name"]])
        self.assertEqual([1, 1, "Dormancy", {"c2s": 0, "s2c": 1}],
                         [actor[key] for key in ("opens", "closes", "close_reason", "resends")])
        self.assertEqual(actor["bits"], {"c2s": 0, "s2c": 64})

    def test_random_losses(self):
        for seed in range(12):
            conv, lost, resends = random_conversation(seed)
            connection = conv.info()
            self.assertEqual(dict(zip(WAYS, lost)), connection["not_acked"], seed)
            self.assertEqual(dict(zip(WAYS, resends)), connection["resends"], seed)
            self.assertEqual(dict(zip(WAYS, [None if n else 0 for n in lost])), connection["lost"], seed)

    def test_capture_at_the_receiver(self):
        """In a capture at the receiver, lost packets are missing."""
        conv = Conversation()
        conv.handshake()
        conv.idle(500)
        for _ in range(5):
            conv.send(SERVER, arrives=False, captured=False)
            conv.idle(100)
        connection = conv.info()
        self.assertEqual({"c2s": 0, "s2c": 5}, connection["lost"])
        self.assertEqual({"c2s": 0, "s2c": 5}, connection["not_acked"])

    def test_round_trips(self):
        """With a packet every 50 ms and a latency of 20 ms, acks come 50 ms after their packets, at both ends."""
        conv = Conversation()
        conv.handshake()
        times = conv.idle(2000).info()["rtt_ms"]
        for key in ("p50", "p90", "p99", "min", "max"):
            self.assertAlmostEqual(100, times[key], delta=1)

    def test_jitter(self):
        conv = Conversation()
        conv.handshake()
        for number in range(400):
            conv.send(SERVER, has_info=True, jitter_ms=int(conv.now + 10 * (number % 2)) % 1000)
            conv.send(CLIENT, has_info=True, jitter_ms=int(conv.now) % 1000)
            conv.wait(33)
        jitter = conv.info()["jitter_ms"]
        self.assertAlmostEqual(10, jitter["s2c"], delta=0.01)
        self.assertAlmostEqual(0, jitter["c2s"], delta=0.01)

    def test_frame_time_of_legacy(self):
        datagrams = [{"generation": "4.18", "direction": 1 + number % 2, "packet": {"seq": number // 2},
                      "items": [{"is_ack": True, "ack_id": max(0, (number - 1) // 2), "has_frame_time": True,
                                 **({"frame_time_ms": 33} if number % 2 else {})},
                                {"channel": 4, "reliable": True, "ch_type": 2, "ch_seq": number // 2 + 1, "data": "0102"}]}
                     for number in range(40)]
        capture = uerudp.run("encode", data="\n".join(map(json.dumps, datagrams)).encode()).stdout
        output = uerudp.run("info", "--json", "--generation=4.18", "-", data=capture, status=None).stdout
        self.assertEqual(33, json.loads(output)["server_frame_time_ms"]["p50"])

    def test_channels_named_by_text(self):
        conv = Conversation(generation="5.5")
        conv.handshake()
        bunch = conv.reliable(SERVER, 7, open=True)
        del bunch["name_index"]
        conv.send(SERVER, {**bunch, "name_hardcoded": False, "name_text": "Weather" + "é" * 20})
        channel, = conv.idle(100).info()["channels"]
        self.assertEqual("Weather" + "é" * 8, channel["name"])

    def test_channel_names_with_a_suffix(self):
        """The number is that of the suffix plus 1; a suffix makes it a name of a game's own kind of channel."""
        conv = Conversation(generation="5.5")
        conv.handshake()
        for channel, number in ((7, 0), (8, 5)):
            bunch = conv.reliable(SERVER, channel, open=True)
            del bunch["name_index"]
            conv.send(SERVER, {**bunch, "name_hardcoded": False, "name_text": "Actor", "name_number": number})
        self.assertEqual({7: "Actor", 8: "Actor_4"},
                         {channel["channel"]: channel["name"] for channel in conv.idle(100).info()["channels"]})
        contents = uerudp.run("decode", "--content", "-", data=conv.capture()).stdout.decode()
        self.assertEqual(1, len(re.findall(r"^ +Actor$", contents, re.MULTILINE)), contents)
        self.assertEqual(["7 Actor", "8 Actor_4"], re.findall(r"Bunch \d+: channel (\d+ \w+), open", contents))

    def test_close_reasons_without_a_name(self):
        conv = login()
        for channel, reason in ((4, 1), (5, 11), (6, 13)):
            conv.send(SERVER, conv.reliable(SERVER, channel, open=True))
            conv.send(SERVER, conv.reliable(SERVER, channel, close=True, close_reason=reason, data=""))
        text = uerudp.run("info", "-", data=conv.capture(), status=None).stdout.decode()
        self.assertIn("closed in all: 1 Destroyed, 2 Dormancy, 2 for other reasons\n", text)

    def test_interface(self):
        """The name of the interface is escaped and has a bounded length."""
        data = login().capture()
        self.assertIsNone(json.loads(uerudp.run("info", "--json", "-", data=data).stdout)["interface"])
        for name, in_json, in_text in ((b"client side", "client side", "client side"), (b"\x1b[2J\xff", "\x1b[2J\ufffd", "\\x1b[2J\ufffd"),
                                  (b"x" * 1000, "x" * 63, "x" * 63)):
            opts = blocks.options("<", (2, name), (blocks.TSRESOL, b"\x09"))
            named = b"".join(blocks.interface(opts=opts) if kind == blocks.INTERFACE else raw
                             for kind, _, raw in blocks.split(data))
            self.assertEqual(in_json, json.loads(uerudp.run("info", "--json", "-", data=named).stdout)["interface"])
            self.assertIn(f"  interface  {in_text}\n  time ", uerudp.run("info", "-", data=named).stdout.decode())

    def test_parts_add_up(self):
        for capture in (login().capture(), random_conversation(3)[0].capture()):
            connection = json.loads(uerudp.run("info", "--json", "--bits", "-", data=capture, status=None).stdout)
            bits = connection["bits"]
            for way in WAYS:
                self.assertEqual(connection["bytes"][way] * 8, bits["total"][way])
                self.assertEqual(bits["total"][way], sum(part[way] for part in bits["parts"]))
                self.assertEqual(connection["packets"][way] * 28 * 8, bits["ip_udp"][way])
                payload = sum(part[way] for part in bits["parts"] if part["group"] in ("payload", "control message"))
                self.assertEqual(payload, sum(channel["bits"][way] for channel in connection["channels"]))

    def test_parts_are_those_of_decode(self):
        """The bits of each header field are the bits that decode --bits prints."""
        capture = random_conversation(5)[0].capture()
        decoded = {}
        for datagram in uerudp.decode("--bits", "-", data=capture, status=None):
            for key, _, bits in datagram["bits"]:
                way = WAYS[datagram["direction"] - 1]
                decoded[key, way] = decoded.get((key, way), 0) + bits
        connection = json.loads(uerudp.run("info", "--json", "--bits", "-", data=capture, status=None).stdout)
        parts = {part["name"]: part for part in connection["bits"]["parts"]}
        for (key, way), bits in decoded.items():
            if key.split(".")[0] in ("packet", "handshake", "bunch", "terminator") and key != "bunch.data":
                self.assertEqual(bits, parts[key][way], key)
        self.assertNotIn("unreadable", parts)

    def test_parts_of_damage(self):
        """All bits of malformed and cut datagrams count."""
        conv = login()
        conv.add_datagram(SERVER, {"raw": "0102030405060708"})
        connection = json.loads(uerudp.run("info", "--json", "--bits", "-", data=conv.capture(), status=1).stdout)
        parts = {part["name"]: part for part in connection["bits"]["parts"]}
        self.assertGreater(parts["unreadable"]["s2c"], 0)
        self.assertEqual(connection["bytes"]["s2c"] * 8, sum(part["s2c"] for part in parts.values()))
        ports = ((50000, 7777), (7777, 50000))
        payloads = uerudp.encode(login().objects)
        directions = [datagram["direction"] - 1 for datagram in login().objects]
        cut = uerudp.pcap([(*ports[way], payload) for way, payload in zip(directions, payloads)], snap=44)
        connection = json.loads(uerudp.run("info", "--json", "--bits", "-", data=cut, status=None).stdout)
        bits = connection["bits"]
        for way in (0, 1):
            length = sum(len(p) for p, d in zip(payloads, directions) if d == way) * 8
            self.assertEqual(length, bits["total"][WAYS[way]])
            self.assertEqual(length, sum(part[WAYS[way]] for part in bits["parts"]))
        self.assertIn("not captured", [part["name"] for part in bits["parts"]])


class Program(unittest.TestCase):
    maxDiff = None

    def test_files(self):
        """With several files, each connection names its file."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / f"{name}.pcapng" for name in "ab"]
            for seed, path in enumerate(paths):
                uerudp.run("generate", "login", f"--seed={seed}", "--no-sidecar", "-o", path)
            one = uerudp.run("info", paths[0]).stdout.decode()
            self.assertNotIn(" file  ", one)
            both = uerudp.run("info", *paths).stdout.decode()
            self.assertEqual([str(path) for path in paths], re.findall(r"^  file       (.*)$", both, re.M))
            cut = pathlib.Path(folder) / "c.pcapng"
            uerudp.run("edit", "--frames=1-9", paths[0], cut)
            uerudp.run("edit", "--frames=10-", paths[0], paths[1])
            parts = uerudp.run("info", cut, paths[1]).stdout.decode()
            self.assertEqual([f"{cut} to {paths[1]}"], re.findall(r"^  file       (.*)$", parts, re.M))

    def test_text(self):
        text = uerudp.run("info", "--bits", "-", data=login().capture()).stdout.decode()
        self.assertEqual(GOLDEN.read_text(), text)

    def several(self):
        """Three connections, of which the second is the worst."""
        objects = []
        for number in range(3):
            conv = login() if number != 1 else Conversation()
            if number == 1:
                for _ in range(3):
                    conv.handshake((0,))
                    conv.now += 1000
            for datagram in conv.objects:
                own = json.loads(json.dumps(datagram).replace(":50000", f":5000{number}"))
                objects.append({**own, "time": str(int(own["time"]) + number)})
        objects.sort(key=lambda datagram: datagram["time"])
        return uerudp.run("encode", data="\n".join(map(json.dumps, objects)).encode()).stdout

    def test_close_that_was_not_read(self):
        """The close of an encrypted connection was captured, though without the key nobody knows."""
        path = uerudp.ROOT / "captures/handlers/encrypted.pcapng"
        text = uerudp.run("info", path).stdout.decode()
        self.assertRegex(text, "end +no close of it was read; of [1-9][0-9]* datagrams the content, or its end, is not known")
        keys = path.with_suffix(".keys")
        self.assertRegex(uerudp.run("info", "--handlers=oodle,aesgcm", f"--key={keys}", path).stdout.decode(), "end +closed by the ")
        self.assertIn("no close of it is in this part of the capture",
                      uerudp.run("info", "--to=frame:40", uerudp.ROOT / "captures/game.pcapng").stdout.decode())

    def test_several(self):
        text = uerudp.run("info", "-", data=self.several(), status=1).stdout.decode()
        lines = text.splitlines()
        self.assertEqual("3 connections, worst first", lines[0])
        self.assertEqual(["1", "0", "2"], [line.split()[0] for line in lines[2:5]])
        one = uerudp.run("info", "--summary", "--stream=0", "-", data=self.several(), status=None).stdout.decode()
        self.assertEqual("1 connection", one.splitlines()[0])
        self.assertIn("error: no answer", lines[2])
        self.assertEqual(3, text.count("\nconnection "))

    def test_stream(self):
        capture = self.several()
        for options, streams, status in ((["--stream=0,2"], [0, 2], 0), (["--stream=0", "--stream=2"], [0, 2], 0),
                                         (["--stream=1-2"], [1, 2], 1), (["--stream=2-"], [2], 0),
                                         (["--stream=2-4294967296"], [2], 0)):
            lines = uerudp.run("info", "--json", *options, "-", data=capture, status=status).stdout.splitlines()
            self.assertEqual(streams, [json.loads(line)["stream"] for line in lines], options)
        self.assertEqual(b"", uerudp.run("info", "--json", "--stream=9", "-", data=capture).stdout)

    def test_many(self):
        """Of each of many connections it says what it says of the connection alone."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "many.pcapng"
            uerudp.run("generate", "lossy", "--no-sidecar", "--connections=30", "--duration=4", "--output", path)
            together = [json.loads(line) for line in uerudp.run("info", "--json", path, status=None).stdout.splitlines()]
            self.assertEqual(list(range(30)), [connection["stream"] for connection in together])
            for stream in 0, 7, 8, 29:
                (alone,) = uerudp.run("info", "--json", f"--stream={stream}", path, status=None).stdout.splitlines()
                self.assertEqual(json.loads(alone), together[stream])

    def test_counts_after_a_long_silence(self):
        """The tracker is freed during the silence, while another connection continues."""
        minute = 60 * 10 ** 9
        before = login().info()
        objects = login().objects
        half = len(objects) // 2
        for datagram in objects[half:]:
            datagram["time"] = str(int(datagram["time"]) + 20 * minute)
        other = Conversation()
        other.handshake()
        for datagram in other.objects:
            datagram["time"] = str(int(datagram["time"]) + 15 * minute)
        other = [json.loads(json.dumps(datagram).replace(":50000", ":50001")) for datagram in other.objects]
        capture = uerudp.run("encode", data="\n".join(map(json.dumps, [*objects[:half], *other, *objects[half:]])).encode())
        acked = json.loads(uerudp.run("info", "--json", "-", data=capture.stdout).stdout.splitlines()[0])["acked"]
        for way in WAYS:
            self.assertAlmostEqual(before["acked"][way], acked[way], delta=2)

    def test_nothing_selected(self):
        """A part of the time in which nothing was captured is named; one with a datagram is not."""
        login = uerudp.ROOT / "captures/login.pcapng"
        for command in "info", "decode":
            result = uerudp.run(command, "--from=50", login)
            self.assertEqual((b"", True), (result.stdout, b"none of the datagrams that were read is selected" in result.stderr))
            for options in ("--from=1",), ():
                result = uerudp.run(command, *options, login)
                self.assertNotEqual(b"", result.stdout)
                self.assertNotIn(b"is selected", result.stderr)

    def test_files_and_hex(self):
        conv = login()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "game.pcapng")
            path.write_bytes(conv.capture())
            from_file = uerudp.run("info", "--json", path).stdout
            self.assertEqual(from_file, uerudp.run("info", "--json", "-", data=path.read_bytes()).stdout)
            twice = json.loads(uerudp.run("info", "--json", path, path, status=None).stdout.splitlines()[0])
            self.assertEqual(len(conv.objects), json.loads(from_file)["frames"]["last"])
            self.assertGreaterEqual(twice["frames"]["last"], len(conv.objects))
        lines = uerudp.run("decode", "--json", "-", data=conv.capture()).stdout.decode().splitlines()
        marks = "".join(f"{'CS'[json.loads(line)['direction'] - 1]}> {payload.hex()}\n"
                        for line, payload in zip(lines, uerudp.encode(conv.objects)))
        connection, = [json.loads(line) for line in uerudp.run("info", "--json", "--hex", "-", data=marks.encode(),
                                                               status=None).stdout.splitlines()]
        self.assertEqual(len(conv.objects), connection["frames"]["last"])

    def test_unusable(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = pathlib.Path(folder, "broken")
            broken.write_bytes(b"not a capture at all, not at all")
            empty = pathlib.Path(folder, "empty")
            empty.write_bytes(b"")
            for arguments, word in ((["--findings=0", broken], "--findings"), (["--findings=1001", broken], "1000"),
                                    (["--findings=x", broken], "--findings"), ([], "no file"), ([broken], "broken"),
                                    ([empty], "empty"), (["/nonexistent"], "nonexistent"), (["--stream=x", broken], "stream")):
                result = uerudp.run("info", *arguments, status=2)
                self.assertIn(word, result.stderr.decode())
                self.assertEqual(b"", result.stdout)

    def test_truncated(self):
        capture = login().capture()
        for size in range(len(capture) - 40, len(capture)):
            result = uerudp.run("info", "--json", "-", data=capture[:size], status=2)
            self.assertEqual(1, len(result.stdout.splitlines()))

    def test_no_datagram_of_the_protocol(self):
        foreign = uerudp.pcap([(53, 5353, bytes(range(40)))] * 5)
        result = uerudp.run("info", "-", data=foreign)
        self.assertEqual(b"", result.stdout)
        self.assertIn("without a handshake of this protocol", result.stderr.decode())

    def test_flood(self):
        """A connection among thousands of forged handshakes is found and printed first."""
        forger = Conversation()
        forger.handshake((0,))
        first, = uerudp.encode(forger.objects)
        datagrams = [(10000 + number, 7777, first) for number in range(3000)]
        conv = login()
        ports = ((50000, 7777), (7777, 50000))
        datagrams[1500:1500] = [(*ports[o["direction"] - 1], p) for o, p in zip(conv.objects, uerudp.encode(conv.objects))]
        result = uerudp.run("info", "-", data=uerudp.pcap(datagrams), status=None)
        self.assertIn("1024 of 3001 connections", result.stderr.decode())
        self.assertIn("10.0.0.1:50000", result.stdout.decode().splitlines()[2])

    def test_implausible_times(self):
        """Any jump of a 64-bit time is reported once, and no figure is computed from it."""
        for times in ((0, 2 ** 63 - 1), (2 ** 63 - 1, 2 ** 63 - 1), (2 ** 62, 1)):
            with self.subTest(times):
                conv = random_conversation(1)[0]
                for number, datagram in enumerate(conv.objects):
                    datagram["time"] = str(times[number // 3 % 2])
                connection = conv.info()
                self.assertEqual([None] * 4, [connection[key] for key in ("start", "duration_s", "peak_bytes_per_s", "rtt_ms")])
                self.assertEqual({None}, {step["time_s"] for step in connection["story"]})
                kinds = [finding["kind"] for finding in connection["findings"]]
                self.assertEqual(1, kinds.count("times_implausible"))
                text = uerudp.run("info", "-", data=conv.capture()).stdout.decode()
                self.assertEqual(1, text.count("implausible"))
                for wrong in ("2116", "2262", "1970-"):
                    self.assertNotIn(wrong, text.replace("before 1970 or after 2116", ""))
                budget = uerudp.run("info", "--budget=1", "-", data=conv.capture())
                self.assertIn("connection 0: --budget is not judged", budget.stderr.decode())
                self.assertEqual((None, 1), self.budget_and_skipped(conv, 0))

    def budget_and_skipped(self, conv, status):
        """The number of judged budgets in JSON, or None; and the skipped tests of the JUnit report."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "junit.xml"
            output = uerudp.run("info", "--json", "--budget=1", "--junit", path, "-", data=conv.capture(), status=status).stdout
            skipped = xml.etree.ElementTree.parse(path).findall(".//skipped")
        budget = json.loads(output)["budget"]
        return budget and len(budget), len(skipped)

    def test_plausible_times(self):
        """Times of 0, relative and absolute times are valid."""
        for first_ns, step_ns in ((0, 0), (0, 10 ** 7), (17 * 10 ** 17, 10 ** 7)):
            with self.subTest(first_ns, step_ns=step_ns):
                conv = random_conversation(1)[0]
                for number, datagram in enumerate(conv.objects):
                    datagram["time"] = str(first_ns + number * step_ns)
                connection = conv.info()
                self.assertEqual(str(first_ns), connection["start"])
                self.assertAlmostEqual((len(conv.objects) - 1) * step_ns / 1e9, connection["duration_s"], places=6)
                self.assertNotIn("times_implausible", [finding["kind"] for finding in connection["findings"]])
                budget = uerudp.run("info", "--budget=1", "-", data=conv.capture(), status=1)
                self.assertNotIn("not judged", budget.stderr.decode())
                self.assertEqual((2, 0), self.budget_and_skipped(conv, 1))

    def test_damage_of_every_kind(self):
        """Flipped bytes cause no crash, and the sums still hold."""
        rng = random.Random(7)
        capture = login().capture()
        for _ in range(60):
            damaged = bytearray(capture)
            for _ in range(rng.randrange(1, 30)):
                damaged[rng.randrange(200, len(damaged))] = rng.randrange(256)
            arguments = [uerudp.PROGRAM, "info", "--json", "--bits", "-"]
            result = uerudp.subprocess.run(arguments, input=bytes(damaged), capture_output=True, timeout=60)
            self.assertIn(result.returncode, (0, 1, 2), result.stderr)
            for line in result.stdout.splitlines():
                connection = json.loads(line)
                for way in WAYS:
                    self.assertEqual(connection["bits"]["total"][way],
                                     sum(part[way] for part in connection["bits"]["parts"]))

    def test_output_that_cannot_be_written(self):
        capture = login().capture()
        for options in ([], ["--json"]):
            with open("/dev/full", "wb") as full:
                result = uerudp.subprocess.run([uerudp.PROGRAM, "info", *options, "-"], input=capture, stdout=full,
                                               stderr=uerudp.subprocess.PIPE, timeout=60)
            self.assertEqual(2, result.returncode)
            self.assertIn(b"cannot write", result.stderr)


if __name__ == "__main__":
    uerudp.main()
