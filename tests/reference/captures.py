# SPDX-License-Identifier: MIT
"""Recordings and replay packets, each with the result of another decoder."""
import re
import struct

from uerudp_reference import PROFILES, Settings, decode_datagram, replace, replay_profile

SERVER_PORT = 7777


def read_pcap(path):
    """(direction, payload) of each datagram of a classic pcap file: Ethernet, IPv4, UDP."""
    with open(path, "rb") as file:
        data = file.read()
    if struct.unpack_from("<I", data)[0] != 0xA1B2C3D4:
        raise ValueError(f"{path}: not a little-endian pcap file")
    at = 24
    while at < len(data):
        captured = struct.unpack_from("<I", data, at + 8)[0]
        frame = data[at + 16:at + 16 + captured]
        udp = 14 + (frame[14] & 15) * 4
        source, _, length = struct.unpack_from(">HHH", frame, udp)
        yield "S2C" if source == SERVER_PORT else "C2S", frame[udp + 8:udp + length]
        at += 16 + captured


def capture_profile(meta):
    if "format" in meta:
        return PROFILES["4.18"]
    if not meta["session"]:
        return PROFILES["4.25"]
    return replace(PROFILES["5.4" if meta.get("netfeat") else "5.1"], exports_final=meta["cef"])


def capture_settings(meta):
    return Settings(capture_profile(meta), magic_bits=meta["magic_bits"], max_packet=meta["maxpacket"],
                    ch_seq_bound=meta.get("max_chsequence", 1024), extra_bits=meta.get("after_hist_bits", 0))


def check_capture(check, path, expected):
    check.settings(path, "meta", expected["meta"])
    settings = capture_settings(expected["meta"]["profile"])
    frames = expected["frames"]
    datagrams = list(read_pcap(path))
    check.check(f"{path} datagrams", len(frames), len(datagrams))
    for n, (frame, (direction, data)) in enumerate(zip(frames, datagrams), 1):
        packet = decode_datagram(data, replace(settings, direction=direction))
        packet.frame, packet.bytes = n, len(data)
        packet["direction"] = direction
        check.compare(f"{path} frame {n}", "frames[]", frame, packet, packet)


def check_replay(check, where, expected):
    check.settings(where, "meta", expected["meta"])
    version = int(re.search(r"EngineNetworkVersion (\d+)", expected["meta"]["engine"])[1])
    settings = Settings(replay_profile(version), internal_ack=True)
    for n, entry in enumerate(expected["packets"]):
        packet = decode_datagram(bytes.fromhex(entry["hex"]), settings)
        check.compare(f"{where}[{n}]", "packets[]", entry, packet, packet)
