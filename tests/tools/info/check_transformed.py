#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Captures that are changed in ways whose effect on the answers of info, decode and trace is known: another file format,
clock or address, frames of other protocols, a second connection, a mirror port. The captures are those of this tree and
the recordings of other implementations."""
import collections
import functools
import ipaddress
import json
import re
import struct
import unittest

import blocks
import recordings
import trace_page
import traffic
import uerudp

SHIFT_NS = 86_400_000_000_123
MICROSECOND_NS, NANOSECOND_NS = 1000, 1
MAGICS = {MICROSECOND_NS: 0xA1B2C3D4, NANOSECOND_NS: 0xA1B23C4D}
PORT, OTHER_PORT = "7777", "21000"  # of servers
RESOLVER = "8.8.8.8:53"
EVERY = 3  # frames of the capture between frames of another protocol
FRAMES = re.compile(r"\bframes? \d+(?:, \d+(?=,| and ))*(?:(?: to | and )\d+)*")
ADDRESS = re.compile(r"\b(\d+\.\d+\.\d+\.\d+):(\d+)")
HEAD = re.compile(r'\{"schema":1,"frame":(\d+),"time":"(\d+)","src":"([^"]+)","dst":"([^"]+)","length":(\d+),"stream":(\d+|null)')
DRAWN = {"shifted", "arp"}  # with other times or frames
DRAWN_FRAMES = 200  # of a capture that trace draws, at most
HEADERS = {"interface", "peak_bytes_per_s", "ip_udp"}  # keys about what is below UDP

Capture = collections.namedtuple("Capture", "name frames options")


# ---- captures ----

def classic_frames(data):
    """The frames of a classic pcap, little-endian with microseconds."""
    at, found = 24, []
    while at < len(data):
        seconds, fraction, captured, length = struct.unpack_from("<IIII", data, at)
        found.append(traffic.Frame(seconds * 10 ** 9 + fraction * 1000, data[at + 16:at + 16 + captured], length))
        at += 16 + captured
    return found


@functools.cache
def captures():
    own = [Capture(path.stem, traffic.read(path.read_bytes()), uerudp.options(recordings.settings(path.stem)))
           for path in sorted((uerudp.ROOT / "captures").rglob("*.pcapng"))]
    return own + [Capture(name, classic_frames(path.read_bytes()), options) for name, path, options in uerudp.captures()]


def classic(frames, order, unit_ns):
    """A classic pcap of frames that were not cut."""
    records = [(*divmod(each.time_ns // unit_ns, 10 ** 9 // unit_ns), each.data) for each in frames]
    return blocks.classic(order, MAGICS[unit_ns], records)


def later(frames, ns):
    return [each._replace(time_ns=each.time_ns + ns) for each in frames]


def rounded(frames):
    return [each._replace(time_ns=each.time_ns // MICROSECOND_NS * MICROSECOND_NS) for each in frames]


def with_addresses(frame, address):
    """address: function of the text of an address."""
    source, destination = (address(text) for text in addresses(frame))
    ends = [(ipaddress.ip_address(ip).packed, struct.pack(">H", int(port)))
            for ip, _, port in (source.partition(":"), destination.partition(":"))]
    data = frame.data
    return frame._replace(data=data[:26] + ends[0][0] + ends[1][0] + ends[0][1] + ends[1][1] + data[38:40] + bytes(2) + data[42:])


def addresses(frame):
    ports = struct.unpack_from(">HH", frame.data, 34)
    return [f"{ipaddress.ip_address(frame.data[at:at + 4])}:{port}" for at, port in zip((26, 30), ports)]


def in_another_net(address):
    """Addresses and ports that a capture does not have."""
    ip, port = address.split(":")
    return f"172.16.{ip.split('.', 2)[2]}:{OTHER_PORT if port == PORT else int(port) - 10000}"


def exchanged(frames):
    """A function that exchanges the IP addresses of client and server."""
    pairs = {ends[place].split(":")[0]: ends[1 - place].split(":")[0] for ends in map(addresses, reversed(frames)) for place in (0, 1)}
    return lambda text: f"{pairs[text.split(':')[0]]}:{text.split(':')[1]}"


def six(address):
    """The address of traffic.in_ipv6."""
    ip, port = address.split(":")
    return f"[{ipaddress.ip_address(ipaddress.ip_address('fd00::').packed[:12] + ipaddress.ip_address(ip).packed)}]:{port}"


def dns_query(frame):
    query = struct.pack(">HHHHHH", 7, 0x100, 1, 0, 0, 0) + b"\x07example\x03org\0" + struct.pack(">HH", 1, 1)
    udp = struct.pack(">HHHH", 40000, 53, traffic.UDP_BYTES + len(query), 0) + query
    head = struct.pack(">BBHHHBBH", 0x45, 0, traffic.IPV4_BYTES + len(udp), 0, 0, 64, traffic.UDP, 0)
    return traffic.wrapped(frame, traffic.IPV4, head + bytes((10, 9, 9, 9, 8, 8, 8, 8)) + udp)[0]


# ---- answers ----

def info(data, *options):
    output = uerudp.run("info", "--json", "--findings=1000", *options, "-", data=data, status=None).stdout
    return [json.loads(line) for line in output.splitlines()]


def decode(data, *options):
    """(frame, time, source, destination, stream, all others) of each datagram."""
    found = []
    for line in uerudp.run("decode", "--json", *options, "-", data=data, status=None).stdout.decode().splitlines():
        head = HEAD.match(line)
        found.append((int(head[1]), int(head[2]), head[3], head[4], head[6], head[5] + line[head.end():]))
    return found


def trace(data, *options):
    """The data of the page. Without a connection there is none."""
    page = uerudp.run("trace", *options, "-", data=data, status=(0, 1, 2)).stdout
    return trace_page.read(page.decode()) if page else {}


class Change:
    """What a transformation does to an answer. frame: function of the number of a frame; address: of the text of one."""

    def __init__(self, frame=lambda number: number, shift_ns=0, address=lambda text: text, options=()):
        self.frame, self.shift_ns, self.address, self.options = frame, shift_ns, address, options

    def text(self, text, known):
        text = FRAMES.sub(lambda found: re.sub(r"\d+", lambda number: str(self.frame(int(number[0]))), found[0]), text)
        return ADDRESS.sub(lambda found: self.address(found[0]) if found[0] in known else found[0], text)

    def object(self, value, known, key=""):
        """An object of info or trace. Of `first` and `last` the key before says what they are."""
        if isinstance(value, dict):
            return {name: self.object(each, known, key if name in ("first", "last") else name)
                    for name, each in value.items() if name not in HEADERS}
        if key == "notes" and value and not isinstance(value[0], list):
            return [*value[:2], self.frame(value[2]), value[3]]
        if isinstance(value, list):
            return [self.object(each, known, key) for each in value]
        if key in ("time", "start") and value:
            return str(int(value) + self.shift_ns)
        if isinstance(value, str):
            return self.text(value, known)
        is_frame = re.search("(^|_)frames?$", key) and isinstance(value, (int, float)) and value
        return self.frame(int(value)) if is_frame else value

    def datagrams(self, found):
        return [(self.frame(frame), time + self.shift_ns, self.address(source), self.address(destination), *others)
                for frame, time, source, destination, *others in found]


SAME = Change()


def moved(frames, address, *options):
    return [with_addresses(each, address) for each in frames], Change(address=address, options=options)


def among_others(other):
    return lambda frames: (traffic.answered(frames, EVERY, other), Change(lambda number: number + (number - 1) // EVERY))


FORMATS = {  # of the frames, with microseconds
    "microseconds": lambda frames: classic(frames, "<", MICROSECOND_NS),
    "nanoseconds": lambda frames: classic(frames, "<", NANOSECOND_NS),
    "big-endian": lambda frames: classic(frames, ">", MICROSECOND_NS),
    "big-endian, nanoseconds": lambda frames: classic(frames, ">", NANOSECOND_NS)}
CHANGES = {
    "shifted": lambda frames: (later(frames, SHIFT_NS), Change(shift_ns=SHIFT_NS)),
    "vlan": lambda frames: (traffic.in_vlan(frames), SAME),
    "ipv6": lambda frames: (traffic.in_ipv6(frames), Change(address=six)),
    "renumbered": lambda frames: moved(frames, in_another_net, f"--port={OTHER_PORT}"),
    "exchanged": lambda frames: moved(frames, exchanged(frames)),
    "arp": among_others(traffic.arp_request),
    "dns": among_others(dns_query),
    "whole range": lambda frames: (frames, Change(options=("--from=0", f"--to=frame:{len(frames)}"))),
}


def difference(expected, found, path=""):
    """The first difference of two answers, as text."""
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        parts = ((expected[key], found[key], f"{path}.{key}") for key in expected)
    elif isinstance(expected, (list, tuple)) and isinstance(found, (list, tuple)) and len(expected) == len(found):
        parts = ((*pair, f"{path}[{place}]") for place, pair in enumerate(zip(expected, found)))
    else:
        return f"{path}: {found!r:.300}, not {expected!r:.300}" if expected != found else None
    return next(filter(None, (difference(*part) for part in parts)), None)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.wrong = []

    def check(self, name, expected, found):
        self.wrong += [f"{name}: {text}" for text in [expected != found and difference(expected, found)] if text]

    def tearDown(self):
        self.assertEqual("", "\n".join(self.wrong))


class Equal(Case):
    def test_formats(self):
        for name, frames, options in captures():
            whole = traffic.write(rounded(frames))
            expected = [SAME.object(info(whole, *options), ()), decode(whole, *options)]
            for change, write in FORMATS.items():
                data = write(rounded(frames))
                self.check(f"{change} {name}", expected, [SAME.object(info(data, *options), ()), decode(data, *options)])

    def test_changes(self):
        for name, frames, options in captures():
            whole, known = traffic.write(frames), {each for frame in frames for each in addresses(frame)}
            is_drawn = len(frames) <= DRAWN_FRAMES
            reports, datagrams, page = info(whole, *options), decode(whole, *options), trace(whole, *options) if is_drawn else None
            for label, transform in CHANGES.items():
                others, change = transform(frames)
                data = traffic.write(others)
                found = [each for each in decode(data, *options, *change.options) if each[3] != RESOLVER]
                self.check(f"{label} {name} decode", change.datagrams(datagrams), found)
                found = SAME.object(info(data, *options, *change.options), ())
                self.check(f"{label} {name} info", change.object(reports, known), found)
                if is_drawn and label in DRAWN:
                    self.check(f"{label} {name} trace", change.object(page, known), SAME.object(trace(data, *options), ()))


# What counts datagrams; and jitter, to which a copy adds an interval of nothing.
COUNTS = {"packets", "bytes", "empty", "malformed", "opaque", "unreadable", "duplicates"}
OF_COPIES = COUNTS | {"jitter_ms", "jitter_max_ms", "count"}
COUNTED = {"duplicates", "malformed", "opaque"}  # findings about copies, or datagrams without packet ids
# A copy may have come much later than its packet, with lost packets between them: the missing ones may be before the silence.
UNSURE = "came late, is a copy"
NO_IDS = {"demo"}  # packets of a replay, which are not numbered: a copy looks like another one


class Copies(Case):
    def without_copies(self, value, key=""):
        """A connection without what a copy of each frame changes."""
        if isinstance(value, dict):
            return {name: self.without_copies(each, name) for name, each in value.items() if name not in OF_COPIES}
        if key == "findings":
            value = [each for each in value if each["kind"] not in COUNTED]
        return [self.without_copies(each) for each in value] if isinstance(value, list) else value

    def test_mirrored(self):
        """A mirror port sends each frame twice."""
        for name, frames, options in captures():
            if name in NO_IDS:
                continue
            whole = info(traffic.write(frames), *options)
            twice = info(traffic.write([copy for each in frames for copy in (each, each)]), *options)
            once = Change(lambda number: (number + 1) // 2)
            if UNSURE in json.dumps(twice):
                for each in whole + twice:
                    each["findings"] = [finding for finding in each["findings"] if finding["kind"] != "silence"]
            self.check(name, self.without_copies(SAME.object(whole, ())), self.without_copies(once.object(twice, ())))
            for before, after in zip(whole, twice):
                self.check(f"{name} packets", {way: 2 * before["packets"][way] for way in traffic.WAYS}, after["packets"])


class Others(Case):
    """Another connection in the capture, which has 46 frames."""
    PORTS = f"--port={PORT},{OTHER_PORT}"

    def check_beside(self, name, frames, others, options):
        """others: frames of the other connection, at their places in the capture."""
        known = {address for each in frames for address in addresses(each)}
        order = sorted([(each.time_ns, False, place) for place, each in enumerate(frames)]
                       + [(each.time_ns, True, place) for place, each in enumerate(others)])
        places = {place: number for number, (_, is_other, place) in enumerate(order, 1) if not is_other}
        data = traffic.write([(others if is_other else frames)[place] for _, is_other, place in order])
        expected = Change(lambda number: places[number - 1]).object(info(traffic.write(frames), *options), known)
        found = [each for each in SAME.object(info(data, self.PORTS, *options), ()) if each["client"] in known]
        for each in expected + found:
            del each["stream"]
        self.check(name, expected, found)

    def test_others(self):
        other = [with_addresses(each, in_another_net) for each in traffic.read((uerudp.ROOT / "captures/login.pcapng").read_bytes())]
        for name, frames, options in captures():
            if is_in_order(frames):
                begin_ns, end_ns = frames[0].time_ns, frames[-1].time_ns
                merged = later(other, begin_ns + 7 - other[0].time_ns)
                self.check_beside(f"merged {name}", frames, [each for each in merged if each.time_ns < end_ns], options)
                self.check_beside(f"after {name}", frames, later(other, begin_ns - 10 ** 9 - other[-1].time_ns), options)


def is_in_order(frames):
    return all(before.time_ns <= after.time_ns for before, after in zip(frames, frames[1:]))


if __name__ == "__main__":
    uerudp.main()
