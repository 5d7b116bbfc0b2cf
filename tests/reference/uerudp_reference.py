# SPDX-License-Identifier: MIT
"""Decoder of Unreal Engine's reliable UDP, written from docs/protocol.md alone; numbers in brackets are its sections.

It serves to check the document and is not fast. Every structure becomes a Record: field values under their documented
keys, and the bit at which each field began.
"""
import zlib
from dataclasses import dataclass, replace

from uerudp_bits import BitReader, Fault, Record, highest_bit, outer_terminator
from uerudp_messages import decode_messages


@dataclass(frozen=True)
class Profile:
    """One row of the table of profiles [3]."""
    handshake: str = "versioned"    # A, B, C or versioned
    ids: bool = True                # session and client id
    features: bool = True           # features field in the handshake
    packet: str = "jitter"          # legacy, or the kind of packet info: rate, jitter
    acked_history: bool = False
    is_ack: bool = False
    channel_packed: bool = True
    named: bool = True              # channel name instead of type
    reasoned: bool = True           # close reason instead of dormant bit
    paused: bool = True
    exports_final: bool = False
    encryption_token: bool = True   # in Hello; likewise the platform in Login
    runtime_features: bool = True   # in Hello and Upgrade
    unique_id_flags: bool = True
    max_packet: int = 1024


_4_20 = Profile(handshake="A", ids=False, features=False, packet="legacy", is_ack=True, named=False, reasoned=False,
                runtime_features=False)
_4_19 = replace(_4_20, channel_packed=False, unique_id_flags=False)
_4_18 = replace(_4_19, max_packet=512)
_4_14 = replace(_4_18, encryption_token=False)
_4_22 = replace(_4_20, handshake="B", packet="rate", is_ack=False, named=True, reasoned=True)
_5_1 = Profile(features=False)
_5_5 = Profile(exports_final=True)
PROFILES = {
    "4.13": replace(_4_14, paused=False), "4.14": _4_14, "4.18": _4_18, "4.19": _4_19, "4.20": _4_20, "4.22": _4_22,
    "4.24": _4_22, "4.25": replace(_4_22, handshake="C", packet="jitter"), "5.1": _5_1, "5.4": Profile(), "5.5": _5_5,
    "5.8": replace(_5_5, acked_history=True),
}


def replay_profile(network_version):
    """Bunch header of a replay file, by EngineNetVer [9, 14]."""
    return Profile(is_ack=network_version < 8, channel_packed=network_version >= 3, named=network_version >= 6,
                   reasoned=network_version >= 7, exports_final=network_version >= 36, max_packet=2048)


@dataclass(frozen=True)
class Settings:
    """Settings that are not on the wire [18]."""
    profile: Profile
    direction: str = "S2C"
    magic_bits: int = 0
    skip_bytes: int = 0
    max_packet: int = 0
    ch_seq_bound: int = 1024
    extra_bits: int = 0
    terminators: int = 2
    handlers: tuple = ()
    internal_ack: bool = False
    decrypt: object = None  # function of the record: the plaintext

    def packet_bytes(self):
        return self.max_packet or self.profile.max_packet


# Datagram [1, 4]

def decode_datagram(data, settings):
    end = outer_terminator(data)
    record = Record(BitReader(data, 0, end))
    if settings.internal_ack:
        record.terminators = [end]
        decode_bunches(record, settings)
        return record
    decode_prefix(record, settings)
    if record["is_handshake"]:
        record.terminators = [end]
        decode_handshake(record, settings)
    elif unwrap(record, settings):
        inner = highest_bit(record.reader.data, record.reader.end) if settings.terminators == 2 else end
        record.terminators = [inner, end] if settings.terminators == 2 else [end]
        record.reader.end = inner
        decode_packet(record, settings)
    return record


def decode_prefix(record, settings):
    read = record.reader
    if settings.skip_bytes:
        record.read_field("wrapper", read.blob, 8 * settings.skip_bytes)
    if settings.magic_bits:
        record.read_field("magic", read.uint, settings.magic_bits)
    if settings.profile.ids:
        record.read_field("session_id", read.uint, 2)
        record.read_field("client_id", read.uint, 3)
    record.read_field("is_handshake", read.uint, 1)


# Handshake [5]

HANDSHAKE_TYPES = dict(enumerate(
    ["Initial", "Challenge", "Response", "Ack", "RestartHandshake", "RestartResponse", "VersionUpgrade"]))


def decode_handshake(record, settings):
    if settings.profile.handshake == "versioned":
        decode_versioned(record, settings.profile)
    else:
        decode_unversioned(record, settings)
    record.end = record.reader.position
    if record["handshake.type"] in (1, 2, 3):
        record["handshake.server_seq"] = first_sequence(record["handshake.cookie"], 0)
        record["handshake.client_seq"] = first_sequence(record["handshake.cookie"], 1)


