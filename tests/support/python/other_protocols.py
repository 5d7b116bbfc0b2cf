#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Conversations of other protocols, generated from a seed, which must not be recognised on other ports.

usage: other_protocols.py [--datagrams N] [--seed N] [--against PROGRAM] [--write FOLDER]

Each protocol has its real header, with counters of 1 to 8 bytes in both byte orders and flags before and after them,
because sparse headers and counters resemble a handshake far more often than random bytes do. The bytes after the header are random, zero or repeated, and in some conversations the second side
returns what it received.
--against counts the conversations that `PROGRAM decode` recognises; --write writes captures of 200,000 datagrams.
"""
import argparse
import os
import random
import struct
import subprocess
import sys
import tempfile

FILE_DATAGRAMS = 200_000
LENGTHS = range(10, 15)
OUR_PORTS = range(7777, 7800)
SEED = 20240607
FLAGS = (0, 0, 1, 2, 3, 4, 8, 0x10, 0x20, 0x40, 0x60, 0x80, 0x81, 0xC0, 0xE0, 0xFF)


class ProtocolConversation:
    """The constants and counters of one conversation."""

    def __init__(self, dice):
        self.dice = dice
        self.number = dice.choice((0, 0, 1, 1, dice.getrandbits(8), dice.getrandbits(16), dice.getrandbits(32)))
        self.step = dice.choice((1, 1, 1, 2, 160))
        self.token = dice.randbytes(32)
        self.kind = dice.choice(("random", "zero", "zero", "repeating", "mixed"))
        self.pattern = dice.randbytes(dice.choice((1, 2, 4, 8, 16, 64)))
        self.size = dice.choice((dice.randrange(1, 16), dice.randrange(8, 32), dice.randrange(1, 77), dice.randrange(1, 600)))
        self.has_fixed_size = dice.random() < 0.5
        self.trailer = dice.choice((b"", b"", bytes([1 << dice.randrange(8)]), dice.randbytes(dice.choice((1, 2, 4, 16)))))
        self.is_echoed = dice.random() < 0.15
        self.order = dice.choice(("big", "little"))
        self.width = dice.randrange(1, 9)
        self.before = self.flags(dice.randrange(4))
        self.after = self.flags(dice.randrange(4))

    def flags(self, count):
        return bytes(self.dice.choice(FLAGS) if self.dice.random() < 0.8 else self.dice.getrandbits(8)
                     for _ in range(count))

    def count(self, width, order="big"):
        """The next value of the counter."""
        self.number += self.step
        return (self.number % (1 << 8 * width)).to_bytes(width, order)

    def body(self, size=None):
        """The body of a datagram with its trailer."""
        if size is None:
            size = self.size if self.has_fixed_size else self.dice.randrange(1, self.size + 1)
        kind = self.dice.choice(("random", "zero", "repeating")) if self.kind == "mixed" else self.kind
        if kind == "random":
            return self.dice.randbytes(size) + self.trailer
        if kind == "zero":
            return bytes(size) + self.trailer
        return (self.pattern * (size // len(self.pattern) + 1))[:size] + self.trailer


def label(conv, size=12):
    return conv.token[:size // 2].hex().encode()


def name(conv):
    text = label(conv)
    return bytes([len(text)]) + text + b"\x07example\x03org\x00"


def dns_like(conv, side, identity, question, answer):
    if side == 0:
        return identity + struct.pack(">HHHHH", question, 1, 0, 0, 0) + name(conv) + struct.pack(">HH", 1, 1)
    record = struct.pack(">HHHIH", 0xC00C, 1, 1, 300, 4) + conv.body(4)[:4]
    return identity + struct.pack(">HHHHH", answer, 1, 1, 0, 0) + name(conv) + struct.pack(">HH", 1, 1) + record


def dns(conv, side):
    return dns_like(conv, side, conv.count(2), 0x0100, 0x8180)


def mdns(conv, side):
    return dns_like(conv, side, bytes(2), 0, 0x8400)


def llmnr(conv, side):
    return dns_like(conv, side, conv.count(2), 0, 0x8000)


def netbios_name(conv, side):
    encoded = bytes(b for c in label(conv, 16) for b in (0x41 + (c >> 4), 0x41 + (c & 15)))
    flags = 0x0110 if side == 0 else 0x8500
    return conv.count(2) + struct.pack(">HHHHH", flags, 1, 0, 0, 0) + b"\x20" + encoded + bytes(1) + struct.pack(">HH", 32, 1)


def netbios_datagram(conv, side):
    return struct.pack(">BB", 0x11, 0x0A) + conv.count(2) + bytes([10, 0, 0, 1]) + struct.pack(">HHH", 138, 100, 0) + conv.body()


def ntp(conv, side):
    head = bytes([0x20 | (3 + side), 2, 6, 0xEC]) + conv.token[:12]
    return head + b"".join(struct.pack(">I", 0xE9000000 + i) + conv.count(4) for i in range(4))


def snmp(conv, side):
    pdu = bytes([0xA0 + 2 * side, 26]) + b"\x02\x04" + conv.count(4) + b"\x02\x01\x00\x02\x01\x00" + bytes.fromhex(
        "300c300a06062b060102010105000000")
    inside = b"\x02\x01\x01\x04\x06public" + pdu
    return b"\x30" + bytes([len(inside)]) + inside


def dhcp(conv, side):
    head = struct.pack(">BBBB", 1 + side, 1, 6, 0) + conv.count(4) + bytes(4) + conv.token[:16] + conv.token[16:22]
    return head + bytes(10 + 192) + bytes.fromhex("63825363350101") + b"\xff" + conv.body(20)


def dhcpv6(conv, side):
    return bytes([1 + side]) + conv.count(3) + struct.pack(">HH", 1, 14) + conv.token[:14] + struct.pack(">HHH", 8, 2, 0)


def tftp(conv, side):
    return b"\x00\x03" + conv.count(2) + conv.body(512) if side == 0 else b"\x00\x04" + conv.count(2)


def sip(conv, side):
    line = b"OPTIONS sip:a@10.0.0.2 SIP/2.0" if side == 0 else b"SIP/2.0 200 OK"
    return line + b"\r\nCall-ID: " + label(conv) + b"\r\nCSeq: %d OPTIONS\r\n\r\n" % conv.number


def rtp(conv, side):
    head = b"\x80" + conv.flags(1) + conv.count(2) + struct.pack(">I", conv.number * 160 % (1 << 32)) + conv.token[:4]
    return head + conv.body()


def rtcp(conv, side):
    return struct.pack(">BBH", 0x80, 200 + side, 6) + conv.token[:4] + conv.count(8) + conv.count(4) + conv.body(8)


def stun(conv, side):
    attribute = struct.pack(">HHBBH", 0x0020, 8, 0, 1, 0x2112) + conv.token[:4] if side else b""
    return struct.pack(">HHI", 0x0101 if side else 1, len(attribute), 0x2112A442) + conv.count(4) + conv.token[:8] + attribute


def turn_channel(conv, side):
    data = conv.body()
    return struct.pack(">HH", 0x4000 + conv.token[0], len(data)) + data


def dtls12(conv, side):
    data = conv.count(8) + conv.body()
    return b"\x17\xfe\xfd\x00\x01" + conv.count(6) + struct.pack(">H", len(data)) + data


def dtls13(conv, side):
    return bytes([0x2C | conv.token[0] & 3]) + conv.count(2) + struct.pack(">H", conv.size) + conv.body()


def quic_long(conv, side):
    head = bytes([0xC0 | conv.token[0] & 3]) + struct.pack(">I", 1) + b"\x08" + conv.token[:8] + b"\x08" + conv.token[8:16]
    return head + b"\x00\x44\xb0" + conv.count(2) + conv.body()


def quic_short(conv, side):
    return bytes([0x40 | conv.dice.getrandbits(6)]) + conv.token[:8] + conv.count(2) + conv.body()


def wireguard(conv, side):
    return b"\x04\x00\x00\x00" + conv.token[:4] + conv.count(8, "little") + conv.body()


def openvpn(conv, side):
    return bytes([0x48 | conv.token[0] & 7]) + conv.token[1:4] + conv.count(4) + conv.body()


def openvpn_control(conv, side):
    return b"\x20" + conv.token[8 * side:8 * side + 8] + b"\x01" + conv.count(4) + conv.token[16:24] + conv.count(4) + conv.body()


def ike(conv, side):
    data = conv.body()
    head = conv.token[:16] + bytes([0x2E, 0x20, 0x25, 8 if side == 0 else 0x20]) + conv.count(4)
    return bytes(4) + head + struct.pack(">I", 28 + len(data)) + data


def esp(conv, side):
    return conv.token[:4] + conv.count(4) + conv.body()


def nat_keepalive(conv, side):
    return b"\xff"


def l2tp(conv, side):
    return struct.pack(">HH", 0xC802, 12) + conv.token[:4] + conv.count(2) + conv.count(2)


def gtp_u(conv, side):
    data = conv.body()
    return struct.pack(">BBH", 0x32, 0xFF, len(data) + 4) + conv.token[:4] + conv.count(2) + bytes(2) + data


def gtp_echo(conv, side):
    return struct.pack(">BBH", 0x32, 1 + side, 6 if side else 4) + bytes(4) + conv.count(2) + (b"\x00\x00\x0e\x00" if side else bytes(2))


def vxlan(conv, side):
    return b"\x08\x00\x00\x00" + conv.token[:3] + bytes(1) + conv.token[:12] + b"\x08\x00" + conv.body()


def geneve(conv, side):
    return b"\x00\x00\x65\x58" + conv.token[:3] + bytes(1) + conv.token[:12] + b"\x08\x00" + conv.body()


def radius(conv, side):
    data = b"\x01\x08" + label(conv)[:6] + b"\x04\x06\x0a\x00\x00\x01"
    return bytes([1 + side]) + conv.count(1) + struct.pack(">H", 20 + len(data)) + conv.token[:16] + data


def syslog(conv, side):
    return b"<34>1 2024-01-01T00:00:00Z host app %d - - " % conv.number + label(conv)


def ssdp(conv, side):
    return (b"M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: \"ssdp:discover\"\r\nMX: 2\r\nST: ssdp:all\r\n\r\n"
            if side == 0 else b"HTTP/1.1 200 OK\r\nUSN: uuid:" + label(conv) + b"\r\n\r\n")


def coap(conv, side):
    return bytes([0x44 if side == 0 else 0x64, 1 if side == 0 else 0x45]) + conv.count(2) + conv.token[:4] + b"\xb4time\xff" + conv.body()


def mqtt_sn(conv, side):
    data = conv.body(min(conv.size, 200))
    return bytes([7 + len(data), 0x0C, 0x20]) + conv.token[:2] + conv.count(2) + data


def bittorrent_dht(conv, side):
    middle = b"1:ad2:id20:" + conv.token[:20] + b"e1:q4:ping" if side == 0 else b"1:rd2:id20:" + conv.token[8:28] + b"e"
    return b"d" + middle + b"1:t2:" + conv.count(2) + (b"1:y1:qe" if side == 0 else b"1:y1:re")


def utp(conv, side):
    head = bytes([0x01 if conv.number % 3 else 0x21, 0]) + conv.token[:2] + struct.pack(">I", conv.number * 997 % (1 << 32))
    return head + conv.token[4:8] + struct.pack(">I", 1 << 20) + conv.count(2) + conv.count(2) + (conv.body() if side == 0 else b"")


def kademlia(conv, side):
    return bytes([0xE4, 0x60 + side]) + conv.token[:16] + conv.count(2, "little") + conv.body()


def enet(conv, side):
    data = conv.body()
    return struct.pack(">H", 0x8000 | conv.token[0]) + conv.count(2) + b"\x86\x00" + conv.count(2) + struct.pack(">H", len(data)) + data


def enet_ping(conv, side):
    return struct.pack(">H", 0x8000 | conv.token[0]) + conv.count(2) + b"\x85\xff" + conv.count(2)


def raknet(conv, side):
    data = conv.body()
    return b"\x84" + conv.count(3, "little") + b"\x60" + struct.pack(">H", len(data) * 8) + conv.count(3, "little") + conv.count(3, "little") + b"\x00" + data


def raknet_ack(conv, side):
    return b"\xc0\x00\x01\x01" + conv.count(3, "little")


def minecraft_bedrock(conv, side):
    magic = bytes.fromhex("00ffff00fefefefefdfdfdfd12345678")
    if side == 0:
        return b"\x01" + conv.count(8) + magic + conv.token[:8]
    text = b"MCPE;Server;390;1.14.60;0;10;" + label(conv)
    return b"\x1c" + conv.count(8) + conv.token[8:16] + magic + struct.pack(">H", len(text)) + text


def a2s(conv, side):
    if side == 0:
        return b"\xff\xff\xff\xff" + (b"TSource Engine Query\x00" if conv.number % 2 else b"U" + conv.count(4, "little"))
    return b"\xff\xff\xff\xff" + (b"A" + conv.token[:4] if conv.number % 2 else b"I\x11" + label(conv) + b"\x00" + conv.body())


def source_engine(conv, side):
    return conv.count(4, "little") + conv.count(4, "little") + conv.flags(1) + conv.token[:2] + b"\x00" + conv.body()


def quake3(conv, side):
    if conv.number % 7 == 0:
        return b"\xff\xff\xff\xffgetstatus " + label(conv)
    return conv.count(4, "little") + conv.token[:2] + conv.body()


def steam_datagram(conv, side):
    return bytes([0x80 | conv.token[0] & 0x3F]) + conv.token[:4] + conv.count(2, "little") + conv.body()


def photon(conv, side):
    data = conv.body()
    head = conv.token[:2] + b"\x00\x01" + conv.count(4) + conv.token[4:8]
    return head + bytes([6, 0, 1, 4]) + struct.pack(">I", 12 + len(data)) + conv.count(4) + data


def kcp(conv, side):
    data = conv.body() if side == 0 else b""
    head = conv.token[:4] + bytes([0x51 if side == 0 else 0x52, 0]) + struct.pack("<H", 128)
    return head + conv.count(4, "little") + conv.count(4, "little") + conv.count(4, "little") + struct.pack("<I", len(data)) + data


def memcached(conv, side):
    return conv.count(2) + b"\x00\x00\x00\x01\x00\x00" + (b"get " + label(conv) if side == 0 else b"END") + b"\r\n"


def onc_rpc(conv, side):
    head = conv.count(4) + struct.pack(">I", side)
    return head + (struct.pack(">IIII", 2, 100003, 3, 1) + bytes(16) + conv.body(32) if side == 0 else bytes(16) + conv.body(28))


def bfd(conv, side):
    return struct.pack(">BBBB", 0x20, 0xC0, 3, 24) + conv.token[:8] + struct.pack(">III", 1000000, 1000000, 0)


def ptp(conv, side):
    head = struct.pack(">BBHBB", 0x00 if side == 0 else 0x08, 0x02, 44, conv.token[0], 0) + b"\x02\x00" + bytes(8) + bytes(4)
    return head + conv.token[:8] + struct.pack(">H", 1) + conv.count(2) + b"\x00\x00" + bytes(6) + conv.count(4)


def modbus(conv, side):
    return conv.count(2) + b"\x00\x00\x00\x06\x01\x03" + (b"\x00\x10\x00\x02" if side == 0 else b"\x04" + conv.body(4)[:4])


def bacnet(conv, side):
    return b"\x81\x0a\x00\x11\x01\x04" + bytes([0x00 if side == 0 else 0x30]) + conv.count(1) + b"\x0c\x0c" + conv.token[:4]


def teredo(conv, side):
    return bytes.fromhex("60000000") + struct.pack(">HBB", conv.size, 0x3B, 0x15) + conv.token + conv.body()


def mavlink(conv, side):
    data = conv.body(9)
    return bytes([0xFD, len(data) & 255, 0, 0]) + conv.count(1) + b"\x01\x01\x00\x00\x00" + data + conv.token[:2]


def counter_first(conv, side):
    return conv.count(conv.width, conv.order) + conv.body()


def flags_and_counter(conv, side):
    return conv.before + conv.count(conv.width, conv.order) + conv.after + conv.body()


def two_counters(conv, side):
    return conv.before + conv.count(conv.width, conv.order) + conv.after + conv.count(conv.width, conv.order) + conv.body()


def counter_last(conv, side):
    return conv.before + conv.body() + conv.count(conv.width, conv.order) + conv.after


def changing_flags(conv, side):
    return conv.flags(1 + side) + conv.count(conv.width, conv.order) + conv.after + conv.body()


def session_and_counter(conv, side):
    return conv.token[:conv.width] + conv.count(conv.width, conv.order) + conv.flags(1) + conv.body()


def bit_counter(conv, side):
    """A bit stream: flags of one bit, a counter at an odd bit, and a termination bit."""
    value = conv.dice.getrandbits(2) | int.from_bytes(conv.count(conv.width, "little"), "little") << 2
    bits = 2 + 8 * conv.width + conv.dice.choice((0, 1, 5))
    value |= int.from_bytes(conv.body(), "little") << bits
    size = value.bit_length() // 8 + 1
    return (value | 1 << 8 * size - 1).to_bytes(size, "little")


def sparse_state(conv, side):
    """A record of numbers, mostly zero."""
    return conv.before + conv.count(conv.width, conv.order) + b"".join(
        bytes(conv.dice.randrange(6)) + conv.flags(1) for _ in range(1 + conv.size % 12))


def length_and_counter(conv, side):
    data = conv.body()
    return conv.before + len(data).to_bytes(2, conv.order) + conv.count(conv.width, conv.order) + data


def encrypted(conv, side):
    """An encrypted datagram: a short header and a checksum at the end."""
    return conv.before + conv.count(conv.width, conv.order) + conv.after + bytes(conv.size % 8) + conv.dice.randbytes(16)


def acknowledgement(conv, side):
    """Two counters of 16 bits, the second far lower, and a bit field of the packets received between them."""
    return conv.before[:1] + bytes(1) + conv.count(2, conv.order) + bytes(2) + conv.dice.randbytes(12 + conv.size % 8)


def heartbeat(conv, side):
    return conv.before + bytes(conv.size % 40) + conv.after


def echo(conv, side):
    conv.is_echoed = True
    return conv.dice.randbytes(conv.size if conv.has_fixed_size else conv.dice.randrange(20, 60))


def noise(conv, side):
    return conv.dice.randbytes(conv.size)


NAMED = (dns, mdns, llmnr, netbios_name, netbios_datagram, ntp, snmp, dhcp, dhcpv6, tftp, sip, rtp, rtcp, stun,
         turn_channel, dtls12, dtls13, quic_long, quic_short, wireguard, openvpn, openvpn_control, ike, esp,
         nat_keepalive, l2tp, gtp_u, gtp_echo, vxlan, geneve, radius, syslog, ssdp, coap, mqtt_sn, bittorrent_dht, utp,
         kademlia, enet, enet_ping, raknet, raknet_ack, minecraft_bedrock, a2s, source_engine, quake3, steam_datagram,
         photon, kcp, memcached, onc_rpc, bfd, ptp, modbus, bacnet, teredo, mavlink)
# Protocols of games and devices: two thirds of the conversations, because they resemble this protocol most.
UNNAMED = (counter_first, flags_and_counter, two_counters, counter_last, changing_flags, session_and_counter,
           bit_counter, sparse_state, length_and_counter, encrypted, acknowledgement, heartbeat, echo, noise)


def payloads(make, dice, lengths):
    """(side, payload) of one conversation."""
    conv = ProtocolConversation(dice)
    received = b""
    for number in range(dice.choice(lengths)):
        side = number % 2
        payload = received if side == 1 and conv.is_echoed else make(conv, side)
        received = payload
        yield side, payload


# A conversation of this protocol, handshake version 0: Initial, Challenge, Response, Ack, and the client's Hello.
COOKIE = bytes(range(0x31, 0x45))
OURS = "ours"


def original(timestamp, cookie, secret):
    """A handshake message of the original layout."""
    seconds = struct.unpack("<Q", struct.pack("<d", timestamp))[0]
    value = 1 | secret << 2 | seconds << 3 | int.from_bytes(cookie, "little") << 67 | 1 << 227
    return value.to_bytes(29, "little")


LOGIN = ((0, original(0.0, bytes(20), 0)), (1, original(12.5, COOKIE, 1)), (0, original(12.5, COOKIE, 1)),
         (1, original(-1.0, COOKIE, 1)), (0, bytes.fromhex("8000b57801000000fe6f02e0e2ff0250002060a60f931100000060")))


def other_port(dice):
    port = 1024 + dice.randrange(64000)
    return port if port not in OUR_PORTS else 1024


def record(number, ends, payload):
    """A record of a capture of raw IPv4 packets."""
    (source, source_port), (destination, destination_port) = ends
    size = 28 + len(payload)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, size, 0, 0, 64, 17, 0) + source + destination
    udp = struct.pack(">HHHH", source_port, destination_port, size - 20, 0)
    return struct.pack("<IIII", 1700000000 + number // 1000, number % 1000 * 1000, size, size) + ip + udp + payload


def captures(datagrams, seed=SEED, file_datagrams=FILE_DATAGRAMS, with_ours=False, lengths=LENGTHS):
    """(bytes, protocols) of captures with at least `datagrams` datagrams in all; protocols has the protocol of each
    conversation; the client's address is 10.0.0.0 plus the conversation's place in that list. with_ours: the first
    conversation of each is of this protocol. lengths: datagrams of a conversation."""
    dice = random.Random(seed)
    left = datagrams
    while left > 0:
        parts = [struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)]
        protocols = []
        while left > 0 and len(parts) <= file_datagrams:
            is_ours = with_ours and not protocols
            make = dice.choice(dice.choice((NAMED, UNNAMED, UNNAMED)))
            client = ((0x0A000000 + len(protocols)).to_bytes(4, "big"), other_port(dice))
            server = (bytes([192, 168, 0, 1]), other_port(dice))
            for side, payload in LOGIN if is_ours else payloads(make, dice, lengths):
                parts.append(record(len(parts), (server, client) if side else (client, server), payload))
                left -= 1
            protocols.append(OURS if is_ours else make.__name__)
        yield b"".join(parts), protocols


def conversation(addresses):
    """The index of the conversation of a datagram, by its two addresses."""
    client, = (address for address in addresses if address.startswith("10."))
    return int.from_bytes(bytes(map(int, client.split("."))), "big") - 0x0A000000


def recognised_by_program(program, content):
    """The indices of the conversations that `decode` recognises."""
    command = [program, "decode", "--fields", "src,dst", "-"]
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        made = subprocess.run(command, stdin=file, capture_output=True, text=True, check=False)
    if made.returncode not in (0, 1):
        raise AssertionError(made.stderr)
    return {conversation([end.rpartition(":")[0] for end in line.replace(",", "\t").split("\t")])
            for line in made.stdout.splitlines() if not line.startswith("src")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datagrams", type=int, default=FILE_DATAGRAMS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--length", type=int, help="datagrams of each conversation; default 10 to 14")
    parser.add_argument("--against", metavar="PROGRAM", help="count what this program recognised")
    parser.add_argument("--write", metavar="FOLDER", help="write the captures")
    options = parser.parse_args()
    recognised, conversations = {}, 0
    lengths = [options.length] if options.length else LENGTHS
    for number, (content, protocols) in enumerate(captures(options.datagrams, options.seed, lengths=lengths)):
        conversations += len(protocols)
        if options.write:
            with open(os.path.join(options.write, f"other_protocols-{number}.pcap"), "wb") as file:
                file.write(content)
        for place in recognised_by_program(options.against, content) if options.against else ():
            recognised[protocols[place]] = recognised.get(protocols[place], 0) + 1
    print(f"{options.datagrams} datagrams, {conversations} conversations of {len(NAMED)} protocols and of {len(UNNAMED)} forms of a game's own")
    if options.against:
        print(f"{sum(recognised.values())} conversations recognised", *(f"{name} {count}" for name, count in recognised.items()))
        sys.exit(1 if recognised else 0)


if __name__ == "__main__":
    main()
