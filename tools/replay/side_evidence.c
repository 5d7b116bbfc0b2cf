/* SPDX-License-Identifier: MIT */
#include "tools/replay/side_evidence.h"

#include <glib.h>

#include <uerudp/seq.h>

#define WORD_BITS 32
#define FOLLOWING_MAX 64   /* own packets among which the next captured ones are searched */
#define NUMBER_PACKETS 256 /* own packets among which a number of a channel is searched */
#define IDS_NEAR 4         /* own packets before and after one that show its ids, */
#define IDS_PACKETS_MIN 3  /* ... of which this number was captured */

/* ---- acknowledgements ---- */

/* The next captured own packet with a history; NULL: none. */
static const struct replay_packet *following(const struct replay_side *side, const struct replay_packet *packet) {
    for (int64_t id = packet->id + 1; id <= side->newest && id <= packet->id + FOLLOWING_MAX; id++) {
        const struct replay_packet *next = replay_packet_ring_find(&side->ring, id);
        if (next != NULL && next->words != 0) {
            return next;
        }
    }
    return NULL;
}

enum side_order side_evidence_order(const struct replay_side *side, const struct replay_packet *packet) {
    const struct replay_packet *next = following(side, packet);
    const struct replay_packet *after = next != NULL ? following(side, next) : NULL;
    if (packet->id >= side->next && packet->ack < side->ack_floor) {
        return SIDE_ORDER_WRONG;
    }
    if (next == NULL || packet->ack <= next->ack) {
        return next == NULL && packet->ack > packet->peer_newest ? SIDE_ORDER_UNKNOWN : SIDE_ORDER_FITS;
    }
    return after == NULL ? SIDE_ORDER_UNKNOWN : packet->ack > after->ack ? SIDE_ORDER_WRONG : SIDE_ORDER_FITS;
}

struct side_ack_range side_evidence_ack_range(const struct replay_side *side, const struct replay_packet *packet) {
    struct side_ack_range range = {side->ack_floor, packet->peer_newest};
    const struct replay_packet *next = following(side, packet);
    if (range.first == 0) {
        range.first = side->peer->oldest - 1;
    }
    for (int i = 0; i < 2 && next != NULL; i++) {
        range.last = next->ack >= range.first && next->ack < range.last ? next->ack : range.last;
        next = following(side, next);
    }
    return range;
}

int side_evidence_votes(const struct replay_side *side, const struct replay_packet *packet, int64_t packet_id) {
    int64_t last = packet->id + SIDE_EVIDENCE_HEADERS;
    int votes = 0;
    for (int64_t id = packet->id; id <= last && ABS(votes) <= last - id + 1; id++) {
        const struct replay_packet *other = replay_packet_ring_find(&side->ring, id);
        bool is_usable = other != NULL && (other->words == 0 || side_evidence_order(side, other) != SIDE_ORDER_WRONG);
        int report = is_usable ? replay_packet_acknowledges(other, packet_id) : -1;
        votes += report == 1 ? 1 : report == 0 ? -1 : 0;
    }
    return votes;
}

enum side_report side_evidence_report(const struct replay_side *side, const struct replay_packet *packet,
                                      int64_t packet_id) {
    int votes = side_evidence_votes(side, packet, packet_id);
    int report = votes == 0 ? replay_packet_acknowledges(packet, packet_id) : votes > 0;
    return report < 0 ? SIDE_REPORT_NONE : report == 0 ? SIDE_REPORT_LOST : SIDE_REPORT_DELIVERED;
}

bool side_evidence_is_delivered(const struct replay_side *side, int64_t packet_id) {
    int64_t newest = side->peer->newest;
    for (int64_t id = MAX(side->peer->ring.oldest, newest - REPLAY_PACKETS_MAX); id <= newest; id++) {
        const struct replay_packet *packet = replay_packet_ring_find(&side->peer->ring, id);
        if (packet != NULL && replay_packet_acknowledges(packet, packet_id) == 1) {
            return true;
        }
    }
    return false;
}

