# SPDX-License-Identifier: MIT
"""Captures of a conversation between a client and a server that a test composes packet by packet."""
import json

import uerudp

CLIENT, SERVER = 0, 1
FIRST = (1000, 5000)  # the first packet ids, which are part of COOKIE
COOKIE = FIRST[SERVER].to_bytes(2, "little") + FIRST[CLIENT].to_bytes(2, "little") + bytes(range(16))
ADDRESSES = ("10.0.0.1:50000", "10.0.0.2:7777")
START_NS = 1_700_000_000_000_000_000
HISTORY_BITS = 256
# Messages of a login after Hello, as (side, name).
CHALLENGE, LOGIN, WELCOME = (SERVER, "challenge"), (CLIENT, "login"), (SERVER, "welcome")
NETSPEED, JOIN = (CLIENT, "netspeed"), (CLIENT, "join")


class Conversation:
    """Times are in milliseconds. A packet arrives `latency` after it was sent; the receiver acknowledges it in its next
    packet. The capture is taken at the sender of each packet."""

    def __init__(self, generation="5.1", latency=20):
        self.generation, self.latency = generation, latency
        self.now = 0
        self.objects = []
        self.next_seq = {}
        self.reset_packet_ids()

    def reset_packet_ids(self):
        self.next_id = [FIRST[CLIENT], FIRST[SERVER]]
        self.newest_acked = [FIRST[SERVER] - 1, FIRST[CLIENT] - 1]  # by the side that acknowledges
        self.arrivals = [{}, {}]  # time by packet id, for each sender

    # ---- sending ----

    def reliable(self, side, channel, **keys):
        """A reliable bunch with the next channel sequence."""
        seq = self.next_seq.get((side, channel), FIRST[side] % 1024) + 1
        self.next_seq[side, channel] = seq
        name = 255 if channel == 0 else 102
        data = {} if "messages" in keys else {"data": "00112233"}
        return {"channel": channel, "reliable": True, "ch_seq": seq % 1024, "name_hardcoded": True, "name_index": name,
                **data, **keys}

    def send_message(self, side, name, **parameters):
        """Send a control message in a packet of its own."""
        return self.send(side, self.reliable(side, 0, messages=[{name: parameters}]))

    def add_datagram(self, side, content):
        """Append a datagram to the capture and return its frame number."""
        self.objects.append({"time": str(START_NS + round(self.now * 1e6)), "src": ADDRESSES[side],
                             "dst": ADDRESSES[not side], "direction": 1 + side, "generation": self.generation,
                             **content})
        return len(self.objects)

    def handshake(self, types=(0, 1, 2, 3), restart=False):
        """Send handshake messages of these types, one every `latency`."""
        for number in types:
            body = {"type": number, "restart": restart}
            if self.generation[0] == "5":
                body |= {"min_version": 3, "version": 3}
            if number not in (0, 4, 6):
                body["cookie"] = COOKIE.hex()
            self.add_datagram(number in (1, 3, 4, 6), {"is_handshake": True, "handshake": body})
            self.now += self.latency

    def header(self, side):
        received = [number for number, time in self.arrivals[not side].items() if time <= self.now]
        newest = max(received, default=self.newest_acked[side])
        words = min(max(1, -(-(newest - self.newest_acked[side]) // 32)), HISTORY_BITS // 32)
        bits = sum(1 << newest - number for number in received if newest - number < 32 * words)
        self.newest_acked[side] = newest
        return {"seq": self.next_id[side] % 16384, "ack": newest % 16384, "history_words": words,
                "history": [bits >> 32 * word & 0xFFFFFFFF for word in range(words)]}

    def send(self, side, *bunches, arrives=True, captured=True, **header):
        """Send a packet, with `header` over the usual header keys, and return its frame number."""
        content = {"packet": {**self.header(side), **header}, "bunches": list(bunches)}
        if arrives:
            self.arrivals[side][self.next_id[side]] = self.now + self.latency
        self.next_id[side] += 1
        return self.add_datagram(side, content) if captured else None

    def wait(self, ms):
        self.now += ms
        return self

    def idle(self, ms, every=50, sides=(CLIENT, SERVER), **header):
        """Send empty packets for `ms`."""
        for _ in range(0, ms, every):
            for side in sides:
                self.send(side, **header)
            self.now += every
        return self

    # ---- the capture ----

    def capture(self):
        """A pcapng file."""
        return uerudp.run("encode", data="\n".join(map(json.dumps, self.objects)).encode()).stdout

    def infos(self, *options, status=None):
        """The objects of info --json, one for each connection."""
        output = uerudp.run("info", "--json", *options, "-", data=self.capture(), status=status).stdout
        return [json.loads(line, object_pairs_hook=uerudp.without_duplicates) for line in output.decode().splitlines()]

    def info(self, *options, status=None):
        """The object of info --json for the only connection."""
        connection, = self.infos(*options, status=status)
        return connection


# ---- conversations that several tests need ----

def send_hello(conv):
    conv.send(CLIENT, conv.reliable(CLIENT, 0, open=True, messages=[{"hello": {"network_version": 7}}]))


def hello_sent(generation="5.1", latency=20):
    """A handshake and the client's Hello."""
    conv = Conversation(generation, latency)
    conv.handshake()
    send_hello(conv)
    return conv


def send_login(conv, *steps):
    """Send the messages (side, name) of a login, 100 ms apart."""
    for side, name in steps:
        conv.idle(100)
        conv.send_message(side, name, **({"text": "AB"} if name == "challenge" else {}))


def ack_ahead(generation="5.1", sent=False):
    """The server acknowledges a packet id 256 ahead of the newest that the client sent. With `sent` the client did send
    these packets, but they are not in the capture."""
    conv = hello_sent(generation).idle(500)
    if sent:
        for _ in range(256):
            conv.send(CLIENT, captured=False)
        conv.wait(100).send(SERVER)
    else:
        conv.send(SERVER, ack=conv.next_id[CLIENT] + 255, history_words=8, history=[0] * 8)
    return conv.idle(1000)


def attempts(count, join):
    """Handshakes from one port, each with a cookie of its own and followed by a Hello, or with `join` by a login."""
    conv = Conversation()
    for number in range(count):
        start = len(conv.objects)
        conv.handshake()
        for datagram in conv.objects[start + 1:]:
            datagram["handshake"]["cookie"] = (datagram["handshake"]["cookie"][:8] + f"{number:02x}" * 16)
        conv.next_seq = {}
        conv.reset_packet_ids()
        send_hello(conv)
        if join:
            send_login(conv, CHALLENGE, LOGIN, WELCOME, NETSPEED, JOIN)
            conv.idle(1000)
        conv.wait(800)
    return conv


def with_client_ids(in_handshake, in_packets):
    conv = hello_sent("5.5").idle(2000)
    for datagram in conv.objects:
        datagram.update(session_id=1, client_id=in_handshake if datagram.get("is_handshake") else in_packets)
    return conv


def reordered_acks(count):
    """One packet of the server acknowledges `count` packets at once, every tenth of which is lost, and overtakes the
    packet before it. Returns the conversation and the frame of the late packet."""
    conv = hello_sent().idle(500)
    late = conv.send(SERVER)
    for number in range(count):
        conv.send(CLIENT, arrives=number % 10 != 3)
    new = conv.wait(30).send(SERVER)
    objects = conv.objects
    objects[late - 1:new] = [*objects[late:new], {**objects[late - 1], "time": objects[new - 1]["time"]}]
    return conv.idle(500), new


def lost_acks():
    """Generation 4.18: the client's packets 11 to 25 arrive, but the server's packets 2 and 3 are lost, which alone
    acknowledge them. Frame 28, where the client acknowledges 1 and 4, shows the loss; the server's next packet is
    frame 29."""
    conv = Conversation("4.18")

    def send(side, number, *acks):
        conv.add_datagram(side, {"packet": {"seq": number}, "items": [{"is_ack": True, "ack_id": ack} for ack in acks]})
        conv.wait(100 if side == SERVER else 1)
    for number in range(10, 30):
        send(CLIENT, number)
    send(SERVER, 1, 10)
    send(SERVER, 2, 10, *range(11, 26))
    send(SERVER, 3, *range(11, 26))
    for number in range(4, 8):
        send(SERVER, number)
    send(CLIENT, 30, 1, 4)
    send(SERVER, 8)
    return conv
