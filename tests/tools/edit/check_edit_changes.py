#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uerudp edit: cuts, times, anonymous captures, other generations and formats, damaged files, memory."""
import fcntl
import gzip
import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import termios
import time
import unittest

import blocks
import uerudp
from check_edit import CAPTURES, GAME, complaint, decode, edit, exotic, frames_of

SECOND = 1_000_000_000
# A malformed datagram is masked from its fault on, and then decodes differently.
WHOLE = [path for path in CAPTURES if path.name != "fuzz.pcapng"]
MAC = struct.Struct(">6s6sH")


def ethernet(ip, kind=0x0800, source=b"\x00\x11\x22\x33\x44\x55", destination=b"\x00\x66\x77\x88\x99\xaa"):
    return MAC.pack(destination, source, kind) + ip


def ipv4(source, destination, data, protocol=17, place=0, opts=b""):
    head = struct.pack(">BBHHHBBH", 0x45 + len(opts) // 4, 0, 20 + len(opts) + len(data), 1, place, 64, protocol, 0)
    head += bytes(source) + bytes(destination) + opts
    return head[:10] + struct.pack(">H", blocks.checksum(head)) + head[12:] + data


def ipv6(source, destination, data, protocol=17):
    return struct.pack(">IHBB", 6 << 28, len(data), protocol, 64) + source + destination + data


def udp(data, source=50000, destination=7777, check=1):
    return struct.pack(">HHHH", source, destination, 8 + len(data), check) + data


def capture(*frames, link=blocks.ETHERNET):
    packets = b"".join(blocks.enhanced(frame, number * 1000) for number, frame in enumerate(frames, 1))
    return blocks.section() + blocks.interface(link=link) + packets


def two_games():
    """Two connections, one after the other, and a datagram of another protocol."""
    game = frames_of(GAME)
    other = [frame[:28] + b"\x0b" + frame[29:32] + b"\x0b" + frame[33:] for frame in game]
    return capture(*game, ethernet(ipv4((10, 0, 0, 1), (10, 0, 0, 2), b"GET /", 6)), *other), len(game)


class Cuts(unittest.TestCase):
    def test_stream(self):
        data, count = two_games()
        self.assertEqual([one["stream"] for one in decode(data)], [0] * count + [1] * count)
        old = blocks.packets(data)
        for option, kept in (("0", old[:count]), ("1", old[count + 1:]), ("0-1", old[:count] + old[count + 1:])):
            new = blocks.packets(edit(data, "--stream", option))
            self.assertEqual([packet.raw for packet in new], [packet.raw for packet in kept])

    def test_frames(self):
        old = blocks.packets(GAME.read_bytes())
        new = blocks.packets(edit(GAME.read_bytes(), "--frames", "2-3,7,19-"))
        self.assertEqual([packet.raw for packet in new], [packet.raw for packet in old[1:3] + old[6:7] + old[18:]])

    def test_time(self):
        old = blocks.packets(GAME.read_bytes())
        begin = old[0].ticks
        new = blocks.packets(edit(GAME.read_bytes(), "--from", "0.06", "--to", "0.3"))
        kept = [packet.raw for packet in old if 0.06 * SECOND <= packet.ticks - begin <= 0.3 * SECOND]
        self.assertEqual([packet.raw for packet in new], kept)
        self.assertTrue(0 < len(kept) < len(old))

    def test_other_blocks_stay(self):
        data = exotic()
        after = list(blocks.split(edit(data, "--frames", "1")))
        rest = [one for one in blocks.split(data) if one[0] not in (blocks.ENHANCED, blocks.SIMPLE, blocks.OBSOLETE)]
        self.assertEqual([kind for kind, _, _ in after if kind != blocks.ENHANCED], [kind for kind, _, _ in rest])

    def test_rules_count_removed_frames(self):
        """Rules count copies from the start of the connection and act on the frames that are kept."""
        data = GAME.read_bytes()
        count = len(blocks.packets(data))
        self.assertEqual(len(blocks.packets(edit(data, "--frames", "11-", "--rule", "drop max=2"))), count - 12)


class Times(unittest.TestCase):
    def test_shift(self):
        """A shift is exact in the ticks of each clock."""
        for option, nanoseconds in (("1.000000001", SECOND + 1), ("-0.5", -SECOND // 2), ("86400", 86400 * SECOND)):
            old, new = (blocks.packets(data) for data in (exotic(), edit(exotic(), "--shift", option)))
            for index, (before, after) in enumerate(zip(old, new)):
                clock = SECOND if index < 8 or index == 9 else 1 << 20 if index == 8 else 1_000_000
                exact = nanoseconds * clock / SECOND
                self.assertLessEqual(abs(after.ticks - before.ticks - exact), 0.5)
                self.assertEqual((after.data, after.options), (before.data, before.options))

    def test_shift_of_a_pcap(self):
        data = blocks.classic("<", 0xA1B2C3D4, [(10, 900_000, b"x")])
        self.assertEqual(edit(data, "--shift", "-9.95"), blocks.classic("<", 0xA1B2C3D4, [(0, 950_000, b"x")]))
        data = blocks.classic(">", 0xA1B23C4D, [(10, 900_000_000, b"x")])
        self.assertEqual(edit(data, "--shift", "0.1"), blocks.classic(">", 0xA1B23C4D, [(11, 0, b"x")]))

    def test_limits_of_time(self):
        """A delay beyond the last possible time and the largest difference of times are handled."""
        clock = blocks.options("<", (blocks.TSRESOL, b"\0"))
        for ticks, offset in ((2**64 - 1, 0), (1, -2**63)):
            opts = blocks.options("<", (blocks.TSRESOL, b"\0"), (14, struct.pack("<q", offset)))
            data = blocks.section() + blocks.interface(opts=clock) + blocks.interface(opts=opts)
            data += b"".join(blocks.enhanced(frame, 1) + blocks.enhanced(frame, ticks, number=1)
                             for frame in frames_of(GAME))
            for options in (["--rule", "delay=20"], ["--rule", "drop time=0-1"], ["--from", "1"], ["--to", "1"]):
                self.assertTrue(edit(data, *options))

    def test_out_of_range(self):
        before = -blocks.packets(GAME.read_bytes())[0].ticks // SECOND
        self.assertIn("frame 1: this file format cannot hold its new time", complaint(GAME.read_bytes(), "--shift", str(before)))
        data = blocks.classic("<", 0xA1B2C3D4, [(10, 0, b"x")])
        for option in ("-11", "4294967290"):
            self.assertIn("frame 1: this file format cannot hold its new time", complaint(data, "--shift", option))


def without_texts(one):
    """The keys of a decoded object that masking must not change."""
    bunches = [{key: bunch[key] for key in bunch if key not in ("data", "messages")} for bunch in one.get("bunches", [])]
    keys = ("frame", "time", "length", "stream", "direction", "generation", "packet", "handshake", "items")
    return {key: one.get(key) for key in keys if key != "items"} | {
        "bunches": bunches, "messages": [[list(message) for message in bunch.get("messages", [])]
                                         for bunch in one.get("bunches", [])]}


class Anonymous(unittest.TestCase):
    def test_structure_stays(self):
        for path in WHOLE:
            for option in ("--redact", "--addresses", "--anonymise"):
                after = edit(path.read_bytes(), option)
                self.assertEqual([without_texts(one) for one in decode(after)],
                                 [without_texts(one) for one in decode(path.read_bytes())], path)
                for packet in blocks.packets(after):
                    self.assertTrue(blocks.has_valid_checksums(packet.data[14:]), path)

    def test_contents(self):
        login = {"bunches": [{"reliable": True, "messages": [
            {"login": {"url": "?Name=Ada"}, "unique_id": {"text": "Ada-0001"}}]}]}
        data = uerudp.run("encode", data=json.dumps(login).encode()).stdout
        for options, shown in (([], True), (["--addresses"], True), (["--redact"], False), (["--anonymise"], False)):
            after = edit(data, *options)
            bits = "".join(f"{byte:08b}"[::-1] for byte in after)  # texts may begin at any bit
            self.assertEqual("".join(f"{byte:08b}"[::-1] for byte in b"Ada") in bits, shown, options)
            self.assertEqual("Ada-0001" in json.dumps(decode(after)), shown, options)

    def test_texts_of_the_file(self):
        """Options and blocks with texts are removed, those that packets need stay."""
        for option in ("--redact", "--addresses"):
            after = edit(exotic(), option)
            for text in (b"written by", b"hardware", b"eth0", b"host", b"secret", b"custom", b"second"):
                self.assertIn(text, exotic())
                self.assertNotIn(text, after)
            self.assertEqual({kind for kind, _, _ in blocks.split(after)},
                             {blocks.SECTION, blocks.INTERFACE, blocks.ENHANCED, blocks.SIMPLE, blocks.OBSOLETE})
            self.assertEqual(len(decode(after)), len(frames_of(GAME)))
            for old, new in zip(blocks.packets(exotic()), blocks.packets(after)):
                self.assertEqual(old.ticks, new.ticks)
                self.assertEqual([one for one in old.options if one[0] == blocks.FLAGS], new.options)

    def test_other_protocols(self):
        """Datagrams of other protocols are zeroed and keep their size."""
        secret = b"secret" * 10
        frames = [ethernet(ipv4((10, 0, 0, 1), (10, 0, 0, 2), secret, 6)),
                  ethernet(secret, 0x0806),
                  ethernet(ipv4((10, 0, 0, 1), (10, 0, 0, 2), udp(secret, 53, 53))),
                  ethernet(ipv4((10, 0, 0, 1), (10, 0, 0, 2), udp(secret), place=0x2000)),
                  ethernet(ipv4((10, 0, 0, 1), (10, 0, 0, 2), secret, place=10)),
                  ethernet(ipv4((10, 0, 0, 1), (10, 0, 0, 2), udp(secret, 50000, 7777)))]
        after = edit(capture(*frames), "--redact")
        self.assertNotIn(b"secret", after)
        self.assertEqual([len(packet.data) for packet in blocks.packets(after)], [len(frame) for frame in frames])
        self.assertEqual(blocks.packets(after)[0].data[:34], frames[0][:34])
        after = edit(capture(*frames), "--addresses")
        self.assertEqual([b"secret" in packet.data for packet in blocks.packets(after)],
                         [False, False, True, False, False, True])

    def addresses(self, pairs, *options):
        """The new addresses of pairs of IPv4 addresses."""
        data = capture(*(ethernet(ipv4(a, b, udp(b"x"))) for a, b in pairs))
        return [(packet.data[26:30], packet.data[30:34]) for packet in blocks.packets(edit(data, *options))]

    def test_addresses(self):
        a, b, c, d = (10, 0, 0, 1), (10, 0, 0, 2), (10, 0, 200, 1), (192, 168, 0, 1)
        mapped = self.addresses([(a, b), (b, a), (c, d)], "--addresses", "--seed", "7")
        self.assertEqual(mapped[0], mapped[1][::-1])
        everyone = [*mapped[0], *mapped[2]]
        self.assertEqual(len(set(everyone)), 4)
        self.assertFalse(set(everyone) & {bytes(one) for one in (a, b, c, d)})
        self.assertEqual(mapped[0][0][:3], mapped[0][1][:3])
        self.assertEqual(mapped[2][0][:2], mapped[0][0][:2])
        self.assertNotEqual(mapped[2][0][2], mapped[0][0][2])

    def test_seed(self):
        """Equal seeds map addresses equally; without a seed the mapping is random."""
        pairs = [((10, 0, 0, 1), (10, 0, 0, 2))]
        seven = self.addresses(pairs, "--addresses", "--seed", "7")
        self.assertEqual(seven, self.addresses(pairs, "--addresses", "--seed", "7"))
        self.assertNotEqual(seven, self.addresses(pairs, "--addresses", "--seed", "8"))
        self.assertNotEqual(self.addresses(pairs, "--addresses"), self.addresses(pairs, "--addresses"))

    def test_special_addresses(self):
        kept = [((127, 0, 0, 1), (224, 0, 0, 251)), ((0, 0, 0, 0), (255, 255, 255, 255))]
        self.assertEqual(self.addresses(kept, "--addresses"), [(bytes(a), bytes(b)) for a, b in kept])

    def test_ipv6_and_hardware(self):
        a, b = bytes.fromhex("20010db8" + 11 * "00" + "01"), bytes.fromhex("20010db8" + 11 * "00" + "02")
        frame = ethernet(ipv6(a, b, udp(b"payload")), 0x86DD)
        group = ethernet(ipv6(a, b, udp(b"payload")), 0x86DD, destination=b"\x33\x33\0\0\0\1")
        one, two = (packet.data for packet in blocks.packets(edit(capture(frame, group), "--addresses")))
        self.assertNotEqual(one[22:38], a)
        self.assertEqual(one[22:37], one[38:53])
        self.assertTrue(blocks.has_valid_checksums(one[14:]))
        self.assertEqual((len(one), one[62:]), (len(frame), b"payload"))
        self.assertNotIn(frame[:6], (one[:6], one[6:12]))
        self.assertNotIn(frame[6:12], (one[:6], one[6:12]))
        self.assertEqual(one[6:12], two[6:12])
        self.assertEqual(two[:6], group[:6])

    def test_options_of_ip(self):
        """The option "record route" has addresses."""
        route = bytes([7, 7, 4, 192, 168, 1, 1, 0])
        frame = blocks.packets(edit(capture(ethernet(ipv4((10, 0, 0, 1), (10, 0, 0, 2), udp(b"x"), opts=route))),
                                    "--addresses"))[0].data
        self.assertEqual(frame[34:42], bytes([1] * 8))
        self.assertEqual(blocks.checksum(frame[14:42]), 0)

    def test_an_empty_packet(self):
        data = blocks.section() + blocks.interface() + blocks.enhanced(b"", 1)
        self.assertEqual(edit(data, "--anonymise"), data)

    def test_unknown_link_types(self):
        result = uerudp.run("edit", "--addresses", "-", "-", data=capture(b"\x08\x02" + bytes(60), link=105))
        self.assertEqual(blocks.packets(result.stdout), [])
        self.assertIn("1 packets left out", result.stderr.decode())


class Generations(unittest.TestCase):
    def test_possible_generations(self):
        for old, new in (("4.25", "5.5"), ("5.5", "4.25"), ("5.1", "5.4"), ("4.13", "4.20"), ("4.20", "4.18")):
            path = pathlib.Path(f"captures/ue{old}.pcapng")
            after = edit(path.read_bytes(), "--to-generation", new)
            before, objects = decode(path.read_bytes()), decode(after, "--generation", new)
            self.assertEqual(len(before), len(objects))
            for a, b in zip(before, objects):
                self.assertEqual(b["generation"], new)
                self.assertNotIn("fault", b)
                self.assertEqual(a.get("packet", {}).get("seq"), b.get("packet", {}).get("seq"))
                for key in ("cookie", "timestamp", "type"):
                    self.assertEqual(a.get("handshake", {}).get(key), b.get("handshake", {}).get(key))
                content = [[(bunch["channel"], bunch.get("ch_seq"), bunch.get("channel_name"),
                             [sorted(message) for message in bunch["messages"]] if "messages" in bunch else bunch["data"])
                            for bunch in one.get("bunches", one.get("items", [])) if "channel" in bunch]
                           for one in (a, b)]
                self.assertEqual(*content)
            for packet in blocks.packets(after):
                self.assertTrue(blocks.has_valid_checksums(packet.data[14:]))

    def test_a_text_with_a_nul(self):
        for text in ("reason", "rea\0son"):
            objects = [{"generation": "5.5", "direction": 1, "packet": {"seq": 5, "ack": 1, "history": [0]},
                        "bunches": [{"reliable": True, "ch_seq": 5, "messages": [{"failure": {"text": text}}]}]}]
            data = uerudp.pcap([(50000, 7777, uerudp.encode(objects)[0])])
            after, = decode(edit(data, "--generation=5.5", "--to-generation", "5.1"), "--generation=5.1")
            self.assertEqual(after["bunches"][0]["messages"][0]["failure"], {"text": text})

    def test_impossible_generations(self):
        for old, new, field in (("4.25", "4.22", "packet."), ("5.5", "4.18", "bunches"), ("5.4", "5.8", "packet.acked")):
            data = pathlib.Path(f"captures/ue{old}.pcapng").read_bytes()
            text = complaint(data, "--to-generation", new)
            self.assertRegex(text, rf"frame \d+ as {new}: {field}")
            result = uerudp.run("edit", "--to-generation", new, "--skip", "-", "-", data=data)
            left = len(blocks.packets(result.stdout))
            reason = text[text.index("frame "):].replace(f" as {new}", "").partition("; --skip")[0]
            self.assertIn(f"{len(blocks.packets(data)) - left} datagrams left out because {new} cannot encode them, the first in {reason}",
                          result.stderr.decode())
            self.assertGreater(left, 0)

    def test_rules_act_on_the_result(self):
        after = edit(GAME.read_bytes(), "--to-generation", "5.1", "--rule", "corrupt@bunch.ch_seq channel=0 max=1")
        before = edit(GAME.read_bytes(), "--to-generation", "5.1")
        changed = [(a, b) for a, b in zip(decode(before), decode(after)) if a["bunches" if "bunches" in a else "frame"]
                   != b["bunches" if "bunches" in b else "frame"]]
        self.assertEqual(len(changed), 1)
        a, b = (one["bunches"][0]["ch_seq"] for one in changed[0])
        self.assertEqual((a ^ b).bit_count(), 1)


class Formats(unittest.TestCase):
    def test_both_ways(self):
        data = GAME.read_bytes()
        pcap = edit(data, "--format", "pcap")
        self.assertEqual(pcap[:4], b"\x4d\x3c\xb2\xa1")
        self.assertEqual(decode(pcap), decode(data))
        again = edit(pcap, "--format", "pcapng")
        self.assertEqual([(one.ticks, one.data) for one in blocks.packets(again)],
                         [(one.ticks, one.data) for one in blocks.packets(data)])
        self.assertEqual(edit(data, "--format", "pcapng"), data)
        self.assertEqual(edit(pcap, "--format", "pcap"), pcap)

    def test_comments_and_times(self):
        pcap = edit(GAME.read_bytes(), "--format", "pcap")
        after = edit(pcap, "--format", "pcapng", "--rule", "delay=1 frame=1", "--shift", "10")
        first = blocks.packets(after)[0]
        self.assertEqual(first.comments, ["delayed 1 ms"])
        self.assertEqual(first.ticks, blocks.packets(GAME.read_bytes())[0].ticks + 10_001_000_000)

    def test_two_link_types(self):
        self.assertIn("frame 9: its link type differs", complaint(exotic(), "--format", "pcap"))

    def test_no_packets(self):
        self.assertEqual(len(edit(blocks.section(), "--format", "pcap")), 24)
        self.assertEqual([kind for kind, _, _ in blocks.split(edit(edit(blocks.section(), "--format", "pcap"),
                                                                   "--format", "pcapng"))], [blocks.SECTION])


class Refusals(unittest.TestCase):
    def refuse(self, data, *options):
        """The output file is unchanged, and no other file remains."""
        with tempfile.TemporaryDirectory() as folder:
            path, out = pathlib.Path(folder) / "in", pathlib.Path(folder) / "out"
            path.write_bytes(data)
            out.write_text("before")
            text = uerudp.run("edit", *options, path, out, status=2).stderr.decode()
            self.assertEqual(out.read_text(), "before")
            self.assertEqual(sorted(os.listdir(folder)), ["in", "out"])
            return text

    def test_damaged_files(self):
        for data in (b"", b"what is this, a text?", GAME.read_bytes()[:-3], exotic()[:-1], exotic()[:150],
                     gzip.compress(exotic())[:-20], blocks.classic("<", 0xA1B2C3D4, [(1, 1, b"abc")])[:-1],
                     blocks.section() + struct.pack("<III", 6, 0xFFFFFFFC, 0)):
            self.assertRegex(self.refuse(data), r"^uerudp: .*\w\n")

    def test_cut_anywhere(self):
        data = exotic()
        ends, at = {0}, 0
        for _, _, raw in blocks.split(data):
            at += len(raw)
            ends.add(at)
        for size in [*range(1, 700, 37), *range(len(data) - 700, len(data), 37)]:
            if size not in ends:
                complaint(data[:size])

    def test_arguments(self):
        for options, word in ((["--rule", "explode"], "'explode'"), (["--rules", "/nonexistent"], "/nonexistent"),
                              (["--stream", "x"], "--stream=x"), (["--frames", "2-1"], "--frames=2-1"),
                              (["--from", "soon"], "--from=soon"), (["--to", "1.0000000001"], "--to=1.0000000001"),
                              (["--to", "-"], "--to=-"), (["--shift", "1e3"], "--shift=1e3"),
                              (["--format", "doc"], "--format=doc"), (["--to-generation", "6.0"], "--to-generation=6.0"),
                              (["--skip"], "--skip"), (["--seed", "x"], "--seed=x"), (["--generation", "x"], "x")):
            self.assertIn(word, self.refuse(GAME.read_bytes(), *options))
        for paths in ([], [GAME], [GAME, "a", "b"]):
            self.assertIn("IN and OUT", uerudp.run("edit", *paths, status=2).stderr.decode())

    def test_unwritable(self):
        self.assertIn("/nonexistent/out", uerudp.run("edit", GAME, "/nonexistent/out", status=2).stderr.decode())
        self.assertIn("cannot write", uerudp.run("edit", GAME, "/dev/full", status=2).stderr.decode())
        self.assertIn("/nonexistent", uerudp.run("edit", "/nonexistent", os.devnull, status=2).stderr.decode())

    def test_help(self):
        text = uerudp.run("edit", "--help").stdout.decode()
        for word in ("Exit status", "Examples", "--rule=", "--anonymise", "--to-generation"):
            self.assertIn(word, text)

    def test_examples(self):
        text = uerudp.run("edit", "--help").stdout.decode()
        examples = [line.strip() for line in text.split("Examples:")[1].splitlines() if line.strip()]
        self.assertEqual(len(examples), 3)
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "game.pcapng").write_bytes(GAME.read_bytes())
            (pathlib.Path(folder) / "uerudp").symlink_to(pathlib.Path(uerudp.PROGRAM).resolve())
            for example in examples:
                subprocess.run(["bash", "-c", "set -o pipefail; " + example], check=True, cwd=folder,
                               env=dict(os.environ, PATH=folder + ":" + os.environ["PATH"]), stderr=subprocess.DEVNULL)


class Memory(unittest.TestCase):
    def peak_mb(self, head, piece, times, *options):
        """Peak memory of edit for a file of `head` and then `piece` many times, when it has read all of it."""
        environment = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1")
        child = subprocess.Popen([uerudp.PROGRAM, "edit", *options, "-", os.devnull], stdin=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, env=environment)
        child.stdin.write(head)
        for _ in range(times):
            child.stdin.write(piece)
        child.stdin.flush()
        while child.poll() is None and any(fcntl.ioctl(child.stdin, termios.FIONREAD, bytes(4))):
            time.sleep(0.01)
        status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
        child.stdin.close()
        self.assertEqual(child.wait(), 0)
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024

    def test_a_long_capture(self):
        game = frames_of(GAME)[4:] * 200
        frames = b"".join(blocks.enhanced(frame, number * 1000) for number, frame in enumerate(game))
        frames += blocks.enhanced(game[0], 60_000_000)  # the delayed packets are written
        head = blocks.section() + blocks.interface()
        for options in ([], ["--rule", "corrupt p=0.1", "--rule", "reorder p=0.1", "--rule", "delay=1000 p=0.5"]):
            few, many = (self.peak_mb(head, frames, times, *options) for times in (2, 40))
            self.assertLess(many - few, 8)

    def test_other_protocols_while_undecided(self):
        """A packet of a game whose generation is undecided, and then many datagrams of other protocols."""
        head = blocks.section() + blocks.interface() + blocks.enhanced(frames_of(GAME)[0], 1)
        piece = blocks.enhanced(ethernet(ipv4((10, 0, 0, 1), (10, 0, 0, 2), bytes(60_000), 6)), 1000)
        few, many = (self.peak_mb(head, piece, times, "--rule", "drop p=0") for times in (1, 2000))
        self.assertLess(many - few, 64)

    def test_large_blocks(self):
        head = blocks.section() + blocks.interface()
        piece = blocks.block("<", blocks.UNKNOWN, bytes(50_000_000))
        self.assertLess(self.peak_mb(head, piece, 2), 64)

    def test_delays_are_bounded(self):
        """When more packets are delayed than the limit, the oldest are written early."""
        piece = blocks.enhanced(frames_of(GAME)[4] + bytes(20_000), 1000)
        head = blocks.section() + blocks.interface() + b"".join(blocks.enhanced(one, 1) for one in frames_of(GAME))
        few, many = (self.peak_mb(head, piece, times, "--rule", "delay=1e9") for times in (1, 8000))
        self.assertLess(many - few, 128)


if __name__ == "__main__":
    uerudp.main()
