# SPDX-License-Identifier: MIT
"""Messages of the control channel, written from section 12 of docs/protocol.md."""
from uerudp_bits import BitReader, Fault, Record

MESSAGES = {
    0: ("Hello", "hello", "little_endian u8, network_version u32, encryption_token string, features u16"),
    1: ("Welcome", "welcome", "map string, game string, redirect_url string"),
    2: ("Upgrade", "upgrade", "network_version u32, features u16"),
    3: ("Challenge", "challenge", "text string"),
    4: ("Netspeed", "netspeed", "rate i32"),
    5: ("Login", "login", "response string, url string, unique_id, platform string"),
    6: ("Failure", "failure", "text string"),
    9: ("Join", "join", ""),
    10: ("JoinSplit", "join_split", "url string, unique_id"),
    12: ("Skip", "skip", "guid guid"),
    13: ("Abort", "abort", "guid guid"),
    15: ("PCSwap", "pc_swap", "child_index i32"),
    16: ("ActorChannelFailure", "actor_channel_failure", "channel i32"),
    17: ("DebugText", "debug_text", "text string"),
    18: ("NetGUIDAssign", "net_guid_assign", "guid id, path string"),
    19: ("SecurityViolation", "security_violation", "text string"),
    20: ("GameSpecific", "game_specific", "byte u8, text string"),
    21: ("EncryptionAck", "encryption_ack", ""),
    22: ("DestructionInfo", "destruction_info", "close_reason u8, guid id"),
    23: ("CloseReason", "close_reason", "text string"),
    24: ("NetPing", "net_ping", "type u8, text string"),
    25: ("BeaconWelcome", "beacon_welcome", ""),
    26: ("BeaconJoin", "beacon_join", "type string, unique_id"),
    27: ("BeaconAssignGUID", "beacon_assign_guid", "guid id"),
    28: ("BeaconNetGUIDAck", "beacon_net_guid_ack", "type string"),
    29: ("IrisProtocolMismatch", "iris_protocol_mismatch", "id u64"),
    30: ("IrisNetRefHandleError", "iris_net_ref_handle_error", "error u32, handle u64, handles u64s"),
    31: ("JoinNoPawn", "join_no_pawn", ""),
    32: ("JoinNoPawnSplit", "join_no_pawn_split", "url string, unique_id"),
    34: ("CloseChildConnection", "close_child_connection", "index i32"),
    35: ("IrisNetRefHandleErrorWithDiagnosticMessage", "iris_net_ref_handle_error_text",
         "error u32, handle u64, handles u64s, text string"),
    36: ("IrisProtocolMismatchWithCDOState", "iris_protocol_mismatch_state", "id u64, state u8s"),
}
MESSAGE_NAMES = {number: name for number, (name, _, _) in MESSAGES.items()}


def decode_messages(read, profile):
    messages = []
    while read.left():
        message = Record(read)
        messages.append(message)
        try:
            decode_message(message, profile)
        except Fault:
            read.position = message.start
            message.clear()
            message.read_field("control.opaque", read.blob, read.left())
    return messages


def decode_message(message, profile):
    read = message.reader
    number = message.read_field("control.type", read.uint, 8)
    if number not in MESSAGES:
        raise Fault(f"control message {number}")
    _, key, parameters = MESSAGES[number]
    for parameter in filter(None, parameters.split(", ")):
        if not read.left():
            return
        if parameter == "unique_id":
            decode_unique_id(message, profile)
        elif has_parameter(parameter, read, profile):
            name, form = parameter.split()
            message.read_field(f"control.{key}.{name}", FORMS[form], read)


def has_parameter(parameter, read, profile):
    if parameter.startswith(("encryption_token", "platform")):
        return profile.encryption_token
    if parameter.startswith("features"):
        return profile.runtime_features and read.left() == 16
    return True


def read_array(read, element_bytes):
    count = read.sint(32)
    if count < 0 or 8 * element_bytes * count > read.left():
        raise Fault(f"array of {count} elements at bit {read.position}")
    return read.blob(8 * element_bytes * count)


FORMS = {
    "u8": lambda read: read.uint(8), "u16": lambda read: read.uint(16), "u32": lambda read: read.uint(32),
    "u64": lambda read: read.uint(64), "i32": lambda read: read.sint(32), "string": BitReader.string,
    "guid": lambda read: read.blob(128), "id": lambda read: read.packed(10),
    "u8s": lambda read: read_array(read, 1), "u64s": lambda read: read_array(read, 8),
    "bytes": lambda read: read.blob(8 * read.uint(8)),
}


def decode_unique_id(message, profile):
    """A replicated unique id [12.1]."""
    read = message.reader
    if not profile.unique_id_flags:
        if message.read_field("control.unique_id.size", read.sint, 32) > 0:
            message.read_field("control.unique_id.text", read.string)
        return
    flags = message.read_field("control.unique_id.flags", read.uint, 8)
    encoded, type_hash = flags & 1, flags >> 3
    if flags & 3 == 3:
        return
    if encoded and type_hash == 30:
        message.read_field("control.unique_id.services", FORMS["u8"], read)
        message.read_field("control.unique_id.bytes", FORMS["u8s"], read)
        return
    if type_hash == 31:
        message.read_field("control.unique_id.type", read.string)
    if encoded:
        message.read_field("control.unique_id.bytes", FORMS["bytes"], read)
    else:
        message.read_field("control.unique_id.text", read.string)
