# SPDX-License-Identifier: MIT
"""Comparison of a decoded record with a vector, key by key, with the names of names.json."""
import hashlib

import uerudp_reference as reference
from uerudp_bits import BitReader
from uerudp_messages import MESSAGE_NAMES

NOT_A_FIELD = "not a field: "
NOT_CHECKED = "not checked: "
GENERATED = {"bunch.channel_name", "handshake.type", "handshake.server_seq", "handshake.client_seq"}
ZERO_WHEN_ABSENT = {"bunch.open", "bunch.close", "bunch.dormant", "packet.history_flush"}
ENUMS = {"handshake.type": reference.HANDSHAKE_TYPES, "control.type": MESSAGE_NAMES,
         "bunch.close_reason": reference.CLOSE_REASONS, "bunch.channel_name": {}}


class Comparison:
    """Counts compared values and collects differences. Positions are counted in the record `packet`."""

    def __init__(self, names, unstated=()):
        self.names = names
        self.unstated = GENERATED.union(unstated)  # fields that may be read without being expected
        self.used = set()
        self.values = 0
        self.faults = []

    def check(self, where, expected, actual, key=None):
        self.values += 1
        if not same(expected, actual, key):
            self.faults.append(f"{where}: expected {expected!r}, read {actual!r}")

    def compare(self, where, path, expected, record, packet):
        """Compare a JSON object with a record, in both directions."""
        seen = set()
        self.walk(where, path, expected, record, packet, seen)
        for key in sorted(set(record) - seen - self.unstated):
            self.faults.append(f"{where}: read {key} = {record[key]!r}, which is not expected")

    def walk(self, where, path, expected, record, packet, seen):
        for key, value in expected.items():
            below = f"{path}.{key}" if path else key
            here = f"{where} {key}"
            if self.names.get(below, "").startswith(NOT_CHECKED):
                self.used.add(below)
            elif isinstance(value, dict):
                self.walk(here, below, value, record, packet, seen)
            elif key in ("bunches", "items", "acks"):
                self.children(here, below, value, self.bunches_of(key, expected, record), packet)
            elif key == "control_messages":
                self.messages(here, value, record, packet)
            else:
                self.leaf(here, below + "[]" * isinstance(value, list), value, record, packet, seen)

    def settings(self, where, path, expected):
        """The settings of the decoder: every key must have a name."""
        for key, value in expected.items():
            below = f"{path}.{key}"
            if isinstance(value, dict):
                self.settings(where, below, value)
            elif below in self.names:
                self.used.add(below)
            else:
                self.faults.append(f"{where}: {below} is not in names.json")

    def leaf(self, where, path, expected, record, packet, seen):
        name = self.names.get(path)
        if name is None:
            self.faults.append(f"{where}: {path} is not in names.json")
            return
        self.used.add(path)
        if name.startswith(NOT_A_FIELD):
            self.check(where, expected, DERIVED[path.rpartition(".")[2]](record, packet))
            seen.update(name.replace(",", "").split())  # a value that follows from a field may stand for it
        elif expected is not None:  # null: the author of the vector had no name for the value
            self.check(where, expected, record.get(name, 0 if name in ZERO_WHEN_ABSENT else None), name)
            seen.add(name)

    @staticmethod
    def bunches_of(key, expected, record):
        """In captures of the legacy format acks and bunches are two lists."""
        if "acks" not in expected:
            return record.bunches
        return [item for item in record.bunches if item["legacy.is_ack"] == (key == "acks")]

    def children(self, where, path, expected, records, packet):
        self.check(f"{where} count", len(expected), len(records))
        for n, (child, record) in enumerate(zip(expected, records)):
            self.compare(f"{where}[{n}]", path + "[]", child, record, packet)

    def messages(self, where, expected, record, packet):
        self.check(f"{where} count", len(expected), len(record.messages))
        for n, (child, message) in enumerate(zip(expected, record.messages)):
            self.compare(f"{where}[{n}]", child["name"].removeprefix("NMT_"), child, message, packet)


def same(expected, actual, key):
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(same(a, b, key) for a, b in zip(expected, actual))
    if isinstance(actual, bytes):
        if key == "packet.extra":  # captures write it as a number
            return number(expected) == int.from_bytes(actual, "little")
        return expected == actual.hex()
    if isinstance(expected, str) and isinstance(actual, int):
        name = ENUMS.get(key, {}).get(actual)
        return expected in (name, f"NMT_{name}", f"{actual} ({name})", f"#{actual}") or number(expected) == actual
    return expected == actual


def number(text):
    """A hexadecimal number; captures write it without 0x."""
    try:
        return int(text, 16)
    except ValueError:
        return None


# Values of vectors that are not fields: functions of the record and its packet.

