/* SPDX-License-Identifier: MIT */
#include "tools/replay/side_difference.h"

#include <glib.h>

#include <uerudp/seq.h>
#include "tools/replay/side_evidence.h"

#define ORDER_NS UINT64_C(1000000000)   /* before a retransmission is missing, where later ones show it, */
#define SILENCE_NS UINT64_C(2000000000) /* ... or where there are none */
#define CHANGED_BITS 4                  /* of a bunch of which only the data was changed */

struct replay_difference *replay_side_add_difference(struct replay_side *side,
                                                     enum reference_model_difference_type type, uint64_t frame,
                                                     int64_t id) {
    side->differences[type]++;
    const struct replay_difference *first = side->difference;
    bool is_first = first == NULL || frame < first->frame ||
                    (frame == first->frame &&
                     first->type == REFERENCE_MODEL_DIFFERS_RECEIVED); /* the complaint about the other side */
    if ((side->ignored >> type & 1) != 0 || !is_first) {
        return NULL;
    }
    if (side->difference == NULL) {
        side->difference = g_new(struct replay_difference, 1);
    }
    struct replay_difference *d = side->difference;
    d->type = type;
    d->side = side->role;
    d->frame = frame;
    d->packet_id = id - side->offset;
    d->has_bunch = d->has_reliable_id = d->has_range = false;
    d->condition = REPLAY_CONDITION_NONE;
    d->suspect_frame = 0;
    d->fields = NULL;
    d->context = side->context;
    d->actual_bytes = d->expected_bytes = 0;
    return d;
}

void side_difference_set_actual(struct replay_difference *d, const struct replay_packet *packet) {
    d->actual_bytes = packet->size_bytes < sizeof d->actual ? packet->size_bytes : sizeof d->actual;
    memcpy(d->actual, packet->bytes, d->actual_bytes);
}

static void set_expected_item(struct replay_difference *d, const struct side_comparison *l, uint32_t at,
                              const struct ue_bunch *bunch) {
    struct ue_datagram expected = l->datagram;
    expected.items = g_memdup2(expected.items, expected.item_count * sizeof *expected.items);
    expected.items[at].bunch = *bunch;
    replay_difference_set_expected(d, &expected);
    g_free(expected.items);
}

static void set_expected_header(struct replay_difference *d, const struct side_comparison *l,
                                const struct ue_packet *packet) {
    struct ue_datagram expected = l->datagram;
    expected.packet = *packet;
    replay_difference_set_expected(d, &expected);
}

/* The newest packet of the other side that two headers report differently. */
static int64_t disputed_id(const struct side_comparison *l, const struct ue_packet *expected) {
    uint32_t i = 0;
    while (i + 1 < expected->history_words && expected->history[i] == l->packet->history[i]) {
        i++;
    }
    uint32_t changed = expected->history[i] ^ l->packet->history[i];
    return l->packet->reported - (int64_t)i * 32 - g_bit_nth_lsf(changed, -1);
}

/* A history is that of another acknowledgement, or wrong, or the headers that the model believed are. */
static void describe_header(struct replay_difference *d, const struct side_comparison *l,
                            const struct reference_model_difference *difference) {
    bool is_history = difference->type == REFERENCE_MODEL_DIFFERS_HISTORY;
    if (is_history && side_evidence_is_outvoted(l->side, l->packet, disputed_id(l, difference->packet))) {
        d->condition = REPLAY_CONDITION_NONE;
    }
    if (!is_history || l->packet->is_out_of_place || side_evidence_fits_other_ack(l->side, l->packet)) {
        d->fields = l->packet->is_out_of_place ? "packet.seq or packet.ack or packet.history"
                    : is_history               ? "packet.ack or packet.history"
                                               : "packet.ack";
    } else {
        set_expected_header(d, l, difference->packet);
    }
}

/* Whether two bunches differ in one member or in few bits of their data; else others may have been changed. */
static bool is_one_change(const struct ue_bunch *a, const struct ue_bunch *b) {
    unsigned changes = 0;
    if (a->data.bits != b->data.bits) {
        return false;
    }
    for (size_t bit = 0; bit < a->data.bits; bit++) {
        changes += ue_view_load(a->data, bit, 1) != ue_view_load(b->data, bit, 1);
    }
    return changes <= CHANGED_BITS;
}

