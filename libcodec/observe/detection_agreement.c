/* SPDX-License-Identifier: MIT */
/* What all candidates of a result decode alike. */
#include "libcodec/observe/detection_bounds.h"
#include "libcodec/observe/detection_evidence.h"

/* A datagram as one candidate decodes it, item by item. */
struct candidate_reading {
    struct ue_context context;
    struct ue_datagram head;
    struct ue_item_range rest;
    struct ue_item item;
    struct ue_fault fault;
};

static bool same_head(const struct candidate_reading *a, const struct candidate_reading *b) {
    return a->fault.status == b->fault.status && a->rest.bit == b->rest.bit &&
           a->head.prefix.is_handshake == b->head.prefix.is_handshake &&
           a->head.handlers.is_opaque == b->head.handlers.is_opaque && a->head.packet.seq == b->head.packet.seq &&
           a->head.packet.ack == b->head.packet.ack;
}

static bool same_bunch(const struct ue_bunch *a, const struct ue_bunch *b) {
    return a->control == b->control && a->open == b->open && a->close == b->close && a->dormant == b->dormant &&
           a->paused == b->paused && a->reliable == b->reliable && a->has_exports == b->has_exports &&
           a->has_mapped == b->has_mapped && a->partial == b->partial && a->partial_initial == b->partial_initial &&
           a->partial_exports_final == b->partial_exports_final && a->partial_final == b->partial_final &&
           a->close_reason == b->close_reason && a->ch_type == b->ch_type && a->channel == b->channel &&
           a->ch_seq == b->ch_seq && a->name.hardcoded == b->name.hardcoded && a->name.index == b->name.index &&
           a->data.bit == b->data.bit && a->data.bits == b->data.bits;
}

static bool same_item(const struct candidate_reading *a, const struct candidate_reading *b) {
    return a->rest.bit == b->rest.bit && a->fault.status == b->fault.status && a->fault.field == b->fault.field &&
           a->fault.bit == b->fault.bit && a->item.is_ack == b->item.is_ack &&
           (a->item.is_ack ? a->item.ack.ack_id == b->item.ack.ack_id : same_bunch(&a->item.bunch, &b->item.bunch));
}

static void begin(struct candidate_reading *reading, const uint8_t *bytes, size_t size_bytes) {
    ue_datagram_begin(&reading->context, bytes, size_bytes, &reading->head, &reading->rest, &reading->fault);
}

static bool next(struct candidate_reading *reading, const uint8_t *bytes) {
    reading->item = (struct ue_item){0};
    return reading->rest.bit < reading->rest.end_bit &&
           ue_datagram_next(&reading->context, bytes, &reading->rest, &reading->item, 1, &reading->fault) == 1;
}

/* The bits before the first item that two contexts decode differently; SIZE_MAX: none. */
static size_t alike_bits(const struct ue_context *chosen, const struct ue_context *other, const uint8_t *bytes,
                         size_t size_bytes) {
    struct candidate_reading a = {.context = *chosen}, b = {.context = *other};
    begin(&a, bytes, size_bytes);
    begin(&b, bytes, size_bytes);
    if (!same_head(&a, &b)) {
        return 1; /* not even the packet header */
    }
    if (a.fault.status != UE_OK || a.head.prefix.is_handshake || a.head.handlers.is_opaque) {
        return SIZE_MAX;
    }
    for (;;) {
        size_t at = a.rest.bit;
        bool has_a = next(&a, bytes), has_b = next(&b, bytes);
        if (has_a != has_b || !same_item(&a, &b)) {
            return at;
        }
        if (!has_a) {
            return SIZE_MAX;
        }
    }
}

void ue_detection_limit_cut(const struct ue_detection *detection, const struct ue_decode_state *state,
                            const uint8_t *bytes, size_t size_bytes, struct ue_context *context) {
    const struct ue_detection_result *result = ue_detection_result_of(detection, state);
    size_t least = SIZE_MAX;
    if (detection->is_given || ue_profile_same_wire(result->candidates)) {
        return;
    }
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        if ((result->candidates >> row & 1) != 0 && row != result->profile) {
            struct ue_context other;
            ue_detection_context_of_row(detection, result, row, context->direction, &other);
            size_t alike = alike_bits(context, &other, bytes, size_bytes);
            least = alike < least ? alike : least;
        }
    }
    if (least != SIZE_MAX) {
        context->agreed_bits = least;
        context->is_common = false;
    }
}

void ue_detection_leave_unbounded(const struct ue_detection *detection, struct ue_decode_state *state,
                                  struct ue_context *context, const uint8_t *bytes, size_t size_bytes) {
    struct ue_detection_result result = *ue_detection_result_of(detection, state);
    struct ue_decode_result decoded;
    if (detection->bound_misses[0] != 0 && !result.is_undecoded &&
        ue_datagram_decode(context, bytes, size_bytes, NULL, NULL, &decoded) != UE_OK && !decoded.is_handshake &&
        ue_detection_matches_other_bounds(detection, &result, context->direction, bytes, size_bytes)) {
        state->result = result;
        state->result.is_undecoded = true;
        state->is_held = false;
        state->is_unbounded = true;
        ue_detection_context(detection, state, context);
    }
}
