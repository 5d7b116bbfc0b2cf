/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/fields.h"

#include <epan/packet.h>

int uerudp_proto = -1;
int uerudp_ett_datagram = -1;
int uerudp_hf_analysis = -1;
int uerudp_ett_analysis = -1;
int uerudp_hf_reassembled = -1;
int uerudp_ett_reassembled = -1;
int uerudp_hf_group[UE_GROUP_COUNT] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
int uerudp_ett_group[UE_GROUP_COUNT] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

int uerudp_hf[UE_FIELD_COUNT] = {
#define UE_FIELD(id, name, label, kind, values, description) -1,
#include <uerudp/fields.def>
#undef UE_FIELD
};

/* field_value_names.def as value strings: values_DIRECTION and so on. */
#define UE_ENUM_BEGIN(table) static const value_string values_##table[] = {
#define UE_VALUE(number, name) {number, name},
#define UE_ENUM_END(table)                                                                                             \
    {                                                                                                                  \
        0, NULL                                                                                                        \
    }                                                                                                                  \
    }                                                                                                                  \
    ;
#include <uerudp/field_value_names.def>
#undef UE_ENUM_BEGIN
#undef UE_VALUE
#undef UE_ENUM_END
#define values_NONE NULL

/* Field type and display base of each kind in fields.def. */
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
#define FIELD_FRAME FT_FRAMENUM, BASE_NONE
#define FIELD_SPAN FT_RELATIVE_TIME, BASE_NONE
#define FIELD_FLAG FT_NONE, BASE_NONE
#define FIELD_FINDING FT_NONE, BASE_NONE

/* The second level expands FIELD_... to its two arguments first. */
#define ROW(...) ROW_EXPANDED(__VA_ARGS__)
#define ROW_EXPANDED(id, name, label, type, base, strings, description)                                                \
    {                                                                                                                  \
        &uerudp_hf[UE_F_##id], {                                                                                       \
            label, "uerudp." name, type, base, strings, 0, description, HFILL                                          \
        }                                                                                                              \
    }

static hf_register_info field_rows[] = {
#define UE_FIELD(id, name, label, kind, values, description)                                                           \
    ROW(id, name, label, FIELD_##kind, (const void *)values_##values, description),
#include <uerudp/fields.def>
#undef UE_FIELD
};

#define GROUP(group, name, label, description)                                                                         \
    {                                                                                                                  \
        &uerudp_hf_group[UE_GROUP_##group], {                                                                          \
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
    GROUP(OPENED, "opened", "Decrypted content", "The packet after decryption"),
    GROUP(EXPORTS, "exports", "Exports", "Names of net GUIDs or of fields (ReceiveNetGUIDBunch)"),
    GROUP(EXPORT, "export", "Object", "One net GUID with the name of its object (InternalLoadObject)"),
    GROUP(FIELD_EXPORT, "field_export", "Field export", "One field of a class (FNetFieldExport)"),
    GROUP(MAPPED, "mapped", "Must be mapped",
          "Net GUIDs that a receiver must have loaded before it reads the message (MustBeMappedGUIDs)"),
    GROUP(ACTOR, "actor", "Actor", "Spawn data at the start of an actor channel (SerializeNewActor)"),
    GROUP(BLOCK, "block", "Content block",
          "Replicated content of the actor or of one of its sub-objects (ReadContentBlockHeader)"),
    GROUP(PROPERTY, "property", "Property", "One property of a replay"),
    GROUP(FIELD, "field", "Field", "One remote procedure call or property (ReadFieldHeaderAndPayload)"),
    GROUP(VOICE, "voice", "Voice packet", "Voice data of one speaker (FVoicePacket)"),
    {&uerudp_hf_analysis,
     {"Analysis", "uerudp.analysis", FT_NONE, BASE_NONE, NULL, 0,
      "What other packets of the connection show about this datagram", HFILL}},
    {&uerudp_hf_reassembled,
     {"Reassembled message", "uerudp.reassembled", FT_NONE, BASE_NONE, NULL, 0,
      "A message reassembled from its fragments", HFILL}},
};

/* Symbols that the packet list draws beside a linked frame. */
static const struct {
    enum ue_field field;
    ft_framenum_type_t type;
} links[] = {
    {UE_F_ANALYSIS_ACKS_FRAME, FT_FRAMENUM_ACK},
    {UE_F_ANALYSIS_NACKS_FRAME, FT_FRAMENUM_DUP_ACK},
    {UE_F_ANALYSIS_RETRANSMISSION_OF, FT_FRAMENUM_RETRANS_PREV},
    {UE_F_ANALYSIS_RETRANSMITTED_IN, FT_FRAMENUM_RETRANS_NEXT},
};

/* A field of kind FINDING is registered as an expert item (expert_items.c). Row 0 is UE_F_NONE. */
static void register_fields(void) {
    for (size_t i = 0; i < G_N_ELEMENTS(links); i++) {
        field_rows[links[i].field].hfinfo.strings = FRAMENUM_TYPE(links[i].type);
    }
    for (size_t i = 1; i < UE_FIELD_COUNT; i++) {
        if (ue_field_row((enum ue_field)i)->kind != UE_KIND_FINDING) {
            proto_register_field_array(uerudp_proto, &field_rows[i], 1);
        }
    }
}

const header_field_info *uerudp_fields_row(enum ue_field field) {
    return &field_rows[field].hfinfo;
}

void uerudp_fields_register(void) {
    static int *subtrees[UE_GROUP_COUNT + 3] = {&uerudp_ett_datagram, &uerudp_ett_analysis, &uerudp_ett_reassembled};
    for (int i = 0; i < UE_GROUP_COUNT; i++) {
        subtrees[i + 3] = &uerudp_ett_group[i];
    }
    uerudp_proto = proto_register_protocol(UERUDP_PROTOCOL_NAME, "UERUDP", "uerudp");
    register_fields();
    proto_register_field_array(uerudp_proto, group_rows, G_N_ELEMENTS(group_rows));
    proto_register_subtree_array(subtrees, G_N_ELEMENTS(subtrees));
}
