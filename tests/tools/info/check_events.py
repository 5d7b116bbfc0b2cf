#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Event logs of endpoints and of captures, which must agree (docs/events.md)."""
import concurrent.futures
import copy
import json
import pathlib
import tempfile
import unittest

import live
import uerudp
from conversation import lost_acks

ROOT = uerudp.ROOT
CAPTURES = ROOT / "captures"
KEY = "00112233445566778899aabbccddeeff" * 2
TICK = ["--tick", 120]


class Log:
    """A log: a header and events. Each must have the keys of the schema."""

    def __init__(self, text):
        header, *events = [json.loads(line, object_pairs_hook=uerudp.without_duplicates) for line in text.splitlines()]
        assert header["schema"] == 1 and header["format"] == "uerudp-events", header
        self.vantage = header["vantage_point"]["type"]
        self.title = header["title"]
        self.events = events
        for event in events:
            assert event["schema"] == 1 and event["role"] in ("client", "server"), event
            assert set(event) <= {"schema", "time", "name", "stream", "frame", "role", "data"}, event
            assert (self.vantage == "network") == ("frame" in event), event

    def named(self, *names, role=None):
        return [event for event in self.events
                if event["name"].partition(":")[2] in names and role in (None, event["role"])]

    def values(self, key, *names, role=None):
        return [event["data"][key] for event in self.named(*names, role=role)]

    def until(self, time):
        shorter = copy.copy(self)
        shorter.events = [event for event in self.events if int(event["time"]) < time]
        return shorter


def documented():
    """The names and keys of the tables in docs/events.md."""
    rows = [line.split("|")[1:4] for line in (ROOT / "docs" / "events.md").read_text(encoding="utf-8").splitlines()
            if line.startswith("| `") and ":" in line.split("|")[1]]
    return {name.strip().strip("`"): set(keys.replace("`", "").replace(",", " ").split()) for name, keys, _ in rows}


def from_capture(path, *options):
    return Log(uerudp.run("decode", "--events", "-", *options, path).stdout.decode())


class Session:
    """A check over a bad network: the logs of client and server, and the log of a capture at the client."""

    def __init__(self, generation, *options, captured=True):
        wire = ["--generation", generation, "--loss", 0.1, *TICK, *options]
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            with live.Server("--once", "--events", folder / "server", "--seed", 1, *wire) as server:
                live.check(server, "--events", folder / "client", "--pcap", folder / "pcap", "--seed", 2, *wire)
                assert server.wait() == 0
            self.client = Log((folder / "client").read_text())
            self.server = Log((folder / "server").read_text())
            self.network = from_capture(folder / "pcap") if captured else None


def end_of(log):
    """The time at which the connection closed."""
    return next(int(event["time"]) for event in log.named("connection_state_updated")
                if event["data"]["new"] == "closed")


