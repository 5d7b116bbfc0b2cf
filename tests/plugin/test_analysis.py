#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The plugin's sequence analysis, compared with the sidecar of the simulator (NAME.sent.json)."""
import collections
import json
import os
import random
import re
import subprocess

import harness

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "captures")
NAMES = ("game", "big-bunch", "close-reasons", "corrupt", "duplicate", "legacy", "loss-burst", "mixed", "overload",
         "reorder", "restart", "spurious", "two-clients", "ue4.13", "ue5.8", "voice", "wrap")
DAMAGED = {"corrupt"}  # the capture differs from what was sent
DIRECTIONS = {1: "c2s", 2: "s2c"}


def path_of(name):
    return os.path.join(FOLDER, name + ".pcapng")


def flags(packet):
    return {name.removeprefix("uerudp.analysis.") for name in packet.experts if name.startswith("uerudp.analysis.")}


def sentences(packet, flag):
    return [text for name, text in packet.sentences if name == "uerudp.analysis." + flag]


class Truth(harness.StageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.packets, cls.sent = {}, {}
        for name in NAMES:
            cls.packets[name] = cls.stage.packets(cls.stage.copy(path_of(name)))
            with open(os.path.join(FOLDER, name + ".sent.json"), encoding="utf-8") as file:
                cls.sent[name] = json.load(file)

    def whole(self):
        return [(name, self.packets[name], self.sent[name]) for name in NAMES if name not in DAMAGED]

    def test_acked_and_lost(self):
        """A packet that is not delivered is never acknowledged."""
        checked = collections.Counter()
        for name, packets, sent in self.whole():
            for datagram in sent["datagrams"]:
                if datagram["frame"] is None or datagram["packet_id"] is None:
                    continue
                packet = packets[datagram["frame"]]
                acked, nacked = packet.numbers("analysis.acked_in"), packet.numbers("analysis.nacked_in")
                where = f"{name} frame {datagram['frame']}"
                self.assertLessEqual(len(acked), 1, where)
                if not datagram["arrived"]:
                    self.assertEqual(acked, [], where)
                    checked["lost"] += len(nacked)
                checked["acked"] += len(acked)
        self.assertGreater(checked["acked"], 500)
        self.assertGreater(checked["lost"], 10)

    def test_totals(self):
        for name, packets, sent in self.whole():
            naks, resends = collections.defaultdict(set), collections.Counter()
            for packet in packets.values():
                stream, way = packet.numbers("stream")[0], DIRECTIONS[packet.numbers("direction")[0]]
                other = "c2s" if way == "s2c" else "s2c"
                naks[stream, other].update(packet.not_delivered())
                resends[stream, way] += packet.experts.count("uerudp.analysis.retransmission")
            for connection in sent["connections"]:
                for way in ("c2s", "s2c"):
                    key = (connection["stream"], way)
                    if name == "legacy":  # acks are lost, and a missing packet may have held some
                        self.assertIn(connection["not_acked"][way] - len(naks[key]), (0, 1), (name, key))
                    else:
                        self.assertEqual(len(naks[key]), connection["not_acked"][way], (name, key))
                    self.assertEqual(resends[key], connection["resends"][way], (name, key))

    def test_damaged_packet_id(self):
        """Frame 35 has a damaged packet id far ahead, and the packets after it continue: only the id of frame 35 is
        missing."""
        missing = {frame: packet.numbers("analysis.missing") for frame, packet in self.packets["corrupt"].items()}
        self.assertEqual({38: [1]}, {frame: count for frame, count in missing.items() if count})
        in_flight = {frame: packet.numbers("analysis.packets_in_flight") for frame, packet in self.packets["corrupt"].items()}
        self.assertEqual(([1], [], [2]), tuple(in_flight[frame] for frame in (33, 35, 38)))

    def test_times(self):
        path = self.stage.copy(path_of("mixed"))
        listing = self.stage.tshark("-r", path, "-T", "fields", "-e", "frame.number", "-e", "frame.time_epoch")
        times = {int(frame): int(time.replace(".", "")) for frame, time in map(str.split, listing.splitlines())}
        compared = 0
        for frame, packet in self.packets["mixed"].items():
            acked, spans = packet.numbers("analysis.acks_frame"), packet.texts("analysis.ack_rtt")
            if acked and not spans:  # a packet that is missing may have had these acks before
                self.assertTrue(packet.numbers("analysis.missing"), frame)
                continue
            for to, span in zip(acked, spans, strict=True):
                self.assertEqual(times[frame] - times[to], int(span.replace(".", "")))
                compared += 1
            if packet.numbers("handshake.type") not in ([], [0]):
                self.assertEqual(times[frame] - times[frame - 1],
                                 int(packet.texts("analysis.handshake_rtt")[0].replace(".", "")))
        self.assertGreater(compared, 30)

    def test_flags(self):
        for name in NAMES:
            for frame, packet in self.packets[name].items():
                self.assertEqual(len(packet.all("analysis.flags")), bool(flags(packet)), (name, frame))

    def test_sentences(self):
        packet = self.packets["mixed"][34]
        self.assertEqual(["1 packet is missing before this one: id 15229"], sentences(packet, "lost"))
        self.assertEqual(["Reliable bunch #569 of channel 4 retransmitted: transmission 2; the first is in "
                          "frame 32"], sentences(self.packets["mixed"][37], "retransmission"))

    def lines(self, name):
        """The info column by frame number."""
        text = self.stage.tshark("-2", "-r", self.stage.copy(path_of(name)), "-T", "fields", "-e", "frame.number",
                                 "-e", "_ws.col.Info")
        return dict(line.split("\t", 1) for line in text.splitlines())

    def test_info_column(self):
        lines = self.lines("mixed")
        self.assertRegex(lines["34"], r"^S→C \[Lost 1\] \[Nak 1\] Seq=15230 ")
        self.assertRegex(lines["37"], r"^C→S \[Reported lost\] \[Nak 1\] \[Retransmission\] Seq=3655 ")
        self.assertRegex(lines["28"], r"^S→C \[Duplicate\] Seq=")
        self.assertRegex(self.lines("spurious")["24"], r"^S→C \[Retransmission\] Seq=5733 ")

    def test_flags_by_name(self):
        labels = {frame: [field.label for field in self.packets["mixed"][frame].fields if field.key == "analysis.flags"]
                  for frame in (33, 34, 37)}
        self.assertEqual(labels, {33: [], 34: ["Flags: Lost 1, Nak 1"], 37: ["Flags: Nak 1, Retransmission"]})


class Ways(harness.StageCase):
    """The findings are equal in all ways to request them."""

    def test_random_access(self):
        for name in ("mixed", "restart", "legacy"):
            with self.subTest(name):
                path = self.stage.copy(path_of(name))
                packets = self.stage.packets(path)
                frames = sorted(packets)
                random.Random(1).shuffle(frames)
                requests = [("load", {"file": path})] + [("frame", {"frame": frame, "proto": True}) for frame in frames]
                text = "".join(harness.request(i, method, **params) for i, (method, params) in enumerate(requests, 1))
                answers = [json.loads(line) for line in self.stage.run(["sharkd", "-"], stdin=text).stdout.splitlines()]
                found = {answer["id"]: sorted(labels(answer["result"])) for answer in answers if answer["id"] > 1}
                for i, frame in enumerate(frames, 2):
                    shown = sorted(node.get("showname") for node in packets[frame].protocol.iter("field")
                                   if (node.get("name") or "").startswith("uerudp.analysis."))
                    self.assertEqual(found[i], shown, f"frame {frame}")

    def test_filters_and_fields(self):
        path = self.stage.copy(path_of("mixed"))
        packets = self.stage.packets(path)
        for key in ("lost", "nak", "flags", "acked_in", "retransmitted_in", "reliable_in_flight", "ack_rtt", "jitter"):
            name = "uerudp.analysis." + key
            wanted = [frame for frame, packet in packets.items() if name in packet.experts or packet.all("analysis." + key)]
            for options in ([], ["-V"]):
                text = self.stage.tshark("-2", "-r", path, "-Y", name, *options, "-T", "fields", "-e", "frame.number")
                self.assertEqual([int(line) for line in text.split()], wanted, key)
            self.assertNotEqual(wanted, [], key)
        text = self.stage.tshark("-2", "-r", path, "-Y", "uerudp.bunch.reliable_id == 569", "-T", "fields", "-e",
                                 "frame.number")
        self.assertEqual(text.split()[0], "5")

    def test_experts(self):
        """Expert items are collected without a tree, and filters find each of them."""
        kinds = collections.Counter()
        for name in ("mixed", "wrap", "spurious", "game", "corrupt", "fuzz", "unfinished"):
            with self.subTest(name):
                path = self.stage.copy(path_of(name))
                packets = self.stage.packets(path, two_pass=False)
                items = [(kind, text) for packet in packets.values() for kind, text in packet.sentences
                        if kind.startswith("uerudp.")]
                wanted = collections.Counter(text for _, text in items)
                text = self.stage.tshark("-r", path, "-q", "-z", "expert")
                listed = {text: int(count) for count, text in re.findall(r"(\d+) +\S+ +UERUDP  (.*)", text)}
                self.assertEqual(listed, wanted)
                kinds.update(kind for kind, _ in items)
                opaque = {frame for frame, packet in packets.items() if "uerudp.expert.content" in packet.experts}
                for wish in ("uerudp.expert.content", '_ws.expert.message contains "Content not decoded"'):
                    text = self.stage.tshark("-r", path, "-Y", wish, "-T", "fields", "-e", "frame.number")
                    self.assertEqual({int(line) for line in text.split()}, opaque, wish)
        self.assertGreaterEqual(len(kinds), 10)
        self.assertGreater(kinds["uerudp.expert.content"], 1)

    def own_formats(self):
        """A capture of two connections whose content has no format of the engine."""
        path = os.path.join(self.stage.home, "streams.pcapng")
        subprocess.run([os.environ["UERUDP_PROGRAM"], "generate", "stream", "--connections=2", "--duration=1", "--no-sidecar",
                        "--output", path], check=True, stderr=subprocess.DEVNULL)
        return path

    def test_opaque_content_is_reported_once(self):
        """Where a game has its own format, one bunch of each connection has an expert item, and all show the bits."""
        opaque = 0
        for path in (*(self.stage.copy(path_of(name)) for name in ("mixed", "two-clients", "game", "voice")), self.own_formats()):
            with self.subTest(path):
                packets = self.stage.packets(path)
                streams = {}
                for frame, packet in packets.items():
                    if "uerudp.expert.content" in packet.experts:
                        streams.setdefault(packet.texts("stream")[0], []).append(frame)
                first = {}
                for frame, packet in packets.items():
                    if packet.texts("content.opaque"):
                        first.setdefault(packet.texts("stream")[0], [frame])
                        opaque += 1
                self.assertEqual(streams, first)
        self.assertGreater(opaque, 10)

    def test_opaque_content_is_reported_once_in_any_order(self):
        """Also where the last frame is looked at first."""
        for path in (self.stage.copy(path_of("mixed")), self.own_formats()):
            with self.subTest(path):
                packets = self.stage.packets(path)
                streams = {packet.texts("stream")[0] for packet in packets.values() if packet.texts("content.opaque")}
                requests = [("load", {"file": path})]
                requests += [("frame", {"frame": frame, "proto": True}) for frame in sorted(packets, reverse=True)]
                text = "".join(harness.request(i, method, **params) for i, (method, params) in enumerate(requests, 1))
                answers = self.stage.run(["sharkd", "-"], stdin=text).stdout.splitlines()
                self.assertEqual(len(streams), sum("reported once for the connection" in line for line in answers))
                self.assertNotEqual(set(), streams)

    def test_without_analysis(self):
        for packet in self.stage.packets(self.stage.copy(path_of("mixed")), {"analyse": "FALSE"}).values():
            self.assertEqual(packet.analysis(), [])
            self.assertEqual(flags(packet), set())


class Limits(harness.StageCase):
    def test_cut_packets_are_not_missing(self):
        whole = self.stage.copy(path_of("mixed"))
        cut = os.path.join(self.stage.home, "cut.pcapng")
        subprocess.run(["editcap", "-s", "80", whole, cut], check=True)
        packets = self.stage.packets(cut)
        experts = [name for packet in packets.values() for name in packet.experts]
        self.assertGreater(experts.count("uerudp.expert.size_limited"), 15)
        blamed = [frame for frame, packet in packets.items() if flags(packet) & {"ack_of_unseen", "reliable_gap"}]
        self.assertEqual(blamed, [])
        full = self.stage.packets(whole)
        lost = {name: sum(sum(p.numbers("analysis.missing")) for p in of.values())
                for name, of in (("cut", packets), ("whole", full))}
        self.assertLessEqual(lost["cut"], lost["whole"])

    def test_packet_before_a_wrap(self):
        """A capture begins after a wrap of the sequence, and a packet from before the wrap arrives late."""
        def datagram(ends, direction, seq, ack, history):
            return {"src": ends[0], "dst": ends[1], "direction": direction, "generation": "5.5",
                    "packet": {"seq": seq, "ack": ack, "history": [history]}, "bunches": []}
        server, client = "10.0.0.2:7777", "10.0.0.1:50123"
        from_server = [datagram((server, client), 2, seq, 100, 7) for seq in (1, 16383, 2)]
        from_client = [datagram((client, server), 1, 101, 16382, 7), datagram((client, server), 1, 102, 2, 0b0101)]
        path = self.stage.encode("turn.pcapng", [from_client[0], *from_server, from_client[1]])
        packets = self.stage.packets(path, {"generation": "5.5"})
        self.assertEqual([packets[frame].numbers("packet.id") for frame in (2, 3, 4)], [[1], [16383], [2]])
        self.assertEqual(sentences(packets[5], "nak"), ["2 packets are reported as not delivered: ids 16383, 1"])

    def test_small_buffer(self):
        """With a reliable buffer of 4, 3 bunches in flight are below 80 %; with one of 3 they fill it."""
        for limit, least in ((4, 4), (3, 3)):
            with self.subTest(limit=limit):
                packets = self.stage.packets(self.stage.copy(path_of("mixed")), {"reliable_buffer": limit})
                in_flight = [field.number() for packet in packets.values() for bunch in packet.groups("bunch")
                             for field in bunch if field.key == "analysis.reliable_in_flight"]
                raised = sum(p.experts.count("uerudp.analysis.buffer_high") for p in packets.values())
                self.assertEqual(raised, sum(number >= least for number in in_flight))
                self.assertIn(3, in_flight)


def labels(node):
    """The analysis in a tree of sharkd."""
    if isinstance(node, list):
        return [label for child in node for label in labels(child)]
    own = [node["l"]] if node.get("f", "").startswith("uerudp.analysis.") else []
    return own + labels(node.get("n", []) or node.get("tree", []))


if __name__ == "__main__":
    harness.main()