void side_difference_on_report(void *user, const struct reference_model_difference *difference) {
    struct side_comparison *l = user;
    struct replay_difference *d =
        replay_side_add_difference(l->side, difference->type, l->packet->frame, l->packet->id);
    if (d == NULL) {
        return;
    }
    side_difference_set_actual(d, l->packet);
    d->condition = difference->is_certain ? REPLAY_CONDITION_NONE : REPLAY_CONDITION_EARLIER;
    if (difference->packet != NULL) {
        describe_header(d, l, difference);
    }
    if (!difference->has_item) {
        return;
    }
    const struct ue_bunch *bunch = &l->datagram.items[difference->item].bunch;
    d->has_bunch = true;
    d->channel = bunch->channel;
    d->has_reliable_id = bunch->reliable;
    d->reliable_id = difference->reliable_id;
    if (difference->bunch != NULL && is_one_change(bunch, difference->bunch)) {
        set_expected_item(d, l, difference->item, difference->bunch);
    }
}

struct replay_difference *side_difference_add(const struct side_comparison *l,
                                              enum reference_model_difference_type type) {
    struct replay_difference *d = replay_side_add_difference(l->side, type, l->packet->frame, l->packet->id);
    if (d != NULL) {
        side_difference_set_actual(d, l->packet);
    }
    return d;
}

struct replay_difference *side_difference_add_conditional(const struct side_comparison *l,
                                                          enum reference_model_difference_type type,
                                                          enum replay_condition condition) {
    struct replay_difference *d = side_difference_add(l, type);
    if (d != NULL) {
        d->condition = condition;
    }
    return d;
}

/* Describes the wrong acknowledgement of a header; it is exact if the packets around it have the same one. */
void side_difference_describe_ack(struct replay_difference *d, const struct side_comparison *l) {
    struct side_ack_range range = side_evidence_ack_range(l->side, l->packet);
    struct ue_packet expected = l->datagram.packet;
    expected.ack = ue_seq_of(range.first);
    if (l->packet->is_out_of_place) {
        d->fields = "packet.seq or packet.ack";
    } else if (range.first == range.last && d->condition == REPLAY_CONDITION_NONE) {
        set_expected_header(d, l, &expected);
    } else {
        d->fields = "packet.ack";
        d->has_range = range.first <= range.last && d->condition == REPLAY_CONDITION_NONE;
        d->range_first = ue_seq_of(range.first);
        d->range_last = ue_seq_of(range.last);
        d->recorded_value = l->datagram.packet.ack;
    }
}

/* ---- what was not sent ---- */

/* Whether an own packet is older than a number of packets without retransmissions, and older than a time. */
static bool is_past(const struct replay_side *side, int64_t id, uint64_t packets, uint64_t wait_ns) {
    size_t place = id & (REPLAY_PACKETS_MAX - 1);
    return id < side->next && side->plain_count - side->plain[place] >= packets &&
           side->now_ns - side->times_ns[place] >= wait_ns;
}

static void grow_impatient(struct replay_side *side, uint64_t packets) {
    struct reference_model_retransmission_limits *limits = &side->limits;
    while (is_past(side, limits->order_id, packets, ORDER_NS)) {
        limits->order_id++;
    }
    while (is_past(side, limits->silent_id, packets, SILENCE_NS)) {
        limits->silent_id++;
    }
}

void side_difference_add_missing_retransmission(struct replay_side *side, uint64_t packets) {
    struct reference_model_missing_retransmission missing;
    grow_impatient(side, packets);
    if (!reference_model_find_missing_retransmission(side->model, &side->limits, &missing) ||
        missing.since_id <= side->next - REPLAY_PACKETS_MAX) {
        return;
    }
    struct replay_difference *d =
        replay_side_add_difference(side, REFERENCE_MODEL_DIFFERS_NOT_RESENT,
                                   side->frames[missing.since_id & (REPLAY_PACKETS_MAX - 1)], missing.since_id);
    if (d != NULL) {
        d->condition = REPLAY_CONDITION_REPORT;
        d->suspect_frame = side->reports[missing.since_id & (REPLAY_PACKETS_MAX - 1)];
        d->has_bunch = d->has_reliable_id = true;
        d->channel = missing.channel;
        d->reliable_id = missing.reliable_id;
    }
}
