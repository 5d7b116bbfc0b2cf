# SPDX-License-Identifier: MIT
"""Reads pcapng files of UDP over IPv4 over Ethernet, as the program writes them, with interfaces and comments."""
import collections
import pathlib
import struct

INTERFACE, PACKET = 1, 6
NAME, COMMENT = 2, 1

Packet = collections.namedtuple("Packet", "interface time_ns source destination payload comment")


def options(data):
    """{code: text} of the options in a block."""
    found = {}
    while len(data) >= 4:
        code, size = struct.unpack_from("<HH", data)
        found[code] = data[4:4 + size].decode(errors="replace")
        data = data[4 + (size + 3) // 4 * 4:]
    return found


def read_packet(body, names):
    number, high, low, captured = struct.unpack_from("<IIII", body)
    frame = body[20:20 + captured]
    source, destination, length = struct.unpack_from(">HHH", frame, 34)
    comment = options(body[20 + (captured + 3) // 4 * 4:]).get(COMMENT, "")
    return Packet(names[number], high << 32 | low, source, destination, frame[42:34 + length], comment)


def read(path):
    """The packets of a file, with the names of their interfaces."""
    data = pathlib.Path(path).read_bytes()
    packets, names = [], []
    while data:
        kind, size = struct.unpack_from("<II", data)
        assert struct.unpack_from("<I", data, size - 4)[0] == size, path
        body = data[8:size - 4]
        if kind == INTERFACE:
            names.append(options(body[8:]).get(NAME))
        elif kind == PACKET:
            packets.append(read_packet(body, names))
        data = data[size:]
    return packets
