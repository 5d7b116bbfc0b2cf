#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp info with the captures of both ends: losses, delays and clocks, against what the simulator knows."""
import collections
import json
import re
import xml.etree.ElementTree

import blocks
import classic_pcap
import pcapng
import trace_page
import uerudp
from both_ends import MS, SERVER_PORT, WAYS, Folder, frame_of, info, text_of


class Truth(Folder):
    def test_scenarios(self):
        for scenario, options in (("clean", ()), ("mixed", ()), ("lossy", ()), ("burst", ()), ("duplicate", ()), ("legacy", ()),
                                  ("jitter", ()), ("wrap", ()), ("login-lossy", ()), ("sealed", ("--corrupt", "0")),
                                  ("stream", ("--generation", "4.13", "--loss", "0.05")), ("mixed", ("--seed", "7"))):
            with self.subTest(scenario, options=options):
                ends = self.generate(scenario, *options)
                (connection,), said = info(ends.client, ends.server)
                self.assertEqual(0, self.compare(ends, connection, least=0.5)["client_end"])
                self.assertIn("client.pcapng and server.pcapng have the same packets of 1 connection", said)

    def test_connections(self):
        ends = self.generate("stream", "--connections", "3", "--loss", "0.1", "--duration", "5")
        connections, _ = info(ends.client, ends.server)
        self.assertEqual(3, len(connections))
        for connection in connections:
            self.compare(ends, connection)

    def test_restart(self):
        """The client's address changes; the sidecar numbers it as one connection."""
        ends = self.generate("restart", "--generation", "5.4", "--tick", "5")
        (connection,), _ = info(ends.client, ends.server)
        self.compare(ends, connection, least=0.5)

    def test_order(self):
        """The report is of the first file; the comparison does not depend on the order."""
        ends = self.generate("mixed")
        (one,), _ = info(ends.client, ends.server)
        (two,), _ = info(ends.server, ends.client)
        self.assertEqual((0, 1), (one["both_ends"]["client_end"], two["both_ends"]["client_end"]))
        self.assertNotEqual(one["lost"], two["lost"])
        for way in WAYS:
            for key in ("sent", "arrived", "lost", "not_accepted", "out_of_order", "arrived_again"):
                self.assertEqual(one["both_ends"][way][key], two["both_ends"][way][key], key)

    def test_out_of_order_by(self):
        """As in the text; null where no packet is."""
        for options, is_reordered in ((("--reorder=0.2", "--jitter=60"), True), (("--reorder=0", "--jitter=0"), False)):
            ends = self.generate("lossy", "--loss=0", *options)
            (one,), _ = info(ends.client, ends.server)
            found = [one["both_ends"][way]["out_of_order_by_ms"] for way in WAYS]
            self.assertEqual([is_reordered] * 2, [by_ms is not None for by_ms in found])
            self.assertEqual([f"{by_ms:.1f}" for by_ms in found if is_reordered],
                             re.findall(r", by up to ([\d.]+) ms", text_of(ends.client, ends.server)))