/* Whether the history would be right if the packet acknowledged this one. */
static bool fits_ack(const struct replay_side *side, const struct replay_packet *packet, int64_t ack) {
    for (int64_t i = 0; i < packet->words * (int64_t)WORD_BITS && ack - i >= side->peer->oldest; i++) {
        enum side_report report = side_evidence_report(side, packet, ack - i);
        bool is_set = (packet->history[i / WORD_BITS] >> i % WORD_BITS & 1) != 0;
        if (report != SIDE_REPORT_NONE && is_set != (report == SIDE_REPORT_DELIVERED)) {
            return false;
        }
    }
    return true;
}

bool side_evidence_fits_other_ack(const struct replay_side *side, const struct replay_packet *packet) {
    struct side_ack_range range = side_evidence_ack_range(side, packet);
    for (int64_t ack = range.first; ack <= range.last; ack++) {
        if (ack != packet->ack && fits_ack(side, packet, ack)) {
            return true;
        }
    }
    return false;
}

bool side_evidence_is_outvoted(const struct replay_side *side, const struct replay_packet *packet, int64_t packet_id) {
    int own = replay_packet_acknowledges(packet, packet_id);
    int against = 0;
    for (int64_t id = packet->id - SIDE_EVIDENCE_HEADERS; id <= packet->id + SIDE_EVIDENCE_HEADERS; id++) {
        const struct replay_packet *other = replay_packet_ring_find(&side->ring, id);
        int report = other != NULL && other != packet ? replay_packet_acknowledges(other, packet_id) : -1;
        against += report < 0 ? 0 : report != own ? 1 : -1;
    }
    return against > 1;
}

/* ---- numbers of a channel ---- */

#define ITEMS_MAX 1024

/* Looks for a number in the bunches of one packet that follow one of them; without one, in all. */
static enum reference_model_number find_number(const struct ue_context *context, const struct replay_packet *packet,
                                               const struct ue_bunch *bunch, uint32_t ch_seq, bool is_own) {
    struct ue_item items[ITEMS_MAX];
    struct ue_datagram datagram = {.items = items, .item_capacity = ITEMS_MAX};
    struct ue_decode_result result;
    bool is_after = !is_own;
    ue_datagram_decode(context, packet->bytes, packet->size_bytes, &datagram, NULL, &result);
    for (size_t i = 0; i < datagram.item_count; i++) {
        const struct ue_bunch *other = &items[i].bunch;
        if (items[i].is_ack || !other->reliable || other->channel != bunch->channel) {
            continue;
        }
        bool is_copy = other->ch_seq == bunch->ch_seq && ue_view_equal(other->data, bunch->data);
        if (is_after && other->ch_seq == ch_seq) {
            return REFERENCE_MODEL_NUMBER_FOLLOWS;
        }
        if (is_after && other->ch_seq == (ch_seq + 1) % context->ch_seq_bound && !is_copy) {
            return REFERENCE_MODEL_NUMBER_SKIPPED;
        }
        is_after |= is_copy;
    }
    return REFERENCE_MODEL_NUMBER_UNKNOWN;
}

enum reference_model_number side_evidence_number(const struct replay_side *side, const struct replay_packet *packet,
                                                 const struct ue_bunch *bunch, uint32_t ch_seq) {
    enum reference_model_number found = find_number(&side->context, packet, bunch, ch_seq, true);
    for (int64_t id = packet->id + 1; found == REFERENCE_MODEL_NUMBER_UNKNOWN && id <= packet->id + NUMBER_PACKETS;
         id++) {
        const struct replay_packet *next = replay_packet_ring_find(&side->ring, id);
        if (next == NULL) {
            break; /* it may carry the number */
        }
        found = find_number(&side->context, next, bunch, ch_seq, false);
    }
    return found;
}

/* ---- session id and client id ---- */

bool side_evidence_ids(const struct replay_side *side, int64_t packet_id, struct ue_prefix *prefix) {
    unsigned count = 0;
    for (int64_t id = packet_id - IDS_NEAR; id <= packet_id + IDS_NEAR; id++) {
        const struct replay_packet *near = id != packet_id ? replay_packet_ring_find(&side->ring, id) : NULL;
        if (near == NULL) {
            continue;
        }
        if (count != 0 && (near->session_id != prefix->session_id || near->client_id != prefix->client_id)) {
            return false;
        }
        prefix->session_id = near->session_id;
        prefix->client_id = near->client_id;
        count++;
    }
    return count >= IDS_PACKETS_MIN;
}
