/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/fields.h"

int ue_proto = -1;
int ue_ett_datagram = -1;
int ue_hf_group[UE_GROUP_COUNT] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
int ue_ett_group[UE_GROUP_COUNT] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
struct ue_experts ue_experts = {EI_INIT, EI_INIT, EI_INIT, EI_INIT, EI_INIT, EI_INIT};

int ue_hf[UE_FIELD_COUNT] = {
#define UE_FIELD(id, name, label, kind, values, description) -1,
#include "libcodec/fields.def"
#undef UE_FIELD
};

/* The value tables of enums.def as Wireshark wants them: values_DIRECTION and so on. */
#define UE_ENUM_BEGIN(table) static const value_string values_##table[] = {
#define UE_VALUE(number, name) {number, name},
#define UE_ENUM_END(table)                                                                                             \
    { 0, NULL }                                                                                                        \
    }                                                                                                                  \
    ;
#include "libcodec/enums.def"
#undef UE_ENUM_BEGIN
#undef UE_VALUE
#undef UE_ENUM_END
#define values_NONE NULL

/* Type and base of each catalogue kind. */
#define FIELD_BOOL FT_BOOLEAN, BASE_NONE
#define FIELD_U8 FT_UINT8, BASE_DEC
#define FIELD_U16 FT_UINT16, BASE_DEC
#define FIELD_U32 FT_UINT32, BASE_DEC
#define FIELD_U64 FT_UINT64, BASE_DEC
#define FIELD_X32 FT_UINT32, BASE_HEX
#define FIELD_I32 FT_INT32, BASE_DEC
#define FIELD_BYTES FT_BYTES, BASE_NONE
#define FIELD_TEXT FT_STRING, BASE_NONE
#define FIELD_REAL FT_DOUBLE, BASE_NONE
#define FIELD_STRING FT_STRING, BASE_NONE

/* The second level lets FIELD_... expand to its two arguments first. */
#define ROW(...) ROW_EXPANDED(__VA_ARGS__)
#define ROW_EXPANDED(id, name, label, type, base, strings, description)                                                \
    {                                                                                                                  \
        &ue_hf[UE_F_##id], {                                                                                           \
            label, "uerudp." name, type, base, strings, 0, description, HFILL                                          \
        }                                                                                                              \
    }

static hf_register_info field_rows[] = {
#define UE_FIELD(id, name, label, kind, values, description)                                                           \
    ROW(id, name, label, FIELD_##kind, (const void *)values_##values, description),
#include "libcodec/fields.def"
#undef UE_FIELD
};

#define GROUP(group, name, label, description)                                                                         \
    {                                                                                                                  \
        &ue_hf_group[UE_GROUP_##group], {                                                                              \
            label, "uerudp." name, FT_NONE, BASE_NONE, NULL, 0, description, HFILL                                     \
        }                                                                                                              \
    }

static hf_register_info group_rows[] = {
    GROUP(HANDSHAKE, "handshake", "Handshake", "A handshake message (StatelessConnectHandlerComponent)"),
    GROUP(PACKET, "packet", "Packet header", "Sequence, acknowledgements and packet info (FNetPacketNotify)"),
    GROUP(ACK, "legacy", "Ack", "One acknowledgement of a packet up to 4.18"),
    GROUP(BUNCH, "bunch", "Bunch", "One bunch, header and data (FInBunch)"),
    GROUP(MESSAGE, "control", "Control message", "One message of the control channel (FNetControlMessage)"),
    GROUP(UNIQUE_ID, "control.unique_id", "Unique id", "A player's identity (FUniqueNetIdRepl)"),
    GROUP(OPENED, "opened", "Decrypted content", "What encrypted content became"),
    GROUP(EXPORTS, "exports", "Exports", "Names of objects or fields, told once (ReceiveNetGUIDBunch)"),
    GROUP(EXPORT, "export", "Object", "One object with its name (InternalLoadObject)"),
    GROUP(FIELD_EXPORT, "field_export", "Field export", "One field of a class (FNetFieldExport)"),
    GROUP(MAPPED, "mapped", "Must be mapped", "Ids that must be loadable first (MustBeMappedGUIDs)"),
    GROUP(ACTOR, "actor", "Actor", "Opening of an actor channel (SerializeNewActor)"),
    GROUP(BLOCK, "block", "Content block", "Content of the actor or of one of its objects (ReadContentBlockHeader)"),
    GROUP(PROPERTY, "property", "Property", "One property of a replay"),
    GROUP(FIELD, "field", "Field", "One remote call or property (ReadFieldHeaderAndPayload)"),
    GROUP(VOICE, "voice", "Voice packet", "What one speaker said (FVoicePacket)"),
};

static ei_register_info expert_rows[] = {
    {&ue_experts.malformed,
     {"uerudp.expert.malformed", PI_MALFORMED, PI_ERROR, "The datagram does not decode to its end", EXPFILL}},
    {&ue_experts.size_limited,
     {"uerudp.expert.size_limited", PI_UNDECODED, PI_NOTE, "The capture holds only a part of the datagram", EXPFILL}},
    {&ue_experts.not_canonical,
     {"uerudp.expert.not_canonical", PI_PROTOCOL, PI_WARN, "Not encoded as a sender of the engine does", EXPFILL}},
    {&ue_experts.message,
     {"uerudp.expert.message", PI_UNDECODED, PI_WARN, "A control message could not be decoded", EXPFILL}},
    {&ue_experts.opaque,
     {"uerudp.expert.opaque", PI_DECRYPTION, PI_NOTE, "Encrypted or compressed content is not decoded", EXPFILL}},
    {&ue_experts.generation,
     {"uerudp.expert.generation", PI_PROTOCOL, PI_CHAT, "The generation of this connection was chosen", EXPFILL}},
};

void ue_fields_register(void) {
    static int *subtrees[UE_GROUP_COUNT + 1] = {&ue_ett_datagram};
    for (int i = 0; i < UE_GROUP_COUNT; i++) {
        subtrees[i + 1] = &ue_ett_group[i];
    }
    ue_proto = proto_register_protocol("Unreal Engine Reliable UDP", "UERUDP", "uerudp");
    proto_register_field_array(ue_proto, field_rows + 1, UE_FIELD_COUNT - 1); /* the first is UE_F_NONE */
    proto_register_field_array(ue_proto, group_rows, UE_GROUP_COUNT);
    proto_register_subtree_array(subtrees, UE_GROUP_COUNT + 1);
    expert_register_field_array(expert_register_protocol(ue_proto), expert_rows, G_N_ELEMENTS(expert_rows));
}
