# SPDX-License-Identifier: MIT
"""Captures for tests of the conclusions of program and plugin: generated captures with their sidecars, which are then cut,
made partly opaque, wrapped in other layers, or captured at both ends."""
import collections
import functools
import ipaddress
import json
import os
import pathlib
import struct
import subprocess
import tempfile

import blocks

WAYS = ("c2s", "s2c")
MAC_BYTES, ETHERNET_BYTES, VLAN_BYTES, IPV4_BYTES, IPV6_BYTES, UDP_BYTES = 12, 14, 4, 20, 40, 8
IPV4, IPV6, VLAN, ARP, UDP, ICMP, GRE = 0x0800, 0x86DD, 0x8100, 0x0806, 17, 1, 47
MORE_FRAGMENTS = 0x2000

Frame = collections.namedtuple("Frame", "time_ns data length interface", defaults=(0,))  # data begins with Ethernet
Generated = collections.namedtuple("Generated", "frames sent")  # sent: the sidecar


def program(*arguments, data=b""):
    """The output of the program, whose exit status may be 1."""
    result = subprocess.run([os.environ["UERUDP_PROGRAM"], *map(str, arguments)], input=data, capture_output=True,
                            timeout=120)
    if result.returncode not in (0, 1):
        raise OSError(f"{arguments}: exit {result.returncode}\n{result.stderr.decode()}")
    return result.stdout


def lines(*arguments, frames=()):
    """The JSON Lines that the program prints for frames."""
    return [json.loads(line) for line in program(*arguments, "-", data=write(frames)).splitlines()]


# ---- changes ----

def damaged_first(frames):
    """The first packets after the handshake are damaged."""
    return [frame._replace(data=frame.data[:46] + bytes(byte ^ 0x5a for byte in frame.data[46:-1]) + b"\x80")
            if 4 <= number < 70 else frame for number, frame in enumerate(frames)]


# ---- files ----

def read(data):
    """The frames of a pcapng file with times in nanoseconds."""
    return [Frame(packet.ticks, packet.data, packet.length) for packet in blocks.packets(data)]


def write(frames):
    """A pcapng file with the interfaces that the frames name."""
    interfaces = 1 + max((frame.interface for frame in frames), default=0)
    opts = [blocks.options("<", (2, b"end %d" % number), (blocks.TSRESOL, b"\x09")) for number in range(interfaces)]
    return b"".join([blocks.section(), *(blocks.interface(opts=each) for each in opts),
                     *(blocks.enhanced(frame.data, frame.time_ns, number=frame.interface, length=frame.length)
                       for frame in frames)])


