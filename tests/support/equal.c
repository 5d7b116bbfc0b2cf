/* SPDX-License-Identifier: MIT */
#include "tests/support/equal.h"

#define SAME(member) (a->member == b->member)
#define SAME_BYTES(member) (memcmp(a->member, b->member, sizeof a->member) == 0)
#define SAME_VIEW(member) ue_view_equal(a->member, b->member)
#define SAME_TEXT(member) (SAME(member.wide) && SAME_VIEW(member.units))

bool prefix_equal(const struct ue_prefix *a, const struct ue_prefix *b) {
    return SAME_VIEW(wrapper) && SAME(magic) && SAME(session_id) && SAME(client_id) && SAME(is_handshake);
}

bool handshake_equal(const struct ue_handshake *a, const struct ue_handshake *b) {
    return SAME(type) && SAME(restart) && SAME(min_version) && SAME(version) && SAME(sent_count) &&
           SAME(network_version) && SAME(features) && SAME(has_body) && SAME(secret_id) && SAME(timestamp) &&
           SAME_BYTES(cookie) && SAME(has_orig_cookie) && SAME_BYTES(orig_cookie) && SAME(has_diagnostics) &&
           SAME_BYTES(diagnostics) && SAME_VIEW(random);
}

static bool component_equal(const struct ue_handler_bits *a, const struct ue_handler_bits *b) {
    return SAME(encrypted) && SAME(compressed) && SAME(dtls_handshake) && SAME_BYTES(iv) && SAME_BYTES(tag) &&
           SAME(decompressed_bytes) && SAME(reliability_ack) && SAME(reliability_id);
}

bool handlers_equal(const struct ue_context *x, const struct ue_handlers *a, const struct ue_handlers *b) {
    if (!SAME(is_opaque)) {
        return false;
    }
    if (x->settings.handlers[0] == UE_HANDLER_NONE) {
        return true; /* nothing after the handlers was decoded */
    }
    for (size_t i = 0; i < UE_HANDLERS_MAX; i++) {
        if (!component_equal(&a->components[i], &b->components[i])) {
            return false;
        }
    }
    return SAME_VIEW(opaque);
}

bool packet_equal(const struct ue_packet *a, const struct ue_packet *b) {
    return SAME(seq) && SAME(ack) && SAME(history_words) && SAME(history_flush) && SAME_BYTES(history) &&
           SAME(acked_history_seq) && SAME_VIEW(extra) && SAME(has_info) && SAME(jitter_ms) && SAME(has_frame_time) &&
           SAME(frame_time_ms) && SAME(remote_kbps);
}

bool ack_equal(const struct ue_ack *a, const struct ue_ack *b) {
    return SAME(ack_id) && SAME(has_frame_time) && SAME(frame_time_ms) && SAME(remote_kbps);
}

static bool name_equal(const struct ue_name *a, const struct ue_name *b) {
    return SAME(hardcoded) && SAME(index) && SAME_TEXT(text) && SAME(number);
}

bool bunch_equal(const struct ue_bunch *a, const struct ue_bunch *b) {
    return SAME(control) && SAME(open) && SAME(close) && SAME(dormant) && SAME(paused) && SAME(reliable) &&
           SAME(has_exports) && SAME(has_mapped) && SAME(partial) && SAME(partial_initial) &&
           SAME(partial_exports_final) && SAME(partial_final) && SAME(has_name) && SAME(legacy_bit) &&
           SAME(close_reason) && SAME(ch_type) && SAME(channel) && SAME(ch_seq) && name_equal(&a->name, &b->name) &&
           SAME_VIEW(data);
}

static bool unique_id_equal(const struct ue_unique_id *a, const struct ue_unique_id *b) {
    return SAME(flags) && SAME(services) && SAME(size) && SAME_TEXT(type) && SAME_TEXT(text) && SAME_VIEW(bytes);
}

bool message_equal(const struct ue_message *a, const struct ue_message *b) {
    if (!SAME(type) || !SAME(param_count) || !unique_id_equal(&a->unique_id, &b->unique_id)) {
        return false;
    }
    for (size_t i = 0; i < a->param_count; i++) {
        if (!SAME(params[i].number) || !SAME_TEXT(params[i].text)) {
            return false;
        }
    }
    return true;
}

bool fault_equal(const struct ue_fault *a, const struct ue_fault *b) {
    return SAME(status) && SAME(field) && SAME(bit);
}

bool decode_result_equal(const struct ue_decode_result *a, const struct ue_decode_result *b) {
    return fault_equal(&a->fault, &b->fault) && SAME(canonical) && SAME(is_handshake) && SAME(is_opaque) &&
           SAME(closed_by) && SAME(is_opened) && SAME(seq) && SAME(ack) && SAME(acked_history_seq) &&
           SAME(has_frame_time) && SAME(item_count) && SAME(payload_end_bit);
}

static bool item_equal(const struct ue_item *a, const struct ue_item *b) {
    return SAME(is_ack) && (a->is_ack ? ack_equal(&a->ack, &b->ack) : bunch_equal(&a->bunch, &b->bunch));
}

bool datagram_equal(const struct ue_context *x, const struct ue_datagram *a, const struct ue_datagram *b) {
    if (!prefix_equal(&a->prefix, &b->prefix) || !SAME(item_count)) {
        return false;
    }
    if (a->prefix.is_handshake) {
        return handshake_equal(&a->handshake, &b->handshake);
    }
    if (!handlers_equal(x, &a->handlers, &b->handlers)) {
        return false;
    }
    if (a->handlers.is_opaque) {
        return true;
    }
    bool same = x->settings.internal_ack || packet_equal(&a->packet, &b->packet);
    for (size_t i = 0; same && i < a->item_count; i++) {
        same = item_equal(&a->items[i], &b->items[i]);
    }
    return same;
}
