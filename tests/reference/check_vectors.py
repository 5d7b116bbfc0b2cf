#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check docs/protocol.md: the decoder written from it must agree with other decoders of the same bytes.

usage: check_vectors.py

Reads the vectors and recordings of tests/support/python/recordings.py. names.json maps the keys met there to documented field keys:
section "vectors" for keys below "decode", section "captures" for *.expected.json, section "replays" for
replay-*.json. A path is made of the keys on the way, with [] for a list; the path of a control message starts anew at
its name. A value "not a field: …" is computed from positions instead, "not checked: …" covers all keys below its
path, "setting: …" is a setting of the decoder. Errors are a path without a name, an unused name, and a field that was
read but not expected.
"""
import hashlib
import hmac
import json
import os
import re
import sys

import recordings
import uerudp_reference as reference
from captures import check_capture, check_replay
from compare import NOT_A_FIELD, NOT_CHECKED, Comparison
from uerudp_bits import BitReader, Record, highest_bit, read_new_vector, read_old_vector
from uerudp_messages import decode_messages
from uerudp_reference import PROFILES, Settings

FOLDER = os.path.dirname(os.path.abspath(__file__))
EXPLANATIONS = (NOT_A_FIELD, NOT_CHECKED, "setting: ")


def load(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return json.load(file)


def decode(data, settings):
    packet = reference.decode_datagram(data, settings)
    packet.bytes = len(data)
    return packet


# Names of generations in the vectors

CONTROL_GENERATIONS = {"G1": "4.18", "G2": "4.20", "G4": "5.5"}


def profile_of_version(version):
    """The profile of the releases with an EngineNetVer; some vectors have prose for it."""
    versions = [(0, "4.14"), (2, "4.18"), (5, "4.20"), (8, "4.22"), (14, "4.25"), (28, "5.1"), (35, "5.4"), (36, "5.5")]
    if not isinstance(version, int):
        version = 17
    return max((first, name) for first, name in versions if first <= version)[1]


def bunch_settings(params, direction="S2C"):
    generation = params["generation"]
    name = CONTROL_GENERATIONS.get(generation) or profile_of_version(params["engine_netver"])
    internal_ack = params.get("internal_ack", False)
    profile = PROFILES[name]
    if internal_ack:
        profile = reference.replay_profile(params["engine_netver"])
    return Settings(profile, direction=direction, internal_ack=internal_ack, max_packet=params["max_packet_bytes"],
                    ch_seq_bound=params.get("max_chsequence", 1024), terminators=params.get("terminators", 2))


# One function for each file, which compares one entry

def check_handshake(check, where, entry):
    data, params = bytes.fromhex(entry["hex"]), entry["params"]
    layout = params["layout"].split()[0].rstrip(",")
    ids, features = params["layout"].endswith("with session/client ids"), params["features_field"]
    found = reference.recognise_handshake(data, params["magic_bits"])
    expected = ("restart" if "RestartHandshake" == entry["decode"].get("type") else layout, ids, features)
    check.check(f"{where} recognised", list(expected), list(found or ()))
    profile = reference.replace(PROFILES["5.4"], handshake=layout, ids=ids, features=features)
    settings = Settings(profile, direction=entry["direction"], magic_bits=params["magic_bits"])
    packet = decode(data, settings)
    if packet["handshake.type"] == 5:  # the connection keeps its sequences
        for side, key in enumerate(("handshake.server_seq", "handshake.client_seq")):
            packet[key] = reference.first_sequence(packet["handshake.cookie"], side)
    check.compare(where, "", entry["decode"], packet, packet)


def check_cookie(check, where, entry):
    secret, message = bytes.fromhex(entry["secret_hex"]), bytes.fromhex(entry["hmac_input_hex"])
    cookie = hmac.new(secret, message, hashlib.sha1).digest()
    check.check(f"{where} cookie", entry["cookie_hex"], cookie)
    if "server_sequence" in entry:
        check.check(f"{where} server", entry["server_sequence"], reference.first_sequence(cookie, 0))
        check.check(f"{where} client", entry["client_sequence"], reference.first_sequence(cookie, 1))
        read = BitReader(message)
        read.real(32 if entry["layout"].startswith("float") else 64)
        read.string()
        check.check(f"{where} input", 0, read.left())


def check_modern(check, where, entry):
    params = entry["params"]
    name = "5.8" if params["acked_history_seq_field"] else "5.4" if params["prefix_bits"] == 6 else "4.25"
    name = name if params["packet_info"].startswith("EngineNetVer>=14") else "4.22"
    packet = decode(bytes.fromhex(entry["hex"]), Settings(
        PROFILES[name], direction=entry["direction"], magic_bits=params["magic_bits"],
        ch_seq_bound=params["max_chsequence"], max_packet=params["max_packet_bytes"], terminators=params["terminators"]))
    check.compare(where, "", entry["decode"], packet, packet)


def check_legacy(check, where, entry):
    params = entry["params"]
    packet = decode(bytes.fromhex(entry["hex"]), Settings(
        PROFILES["4.20" if params["chindex"] == "SerializeIntPacked" else "4.18"], direction=entry["direction"],
        ch_seq_bound=params["max_chsequence"], max_packet=params["max_packet_bytes"]))
    check.compare(where, "", entry["decode"], packet, packet)


HANDLERS = {"Oodle": "oodle", "AESGCM": "aesgcm", "AES": "aes-ecb", "Reliability": "reliability"}


def check_handlers(check, where, entry):
    """The plaintext is read from the vector: this decoder has no ciphers."""
    expected = entry["decode"]
    chain = [HANDLERS[name] for name in reversed(entry["component_chain"]) if name != "StatelessConnect"]
    if "byteform" in entry["name"]:
        chain = ["aesgcm-bytes" if name == "aesgcm" else name for name in chain]
    plaintext = expected.get("handler_fields", {}).get("plaintext", "")
    packet = decode(bytes.fromhex(entry["hex"]), Settings(
        PROFILES["4.25"], direction=entry.get("direction", "C2S"), magic_bits=entry["params"].get("magic_bits", 0),
        handlers=tuple(chain), decrypt=lambda record: bytes.fromhex(plaintext)))
    if "bHandshakePacket" not in expected:
        check.check(f"{where} is_handshake", 0, packet.pop("is_handshake"))
    check.compare(where, "", expected, packet, packet)


def check_control(check, where, entry):
    settings = bunch_settings(entry["params"], entry["direction"])
    if "MagicHeader_4bits" in entry["decode"]:
        settings = reference.replace(settings, magic_bits=4, handlers=("aesgcm", "oodle"))
    packet = decode(bytes.fromhex(entry["hex"]), settings)
    check.compare(where, "", entry["decode"], packet, packet)


def check_messages(check, where, entry):
    record = Record(BitReader(bytes.fromhex(entry["hex"]), 0, entry["bits"]))
    version = entry["engine_netver"]
    name = "4.18" if entry["name"] == "login-4.19" else profile_of_version(version)
    record.messages = decode_messages(record.reader, PROFILES[name])
    check.messages(where, entry["decode"], record, record)
    check.check(f"{where} bits_left", entry["bits_left"], record.reader.left())


def bunches_of(data, bits, settings):
    packet = Record(BitReader(data, 0, bits))
    reference.decode_bunches(packet, settings)
    return packet


def check_partial(check, where, entry):
    settings = bunch_settings(entry["params"], entry["direction"])
    if "headers" not in entry:
        packet = bunches_of(bytes.fromhex(entry["hex"]), entry["bits"], settings)
        check.compare(where, "", entry["decode"], packet, packet)
    for n, header in enumerate(entry.get("headers", [])):
        bunch = Record(BitReader(bytes.fromhex(header["header_hex"]), 0, header["header_bits"]))
        reference.decode_bunch_header(bunch, settings)
        bunch.at["bunch.data"] = bunch.reader.position
        check.compare(f"{where} headers[{n}]", "bunches[]", header["decode"], bunch, bunch)


def check_bunches(check, where, entry):
    packet = decode(bytes.fromhex(entry["hex"]), bunch_settings(entry["params"]))
    check.compare(where, "", entry["decode"], packet, packet)


def check_bunch(check, where, entry):
    packet = bunches_of(bytes.fromhex(entry["hex"]), entry["bits"], bunch_settings(entry["params"]))
    check.check(f"{where} bunches", 1, len(packet.bunches))
    check.compare(where, "bunches[]", entry["decode"], packet.bunches[0], packet)


def check_network_version(check, where, entry):
    value = reference.network_version(entry["text"])
    check.check(f"{where} text", entry["lower_case_text"], entry["text"].lower())
    check.check(f"{where} number", entry["crc32_of_utf32le_lower_case_text"], value)
    check.check(f"{where} hex", entry["hex"], value)


# Primitives

def read_name(read, version):
    record = Record(read)
    reference.decode_name(record, version)
    if record["bunch.name_hardcoded"]:
        return ["E", record["bunch.name_index"]]
    return [record["bunch.name_text"], record["bunch.name_number"]]


def read_terms(read, terms):
    """Terms such as "3 bits value 5", "SerializeIntPacked 300", "u32 …", "bit 0", "float -1.0"."""
    forms = {"3": lambda: read.uint(3), "SerializeIntPacked": read.packed, "bit": lambda: read.uint(1),
             "u32": lambda: read.uint(32), "float": lambda: read.real(32), "double": lambda: read.real(64)}
    return [forms[term.split()[0]]() for term in terms]


def stripped(data, times):
    end = 8 * len(data)
    for _ in range(times):
        end = highest_bit(data, end)
    return end


PRIMITIVES = {
    "bits": lambda read, args: [read.uint(1) for _ in args],
    "bit-fields": lambda read, args: [read.uint(width) for width, _ in args],
    "SerializeInt": lambda read, args: read.bounded(args["max"]),
    "WriteIntWrapped": lambda read, args: read.bounded(args["max"]),
    "SerializeIntPacked": lambda read, args: read.packed(),
    "SerializeIntPacked64": lambda read, args: str(read.packed(10)),
    "sequence": read_terms,
    "u16": lambda read, args: read.uint(16),
    "u64": lambda read, args: hex(read.uint(64)),
    "double": lambda read, args: read.real(64),
    "float": lambda read, args: read.real(32),
    "FString": lambda read, args: read.string(),
    "FName static, EngineNetVer>=6": lambda read, args: read_name(read, 6),
    "FName static, EngineNetVer<6": lambda read, args: read_name(read, 5),
    "FName static, any version": lambda read, args: read_name(read, 6),
}


def check_primitive(check, where, entry):
    operation, data = entry["op"], bytes.fromhex(entry["hex"])
    read = BitReader(data)
    if "decode" in entry:
        check_found_primitive(check, where, entry, read)
        return
    bits = entry["bits"]
    check.check(f"{where} string", entry["bit_string_wire_order"], "".join(str(read.uint(1)) for _ in range(bits)))
    read = BitReader(data, 0, bits)
    if operation.startswith("terminator"):
        payload = entry["args"].get("payload_bits") or [int(c) for c in f"{0xAB:08b}"[::-1]]
        end = stripped(data, 2 if "twice" in operation else 1)
        check.check(f"{where} payload", payload, [read.uint(1) for _ in range(end)])
    elif operation.startswith("packed vector"):
        values = dict(zip(("component_bits", "extra", "raw", "value"), read_new_vector(read, entry["args"]["scale"])))
        for key, value in entry["reads_back"].items():
            check.check(f"{where} {key}", value, values[key])
    else:
        value = PRIMITIVES[operation](read, entry["args"])
        check.check(where, entry.get("reads_back", entry["args"]), value)
    if not operation.startswith("terminator"):
        check.check(f"{where} bits", bits, read.position)


def check_found_primitive(check, where, entry, read):
    """Bytes from another project's tests."""
    record = Record(read)
    if entry["op"].startswith("packed vector"):
        values = dict(zip(("component_bits_minus_2", "raw", "value"), read_old_vector(read, *entry["args"].values())))
    else:
        reference.decode_name(record, 6)
        values = {"hardcoded": record["bunch.name_hardcoded"], "index": record["bunch.name_index"]}
    values["bits_used"] = read.position
    for key, value in entry["decode"].items():
        check.check(f"{where} {key}", value, values[key])


