# SPDX-License-Identifier: MIT
"""A conversation of client and server, written down packet by packet, as a capture."""
import json

import uerudp

CLIENT, SERVER = 0, 1
FIRST = (1000, 5000)  # sequences that the cookie below gives
COOKIE = FIRST[SERVER].to_bytes(2, "little") + FIRST[CLIENT].to_bytes(2, "little") + bytes(range(16))
ADDRESSES = ("10.0.0.1:50000", "10.0.0.2:7777")
BEGIN_NS = 1_700_000_000_000_000_000
HISTORY_BITS = 256


def message(name, **parameters):
    """A whole bunch of the control channel with one message."""
    return {"channel": 0, "messages": [{name: parameters}]}


class Talk:
    """Times are milliseconds. What is sent arrives after `latency` at the other end, which acknowledges it in its next
    packet; the capture is taken where it is sent."""

    def __init__(self, generation="5.1", latency=20):
        self.generation, self.latency = generation, latency
        self.now = 0
        self.objects = []
        self.next_id = [FIRST[CLIENT], FIRST[SERVER]]
        self.told = [FIRST[SERVER] - 1, FIRST[CLIENT] - 1]  # newest that each side acknowledged
        self.arrivals = [{}, {}]  # packet id: time, by sender
        self.next_seq = {}

    # ---- what is sent ----

    def reliable(self, side, channel, **keys):
        """A reliable bunch with the next channel sequence."""
        seq = self.next_seq.get((side, channel), FIRST[side] % 1024) + 1
        self.next_seq[side, channel] = seq
        name = 255 if channel == 0 else 102
        data = {} if "messages" in keys else {"data": "00112233"}
        return {"channel": channel, "reliable": True, "ch_seq": seq % 1024, "name_hardcoded": True, "name_index": name,
                **data, **keys}

    def say(self, side, name, **parameters):
        """A control message in a packet of its own."""
        return self.send(side, self.reliable(side, 0, messages=[{name: parameters}]))

    def datagram(self, side, content):
        """Returns the frame number."""
        self.objects.append({"time": str(BEGIN_NS + round(self.now * 1e6)), "src": ADDRESSES[side],
                             "dst": ADDRESSES[not side], "direction": 1 + side, "generation": self.generation,
                             **content})
        return len(self.objects)

    def handshake(self, types=(0, 1, 2, 3), restart=False):
        """Messages by type, one each `latency`."""
        for number in types:
            body = {"type": number, "restart": restart}
            if self.generation[0] == "5":
                body |= {"min_version": 3, "version": 3}
            if number not in (0, 4, 6):
                body["cookie"] = COOKIE.hex()
            self.datagram(number in (1, 3, 4, 6), {"is_handshake": True, "handshake": body})
            self.now += self.latency

    def header(self, side):
        heard = [number for number, time in self.arrivals[not side].items() if time <= self.now]
        newest = max(heard, default=self.told[side])
        words = min(max(1, -(-(newest - self.told[side]) // 32)), HISTORY_BITS // 32)
        bits = sum(1 << newest - number for number in heard if newest - number < 32 * words)
        self.told[side] = newest
        return {"seq": self.next_id[side] % 16384, "ack": newest % 16384, "history_words": words,
                "history": [bits >> 32 * word & 0xFFFFFFFF for word in range(words)]}

    def send(self, side, *bunches, arrives=True, captured=True, **header):
        """A packet; further keys go into its header. Returns the frame number."""
        content = {"packet": {**self.header(side), **header}, "bunches": list(bunches)}
        if arrives:
            self.arrivals[side][self.next_id[side]] = self.now + self.latency
        self.next_id[side] += 1
        return self.datagram(side, content) if captured else None

    def wait(self, ms):
        self.now += ms
        return self

    def chat(self, ms, every=50, sides=(CLIENT, SERVER), **keys):
        """Packets without bunches for a while."""
        for _ in range(0, ms, every):
            for side in sides:
                self.send(side, **keys)
            self.now += every
        return self

    # ---- what is captured ----

    def capture(self):
        """A pcapng file."""
        return uerudp.run("encode", data="\n".join(map(json.dumps, self.objects)).encode()).stdout

    def info(self, *options, status=None):
        """What uerudp info says of the one connection."""
        output = uerudp.run("info", "--json", *options, "-", data=self.capture(), status=status).stdout
        connection, = [json.loads(line, object_pairs_hook=uerudp.once) for line in output.decode().splitlines()]
        return connection


def unheard():
    """Up to 4.21: the client's packets 11 to 25 arrive, but the server's 2 and 3 are lost, which alone acknowledge them.
    That is known from frame 28 on, where the client acknowledges 1 and 4; the server's next packet is frame 29."""
    talk = Talk("4.18")

    def send(side, number, *acks):
        talk.datagram(side, {"packet": {"seq": number}, "items": [{"is_ack": True, "ack_id": ack} for ack in acks]})
        talk.wait(100 if side == SERVER else 1)
    for number in range(10, 30):
        send(CLIENT, number)
    send(SERVER, 1, 10)
    send(SERVER, 2, 10, *range(11, 26))
    send(SERVER, 3, *range(11, 26))
    for number in range(4, 8):
        send(SERVER, number)
    send(CLIENT, 30, 1, 4)
    send(SERVER, 8)
    return talk
