/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/fields.h"

#include <epan/packet.h>
#include <epan/tap.h>

int uerudp_proto = -1;
int uerudp_ett_datagram = -1;
int uerudp_hf_analysis = -1;
int uerudp_ett_analysis = -1;
int uerudp_hf_reassembled = -1;
int uerudp_ett_reassembled = -1;
int uerudp_hf_group[UE_GROUP_COUNT] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
int uerudp_ett_group[UE_GROUP_COUNT] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
struct uerudp_experts uerudp_experts;

int uerudp_hf[UE_FIELD_COUNT] = {
#define UE_FIELD(id, name, label, kind, values, description) -1,
#include <uerudp/fields.def>
#undef UE_FIELD
};

/* enums.def as value strings: values_DIRECTION and so on. */
#define UE_ENUM_BEGIN(table) static const value_string values_##table[] = {
#define UE_VALUE(number, name) {number, name},
#define UE_ENUM_END(table)                                                                                             \
    {                                                                                                                  \
        0, NULL                                                                                                        \
    }                                                                                                                  \
    }                                                                                                                  \
    ;
#include <uerudp/enums.def>
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

static ei_register_info expert_rows[] = {
    {&uerudp_experts.malformed,
     {"uerudp.expert.malformed", PI_MALFORMED, PI_ERROR, "The datagram does not decode to its last bit", EXPFILL}},
    {&uerudp_experts.unsettled,
     {"uerudp.expert.unsettled", PI_UNDECODED, PI_NOTE,
      "The datagram does not decode with the generation and bounds detected so far; a second pass uses the final ones",
      EXPFILL}},
    {&uerudp_experts.size_limited,
     {"uerudp.expert.size_limited", PI_UNDECODED, PI_NOTE, "The datagram was cut by the snap length of the capture",
      EXPFILL}},
    {&uerudp_experts.not_canonical,
     {"uerudp.expert.not_canonical", PI_PROTOCOL, PI_WARN, "The datagram has an encoding that the engine never sends",
      EXPFILL}},
    {&uerudp_experts.message,
     {"uerudp.expert.message", PI_UNDECODED, PI_WARN, "The control message does not decode", EXPFILL}},
    {&uerudp_experts.content,
     {"uerudp.expert.content", PI_UNDECODED, PI_NOTE,
      "The content of the message does not decode in the engine's format", EXPFILL}},
    {&uerudp_experts.no_key,
     {"uerudp.expert.no_key", PI_DECRYPTION, PI_NOTE, "The packet is encrypted and no key is set for its connection",
      EXPFILL}},
    {&uerudp_experts.wrong_key,
     {"uerudp.expert.wrong_key", PI_DECRYPTION, PI_WARN,
      "The packet is encrypted and no key for its connection decrypts it", EXPFILL}},
    {&uerudp_experts.compressed,
     {"uerudp.expert.compressed", PI_DECRYPTION, PI_NOTE,
      "The packet is compressed by Oodle and needs the game's dictionary", EXPFILL}},
    {&uerudp_experts.dtls,
     {"uerudp.expert.dtls", PI_DECRYPTION, PI_NOTE,
      "The packet is encrypted by DTLS, which the plugin does not decrypt", EXPFILL}},
    {&uerudp_experts.generation,
     {"uerudp.expert.generation", PI_PROTOCOL, PI_CHAT, "The generation of this connection was detected or set",
      EXPFILL}},
    {&uerudp_experts.no_generation,
     {"uerudp.expert.no_generation", PI_PROTOCOL, PI_WARN,
      "No generation fits this connection: the fields shown may be wrong", EXPFILL}},
    {&uerudp_experts.unfinished,
     {"uerudp.expert.unfinished", PI_REASSEMBLE, PI_WARN, "The fragment never becomes part of a complete message",
      EXPFILL}},
    {&uerudp_experts.large_message,
     {"uerudp.expert.large_message", PI_REASSEMBLE, PI_NOTE, "The message is larger than a receiver accepts by default",
      EXPFILL}},
    {&uerudp_experts.ack_lost,
     {"uerudp.expert.ack_lost", PI_SEQUENCE, PI_NOTE, "The sender regards a packet as lost because its acks were lost",
      EXPFILL}},
    {&uerudp_experts.items,
     {"uerudp.expert.items", PI_UNDECODED, PI_NOTE,
      "The datagram has more tree items than the preference max_items allows", EXPFILL}},
};

