/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/expert_items.h"

#include <epan/packet.h>
#include <epan/tap.h>

#include "plugin/fields.h"

struct uerudp_experts uerudp_experts;

#define EXPERT(id, group, severity, text)                                                                              \
    {                                                                                                                  \
        &uerudp_experts.id, {                                                                                          \
            "uerudp.expert." #id, group, severity, text, EXPFILL                                                       \
        }                                                                                                              \
    }

static ei_register_info expert_rows[] = {
    EXPERT(malformed, PI_MALFORMED, PI_ERROR, "The datagram does not decode to its last bit"),
    EXPERT(unsettled, PI_UNDECODED, PI_NOTE,
           "The datagram does not decode with the generation and bounds detected so far; a second pass uses the final "
           "ones"),
    EXPERT(size_limited, PI_UNDECODED, PI_NOTE, "The datagram was cut by the snap length of the capture"),
    EXPERT(not_canonical, PI_PROTOCOL, PI_WARN, "The datagram has an encoding that the engine never sends"),
    EXPERT(message, PI_UNDECODED, PI_WARN, "The control message does not decode"),
    EXPERT(content, PI_UNDECODED, PI_NOTE, "The content of the message does not decode in the engine's format"),
    EXPERT(no_key, PI_DECRYPTION, PI_NOTE, "The packet is encrypted and no key is set for its connection"),
    EXPERT(wrong_key, PI_DECRYPTION, PI_WARN, "The packet is encrypted and no key for its connection decrypts it"),
    EXPERT(compressed, PI_DECRYPTION, PI_NOTE, "The packet is compressed by Oodle and needs the game's dictionary"),
    EXPERT(dtls, PI_DECRYPTION, PI_NOTE, "The packet is encrypted by DTLS, which the plugin does not decrypt"),
    EXPERT(unreadable, PI_UNDECODED, PI_WARN, "The packet is not decoded, because its format is not known"),
    EXPERT(generation, PI_PROTOCOL, PI_CHAT, "The generation of this connection was detected or set"),
    EXPERT(no_generation, PI_PROTOCOL, PI_WARN, "No generation fits this connection: the fields shown may be wrong"),
    EXPERT(unfinished, PI_REASSEMBLE, PI_WARN, "The fragment never becomes part of a complete message"),
    EXPERT(large_message, PI_REASSEMBLE, PI_NOTE, "The message is larger than a receiver accepts by default"),
    EXPERT(ack_lost, PI_SEQUENCE, PI_NOTE, "The sender regards a packet as lost because its acks were lost"),
    EXPERT(items, PI_UNDECODED, PI_NOTE, "The datagram has more tree items than the preference max_items allows"),
};

/* ---- whether expert items are wanted ---- */

static int expert_tap;
static int expert_proto;

/* The "expert" tap exists only after all dissectors are registered. */
static void find_expert_tap(void) {
    expert_tap = find_tap_id("expert");
    expert_proto = proto_get_id_by_filter_name("_ws.expert");
}

bool uerudp_expert_items_are_collected(void) {
    return have_tap_listener(expert_tap);
}

bool uerudp_expert_items_are_wanted(proto_tree *tree, const expert_field *expert) {
    return proto_field_is_referenced(tree, expert_proto) ||
           (expert != NULL && proto_field_is_referenced(tree, expert->hf));
}

/* ---- findings, and the events that findings are about ---- */

#define EVENT_COUNT (UE_F_ANALYSIS_ACK_OF_UNSENT - UE_F_ANALYSIS_LOST + 1)

static expert_field findings[UE_FINDING_COUNT];
static expert_field events[EVENT_COUNT];

static int severity_of(enum ue_finding_id id) {
    static const int severities[] = {
        [UE_SEVERITY_ERROR] = PI_ERROR, [UE_SEVERITY_WARNING] = PI_WARN, [UE_SEVERITY_NOTE] = PI_NOTE};
    return severities[ue_finding_rows[id].severity];
}

/* An event of one packet is as bad as the mildest finding about such events; without one it is worth knowing. */
static int severity_of_event(enum ue_field field) {
    int mildest = 0;
    for (int id = 0; id < UE_FINDING_COUNT; id++) {
        if (ue_finding_rows[id].field == field && (mildest == 0 || severity_of(id) < mildest)) {
            mildest = severity_of(id);
        }
    }
    return mildest != 0 ? mildest : PI_NOTE;
}

expert_field *uerudp_expert_items_of_event(enum ue_field field) {
    return &events[field - UE_F_ANALYSIS_LOST];
}

expert_field *uerudp_expert_items_of_finding(enum ue_finding_id id) {
    return &findings[id];
}

static void register_events(expert_module_t *module) {
    static ei_register_info rows[EVENT_COUNT];
    for (int i = 0; i < EVENT_COUNT; i++) {
        const enum ue_field field = (enum ue_field)(UE_F_ANALYSIS_LOST + i);
        const header_field_info *row = uerudp_fields_row(field);
        events[i] = (expert_field)EI_INIT;
        rows[i] =
            (ei_register_info){&events[i], {row->abbrev, PI_SEQUENCE, severity_of_event(field), row->blurb, EXPFILL}};
    }
    expert_register_field_array(module, rows, EVENT_COUNT);
}

/* Cases of one kind have one filter. */
static void register_findings(expert_module_t *module) {
    static ei_register_info rows[UE_FINDING_COUNT];
    for (int id = 0; id < UE_FINDING_COUNT; id++) {
        const char *name = ue_finding_rows[id].name;
        findings[id] = (expert_field)EI_INIT;
        rows[id] = (ei_register_info){&findings[id],
                                      {wmem_strdup_printf(wmem_epan_scope(), "uerudp.finding.%s", name), PI_SEQUENCE,
                                       severity_of(id), ue_finding_title((enum ue_finding_id)id), EXPFILL}};
    }
    expert_register_field_array(module, rows, UE_FINDING_COUNT);
}

/* Items of single datagrams that findings count. */
static void set_severities(void) {
    static const struct {
        const expert_field *ids;
        enum ue_finding_id finding;
    } counted[] = {{&uerudp_experts.malformed, UE_FINDING_MALFORMED},
                   {&uerudp_experts.size_limited, UE_FINDING_CUT},
                   {&uerudp_experts.message, UE_FINDING_MESSAGE}};
    for (size_t i = 0; i < G_N_ELEMENTS(expert_rows); i++) {
        for (size_t j = 0; j < G_N_ELEMENTS(counted); j++) {
            if (expert_rows[i].ids == counted[j].ids) {
                expert_rows[i].eiinfo.severity = severity_of(counted[j].finding);
            }
        }
    }
}

void uerudp_expert_items_register(void) {
    expert_module_t *module = expert_register_protocol(uerudp_proto);
    for (size_t i = 0; i < G_N_ELEMENTS(expert_rows); i++) {
        *expert_rows[i].ids = (expert_field)EI_INIT;
    }
    set_severities();
    expert_register_field_array(module, expert_rows, G_N_ELEMENTS(expert_rows));
    register_events(module);
    register_findings(module);
    register_init_routine(find_expert_tap);
}
