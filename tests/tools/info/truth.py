# SPDX-License-Identifier: MIT
"""What a simulated run knows, against what uerudp info concludes from a capture of it: each finding is read and held
against the sidecar. A capture may begin late, end early, or lack packets; no finding may be wrong because of that."""
import collections
import re

import mishaps

WAYS = {"client to server": "c2s", "server to client": "s2c"}
SIDES = {"client": "c2s", "server": "s2c"}
OTHER = {"c2s": "s2c", "s2c": "c2s"}
FAR = 64
SAME_TIME_NS = 100_000  # times of a simulated tick are rounded
IDS = 16384  # on the wire; a capture that begins late shows packet ids less a multiple of this
WAY = r"(?P<way>client to server|server to client)"
SIDE = r"the (?P<side>client|server)"

# frames: in the capture; delivered: what its sender learnt, or None
Datagram = collections.namedtuple("Datagram", "frames way time packet_id fate arrived delivered queued_bits")


class Wrong(Exception):
    """A finding that the simulation contradicts."""


def check(condition, reason):
    if not condition:
        raise Wrong(reason)


def saturated_spans(queue, bytes_per_s, tick_ns):
    """[begin, end] of each saturation, in ns: from a tick that leaves bits in the queue, until they have left. queue: of
    each datagram of a side its time in ns, and the bits, or None, that its tick left."""
    bits_per_ns = bytes_per_s * 8 / 1e9
    spans = []
    for begin, bits in queue:
        if bits is not None and bits > 0:
            end = begin + bits / bits_per_ns + tick_ns
            if spans and begin <= spans[-1][1] + SAME_TIME_NS:
                spans[-1][1] = max(spans[-1][1], end)
            else:
                spans.append([begin, end])
    return spans


