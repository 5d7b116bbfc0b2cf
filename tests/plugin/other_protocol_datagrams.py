# SPDX-License-Identifier: MIT
"""Datagrams of other protocols, generated from a seed. The heuristic dissector must not accept them."""
import struct


def dns(random):
    label = bytes(random.choice(b"abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(random.randrange(1, 30)))
    name = bytes([len(label)]) + label + b"\x07example\x03org\x00"
    question = name + struct.pack(">HH", random.choice([1, 16, 28]), 1)
    if random.random() < 0.5:
        return struct.pack(">HHHHHH", random.getrandbits(16), 0x0100, 1, 0, 0, 0) + question
    answers = [b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, random.getrandbits(20), 4) + random.randbytes(4)
               for _ in range(random.randrange(1, 8))]
    return struct.pack(">HHHHHH", random.getrandbits(16), 0x8180, 1, len(answers), 0, 0) + question + b"".join(answers)


def mdns(random):
    name = b"\x0b_googlecast\x04_tcp\x05local\x00"
    if random.random() < 0.5:
        return struct.pack(">HHHHHH", 0, 0, 1, 0, 0, 0) + name + struct.pack(">HH", 12, 1)
    target = b"\x08" + random.randbytes(4).hex().encode() + b"\xc0\x0c"
    return struct.pack(">HHHHHH", 0, 0x8400, 0, 1, 0, 0) + name + struct.pack(">HHIH", 12, 1, 120, len(target)) + target


def quic(random):
    destination, source = random.randbytes(random.randrange(8, 20)), random.randbytes(random.randrange(0, 20))
    if random.random() < 0.5:
        return bytes([0x40 | random.getrandbits(6)]) + destination + random.randbytes(random.randrange(21, 1200))
    head = bytes([0xC0 | random.getrandbits(4)]) + struct.pack(">I", 1)
    head += bytes([len(destination)]) + destination + bytes([len(source)]) + source + b"\x00"
    size = 1200 - len(head) - 2
    return head + struct.pack(">H", 0x4000 | size) + random.randbytes(size)


def rtp(random):
    head = struct.pack(">BBHII", 0x80, random.choice([0, 8, 18, 96]), random.getrandbits(16), random.getrandbits(32),
                       random.getrandbits(32))
    return head + random.randbytes(random.choice([20, 160, 320, 1000]))


def enet(random):
    peer, sent = random.getrandbits(12), random.getrandbits(16)
    if random.random() < 0.3:  # connect
        return struct.pack(">HHBBH", 0x8FFF, sent, 0x82, 0xFF, 1) + struct.pack(
            ">HBBIIIIIIIII", 0, 0xFF, 0xFF, 1400, 65536, 2, 0, 0, 5000, 2, 2, random.getrandbits(32)) + bytes(4)
    data = random.randbytes(random.randrange(1, 1200))
    return struct.pack(">HHBBHH", 0x8000 | peer, sent, 0x86, 0, random.getrandbits(16), len(data)) + data


def raknet(random):
    magic = bytes.fromhex("00ffff00fefefefefdfdfdfd12345678")
    kind = random.randrange(4)
    if kind == 0:
        return b"\x01" + random.randbytes(8) + magic + random.randbytes(8)
    if kind == 1:
        return b"\x05" + magic + b"\x0b" + bytes(random.randrange(100, 1400))
    if kind == 2:
        return b"\x06" + magic + random.randbytes(8) + b"\x00" + struct.pack(">H", 1400)
    name = b"MCPE;Dedicated Server;390;1.14.60;0;10;" + str(random.getrandbits(63)).encode()
    return b"\x1c" + random.randbytes(16) + magic + struct.pack(">H", len(name)) + name


def stun(random):
    attributes = b""
    if random.random() < 0.7:
        attributes = struct.pack(">HHBBH", 0x0020, 8, 0, 1, random.getrandbits(16)) + random.randbytes(4)
    kind = random.choice([0x0001, 0x0101])
    return struct.pack(">HHI", kind, len(attributes), 0x2112A442) + random.randbytes(12) + attributes


def ntp(random):
    mode = random.choice([3, 4])
    return bytes([0x20 | mode, random.randrange(1, 5), 6, 0xEC]) + random.randbytes(12) + b"".join(
        struct.pack(">II", 0xE9000000 + random.getrandbits(20), random.getrandbits(32)) for _ in range(4))


# Protocol: its port, its layer in tshark (None: tshark has no dissector for it), its generator.
PROTOCOLS = {"DNS": (53, "dns", dns), "mDNS": (5353, "mdns", mdns), "QUIC": (443, "quic", quic),
             "RTP": (5004, "rtp", rtp), "ENet": (1234, None, enet), "RakNet": (19132, "raknet", raknet),
             "STUN": (3478, "stun", stun), "NTP": (123, "ntp", ntp)}
