#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp info on recordings of other implementations, against their ground truth."""
import collections
import json
import shutil
import subprocess
import unittest

import uerudp
import recordings


def info(path, *options):
    result = uerudp.run("info", "--json", "--bits", *options, path, status=None)
    return [json.loads(line, object_pairs_hook=uerudp.without_duplicates) for line in result.stdout.decode().splitlines()]


def sent(name):
    return json.loads(recordings.path(name).with_suffix(".sent.json").read_text())


def negative_notifications(truth, side):
    """The number of packets of a side that were reported to it as not delivered."""
    return len({n["packet_id"] for n in truth["delivery_notifications"] if n["side"] == side and not n["ack"]})


class RealData(unittest.TestCase):
    def one(self, name):
        (path, options), = [(p, o) for n, p, o in uerudp.captures() if n == name]
        connection, = info(path, *options)
        return connection

    def check_loss(self, name, client, server, **settings):
        truth, connection = sent(name), self.one(name)
        counted = {"c2s": negative_notifications(truth, "client"), "s2c": negative_notifications(truth, "server")}
        self.assertEqual({"c2s": client, "s2c": server}, counted)
        self.assertEqual(counted, connection["not_acked"])
        self.assertEqual({"c2s": None, "s2c": None}, connection["lost"])
        for finding in connection["findings"]:
            self.assertNotIn("lost", finding["text"])
        datagrams = truth["datagrams"]
        for key, way in (("c2s", "C2S"), ("s2c", "S2C")):
            self.assertEqual(len([d for d in datagrams if d["dir"] == way]), connection["packets"][key])
            self.assertEqual(sum(d["len"] for d in datagrams if d["dir"] == way), connection["bytes"][key])

    def test_loss(self):
        self.check_loss("utcp-loss", 40, 44)

    def test_loss_of_legacy(self):
        self.check_loss("utcp-ue418-loss", 61, 75)

    def test_sessions_without_handshake(self):
        """Frame 3 begins the session of a second client at the addresses of the first: only packets that its acks
        name are missing."""
        found = [(p, o) for n, p, o in uerudp.captures() if n == "utcp-tests-ue50"]
        if not found:
            self.skipTest("needs UERUDP_SHARED")
        (path, options), = found
        first, second = info(path, *options)
        self.assertEqual([{"first": 1, "last": 2}, {"first": 3, "last": 7}], [first["frames"], second["frames"]])
        self.assertEqual([], first["findings"])
        self.assertEqual(["capture_incomplete"], [finding["kind"] for finding in second["findings"]])
        self.assertEqual(({"c2s": 2, "s2c": 1}, {"c2s": 1, "s2c": 0}), (second["lost"], second["not_acked"]))

    def test_stalls_name_lost_frames(self):
        """The simulated network dropped each frame that a stall names as not delivered."""
        for name in ("utcp-loss", "utcp-ue418-loss"):
            dropped = {d["frame"] for d in sent(name)["datagrams"] if d["dropped"]}
            stalls = [f for f in self.one(name)["findings"] if f["kind"] == "reliable_stall"]
            self.assertGreater(len(stalls), 2)
            for stall in stalls:
                *lost, arrived = stall["frames"]
                self.assertTrue(set(lost) <= dropped, stall)
                self.assertNotIn(arrived, dropped)

    def test_clean(self):
        peculiar = {"utcp-clean": {"client_id"}}  # it sends client id 0 in packets
        for name in ("utcp-clean", "utcp-orig-clean", "utcp-ue418-clean"):
            connection = self.one(name)
            kinds = {finding["kind"] for finding in connection["findings"]}
            self.assertEqual(peculiar.get(name, set()), kinds - {"control_message", "ping"}, name)
            self.assertEqual({"c2s": 0, "s2c": 0}, connection["not_acked"])
            self.assertEqual({"c2s": 0, "s2c": 0}, connection["lost"])

    def test_restart(self):
        connection = self.one("utcp-orig-restart")
        self.assertEqual("10.0.0.1:50001", connection["client"])
        self.assertEqual("10.0.0.1:50000", connection["client_before"])
        self.assertIn("restart", [finding["kind"] for finding in connection["findings"]])

    def test_parts_add_up(self):
        for name, path, options in uerudp.captures():
            lengths = {}
            for datagram in uerudp.decode(*options, path, status=None):
                key = datagram.get("stream"), "s2c" if datagram.get("direction") == 2 else "c2s"
                lengths[key] = lengths.get(key, 0) + datagram["length"] * 8
            for connection in info(path, *options):
                for way in ("c2s", "s2c"):
                    total = connection["bits"]["total"][way]
                    self.assertEqual(lengths.get((connection["stream"], way), 0), total, name)
                    self.assertEqual(total, sum(part[way] for part in connection["bits"]["parts"]), name)
                    self.assertEqual(total, connection["bytes"][way] * 8)


