#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Datagrams in ICMP errors are not datagrams of the connection that they quote; and a client whose address a router changes
gets two connections, of which nothing is said that the whole capture refutes."""
import json
import pathlib
import re
import tempfile
import unittest

import traffic
import uerudp

GENERATIONS = ("4.18", "4.22", "4.25", "5.1", "5.5")
LOSSY = ("lossy", "--duration=2", "--dup=0.03", "--loss=0.05")
LOSSLESS = ("login", "--duration=3"), ("game", "--duration=3")
QUOTED_BYTES = 65535, 28  # all of the IP packet; only its head and that of UDP
EVERY = 5
OTHER_PORT = 61000
# what a capture without loss may be said to have when packets of a connection are at another address
INCOMPLETE = {"silence", "pause", "capture_incomplete", "reliable_gap", "reliable_jump", "packets_lost"}


def renumbered(value, is_frame=False):
    """The object of info --json with the frame numbers of a capture that has another frame after each EVERYth."""
    def later(frame):
        return frame + (frame - 1) // EVERY

    def later_in(text):
        return re.sub(r"\bframes? \d+( (to|and) \d+)?", lambda found: re.sub(
            r"\d+", lambda number: str(later(int(number[0]))), found[0]), text)

    if isinstance(value, dict):
        return {key: renumbered(each, is_frame or key in ("frame", "frames")) for key, each in value.items()}
    if isinstance(value, list):
        return [renumbered(each, is_frame) for each in value]
    if isinstance(value, str):
        return later_in(value)
    return later(value) if is_frame and isinstance(value, int) else value


class IcmpErrors(unittest.TestCase):
    def test_info(self):
        """They change the numbers of frames, and nothing else."""
        for generation in GENERATIONS:
            frames = traffic.generate(*LOSSY, "--generation", generation).frames
            expected = [renumbered(each) for each in traffic.lines("info", "--json", frames=frames)]
            for quoted_bytes in QUOTED_BYTES:
                with self.subTest(generation, quoted_bytes=quoted_bytes):
                    quoting = traffic.answered(frames, EVERY, lambda frame: traffic.icmp_error(frame, quoted_bytes))
                    self.assertEqual(expected, traffic.lines("info", "--json", frames=quoting))

    def test_like_frames_of_other_protocols(self):
        """Every output is that of a capture with ARP in their place."""
        frames = traffic.generate(*LOSSY, "--generation", "5.1").frames
        captures = [traffic.write(traffic.answered(frames, EVERY, answer))
                    for answer in (traffic.arp_request, *(lambda frame, bytes=bytes: traffic.icmp_error(frame, bytes)
                                                          for bytes in QUOTED_BYTES))]
        for arguments in (["info"], ["decode", "--json"], ["decode", "--events", "-"]):
            outputs = {traffic.program(*arguments, "-", data=data) for data in captures}
            self.assertEqual(1, len(outputs), arguments)
            self.assertGreater(len(outputs.pop()), 1000)


class MovedClient(unittest.TestCase):
    """Another port of the client, and no restart of its handshake."""

    def connections(self, frames):
        found = traffic.lines("info", "--json", frames=frames)
        self.assertEqual([traffic.SERVER_PORT] * 2, [int(each["server"].rpartition(":")[2]) for each in found])
        self.assertEqual(OTHER_PORT, int(found[1]["client"].rpartition(":")[2]))
        return found

    def assert_packets(self, whole, parts):
        """Each packet is in one of the connections."""
        for way in traffic.WAYS:
            self.assertEqual(whole["packets"][way], sum(each["packets"][way] for each in parts), way)

    def test_moved(self):
        for scenario in LOSSLESS:
            for generation in GENERATIONS:
                with self.subTest(scenario[0], generation=generation):
                    frames = traffic.generate(*scenario, "--generation", generation).frames
                    whole, = traffic.lines("info", "--json", frames=frames)
                    parts = self.connections(traffic.moved(frames, len(frames) // 2, OTHER_PORT))
                    self.assert_packets(whole, parts)
                    for part in parts:
                        self.assertEqual([], [each["text"] for each in part["findings"]])
                        self.assertEqual([0, 0, 0, 0], [part[key][way] for key in ("lost", "not_acked")
                                                        for way in traffic.WAYS])

    def test_moved_and_back(self):
        """What the first connection lacks in between had another address, and no sentence says otherwise."""
        for scenario in LOSSLESS:
            for generation in GENERATIONS:
                with self.subTest(scenario[0], generation=generation):
                    frames = traffic.generate(*scenario, "--generation", generation).frames
                    whole, = traffic.lines("info", "--json", frames=frames)
                    begin, end = len(frames) // 3, 2 * len(frames) // 3
                    parts = self.connections(traffic.moved(frames, begin, OTHER_PORT)[:end] + frames[end:])
                    self.assert_packets(whole, parts)
                    self.assertEqual([], parts[1]["findings"])
                    findings = {each["kind"]: each["text"] for each in parts[0]["findings"]}
                    self.assertEqual(set(), set(findings) - INCOMPLETE, findings)
                    for kind in {"silence", "pause"} & set(findings):
                        self.assertIn("another address", findings[kind])
                    self.assertIn("pause", findings)


class MovedSoon(unittest.TestCase):
    """A client that gets another address less than ten seconds after its handshake ignores the server's requests of a restart
    until then: one connection, whose packets in between did not arrive."""

    COUNTS = "packets", "not_acked", "lost", "resends", "closed_by"

    def test_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            scenario, capture = pathlib.Path(folder, "move.ini"), pathlib.Path(folder, "move.pcapng")
            for generation in ("4.22", "5.1", "5.8"):
                for move in ("3", "9.5"):
                    scenario.write_text(f"[scenario]\nbase=game\nduration=12\nmove={move}\n[path client]\ndelay=20\n[path server]\ndelay=20\n")
                    for point in ("client", "server"):
                        with self.subTest(generation, move=move, point=point):
                            uerudp.run("generate", "--generation", generation, "--capture-at", point, scenario, "-o", capture)
                            expected, = json.loads(capture.with_suffix(".sent.json").read_text())["connections"]
                            found, = (json.loads(line) for line in uerudp.run("info", "--json", capture).stdout.splitlines())
                            self.assertEqual({key: expected[key] for key in self.COUNTS}, {key: found[key] for key in self.COUNTS})
                            self.assertEqual([], [each["text"] for each in found["findings"] if "not completed" in each["text"]])


class OtherFrames(unittest.TestCase):
    TUNNEL = "{} frames of a tunnel (IP over IP, or GRE), whose content is not read"

    def notes(self, frames):
        return uerudp.run("info", "-", data=traffic.write(frames), status=None).stderr.decode()

    def test_tunnel(self):
        """A capture of a tunnel that is not read has no connection, and the reason is printed."""
        frames = traffic.generate(*LOSSLESS[0]).frames
        self.assertIn(self.TUNNEL.format(len(frames)), self.notes(traffic.in_gre(frames)))

    def test_tunnel_beside_a_connection(self):
        """So is it where another connection can be read."""
        frames = traffic.generate(*LOSSLESS[0]).frames
        notes = self.notes(frames + traffic.in_gre(frames))
        self.assertIn(self.TUNNEL.format(len(frames)), notes)
        self.assertNotIn("without UDP", notes)
        self.assertIn("in 1 connection", notes)

    def test_frames_beside_a_connection(self):
        notes = self.notes(traffic.answered(traffic.generate(*LOSSLESS[0]).frames, EVERY, traffic.arp_request))
        self.assertNotIn("without UDP", notes)
        self.assertNotIn("tunnel", notes)


class Echoes(unittest.TestCase):
    """Something that is no server returns what it receives."""
    NOTE = "{} datagrams of a client that came back to it unchanged"

    def returned(self, frame):
        data = frame.data
        ports = data[36:38] + data[34:36]
        return frame._replace(time_ns=frame.time_ns + 1, data=data[:26] + data[30:34] + data[26:30] + ports + data[38:])

    def test_roles(self):
        """The client stays the one that sent first, and is not answered."""
        for generation in GENERATIONS:
            for count in (1, 5):
                initial = traffic.generate(*LOSSLESS[0], "--generation", generation).frames[0]
                sent = [initial._replace(time_ns=initial.time_ns + i * 10**9) for i in range(count)]
                data = traffic.write([each for frame in sent for each in (frame, self.returned(frame))])
                info, = traffic.lines("info", "--json", frames=traffic.read(data))
                with self.subTest(generation, count=count):
                    self.assertEqual((7777, count, 0), (int(info["server"].rpartition(":")[2]), info["packets"]["c2s"], info["packets"]["s2c"]))
                    self.assertEqual((["no_answer"], None), ([each["kind"] for each in info["findings"]], info["client_before"]))
                    shown = uerudp.run("info", "-", data=data, status=None).stderr.decode()
                    self.assertIn(self.NOTE.format(count).replace("1 datagrams", "1 datagram"), shown)

    def test_servers(self):
        for generation in GENERATIONS:
            data = traffic.write(traffic.generate(*LOSSY, "--generation", generation).frames)
            self.assertNotIn("came back", uerudp.run("info", "-", data=data, status=None).stderr.decode())


if __name__ == "__main__":
    uerudp.main()
