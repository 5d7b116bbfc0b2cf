/* SPDX-License-Identifier: MIT */
#include "tools/sim/packet_checker.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS_MAX 1024
#define NO_PACKET (-1)

static bool init_side(struct packet_checker_side *side) {
    side->ids = malloc(PACKET_CHECKER_NUMBERS * sizeof *side->ids);
    side->arrived = malloc(PACKET_CHECKER_IDS * sizeof *side->arrived);
    if (side->ids == NULL || side->arrived == NULL) {
        return false;
    }
    memset(side->arrived, 0xff, PACKET_CHECKER_IDS * sizeof *side->arrived);
    return true;
}

bool packet_checker_init(struct packet_checker *checker, struct sim_failure *failure, bool hostile) {
    *checker = (struct packet_checker){.failure = failure, .hostile = hostile};
    checker->items = malloc(ITEMS_MAX * sizeof *checker->items);
    return checker->items != NULL && init_side(&checker->sides[0]) && init_side(&checker->sides[1]);
}

void packet_checker_free(struct packet_checker *checker) {
    for (size_t i = 0; i < 2; i++) {
        free(checker->sides[i].ids);
        free(checker->sides[i].arrived);
    }
    free(checker->items);
}

void packet_checker_connect(struct packet_checker *checker, enum ue_role side, const struct ue_context *context) {
    checker->sides[side].context = context;
}

void packet_checker_allow_encryption(struct packet_checker *checker) {
    checker->sides[0].is_encrypted = true;
    checker->sides[1].is_encrypted = true;
}

static void start_ids(struct packet_checker_side *side, int64_t id) {
    side->has_id = true;
    side->first_id = id;
    side->next_id = id;
    side->next_reported = id;
    side->arrived_id = id - 1;
    side->acked_id = id - 1;
}

void packet_checker_set_first(struct packet_checker *checker, enum ue_role side, int64_t packet_id) {
    start_ids(&checker->sides[side], packet_id);
}

/* ---- headers ---- */

static bool has_arrived(const struct packet_checker_side *side, int64_t id) {
    return id >= 0 && side->arrived[id % PACKET_CHECKER_IDS] == id;
}

static void check_claim(struct packet_checker *w, enum ue_role from, uint64_t now_ns, int64_t id) {
    if (!has_arrived(&w->sides[!from], id)) {
        sim_failure_set(w->failure, now_ns, "side %d acknowledges packet %" PRId64 ", which never arrived", (int)from,
                        id);
    }
}

/* A header must not report packets after the newest one that arrived, and what it reports as received must have
   arrived. */
static void check_history(struct packet_checker *w, enum ue_role from, uint64_t now_ns,
                          const struct ue_packet *packet) {
    struct packet_checker_side *peer = &w->sides[!from];
    if (!peer->has_id) {
        return;
    }
    int64_t acked = ue_seq_expand(packet->ack, peer->arrived_id, UE_PACKET_SEQ_MAX);
    if (acked > peer->arrived_id) {
        sim_failure_set(w->failure, now_ns, "side %d acknowledges up to %" PRId64 ", newest that arrived is %" PRId64,
                        (int)from, acked, peer->arrived_id);
    }
    peer->acked_id = acked;
    peer->unacked_at_send = peer->arrived_id - acked;
    bool has_own_seq = w->sides[from].context->profile.packet == UE_PACKET_HISTORY_SEQ;
    int64_t newest =
        has_own_seq ? ue_seq_expand(packet->acked_history_seq % UE_PACKET_SEQ_MAX, acked, UE_PACKET_SEQ_MAX) : acked;
    for (uint32_t age = 0; age < packet->history_words * 32u && newest - age >= peer->first_id; age++) {
        if (ue_history_delivered(packet->history, packet->history_words, age)) {
            check_claim(w, from, now_ns, newest - age);
        }
    }
}

static void check_legacy_acks(struct packet_checker *w, enum ue_role from, uint64_t now_ns,
                              const struct ue_datagram *datagram) {
    struct packet_checker_side *peer = &w->sides[!from];
    for (size_t i = 0; i < datagram->item_count; i++) {
        if (datagram->items[i].is_ack) {
            int64_t id = ue_seq_expand(datagram->items[i].ack.ack_id, peer->arrived_id, UE_PACKET_SEQ_MAX);
            check_claim(w, from, now_ns, id);
            peer->acked_id = id > peer->acked_id ? id : peer->acked_id;
            peer->unacked_at_send = peer->arrived_id - peer->acked_id;
        }
    }
}