def first_sequence(cookie, side):
    """The first packet sequence of the server, side 0, or of the client, side 1 [5.7]."""
    return int.from_bytes(cookie[2 * side:2 * side + 2], "little") & 16383


def decode_cookie(record, timestamp_bits):
    read = record.reader
    record.read_field("handshake.secret_id", read.uint, 1)
    record.read_field("handshake.timestamp", read.real, timestamp_bits)
    record.read_field("handshake.cookie", read.blob, 160)


def decode_unversioned(record, settings):
    read, layout = record.reader, settings.profile.handshake
    restart = layout != "A" and record.read_field("handshake.restart", read.uint, 1)
    if read.left() or layout == "A":
        decode_cookie(record, 64 if layout == "C" else 32)
    if layout != "A" and read.left() >= 160:
        record.read_field("handshake.orig_cookie", read.blob, 160)
    if layout == "C" and read.left() >= 96:
        record.read_field("handshake.diagnostics", read.blob, 96)
    if read.left():
        raise Fault(f"{read.left()} bits after the handshake message")
    record["handshake.type"] = derived_type(record, settings.direction, restart)


def derived_type(record, direction, restart):
    """The type of a message without type field [5.6]."""
    timestamp = record.get("handshake.timestamp")
    original = "handshake.orig_cookie" in record
    if direction == "C2S" and timestamp is not None:
        if timestamp == 0 and not original:
            return 0
        if timestamp > 0 and bool(restart) == original:
            return 5 if restart else 2
    elif direction == "S2C" and not original:
        if restart and timestamp is None:
            return 4
        if not restart and timestamp:
            return 1 if timestamp > 0 else 3
    raise Fault("restart bit, timestamp and direction contradict each other")