class Captures(Folder):
    def test_nat(self):
        """The server sees other addresses than the client."""
        ends = self.generate("stream", "--loss", "0.05")
        behind = self.write("nat.pcap", pcapng.read(ends.client), client_ip=bytes([192, 168, 0, 7]), client_port=61000)
        (connection,), _ = info(behind, ends.server)
        self.compare(ends, connection)
        self.assertEqual("192.168.0.7:61000", connection["client"])

    def test_interfaces(self):
        """Two interfaces of one file are both ends, also with a word for each."""
        ends = self.generate("lossy")
        merged = self.merge(ends.server, ends.client)
        for options in ((), ("--vantage=server,client",)):
            (connection,), said = info(merged, *options)
            found = self.compare(ends, connection)
            self.assertEqual((["at the server", "at the client"], 1),
                             (found["captures"], found["client_end"]))
            self.assertIn("at the server and at the client have the same packets", said)
        self.assertIn("--vantage", uerudp.run("info", "--vantage=server,client,client", merged, status=2).stderr.decode())

    def test_one_interface(self):
        """The report of two interfaces is that of the first, as the report of two files is of the first: no packet and no
        message of the handshake twice, no time from one clock to the other."""
        ends = self.generate("login-lossy", "--generation", "4.18")
        (of_files,), _ = info(ends.client, ends.server)
        (of_interfaces,), _ = info(self.merge(ends.client, ends.server))
        unframed = [{key: value for key, value in connection.items() if key not in ("frames", "interface", "client", "server")}
                    for connection in (of_files, of_interfaces)]
        for key in ("packets", "bytes", "acked", "not_acked", "lost", "duplicates", "resends", "rtt_ms", "half_ms", "jitter_ms",
                    "send_interval_ms", "duration_s"):
            self.assertEqual(*(connection[key] for connection in unframed), key)
        for key, parts in ("story", ("name", "time_s", "count")), ("findings", ("kind", "time_s")):
            self.assertEqual(*([[each.get(part) for part in parts] for each in connection[key]] for connection in unframed))
        self.assertTrue(of_files["story"] and of_files["half_ms"])

    def test_rotated(self):
        """Files of one capture have no packet in common: they are read as one, and nothing is compared."""
        ends = self.generate("stream", "--loss", "0.05")
        parts = [self.path / f"part{number}.pcapng" for number in range(2)]
        for part, frames in zip(parts, ("1-300", "301-100000")):
            uerudp.run("edit", f"--frames={frames}", ends.client, part)
        (whole,), _ = info(ends.client)
        (joined,), said = info(*parts)
        self.assertIn("2 files are read as one capture", said)
        self.assertNotIn("both_ends", joined)
        self.assertEqual([whole[key] for key in ("packets", "bytes", "acked", "not_acked", "lost")],
                         [joined[key] for key in ("packets", "bytes", "acked", "not_acked", "lost")])
        (both,), _ = info(*parts, ends.server)  # a capture of one end that was rotated
        self.compare(ends, both)
        (both,), _ = info(*parts, ends.server, "--vantage=client,client,server")
        self.compare(ends, both)

    def test_same_network_chatter(self):
        """Equal datagrams of another protocol in files of one capture do not make them both ends."""
        ends = self.generate("stream")
        packets = pcapng.read(ends.client)
        chatter = [pcapng.Packet("", 0, 5353, 5353, b"announcement %d" % number, "") for number in range(20)]
        parts = [self.write(f"{number}.pcap", sorted(part + [packet._replace(time_ns=part[5].time_ns) for packet in chatter],
                                                     key=lambda packet: packet.time_ns))
                 for number, part in enumerate((packets[:300], packets[300:]))]
        (connection,), said = info(*parts)
        self.assertIn("2 files are read as one capture", said)
        self.assertNotIn("both_ends", connection)
        self.assertEqual(sum(1 for packet in packets if packet.destination == SERVER_PORT), connection["packets"]["c2s"])

    def test_other_connections(self):
        """Captures of two clients have nothing in common."""
        one = self.generate("stream", "--seed", "5").client.rename(self.path / "one.pcapng")
        two = self.generate("stream", "--seed", "6").client
        connections, said = info(one, two)
        self.assertIn("2 files are read as one capture", said)
        self.assertFalse(any("both_ends" in connection for connection in connections))

    def test_same_point(self):
        """A capture and its copy."""
        ends = self.generate("lossy")
        (connection,), _ = info(ends.client, ends.client)
        for way in WAYS:
            counts = connection["both_ends"][way]
            self.assertEqual((0, 0, 0), (counts["lost"], counts["not_seen_leaving"], counts["not_accepted"]))
        self.assertIn("no packet needs time between them", text_of(ends.client, ends.client))

    def test_incomplete(self):
        """Packets that the receiver acknowledged were not lost, although its capture lacks them; packets that its sender's
        capture lacks did not come from nowhere."""
        ends = self.generate("stream")
        lacking = self.without(ends.server, slice(100, 110))
        (connection,), _ = info(ends.client, lacking)
        counts = connection["both_ends"]["c2s"]
        self.assertEqual((0, 10, 0), (counts["lost"], counts["only_acknowledged"], counts["not_seen_leaving"]))
        lacking = self.without(ends.client, slice(100, 107))
        (connection,), _ = info(lacking, ends.server)
        counts = connection["both_ends"]["c2s"]
        self.assertEqual((0, 0, 7), (counts["lost"], counts["only_acknowledged"], counts["not_seen_leaving"]))

    def test_changed(self):
        """Packets that were changed on the way are neither lost nor only acknowledged, unless their id was changed, and the
        sender's capture does not lack what arrived."""
        changed = found = 0  # as the simulator knows, and by info
        for seed in range(1, 21):
            ends = self.generate("mixed", f"--seed={seed}", "--loss=0.03", "--corrupt=0.03", "--jitter=10", "--dup=0.1")
            (connection,), _ = info(ends.client, ends.server)
            for way in WAYS:
                fates = [" ".join(sent["fate"]) for sent in ends.sent["datagrams"] if sent["dir"] == way]
                counts, truth = connection["both_ends"][way], sum("corrupted" in fate for fate in fates)
                missing = truth - counts["changed"]
                self.assertGreaterEqual(missing, 0)
                self.assertLessEqual(counts["not_seen_leaving"], missing)
                self.assertLessEqual(counts["lost"] + counts["only_acknowledged"],
                                     sum("lost" in fate for fate in fates) + missing)
                changed, found = changed + truth, found + counts["changed"]
        self.assertGreater(changed, 50)
        self.assertGreater(found, 0.9 * changed)
        self.assertIn("changed on the way", text_of(ends.client, ends.server))

    def test_malformed_by_a_change(self):
        """The network changed each malformed datagram. One capture does not show who did, and no side is blamed."""
        def malformed(*paths):
            connection = info("--findings=1000", *paths)[0][0]
            return connection, [each["text"] for each in connection["findings"] if each["kind"] == "malformed"]
        found = []
        for seed in range(1, 11):
            ends = self.generate("game", f"--seed={seed}", "--duration=10", "--corrupt=0.02", "--delay=40")
            for paths in (ends.client, ends.server), (ends.server, ends.client):
                connection, texts = malformed(*paths)
                self.assertLessEqual(len(texts), sum(connection["both_ends"][way]["changed"] for way in WAYS))
                found += texts
                for text in malformed(paths[0])[1]:
                    self.assertRegex(text, r"^malformed datagram from the (client|server) in frame \d+: ")
        self.assertGreater(len(found), 10)
        self.assertEqual([], [text for text in found if "seems to have been changed on the way" not in text])

    def test_malformed_when_sent(self):
        """A datagram that is malformed at both ends was not changed between them."""
        ends = self.generate("stream", "--loss=0.05")
        arrived = {packet.payload for packet in pcapng.read(ends.client)}
        whole = [packet.payload for packet in pcapng.read(ends.server)
                 if packet.source == SERVER_PORT and packet.payload in arrived][20]
        text = text_of(*[self.write(f"{path.stem}.pcap", [packet._replace(payload=whole[:-3] + bytes([1, 0, 0])) if packet.payload == whole
                                                 else packet for packet in pcapng.read(path)]) for path in (ends.client, ends.server)])
        self.assertRegex(text, r"malformed datagram from the server in frame \d+: ")
        self.assertNotIn("seems to have been changed", text)

    def test_lost_and_not_captured(self):
        """A lost packet is not a changed one because the sender's capture lacks another packet of that time."""
        ends = self.generate("stream", "--loss=0.1")
        lacking = self.without(ends.client, slice(100, 400, 3))
        (connection,), _ = info(lacking, ends.server)
        self.assertEqual([0, 0], [connection["both_ends"][way]["changed"] for way in WAYS])
        self.assertGreater(connection["both_ends"]["c2s"]["not_seen_leaving"], 50)
        self.assertGreater(connection["both_ends"]["c2s"]["lost"], 0)
        self.assertNotIn("changed on the way", text_of(lacking, ends.server))

    def test_lost_and_not_captured_without_ids(self):
        """Nor where the ids of packets are encrypted."""
        ends = self.generate("stream", "--encrypt", "--loss=0.1", "--jitter=60", "--dup=0", "--duration=8")
        packets = pcapng.read(ends.client)
        lacking = self.write("lacking.pcap", [packet for index, packet in enumerate(packets) if index % 9 != 0])
        (connection,), _ = info(lacking, ends.server)
        self.assertEqual([0, 0], [connection["both_ends"][way]["changed"] for way in WAYS])
        self.assertGreater(connection["both_ends"]["c2s"]["not_seen_leaving"], 10)

    def test_part(self):
        """A capture of a part of the time: what it cannot have is neither sent nor lost."""
        ends = self.generate("stream", "--loss", "0.1")
        part = self.path / "part.pcapng"
        uerudp.run("edit", "--from=0", "--to=3", ends.server, part)
        (connection,), _ = info(ends.client, part)
        for way in WAYS:
            counts = connection["both_ends"][way]
            self.assertAlmostEqual(0.1, counts["lost"] / counts["sent"], delta=0.06)
            self.assertGreater(counts["not_comparable"] + counts["arrived"], 100)
        (ranged,), _ = info(ends.client, ends.server, "--from=1", "--to=2")
        (whole,), _ = info(ends.client, ends.server)
        for way in WAYS:
            self.assertLess(ranged["both_ends"][way]["sent"], whole["both_ends"][way]["sent"] / 2)
            inside = [loss for loss in whole["both_ends"][way]["losses"] if 1.0 < loss["time_s"] + 0.0 < 2.0]
            self.assertAlmostEqual(len(inside), len(ranged["both_ends"][way]["losses"]), delta=1)

    def test_cut(self):
        """A snap length leaves the beginning of each datagram, which identifies it."""
        ends = self.generate("lossy")
        packets = pcapng.read(ends.server)
        cut = self.path / "cut.pcap"
        cut.write_bytes(classic_pcap.file([(packet.time_ns // 1000, frame_of(packet)) for packet in packets], blocks.ETHERNET, 96))
        (connection,), _ = info(ends.client, cut)
        for way in WAYS:
            datagrams = [sent for sent in ends.sent["datagrams"] if sent["dir"] == way]
            self.assertEqual(sum(1 for sent in datagrams if sent["arrived"]), connection["both_ends"][way]["arrived"])

    def test_one_direction(self):
        """Packets of one side only show neither end nor delay; with --vantage they show losses."""
        ends = self.generate("stream", "--loss", "0.05")
        only = [self.write(f"{path.stem}.pcap", [packet for packet in pcapng.read(path) if packet.destination == SERVER_PORT])
                for path in (ends.client, ends.server)]
        (connection,), _ = info(*only)
        self.assertIsNone(connection["both_ends"]["client_end"])
        self.assertIn("--vantage", text_of(*only))
        (connection,), _ = info(*only, "--vantage=client,server")
        counts = connection["both_ends"]["c2s"]
        datagrams = [sent for sent in ends.sent["datagrams"] if sent["dir"] == "c2s"]
        self.assertEqual(sum(1 for sent in datagrams if sent["arrived"]), counts["arrived"])
        self.assertIsNone(counts["delay_ms"])


class OtherEnd(Folder):
    """What only the capture of the other end shows."""

    def stalls(self, connection, way):
        return [finding for finding in connection["findings"] if finding["kind"] == "reliable_stall" and finding["direction"] == way]

    def test_same_report(self):
        """It is reported as when it is the only file."""
        for scenario, *options in ("lossy",), ("stream", "--connections=3", "--duration=5"), ("restart", "--generation", "5.4", "--tick", "5"):
            ends = self.generate(scenario, *options)
            connections, _ = info(ends.client, ends.server)
            alone, _ = info(ends.server)
            for connection in connections:
                for finding in connection["other_end"]["findings"]:
                    del finding["in_both_captures"]
            self.assertEqual(alone, sorted((connection["other_end"] for connection in connections), key=lambda each: each["stream"]))

    def test_findings(self):
        """The sender's capture has all stalls. Those that the receiver's has, too, are marked in both; and each end alone says
        that its file shows no more, or what more it shows."""
        ends = self.generate("stream", "--loss=0.15", "--duration=40")
        shifted = self.path / "shifted.pcapng"
        uerudp.run("edit", "--shift=3600", ends.server, shifted, status=None)
        (connection,), _ = info("--findings=1000", ends.client, shifted)
        seen, sent = self.stalls(connection, "s2c"), self.stalls(connection["other_end"], "s2c")
        self.assertGreater(len(sent), len(seen))
        self.assertGreater(len(seen), 5)
        self.assertEqual([], [stall["text"] for stall in seen if not stall["in_both_captures"]])
        common = sum(stall["in_both_captures"] for stall in sent)
        self.assertTrue(len(seen) <= common < len(sent), (len(seen), common, len(sent)))
        text = text_of("--findings=1000", ends.client, shifted)
        only = text[text.index("only shifted.pcapng shows"):text.index("what each capture shows")]
        self.assertEqual(len(sent) - common, only.count("reliable stall"))
        ends = self.generate("clean")
        self.assertIn("server.pcapng shows no other finding", text_of(ends.client, ends.server))

    def test_clock_was_set(self):
        """A step of one clock makes no finding of both captures one of a single capture."""
        ends = self.generate("lossy", "--loss=0.2", "--duration=10")
        packets = pcapng.read(ends.server)
        middle = packets[len(packets) // 2].time_ns
        (whole,), _ = info("--findings=1000", ends.client, ends.server)
        for step in 30_000, -30_000:
            stepped = self.write("stepped.pcap", [packet._replace(time_ns=packet.time_ns + (step * MS if packet.time_ns > middle else 0))
                                                  for packet in packets])
            (connection,), _ = info("--findings=1000", ends.client, stepped)
            self.assertIsNone(connection["both_ends"]["clock"])
            common = [{(each["kind"], *each["frames"]) for each in of["other_end"]["findings"] if each["in_both_captures"]} for of in (whole, connection)]
            shown = {(each["kind"], *each["frames"]) for each in connection["other_end"]["findings"]}
            self.assertGreater(len(common[0] & shown), 5)
            self.assertEqual(set(), (common[0] & shown) - common[1])

    def test_stream(self):
        """--stream chooses among the connections of both ends."""
        ends = self.generate("stream", "--connections", "2", "--loss", "0.1")
        all_, _ = info(ends.client, ends.server)
        for number, connection in enumerate(all_):
            self.assertEqual([connection], info(f"--stream={number}", ends.client, ends.server)[0])
        self.assertEqual([], info("--stream=2", ends.client, ends.server)[0])
        page = self.path / "page.html"
        uerudp.run("trace", "--stream=1", ends.client, ends.server, "-o", page)
        self.assertEqual([page], list(self.path.glob("*.html")))

    def test_truncated(self):
        """A file that ends within a block is told in the same way, whichever end it is of."""
        ends = self.generate("clean")
        cut = self.path / "cut.pcapng"
        for arguments in ("info",), ("trace", "-o", self.path / "page.html"):
            for whole, other in (ends.client, ends.server), (ends.server, ends.client):
                cut.write_bytes(other.read_bytes()[:-50])
                for files in (cut, whole), (whole, cut):
                    errors = uerudp.run(*arguments, *files, status=2).stderr.decode()
                    self.assertIn("cut.pcapng: block at byte", errors)

    def test_limit(self):
        """Findings that are not printed are compared, too."""
        ends = self.generate("overload", "--loss=0.05", "--duration=5")
        (few,), _ = info("--findings=1", ends.client, ends.server)
        (all_,), _ = info("--findings=1000", ends.client, ends.server)
        for connection in few, few["other_end"]:
            self.assertTrue(all(count == 1 for count in collections.Counter(each["kind"] for each in connection["findings"]).values()))
        for one, other in (few, all_), (few["other_end"], all_["other_end"]):
            known = {finding["text"]: finding["in_both_captures"] for finding in other["findings"]}
            self.assertEqual([known[finding["text"]] for finding in one["findings"]], [each["in_both_captures"] for each in one["findings"]])

    def test_limit_of_text(self):
        """Findings that the other end alone shows are counted, also those that are not printed."""
        ends = self.generate("overload", "--loss=0.05", "--duration=20")
        (connection,), _ = info("--findings=1000", ends.client, ends.server)
        count = sum(not finding["in_both_captures"] for finding in connection["other_end"]["findings"])
        self.assertGreater(count, 1)
        for limit in 1, 2, 1000:
            text = text_of(f"--findings={limit}", ends.client, ends.server)
            only = text[:text.index("what each capture shows")].partition("only server.pcapng shows, by its frames and its clock\n")[2]
            more = re.findall(r"^ +and (\d+) more$", only, re.M)
            printed = len(re.findall(r"^ +(?:error|warning|note) ", only, re.M))
            self.assertEqual(count, printed + sum(map(int, more)), text)
            self.assertNotIn("shows no other finding", text)

    def test_too_many(self):
        """Findings of a kind of which a capture has more than can be kept are not compared, and nothing is said of them."""
        ends = self.generate("lossy", "--loss=0.4", "--duration=300")
        (connection,), _ = info("--findings=1000", ends.client, ends.server)
        matches = {(finding["kind"], finding["in_both_captures"]) for finding in connection["other_end"]["findings"]}
        kinds = {kind for kind, match in matches if match is None}
        self.assertEqual({"reliable_stall"}, kinds)
        self.assertNotIn("reliable_stall", {kind for kind, match in matches if match is not None})
        stalls = sum(finding["kind"] == "reliable_stall" for finding in connection["other_end"]["findings"])
        count = stalls + connection["other_end"]["findings_more"].get("reliable_stall", 0)
        text = text_of("--findings=1", ends.client, ends.server)
        self.assertIn(f"server.pcapng shows {count} finding{'s' if count != 1 else ''} of kinds too frequent to compare", text)
        self.assertNotIn("shows no other finding", text)

    def test_figures(self):
        """A sender's capture has its resends; the receiver's lacks what was lost, and says how much."""
        ends = self.generate("lossy")
        (connection,), _ = info(ends.client, ends.server)
        truth = [json.loads((self.path / f"run-{end}.sent.json").read_text())["connections"][0]["resends"] for end in ("client", "server")]
        self.assertEqual((truth[0]["c2s"], truth[1]["s2c"]), (connection["resends"]["c2s"], connection["other_end"]["resends"]["s2c"]))
        rows = re.findall(r"^    (client|server)'s missing packets +(\S.*?)  +(\S.*)$", text_of(ends.client, ends.server), re.M)
        lost = connection["both_ends"]
        self.assertEqual([("client", "not visible here", str(lost["c2s"]["lost"])), ("server", str(lost["s2c"]["lost"]), "not visible here")], rows)

    def test_exit_status(self):
        """A finding of the other end fails, too, and is in the report for build machines."""
        ends = self.generate("overload", "--loss=0.05", "--duration=5")
        report = self.path / "report.xml"
        longest = max(stall["duration_ms"] for stall in self.stalls(info("--findings=1000", ends.server)[0][0], "s2c"))
        rule = f"--fail-on=stall:{int(longest)}ms"
        for files, expected in ((ends.client,), 0), ((ends.server,), 1), ((ends.client, ends.server), 1), ((ends.server, ends.client), 1):
            result = uerudp.run("info", rule, "--junit", report, *files, status=None)
            self.assertEqual(expected, result.returncode, files)
        suites = xml.etree.ElementTree.parse(report).getroot().findall("testsuite")
        self.assertEqual([name.rsplit(", ", 1)[1] for name in (suite.get("name") for suite in suites)], ["server.pcapng", "client.pcapng"])
        self.assertEqual(["1", "0"], [suite.get("failures") for suite in suites])

    def test_part(self):
        """A part of one capture by time or frame is compared with the same time of the other, whatever its clock says."""
        ends = self.generate("stream", "--loss=0.15", "--duration=10")
        shifted = self.path / "shifted.pcapng"
        uerudp.run("edit", "--shift=3600", ends.server, shifted, status=None)
        for server in ends.server, shifted:
            (connection,), _ = info("--from=2", "--to=6", "--findings=1000", ends.client, server)
            other = connection["other_end"]
            self.assertAlmostEqual(connection["duration_s"], other["duration_s"], delta=0.3)
            self.assertAlmostEqual(connection["both_ends"]["s2c"]["sent"], other["packets"]["s2c"], delta=5)
            self.assertAlmostEqual(connection["both_ends"]["c2s"]["lost"], other["lost"]["c2s"], delta=2)
            frames = connection["frames"]
            (again,), _ = info(f"--from=frame:{frames['first']}", f"--to=frame:{frames['last']}", "--findings=1000", ends.client, server)
            self.assertEqual(connection, again)
        self.assertIn("what each capture shows", text_of("--from=2", "--to=6", ends.client, ends.server))

    def test_part_without_clocks(self):
        """The same time of the other capture is not known: it is left out."""
        ends = self.generate("stream", "--loss", "0.05")
        only = [self.write(f"{path.stem}.pcap", [packet for packet in pcapng.read(path) if packet.destination == SERVER_PORT])
                for path in (ends.client, ends.server)]
        (connection,), _ = info(*only, "--from=1", "--to=2")
        self.assertIn("both_ends", connection)
        self.assertNotIn("other_end", connection)

    def test_page(self):
        """The page has the findings of both ends, each at the time of the clock of the first capture."""
        ends = self.generate("overload", "--loss=0.05", "--duration=12")
        shifted = self.path / "shifted.pcapng"
        uerudp.run("edit", "--shift=3600", ends.server, shifted, status=None)
        for arguments in (ends.client, shifted), ("--from=3", "--to=9", ends.client, shifted):
            (connection,), _ = info("--findings=50", *arguments)
            page = trace_page.read(uerudp.run("trace", *arguments, status=None).stdout.decode())
            self.assertEqual(connection["other_end"]["findings"], page["info"]["other_end"]["findings"])
            begin = int(connection["start"])
            times = [(finding.get("time"), row["t"]) for finding, row in zip(connection["other_end"]["findings"], page["other_findings"])]
            self.assertEqual(len(connection["other_end"]["findings"]), len(page["other_findings"]))
            self.assertGreater(len(times), 3)
            for time, t in times:
                if time is None:
                    self.assertIsNone(t)
                else:
                    self.assertAlmostEqual((int(time) - 3600 * 1000 * MS - begin) / MS, t, delta=1)

    def test_control_characters(self):
        """A file name cannot control the terminal."""
        ends = self.generate("lossy")
        client, server = (end.rename(end.with_name(f"{end.stem}\x1b[31m.pcapng")) for end in (ends.client, ends.server))
        result = uerudp.run("info", client, server, status=None)
        self.assertIn(b"what each capture shows", result.stdout)
        self.assertNotIn(b"\x1b", result.stdout + result.stderr)


if __name__ == "__main__":
    uerudp.main()