# Of each direction: bunches, bits by channel, and reliable bunches that are missing on a channel: between two, and before the
# first, whose sequence follows from the handshake, if there is a second one.
COUNTS = """
def way: if .direction == 2 then "s2c" else "c2s" end;
def missing(first): [first % 1024, .[].ch_seq] | [.[1:], .[:-1]] | transpose | map((.[0] - .[1] - 1 + 1024) % 1024) | if length > 1 then add else 0 end;
(map(.handshake.client_seq // empty)[0]) as $client | (map(.handshake.server_seq // empty)[0]) as $server |
group_by(way) | map((.[0] | way) as $way | {key: $way, value: [.[].bunches[]?] | {
  bunches: length,
  bits: (group_by(.channel) | map({key: (.[0].channel | tostring), value: (map(.data_bits) | add)}) | from_entries),
  missing: (map(select(.reliable)) | group_by(.channel) | map({key: (.[0].channel | tostring), value: missing(if $way == "c2s" then $client else $server end)}) |
            map(select(.value != 0)) | from_entries)}}) | from_entries
"""

# Of each transmission of a bunch: the frame and its time in ns, as a text, because jq has no integers of 64 bits.
TRANSMISSIONS = """
map(select(.direction == $direction) | {frame, time} + (.bunches[]? | select(.reliable and .channel == $channel and .ch_seq == $seq) | {ch_seq}))
"""


@unittest.skipUnless(shutil.which("jq"), "jq is not installed")
class CountedWithJq(unittest.TestCase):
    """What info answers is what one counts oneself in decode --json."""

    def counted(self, path, program, **arguments):
        lines = uerudp.run("decode", "--json", path, status=None).stdout
        options = [word for name, value in arguments.items() for word in ("--argjson", name, json.dumps(value))]
        return json.loads(subprocess.run(["jq", "-s", *options, program], input=lines, stdout=subprocess.PIPE, check=True).stdout)

    def test_bandwidth_and_losses_of_a_game(self):
        path = recordings.path("fortnite1510-081d-plain-scrubbed")
        counted = self.counted(path, COUNTS)
        connection, = info(path, "--bandwidth", "--findings=1000")
        self.assertEqual({"c2s": 34, "s2c": 1}, {way: counted[way]["bunches"] for way in counted})
        for way, counts in counted.items():
            self.assertEqual(counts["bunches"], connection["bandwidth"]["bunches"][way])
            bits = {str(row["channel"]): row["total"][way] - row["bunch_headers"][way] for row in connection["bandwidth"]["channels"]}
            self.assertEqual(counts["bits"], {channel: number for channel, number in bits.items() if number})
            missing = collections.Counter()
            for finding in connection["findings"]:
                if finding["kind"] == "reliable_gap" and finding["direction"] == way:
                    missing[str(finding["channel"])] += finding["count"]
            self.assertEqual(counts["missing"], dict(missing))

    def test_stalls(self):
        path = recordings.path("utcp-loss")
        stalls = [f for f in info(path, "--findings=1000")[0]["findings"] if f["kind"] == "reliable_stall"]
        self.assertGreater(len(stalls), 2)
        for stall in stalls:
            sent = self.counted(path, TRANSMISSIONS, direction=1 + (stall["direction"] == "s2c"), channel=stall["channel"],
                                seq=stall["first_ch_seq"])
            times = {transmission["frame"]: int(transmission["time"]) for transmission in sent}
            self.assertLessEqual(set(stall["frames"]), set(times), stall)
            self.assertEqual(min(times), stall["frames"][0], stall)
            self.assertEqual(stall["duration_ms"] * 1e6, times[stall["frames"][-1]] - times[stall["frames"][0]], stall)


if __name__ == "__main__":
    uerudp.main()
