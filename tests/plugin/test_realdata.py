#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every key of an independent decoder has the same value and bits in the plugin."""
import hashlib
import json
import unittest

import harness

# Name in NAME.expected.json: key of uerudp. Keys that need more than a comparison of numbers have a method below.
FRAME_NUMBERS = {"handshake": "is_handshake", "magic": "magic", "session_id": "session_id", "client_id": "client_id",
                 "seq": "packet.seq", "packet_id": "packet.seq", "acked_seq": "packet.ack",
                 "history_words": "packet.history_words", "has_packet_info": "packet.has_info",
                 "jitter_ms": "packet.jitter_ms", "has_server_frame_time": "packet.has_frame_time",
                 "server_frame_time": "packet.frame_time_ms"}
HANDSHAKE_NUMBERS = {"restart": "restart", "min_version": "min_version", "cur_version": "version", "type": "type",
                     "sent_count": "sent_count", "network_version": "network_version",
                     "runtime_features": "features", "secret_id": "secret_id"}
BUNCH_NUMBERS = {"control": "control", "open": "open", "close": "close", "dormant": "dormant", "paused": "paused",
                 "reliable": "reliable", "ch": "channel", "exports": "has_exports", "must_be_mapped": "has_mapped",
                 "partial": "partial", "initial": "partial_initial", "final": "partial_final",
                 "ch_sequence": "ch_seq", "ch_type": "ch_type", "close_reason": "close_reason",
                 "data_bits": "data_bits"}
ACK_NUMBERS = {"ack_packet_id": "ack_id", "has_server_frame_time": "has_frame_time", "kbytes_per_second": "remote_kbps"}
# Keys that the independent decoder reports as 0 when the wire has no such bit.
ABSENT_AS_ZERO = {"open", "close", "dormant", "runtime_features"}
DIRECTIONS = {"C2S": 1, "S2C": 2}


class Comparison:
    """Compares one frame with its expectation; collects the differences."""

    def __init__(self, packet, expected):
        self.packet = packet
        self.compared = 0
        self.faults = []
        self.compare_frame(dict(expected))

    def check(self, key, got, want):
        self.compared += 1
        if got != want:
            self.faults.append(f"frame {self.packet.frame} {key}: got {got!r}, want {want!r}")

    def check_numbers(self, names, expected, prefix, numbers):
        """Removes the keys of the table from expected."""
        for name, key in names.items():
            if name in expected:
                want = expected.pop(name)
                got = numbers(prefix + key)
                absent = got == [] and want == 0 and name in ABSENT_AS_ZERO
                self.check(prefix + key, [0] if absent else got, [want])

    def compare_frame(self, expected):
        packet = self.packet
        expected.pop("frame")
        self.check("direction", packet.numbers("direction"), [DIRECTIONS[expected.pop("dir")]])
        self.check("length", int(packet.protocol.get("size")), expected.pop("len"))
        self.check_numbers(FRAME_NUMBERS, expected, "", packet.numbers)
        self.compare_ends(expected)
        if "history" in expected:
            words = [int(word, 16) for word in expected.pop("history")]
            self.check("packet.history", packet.numbers("packet.history"), words)
        if "custom" in expected:
            want = int(expected.pop("custom"), 16)
            self.check("packet.extra", [int.from_bytes(f.payload(), "little") for f in packet.all("packet.extra")], [want])
        self.compare_handshake(dict(expected.pop("hs", {})))
        self.compare_items("bunch", expected.pop("bunches", []), self.compare_bunch)
        self.compare_items("legacy", expected.pop("acks", []), self.compare_ack)
        self.check("keys without a comparison", sorted(expected), [])

    def compare_ends(self, expected):
        ends = [field.begin_bit for field in self.packet.all("terminator")]
        self.check("outer terminator", ends[-1:], [expected.pop("payload_bits")])
        if "netconn_bits_end" in expected:
            self.check("inner terminator", ends[:-1], [expected.pop("netconn_bits_end")])

    def compare_handshake(self, expected):
        packet = self.packet
        self.check_numbers(HANDSHAKE_NUMBERS, expected, "handshake.", packet.numbers)
        for key in ("cookie", "orig_cookie"):
            if key in expected:
                got = [field.payload().hex() for field in packet.all("handshake." + key)]
                self.check("handshake." + key, got, [expected.pop(key)])
        if "timestamp" in expected:
            want = expected.pop("timestamp")
            got = [float(text) for text in packet.texts("handshake.timestamp")]
            self.check("handshake.timestamp", [abs(time - want) <= 1e-9 * max(1, abs(want)) for time in got], [True])
        if "random_bits" in expected:
            got = [len(field.payload()) * 8 for field in packet.all("handshake.random")]
            self.check("handshake.random", got, [expected.pop("random_bits")])
        left = expected.pop("left_bits", None)
        if left:
            got = [len(field.payload()) * 8 for field in packet.all("handshake.diagnostics")]
            self.check("handshake.diagnostics", got, [left])
        self.check("handshake keys without a comparison", sorted(expected), [])

    def compare_items(self, kind, expected, compare):
        groups = self.packet.groups(kind)
        self.check(f"number of {kind} items", len(groups), len(expected))
        for fields, wanted in zip(groups, expected):
            compare(fields, dict(wanted))

    @staticmethod
    def numbers_in(fields):
        return lambda key: [field.number() for field in fields if field.key == key]

    def compare_bunch(self, fields, expected):
        begin, data = fields[0].begin_bit, next(f for f in fields if f.key == "bunch.data_bits")
        header_end = data.begin_bit + data.bits
        self.check("first bit of the bunch", begin, expected.pop("bit"))
        self.check("bits of the header", header_end - begin, expected.pop("hdr_bits"))
        self.check_numbers(BUNCH_NUMBERS, expected, "bunch.", self.numbers_in(fields))
        payload = b"".join(field.payload() for field in fields if field.key == "bunch.data")
        self.check("bunch.data", hashlib.sha1(payload).hexdigest()[:16], expected.pop("data_sha1"))
        if "name" in expected:
            index = self.numbers_in(fields)("bunch.name_index")
            self.check("bunch.name_index", [f"#{n}" for n in index], [expected.pop("name")])
        self.check("bunch keys without a comparison", sorted(expected), [])

    def compare_ack(self, fields, expected):
        self.check("first bit of the ack", fields[0].begin_bit, expected.pop("bit"))
        self.check_numbers(ACK_NUMBERS, expected, "legacy.", self.numbers_in(fields))
        self.check("ack keys without a comparison", sorted(expected), [])


class RealData(unittest.TestCase):
    def test_captures(self):
        with harness.Stage() as stage:
            for name, path in harness.recorded().items():
                with self.subTest(name):
                    self.compare(stage, path)

    def compare(self, stage, path):
        with open(path.removesuffix(".pcap") + ".expected.json", encoding="utf-8") as file:
            frames = json.load(file)["frames"]
        packets = stage.packets(stage.copy(path), harness.settings_of(path))
        self.assertEqual(sorted(packets), [frame["frame"] for frame in frames])
        results = [Comparison(packets[frame["frame"]], frame) for frame in frames]
        faults = [fault for result in results for fault in result.faults]
        compared = sum(result.compared for result in results)
        print(f"{harness.capture_name(path)}: {len(frames)} frames, {compared} comparisons, {len(faults)} wrong")
        self.assertEqual(faults[:10], [])


if __name__ == "__main__":
    harness.main()
