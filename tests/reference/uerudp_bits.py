# SPDX-License-Identifier: MIT
"""Bits and primitives, written from section 2 of docs/protocol.md; numbers in brackets are its sections."""
import struct


class Fault(ValueError):
    """The bytes cannot be decoded."""


class BitReader:
    """Primitives [2], read from a position in data up to end."""

    def __init__(self, data, position=0, end=None):
        self.data = data
        self.position = position
        self.end = 8 * len(data) if end is None else end

    def left(self):
        return self.end - self.position

    def uint(self, bits):
        if bits > self.left():
            raise Fault(f"{bits} bits at bit {self.position}, {self.left()} are left")
        first, last = self.position >> 3, self.position + bits + 7 >> 3
        value = int.from_bytes(self.data[first:last], "little") >> (self.position & 7)
        self.position += bits
        return value & (1 << bits) - 1

    def sint(self, bits):
        value = self.uint(bits)
        return value - (value >> (bits - 1) << bits)

    def real(self, bits):
        return struct.unpack("<f" if bits == 32 else "<d", self.uint(bits).to_bytes(bits // 8, "little"))[0]

    def blob(self, bits):
        return self.uint(bits).to_bytes((bits + 7) // 8, "little")

    def bounded(self, bound):
        value, mask = 0, 1
        while value + mask < bound:
            value += mask * self.uint(1)
            mask *= 2
        return value

    def packed(self, groups=5):
        value = 0
        for n in range(groups):
            group = self.uint(8)
            value |= group >> 1 << 7 * n
            if not group & 1:
                break
        return value & (1 << (32 if groups == 5 else 64)) - 1

    def string(self):
        units = self.sint(32)
        if abs(units) * (8 if units > 0 else 16) > self.left():
            raise Fault(f"string of {units} units at bit {self.position}, {self.left()} bits are left")
        data = self.blob(8 * units if units > 0 else -16 * units)
        text = String(data.decode("latin-1" if units > 0 else "utf-16-le", "surrogatepass"))
        if text.endswith("\0"):
            return String(text[:-1])
        text.lacks_nul = units != 0
        return text


class String(str):
    """A text that knows whether it was sent without the final NUL, which writers should send."""
    lacks_nul = False


class Record(dict):
    """The fields of one structure by key; at[key] is the bit where a field began in the bytes of the reader."""

    def __init__(self, reader):
        super().__init__()
        self.reader = reader
        self.start = reader.position
        self.end = None
        self.at = {}
        self.bunches = []   # also the items of a legacy packet
        self.messages = []
        self.terminators = []

    def read_field(self, key, read, *arguments):
        self.at[key] = self.reader.position
        self[key] = read(*arguments)
        return self[key]


def highest_bit(data, end):
    """A terminator [4.2]: the highest bit set below end."""
    for at in range(end - 1, -1, -1):
        if data[at >> 3] >> (at & 7) & 1:
            return at
    raise Fault("no terminator")


def outer_terminator(data):
    if not data or not data[-1]:
        raise Fault("empty, or the last byte is 0")
    return highest_bit(data, 8 * len(data))


def read_old_vector(read, scale, maximum):
    """(b, raw components, vector)"""
    bits = read.bounded(maximum)
    raw = [read.bounded(2 ** (bits + 2)) - 2 ** (bits + 1) for _ in range(3)]
    return bits, raw, [component / scale for component in raw]


def read_new_vector(read, scale):
    """(n, scaled, raw components, vector)"""
    bits, scaled = read.uint(6), read.uint(1)
    if not bits:
        vector = [read.real(64 if scaled else 32) for _ in range(3)]
        return bits, scaled, None, vector
    raw = [read.sint(bits) for _ in range(3)]
    return bits, scaled, raw, [component / (scale if scaled else 1) for component in raw]
