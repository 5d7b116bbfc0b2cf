/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/packet-uerudp.h"

#include "plugin/compat.h"

#include <epan/conversation.h>
#include <epan/packet.h>
#include <epan/tap.h>

#include "plugin/expert_items.h"
#include "plugin/fields.h"
#include "plugin/first_pass/analysis_results.h"
#include "plugin/first_pass/capture_end.h"
#include "plugin/first_pass/finding_results.h"
#include "plugin/first_pass/observer.h"
#include "plugin/first_pass/reassembly_results.h"
#include "plugin/prefs.h"
#include "plugin/taps/export_objects.h"
#include "plugin/taps/export_pdu.h"
#include "plugin/taps/listeners.h"
#include "plugin/taps/tap.h"
#include "plugin/tree/datagram_tree.h"
#include "plugin/tree/subdissectors.h"

#define DEFAULT_PORT "7777"

static dissector_handle_t handle;

static struct uerudp_captured_bytes captured_bytes(tvbuff_t *tvb) {
    unsigned captured = tvb_captured_length(tvb), reported = tvb_reported_length(tvb);
    return (struct uerudp_captured_bytes){
        .base = captured != 0 ? tvb_get_ptr(tvb, 0, (int)captured) : NULL,
        .size = captured,
        .length = MAX(captured, reported),
        .is_cut = captured < reported,
    };
}

static void show(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, const struct uerudp_frame_state *state,
                 const struct uerudp_captured_bytes *bytes) {
    bool wants_items = proto_field_is_referenced(tree, uerudp_proto) || uerudp_expert_items_are_wanted(tree, NULL);
    bool wants_line = col_get_writable(pinfo->cinfo, COL_INFO);
    col_set_str(pinfo->cinfo, COL_PROTOCOL, "UERUDP");
    uerudp_tap_queue(tvb, pinfo, state, bytes);
    if (!wants_items && !wants_line && !uerudp_subdissectors_exist() && !uerudp_expert_items_are_collected()) {
        return;
    }
    struct uerudp_subdissector_queue *subdissectors =
        uerudp_subdissectors_exist() ? uerudp_subdissector_queue_new(pinfo, tree) : NULL;
    uerudp_datagram_tree_add(tvb, pinfo, wants_items ? tree : NULL, state, bytes, subdissectors);
    uerudp_subdissector_queue_run(subdissectors);
}

static bool is_foreign(const struct uerudp_frame_state *state, const struct uerudp_captured_bytes *bytes) {
    return uerudp_frame_state_is_foreign(state, bytes->base, bytes->size, bytes->is_cut);
}

/* Datagrams that fit no generation are left to other dissectors, unless they have a magic header. Returns whether it
   showed the datagram. */
static bool show_undecoded(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree,
                           const struct uerudp_frame_state *state) {
    unsigned bits;
    uint32_t value;
    if (!ue_detection_find_magic(&state->connection->detection, &bits, &value)) {
        return false;
    }
    col_set_str(pinfo->cinfo, COL_PROTOCOL, "UERUDP");
    uerudp_datagram_tree_add_undecoded(tvb, pinfo, tree, bits, value);
    return true;
}

static const struct uerudp_frame_state *find_state(const packet_info *pinfo) {
    if (pinfo->fd->visited) {
        uerudp_observer_on_later_pass();
    }
    return uerudp_frame_state_find(pinfo);
}

/* Called by port, by Decode As, or by the conversation. */
static int dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_) {
    const struct uerudp_captured_bytes bytes = captured_bytes(tvb);
    if (bytes.size == 0 || pinfo->flags.in_error_pkt) {
        return 0;
    }
    const struct uerudp_frame_state *state = find_state(pinfo);
    if (state == NULL && !pinfo->fd->visited) {
        state = uerudp_observer_feed(pinfo, &bytes, true);
    }
    if (state == NULL) {
        return 0;
    }
    if (is_foreign(state, &bytes)) {
        return show_undecoded(tvb, pinfo, tree, state) ? (int)tvb_reported_length(tvb) : 0;
    }
    show(tvb, pinfo, tree, state, &bytes);
    return (int)tvb_reported_length(tvb);
}