class Run:
    """A connection of a sidecar, and the records of its capture (mishaps.py). port: that of the client in the part of
    the capture that a finding is about; a client that moves without a handshake is another connection."""

    def __init__(self, sidecar, stream, records, port):
        self.connection, self.records = sidecar["connections"][stream], records
        self.point = sidecar["capture_point"]
        self.times = {number: record.time for number, record in enumerate(records, 1)}
        self.clock = {number: record.ticks for number, record in enumerate(records, 1)}
        frames = collections.defaultdict(list)
        for number, record in enumerate(records, 1):
            if port in mishaps.ports_of(record):
                frames[record.frame].append(number)
        frames[None] = []  # never captured, or of another run
        self.datagrams = [Datagram(frames[each["frame"]], each["dir"], int(each["time"]), each["packet_id"],
                                   set(each["fate"]), [int(time) for time in each["arrived"]], each["delivered"],
                                   each["queued_bits"])
                          for each in sidecar["datagrams"] if each["stream"] == stream]
        self.by_frame = {frame: each for each in self.datagrams for frame in each.frames}
        self.packets = {way: {each.packet_id: each for each in self.datagrams
                              if each.way == way and each.packet_id is not None} for way in OTHER}
        self.damaged = sum("corrupted" in each.fate for each in self.datagrams)
        self.is_damaged = self.damaged != 0
        self.has_history = tuple(map(int, self.connection["generation"].split("."))) >= (4, 22)
        # What a sender has not learnt at the end of the run may still have been reported.
        self.refused = {way: {each.packet_id for each in packets.values() if not each.delivered}
                        for way, packets in self.packets.items()}

    def captured(self, way, first=0, last=float("inf")):
        """The packets of a direction between two frames, in the order of the capture."""
        return [each for frame, each in sorted(self.first_views())
                if each.way == way and each.packet_id is not None and first < frame < last]

    def first_views(self):
        """Copies of another capture point, or of a mirror port, are no further datagrams."""
        return ((frame, each) for frame, each in self.by_frame.items() if frame == min(each.frames))

    def captured_ns(self, datagram):
        """When a packet was at the capture point, or would have been."""
        is_sent = self.point in ("sender", {"c2s": "client", "s2c": "server"}[datagram.way])
        check(datagram.frames or is_sent or datagram.arrived, f"packet {datagram.packet_id} was acknowledged, but did not arrive")
        return (self.times[min(datagram.frames)] if datagram.frames else
                datagram.time if is_sent else min(datagram.arrived))

    # ---- each kind: the text of the finding, and its frames ----

    def at_most(self, text, number, what):
        """A damaged header can report anything."""
        check(int(text["count"]) <= number or self.is_damaged, f"only {number} {what}")

    def invented(self):
        """Packets that a receiver can report because of damaged sequences that are not far from the others."""
        return FAR * self.damaged

    def loss(self, text, _):
        way = WAYS[text["way"]]
        self.at_most(text, len(self.refused[way]), "were not accepted")
        sent = len(self.packets[way])
        check(int(text["of"]) <= sent + self.invented(), f"only {sent} were sent")

    def not_delivered(self, frames):
        """Each frame holds a packet that was not accepted."""
        for each in (self.by_frame[frame] for frame in frames if frame in self.by_frame):
            check(each.packet_id in self.refused[each.way] or self.is_damaged, f"packet {each.packet_id} was accepted")

    def stall(self, text, frames):
        frames = [int(number) for number in re.findall(r"\d+", text["frames"])] if text["frames"] else frames
        last = self.by_frame.get(int(text["last"]))
        self.not_delivered([frame for frame in frames if frame != int(text["last"])])
        check(last is None or last.arrived, "the last copy did not arrive")

    def stall_seen(self, text, _):
        """The sidecar lacks messages that were never complete; check_waits.py compares spans with both ends."""
        way, frame, last = WAYS[text["way"]], int(text["frame"]), int(text["last"])
        check(frame < last, "it ends before it begins")
        follower, copy = self.by_frame.get(frame), self.by_frame.get(last)
        if follower and copy:
            check(follower.way == copy.way == way, "these frames are of the other direction")
            check(copy.arrived, "the last copy did not arrive")
            check(any(each < follower.packet_id < copy.packet_id for each in self.refused[way]),
                  "every packet before the one that waited was accepted")

    def silence(self, text, _):
        way = SIDES[text["side"]]
        first, last = int(text["frame"]), int(text["last"])
        check(not self.captured(way, first, last), "it sent packets in between")
        check(len(self.captured(OTHER[way], first, last)) >= int(text["others"]), "the other side sent fewer packets")
        before, after = self.by_frame.get(first), self.by_frame.get(last)
        if None in (before, after) or None in (before.packet_id, after.packet_id):
            return  # a duplicate, or a message of a handshake
        between = [each for each in self.packets[way].values() if before.packet_id < each.packet_id < after.packet_id]
        if text["missing"] is None:
            check(not between, f"it sent {len(between)} packets that are not in the capture")
        else:
            check(int(text["missing"]) <= len(between), f"only {len(between)} are missing")
        if text["acked"]:
            check(all(each.arrived for each in between if not each.frames) or self.is_damaged, "one of them did not arrive")
        self.pause_of_sender(text, before, after)

    def pause_of_sender(self, text, before, after):
        sent_ns = after.time - before.time
        if text["least"]:
            check(sent_ns > float(text["least"]) * 1e6, f"it sent nothing for {sent_ns / 1e6} ms")
        if text["most"]:
            check(sent_ns < float(text["most"]) * 1e6, f"it sent nothing for {sent_ns / 1e6} ms")

    def unread_silence(self, text, _):
        check(not self.captured(SIDES[text["side"]], int(text["frame"]), int(text["last"])), "it sent packets in between")

    def last_silence(self, text, _):
        check(not self.captured(SIDES[text["side"]], int(text["frame"])), "it sent packets after that")

    def silence_before_close(self, text, _):
        check(not self.captured(SIDES[text["side"]], int(text["frame"]), int(text["last"])), "it sent packets in between")

    def late_silence(self, text, _):
        way, last = SIDES[text["side"]], int(text["last"])
        check(not self.captured(way, int(text["frame"]), last), "it sent packets in between")
        after = [each for frame, each in self.by_frame.items() if frame > last and each.way == way and each.packet_id is not None]
        late = sum(each.packet_id < self.by_frame[last].packet_id for each in after) if last in self.by_frame else len(after)
        self.at_most(text, late, "came after it")

    def ack_gap(self, text, _):
        way = SIDES[text["side"]]
        captured = len(self.captured(OTHER[way], int(text["frame"]), int(text["last"])))
        check(captured >= int(text["others"]), f"only {captured} packets of the other side were captured")
        self.at_most(text, len(self.refused[way]), "were not accepted")

    def last_ack_gap(self, text, _):
        captured = len(self.captured(OTHER[SIDES[text["side"]]], int(text["frame"]), int(text["last"]) + 1))
        check(captured >= int(text["others"]), f"only {captured} packets of the other side were captured")

    def pause(self, text, _):
        first, last = int(text["frame"]), int(text["last"])
        check(not [frame for frame, _ in self.first_views() if first < frame < last], "there are datagrams in between")

    def burst(self, text, _):
        way = WAYS[text["way"]]
        first, last = int(text["first"]), int(text["last"])
        check(int(text["count"]) == (last - first) % IDS + 1, "the count is not that of the ids")
        check(int(text["count"]) <= len(self.packets[way]) + self.invented(), f"only {len(self.packets[way])} were sent")
        refused = {packet_id % IDS for packet_id in self.refused[way]}
        accepted = [number for number in range(first, first + int(text["count"])) if number % IDS not in refused]
        check(not accepted or self.is_damaged, f"packets {accepted} were accepted")

    def spurious(self, text, _):
        """A client that has no answer repeats its first bunches each second (endpoint.md 21.1), also those that arrived."""
        sent = [each.time for each in self.packets["c2s"].values()]
        answered = min(time for each in self.packets["s2c"].values() for time in each.arrived)
        may_repeat = WAYS[text["way"]] == "c2s" and any(min(sent) + REPEAT_NS < time < answered for time in sent)
        check(not self.has_history or self.is_damaged or may_repeat,
              "this sender repeats nothing that was reported as delivered")

    def reordered(self, text, _):
        self.at_most(text, self.late(WAYS[text["way"]]), "came after a higher id")

    def duplicates(self, text, _):
        packets = self.packets[WAYS[text["way"]]].values()
        copies = sum("duplicated" in each.fate or max(len(each.frames) - 1, 0) for each in packets)
        self.at_most(text, copies, "were duplicated")

    def gap(self, text, _):
        way = WAYS[text["way"]]
        missing = [each for each in self.packets[way].values() if not each.frames or "corrupted" in each.fate]
        check(missing, "no packet is missing in the capture")

    def incomplete(self, text, _):
        """Up to 4.21 a packet may arrive of which its sender does not learn it."""
        arrived = sum(not each.frames and bool(each.arrived if not self.has_history else each.delivered is not False)
                      for each in self.packets[WAYS[text["way"]]].values())
        self.at_most(text, arrived, "arrived that are not in the capture")

    def one_direction(self, text, _):
        """A packet that was captured before its own handshake counts as a connection of its own."""
        first, last = self.span
        check(not self.captured(OTHER[WAYS[text["way"]]], first - 1, last + 1), "there are packets of the other direction")

    def buffer(self, text, _):
        peaks = {each["channel"]: each["bunches"] for each in self.connection["reliable_peak"][WAYS[text["way"]]]}
        peak = peaks.get(int(text["channel"]), 0)
        late = sum(self.late(way) for way in WAYS.values()) if all(map(self.late, WAYS.values())) else 0
        named = re.search(r"saw the packets in the order of the capture \((\d+) of both", text.string)
        check(named is None or int(named[1]) <= late, f"{late} packets are late")
        check(int(text["count"]) <= peak or named, f"at most {peak} were in the buffer")

    def late(self, way):
        newest, late = -1, 0
        for each in self.captured(way):
            late += each.packet_id < newest
            newest = max(newest, each.packet_id)
        return late

    def timeout(self, text, _):
        way = SIDES[text["side"]]
        check(not self.captured(way, int(text["frame"])), "it sent packets after that")
        check(len(self.captured(OTHER[way], int(text["frame"]))) >= int(text["count"]), "the other side sent fewer packets")

    def closed(self, text, frames):
        """Both sides may close at the same time: then each sends no packet after its close."""
        by, way = self.connection["closed_by"], SIDES[text["side"]]
        check(by in (text["side"], "timeout") or not self.captured(OTHER[way]) or
              (frames and not self.captured(way, frames[0])), f"closed by {by}")

    def stopped(self, _, frames):
        """The span is one of the capture; that much time has passed, or the clock was set later."""
        check(max(self.times.values()) - self.times[frames[0]] >= STOPPED_NS, "the run ended soon after that")

    def frame_time(self, *_):
        check(self.is_damaged, "the simulated server has frames of 33 ms")

    def ping(self, text, _):
        check(self.connection["rtt_ms"] is not None, "no round trip")

    def malformed(self, *_):
        check(self.is_damaged, "no datagram was damaged")

    def cut(self, text, _):
        self.at_most(text, sum(record.length > len(record.data) for record in self.records), "are cut")

    def set_back(self, text, frames):
        earlier = max(self.clock[number] for number in range(1, frames[0]))
        check(self.clock[frames[0]] < earlier, "times do not go back at this frame")

    def handshakes(self, text, _):
        """Messages of the handshake, which the sidecar does not list: datagrams without packet ids."""
        count = sum(each.packet_id is None and each.way == "c2s" for each in self.datagrams)
        check(count >= 2, "the client sent no message of the handshake twice")

    def saturated(self, text, _):
        way = SIDES[text["side"]]
        spans = saturated_spans(((each.time, each.queued_bits) for each in self.datagrams if each.way == way),
                                int(text["rate"]), int(text["tick"]) * UNITS_NS["ms"])
        lengths = [end - begin for begin, end in spans]
        for length, number, unit in ((sum(lengths), "all", "all_unit"), (max(lengths, default=0), "longest", "longest_unit")):
            step = UNITS_NS["ms"] if text[unit] == "ms" else 0.1 * UNITS_NS["s"]
            check(float(text[number]) * UNITS_NS[text[unit]] - step <= length, f"it was for {length / UNITS_NS['ms']} ms")

    def always(self, *_):
        """Nothing in the sidecar contradicts it, or what it says is about the capture itself."""


