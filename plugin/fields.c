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

/* The value tables of enums.def as Wireshark wants them: values_DIRECTION and so on. */
#define UE_ENUM_BEGIN(table) static const value_string values_##table[] = {
#define UE_VALUE(number, name) {number, name},
#define UE_ENUM_END(table)                                                                                             \
    { 0, NULL }                                                                                                        \
    }                                                                                                                  \
    ;
#include <uerudp/enums.def>
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
#define FIELD_FRAME FT_FRAMENUM, BASE_NONE
#define FIELD_SPAN FT_RELATIVE_TIME, BASE_NONE
#define FIELD_FLAG FT_NONE, BASE_NONE
#define FIELD_FINDING FT_NONE, BASE_NONE

/* The second level lets FIELD_... expand to its two arguments first. */
#define ROW(...) ROW_EXPANDED(__VA_ARGS__)
#define ROW_EXPANDED(id, name, label, type, base, strings, description)                                                \
    {                                                                                                                  \
        &uerudp_hf[UE_F_##id], {                                                                                           \
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
        &uerudp_hf_group[UE_GROUP_##group], {                                                                              \
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
    {&uerudp_hf_analysis,
     {"Analysis", "uerudp.analysis", FT_NONE, BASE_NONE, NULL, 0, "What the course of the connection tells", HFILL}},
    {&uerudp_hf_reassembled,
     {"Reassembled message", "uerudp.reassembled", FT_NONE, BASE_NONE, NULL, 0, "A message put together from fragments",
      HFILL}},
};

static ei_register_info expert_rows[] = {
    {&uerudp_experts.malformed,
     {"uerudp.expert.malformed", PI_MALFORMED, PI_ERROR, "The datagram does not decode to its end", EXPFILL}},
    {&uerudp_experts.unsettled,
     {"uerudp.expert.unsettled", PI_UNDECODED, PI_NOTE,
      "Does not decode with the generation and bounds that fit so far; a second pass knows more", EXPFILL}},
    {&uerudp_experts.size_limited,
     {"uerudp.expert.size_limited", PI_UNDECODED, PI_NOTE, "The capture holds only a part of the datagram", EXPFILL}},
    {&uerudp_experts.not_canonical,
     {"uerudp.expert.not_canonical", PI_PROTOCOL, PI_WARN, "Not encoded as a sender of the engine does", EXPFILL}},
    {&uerudp_experts.message,
     {"uerudp.expert.message", PI_UNDECODED, PI_WARN, "A control message that does not decode", EXPFILL}},
    {&uerudp_experts.content,
     {"uerudp.expert.content", PI_UNDECODED, PI_NOTE, "What a message carries is not in the engine's form", EXPFILL}},
    {&uerudp_experts.no_key,
     {"uerudp.expert.no_key", PI_DECRYPTION, PI_NOTE, "Encrypted, and there is no key for it", EXPFILL}},
    {&uerudp_experts.wrong_key,
     {"uerudp.expert.wrong_key", PI_DECRYPTION, PI_WARN, "Encrypted, and none of its keys opens it", EXPFILL}},
    {&uerudp_experts.compressed,
     {"uerudp.expert.compressed", PI_DECRYPTION, PI_NOTE,
      "Compressed by Oodle: not readable without the game's dictionary", EXPFILL}},
    {&uerudp_experts.dtls,
     {"uerudp.expert.dtls", PI_DECRYPTION, PI_NOTE, "Encrypted by DTLS, which is not decrypted here", EXPFILL}},
    {&uerudp_experts.generation,
     {"uerudp.expert.generation", PI_PROTOCOL, PI_CHAT, "The generation of this connection was chosen", EXPFILL}},
    {&uerudp_experts.no_generation,
     {"uerudp.expert.no_generation", PI_PROTOCOL, PI_WARN, "No generation fits: what is shown may be none of it",
      EXPFILL}},
    {&uerudp_experts.unfinished,
     {"uerudp.expert.unfinished", PI_REASSEMBLE, PI_WARN, "No message comes of this fragment", EXPFILL}},
    {&uerudp_experts.large_message,
     {"uerudp.expert.large_message", PI_REASSEMBLE, PI_NOTE, "The message is larger than receivers take by themselves",
      EXPFILL}},
    {&uerudp_experts.ack_lost,
     {"uerudp.expert.ack_lost", PI_SEQUENCE, PI_NOTE, "What was reported as delivered is not to its sender", EXPFILL}},
    {&uerudp_experts.items, {"uerudp.expert.items", PI_UNDECODED, PI_NOTE, "More items than a packet may have", EXPFILL}},
};

/* ---- who looks at expert items ---- */

static int expert_tap;
static int expert_proto;

/* The tap of expert items comes to be behind all dissectors. */
static void look_for_experts(void) {
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

/* What the packet list draws beside the frame that a field leads to. */
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

/* ---- all ---- */

/* Findings are registered as expert items. The first row is UE_F_NONE. */
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
    register_init_routine(look_for_experts);
}
