# SPDX-License-Identifier: MIT
"""What the receivers of a simulated run did with its reliable bunches, from a capture at both senders: it holds every packet
of both sides, and every ack that was written."""
import collections

import uerudp

WAYS = ("c2s", "s2c")
OTHER = dict(zip(WAYS, WAYS[::-1]))
IDS = 16384  # of packets, on the wire


def decode(path, generation):
    """The datagrams of a capture, with their `bunches` and `acked`; up to 4.21 both are items."""
    decoded = uerudp.decode(f"--generation={generation}", path, status=None)
    for each in decoded:
        items = each.get("items", [])
        each["bunches"] = each.get("bunches", [item for item in items if not item["is_ack"]])
        each["acked"] = [item["ack_id"] for item in items if item["is_ack"]] or each.get("packet", {}).get("acked", [])
    return decoded


class Sent:
    """sent: the datagrams of the sidecar, by frame; decoded: those of the capture, in the order of sending: an ack is of
    the latest packet with its id that was sent before it."""

    def __init__(self, sent, decoded):
        self.packets = {way: {} for way in WAYS}
        self.acked = {way: set() for way in WAYS}
        newest = dict.fromkeys(WAYS, -1)
        for each in decoded:
            of = sent[each["frame"]]
            if of["packet_id"] is not None:
                way, other = of["dir"], OTHER[of["dir"]]
                newest[way] = max(newest[way], of["packet_id"])
                self.packets[way].setdefault(of["packet_id"], [each["frame"], each["bunches"]])
                self.acked[other].update(newest[other] - (newest[other] - number) % IDS for number in each["acked"])

    def arrivals(self, way):
        """(packet id, frame, bunches) of the packets that the receiver acknowledged. One that it refused did not arrive."""
        return [(number, *self.packets[way][number]) for number in sorted(self.packets[way]) if number in self.acked[way]]

    def waits(self, way, time_of):
        """{channel: [(wait in ns, frame of the bunch, frame of the one that it waited for)]}; time_of: of a packet id"""
        receiver = Receiver(bunches for _, (_, bunches) in sorted(self.packets[way].items()))
        time = 0
        for number, frame, bunches in self.arrivals(way):
            time = time_of(number)
            receiver.receive(bunches, time, frame)
        receiver.finish(time)
        return {channel: found for channel, found in receiver.waits.items() if found}


class Receiver:
    """A bunch takes effect when all before it on its channel have arrived. sent: the bunches of each packet in order."""

    def __init__(self, sent):
        self.expected, self.held, self.waits = {}, collections.defaultdict(dict), collections.defaultdict(list)
        for bunches in sent:
            for bunch in filter(is_reliable, bunches):
                self.expected.setdefault(bunch["channel"], bunch["ch_seq"])

    def receive(self, bunches, time, frame):
        for bunch in filter(is_reliable, bunches):
            channel, seq = bunch["channel"], bunch["ch_seq"]
            held = self.held[channel]
            if (seq - self.expected[channel]) % 1024 < 512 and seq not in held:  # else it is a copy
                held[seq] = time, frame
                self.release(channel, held, time, frame)

    def finish(self, time):
        """What waits at the end has waited until then."""
        for channel, held in self.held.items():
            self.waits[channel] += [(time - arrived, frame, None) for arrived, frame in held.values()]

    def release(self, channel, held, time, frame):
        while self.expected[channel] in held:
            arrived, waiting_frame = held.pop(self.expected[channel])
            if time > arrived:
                self.waits[channel].append((time - arrived, waiting_frame, frame))
            self.expected[channel] = (self.expected[channel] + 1) % 1024


def is_reliable(bunch):
    return bunch.get("reliable")