BUNCHES = rf"on channel (?P<channel>\d+), .* \({WAY}\)"
FRAMES = r"not delivered (?:once|twice|\d+ times) \((?P<frames>[^);]*)[^)]*\)"

# (kind, expression, method): the first expression that is found in the text of a finding decides
SENTENCES = (
    ("loss", rf"% of the packets {WAY} were not delivered \((?P<count>\d+) of (?P<of>\d+)\)", Run.loss),
    ("one_way_loss", rf"% of the packets {WAY} were not delivered \((?P<count>\d+) of (?P<of>\d+)\)", Run.loss),
    ("reliable_stall", rf"{BUNCHES}: {FRAMES}, arrived with frame (?P<last>\d+)", Run.stall),
    ("reliable_stall", rf"stall of at least [\d.]+ (?:ms|s) {BUNCHES}: missing before frame (?P<frame>\d+), came in frame (?P<last>\d+); ", Run.stall_seen),
    ("repeated_loss", rf"{BUNCHES}: {FRAMES}, arrived with frame (?P<last>\d+)", Run.stall),
    ("undelivered", rf"{BUNCHES}", Run.always),
    ("silence", rf"{SIDE} for .* between frames (?P<frame>\d+) and (?P<last>\d+), while .*; (?P<count>\d+) packets? that it sent before frame",
     Run.late_silence),
    ("silence", rf"{SIDE} for .* between frames (?P<frame>\d+) and (?P<last>\d+), while the \w+ sent (?P<others>\d+); whether",
     Run.unread_silence),
    ("silence", rf"{SIDE} for .* between frames (?P<frame>\d+) and (?P<last>\d+), while the \w+ sent (?P<others>\d+)"
                r"(?:.*; (?P<missing>\d+) packets? of it (?:is|are) missing in what was analysed(?P<acked>, but)?)?"
                r"(?:.* did not send for at least (?P<least>[\d.]+) ms)?(?:.* at most (?P<most>[\d.]+) ms after)?", Run.silence),
    ("silence", rf"{SIDE} for .* between frame (?P<frame>\d+) and the close of the \w+ in frame (?P<last>\d+)",
     Run.silence_before_close),
    ("silence", rf"{SIDE} was analysed in the last .* after frame (?P<frame>\d+)", Run.last_silence),
    ("ack_gap", rf"between frames (?P<frame>\d+) and (?P<last>\d+), while (?P<others>\d+) packets.* reported (?P<count>\d+) packets? of {SIDE}", Run.ack_gap),
    ("ack_gap", rf"between frames (?P<frame>\d+) and (?P<last>\d+), while (?P<others>\d+) packets.* last \d+ packets? of {SIDE}", Run.last_ack_gap),
    ("pause", r"between frames (?P<frame>\d+) and (?P<last>\d+)", Run.pause),
    ("loss_burst", rf"(?P<count>\d+) packets .* {WAY}, ids (?P<first>\d+) to (?P<last>\d+)", Run.burst),
    ("spurious_resends", WAY, Run.spurious),
    ("reordered", rf"(?P<count>\d+) packets? {WAY}", Run.reordered),
    ("duplicates", rf"(?P<count>\d+) packets? {WAY}", Run.duplicates),
    ("reliable_gap", WAY, Run.gap),
    ("capture_incomplete", rf"(?P<count>\d+) packets? {WAY}", Run.incomplete),
    ("one_direction", WAY, Run.one_direction),
    ("reliable_buffer", rf"channel (?P<channel>\d+) \({WAY}\) held at least (?P<count>\d+)", Run.buffer),
    ("timeout", rf"of {SIDE} was analysed in this connection after frame (?P<frame>\d+).* sent (?P<count>\d+)", Run.timeout),
    ("closed", SIDE, Run.closed),
    ("ping", "", Run.ping),
    ("server_frame_time", "", Run.frame_time),
    ("client_id", "", Run.malformed),
    ("login_stopped", r"after (?:.*) in frame (?P<frame>\d+)", Run.stopped),
    ("handshake_retried", "", Run.handshakes),
    ("cut", r"(?P<count>\d+)", Run.cut),
    ("times_implausible", "", Run.set_back),
    ("malformed", "", Run.malformed),
    ("never_sent", "", Run.malformed),
    ("control_message", "", Run.malformed),
    ("partial_error", "", Run.malformed),
    ("reliable_jump", "", Run.malformed),
    ("saturated", rf"{SIDE} was saturated for at least (?P<all>[\d.]+) (?P<all_unit>m?s), (?P<longest>[\d.]+) "
                  r"(?P<longest_unit>m?s) at once .* more than its rate, (?P<rate>\d+) bytes/s; .* ticks take at most (?P<tick>\d+) ms",
     Run.saturated),
    *((kind, "", Run.always) for kind in ("no_answer", "refused", "version_upgrade", "restart", "opaque")),
)


