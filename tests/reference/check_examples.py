#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check the worked examples of docs/protocol.md [19]: bytes on a line of their own, then a table of bits, field, value.

usage: check_examples.py
"""
import os
import re
import sys

import uerudp_reference as reference
from uerudp_bits import BitReader, Record
from uerudp_reference import PROFILES, Settings

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "protocol.md")
EXAMPLE = re.compile(r"^`([0-9a-f ]+)`\n\n\| bits \| field \| value \|\n\|---\|---\|---\|\n((?:\|.*\n)+)", re.MULTILINE)

# The text before each example, in the order of the document. Examples of bunches have no packet.
CLIENT, SERVER = "C2S", "S2C"
DATAGRAMS = [("5.1", CLIENT), ("5.4", CLIENT), ("4.25", SERVER), ("5.4", SERVER), ("4.18", CLIENT), ("4.22", CLIENT),
             ("4.25", CLIENT), ("5.5", CLIENT), ("4.20", SERVER), ("4.22", SERVER), ("4.25", SERVER), ("5.1", SERVER),
             ("5.8", SERVER), ("4.25", SERVER)]
BUNCHES = ["5.5", "4.25", "4.20"]
OTHER_READING = Settings(PROFILES["4.25"], magic_bits=3, handlers=("aesgcm", "oodle"))


def decoders():
    for name, direction in DATAGRAMS:
        yield lambda data, end, s=Settings(PROFILES[name], direction): reference.decode_datagram(data, s)
    for name in BUNCHES:
        yield lambda data, end, s=Settings(PROFILES[name]): single_bunch(data, end, s)
    yield lambda data, end: reference.decode_datagram(data, OTHER_READING)


def single_bunch(data, end, settings):
    packet = Record(BitReader(data, 0, end))
    reference.decode_bunches(packet, settings)
    return packet


def fields_read(record):
    """(bit, key, value) in wire order, with one entry for each history word and none for empty data."""
    fields = []
    for part in [record] + record.bunches:
        for key, bit in part.at.items():
            values = part[key] if isinstance(part[key], list) else [part[key]]
            fields += [(bit + 32 * n, key, value) for n, value in enumerate(values)]
    fields += [(bit, "terminator", 1) for bit in record.terminators]
    return sorted(field for field in fields if field[2] != b"")


def fields_written(table):
    """(first bit, last bit, keys, value) of each row; a key .b after a.x means a.b."""
    for row in table.strip().split("\n"):
        bits, names, value = (cell.strip() for cell in row.strip("|").split("|"))
        numbers = [int(number) for number in re.findall(r"\d+", bits)]
        keys = []
        for name in re.findall(r"`([^`]+)`", names):
            group = keys[-1].rpartition(".")[0] if name.startswith(".") else ""
            keys.append(group + name)
        yield numbers[0], numbers[-1], repeated(keys, value), value


def repeated(keys, value):
    """One key for several equal bits, such as the two terminators."""
    return keys * len(value.split()) if keys == ["terminator"] else keys


def is_written(value, text):
    """Whether the text of a cell begins with the value; an explanation may follow."""
    text = text.strip("`")
    if isinstance(value, bytes):
        return text.split("`")[0] == value.hex() or text == f"{len(value)} zero bytes" and not any(value)
    first = text.split()[0]
    return float(first) == value if "." in first else int(first, 0) == value


def check_example(data, table, decode):
    rows = list(fields_written(table))
    end = rows[-1][1] + 1
    read = fields_read(decode(data, end))
    for first, last, keys, text in rows:
        found, read = read[:len(keys)], read[len(keys):]
        values = text.split() if len(keys) > 1 else [text]
        if [key for _, key, _ in found] != keys or found[0][0] != first:
            yield f"bit {first}: {keys} is written, {found} is read"
        elif (read[0][0] if read else end) != last + 1:
            yield f"{keys}: does not end at bit {last}"
        elif not all(is_written(value, cell) for (_, _, value), cell in zip(found, values)):
            yield f"{keys}: {text} is written, {found} is read"
    if read:
        yield f"not in the table: {read}"


def main():
    with open(DOCUMENT, encoding="utf-8") as file:
        examples = EXAMPLE.findall(file.read())
    ways = list(decoders())
    faults = [] if len(examples) == len(ways) else [f"{len(examples)} examples, {len(ways)} are known"]
    for n, ((data, table), decode) in enumerate(zip(examples, ways), 1):
        faults += [f"example {n}: {fault}" for fault in check_example(bytes.fromhex(data), table, decode)]
    print("\n".join(faults + [f"{len(examples)} examples, {len(faults)} wrong"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