static void bind_conversation(packet_info *pinfo) {
    conversation_t *conversation = find_or_create_conversation(pinfo);
    conversation_set_dissector_from_frame_number(conversation, pinfo->num, handle);
}

static bool is_server_of_table(const packet_info *pinfo) {
    const struct uerudp_prefs_wire *unused;
    return uerudp_prefs_find_server(pinfo, &unused) != UERUDP_PREFS_SERVER_NONE;
}

static bool is_handshake(tvbuff_t *tvb) {
    const struct ue_settings *settings = &uerudp_prefs_default_wire()->settings;
    unsigned length = tvb_reported_length(tvb);
    struct ue_handshake_match match;
    return !ue_profile_match_is_too_long(settings, length) && length != 0 && tvb_captured_length(tvb) == length &&
           ue_profile_match_handshake(settings, tvb_get_ptr(tvb, 0, (int)length), length, &match);
}

/* Rejects most datagrams of other protocols before any costlier check. */
static bool is_rejected_early(tvbuff_t *tvb, const packet_info *pinfo) {
    return !pinfo->fd->visited && !uerudp_observer_is_expecting(pinfo->num) && !is_server_of_table(pinfo) &&
           !is_handshake(tvb);
}

/* On other ports: accepts a connection that its handshake proves, or a server of the table. */
static uerudp_callback_bool dissect_heuristic(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_) {
    if (is_rejected_early(tvb, pinfo)) {
        return false;
    }
    const struct uerudp_captured_bytes bytes = captured_bytes(tvb);
    if (bytes.size == 0 || pinfo->flags.in_error_pkt) {
        return false;
    }
    const struct uerudp_frame_state *state = find_state(pinfo);
    if (!pinfo->fd->visited) {
        if (state != NULL) {
            return false; /* already rejected when it was dissected by port */
        }
        state = uerudp_observer_feed(pinfo, &bytes, is_server_of_table(pinfo));
    }
    if (state == NULL || !state->connection->is_proven || is_foreign(state, &bytes)) {
        return false;
    }
    if (!pinfo->fd->visited) {
        bind_conversation(pinfo);
    }
    show(tvb, pinfo, tree, state, &bytes);
    return true;
}

static void register_listeners(void) {
    uerudp_tap_register();
    uerudp_export_objects_register(uerudp_proto);
    uerudp_export_pdu_register(uerudp_proto);
    uerudp_conversation_table_register(uerudp_proto);
    uerudp_stats_tree_register();
    uerudp_bandwidth_tree_register();
    uerudp_channel_table_register();
    uerudp_talker_table_register();
    uerudp_response_time_register(uerudp_proto);
    uerudp_follow_stream_register(uerudp_proto);
}

void uerudp_packet_register(void) {
    uerudp_fields_register();
    uerudp_expert_items_register();
    uerudp_prefs_register(uerudp_proto);
    uerudp_frame_state_register();
    register_listeners();
    uerudp_analysis_results_register();
    uerudp_reassembly_results_register();
    uerudp_finding_results_register();
    uerudp_observer_register();
    uerudp_known_objects_register();
    uerudp_subdissectors_register(uerudp_proto);
    uerudp_capture_end_register(uerudp_proto);
    handle = register_dissector("uerudp", dissect, uerudp_proto);
}

void uerudp_packet_handoff(void) {
    dissector_add_uint_range_with_preference("udp.port", DEFAULT_PORT, handle);
    heur_dissector_add("udp", dissect_heuristic, "Unreal Engine over UDP", "uerudp_udp", uerudp_proto,
                       HEURISTIC_ENABLE);
}
