# SPDX-License-Identifier: MIT
"""Reference model of a connection's analysis: a direct implementation of protocol.md 6 to 10 on the packet ids that the
simulator recorded (NAME.sent.json) and on the bunches that the program decodes. Tests compare the plugin's findings
with it."""
import collections

import decoded

SEQ_BOUND, CH_SEQ_BOUND = 16384, 1024
CLIENT, SERVER = 1, 2  # directions
LEGACY = {"4.13", "4.14", "4.18", "4.19", "4.20"}  # acks and naks in the order of their ids

# A reliable bunch; previous_frame: the frame of its previous transmission.
Bunch = collections.namedtuple("Bunch", "id previous_frame is_spurious is_gap in_flight")


def nearest(number, base, bound):
    """The full number nearest to base whose wire form is this one."""
    return base + (number - base + bound // 2) % bound - bound // 2


class Side:
    """State of one sender."""

    def __init__(self):
        self.frames = {}  # packets by id: the first copy
        self.newest = None
        self.newest_reported = None  # the newest packet that the other side acknowledged or reported as lost
        self.skipped = set()  # up to 4.21: ids of lost packets whose acks may be in missing packets; later acks may decide
        self.is_unsure = False  # a packet is missing since this side's last ack
        self.acked = set()
        self.first = None  # the id of the first packet of a session whose handshake was not captured
        self.copies = {}  # by channel and reliable id: (packet id, frame) of each transmission
        self.channels = {}  # by channel: first and newest reliable id

    def is_acked(self, channel, reliable_id):
        return any(packet_id in self.acked for packet_id, _ in self.copies.get((channel, reliable_id), []))

    def is_released(self, channel, reliable_id):
        """The latest transmission is acknowledged: a sender retransmits nothing that it has released."""
        copies = self.copies.get((channel, reliable_id), [])
        return bool(copies) and max(copies)[0] in self.acked

    def in_flight(self, channel, reliable_id):
        """Reliable bunches in flight when this one is sent, from the oldest that is not acknowledged."""
        first = self.channels.get(channel, (reliable_id, None))[0]
        oldest = next((number for number in range(first, reliable_id) if not self.is_released(channel, number)), reliable_id)
        return reliable_id - oldest + 1


class Frame:
    """Findings of a datagram with a packet id."""

    def __init__(self):
        self.missing = []  # missing ids before it
        self.is_late = self.is_duplicate = False
        self.acked, self.nacked = [], []  # ids of packets that it acknowledges
        self.acks_frames = []  # frames of the acknowledged packets, captured before it
        self.other = None  # the Side on whose packets it reports
        self.bunches = []  # a Bunch; None: not reliable

    def nacks_frames(self):
        """Frames of the packets that it reports as not delivered, captured before it or after it."""
        return [self.other.frames[packet_id] for packet_id in self.nacked if packet_id in self.other.frames]


class Course:
    """Computes the findings of each datagram of a capture."""

    def __init__(self, name):
        sent = decoded.sent(name)
        self.is_legacy = sent["generation"] in LEGACY
        self.frames = {}
        self.sides = collections.defaultdict(Side)
        ids = {row["frame"]: row["packet_id"] for row in sent["datagrams"]}
        self.lost = {row["packet_id"] for row in sent["datagrams"] if row.get("delivered") is False}
        for datagram in decoded.datagrams(decoded.path_of(name)):
            if "handshake" in datagram:
                self.begin(datagram)
            elif "packet" in datagram:
                side = self.sides[datagram["stream"], datagram["direction"]]
                guess = nearest(datagram["packet"]["seq"], side.newest or 0, SEQ_BOUND)
                # the simulator does not list the second copy of a datagram
                self.read(datagram, side, ids.get(datagram["frame"], guess))

    def begin(self, datagram):
        """Set the initial packet ids of a handshake."""
        for direction, key in ((CLIENT, "client_seq"), (SERVER, "server_seq")):
            side = self.sides[datagram["stream"], direction]
            if key in datagram["handshake"] and side.newest is None:
                side.newest = side.newest_reported = datagram["handshake"][key] - 1

    def read(self, datagram, side, packet_id):
        found = self.frames[datagram["frame"]] = Frame()
        other = self.sides[datagram["stream"], CLIENT + SERVER - datagram["direction"]]
        found.is_duplicate = packet_id in side.frames
        if found.is_duplicate:
            return
        found.other = other
        opens = any(bunch.get("open") and bunch["channel"] == 0 for bunch in datagram.get("bunches", []))
        if side.newest is None and (opens or other.first is not None):
            side.first = packet_id
        newest = packet_id - 1 if side.newest is None else side.newest
        found.is_late = packet_id < newest
        found.missing = list(range(newest + 1, packet_id))
        side.is_unsure |= bool(found.missing)
        side.newest = max(newest, packet_id)
        side.frames[packet_id] = datagram["frame"]
        if not found.is_late and other.newest is not None:
            self.apply_acks(datagram, side, other, found)
        found.bunches = [transmit(side, datagram["frame"], packet_id, bunch) if bunch["reliable"] else None
                         for bunch in datagram.get("items", datagram.get("bunches", [])) if not bunch.get("is_ack")]

    def reported(self, datagram, other):
        """The newest id that a datagram reports on (None: no ack) and the ids that it reports as delivered."""
        if self.is_legacy:
            delivered = {nearest(item["ack_id"], other.newest, SEQ_BOUND) for item in datagram.get("items", [])
                         if item["is_ack"]}
            return max(delivered, default=None), delivered
        packet = datagram["packet"]
        ack = nearest(packet["ack"], other.newest, SEQ_BOUND)
        return ack, {ack - bit for bit in range(32 * len(packet["history"]))
                     if packet["history"][bit // 32] >> bit % 32 & 1}

    def apply_acks(self, datagram, side, other, found):
        newest, delivered = self.reported(datagram, other)
        if newest is None:
            return
        # up to 4.21 a missing packet may hold the acks of packets that the next ack skips
        unknown_before = min(delivered) if self.is_legacy and side.is_unsure else 0
        side.is_unsure = False
        if other.newest_reported is None:
            other.newest_reported = min(newest, min(other.frames) - 1)
        for packet_id in range(other.newest_reported + 1, newest + 1):
            is_delivered = packet_id in delivered
            if not is_delivered and packet_id < unknown_before:
                other.skipped |= {packet_id} & self.lost
                continue
            (found.acked if is_delivered else found.nacked).append(packet_id)
            if is_delivered and packet_id in other.frames:
                found.acks_frames.append(other.frames[packet_id])
        other.acked.update(found.acked)
        other.newest_reported = max(other.newest_reported, newest)


def transmit(side, frame, packet_id, bunch):
    channel = bunch["channel"]
    start = bunch["ch_seq"] if side.first is None else nearest(bunch["ch_seq"], side.first % CH_SEQ_BOUND + 1, CH_SEQ_BOUND)
    first, newest = side.channels.get(channel, (start, start))
    reliable_id = nearest(bunch["ch_seq"], newest, CH_SEQ_BOUND)
    copies = side.copies.get((channel, reliable_id), [])
    is_gap = channel in side.channels and not copies and (channel, reliable_id - 1) not in side.copies
    found = Bunch(reliable_id, copies[-1][1] if copies else None, side.is_acked(channel, reliable_id), is_gap,
                  side.in_flight(channel, reliable_id))
    side.copies[channel, reliable_id] = [*copies, (packet_id, frame)]
    side.channels[channel] = first, max(newest, reliable_id)
    return found
