#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the first inputs of the fuzz targets.

usage: seed.py FOLDER

Writes FOLDER/datagram from the vectors of tests/support/python/recordings.py in the format of fuzz_datagram.c, and
FOLDER/handshake, FOLDER/track and FOLDER/dissector from its vectors and recordings in the format of datagram_input.h.
FOLDER/observer has captures in the format of observer_input.h, FOLDER/endpoint scripts in the format of fuzz_endpoint.c,
FOLDER/content messages in the format of fuzz_content.c.
"""
import os
import random
import shutil
import struct
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.append(os.path.join(ROOT, "tests", "support", "python"))
import pcapng  # pylint: disable=wrong-import-position
import recordings  # pylint: disable=wrong-import-position

GENERATIONS = ["4.13", "4.14", "4.18", "4.19", "4.20", "4.22", "4.24", "4.25", "5.1", "5.4", "5.5", "5.8"]
HANDLERS = {"Oodle": 1, "AESGCM": 2, "AESGCM-bytes": 3, "AES": 4, "DTLS": 5, "Reliability": 6}
SIZES = [0, 512, 1024, 1028, 2048, 8192, 65535, 1]
DIRECTIONS = {"C2S": 1, "S2C": 2}
DATAGRAMS_PER_FLOW = 14
HANDSHAKE_DATAGRAMS = 4
DATAGRAMS_TRACKED = 120


def header(profile, direction=0, handlers=(), params=()):
    """The eight bytes before a datagram."""
    params = dict(params)
    flags = direction | params.get("internal_ack", False) << 2 | (params.get("terminators", 0) % 3) << 3
    flags |= (params.get("max_chsequence") == 4096) << 7
    chain = (list(handlers) + [0, 0, 0])[:3]
    size = params.get("max_packet_bytes", 0)
    return bytes([GENERATIONS.index(profile), flags, params.get("magic_bits", 0), 0,
                  SIZES.index(size) if size in SIZES else 0, params.get("extra_bits", 0), chain[0] | chain[1] << 4, chain[2]])


def vectors(name):
    return [entry for entry in recordings.vectors(name) if "hex" in entry]


def generation_of(entry):
    params = entry.get("params", {})
    layout, info = params.get("layout", ""), params.get("packet_info", "")
    if layout:
        return {"A": "4.18", "B": "4.22", "C": "4.25"}.get(layout[0], "5.4" if params["features_field"] else "5.1")
    if info:
        modern = "5.4" if params["prefix_bits"] == 6 else "4.25"
        return "5.8" if params["acked_history_seq_field"] else modern if info.startswith("EngineNetVer>=14") else "4.22"
    if "chindex" in params:
        return "4.20" if params["chindex"] == "SerializeIntPacked" else "4.18"
    return {"G1": "4.18", "G2": "4.20", "G4": "5.5"}.get(params.get("generation"), "4.25")


def handlers_of(entry):
    chain = [name for name in reversed(entry.get("component_chain", [])) if name != "StatelessConnect"]
    byte_form = "byteform" in entry.get("name", "")
    return [HANDLERS["AESGCM-bytes" if byte_form and name == "AESGCM" else name] for name in chain]


def datagram_seeds():
    names = ("handshake.json", "packet-modern.json", "packet-legacy.json", "packet-handlers.json", "bunch-control.json",
             "bunch-replay.json")
    for name in names:
        for entry in vectors(name):
            params = dict(entry["params"])
            if "MagicHeader_4bits" in entry["decode"]:
                params["magic_bits"], entry["component_chain"] = 4, ["Oodle", "AESGCM"]
            front = header(generation_of(entry), DIRECTIONS.get(entry.get("direction"), 0), handlers_of(entry), params)
            yield f"{name}-{entry['name']}", front + bytes.fromhex(entry["hex"])


def udp_datagrams(path):
    """(source port, destination port, payload) of a classic pcap with Ethernet, IPv4 and UDP."""
    with open(path, "rb") as file:
        data = file.read()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at = 24
    while at + 16 <= len(data):
        length = struct.unpack_from(order + "4I", data, at)[2]
        packet = data[at + 16:at + 16 + length]
        at += 16 + length
        transport = 14 + 4 * (packet[14] & 15)
        source, destination, size = struct.unpack_from(">3H", packet, transport)
        yield source, destination, packet[transport + 8:transport + size]


def flows(path):
    found = {}
    for source, destination, payload in udp_datagrams(path):
        found.setdefault(frozenset((source, destination)), []).append((source == 7777, payload))
    return found.values()


def datagram_input(datagrams, settings=0, count=DATAGRAMS_PER_FLOW):
    parts = [bytes([settings])]
    for from_server, payload in datagrams[:count]:
        parts += [struct.pack("<H", len(payload) | from_server << 15), payload]
    return b"".join(parts)


def handshake_seeds():
    magic = {"fortnite1510-081d-plain-scrubbed": 4}
    for path in recordings.paths():
        name = path.stem
        for number, datagrams in enumerate(flows(path)):
            yield f"{name}-{number}", datagram_input(datagrams, magic.get(name, 0))
            yield f"{name}-{number}-handshake", datagram_input(datagrams, magic.get(name, 0), HANDSHAKE_DATAGRAMS)
            yield f"{name}-{number}-middle", datagram_input(datagrams[len(datagrams) // 2:], magic.get(name, 0))
    for entry in vectors("handshake.json"):
        datagram = (entry["direction"] == "S2C", bytes.fromhex(entry["hex"]))
        yield f"vector-{entry['name']}", datagram_input([datagram], entry["params"]["magic_bits"])


def track_seeds():
    """Sequences of datagrams that are long enough for losses and retransmissions."""
    for path in recordings.paths():
        if path.stem.startswith("utcp-"):
            for number, datagrams in enumerate(flows(path)):
                yield f"{path.stem}-{number}-long", datagram_input(datagrams, count=DATAGRAMS_TRACKED)


def fragment_seeds():
    """Messages in fragments that are lost and retransmitted."""
    for name in ("big-bunch", "game"):
        packets = pcapng.read(os.path.join(ROOT, "captures", f"{name}.pcapng"))
        datagrams = [(packet.source == 7777, packet.payload) for packet in packets]
        yield name, datagram_input(datagrams, count=DATAGRAMS_TRACKED)


OBSERVED = ("login", "restart", "two-clients", "mixed", "ue4.18", "ue4.24", "ue5.5", "voice")
ORDERS = {"in-order": 0, "by-connection": 1, "at-once": 2, "never": 3}
REREAD, REFERENCED, MESSAGES, ITEMS = 4, 8, 64, 128
NOT_OURS, FROM_SERVER = 16, 64
HANDSHAKE = 1


def observed(datagrams, options=0, is_ours=True):
    """Input of fuzz_observer.c: (number of the client, from server, bytes) of each datagram."""
    parts = [bytes([options, 0, 0, 0, 0, 9])]
    for client, from_server, payload in datagrams[:DATAGRAMS_TRACKED]:
        front = bytes([0 if is_ours else NOT_OURS, client % 8 | (FROM_SERVER if from_server else 0)])
        parts += [front + struct.pack("<H", len(payload)), payload]
    return b"".join(parts)


def handshake(client, kind, cookie, original=0):
    """An operation: a message of this type, 0 to 5, with cookies of a set of eight."""
    return bytes([HANDSHAKE, client | (FROM_SERVER if kind in (1, 3, 4) else 0)]) + struct.pack("<H", kind | cookie << 3 | original << 6)


def observer_seeds():
    """Captures in every order and with other options, and a client whose handshakes are retransmitted."""
    for name in OBSERVED:
        packets = pcapng.read(os.path.join(ROOT, "captures", f"{name}.pcapng"))
        ports = sorted({port for packet in packets for port in (packet.source, packet.destination)} - {7777})
        datagrams = [(ports.index(packet.destination if packet.source == 7777 else packet.source), packet.source == 7777,
                      packet.payload) for packet in packets]
        for order, options in ORDERS.items():
            if (name, order) != ("two-clients", "in-order"):  # triggers the bug that is planted in the order (plant.py)
                yield f"{name}-{order}", observed(datagrams, options | MESSAGES)
        yield f"{name}-reread", observed(datagrams, ORDERS["by-connection"] | REREAD | MESSAGES | ITEMS, False)
        yield f"{name}-referenced", observed(datagrams, ORDERS["at-once"] | REFERENCED, False)
    yield "few", bytes([ORDERS["by-connection"], 0, 0, 2, 9, 9]) + observed(datagrams[:20])[6:]
    clients = b"".join(handshake(client, kind, 0 if kind == 0 else client) for client in range(3) for kind in range(4))
    retransmitted = b"".join(handshake(0, kind, cookie) for kind in (0, 1, 1) for cookie in range(4))
    restarts = handshake(1, 5, 3, 0) + 6 * handshake(0, 5, 4, 6)
    for order, options in ORDERS.items():
        yield f"handshakes-{order}", observed([], REFERENCED | options) + retransmitted
        if order != "in-order":
            yield f"restarts-{order}", observed([], REFERENCED | options) + clients + restarts


def own_seeds():
    initial = bytes([1]) + bytes(23) + bytes([4])
    keep_alive = bytes.fromhex("d08701")
    hello = bytes.fromhex("0040182000000000fe6f028080ff0250002060a60f931100000060")
    yield "datagram", [("initial", header("4.18") + initial), ("keep-alive", header("4.18") + keep_alive),
                       ("hello", header("4.25", 1) + hello)]
    yield "handshake", [("initial", datagram_input([(False, initial), (False, keep_alive)])),
                        ("hello", datagram_input([(False, hello)] * 3))]


def capture_seeds():
    folder = os.path.join(ROOT, "captures")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".pcapng"))
    return [(name, open(os.path.join(folder, name), "rb").read()) for name in names]


# Operations of fuzz_endpoint.c: number and weight.
OPERATIONS = {0: 2, 1: 8, 5: 4, 6: 6, 7: 3, 9: 6, 10: 12, 13: 2, 14: 1, 15: 1}
CORRUPT = 15


def script(rng, corrupts):
    """Random operations of both sides; no bunch has the paused flag."""
    numbers = [number for number, weight in OPERATIONS.items() for _ in range(weight) if corrupts or number != CORRUPT]
    for _ in range(rng.randrange(60, 400)):
        flags, channel, length = rng.randrange(256) & ~32, rng.randrange(256), rng.choice([2, 10, 80, 199, 230])
        yield bytes([rng.choice(numbers) | rng.randrange(2) << 4, flags, channel, length])


def endpoint_seeds():
    rng = random.Random(1)
    for generation in range(11):
        for kind in ("clean", "options", "corrupted", "small"):
            options = rng.randrange(1 << 14) if kind == "options" else 0
            front = struct.pack("<BHBHH", generation, options, 3 if kind == "small" else 255,
                                rng.choice([0, 100, 1020, 16380]), rng.randrange(1 << 14))
            yield f"{kind}-{generation}", front + b"".join(script(rng, kind == "corrupted"))


KINDS = {"control": 1, "actor": 2, "voice": 3}


def message(kind, content, bits=None, generation="5.1", direction="S2C", netver=0, **flags):
    """A whole message in the format of fuzz_content.c."""
    choice = KINDS[kind]
    for bit, name in ((8, "bOpen"), (16, "bClose"), (32, "exports"), (64, "bHasMustBeMappedGUIDs")):
        choice |= bit if flags.get(name) else 0
    settings = DIRECTIONS.get(direction, 0) | bool(flags.get("internal_ack")) << 2
    unused = (len(content) * 8 - bits) % 8 if bits is not None else 0
    return bytes([GENERATIONS.index(generation), settings, choice, netver, unused]) + content


def own_content_seeds():
    yield "actor", message("actor", bytes.fromhex("3446062fdb7773231400082a54"), 103, bOpen=True)
    yield "exports", message("actor", bytes.fromhex("0200000012000202000000005e00"), exports=True)
    yield "text", message("control", b"\x06\x04\x00\x00\x00abc\x00")


def content_seeds():
    for entry in vectors("bunch-actor-synthetic.json"):
        params = entry["params"]
        if params.get("channel") == "Voice":
            yield entry["name"], message("voice", bytes.fromhex(entry["hex"]), entry["bits"], "4.25" if params["amplitude"] else "4.19")
        else:
            yield entry["name"], message("actor", bytes.fromhex(entry["hex"]), entry["bits"], netver=entry["engine_netver"], **params)
    for entry in vectors("bunch-control-synthetic.json"):
        yield entry["name"], message("control", bytes.fromhex(entry["hex"]))


def script_seeds():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scenarios")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            yield name, file.read()


def main():
    folder, = sys.argv[1:]
    targets = dict(own_seeds())
    targets["content"] = list(own_content_seeds())
    targets["datagram"] += datagram_seeds()
    targets["handshake"] += handshake_seeds()
    targets["content"] += content_seeds()
    targets["dissector"] = targets["handshake"]  # the same format
    targets["track"] = targets["handshake"] + list(track_seeds()) + list(fragment_seeds())
    targets["observer"] = list(observer_seeds())
    targets["capture"] = capture_seeds()
    targets["endpoint"] = list(endpoint_seeds())
    targets["script"] = list(script_seeds())
    for target, seeds in targets.items():
        shutil.rmtree(os.path.join(folder, target), ignore_errors=True)  # removes seeds of an earlier build
        os.makedirs(os.path.join(folder, target))
        for name, content in seeds:
            with open(os.path.join(folder, target, name), "wb") as file:
                file.write(content)
        print(f"{target}: {len(seeds)} seeds")


if __name__ == "__main__":
    main()
