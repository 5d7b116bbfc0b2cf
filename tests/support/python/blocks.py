# SPDX-License-Identifier: MIT
"""Reads and writes captures block by block: pcapng with rare blocks and options, and classic pcap."""
import struct

SECTION, INTERFACE, OBSOLETE, SIMPLE, NAMES, STATISTICS, ENHANCED = 0x0A0D0D0A, 1, 2, 3, 4, 5, 6
SECRETS, CUSTOM, UNKNOWN = 10, 0xBAD, 0x12345678
COMMENT, FLAGS, TSRESOL = 1, 2, 9
ETHERNET, RAW = 1, 101


def padded(data):
    return data + bytes(-len(data) % 4)


def options(order, *pairs, end=True):
    out = b"".join(struct.pack(order + "HH", code, len(value)) + padded(value) for code, value in pairs)
    return out + (bytes(4) if pairs and end else b"")


def block(order, kind, body):
    size = struct.pack(order + "I", 12 + len(padded(body)))
    return struct.pack(order + "I", kind) + size + padded(body) + size


def section(order="<", length=-1, opts=b""):
    return block(order, SECTION, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, length) + opts)


def interface(order="<", link=ETHERNET, snap=0, opts=b""):
    return block(order, INTERFACE, struct.pack(order + "HHI", link, 0, snap) + opts)


def enhanced(data, ticks, order="<", number=0, length=None, opts=b""):
    head = struct.pack(order + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(data), length or len(data))
    return block(order, ENHANCED, head + padded(data) + opts)


def obsolete(data, ticks, order="<", number=0, opts=b""):
    head = struct.pack(order + "HHIIII", number, 7, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
    return block(order, OBSOLETE, head + padded(data) + opts)


def simple(data, order="<"):
    return block(order, SIMPLE, struct.pack(order + "I", len(data)) + data)


def split(data):
    """(type, order, bytes) of each block of a pcapng file."""
    at, order = 0, "<"
    while at < len(data):
        if data[at:at + 4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if data[at + 8:at + 12] == b"\x4d\x3c\x2b\x1a" else ">"
        kind, size = struct.unpack_from(order + "II", data, at)
        yield kind, order, data[at:at + size]
        at += size
    assert at == len(data)


class Packet:
    """The parts of an enhanced or obsolete packet block."""

    def __init__(self, order, raw):
        high, low, captured, self.length = struct.unpack_from(order + "IIII", raw, 12)
        self.raw, self.ticks, self.data = raw, high << 32 | low, raw[28:28 + captured]
        self.options, at = [], 28 + captured + -captured % 4
        while at < len(raw) - 4:
            code, size = struct.unpack_from(order + "HH", raw, at)
            if code == 0:
                break
            self.options.append((code, raw[at + 4:at + 4 + size]))
            at += 4 + size + -size % 4

    @property
    def comments(self):
        return [value.decode() for code, value in self.options if code == COMMENT]


def packets(data):
    return [Packet(order, raw) for kind, order, raw in split(data) if kind in (ENHANCED, OBSOLETE)]


def checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def has_valid_checksums(ip):
    """Whether the checksums of an IPv4 or IPv6 packet with UDP are present and valid."""
    if ip[0] >> 4 == 4:
        udp, addresses = ip[20:], ip[12:20]
        if checksum(ip[:20]) != 0:
            return False
    else:
        udp, addresses = ip[40:], ip[8:40]
    pseudo = addresses + struct.pack(">II", 17, len(udp))
    return udp[6:8] != bytes(2) and checksum(pseudo + udp) == 0


def classic(order, magic, records, link=ETHERNET, extra=b""):
    """A classic pcap of (seconds, fraction, data); extra follows each record's header."""
    out = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    for seconds, fraction, data in records:
        out += struct.pack(order + "IIII", seconds, fraction, len(data), len(data)) + extra + data
    return out