class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.session = Session("5.5", "--jitter", 3)
        cls.end = end_of(cls.session.client)

    def packet_ids(self, log, name):
        ids = log.until(self.end).values("packet_id", name, role="client")
        self.assertEqual(len(ids), len(set(ids)))
        return ids

    def test_vantage(self):
        logs = (self.session.client, self.session.server, self.session.network)
        self.assertEqual([log.vantage for log in logs], ["client", "server", "network"])
        for log in logs[:2]:
            times = [int(event["time"]) for event in log.events]
            self.assertEqual(times, sorted(times))

    def test_metrics_have_the_time_of_the_ack(self):
        for log in (self.session.client, self.session.server):
            pairs = [(before, event) for before, event in zip(log.events, log.events[1:])
                     if event["name"] == "recovery:metrics_updated"]
            self.assertGreater(len(pairs), 10)
            self.assertLessEqual({before["name"] for before, _ in pairs}, {"recovery:packet_acked", "recovery:packet_lost"})
            self.assertEqual([before["time"] for before, _ in pairs], [event["time"] for _, event in pairs])

    def test_acked_and_lost_packets(self):
        """Endpoint and capture agree on the client's packets, in their order."""
        for name in ("packet_acked", "packet_lost"):
            inside = self.packet_ids(self.session.client, name)
            self.assertGreater(len(inside), 10)
            self.assertEqual(inside, self.packet_ids(self.session.network, name))

    def test_packets(self):
        """The capture is taken after the simulated loss: lost packets are missing there and reported as missing."""
        client, network = self.session.client, self.session.network
        sent = client.values("packet_id", "packet_sent", role="client")
        seen = network.values("packet_id", "packet_sent", role="client")
        self.assertEqual(len(sent), len(set(sent)))
        self.assertLess(set(seen), set(sent))
        gaps = [(event["data"]["first_packet_id"], event["data"]["last_packet_id"])
                for event in network.named("packets_missing", role="client")]
        missing = {number for first, last in gaps for number in range(first, last + 1)} - set(seen)
        self.assertEqual(missing, {number for number in set(sent) - set(seen) if number < max(seen)})
        self.assertEqual(client.values("packet_id", "packet_received", role="server"),
                         network.values("packet_id", "packet_sent", role="server"))

    def test_bunches(self):
        """Each reliable bunch that one side delivers was sent by the other side and is in the capture."""
        def reliable(log, *names, role):
            return {(event["data"]["channel"], event["data"]["reliable_id"])
                    for event in log.named(*names, role=role) if "reliable_id" in event["data"]}
        for role, own, other in (("client", self.session.client, self.session.server),
                                 ("server", self.session.server, self.session.client)):
            sent = reliable(own, "bunch_sent", role=role)
            delivered = reliable(other, "bunch_delivered", role=role)
            self.assertGreater(len(delivered), 60)
            self.assertLessEqual(delivered, sent)
            self.assertLessEqual(delivered, reliable(self.session.network, "bunch_sent", role=role))
            self.assertEqual(reliable(other, "bunch_received", role=role), sent)
            again = [event for event in own.named("bunch_sent", role=role) if event["data"].get("copy", 1) > 1]
            self.assertGreater(len(again), 0)

    def test_channels(self):
        def channels(log, name, role):
            return sorted(log.values("channel", name, role=role))
        for role in ("client", "server"):
            for name in ("channel_opened", "connection_closed"):
                expected = channels(self.session.network, name, role)
                self.assertEqual(channels(self.session.client, name, role), expected)
                self.assertEqual(channels(self.session.server, name, role), expected)
        self.assertEqual(channels(self.session.client, "channel_opened", "server"), [2, 3, 4, 5])
        self.assertEqual(channels(self.session.server, "connection_closed", "client"), [0])

    def test_states_and_metrics(self):
        self.assertEqual(self.session.client.values("new", "connection_state_updated"),
                         ["handshaking", "pending", "open", "closed"])
        self.assertEqual(self.session.server.named("connection_state_updated")[-1]["data"],
                         {"new": "closed", "reason": "ControlChannelClose"})
        rtts = self.session.client.values("smoothed_rtt_ns", "metrics_updated")
        self.assertGreater(min(rtts), 0)
        self.assertLess(max(rtts), 10**9)

    def test_handshake(self):
        types = self.session.network.values("type", "handshake_sent")
        self.assertEqual(types[:1] + types[-1:], ["Initial", "Ack"])
        self.assertEqual(self.session.client.values("type", "handshake_received")[-1:], ["Ack"])

    def test_every_event_is_documented(self):
        known = documented()
        for log in (self.session.client, self.session.server, self.session.network):
            for event in log.events:
                self.assertIn(event["name"], known)
                self.assertLessEqual(set(event["data"]), known[event["name"]], event["name"])