VECTORS = {
    "bits.json": check_primitive, "handshake.json": check_handshake, "packet-modern.json": check_modern,
    "packet-legacy.json": check_legacy, "packet-handlers.json": check_handlers, "bunch-control.json": check_control,
    "bunch-control-synthetic.json": check_messages, "bunch-partial.json": check_partial,
    "bunch-replay.json": check_bunches, "bunch-synthetic.json": check_bunch,
    "network-version.json": check_network_version,
}


def check_entries(check):
    count = 0
    for name, function in VECTORS.items():
        cases = [(function, entry) for entry in recordings.vectors(name)]
        cases += [(check_cookie, entry) for entry in recordings.vectors(name, "cookie_examples")]
        for n, (check_entry, entry) in enumerate(cases):
            check_entry(check, f"{name}[{n}] {entry.get('name', entry.get('op', ''))}", entry)
        count += len(cases)
    return count


def check_captures(check):
    paths = recordings.paths()
    for path in paths:
        check_capture(check, str(path), load(path.with_suffix(".expected.json")))
    return len(paths)


def check_replays(check):
    paths = sorted(recordings.SHARED.glob("realdata/replay-*.json"))
    for path in paths:
        check_replay(check, path.name, load(path))
    return len(paths)


def unused(check, section):
    """Names that neither vectors nor recordings use."""
    if not recordings.has_shared():
        return []
    return [f"names.json: {section} {path} is not used" for path in sorted(set(check.names) - check.used)]


def unknown(names, section):
    """Names that are neither a field of the catalogue nor one of the explanations."""
    with open(os.path.join(FOLDER, "..", "..", "libcodec/include/uerudp/fields.def"), encoding="utf-8") as file:
        fields = set(re.findall(r'^UE_FIELD\(\w+, "([^"]+)"', file.read(), re.MULTILINE))
    return [f"names.json: {section} {path}: {name} is not a field" for path, name in names.items()
            if name not in fields and not name.startswith(EXPLANATIONS)]


SECTIONS = (
    ("vectors", check_entries, ()),
    ("captures", check_captures, ("legacy.is_ack", "bunch.name_hardcoded")),
    ("replays", check_replays, ("bunch.name_hardcoded", "bunch.data")),
)


def main():
    names = load(FOLDER, "names.json")
    faults = []
    for section, run, unstated in SECTIONS:
        check = Comparison(names[section], unstated)
        count = run(check)
        if count == 0:
            recordings.skipped(f"reference: {section}")
        wrong = check.faults + unused(check, section) + unknown(names[section], section)
        print(f"{count} {section}, {check.values} values compared, {len(wrong)} wrong")
        faults += wrong
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
