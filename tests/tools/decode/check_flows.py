#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The datagrams that uerudp decode recognises, and their connections."""
import os
import re
import subprocess
import tempfile
import unittest

import uerudp
import recordings

COOKIE = bytes(range(1, 21)).hex()
OTHER = bytes(range(41, 61)).hex()
THIRD = bytes(range(81, 101)).hex()

PCAP_HEADER_BYTES = 24
SOURCE_AT = 16 + 4 + 12  # of the IP source address in a record of uerudp.pcap()


def handshake(number, generation="5.1", **keys):
    cookie = {"cookie": COOKIE} if number and not keys.get("bare") else {}
    keys.pop("bare", None)
    datagram = {"generation": generation, "direction": 1 + number % 2, "handshake": {"type": number, **cookie, **keys}}
    return uerudp.encode([datagram])[0]


def packet(seq, direction=1, generation="5.1"):
    return uerudp.encode([{"generation": generation, "direction": direction, "packet": {"seq": seq},
                           "bunches": [{"channel": 4, "reliable": True, "ch_seq": seq, "data": "0102030405"}]}])[0]


def flood(count, payload, port, *options):
    """Summary and peak memory of decoding `count` datagrams of different senders, among them a connection that sends after
    every 50,000."""
    file = bytearray(uerudp.pcap([(40000, 7777, handshake(0)), (9000, 40000, handshake(1))]))  # not confirmed yet
    known = uerudp.pcap([(40000, 7777, packet(1))])[PCAP_HEADER_BYTES:]
    forged = bytearray(uerudp.pcap([(40000, port, payload)])[PCAP_HEADER_BYTES:])
    for number in range(count):
        forged[SOURCE_AT:SOURCE_AT + 4] = (0x0B000000 + number).to_bytes(4, "big")
        file += forged if number % 50000 else known + forged
    with tempfile.TemporaryFile() as capture, tempfile.TemporaryFile() as summary:
        capture.write(file)
        capture.seek(0)
        environment = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}
        process = subprocess.Popen([uerudp.PROGRAM, "decode", *(options or ["--quiet"]), "-"], stdin=capture,
                                   stdout=subprocess.DEVNULL, stderr=summary, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        summary.seek(0)
        text = summary.read().decode()
    assert process.returncode == 0, text
    return text, usage.ru_maxrss


class Flows(unittest.TestCase):
    def decode(self, datagrams, *options, status=0):
        with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
            file.write(uerudp.pcap(datagrams))
            file.flush()
            return uerudp.decode(*options, file.name, status=status)

    def summary(self, datagrams):
        with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
            file.write(uerudp.pcap(datagrams))
            file.flush()
            return uerudp.run("decode", "--quiet", file.name).stderr.decode()

    def frames(self, *arguments, **keywords):
        return [datagram["frame"] for datagram in self.decode(*arguments, **keywords)]

    def test_another_generation_begins_another_connection(self):
        """After an unfinished handshake, in one file or two."""
        capture = uerudp.pcap([(40000, 7777, handshake(0, "4.18")), (7777, 40000, handshake(1, "4.18")),
                               (40000, 7777, handshake(0, "5.4")), (7777, 40000, handshake(1, "5.4")),
                               (40000, 7777, handshake(2, "5.4")), (7777, 40000, handshake(3, "5.4")),
                               *((40000, 7777, packet(seq, generation="5.4")) for seq in range(1, 9))])
        decoded = uerudp.decode("-", data=capture)
        self.assertEqual([0] * 2 + [1] * 12, [datagram["stream"] for datagram in decoded])
        self.assertFalse([datagram for datagram in decoded if "fault" in datagram or "malformed" in datagram])

    def test_initial_binds(self):
        self.assertEqual([1, 2], self.frames([(40000, 9000, handshake(0)), (9000, 40000, handshake(1))]))

    def test_challenge_and_response(self):
        """The Challenge is decoded, although only the Response confirms it."""
        other = b"not ours at all, really"
        datagrams = [(5, 6, other), (9000, 40000, handshake(1)), (5, 6, other), (40000, 9000, handshake(2)),
                     (40000, 9000, packet(0x201))]
        decoded = self.decode(datagrams)
        self.assertEqual([2, 4, 5], [datagram["frame"] for datagram in decoded])
        self.assertEqual([2, 1, 1], [datagram["direction"] for datagram in decoded])
        self.assertEqual([0, 0, 0], [datagram["stream"] for datagram in decoded])

    def test_challenge_alone(self):
        self.assertEqual([], self.frames([(9000, 40000, handshake(1))] + [(9000, 40000, b"other things")] * 100))

    def test_ordinary_packets_do_not_bind(self):
        datagrams = [(40000, 9000, packet(i)) for i in range(20)]
        self.assertEqual([], self.frames(datagrams))
        self.assertEqual(list(range(1, 21)), self.frames(datagrams, "--port", "9000"))
        self.assertEqual(list(range(1, 21)), self.frames(datagrams, "--port", "1,8000-9001"))
        self.assertEqual([], self.frames(datagrams, "--port", "8000-8999"))

    def test_direction_from_port(self):
        decoded = self.decode([(40000, 7777, packet(1)), (7777, 40000, packet(1, 2))])
        self.assertEqual([1, 2], [datagram["direction"] for datagram in decoded])

    def test_equal_cookies(self):
        """Two connections with equal cookies stay separate."""
        datagrams = [(40000, 9000, handshake(0)), (40001, 9001, handshake(0)), (9000, 40000, handshake(1)),
                     (9001, 40001, handshake(1)), (40001, 9001, handshake(2)), (40000, 9000, handshake(2)),
                     (9001, 40001, handshake(3)), (9000, 40000, handshake(3))]
        decoded = self.decode(datagrams)
        self.assertEqual([0, 1, 0, 1, 1, 0, 1, 0], [datagram["stream"] for datagram in decoded])

    def test_cookie_of_another_connection(self):
        self.assertEqual([], self.frames([(9000, 40000, handshake(1)), (40001, 9001, handshake(2))]))

    def test_new_connection(self):
        """An Initial after packets begins another connection of the same addresses."""
        datagrams = [(40000, 7777, handshake(0)), (40000, 7777, packet(5)), (40000, 7777, handshake(0)),
                     (40000, 7777, packet(9))]
        self.assertEqual([0, 0, 1, 1], [datagram["stream"] for datagram in self.decode(datagrams)])

    def test_restart(self):
        """A client on a new port continues its connection."""
        datagrams = [(40000, 7777, handshake(0)), (7777, 40000, handshake(1)), (40000, 7777, handshake(2)),
                     (7777, 40000, handshake(3)), (40000, 7777, packet(0x202)), (40001, 7777, packet(0x203)),
                     (7777, 40001, handshake(4, bare=True)), (40001, 7777, handshake(0, restart=True, cookie="00" * 20)),
                     (7777, 40001, handshake(1, restart=True, cookie=OTHER)),
                     (40001, 7777, handshake(5, orig_cookie=COOKIE, cookie=OTHER)), (40001, 7777, packet(0x204)),
                     (50000, 7777, handshake(0))]
        for arguments in ((), ("--generation=5.1",)):
            decoded = self.decode(datagrams, *arguments)
            self.assertEqual(len(datagrams), len(decoded))
            self.assertEqual([0] * 11 + [2], [datagram["stream"] for datagram in decoded])

    def test_restart_in_the_summary(self):
        """A connection that changed its address twice has one line with all addresses and datagrams."""
        datagrams = [(40000, 7777, handshake(0)), (7777, 40000, handshake(1)), (40000, 7777, handshake(2)),
                     (7777, 40000, handshake(3))]
        for port, before, after in ((40001, COOKIE, OTHER), (40002, OTHER, THIRD)):
            datagrams += [(port, 7777, handshake(0, restart=True, cookie="00" * 20)),
                          (port, 7777, handshake(5, orig_cookie=before, cookie=after)), (port, 7777, packet(0x204))]
        datagrams += [(40001, 7777, packet(0x205)), (50000, 7777, handshake(0))]
        summary = self.summary(datagrams)
        self.assertIn("stream 0: 10.0.0.1:40000, 10.0.0.1:40001, then 10.0.0.1:40002 to server 10.0.0.2:7777, "
                      "11 datagrams, generation 5.1", summary)
        self.assertEqual(2, summary.count("stream "))
        self.assertIn("12 datagrams in 2 connections", summary)

    def test_many_restarts_in_the_summary(self):
        """The line of a connection with many addresses is bounded."""
        datagrams = [(40000, 7777, handshake(0)), (7777, 40000, handshake(1)), (40000, 7777, handshake(2))]
        for move in range(1, 100):
            before, after = (bytes([number] * 20).hex() if number else COOKIE for number in (move - 1, move))
            datagrams.append((40000 + move, 7777, handshake(5, orig_cookie=before, cookie=after)))
        datagrams.append((50000, 7777, handshake(0)))
        summary = self.summary(datagrams)
        self.assertIn("stream 0: 10.0.0.1:40000, 10.0.0.1:40001, ", summary)
        self.assertIn("stream 100: 10.0.0.1:50000 to server", summary)
        self.assertIn(", ..., then 10.0.0.1:40099 to server 10.0.0.2:7777, 102 datagrams", summary)
        self.assertIn("103 datagrams in 2 connections,", summary)

    def test_forged_restarts(self):
        """Restarts with cookies of several connections and of each other change neither counts nor memory."""
        cookies = [bytes([number + 1] * 20).hex() for number in range(5)]
        datagrams = []
        for number, cookie in enumerate(cookies):
            datagrams += [(40000 + number, 7777, handshake(0)), (7777, 40000 + number, handshake(1, cookie=cookie))]
        for step in range(200):
            sender, orig = step * 7 % 5, step * 3 % 5
            datagrams.append((40000 + sender, 7777, handshake(5, orig_cookie=cookies[orig], cookie=cookies[sender])))
        datagrams += [(50000 + number, 7777, handshake(0)) for number in range(20)]
        summary = self.summary(datagrams)
        streams, = re.findall(r"in (\d+) connections", summary)
        self.assertIn(int(streams), range(21, 26))
        listed = summary.count("stream ")
        self.assertIn(f"and {int(streams) - listed} more" if int(streams) > listed else "stream", summary)

    def test_restart_of_a_real_connection(self):
        streams = [datagram["stream"] for datagram in uerudp.decode(recordings.path("utcp-orig-restart"))]
        self.assertEqual({0}, set(streams))

    def test_foreign_on_the_port(self):
        """Datagrams of another protocol are data, not malformed."""
        dns = bytes.fromhex("123401000001000000000000076578616d706c6503636f6d0000010001")
        decoded = self.decode([(40000, 7777, dns)] * 5)
        self.assertEqual(5, len(decoded))
        for datagram in decoded:
            self.assertEqual(dns.hex(), datagram["raw"])
            self.assertNotIn("fault", datagram)
            self.assertNotIn("generation", datagram)
        self.assertEqual([dns] * 5, uerudp.encode(decoded))

    def test_several_files(self):
        """Several files are one capture: connections continue, and frames are numbered across files."""
        with tempfile.NamedTemporaryFile() as first, tempfile.NamedTemporaryFile() as second:
            first.write(uerudp.pcap([(40000, 9000, handshake(0)), (9000, 40000, handshake(1))]))
            second.write(uerudp.pcap([(40000, 9000, packet(1))]))
            first.flush()
            second.flush()
            decoded = uerudp.decode(first.name, second.name)
        self.assertEqual([(1, 0), (2, 0), (3, 0)], [(datagram["frame"], datagram["stream"]) for datagram in decoded])

    def test_order_while_waiting(self):
        """Datagrams are printed in order while the generation of a connection is undecided."""
        unsettled = [(40000, 7777, packet(i, generation="4.25")) for i in range(3)]
        settled = [(41000, 7777, handshake(0, "4.25")), (41000, 7777, packet(1, generation="4.25"))]
        datagrams = [item for pair in zip(unsettled, settled + settled[1:]) for item in pair]
        self.assertEqual(list(range(1, 7)), self.frames(datagrams))

    def test_queue_is_bounded(self):
        """A connection that stays undecided delays at most a full queue of datagrams."""
        first = [(40000, 7777, packet(1, generation="4.25"))]
        rest = [(41000, 7777, handshake(0, "4.25"))] + [(41000, 7777, packet(1, generation="4.25"))] * 20000
        self.assertEqual(list(range(1, 20003)), self.frames(first + rest))

    def test_profiles(self):
        """The settings of a profile apply to the address of its server only."""
        special = uerudp.encode([{"generation": "4.18", "items": [{"reliable": True, "ch_seq": 3000, "data": "07"}]}],
                                "--ch-seq-bound=4096", "--magic-bits=8", "--magic=0x5a")[0]
        datagrams = [(40000, 9000, special), (40000, 7777, packet(1, generation="5.1"))]
        with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
            file.write("# games\n[mine]\nbase = 4.18\nch_seq_bound = 4096\nmagic_bits = 8\nserver = 10.0.0.2:9000\n")
            file.flush()
            first, second = self.decode(datagrams, "--profiles", file.name)
            self.assertEqual(("mine", 3000, 0x5a), (first["generation"], first["items"][0]["ch_seq"], first["magic"]))
            self.assertNotIn("magic", second)
            named = self.decode(datagrams[:1], "--port=9000", "--profiles", file.name, "--generation=mine")
            self.assertEqual([first["items"]], [datagram["items"] for datagram in named])
            self.assertEqual([special], uerudp.encode([first], "--profiles", file.name))


class Flood(unittest.TestCase):
    def test_flood(self):
        """Memory is bounded with any number of forged senders; listed connections stay, and active connections continue."""
        for payload, port in ((handshake(0), 7777), (handshake(1), 9000), (handshake(4, bare=True), 9000)):
            peaks = []
            for count in (100000, 200000):
                summary, peak = flood(count, payload, port)
                peaks.append(peak)
                known = 1 + count // 50000
                self.assertIn(f"stream 0: 10.0.0.1:40000 to server 10.0.0.2:7777, {known} datagrams", summary)
                if port == 7777:
                    self.assertIn(f"others had been used since: {count + 1 - 65536}", summary)
                    self.assertIn(f"{count + known} datagrams in {count + 1} connections", summary)
            self.assertLess(peaks[1], peaks[0] * 1.1)

    def test_flood_of_others(self):
        """--content stores nothing for senders of other protocols."""
        others = bytes.fromhex("4420823cfde6f1c26b30f90ec7dd01e4887534a2")
        peaks = [flood(20000, others, 7777, *options)[1] for options in (["--json"], ["--json", "--content"])]
        self.assertLess(peaks[1], peaks[0] * 1.1)


if __name__ == "__main__":
    uerudp.main()
