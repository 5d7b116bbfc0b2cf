# SPDX-License-Identifier: MIT
"""What can happen to a capture of a simulated run: it begins late, lacks packets, is cut, has every packet twice, or has
times of a clock that was set. The run stays the same, so nothing that uerudp info prints may become false."""
import collections
import struct

import blocks

VLAN, PORTS = bytes((0x81, 0, 0, 7)), slice(34, 38)
HEADERS = 42  # Ethernet, IPv4, UDP
CLIENT_PORT = 50000
OTHER_PORT = 52000  # of a run that is merged into the capture
PARTS = ("whole", "whole", "begins late", "ends early", "hole", "one direction", "lost before", "snapped", "twice",
         "two interfaces", "stirred", "set back", "set forward", "rebound", "vlan", "merged")

# frame: in the whole capture of the run, None of a packet of another run; time: when it was captured; ticks: the time in
# the capture; interface: number of the capture interface
Record = collections.namedtuple("Record", "frame time ticks data length interface")


def records_of(data):
    """The records of a capture with one interface, and the blocks before them."""
    records, head = [], []
    for kind, order, raw in blocks.split(data):
        if kind == blocks.ENHANCED:
            packet = blocks.Packet(order, raw)
            records.append(Record(len(records) + 1, packet.ticks, packet.ticks, packet.data, packet.length, 0))
        elif kind in (blocks.SECTION, blocks.INTERFACE):
            head.append(raw)
    return b"".join(head), records


def file_of(head, records):
    interface = [raw for kind, _, raw in blocks.split(head) if kind == blocks.INTERFACE]
    return head + b"".join(interface * max((each.interface for each in records), default=0)) + b"".join(
        blocks.enhanced(each.data, each.ticks, number=each.interface, length=each.length) for each in records)


def ports_of(record):
    place = PORTS.start + (len(VLAN) if record.data[12:14] == VLAN[:2] else 0)
    return struct.unpack_from(">HH", record.data, place)


def with_port(record, port):
    """The client at another port."""
    source, destination = struct.unpack_from(">HH", record.data, PORTS.start)
    ports = struct.pack(">HH", *(each if each < CLIENT_PORT else port for each in (source, destination)))
    return record._replace(data=record.data[:PORTS.start] + ports + record.data[PORTS.stop:PORTS.stop + 2] + bytes(2)
                           + record.data[PORTS.stop + 4:])


class Mishap:
    """Part of a capture. random: of the capture; datagrams: of the sidecar, by frame."""

    def __init__(self, part, random, datagrams):
        self.part, self.random, self.datagrams = part, random, datagrams
        self.cut = random.uniform(0.1, 0.8)

    def is_kept(self, share, datagram):
        return {"begins late": share > self.cut, "ends early": share <= self.cut, "hole": not self.cut < share < self.cut + 0.1,
                "one direction": datagram["dir"] == ("c2s", "s2c")[self.cut > 0.5],
                "lost before": datagram["arrived"] or self.random.random() < 0.5}.get(self.part, True)

    def kept(self, records):
        """Without what the part lacks. The network's own duplicates are in whole captures only."""
        if self.part == "whole":
            return records
        return [each for each in records if each.frame in self.datagrams
                and self.is_kept(each.frame / len(records), self.datagrams[each.frame])]

    def applied(self, records, other):
        """The records of the capture. other: those of another run at another port, for "merged"."""
        name = self.part.replace(" ", "_")
        return getattr(self, name, lambda records, _: records)(self.kept(records), other)

    def snapped(self, records, _):
        snap = HEADERS + self.random.choice((8, 20, 60, 150))
        return [each._replace(data=each.data[:snap]) for each in records]

    def twice(self, records, _):
        """A mirror port that copies both directions of its two ports."""
        between = self.random.choice((0, 2000, 900_000))
        copies = [each._replace(ticks=each.ticks + between) for each in records]
        return sorted(records + copies, key=lambda each: each.ticks)

    def two_interfaces(self, records, _):
        copies = [each._replace(ticks=each.ticks + 1500, interface=1) for each in records]
        return sorted(records + copies, key=lambda each: each.ticks)

    def stirred(self, records, _):
        """A network card with several queues: packets a few places late, with their own times or with later ones."""
        places = [(place + self.random.choice((0, 0, 0, 3)), place) for place in range(len(records))]
        stirred = [records[place] for _, place in sorted(places)]
        if self.random.random() < 0.5:
            return stirred
        return [each._replace(time=time, ticks=time) for each, time in zip(stirred, sorted(each.ticks for each in records))]

    def step(self, records, seconds):
        moved = int(len(records) * self.cut)
        ticks = seconds * 10 ** 9
        return [each if place < moved else each._replace(ticks=each.ticks + ticks) for place, each in enumerate(records)]

    def set_back(self, records, _):
        return self.step(records, -self.random.choice((1, 30, 3600)))

    def set_forward(self, records, _):
        return self.step(records, self.random.choice((1, 30, 3600)))

    def rebound(self, records, _):
        """The client behind another port of its router, without the restart of a handshake."""
        moved = int(len(records) * self.cut)
        return [each if place < moved else with_port(each, 61000) for place, each in enumerate(records)]

    def vlan(self, records, _):
        return [each._replace(data=each.data[:12] + VLAN + each.data[12:], length=each.length + len(VLAN)) for each in records]

    def merged(self, records, other):
        moved = [with_port(each._replace(frame=None), OTHER_PORT) for each in other]
        return sorted(records + moved, key=lambda each: each.ticks)