STOPPED_NS = 10e9
REPEAT_NS = 1e9
UNITS_NS = {"ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9}


def check_span(run, finding):
    """The first span of a text about two frames is the time between their captures, or holds it."""
    span = re.search(r" ([\d.]+) (ms|s|min|h)\b(?: to ([\d.]+) (ms|s|min|h)\b)?", finding["text"])
    times = run.clock if finding["kind"] == "pause" else run.times  # its text says that the clock may have been set
    frames = [times[frame] for frame in finding["frames"]]
    if finding["kind"] in ("silence", "pause", "ack_gap") and len(frames) == 2:
        ends = [(float(number) * UNITS_NS[unit], (1 if unit == "ms" else 0.1) * UNITS_NS[unit])
                for number, unit in (span.group(1, 2), span.group(3, 4) if span[3] else span.group(1, 2))]
        way = run.by_frame.get(finding["frames"][0])
        if finding["kind"] == "silence" and way:  # from the latest of its times, if they are not in order
            frames[0] = max(times[number] for number, each in run.by_frame.items()
                            if each.way == way.way and number <= finding["frames"][0])
        passed = frames[1] - frames[0]
        check(ends[0][0] - ends[0][1] < passed < ends[1][0] + ends[1][1], f"{passed / 1e6} ms passed")


def run_of(sidecar, records, connection):
    """None for a connection of another run."""
    port = int(connection["client"].rpartition(":")[2])
    return Run(sidecar, 0, records, port) if port != mishaps.OTHER_PORT else None


def contradictions(run, connection):
    """(finding, reason) of each finding about a connection that its run contradicts."""
    run.span = connection["frames"]["first"], connection["frames"]["last"]
    for finding in connection["findings"]:
        sentences = [(re.search(expression, finding["text"]), method) for kind, expression, method in SENTENCES
                     if kind == finding["kind"]]
        match, method = next((each for each in sentences if each[0]), (None, None))
        try:
            check(match, "nothing here knows how to check this")
            method(run, match, finding["frames"])
            check_span(run, finding)
        except (Wrong, KeyError) as reason:
            yield finding, repr(reason)


def wrong_waits(run, connection, sent, is_whole):
    """(row of waits, reason) of each that the receivers contradict. sent: both senders (receivers.py); is_whole: the capture
    lacks nothing that its point has."""
    for row in connection["waits"] if not run.is_damaged else []:
        packets = run.packets[row["direction"]]
        try:
            spans = sent.waits(row["direction"], lambda number: run.captured_ns(packets[number])).get(row["channel"], [])
            true_ms = [span / UNITS_NS["ms"] for span, *_ in spans]
            check(row["bunches"] <= len(true_ms), f"only {len(true_ms)} waited")
            check(row["total_ms"] <= sum(true_ms) + 0.01 * len(true_ms), f"they waited {sum(true_ms)} ms")
            check(row["longest_ms"] <= max(true_ms, default=0) + 0.01, f"the longest wait was {max(true_ms, default=0)} ms")
            check(row["at_least"] or not is_whole or row["bunches"] == len(true_ms), f"{len(true_ms)} waited")
        except Wrong as reason:
            yield row, reason