def decode_versioned(record, profile):
    read = record.reader
    restart = record.read_field("handshake.restart", read.uint, 1)
    record.read_field("handshake.min_version", read.uint, 8)
    version = record.read_field("handshake.version", read.uint, 8)
    kind = record.read_field("handshake.type", read.uint, 8)
    if kind > 6:
        raise Fault(f"handshake type {kind}")
    record.read_field("handshake.sent_count", read.uint, 8)
    if version >= 2:
        record.read_field("handshake.network_version", read.uint, 32)
        if profile.features:
            record.read_field("handshake.features", read.uint, 16)
    if kind in (0, 1, 2, 3, 5) and not (restart and read.left() <= 128):
        decode_cookie(record, 64)
        if kind == 5:
            record.read_field("handshake.orig_cookie", read.blob, 160)
    record.read_field("handshake.random", read.blob, read.left() // 8 * 8)


# Recognising a handshake message [5.5, 17]

def recognise_handshake(data, magic_bits):
    """(layout, ids, features) of a handshake message of an unknown flow, or None for a packet."""
    end = outer_terminator(data)
    bits = end - magic_bits
    if bit_at(data, magic_bits, end):
        restarting = {2: "restart", 355: "B", 387: "C", 483: "C"} if bit_at(data, magic_bits + 1, end) else {}
        layout = {194: "A", 195: "B", 227: "C", **restarting}.get(bits)
        if layout:
            return layout, False, False
    if bit_at(data, magic_bits + 5, end) and bits % 8 in (0, 7):
        features = versioned_features(data, magic_bits + 6, end, range(3, 16))
        if features is not None:
            return "versioned", True, features
    if bit_at(data, magic_bits, end) and bits % 8 in (2, 3):
        features = versioned_features(data, magic_bits + 1, end, range(1, 3))
        if features is not None:
            return "versioned", False, features
    return None


def bit_at(data, position, end):
    return position < end and BitReader(data, position).uint(1)


def versioned_features(data, position, end, versions):
    """Whether a message that may be versioned has the features field; None if neither layout fits."""
    if end - position < 33:
        return None
    read = BitReader(data, position, end)
    read.uint(1)
    lowest, version, kind = read.uint(8), read.uint(8), read.uint(8)
    if version not in versions or lowest > version or kind > 6:
        return None
    body = position + 33 + (32 if version >= 2 else 0)
    ways = (False, True) if version >= 2 else (False,)
    fits = [way for way in ways if plausible(data, body + 16 * way, end, kind)]
    if len(fits) == 2:
        return undecided_features(data, body, end, version, kind)
    return fits[0] if fits else None


def plausible(data, position, end, kind):
    """Whether the random tail fits after the fixed part, whose content is possible."""
    fixed = {4: 0, 6: 0, 5: 385}.get(kind, 225)
    if not 64 <= end - position - fixed <= 128:
        return False
    read = BitReader(data, position, end)
    if kind == 0:
        return read.uint(225) == 0
    if kind in (4, 6):
        return True
    read.uint(1)
    timestamp = read.real(64)
    return timestamp == -1 if kind == 3 else 1e-6 < timestamp < 1e8


def undecided_features(data, body, end, version, kind):
    if kind == 0 and BitReader(data, body, end).uint(end - body):
        return True
    return version >= 4


# Packet handlers [13]

def unwrap(record, settings):
    """Decode the handlers. Returns false if the rest is opaque."""
    for name in settings.handlers:
        if not HANDLERS[name](record, record.reader, settings):
            return False
    record.start = record.reader.position
    return True


def unwrap_oodle(record, read, settings):
    if not record.read_field("handler.compressed", read.uint, 1):
        return True
    record.read_field("handler.decompressed_bytes", lambda: read.bounded(settings.packet_bytes()) + 1)
    bits = read.left()
    record.read_field("handler.compressed_data", read.blob, bits)
    return False


def unwrap_aesgcm(record, read, settings):
    if not record.read_field("handler.encrypted", read.uint, 1):
        return True
    decode_encrypted(record, read)
    return decrypt(record, settings, outer_terminator)


def unwrap_aesgcm_bytes(record, read, settings):
    if BitReader(read.data, read.position, read.end).uint(8) == 0:
        record.read_field("handler.plain", read.uint, 8)
        return True
    decode_encrypted(record, read)
    return decrypt(record, settings, lambda plaintext: 8 * len(plaintext))


def decode_encrypted(record, read):
    record.read_field("handler.iv", read.blob, 96)
    record.read_field("handler.tag", read.blob, 128)
    decode_ciphertext(record, read)


def decode_ciphertext(record, read):
    record.read_field("handler.ciphertext", read.blob, read.left() // 8 * 8)


def unwrap_aes_ecb(record, read, settings):
    if not record.read_field("handler.encrypted", read.uint, 1):
        return True
    decode_ciphertext(record, read)
    return decrypt(record, settings, lambda plaintext: highest_bit(plaintext, 8 * len(plaintext)))


def unwrap_dtls(record, read, settings):
    if not record.read_field("handler.encrypted", read.uint, 1):
        return True
    record.read_field("handler.dtls_handshake", read.uint, 1)
    decode_ciphertext(record, read)
    return decrypt(record, settings, outer_terminator)


def unwrap_reliability(record, read, settings):
    record.read_field("handler.reliability_ack", read.packed)
    record.read_field("handler.reliability_id", read.packed)
    return True


def decrypt(record, settings, end_of):
    """Continue in the plaintext, whose end depends on the form."""
    record.left_over_bits = record.reader.left()
    if settings.decrypt is None:
        return False
    plaintext = settings.decrypt(record)
    record.reader = BitReader(plaintext, 0, end_of(plaintext))
    record.plaintext_end = record.reader.end
    return True


HANDLERS = {"oodle": unwrap_oodle, "aesgcm": unwrap_aesgcm, "aesgcm-bytes": unwrap_aesgcm_bytes,
            "aes-ecb": unwrap_aes_ecb, "dtls": unwrap_dtls, "reliability": unwrap_reliability}


# Packet [6, 7, 8]

def decode_packet(record, settings):
    if settings.profile.packet == "legacy":
        record.read_field("packet.seq", record.reader.bounded, 16384)
    else:
        decode_packet_header(record, settings)
        decode_packet_info(record, settings)
    decode_bunches(record, settings)


def decode_packet_header(record, settings):
    read = record.reader
    nibble = record.read_field("packet.history_words", read.uint, 4)
    words = record["packet.history_words"] = min(nibble + 1, 8)
    record.read_field("packet.ack", read.uint, 14)
    record.read_field("packet.seq", read.uint, 14)
    record.read_field("packet.history", lambda: [read.uint(32) for _ in range(words)])
    if settings.profile.acked_history:
        if nibble == 15:
            record["packet.history_flush"] = 1
        record.read_field("packet.acked_history_seq", read.uint, 16)
    if settings.extra_bits:
        record.read_field("packet.extra", read.blob, settings.extra_bits)


def decode_packet_info(record, settings):
    read = record.reader
    if settings.profile.packet == "jitter":
        if not record.read_field("packet.has_info", read.uint, 1):
            return
        record.read_field("packet.jitter_ms", read.bounded, 1024)
    if record.read_field("packet.has_frame_time", read.uint, 1) and settings.direction == "S2C":
        record.read_field("packet.frame_time_ms", read.uint, 8)
    if settings.profile.packet == "rate":
        record.read_field("packet.remote_kbps", read.uint, 8)


def delivered(record):
    """Sequences that the history reports as delivered, newest first."""
    words, ack = record["packet.history"], record["packet.ack"]
    return [(ack - k) % 16384 for k in range(32 * len(words)) if words[k // 32] >> k % 32 & 1]


def decode_bunches(record, settings):
    """Bunches, or items of a legacy packet, to the end."""
    while record.reader.left():
        item = Record(record.reader)
        record.bunches.append(item)
        if settings.profile.is_ack and item.read_field("legacy.is_ack", item.reader.uint, 1):
            decode_ack(item, settings)
        else:
            decode_bunch(item, settings)
        item.end = item.reader.position


def decode_ack(item, settings):
    read = item.reader
    item.read_field("legacy.ack_id", read.bounded, 16384)
    if item.read_field("legacy.has_frame_time", read.uint, 1) and settings.direction == "S2C":
        item.read_field("legacy.frame_time_ms", read.uint, 8)
    item.read_field("legacy.remote_kbps", read.packed)


# Bunch [9, 10, 11]

CHANNEL_TYPES = {0: "None", 1: "Control", 2: "Actor", 3: "File", 4: "Voice"}
CHANNEL_NAMES = {0: "None", 255: "Control", 102: "Actor", 256: "Voice", 295: "DataStream"}
CLOSE_REASONS = {0: "Destroyed", 1: "Dormancy", 2: "LevelUnloaded", 3: "Relevancy", 4: "TearOff", 5: "Migrated"}


def decode_bunch(bunch, settings):
    decode_bunch_header(bunch, settings)
    read = bunch.reader
    start = read.position
    bunch.read_field("bunch.data", read.blob, bunch["bunch.data_bits"])
    if has_messages(bunch) and not settings.internal_ack:
        bunch.messages = decode_messages(BitReader(read.data, start, read.position), settings.profile)


def has_messages(bunch):
    flags = ("bunch.partial", "bunch.has_exports", "bunch.has_mapped")
    return bunch["bunch.channel"] == 0 and not any(bunch[flag] for flag in flags)


def decode_bunch_header(bunch, settings):
    read, profile = bunch.reader, settings.profile
    close = 0
    if bunch.read_field("bunch.control", read.uint, 1):
        bunch.read_field("bunch.open", read.uint, 1)
        close = bunch.read_field("bunch.close", read.uint, 1)
    if close and profile.reasoned:
        bunch.read_field("bunch.close_reason", read.bounded, 15)
    elif close:
        bunch.read_field("bunch.dormant", read.uint, 1)
    if profile.paused:
        bunch.read_field("bunch.paused", read.uint, 1)
    bunch.read_field("bunch.reliable", read.uint, 1)
    if profile.channel_packed:
        bunch.read_field("bunch.channel", read.packed)
    else:
        bunch.read_field("bunch.channel", read.bounded, 10240)
    bunch.read_field("bunch.has_exports", read.uint, 1)
    bunch.read_field("bunch.has_mapped", read.uint, 1)
    bunch.read_field("bunch.partial", read.uint, 1)
    if bunch["bunch.reliable"] and not settings.internal_ack:
        bunch.read_field("bunch.ch_seq", read.bounded, settings.ch_seq_bound)
    if bunch["bunch.partial"]:
        bunch.read_field("bunch.partial_initial", read.uint, 1)
        if profile.exports_final:
            bunch.read_field("bunch.partial_exports_final", read.uint, 1)
        bunch.read_field("bunch.partial_final", read.uint, 1)
    if bunch["bunch.reliable"] or bunch.get("bunch.open"):
        decode_channel_name(bunch, profile)
    bunch.read_field("bunch.data_bits", read.bounded, 8 * settings.packet_bytes())


def assembled_bits(fragments):
    """Length of the message that a chain of fragments carries: those with exports add nothing."""
    return sum(bunch["bunch.data_bits"] for bunch in fragments if not bunch["bunch.has_exports"])


def decode_channel_name(bunch, profile):
    read = bunch.reader
    if not profile.named:
        kind = bunch.read_field("bunch.ch_type", read.bounded, 8)
        bunch["bunch.channel_name"] = CHANNEL_TYPES.get(kind)
        return
    decode_name(bunch, network_version=6)
    bunch["bunch.channel_name"] = bunch.get("bunch.name_text") or CHANNEL_NAMES.get(bunch.get("bunch.name_index"))


def decode_name(record, network_version):
    """A name [2.6], whose hard-coded form changed with EngineNetVer 6."""
    read = record.reader
    if not record.read_field("bunch.name_hardcoded", read.uint, 1):
        record.read_field("bunch.name_text", read.string)
        record.read_field("bunch.name_number", read.sint, 32)
    elif network_version >= 6:
        record.read_field("bunch.name_index", read.packed)
    else:
        record.read_field("bunch.name_index", read.bounded, 411)


# Network version [16]

def network_version(text):
    return zlib.crc32(text.lower().encode("utf-32-le"))