/* ---- datagrams ---- */

/* The id of a packet that just left; NO_PACKET: it is none. */
static int64_t read_packet(struct packet_checker *w, enum ue_role from, const struct sim_link_report *report) {
    struct packet_checker_side *side = &w->sides[from];
    struct ue_decode_result result;
    w->newest = (struct ue_datagram){.items = w->items, .item_capacity = ITEMS_MAX};
    enum ue_status status =
        ue_datagram_decode(side->context, report->bytes, report->size_bytes, &w->newest, NULL, &result);
    if (status != UE_OK || !result.canonical) {
        sim_failure_set(w->failure, report->now_ns, "side %d sends a datagram that does not decode: %s", (int)from,
                        ue_status_text(status));
        return NO_PACKET;
    }
    if (result.is_handshake) {
        return NO_PACKET;
    }
    if (result.is_opaque) {
        return side->next_id;
    }
    w->has_newest = true;
    if (side->context->settings.internal_ack) {
        return side->next_id; /* the packets of a replay have no numbers */
    }
    if (!side->has_id) {
        start_ids(side, result.seq);
    }
    int64_t id = ue_seq_expand(result.seq, side->next_id, UE_PACKET_SEQ_MAX);
    if (id != side->next_id) {
        sim_failure_set(w->failure, report->now_ns, "side %d sends packet %" PRId64 " where %" PRId64 " is next",
                        (int)from, id, side->next_id);
    }
    bool is_trusted =
        !side->is_encrypted && !w->hostile; /* corruption may forge numbers, from which further claims follow */
    if (is_trusted && side->context->profile.packet == UE_PACKET_LEGACY) {
        check_legacy_acks(w, from, report->now_ns, &w->newest);
    } else if (is_trusted) {
        check_history(w, from, report->now_ns, &w->newest.packet);
    }
    return id;
}

int64_t packet_checker_datagram(struct packet_checker *checker, enum ue_role from,
                                const struct sim_link_report *report) {
    struct packet_checker_side *side = &checker->sides[from];
    int64_t *id = &side->ids[report->number % PACKET_CHECKER_NUMBERS];
    checker->has_newest = false;
    if (report->event == SIM_DATAGRAM_SENT) {
        *id = side->context != NULL ? read_packet(checker, from, report) : NO_PACKET;
        side->next_id += *id != NO_PACKET;
    } else if (report->event == SIM_DATAGRAM_ARRIVED && *id != NO_PACKET && (!report->corrupted || checker->hostile)) {
        side->arrived[*id % PACKET_CHECKER_IDS] = *id;
        side->arrived_id = *id > side->arrived_id ? *id : side->arrived_id;
    }
    return *id;
}

void packet_checker_ack(struct packet_checker *checker, enum ue_role side, uint64_t now_ns, int64_t packet_id,
                        bool delivered) {
    struct packet_checker_side *s = &checker->sides[side];
    if (packet_id != s->next_reported || packet_id >= s->next_id) {
        sim_failure_set(checker->failure, now_ns,
                        "report on packet %" PRId64 " of side %d, where %" PRId64 " is next and %" PRId64 " not sent",
                        packet_id, (int)side, s->next_reported, s->next_id);
    }
    if (delivered && !checker->hostile && !has_arrived(s, packet_id)) {
        sim_failure_set(checker->failure, now_ns, "side %d believes that packet %" PRId64 " arrived", (int)side,
                        packet_id);
    }
    s->next_reported = packet_id + 1;
}

void packet_checker_finish(struct packet_checker *checker, uint64_t now_ns) {
    for (size_t i = 0; i < 2; i++) {
        const struct packet_checker_side *side = &checker->sides[i];
        if (!side->is_encrypted && side->unacked_at_send != 0) {
            sim_failure_set(checker->failure, now_ns,
                            "packets up to %" PRId64 " of side %d arrived, acknowledged are %" PRId64, side->arrived_id,
                            (int)i, side->acked_id);
        }
    }
}

int64_t packet_checker_in_flight(const struct packet_checker *checker, enum ue_role side) {
    return checker->sides[side].next_id - checker->sides[side].next_reported;
}
