/* SPDX-License-Identifier: MIT */
/* Verdicts up to 4.21: acks that are lost themselves (endpoint.md 25). Each is written into two packets. Where both are
   lost, its packet is lost to its sender; what the other side acknowledged in turn tells whether they were. */
#include <uerudp/history.h>
#include "libcodec/observe/tracker_state.h"

/* Among the needs of a packet: one that lies further back than the others tell. */
#define NEED_AFAR (UINT64_C(1) << 63)

enum report { REPORT_OPEN, REPORT_ARRIVED, REPORT_UNSURE, REPORT_LOST };

/* NULL: it has none, or they are forgotten. */
static const struct ue_legacy_ack_state *find_ties(const struct ue_tracker_side *side, int64_t id) {
    const struct ue_legacy_ack_state *ties = ue_tracker_window_slot(&side->ties, sizeof *ties, id);
    return ties != NULL && ties->id == id ? ties : NULL;
}

/* The ties of a packet, made where there are none; NULL: no memory. */
static struct ue_legacy_ack_state *need_ties(struct ue_tracker_step *p, struct ue_tracker_side *side, int64_t id) {
    struct ue_legacy_ack_state *ties = ue_tracker_window_ensure(p->track, &side->ties, sizeof *ties, id);
    if (ties != NULL && ties->id != id) {
        *ties = (struct ue_legacy_ack_state){.id = id, .carriers = {UE_TRACKER_NO_ID, UE_TRACKER_NO_ID}};
    }
    return ties;
}

static unsigned count_carriers(const struct ue_legacy_ack_state *ties) {
    unsigned count = 0;
    while (ties != NULL && count < UE_LEGACY_ACK_CARRIERS && ties->carriers[count] != UE_TRACKER_NO_ID) {
        count++;
    }
    return count;
}

static void note_carrier(struct ue_tracker_step *p, int64_t acked_id) {
    struct ue_legacy_ack_state *ties = need_ties(p, &p->track->sides[!p->in->side], acked_id);
    unsigned count = count_carriers(ties);
    if (ties != NULL && count < UE_LEGACY_ACK_CARRIERS && (count == 0 || ties->carriers[count - 1] != p->packet_id)) {
        ties->carriers[count] = p->packet_id;
    }
}

/* Whether all packets are known to have come without which this one is refused. */
static bool has_needs(const struct ue_tracker_side *side, const struct ue_tracked_packet *packet) {
    const struct ue_legacy_ack_state *ties = find_ties(side, packet->id);
    uint64_t needs = ties != NULL ? ties->needs : 0;
    bool has_all = (needs & NEED_AFAR) == 0;
    for (int64_t id = packet->id - 1; has_all && needs != 0; needs >>= 1, id--) {
        const struct ue_tracked_packet *needed = ue_tracker_find_packet(side, id);
        has_all = (needs & 1) == 0 || (needed != NULL && needed->was_acked);
    }
    return has_all;
}

/* Whether what a packet carries was read. A refused one is not acknowledged, but the acks in it were read. */
static enum report arrival_of(const struct ue_tracker_side *side, int64_t packet_id) {
    const struct ue_tracked_packet *packet = ue_tracker_find_packet(side, packet_id);
    if (packet == NULL || packet->was_acked) {
        return REPORT_ARRIVED;
    }
    if (packet->fate != UE_TRACKER_PACKET_NOT_DELIVERED) {
        return REPORT_OPEN;
    }
    return packet->is_doubtful || !has_needs(side, packet) ? REPORT_UNSURE : REPORT_LOST;
}

/* Whether the ack of a packet reached its sender. Where that cannot be known it did: acks are lost twice seldom. */
static enum report report_of(const struct ue_tracker_side *reporter, const struct ue_tracker_side *side,
                             const struct ue_tracked_packet *packet) {
    if (packet->is_resent) {
        return REPORT_LOST;
    }
    const struct ue_legacy_ack_state *ties = find_ties(side, packet->id);
    unsigned count = count_carriers(ties);
    if (count == 0) {
        return REPORT_ARRIVED;
    }
    bool may_travel_again = count < UE_LEGACY_ACK_CARRIERS && reporter->acking_id <= ties->carriers[count - 1];
    enum report report = may_travel_again ? REPORT_OPEN : REPORT_LOST;
    for (unsigned i = 0; i < count && report != REPORT_ARRIVED; i++) {
        enum report arrival = arrival_of(reporter, ties->carriers[i]);
        report = arrival == REPORT_ARRIVED || arrival < report ? arrival : report;
    }
    bool is_old = ties->carriers[0] <= reporter->judged_id - UE_HISTORY_REACH;
    return report == REPORT_OPEN && is_old ? REPORT_ARRIVED : report;
}

