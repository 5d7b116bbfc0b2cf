/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/packet-uerudp.h"

#include "plugin/compat.h"

#include <epan/conversation.h>
#include <epan/packet.h>
#include <epan/tap.h>

#include "plugin/fields.h"
#include "plugin/first_pass/analysis_results.h"
#include "plugin/first_pass/conversation.h"
#include "plugin/first_pass/file_allocator.h"
#include "plugin/first_pass/observe.h"
#include "plugin/first_pass/reassembly_results.h"
#include "plugin/prefs.h"
#include "plugin/taps/export_objects.h"
#include "plugin/taps/export_pdu.h"
#include "plugin/taps/listeners.h"
#include "plugin/taps/tap.h"
#include "plugin/taps/tap_data.h"
#include "plugin/tree/datagram_tree.h"
#include "plugin/tree/subdissectors.h"

#define DEFAULT_PORT "7777"

static dissector_handle_t handle;
static dissector_table_t udp_ports;

bool ue_packet_port_is_ours(uint32_t port) {
    return dissector_get_uint_handle(udp_ports, port) == handle;
}

static struct ue_bytes bytes_of(tvbuff_t *tvb) {
    unsigned captured = tvb_captured_length(tvb);
    return (struct ue_bytes){
        .base = captured != 0 ? tvb_get_ptr(tvb, 0, (int)captured) : NULL,
        .size = captured,
        .is_cut = captured < tvb_reported_length(tvb),
    };
}

static void show(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const struct ue_visit *visit,
                 const struct ue_bytes *bytes) {
    bool wants_items = proto_field_is_referenced(tree, ue_proto) || ue_fields_expert_is_wanted(tree, NULL);
    bool wants_line = col_get_writable(pinfo->cinfo, COL_INFO);
    col_set_str(pinfo->cinfo, COL_PROTOCOL, "UERUDP");
    ue_report_datagram(tvb, pinfo, visit, bytes);
    if (!wants_items && !wants_line && !ue_handoff_is_wanted() && !ue_fields_expert_is_collected()) {
        return;
    }
    struct ue_handoffs *handoffs = ue_handoff_is_wanted() ? ue_handoffs_new(pinfo, tree) : NULL;
    ue_tree_show(tvb, pinfo, wants_items ? tree : NULL, visit, bytes, handoffs);
    ue_handoffs_run(handoffs);
}

/* On a later pass nothing may wait any more. */
static const struct ue_visit *find_visit(const packet_info *pinfo) {
    if (pinfo->fd->visited) {
        ue_observe_rest();
    }
    return ue_conversation_again(pinfo);
}

/* By port, Decode As, or because the conversation is ours. */
static int dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_) {
    const struct ue_bytes bytes = bytes_of(tvb);
    if (bytes.size == 0 || pinfo->flags.in_error_pkt) {
        return 0;
    }
    const struct ue_visit *visit = find_visit(pinfo);
    if (visit == NULL && !pinfo->fd->visited) {
        visit = ue_conversation_observe(pinfo, &bytes, true);
    }
    if (visit == NULL || ue_visit_is_foreign(visit, &bytes)) {
        return 0;
    }
    show(tvb, pinfo, tree, visit, &bytes);
    return (int)tvb_reported_length(tvb);
}

static void claim(packet_info *pinfo) {
    conversation_t *conversation = find_or_create_conversation(pinfo);
    conversation_set_dissector_from_frame_number(conversation, pinfo->num, handle);
}

static bool is_server_of_table(const packet_info *pinfo) {
    const struct ue_preset *ignored;
    return ue_prefs_server(pinfo, &ignored) != UE_END_NONE;
}

/* What nearly every packet of others comes to; so it is asked before anything that takes longer. */
static bool is_refused_at_sight(tvbuff_t *tvb, const packet_info *pinfo) {
    return !pinfo->fd->visited && ue_detect_is_too_long(&ue_prefs_common()->settings, tvb_reported_length(tvb)) &&
           !ue_conversation_any_waits() && !is_server_of_table(pinfo);
}

/* On any other port: only a connection whose handshake proves it, or a server of the table. */
static ue_callback_bool dissect_heuristic(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_) {
    if (is_refused_at_sight(tvb, pinfo)) {
        return false;
    }
    const struct ue_bytes bytes = bytes_of(tvb);
    if (bytes.size == 0 || pinfo->flags.in_error_pkt) {
        return false;
    }
    const struct ue_visit *visit = find_visit(pinfo);
    if (!pinfo->fd->visited) {
        if (visit != NULL) {
            return false; /* refused just now, when it came by its port */
        }
        visit = ue_conversation_observe(pinfo, &bytes, is_server_of_table(pinfo));
    }
    if (visit == NULL || !visit->connection->is_proven || ue_visit_is_foreign(visit, &bytes)) {
        return false;
    }
    if (!pinfo->fd->visited) {
        claim(pinfo);
    }
    show(tvb, pinfo, tree, visit, &bytes);
    return true;
}

static void register_listeners(void) {
    ue_tap_register();
    ue_export_register(ue_proto);
    ue_pdu_register(ue_proto);
    ue_table_register(ue_proto);
    ue_stats_register();
    ue_srt_register(ue_proto);
    ue_follow_register(ue_proto);
}

void ue_packet_register(void) {
    ue_fields_register();
    ue_prefs_register(ue_proto);
    ue_conversation_register();
    ue_file_memory_register();
    ue_visit_register();
    register_listeners();
    ue_notes_register();
    ue_chains_register();
    ue_observe_register();
    ue_knowledge_register();
    ue_handoff_register(ue_proto);
    handle = register_dissector("uerudp", dissect, ue_proto);
}

void ue_packet_handoff(void) {
    udp_ports = find_dissector_table("udp.port");
    dissector_add_uint_range_with_preference("udp.port", DEFAULT_PORT, handle);
    heur_dissector_add("udp", dissect_heuristic, "Unreal Engine over UDP", "uerudp_udp", ue_proto, HEURISTIC_ENABLE);
}
