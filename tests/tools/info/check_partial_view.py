#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A partial capture (cut, partly opaque, begun in the middle) or one taken at both ends gets no statement that the complete
capture refutes. The truth is the complete capture and the sidecar of the simulator."""
import collections
import json
import pathlib
import re
import tempfile
import unittest

import uerudp
import trace_page
import traffic
from traffic import WAYS

NEW, OLD = ("4.22", "4.25", "5.1", "5.5", "5.8"), ("4.13", "4.18", "4.20")
COUNTS = ("packets", "acked", "not_acked", "lost", "late", "duplicates")
SNAPS = (96, 200)
LOSSY = ("lossy", "--duration=2", "--dup=0.03", "--reorder=0.03", "--loss=0.05")
LOSSLESS = ("login", "--duration=2")
UNCERTAIN = {"lost", "silence", "timeout", "ack_gap", "loss", "loss_burst", "one_way_loss", "undelivered",
             "capture_incomplete", "reliable_gap", "reliable_jump", "one_direction"}  # kinds that may be false


def info(frames, *options):
    """The object of info --json for the only connection."""
    connection, = traffic.lines("info", "--json", *options, frames=frames)
    return connection


def text(frames):
    return traffic.program("info", "-", data=traffic.write(frames)).decode()


def generation_option(generation):
    """For captures that do not show their generation."""
    return f"--generation={generation}"


def kinds(connection):
    return collections.Counter(finding["kind"] for finding in connection["findings"])


def generated(arguments, generation):
    return traffic.generate(*arguments, "--generation", generation)


def ids(frames, *names, options=()):
    """The number of events of these names for each (role, packet id)."""
    log = traffic.lines("decode", "--events", "-", *options, frames=frames)[1:]
    found = collections.Counter()
    for event in log:
        if event["name"].partition(":")[2] in names:
            data = event["data"]
            last = data.get("packet_id", data.get("last_packet_id"))
            found.update((event["role"], number) for number in range(data.get("first_packet_id", last), last + 1))
    return found


def trace_data(frames, *options):
    """The data of a page of trace."""
    return trace_page.read(traffic.program("trace", *options, "-", data=traffic.write(frames)).decode())


def states(page):
    """The state of each captured packet by (side, packet id)."""
    return {(side, each["id"]): each["state"] for side in (0, 1) for each in page[f"packets{side}"] if each["frame"] != 0}


class Complete(unittest.TestCase):
    """The figures of complete captures are true."""

    def test_against_the_sidecar(self):
        for generation in NEW + OLD:
            capture = generated(LOSSY, generation)
            connection, sent = info(capture.frames), capture.sent["connections"][0]
            for key in ("packets", "lost", "resends", *(["not_acked"] if generation in NEW else [])):
                self.assertEqual(sent[key], connection[key], (generation, key))
            self.assertGreater(connection["lost"]["s2c"], 5)
            self.assertEqual({"c2s": False, "s2c": False}, connection["lost_at_least"])
            self.assertFalse(UNCERTAIN & set(kinds(info(generated(LOSSLESS, generation).frames))))


class Cut(unittest.TestCase):
    """The headers of a packet precede the cut."""

    def test_counts(self):
        for generation in NEW:
            frames = generated(LOSSY, generation).frames
            whole = info(frames)
            for snap in SNAPS:
                cut = info(traffic.snapped(frames, snap), generation_option(generation))
                self.assertEqual({key: whole[key] for key in COUNTS}, {key: cut[key] for key in COUNTS},
                                 (generation, snap))

    def test_counts_with_a_handshake(self):
        """The handshake decides the generation, although the terminators are cut off."""
        frames = traffic.generate("login-lossy", "--duration=2", "--generation=5.5").frames
        whole, cut = info(frames), info(traffic.snapped(frames, 96))
        for key in (*COUNTS, "generation"):
            self.assertEqual(whole[key], cut[key], key)

    def test_cut_is_reported_once(self):
        for generation in NEW:
            for snap in SNAPS:
                found = kinds(info(traffic.snapped(generated(LOSSLESS, generation).frames, snap)))
                self.assertEqual({"cut": 1}, dict(found), (generation, snap))

    def test_acks_beyond_the_cut(self):
        """Up to 4.21 acks are among the bunches: an ack beyond the cut is not known."""
        for generation in OLD:
            for snap in SNAPS:
                cut = info(traffic.snapped(generated(LOSSLESS, generation).frames, snap), generation_option(generation))
                self.assertEqual([], sorted(UNCERTAIN & set(kinds(cut))), (generation, snap))
                for key in ("not_acked", "lost"):
                    self.assertLessEqual(set(cut[key].values()), {0, None}, (generation, snap, key))

    def retransmissions(self, frames, snap):
        """The number of retransmissions whose header, like the header of the first copy, precedes the cut, by direction.
        A header ends with the length of the payload. The captures are too short for sequences to wrap."""
        before, again = set(), collections.Counter()
        for datagram in traffic.lines("decode", "--json", "--bits", frames=frames):
            ends = [at + size for key, at, size, *_ in datagram["bits"] if key == "bunch.data_bits"]
            for bunch, end in zip(datagram.get("bunches", []), ends, strict=True):
                if bunch["reliable"] and end <= (snap - 42) * 8:
                    key = datagram["direction"], bunch["channel"], bunch["ch_seq"]
                    again[WAYS[datagram["direction"] - 1]] += key in before
                    before.add(key)
        return {way: again[way] for way in WAYS}

    def test_retransmissions(self):
        for generation in NEW:
            frames = traffic.generate("lossy", "--duration=2", "--loss=0.1", "--capture-at=sender", "--generation",
                                      generation).frames
            whole = info(frames)
            self.assertEqual(self.retransmissions(frames, 2000), whole["resends"])
            expected = self.retransmissions(frames, 200)
            self.assertGreater(sum(expected.values()), 0)
            self.assertEqual(expected, info(traffic.snapped(frames, 200), generation_option(generation))["resends"], generation)

    def test_events(self):
        for generation in ("4.22", "5.5"):
            frames = generated(LOSSY, generation).frames
            cut = traffic.snapped(frames, 96)
            for name in ("packet_acked", "packet_lost", "packets_missing", "packet_sent"):
                found = ids(cut, name, options=[generation_option(generation)])
                wrong = (ids(frames, name) - found) + (found - ids(frames, name))
                self.assertEqual(0, sum(wrong.values()), f"{generation}: events {name} that differ from the whole file's")

    def test_trace(self):
        for generation in ("4.22", "5.5"):
            frames = generated(LOSSY, generation).frames
            whole, cut = map(states, (trace_data(frames), trace_data(traffic.snapped(frames, 96), generation_option(generation))))
            wrong = [key for key in whole | cut if whole.get(key) != cut.get(key)]
            self.assertEqual(0, len(wrong), f"{generation}: packets whose state differs from the complete capture")

    def test_decode(self):
        """A cut packet has its packet id, its header and its acks."""
        def headers(frames):
            return {each["frame"]: each.get("packet") for each in
                    traffic.lines("decode", "--json", generation_option("5.5"), frames=frames)}
        frames = generated(LOSSY, "5.5").frames
        whole, cut = headers(frames), headers(traffic.snapped(frames, 96))
        self.assertEqual([], [frame for frame in whole if whole[frame] != cut[frame]][:10])

    def check_missing(self, frames):
        """Three packets were delivered and are not in the capture."""
        fewer = frames[:40] + frames[43:]
        connection = info(fewer)
        self.assertEqual(3, sum(connection["lost"].values()))
        self.assertLessEqual(UNCERTAIN & set(kinds(connection)), {"capture_incomplete", "reliable_gap"})
        self.assertIn("capture_incomplete", kinds(connection))

    def test_missing_in_a_whole_capture(self):
        self.check_missing(generated(LOSSLESS, "5.5").frames)

    def test_missing_in_a_cut_capture(self):
        self.check_missing(traffic.snapped(generated(LOSSLESS, "5.5").frames, 96))


class Opaque(unittest.TestCase):
    """Packets that cannot be decoded were captured and have packet ids."""
    LOSSY = ("lossy", "--duration=2", "--loss=0.05")  # no duplicates

    def second(self, arguments, generation):
        """Every second packet of each side is opaque, except the last packets."""
        return traffic.every_second_opaque(generated(arguments, generation).frames)

    def info(self, frames, generation):
        return info(frames, generation_option(generation), "--handlers=oodle")

    def test_none_is_lost(self):
        for generation in ("4.18", "4.22", "5.1", "5.5", "5.8"):
            found = self.info(self.second(LOSSLESS, generation), generation)
            self.assertEqual([], sorted(UNCERTAIN & set(kinds(found))), generation)
            self.assertEqual({"c2s": 0, "s2c": 0}, found["lost"], generation)
            self.assertLessEqual(set(found["not_acked"].values()), {0, None}, generation)

    def test_gaps_between_known_ids(self):
        """The gaps are the server's packets that the network lost and the opaque packets."""
        for generation in ("4.22", "5.5"):
            sent = generated(self.LOSSY, generation).sent["connections"][0]
            found = self.info(self.second(self.LOSSY, generation), generation)
            self.assertEqual(sent["lost"]["s2c"], found["lost"]["s2c"], generation)

    def test_losses_among_the_last_packets(self):
        """Whether packets are missing is not known of a side whose packets are opaque to the end, but of the other side it is."""
        frames, sent = generated(self.LOSSY, "5.5").frames, generated(self.LOSSY, "5.5").sent["connections"][0]["lost"]
        for first, is_known in ((8, False), (len(frames) // 8, True)):
            found = self.info(traffic.opaque(frames, lambda number, direction: number > first and direction == 2), "5.5")
            self.assertEqual(sent["c2s"], found["lost"]["c2s"])
            self.assertEqual(is_known, found["lost"]["s2c"] is not None, found["lost"])
            self.assertEqual({"c2s": False, "s2c": is_known}, found["lost_at_least"])
            self.assertLess(found["lost"]["s2c"] or 0, sent["s2c"])

    def test_no_silence(self):
        """A side whose packets all become opaque is not silent."""
        frames = generated(LOSSLESS, "5.5").frames
        for side in (1, 2):
            half = traffic.opaque(frames, lambda number, direction: number > 15 and direction == side)
            self.assertEqual([], sorted(UNCERTAIN & set(kinds(self.info(half, "5.5")))), side)

    def test_no_nak_of_acknowledged_packets(self):
        """The ack of an opaque packet may report anything."""
        for generation in ("4.18", "4.20", "4.22", "5.5"):
            options = (generation_option(generation), "--handlers=oodle")
            nacked = ids(self.second(self.LOSSY, generation), "packet_lost", options=options)
            whole = ids(generated(self.LOSSY, generation).frames, "packet_lost", options=options[:1])
            self.assertEqual(0, len(set(nacked) - set(whole)), f"{generation}: packets called lost that were not")

    def test_events(self):
        half = self.second(LOSSLESS, "5.5")
        found = ids(half, "packets_missing", "packet_lost", options=(generation_option("5.5"), "--handlers=oodle"))
        self.assertEqual(0, len(found), "packets called missing or lost, where none is")

    def test_trace(self):
        page = trace_data(self.second(LOSSLESS, "5.5"), generation_option("5.5"), "--handlers=oodle")
        self.assertEqual(0, len(page["gaps"]), "gaps, where no packet is missing")

    def test_nothing_compressed(self):
        """With the handler's bit and no compressed packet, the result is as without the handler."""
        capture = generated(LOSSY, "5.5")
        plain = self.info(traffic.opaque(capture.frames, lambda *_: False), "5.5")
        for key in ("not_acked", "lost", "resends"):
            self.assertEqual(capture.sent["connections"][0][key], plain[key])

    def test_losses_among_decoded_packets(self):
        """Opaque packets of the other side do not explain a gap."""
        frames = generated(self.LOSSY, "5.5").frames
        half = traffic.opaque(frames, lambda number, direction: direction == 1 and number % 2)
        self.assertGreater(info(frames)["lost"]["s2c"], 5)
        self.assertEqual(info(frames)["lost"]["s2c"], self.info(half, "5.5")["lost"]["s2c"])


def without_key(frames):
    """A connection as a user sees it who knows no settings."""
    connection, = traffic.lines("info", "--json", frames=frames)
    return connection


class Unknown(unittest.TestCase):
    """Nothing is derived from packets that match neither a generation nor handlers."""

    def changed(self, frames, is_changed=lambda _: True):
        """The game's packets, but no handshake messages, are changed after their first four bytes."""
        after = traffic.ETHERNET_BYTES + traffic.IPV4_BYTES + traffic.UDP_BYTES + 4
        result = []
        for number, frame in enumerate(frames):
            is_packet = number >= 4 and is_changed(number)
            tail = bytes(byte ^ 0x35 ^ (place * 7 & 0xff) for place, byte in enumerate(frame.data[after:-1]))
            result.append(frame._replace(data=frame.data[:after] + tail + frame.data[-1:]) if is_packet else frame)
        return result

    def test_all_packets(self):
        for generation in ("4.18", "4.22", "4.26", "5.1", "5.4", "5.8"):
            frames = generated(("login", "--seed=4", "--loss=0.02"), generation).frames
            found = without_key(self.changed(frames))
            self.assertLessEqual(set(kinds(found)), {"unreadable", "handshake_retried"}, generation)
            self.assertEqual({"c2s": 0, "s2c": 0}, found["malformed"], generation)
            self.assertEqual(len(frames) - 4, sum(found["unreadable"].values()), generation)

    def test_first_packets(self):
        """Those that follow are decoded, and what is said of them is true."""
        for generation in ("4.18", "4.22", "5.1", "5.5", "5.8"):
            frames = generated(("login", "--seed=4", "--duration=8", "--loss=0.02"), generation).frames
            whole = without_key(frames)
            found = without_key(self.changed(frames, lambda number: number < 70))
            self.assertIn("unreadable", kinds(found), generation)
            self.assertLessEqual(set(kinds(found)), {"unreadable", *kinds(whole)}, generation)
            for way in WAYS:
                self.assertLess(found["unreadable"][way], 150, generation)
                self.assertGreater(found["acked"][way], 200, generation)
                self.assertLessEqual(found["acked"][way], whole["acked"][way], generation)
                self.assertLessEqual(found["not_acked"][way], whole["not_acked"][way], generation)
                self.assertLessEqual(found["lost"][way] or 0, whole["lost"][way] or 0, generation)
            self.assertEqual({"c2s": 0, "s2c": 0}, found["malformed"], generation)

    def test_few_packets(self):
        """Not even one is proof of damage, if all that is known fits neither its header nor its content."""
        for generation in ("4.18", "4.22", "5.1", "5.5", "5.8"):
            for options in (["--handlers=aesgcm"], ["--handlers=dtls"], ["--handlers=oodle"], ["--encrypt"]):
                frames = generated(("login", "--seed=4", *options), generation).frames
                for count in range(5, 13):
                    found = without_key(frames[:count])
                    self.assertEqual({"c2s": 0, "s2c": 0}, found["malformed"], (generation, options, count))
                    self.assertEqual({"unreadable"}, set(kinds(found)), (generation, options, count))
                    self.assertEqual(count - 4, sum(found["unreadable"].values()), (generation, options, count))

    def test_few_damaged_packets(self):
        """A packet with the sequence that the handshake announced is malformed, also if there is no other."""
        for generation in ("4.18", "4.22", "5.1", "5.5", "5.8"):
            frames = generated(("login", "--seed=4"), generation).frames
            for count in range(5, 13):
                for is_damaged in (lambda number: number >= 4, lambda number: number == 4):
                    damaged = [frame._replace(data=frame.data[:-1] + b"\0") if is_damaged(number) else frame
                               for number, frame in enumerate(frames[:count])]
                    found = without_key(damaged)
                    self.assertEqual(sum(map(is_damaged, range(count))), sum(found["malformed"].values()),
                                     (generation, count))
                    self.assertNotIn("unreadable", kinds(found), (generation, count))

    def test_some_packets(self):
        """Packets that most of the others contradict are malformed."""
        frames = generated(("login", "--seed=4"), "5.4").frames
        found = without_key(self.changed(frames, lambda number: number % 4 == 0))
        self.assertNotIn("unreadable", kinds(found))
        self.assertGreater(sum(found["malformed"].values()), 10)

    def test_reliability_handler(self):
        """It is found, and the packets before that have their ids and their messages."""
        for generation in ("4.18", "4.22", "5.1", "5.5", "5.8"):
            capture = generated(("login", "--seed=4", "--handlers=reliability"), generation)
            found = without_key(capture.frames)
            self.assertEqual({}, kinds(found), generation)
            self.assertIn("Hello", json.dumps(found["story"]), generation)
            self.assertEqual({"c2s": 0, "s2c": 0}, found["lost"], generation)
            self.assertEqual(capture.sent["connections"][0]["not_acked"], found["not_acked"], generation)


class Middle(unittest.TestCase):
    """The capture begins in the middle of the connection: bunches before it are unknown, not unacknowledged."""

    @classmethod
    def setUpClass(cls):
        cls.whole = traffic.generate("bulk", "--generation=5.5")
        cls.half = cls.whole.frames[len(cls.whole.frames) // 2:]

    def test_no_buffer_is_exceeded(self):
        for options in ([], ["--generation=5.5"]):
            findings = info(self.half, *options)["findings"]
            texts = [each["text"] for each in findings if each["kind"] in ("reliable_buffer", "reliable_jump")]
            self.assertFalse([text for text in texts if re.search(r"held (5[1-9]\d|[6-9]\d\d|\d{4,})|no reliable buffer", text)],
                             texts)

    def test_peak(self):
        """The peak of the second half does not exceed the peak of the connection."""
        at_least = peak(self, info(self.half), "s2c")["at_least"]
        self.assertLessEqual(at_least, max(each["bunches"] for each in true_peaks(self.whole, "s2c")))


def true_peaks(capture, way):
    return capture.sent["connections"][0]["reliable_peak"][way]


def peak(case, connection, way):
    bounds = connection["reliable_peak"][way]
    for key in ("at_least", "at_most"):
        case.assertIn(key, bounds, f"info --json has no reliable_peak.{way}.{key} yet")
    return bounds


class ReliablePeak(unittest.TestCase):
    """Both bounds of the peak, compared with the sender in the simulator."""
    POINTS = ("client", "server", "sender")

    def check(self, *arguments):
        for point in self.POINTS:
            capture = traffic.generate(*arguments, "--capture-at", point)
            connection = info(capture.frames, "--generation", capture.sent["generation"])
            for way in WAYS:
                bounds = peak(self, connection, way)
                true = max((each["bunches"] for each in true_peaks(capture, way)), default=0)
                self.assertLessEqual(bounds["at_least"], true, (arguments, point, way))
                self.assertGreaterEqual(bounds["at_most"], true, (arguments, point, way))

    def test_losses(self):
        for generation in ("4.18", "4.22", "5.1", "5.5", "5.8"):
            for loss in ("--loss=0.05", "--loss=0.3"):
                self.check("lossy", "--duration=2", loss, "--generation", generation)

    def test_bursts_and_outages(self):
        for name in ("burst", "loss-burst", "outage"):
            for generation in ("4.18", "5.5"):
                self.check(name, "--duration=2", "--generation", generation)

    def test_disorder(self):
        for name in ("shuffle", "jitter", "mixed"):
            self.check(name, "--duration=2", "--generation=5.5")

    def test_full_buffer(self):
        self.check("bulk", "--generation=5.4", "--jitter=5", "--loss=0.03", "--seed=3", "--duration=1")

    def test_text(self):
        """Without the peer's acks the upper bound exceeds the limit, and is not printed; where the bounds differ, none is of
        the channel of the other."""
        server = traffic.one_way(generated(("bulk", "--duration=2"), "4.18").frames, "s2c")
        bounds = peak(self, info(server), "s2c")
        self.assertTrue(bounds["at_most"] is None or bounds["at_most"] > 256, bounds)
        self.assertIn(f" {bounds['at_least']} or more of 256, channel {bounds['channel']}\n", text(server))
        kinds_of_bounds = set()
        for name in ("login", "lossy"):
            capture = generated((name, "--duration=2"), "5.5").frames
            for way in WAYS:
                bounds = peak(self, info(capture), way)
                is_exact = bounds["at_least"] == bounds["at_most"]
                kinds_of_bounds.add(is_exact)
                self.assertIn(f" {bounds['at_least']} of 512, channel {bounds['channel']}" if is_exact else
                              f" {bounds['at_least']}-{bounds['at_most']} of 512 ", text(capture).replace("\n", " "))
        self.assertEqual({False, True}, kinds_of_bounds)

    def test_no_ack_lost(self):
        """Without lost acks both bounds are equal: a packet's header has all acks that its sender knew."""
        for generation in ("4.22", "5.5"):
            for point in self.POINTS:
                capture = traffic.generate("clean", "--duration=2", "--generation", generation, "--capture-at", point)
                connection = info(capture.frames, generation_option(generation))
                for way in WAYS:
                    true = max(each["bunches"] for each in true_peaks(capture, way))
                    self.assertGreater(true, 1)
                    bounds = peak(self, connection, way)
                    self.assertEqual((true, true), (bounds["at_least"], bounds["at_most"]), (generation, point, way))


class BothEnds(unittest.TestCase):
    """One run captured at both ends: the report is of the first end, beside which stands the comparison with the other."""

    def counts(self, arguments):
        """The duplicates by the network that arrived, and the retransmissions, by direction."""
        sent = traffic.generate(*arguments, "--capture-at=sender").sent
        copies = {way: sum(max(0, len(each["arrived"]) - 1) for each in sent["datagrams"]
                           if each["dir"] == way and each["packet_id"] is not None) for way in WAYS}
        return {"duplicates": copies, "resends": sent["connections"][0]["resends"]}

    def info_of_files(self, captures):
        """The object of info --json for several files."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder, f"{number}.pcapng") for number in range(len(captures))]
            for path, frames in zip(paths, captures):
                path.write_bytes(traffic.write(frames))
            connection, = map(json.loads, traffic.program("info", "--json", *paths).splitlines())
        return connection

    def without_comparison(self, connection):
        """The object without what the capture of the other end adds, which is there."""
        compared = connection.pop("both_ends")
        connection.pop("other_end", None)
        self.assertLessEqual(set(WAYS), set(compared))
        for finding in connection["findings"]:
            del finding["in_both_captures"]
        return connection, compared

    def check(self, *arguments):
        """In a file with an interface for each end, frames have other numbers than in the file of the first end."""
        ends = traffic.both_ends(*arguments)
        for first, second in (ends, ends[::-1]):
            views = [[each._replace(interface=number) for each in end] for number, end in enumerate((first, second))]
            connection, _ = self.without_comparison(self.info_of_files([traffic.merged(*views)]))
            alone = info(views[0])
            for key in (*COUNTS, "duplicates", "resends", "spurious"):
                self.assertEqual(alone[key], connection[key], key)
            self.assertEqual(kinds(alone), kinds(connection))

    def test_interfaces(self):
        self.check("lossy", "--duration=2", "--generation=5.5")

    def test_files(self):
        """The report is of the first file alone, beside which the comparison with the other stands."""
        arguments = ("lossy", "--duration=2", "--generation=5.5")
        ends = [[each._replace(interface=0) for each in end] for end in traffic.both_ends(*arguments)]
        for files in (ends, ends[::-1]):
            connection, compared = self.without_comparison(self.info_of_files(files))
            self.assertGreater(sum(compared[way]["lost"] for way in WAYS), 0)
            self.assertEqual(self.info_of_files(files[:1]), connection)

    def test_copies_of_the_network(self):
        self.check("lossy", "--duration=2", "--generation=5.5", "--dup=0.1", "--loss=0")

    def test_old_generations(self):
        self.check("lossy", "--duration=2", "--generation=4.18")

    def test_one_end(self):
        """Copies by the network are duplicates in the capture at the end where they arrive."""
        arguments = ("lossy", "--duration=2", "--generation=5.5", "--dup=0.1", "--loss=0")
        expected = self.counts(arguments)
        for end, way in zip(traffic.both_ends(*arguments), reversed(WAYS)):
            found = info([each._replace(interface=0) for each in end])
            self.assertEqual(expected["duplicates"][way], found["duplicates"][way])
            self.assertGreater(found["duplicates"][way], 5)


class Layers(unittest.TestCase):
    """IPv6, VLAN tags and IPv4 fragments make no difference."""

    def same(self, frames, *keys):
        whole = info(frames)
        for name, (wrap, _) in traffic.LAYERS.items():
            found = info(wrap(frames))
            self.assertEqual({key: whole[key] for key in keys}, {key: found[key] for key in keys}, name)

    def test_counts(self):
        self.same(generated(LOSSY, "5.5").frames, *COUNTS, "resends", "spurious")
        self.same(generated(LOSSY, "4.18").frames, *COUNTS, "resends", "spurious")

    def test_findings(self):
        frames = generated(LOSSY, "5.5").frames
        for name, (wrap, _) in traffic.LAYERS.items():
            self.assertEqual(kinds(info(frames)), kinds(info(wrap(frames))), name)

    def test_cut(self):
        frames = generated(LOSSY, "5.5").frames
        whole = info(frames)
        for name, (wrap, more) in traffic.LAYERS.items():
            if name != "fragments":
                cut = info(traffic.snapped(wrap(frames), 96 + more), generation_option("5.5"))
                self.assertEqual({key: whole[key] for key in COUNTS}, {key: cut[key] for key in COUNTS}, name)

    def test_opaque(self):
        half = traffic.every_second_opaque(generated(LOSSLESS, "5.5").frames)
        for name, (wrap, _) in traffic.LAYERS.items():
            found = info(wrap(half), generation_option("5.5"), "--handlers=oodle")
            self.assertEqual({"c2s": 0, "s2c": 0}, found["lost"], name)

    def test_both_ends(self):
        both = traffic.merged(*traffic.both_ends("lossy", "--duration=2", "--generation=5.5"))
        for name, (wrap, _) in traffic.LAYERS.items():
            self.assertEqual({"c2s": 0, "s2c": 0}, info(wrap(both))["duplicates"], name)


class LateCopies(unittest.TestCase):
    """A copy of a packet that comes seconds after it is no late packet, and its bunches are not sent again."""

    def test_copies(self):
        for generation in ("4.18", "5.1"):
            for scenario in (("login", "--duration=10"), ("lossy", "--duration=10", "--loss=0.03")):
                frames = traffic.generate(*scenario, "--generation", generation).frames
                whole, first = info(frames), len(frames) // 4
                for later in (300, 600, 850):
                    with self.subTest(generation=generation, scenario=scenario[0], later=later):
                        at = first + later
                        copies = [frame._replace(time_ns=frames[at].time_ns) for frame in frames[first:first + 10]]
                        with_copies = info(frames[:at] + copies + frames[at:])
                        keys = {*COUNTS, "resends"} - {"packets", "duplicates"}
                        expected = {key: whole[key] for key in keys}
                        self.assertEqual(expected, {key: with_copies[key] for key in expected})
                        before, after = (sum(each["duplicates"].values()) for each in (whole, with_copies))
                        self.assertEqual(before + 10, after)


if __name__ == "__main__":
    uerudp.main()