static void settle(struct ue_tracker_step *p, struct ue_tracked_packet *packet, enum report report) {
    struct ue_tracker_side *other = &p->track->sides[!p->in->side];
    bool is_unsure = report == REPORT_UNSURE;
    other->counts.unsure += (uint64_t)is_unsure - packet->is_unsure;
    packet->is_unsure = is_unsure;
    if (report == REPORT_LOST) {
        other->counts.acked--;
        ue_tracker_report_ack(p, packet->id, false);
    }
}

void ue_legacy_acks_correct(struct ue_tracker_step *p) {
    struct ue_tracker_side *other = &p->track->sides[!p->in->side];
    const struct ue_tracker_side *side = &p->track->sides[p->in->side];
    if (other->learned_id < other->judged_id - UE_TRACKER_PACKETS_MAX) {
        other->learned_id = other->judged_id - UE_TRACKER_PACKETS_MAX;
    }
    for (; other->learned_id < other->judged_id; other->learned_id++) {
        struct ue_tracked_packet *packet = ue_tracker_find_packet(other, other->learned_id + 1);
        if (packet == NULL || packet->fate != UE_TRACKER_PACKET_DELIVERED) {
            continue;
        }
        enum report report = report_of(side, other, packet);
        if (report == REPORT_OPEN) {
            return;
        }
        settle(p, packet, report);
    }
}

/* Who wrote it had that packet, even where the ack stands in a late packet, which is not read, or behind that of a
   later one, where it does not change the verdict. */
static void note_arrival(const struct ue_tracker_side *other, int64_t id) {
    struct ue_tracked_packet *packet = ue_tracker_find_packet(other, id);
    if (packet != NULL) {
        packet->was_acked = true;
    }
}

/* One item for each packet delivered; those skipped were not. An item about an older one repeats what was said, or
   comes too late to change it. */
void ue_legacy_acks_handle_ack(struct ue_tracker_step *p, const struct ue_ack *ack) {
    struct ue_tracker_side *other = &p->track->sides[!p->in->side];
    struct ue_tracker_side *side = &p->track->sides[p->in->side];
    int64_t id = ue_tracker_acked_id(other, ack->ack_id);
    if (p->is_late) {
        note_arrival(other, id);
        return;
    }
    if (!ue_tracker_ack_is_plausible(other, id)) {
        return;
    }
    ue_tracker_begin_acks(other, id - 1);
    if (id > other->judged_id) {
        /* Of acks that go on after a hole nothing is certain: the rest, said in one packet and repeated in another, may
           be in two holes, or stand twice in the first packet that had room for it. */
        ue_tracker_report_naks(p, id - 1, id, side->hole > 0);
        ue_tracker_report_ack(p, id, true);
        other->judged_id = id;
    } else {
        note_arrival(other, id);
    }
    struct ue_tracked_packet *packet = ue_tracker_find_packet(other, id);
    if (packet != NULL && packet->fate == UE_TRACKER_PACKET_DELIVERED) {
        note_carrier(p, id);
    }
    side->acking_id = p->packet_id;
    side->hole = 0;
}

void ue_legacy_acks_add_dependency(struct ue_tracker_step *p, int64_t needed_id) {
    int64_t distance = p->packet_id - needed_id;
    if (distance < 1 || distance >= UE_TRACKER_PACKETS_MAX) {
        return; /* further back all is forgotten */
    }
    struct ue_legacy_ack_state *ties = need_ties(p, &p->track->sides[p->in->side], p->packet_id);
    if (ties != NULL) {
        ties->needs |= distance < 64 ? UINT64_C(1) << (distance - 1) : NEED_AFAR;
    }
}

void ue_legacy_acks_mark_retransmitted(struct ue_tracker_step *p, int64_t packet_id) {
    struct ue_tracker_side *side = &p->track->sides[p->in->side];
    struct ue_tracked_packet *packet = ue_tracker_find_packet(side, packet_id);
    if (packet != NULL && packet->fate == UE_TRACKER_PACKET_DELIVERED) {
        packet->is_resent = true;
        side->learned_id = packet_id - 1 < side->learned_id ? packet_id - 1 : side->learned_id;
    }
}