@functools.cache
def generate(*arguments):
    """A simulated capture, cached by its arguments."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.pcapng")
        program("generate", *arguments, "--output", path)
        return Generated(read(path.read_bytes()), json.loads(path.with_name("a.sent.json").read_text()))


def encode(objects):
    """The frames of objects as decode --json prints them."""
    return read(program("encode", data="\n".join(map(json.dumps, objects)).encode()))


def losses(generation):
    """A capture with loss, taken at the senders, and (direction, packet id) of each lost packet before the newest packet
    that arrived. Every ack is in the capture."""
    frames, sent = generate("lossy", "--duration=2", "--loss=0.1", "--capture-at=sender", "--generation", generation)
    packets = [each for each in sent["datagrams"] if each["packet_id"] is not None]
    newest = {way: max(each["packet_id"] for each in packets[:-40] if each["dir"] == way and each["arrived"]) for way in WAYS}
    lost = {(each["dir"], each["packet_id"]) for each in packets if not each["arrived"]}
    assert len(lost) > 20
    return frames, {(way, number) for way, number in lost if number < newest[way]}


# ---- partial captures ----

def snapped(frames, snap_bytes):
    """The frames of a capture with a snap length."""
    return [frame._replace(data=frame.data[:snap_bytes]) for frame in frames]


def opaque(frames, is_opaque):
    """The frames of a game with Oodle, for --handlers=oodle. Each packet begins with the bit "compressed", which is set if
    is_opaque(number of the packet in its direction, direction); compressed packets cannot be decoded."""
    objects, numbers = [], collections.Counter()
    for datagram in lines("decode", "--json", frames=frames):
        if "packet" in datagram:
            numbers[datagram["direction"]] += 1
            datagram["settings"] = {**datagram.get("settings", {}), "handlers": "oodle"}
            if is_opaque(numbers[datagram["direction"]], datagram["direction"]):
                kept = {"time", "src", "dst", "direction", "generation", "settings", "session_id", "client_id",
                        "is_handshake"}
                datagram = {key: datagram[key] for key in kept & set(datagram)}
                datagram["handler"] = {"compressed": True, "decompressed_bytes": 200, "compressed_data": "5a" * 40}
        objects.append(datagram)
    return encode(objects)


def every_second_opaque(frames):
    """Every second packet is opaque, except the first and the last packets: the packet ids around the others are known."""
    return opaque(frames, lambda number, _: number % 2 and 4 < number < len(frames) * 2 // 5)


def both_ends(*arguments):
    """One run captured at the client and at the server, with an interface for each end."""
    ends = [generate(*arguments, "--capture-at", point) for point in ("client", "server")]
    return [[frame._replace(interface=number) for frame in end.frames] for number, end in enumerate(ends)]


def merged(*captures):
    """One capture of all frames in the order of time."""
    return sorted((frame for frames in captures for frame in frames), key=lambda frame: frame.time_ns)


SERVER_PORT = 7777  # in generated captures


def one_way(frames, way):
    """The frames of one direction."""
    return [frame for frame in frames if (udp_of(frame)[2][:2] == struct.pack(">H", SERVER_PORT)) == (way == "s2c")]


# ---- other layers below UDP ----

def udp_of(frame):
    """Addresses and the UDP datagram of an IPv4 frame that was not cut."""
    ip = frame.data[ETHERNET_BYTES:]
    return ip[12:16], ip[16:20], ip[IPV4_BYTES:]


def wrapped(frame, kind, *packets):
    """Frames with other packets inside."""
    head = frame.data[:MAC_BYTES] + struct.pack(">H", kind)
    return [frame._replace(data=head + packet, length=len(head + packet)) for packet in packets]


def plain(frames):
    return list(frames)


def in_ipv6(frames):
    """Frames in IPv6, with fd00::a.b.c.d for a.b.c.d."""
    found = []
    for frame in frames:
        source, destination, udp = udp_of(frame)
        addresses = b"".join(ipaddress.ip_address("fd00::").packed[:12] + four for four in (source, destination))
        udp = udp[:6] + bytes(2) + udp[8:]
        total = blocks.checksum(addresses + struct.pack(">II", len(udp), UDP) + udp) or 0xFFFF
        udp = udp[:6] + struct.pack(">H", total) + udp[8:]
        found += wrapped(frame, IPV6, struct.pack(">IHBB", 6 << 28, len(udp), UDP, 64) + addresses + udp)
    return found


def in_vlan(frames):
    """Frames with an 802.1Q tag."""
    return [each for frame in frames for each in
            wrapped(frame, VLAN, struct.pack(">HH", 100, IPV4) + frame.data[ETHERNET_BYTES:])]


def in_gre(frames):
    """Frames in IPv4 and GRE."""
    found = []
    for frame in frames:
        packet = struct.pack(">HH", 0, IPV4) + frame.data[ETHERNET_BYTES:]
        head = struct.pack(">BBHHHBBHII", 0x45, 0, IPV4_BYTES + len(packet), 0, 0, 64, GRE, 0, 0x0A000001, 0x0A000002)
        found += wrapped(frame, IPV4, head[:10] + struct.pack(">H", blocks.checksum(head)) + head[12:] + packet)
    return found


def in_fragments(frames, fragment_bytes=64):
    """IPv4 fragments of at most fragment_bytes, a multiple of eight."""
    found = []
    for number, frame in enumerate(frames, 1):
        source, destination, udp = udp_of(frame)
        packets = []
        for at in range(0, len(udp), fragment_bytes):
            part = udp[at:at + fragment_bytes]
            flags = at // 8 | (MORE_FRAGMENTS if at + fragment_bytes < len(udp) else 0)
            head = struct.pack(">BBHHHBBH", 0x45, 0, IPV4_BYTES + len(part), number % 65536, flags, 64, UDP, 0)
            total = blocks.checksum(head + source + destination)
            packets.append(head[:10] + struct.pack(">H", total) + source + destination + part)
        found += wrapped(frame, IPV4, *packets)
    return found


# (function, bytes that the layer adds before UDP)
LAYERS = {"ipv4": (plain, 0), "ipv6": (in_ipv6, IPV6_BYTES - IPV4_BYTES), "vlan": (in_vlan, VLAN_BYTES),
          "fragments": (in_fragments, 0)}


# ---- what routers do ----

def moved(frames, first, port):
    """The client has another port from frame number `first` of the list on, without a restart of its handshake: a router
    forgot its binding."""
    def at_port(frame):
        ports = (each if each == SERVER_PORT else port for each in struct.unpack_from(">HH", udp_of(frame)[2]))
        at = ETHERNET_BYTES + IPV4_BYTES
        return frame._replace(data=frame.data[:at] + struct.pack(">HH", *ports) + frame.data[at + 4:at + 6] + bytes(2)
                              + frame.data[at + 8:])
    return frames[:first] + [at_port(frame) for frame in frames[first:]]


def icmp_error(frame, quoted_bytes):
    """The answer of a router to a datagram: destination unreachable, port unreachable, which quotes its IP packet."""
    source, destination, _ = udp_of(frame)
    quote = frame.data[ETHERNET_BYTES:][:quoted_bytes]
    icmp = struct.pack(">BBHI", 3, 3, 0, 0) + quote
    icmp = icmp[:2] + struct.pack(">H", blocks.checksum(icmp)) + icmp[4:]
    head = struct.pack(">BBHHHBBH", 0x45, 0, IPV4_BYTES + len(icmp), 0, 0, 64, ICMP, 0)
    total = blocks.checksum(head + destination + source)
    return wrapped(frame, IPV4, head[:10] + struct.pack(">H", total) + destination + source + icmp)[0]


def arp_request(frame):
    """A frame of the same time that has nothing to do with UDP."""
    return wrapped(frame, ARP, struct.pack(">HHBBH", 1, IPV4, 6, 4, 1) + bytes(20))[0]


def answered(frames, every, answer):
    """The frames with an answer(frame) after each `every`th."""
    return [each for number, frame in enumerate(frames, 1)
            for each in ((frame, answer(frame)) if number % every == 0 else (frame,))]
