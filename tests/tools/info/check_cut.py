#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_cut.py [SEED]: a capture with a snap length, whose generation is not given, has no finding, channel, bunch or
control message that the whole capture does not have."""
import collections
import json
import pathlib
import re
import subprocess
import sys
import unittest

import traffic
import uerudp

GENERATIONS = ("4.13", "4.14", "4.18", "4.19", "4.20", "4.22", "4.24", "4.25", "5.1", "5.4", "5.5", "5.8")
CAPTURES = pathlib.Path(__file__).resolve().parents[3] / "captures"
BUNCH = re.compile(r"on channel \d+, ChSequence \d+")
OF_BUNCHES = {"reliable_stall", "repeated_loss", "undelivered"}
SEVERITIES = ("error", "warning", "note")
SNAPS = (64, 96, 128, 200, 300)
CAPTURE_SNAPS = (60, 72, 80, 100, 150)
KIND_SNAPS = (60, 72, 80, 96)
# What a cut capture may say beside its whole one, as (capture, snap length or 0 for each, kind).
MORE_KINDS = {
    # the message with the reason is beyond the cut
    ("refused", 80, "closed"), ("refused", 96, "closed"), ("upgrade", 80, "closed"),
    ("compressed", 96, "unreadable"),  # the handler is not found
    ("lone-repeat", 60, "ping"),  # the headers of packets with most acks are beyond the cut
    ("fuzz", 72, "pause"), ("fuzz", 72, "silence"),  # most packets match no generation
}
Bunch = collections.namedtuple("Bunch", "channel ch_seq partial_initial data messages")
seed = 1


def statements(frames):
    """The kinds of findings, and the channels, of the only connection."""
    connection, = traffic.lines("info", "--json", frames=frames)
    return {finding["kind"] for finding in connection["findings"]}, {each["channel"] for each in connection["channels"]}


def report(path, snap=0):
    """The objects of info --json for a capture, cut by a snap length."""
    data = subprocess.run(["editcap", "-s", str(snap), path, "-"], check=True, capture_output=True).stdout if snap else \
        path.read_bytes()
    return [json.loads(line) for line in
            uerudp.run("info", "--json", "--findings=1000", "-", data=data, status=None).stdout.splitlines()]


def lower_bounds(node, path=()):
    """Each number of a report that is at least what it says, by its path."""
    for key, value in node.items() if isinstance(node, dict) else ():
        if key == "at_least" and isinstance(value, int):
            yield path, value
        yield from lower_bounds(value, (*path, key))


def by_addresses(connections):
    return {(connection["client"], connection["server"], connection["stream"]): connection for connection in connections}


def kinds_of(connections):
    return {finding["kind"] for connection in connections for finding in connection["findings"]}


def items(frames):
    """The bunches of each frame; a bunch beyond the cut has no data."""
    return {datagram["frame"]: [Bunch(bunch.get("channel"), bunch.get("ch_seq"), bunch.get("partial_initial"),
                                      bunch.get("data"), bunch.get("messages")) for bunch in datagram.get("bunches", ())]
            for datagram in traffic.lines("decode", "--json", frames=frames)}


class Cut(unittest.TestCase):
    def check(self, frames, snap, name):
        cut_frames = traffic.snapped(frames, snap)
        kinds, channels = statements(frames)
        cut_kinds, cut_channels = statements(cut_frames)
        self.assertEqual(set(), cut_kinds - kinds - {"cut"}, name)
        self.assertEqual(set(), cut_channels - channels, name)
        whole, read = items(frames), items(cut_frames)
        for frame, bunches in read.items():
            complete = [bunch for bunch in bunches if bunch.data is not None]
            self.assertEqual(complete, whole[frame][:len(complete)], (name, frame))

    def test_cut(self):
        for generation in GENERATIONS:
            frames = traffic.generate("game", "--duration=2", "--generation", generation, "--seed", seed).frames
            for snap in SNAPS:
                with self.subTest(generation, seed=seed, snap=snap):
                    self.check(frames, snap, (generation, seed, snap))

    def certainty(self, frames):
        """The severity of what is said of each reliable bunch, and whether the sentence has the condition that a packet
        may have been refused although it arrived."""
        bunches = {}
        for connection in traffic.lines("info", "--json", "--findings=1000", frames=frames):
            for finding in connection["findings"]:
                bunch = BUNCH.search(finding["text"])
                if finding["kind"] in OF_BUNCHES and bunch:
                    said = SEVERITIES.index(finding["severity"]), "may have been delivered" in finding["text"]
                    bunches[connection["stream"], finding["direction"], bunch[0]] = said
        return bunches

    def check_certainty(self, frames, name):
        """The number of bunches of which the whole capture and a cut one say something."""
        whole, compared = self.certainty(frames), 0
        for snap in (60, 90, 130, 200):
            for bunch, (severity, has_condition) in self.certainty(traffic.snapped(frames, snap)).items():
                if bunch in whole:
                    compared += 1
                    self.assertGreaterEqual(severity, whole[bunch][0], (name, snap, bunch))
                    self.assertGreaterEqual(has_condition, whole[bunch][1], (name, snap, bunch))
        return compared

    def test_certainty(self):
        """A cut packet may have an unreliable bunch that its receiver refuses: what the whole capture does not say for
        certain, the cut one does not either. Beside it, of bunches that were lost for certain both say so."""
        for path in sorted(CAPTURES.glob("*.pcapng")):
            self.check_certainty(traffic.read(path.read_bytes()), path.name)
        compared = 0
        for generation, seed, reorder in (("4.25", 3, 0), ("4.18", 4, 0.1), ("5.5", 2, 0)):
            frames = traffic.generate("game", "--duration=6", "--loss=0.3", "--generation", generation, "--seed", seed,
                                      *([f"--reorder={reorder}"] if reorder else [])).frames
            compared += self.check_certainty(frames, (generation, seed))
        self.assertGreater(compared, 10)
        frames = traffic.generate("lossy", "--duration=6", "--loss=0.3", "--generation=5.5").frames
        self.assertTrue([bunch for bunch, (severity, has_condition) in self.certainty(traffic.snapped(frames, 200)).items()
                         if severity == SEVERITIES.index("warning") and not has_condition])

    def test_packets_of_a_guessed_generation(self):
        """Without a handshake, and while not all packets match, the cut ones are of the connection, too: not 106 of
        another protocol, in a silence of their sender."""
        frames = traffic.generate("stream", "--generation=5.1", "--duration=6", "--loss=0.04", "--delay=40", "--jitter=5",
                                  "--seed=3").frames
        for snap in (60, 70, 80, 100, 130):
            cut = traffic.snapped(frames, snap)
            kinds, _ = statements(cut)
            self.assertNotIn("silence", kinds, snap)
            self.assertEqual([], [datagram["frame"] for datagram in traffic.lines("decode", "--json", frames=cut)
                                  if "packet" not in datagram], snap)

    def check_bounds(self, path, whole, snap):
        for key, connection in by_addresses(report(path, snap)).items():
            least = dict(lower_bounds(whole.get(key, {})))
            for name, value in lower_bounds(connection):
                self.assertLessEqual(value, least.get(name, value), (path.name, snap, name))

    def test_captures(self):
        """No lower bound of a cut capture is above that of the whole one."""
        for path in sorted((*CAPTURES.rglob("*.pcapng"), *CAPTURES.rglob("*.pcap"))):
            whole = by_addresses(report(path))
            for snap in CAPTURE_SNAPS:
                self.check_bounds(path, whole, snap)

    def severe(self, connections):
        return {finding["kind"] for connection in connections for finding in connection["findings"]
                if finding["severity"] in ("error", "warning")}

    def test_kinds_of_captures(self):
        """No error or warning of a cut capture is of a kind that the whole one lacks. Packets that wait for the detection
        get their ids from the header position that it finds, and a side may have closed with a packet that was cut."""
        for path in sorted((*CAPTURES.rglob("*.pcapng"), *CAPTURES.rglob("*.pcap"))):
            whole = kinds_of(report(path))
            for snap in KIND_SNAPS:
                more = self.severe(report(path, snap)) - whole - {"cut"}
                allowed = {kind for name, length, kind in MORE_KINDS if name == path.stem and length in (0, snap)}
                self.assertLessEqual(more, allowed, (path.name, snap))

    def test_few_whole_packets(self):
        """The packet ids of cut datagrams are read with the result of few whole ones, as those are, so that each report
        counts. Beside it, the cut datagrams alone are not recognised."""
        frames = traffic.read((CAPTURES / "fields" / "messages.pcapng").read_bytes())
        for snap in KIND_SNAPS:
            connection, = traffic.lines("info", "--json", frames=traffic.snapped(frames, snap))
            self.assertEqual((4, 3), (connection["acked"]["c2s"], connection["not_acked"]["c2s"]), snap)
        cut = [frame for frame in traffic.snapped(frames, KIND_SNAPS[0]) if len(frame.data) < frame.length]
        self.assertEqual([], traffic.lines("info", "--json", frames=cut))

    def test_bounds_of_a_game(self):
        """A whole datagram that does not match the engine's bounds is not malformed where it matches others that no datagram
        contradicts. Beside it, one that matches none is."""
        for name in ("utcp-ue418-clean", "utcp-ue418-loss"):
            for snap in (60, 64, 66, 68, 72, 76):
                connection, = report(CAPTURES / "recordings" / f"{name}.pcap", snap)
                self.assertNotIn("malformed", kinds_of([connection]), (name, snap))
                self.assertEqual({"c2s": 0, "s2c": 0}, connection["malformed"])
        frames = traffic.snapped(traffic.generate("game", "--duration=2", "--generation=4.18").frames, 80)
        whole = [number for number, frame in enumerate(frames) if len(frame.data) == frame.length][20]
        frames[whole] = frames[whole]._replace(data=frames[whole].data[:-1] + b"\0")  # without a terminator
        output = uerudp.run("info", "--json", "-", data=traffic.write(frames), status=1).stdout
        self.assertIn("malformed", kinds_of([json.loads(output)]))

    def test_what_is_beyond_the_cut(self):
        """A retransmission beyond the cut is not missing, and neither is the handshake."""
        frames = traffic.generate("game", "--duration=30", "--loss=0.1", "--capture-at=server", "--seed", seed).frames
        text = traffic.program("info", "--findings=100", "-", data=traffic.write(traffic.snapped(frames, 64))).decode()
        self.assertNotIn("is not known to have arrived", text)
        self.assertIn("are not in the capture, or beyond the cut", text)


if __name__ == "__main__":
    seed = sys.argv.pop(1) if len(sys.argv) > 1 else seed
    unittest.main()