/* ---- whether expert items are wanted ---- */

static int expert_tap;
static int expert_proto;

/* The "expert" tap exists only after all dissectors are registered. */
static void find_expert_tap(void) {
    expert_tap = find_tap_id("expert");
    expert_proto = proto_get_id_by_filter_name("_ws.expert");
}

bool uerudp_fields_expert_is_collected(void) {
    return have_tap_listener(expert_tap);
}

bool uerudp_fields_expert_is_wanted(proto_tree *tree, const expert_field *expert) {
    return proto_field_is_referenced(tree, expert_proto) ||
           (expert != NULL && proto_field_is_referenced(tree, expert->hf));
}

/* ---- analysis ---- */

#define FINDING_COUNT (UE_F_ANALYSIS_BUFFER_HIGH - UE_F_ANALYSIS_LOST + 1)
#define AT(field) [UE_F_ANALYSIS_##field - UE_F_ANALYSIS_LOST]

static expert_field findings[FINDING_COUNT];

static const int severities[FINDING_COUNT] = {
    AT(LOST) = PI_WARN,           AT(OUT_OF_ORDER) = PI_WARN,
    AT(DUPLICATE) = PI_NOTE,      AT(NAK) = PI_NOTE,
    AT(RETRANSMISSION) = PI_NOTE, AT(SPURIOUS_RETRANSMISSION) = PI_NOTE,
    AT(ACK_OF_UNSEEN) = PI_WARN,  AT(PARTIAL_ERROR) = PI_ERROR,
    AT(RELIABLE_GAP) = PI_NOTE,   AT(RELIABLE_JUMP) = PI_ERROR,
    AT(BUFFER_HIGH) = PI_WARN,
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

expert_field *uerudp_fields_finding_expert(enum ue_field field) {
    return &findings[field - UE_F_ANALYSIS_LOST];
}

static void register_findings(expert_module_t *module) {
    static ei_register_info rows[FINDING_COUNT];
    for (int i = 0; i < FINDING_COUNT; i++) {
        const header_field_info *row = &field_rows[UE_F_ANALYSIS_LOST + i].hfinfo;
        findings[i] = (expert_field)EI_INIT;
        rows[i] = (ei_register_info){&findings[i], {row->abbrev, PI_SEQUENCE, severities[i], row->blurb, EXPFILL}};
    }
    expert_register_field_array(module, rows, FINDING_COUNT);
}

/* ---- registration ---- */

/* A field of kind FINDING is registered as an expert item. Row 0 is UE_F_NONE. */
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

void uerudp_fields_register(void) {
    static int *subtrees[UE_GROUP_COUNT + 3] = {&uerudp_ett_datagram, &uerudp_ett_analysis, &uerudp_ett_reassembled};
    for (int i = 0; i < UE_GROUP_COUNT; i++) {
        subtrees[i + 3] = &uerudp_ett_group[i];
    }
    uerudp_proto = proto_register_protocol(UERUDP_PROTOCOL_NAME, "UERUDP", "uerudp");
    register_fields();
    proto_register_field_array(uerudp_proto, group_rows, G_N_ELEMENTS(group_rows));
    proto_register_subtree_array(subtrees, G_N_ELEMENTS(subtrees));
    expert_module_t *experts = expert_register_protocol(uerudp_proto);
    for (size_t i = 0; i < G_N_ELEMENTS(expert_rows); i++) {
        *expert_rows[i].ids = (expert_field)EI_INIT;
    }
    expert_register_field_array(experts, expert_rows, G_N_ELEMENTS(expert_rows));
    register_findings(experts);
    register_init_routine(find_expert_tap);
}
