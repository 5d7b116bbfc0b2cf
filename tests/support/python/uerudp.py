# SPDX-License-Identifier: MIT
"""Shared by the tests of the program: running it, recordings, small captures."""
import json
import os
import pathlib
import struct
import subprocess
import sys
import unittest

import classic_pcap
import known_failures
import recordings

LINKTYPE_NULL = 0
PROGRAM = os.environ["UERUDP_PROGRAM"]
ROOT = recordings.ROOT


def run(*arguments, data=b"", status=0):
    """Run the program and return its result. The exit status must be `status`; None allows 0 and 1, a tuple what
    it has."""
    result = subprocess.run([PROGRAM, *map(str, arguments)], input=data, capture_output=True, timeout=120)
    allowed = (0, 1) if status is None else status if isinstance(status, tuple) else (status,)
    if result.returncode not in allowed:
        raise AssertionError(f"{arguments}: exit status {result.returncode}, not {status}\n{result.stderr.decode()}")
    return result


def without_duplicates(pairs):
    """A JSON object, which may have no key twice."""
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), keys
    return dict(pairs)


def decode(*arguments, data=b"", status=0):
    """The objects that uerudp decode --json prints."""
    output = run("decode", "--json", *arguments, data=data, status=status).stdout
    return [json.loads(line, object_pairs_hook=without_duplicates) for line in output.decode().splitlines()]


def encode(objects, *arguments):
    """The payloads that uerudp encode writes."""
    text = "\n".join(map(json.dumps, objects)).encode()
    return [bytes.fromhex(line.split()[1]) for line in
            run("encode", "--hex", *arguments, data=text).stdout.decode().splitlines()]


def captures():
    """(name, path, options) of every recording of another implementation."""
    return [(path.stem, path, options(recordings.settings(path.stem))) for path in recordings.paths()]


def options(settings):
    return [f"--{key.replace('_', '-')}={value}" for key, value in settings.items()]


def payloads(path):
    """(source port, payload) of each datagram of a classic pcap file: Ethernet, IPv4, UDP."""
    data = pathlib.Path(path).read_bytes()
    assert struct.unpack_from("<I", data)[0] == 0xA1B2C3D4
    at = 24
    while at < len(data):
        captured = struct.unpack_from("<I", data, at + 8)[0]
        frame = data[at + 16:at + 16 + captured]
        udp = 14 + (frame[14] & 15) * 4
        source, _, length = struct.unpack_from(">HHH", frame, udp)
        yield source, frame[udp + 8:udp + length]
        at += 16 + captured


def loopback_frame(number, source, destination, payload):
    udp = struct.pack(">HHHH", source, destination, 8 + len(payload), 0) + payload
    addresses = bytes([10, 0, 0, 1 + (source < destination), 10, 0, 0, 1 + (source > destination)])
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), number, 0, 64, 17, 0) + addresses
    return struct.pack("<I", 2) + ip + udp


def pcap(datagrams, snap=65535):
    """A pcap file of (source port, destination port, payload) between 10.0.0.1 and 10.0.0.2, whose port is the lower one,
    one each second. The link type is loopback, and checksums are 0."""
    frames = ((1_000_000 * (1 + number), loopback_frame(number, *datagram)) for number, datagram in enumerate(datagrams))
    return classic_pcap.file(frames, LINKTYPE_NULL, snap)


def main():
    known_failures.mark(sys.modules["__main__"])
    unittest.main()