class OtherSessions(unittest.TestCase):
    def test_legacy(self):
        """The capture shows an ack that is lost later. When the capture shows the loss, the log withdraws the ack."""
        session = Session("4.20")
        network = session.network.until(end_of(session.client))
        acked = set(session.client.values("packet_id", "packet_acked", role="client"))
        lost = set(session.client.values("packet_id", "packet_lost", role="client"))
        self.assertGreater(len(lost), 10)
        seen = set(network.values("packet_id", "packet_acked", role="client"))
        self.assertFalse(acked - seen)
        self.assertFalse(set(network.values("packet_id", "packet_lost", role="client")) - lost)

    def test_encrypted(self):
        session = Session("5.1", "--key", KEY, captured=False)
        sent = session.client.values("packet_id", "packet_sent", role="client")
        self.assertEqual(sent, list(range(sent[0], sent[0] + len(sent))))
        self.assertGreater(len(session.client.named("bunch_sent")), 100)

    def test_many_clients(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "log"
            with live.Server("--events", path, *TICK) as server, concurrent.futures.ThreadPoolExecutor(3) as pool:
                list(pool.map(lambda seed: live.client(server, "--seed", seed, *TICK, data=b"hello\n"), range(3)))
                server.wait_for("left", 3)
                self.assertFalse(path.exists())  # the log appears when it is complete
            log = Log(path.read_text())
        self.assertEqual({event["stream"] for event in log.events}, {0, 1, 2})
        self.assertEqual(sorted(event["stream"] for event in log.named("connection_closed")), [0, 1, 2])


class Captures(unittest.TestCase):
    def test_lost_acks(self):
        log = Log(uerudp.run("decode", "--events", "-", "-", data=lost_acks().capture()).stdout.decode())
        lost = [(event["frame"], event["data"]["packet_id"], event["data"].get("acks_lost", False))
                for event in log.named("packet_lost")]
        self.assertEqual([(28, 2, False), (28, 3, False)] + [(29, number, True) for number in range(11, 26)], lost)

    def test_every_capture(self):
        known = documented()
        names = set()
        for path in sorted(CAPTURES.glob("*.pcapng")):
            result = uerudp.run("decode", "--events", "-", path, status=None)
            for event in Log(result.stdout.decode()).events:
                names.add(event["name"])
                self.assertLessEqual(set(event["data"]), known[event["name"]], event["name"])
        self.assertIn("transport:bunch_sent", names)

    def test_findings(self):
        """The log has every finding of info, after the events of its datagrams; only at the end those of the end."""
        for path in (*sorted(CAPTURES.glob("*.pcapng")), *sorted(CAPTURES.glob("recordings/*.pcap*"))):
            infos = map(json.loads, uerudp.run("info", "--json", "--findings", 1000, path, status=None).stdout.splitlines())
            listed = [(info["stream"], *(finding[key] for key in ("kind", "severity", "text")), tuple(finding["frames"]))
                      for info in infos for finding in info["findings"]]
            log = Log(uerudp.run("decode", "--events", "-", path, status=None).stdout.decode())
            found = log.named("finding")
            logged = [(event["stream"], *(event["data"][key] for key in ("kind", "severity", "text")),
                       tuple(event["data"]["frames"])) for event in found]
            with self.subTest(path.name):
                self.assertEqual(sorted(listed), sorted(logged))
                self.assertEqual([], [event for event in found
                                      if any(frame > event["frame"] for frame in event["data"]["frames"])])
                frames = [event["frame"] for event in log.events]
                self.assertEqual(sorted(frames), frames)

    def test_redacted_findings(self):
        """Sentences may quote messages."""
        found = Log(uerudp.run("decode", "--events", "-", "--redact", CAPTURES / "kick.pcapng", status=None)
                    .stdout.decode()).named("finding")
        self.assertNotEqual([], found)
        self.assertEqual([], [event for event in found if "text" in event["data"]])

    def test_damaged_number(self):
        """A damaged packet id is far ahead; the next packet withdraws the missing packets before it."""
        log = from_capture(CAPTURES / "corrupt.pcapng")
        found = [(event["frame"], event["name"].partition(":")[2], event["data"])
                for event in log.named("packets_missing", "packets_disproved")]
        ahead = {"first_packet_id": 624, "last_packet_id": 2671}
        self.assertEqual([(35, "packets_missing", ahead), (38, "packets_disproved", {**ahead, "first_frame": 35}),
                          (38, "packets_missing", {"first_packet_id": 624, "last_packet_id": 624})], found)

    def test_streams(self):
        path = next(iter(sorted(CAPTURES.glob("*.pcapng"))))
        everything = from_capture(path)
        self.assertEqual(from_capture(path, "--stream", 0).events,
                         [event for event in everything.events if event["stream"] == 0])
        self.assertEqual(from_capture(path, "--stream", 99).events, [])
        self.assertIn(path.name, everything.title)

    def test_file(self):
        path = next(iter(sorted(CAPTURES.glob("*.pcapng"))))
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log.jsonl"
            output = uerudp.run("decode", "--events", log, path).stdout
            self.assertEqual(output, b"")
            self.assertEqual(Log(log.read_text()).events, from_capture(path).events)
            self.assertEqual([each.name for each in pathlib.Path(folder).iterdir()], ["log.jsonl"])

    def test_pipe(self):
        path = next(iter(sorted(CAPTURES.glob("*.pcapng"))))
        piped = uerudp.run("decode", "--events", "-", "-", data=path.read_bytes()).stdout
        self.assertEqual(Log(piped.decode()).events, from_capture(path).events)


class Mistakes(unittest.TestCase):
    def errors(self, *arguments):
        return uerudp.run(*arguments, status=2).stderr.decode()

    def test_options(self):
        for option in ("--json", "--quiet", "--fields=frame"):
            self.assertIn("exclude each other", self.errors("decode", "--events", "-", option, "x"))
        for option in ("--channel=0", "--kind=packet", "--direction=c2s"):
            self.assertIn("only --stream", self.errors("decode", "--events", "-", option, "x"))

    def test_no_capture(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            self.errors("decode", "--events", log, "/nonexistent")
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    def test_unwritable(self):
        self.assertIn("/nonexistent", self.errors("decode", "--events", "/nonexistent/log", "x"))
        self.assertIn("/nonexistent", self.errors("serve", "--port", 0, "--events", "/nonexistent/log"))
        self.assertIn("/nonexistent", self.errors("connect", "--events", "/nonexistent/log", "127.0.0.1:9"))
        self.assertIn("cannot write", self.errors("decode", "--events", "/dev/full", *sorted(CAPTURES.glob("*.pcapng"))))


if __name__ == "__main__":
    uerudp.main()