def first_bunch(packet):
    return packet.bunches[0].start if packet.bunches else packet.terminators[0]


def header_bits(bunch, _):
    return bunch.at["bunch.data"] - bunch.start


def at_header(record, bits):
    return BitReader(record.reader.data, record.at["packet.history_words"]).uint(bits)


def fixed_bits(record, _):
    end = record.at.get("handshake.random", record.terminators[0])
    return end - min(record.at.get("session_id", end), record.at["is_handshake"])


def inner_bits(packet):
    return packet.terminators[0] + 1 - packet.start


def inner_hex(packet):
    return BitReader(packet.reader.data, packet.start).blob(inner_bits(packet)).hex()


def opaque_bits(bunch, _):
    return 8 * sum(len(message.get("control.opaque", b"")) for message in bunch.messages)


def assembled_bits(bunch, packet):
    last = packet.bunches.index(bunch)
    first = max(n for n in range(last + 1) if packet.bunches[n]["bunch.partial_initial"])
    return reference.assembled_bits(packet.bunches[first:last + 1])


def flag(shift, mask=1):
    return lambda message, _: message["control.unique_id.flags"] >> shift & mask


def id_digits(message, _):
    if "control.unique_id.bytes" not in message:
        return message["control.unique_id.text"]
    return message["control.unique_id.bytes"].hex()[flag(2)(message, None):]


def lacks_nul(key):
    return lambda message, _: message[key].lacks_nul


DERIVED = {
    "frame": lambda r, p: p.frame,
    "data_sha1": lambda r, p: hashlib.sha1(r["bunch.data"]).hexdigest()[:16],
    "bytes": lambda r, p: p.bytes,
    "len": lambda r, p: p.bytes,
    "outer_terminator_bit_index": lambda r, p: p.terminators[-1],
    "outer_terminator_bit": lambda r, p: p.terminators[-1],
    "payload_bits": lambda r, p: p.terminators[-1],
    "bits_before_terminator": lambda r, p: p.terminators[-1],
    "inner_terminator_bit_index": lambda r, p: p.terminators[0],
    "inner_terminator_bit_index_in_inner": lambda r, p: p.terminators[0] - p.start,
    "inner_terminator_bit": lambda r, p: p.terminators[0],
    "netconn_bits_end": lambda r, p: p.terminators[0],
    "terminator_bit": lambda r, p: p.terminators[0],
    "end_bit": lambda r, p: p.reader.position,
    "header_end_bit": lambda r, p: first_bunch(p),
    "first_bunch_bit": lambda r, p: first_bunch(p),
    "header_offset_bit": lambda r, p: p.at["packet.history_words"],
    "packed_header": lambda r, p: at_header(p, 32),
    "packed": lambda r, p: at_header(p, 32),
    "HistoryWordCountField": lambda r, p: at_header(p, 4),
    "delivered_seqs_in_history[]": lambda r, p: reference.delivered(p),
    "fixed_bits": fixed_bits,
    "RandomDataBytes": lambda r, p: len(r["handshake.random"]),
    "random_bits": lambda r, p: 8 * len(r["handshake.random"]),
    "leftover_bits": lambda r, p: r.reader.left(),
    "left_bits": lambda r, p: r.reader.left(),
    "left_over_bits": lambda r, p: r.left_over_bits,
    "plaintext_terminator_bit_index": lambda r, p: r.plaintext_end,
    "inner_bits": lambda r, p: inner_bits(p),
    "inner_hex": lambda r, p: inner_hex(p),
    "offset_bits": lambda r, p: r.start,
    "offset_bits_in_inner": lambda r, p: r.start - p.start,
    "bit_offset": lambda r, p: r.start,
    "bit": lambda r, p: r.start,
    "data_offset_bits": lambda r, p: r.at["bunch.data"],
    "data_offset_bits_in_inner": lambda r, p: r.at["bunch.data"] - p.start,
    "data_offset": lambda r, p: r.at["bunch.data"],
    "header_bits": header_bits,
    "hdr_bits": header_bits,
    "bits_left": lambda r, p: p.reader.left(),
    "control_left_bits": opaque_bits,
    "control_bits_left": opaque_bits,
    "assembled_bits": assembled_bits,
    "bIsEncoded": flag(0),
    "bIsEmpty": flag(1),
    "bIsPadded": flag(2),
    "TypeHash": flag(3, 31),
    "EncodedSize": lambda r, p: len(r["control.unique_id.bytes"]),
    "Contents": id_digits,
    "Challenge_nul_missing": lacks_nul("control.challenge.text"),
    "Map_nul_missing": lacks_nul("control.welcome.map"),
    "GameName_nul_missing": lacks_nul("control.welcome.game"),
}
