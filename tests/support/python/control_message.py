# SPDX-License-Identifier: MIT
"""Control messages as bytes and as captures."""
import uerudp


def bunches_key(release):
    """The JSON key of a packet's bunches; up to 4.21 a packet's acks are among them."""
    return "items" if release < "4.22" else "bunches"


def message_payload(release, message):
    """The bytes of a control message."""
    whole, = uerudp.encode([{"generation": release, "direction": 1,
                             bunches_key(release): [{"reliable": True, "ch_seq": 1, "messages": [message]}]}])
    fields = uerudp.run("decode", "--hex", "--generation", release, "--fields=bunch.data", "-", data=whole.hex().encode())
    return bytes.fromhex(fields.stdout.decode().split()[-1])


def partial_capture(release, message_bytes, count=3):
    """A capture of a message in `count` partial bunches, each reliable and in a client's packet of its own."""
    packets, size = [], -(-len(message_bytes) // count)
    for number in range(count):
        part = message_bytes[number * size:(number + 1) * size]
        bunch = {"reliable": True, "ch_seq": 5 + number, "partial": True, "partial_initial": number == 0,
                 "partial_final": number == count - 1, "data": part.hex()}
        packet = {"seq": 100 + number}
        if release < "4.22":
            bunch |= {"is_ack": False, "ch_type": 1}
        else:
            packet |= {"ack": 10, "history": [1]}
        packets.append({"generation": release, "direction": 1, "packet": packet, bunches_key(release): [bunch]})
    return uerudp.pcap([(50000, 7777, each) for each in uerudp.encode(packets)])
