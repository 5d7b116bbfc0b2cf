/* SPDX-License-Identifier: MIT */
#include "tools/replay/side_comparison.h"

#include <glib.h>

#include <uerudp/seq.h>
#include "tools/replay/side_difference.h"
#include "tools/replay/side_evidence.h"

#define WINDOW 256                /* own packets that wait for earlier ones; */
#define MISSING_PACKETS 64        /* own packets without retransmission before one counts as missing; */
#define MISSING_PACKETS_AT_END 16 /* ... at the end of the capture */
#define FIRST_MAX 256             /* first packets that may be missing */
#define EARLY_MAX 32          /* packets of the other side that an own packet may use before its header reports them */
#define UNCERTAIN_PACKETS 256 /* packets after one that was not delivered whose content is uncertain */
#define ITEMS_MAX 1024
#define REPEATING_PACKETS 3 /* own legacy packets of which one repeats an acknowledgement */
#define KEPT_PACKETS 32     /* own packets that were compared and show what later headers should report */
#define CLOCK_BEGIN_NS UINT64_C(1000000000)

struct reference_model_retransmissions replay_side_retransmissions(const struct replay_side *side) {
    struct reference_model_retransmissions all = side->retransmissions;
    if (side->model != NULL) {
        const struct reference_model_retransmissions *added = reference_model_get_retransmissions(side->model);
        all.copies += added->copies;
        all.early += added->early;
        all.late += added->late;
    }
    return all;
}

static void free_model(struct replay_side *side) {
    side->retransmissions = replay_side_retransmissions(side);
    reference_model_free(side->model);
    side->model = NULL;
}

void replay_side_finish(struct replay_side *side) {
    free_model(side);
    replay_packet_ring_free(&side->ring);
    side->is_finished = true;
}

void replay_side_free(struct replay_side *side) {
    replay_side_finish(side);
    g_free(side->difference);
}

void replay_side_reset(struct replay_side *side) {
    free_model(side);
    side->retransmissions = (struct reference_model_retransmissions){0};
    g_free(side->difference);
    side->difference = NULL;
    memset(side->differences, 0, sizeof side->differences);
    side->since_difference = 0;
    side->is_over = false;
    side->oldest = MAX(side->oldest, side->ring.oldest);
    side->next = MAX(side->next, side->oldest);
    if (side->is_finished) {
        side->obstacle = "its generation was detected too late";
    }
}

int64_t replay_side_settled_id(const struct replay_side *side) {
    return side->placement.has_doubtful ? MIN(side->newest, side->placement.newest_id) : side->newest;
}

bool replay_side_is_active(const struct replay_side *side) {
    return side->is_checked && !side->is_over && side->obstacle == NULL;
}

/* ---- start ---- */

/* The first own packet from which on the other side's packets are known. False: it was not captured yet. */
static bool find_join(struct replay_side *side, const struct replay_packet **join) {
    for (; side->next <= side->newest; side->next++) {
        const struct replay_packet *packet = replay_packet_ring_find(&side->ring, side->next);
        if (packet != NULL && (packet->words == 0 || packet->reported >= side->peer->oldest - 1)) {
            *join = packet;
            side->join = packet->id;
            return true;
        }
    }
    return false;
}

/* The first packet of the other side that is reported. */
static int64_t first_reported(const struct replay_side *side, const struct replay_packet *join) {
    int64_t first = join->reported + 1 - (int64_t)join->words * 32;
    return join->words == 0 || first < side->peer->oldest ? side->peer->oldest : first;
}

/* The first own packet that the other side may still acknowledge. */
static int64_t first_unacked(const struct replay_side *side, int64_t in, int64_t first) {
    for (int64_t id = in; id <= side->peer->newest; id++) {
        const struct replay_packet *packet = replay_packet_ring_find(&side->peer->ring, id);
        if (packet != NULL && packet->words != 0) {
            return packet->reported + 1 < first ? packet->reported + 1 : first;
        }
    }
    return first;
}

static bool start_at(struct replay_side *side, int64_t in, int64_t out, bool is_whole) {
    const struct ue_conn_config config = {
        .profile = &side->context.profile,
        .settings = side->context.settings,
        .role = side->role == 0 ? UE_ROLE_CLIENT : UE_ROLE_SERVER,
        .no_timeouts = true,
        .any_channel = true,
    };
    struct ue_prefix prefix = side->prefix;
    if (!side_evidence_ids(side, side->oldest, &prefix)) {
        prefix = side->prefix;
    }
    const struct reference_model_start start = {
        .context = &side->peer->context,
        .prefix = prefix,
        .in = in,
        .out = out,
        .opens_freely = (side->ignored >> REFERENCE_MODEL_DIFFERS_OPEN & 1) != 0,
        .is_whole = is_whole,
    };
    side->model = reference_model_new(&config, &start);
    if (side->model == NULL) {
        side->obstacle = "the endpoint does not support this form";
        return false;
    }
    side->has_begun = true;
    side->lacks_state = !is_whole;
    side->next = side->limits.order_id = side->limits.silent_id = out;
    return true;
}

static int64_t full_id(uint16_t seq, int64_t near) {
    return ue_seq_expand(seq, near, UE_PACKET_SEQ_MAX);
}

static bool start_whole(struct replay_side *side, const struct replay_side_start *start) {
    uint16_t out = side->role == 0 ? start->sequences.client : start->sequences.server;
    uint16_t in = side->role == 0 ? start->sequences.server : start->sequences.client;
    int64_t first = full_id(out, side->oldest);
    const struct replay_packet *packet = replay_packet_ring_find(&side->ring, side->oldest);
    if (side->oldest < first || side->oldest - first > FIRST_MAX) {
        struct replay_difference *d = replay_side_add_difference(side, REFERENCE_MODEL_DIFFERS_SEQUENCE,
                                                                 packet != NULL ? packet->frame : 0, side->oldest);
        if (d != NULL) {
            d->condition = REPLAY_CONDITION_EARLIER;
        }
        return false;
    }
    return start_at(side, full_id(in, side->peer->oldest), first, true);
}

static bool start_side(struct replay_side *side, const struct replay_side_start *start) {
    const struct replay_packet *join;
    if (start->is_known) {
        return start_whole(side, start);
    }
    if (!find_join(side, &join)) {
        return false;
    }
    int64_t in = first_reported(side, join);
    return start_at(side, in, first_unacked(side, in, join->id), false);
}

/* ---- packets that the side received ---- */

/* Whether the endpoint knows too little to disagree with the side: after a packet that was not delivered, whose bunches
   up to the refused one may have been accepted, and where the capture begins in the middle. */
static bool is_uncertain(const struct replay_side *side, int64_t packet_id) {
    return side->lacks_state || packet_id - side->undelivered < UNCERTAIN_PACKETS;
}

/* Reads the endpoint's events about a packet of the other side. */
static void read_events(struct replay_side *side, const struct replay_packet *from) {
    struct ue_event event;
    while (ue_conn_next_event(reference_model_conn(side->model), &event)) {
        side->delivered += event.type == UE_EVENT_BUNCH;
        if (event.type != UE_EVENT_FAULT || is_uncertain(side, from->id)) {
            continue;
        }
        enum reference_model_difference_type type =
            event.reason == UE_CLOSE_ALREADY_OPEN ? REFERENCE_MODEL_DIFFERS_OPEN : REFERENCE_MODEL_DIFFERS_RECEIVED;
        struct replay_difference *d = replay_side_add_difference(side->peer, type, from->frame, from->id);
        if (d != NULL) {
            d->reason = event.reason;
            d->condition = REPLAY_CONDITION_EARLIER;
            side_difference_set_actual(d, from);
        }
    }
}

/* Whether a packet of the other side may have passed before the capture began, overtaken by the first captured one:
   within twice the reordering seen, since few packets were seen. */
static bool may_be_earlier(const struct side_comparison *l, int64_t packet_id) {
    const struct replay_side *peer = l->side->peer;
    return l->side->lacks_state && packet_id <= peer->oldest + 2 * peer->overtaken;
}

/* Whether a packet was captured but is not stored. */
static bool is_out_of_range(const struct replay_side *side, int64_t packet_id) {
    for (uint64_t i = 0; i < side->stray_count && i < REPLAY_SIDE_STRAYS; i++) {
        if (side->stray_ids[i] == packet_id) {
            return true;
        }
    }
    return false;
}

/* A packet that the side received is not in the capture, so its content is unknown: a new model starts after it, as if
   the capture began there. */
static void restart_after(const struct side_comparison *l, int64_t packet_id) {
    struct replay_side *side = l->side;
    struct reference_model *former = side->model;
    int64_t out = MAX(first_unacked(side, packet_id + 1, l->packet->id), l->packet->id - UNCERTAIN_PACKETS);
    side->retransmissions = replay_side_retransmissions(side);
    side->model = NULL;
    if (!start_at(side, packet_id + 1, out, false)) { /* the form is that of the former model */
        side->obstacle = "its reference endpoint has no memory left";
        side->model = former;
        return;
    }
    reference_model_free(former);
    for (; out < l->packet->id; out++) {
        reference_model_send_unknown(side->model, side->now_ns);
    }
    side->next = side->limits.order_id = side->limits.silent_id = l->packet->id;
}

static void receive_uncaptured(const struct side_comparison *l, int64_t packet_id) {
    if (is_out_of_range(l->side->peer, packet_id)) {
        l->side->obstacle = "more than 1024 packets are missing in a row";
    }
    if (may_be_earlier(l, packet_id) || l->side->obstacle != NULL) {
        reference_model_report_packet(l->side->model, packet_id, true);
        return;
    }
    l->side->uncaptured++;
    restart_after(l, packet_id);
}

/* Passes a packet to the endpoint. Returns whether it counts as delivered there. */
static bool receive_packet(const struct side_comparison *l, const struct replay_packet *from, bool reported_delivered) {
    struct replay_side *side = l->side;
    side->received_frame = MAX(side->received_frame, from->frame);
    bool delivered = reference_model_receive(side->model, side->now_ns, from->bytes, from->size_bytes);
    read_events(side, from);
    if (delivered != reported_delivered && is_uncertain(side, from->id)) {
        reference_model_set_delivered(side->model, from->id, reported_delivered);
        delivered = reported_delivered;
    }
    return delivered;
}

/* Passes all packets up to a received one to the endpoint, in order. Packets that were not delivered are omitted,
   except for the last, which must have arrived. */
static void receive_until(const struct side_comparison *l, int64_t last) {
    struct replay_side *side = l->side;
    for (int64_t id = reference_model_reported_id(side->model) + 1; id <= last; id++) {
        enum side_report report = side_evidence_report(l->side, l->packet, id);
        bool delivered = report == SIDE_REPORT_DELIVERED;
        const struct replay_packet *from = replay_packet_ring_find(&side->peer->ring, id);
        side->undelivered = from != NULL && !delivered ? id : side->undelivered;
        side->lacks_state |= from != NULL && report == SIDE_REPORT_NONE;
        if (from != NULL && (delivered || id == last)) {
            receive_packet(l, from, delivered);
        } else if (delivered) {
            receive_uncaptured(l, id);
        } else if (id == last) {
            reference_model_report_packet(side->model, id, false);
        }
    }
}

/* Up to 4.21: whether own packets that are not in the capture may hold acknowledgements. */
static bool may_miss_acks(const struct side_comparison *l) {
    int64_t last = MIN(l->packet->id + SIDE_EVIDENCE_HEADERS, l->side->newest);
    for (int64_t id = l->packet->id + 1; l->packet->words == 0 && id <= last; id++) {
        if (replay_packet_ring_find(&l->side->ring, id) == NULL) {
            return true;
        }
    }
    return l->packet->words == 0 && reference_model_unknown_id(l->side->model) > l->packet->id - UNCERTAIN_PACKETS;
}

/* Whether the side may have received a packet that no header has reported yet: later ones report it, or no more headers
   follow. */
static bool may_be_received(const struct side_comparison *l, int64_t packet_id) {
    int votes = side_evidence_votes(l->side, l->packet, packet_id);
    return votes > 0 || (votes == 0 && (l->side->newest - l->packet->id < SIDE_EVIDENCE_HEADERS || may_miss_acks(l)));
}

static bool receive_early(void *user, int64_t nacked_id) {
    struct side_comparison *l = user;
    int64_t first = reference_model_reported_id(l->side->model) + 1;
    for (int64_t id = first; id <= l->packet->peer_newest && id < first + EARLY_MAX; id++) {
        const struct replay_packet *from = replay_packet_ring_find(&l->side->peer->ring, id);
        if (from == NULL && may_be_received(l, id)) {
            return false; /* its content is unknown */
        }
        bool explains = from != NULL && (nacked_id < 0 || replay_packet_acknowledges(from, nacked_id) == 0);
        if (explains && l->early_packets < EARLY_MAX && may_be_received(l, id)) {
            l->early_packets++;
            receive_until(l, id);
            return true;
        }
    }
    return false;
}

static bool may_know_more(void *user) {
    const struct side_comparison *l = user;
    int64_t first = reference_model_reported_id(l->side->model) + 1;
    for (int64_t id = first; id < first + EARLY_MAX; id++) {
        if (replay_packet_ring_find(&l->side->peer->ring, id) == NULL && may_be_received(l, id)) {
            return true;
        }
    }
    return false;
}

static enum reference_model_number find_number(void *user, const struct ue_bunch *bunch, uint32_t ch_seq) {
    const struct side_comparison *l = user;
    return side_evidence_number(l->side, l->packet, bunch, ch_seq);
}

/* The header acknowledges what was not sent yet, or less or more than the headers around it; it is then handled as one
   that reports nothing new. */
static void refuse_header(struct side_comparison *l, enum side_order order) {
    struct replay_difference *d = side_difference_add(l, REFERENCE_MODEL_DIFFERS_ACK);
    if (d != NULL) {
        d->condition = order == SIDE_ORDER_WRONG ? REPLAY_CONDITION_NONE : REPLAY_CONDITION_EARLIER;
        side_difference_describe_ack(d, l);
    }
    l->datagram.packet.history_words = 0;
    l->datagram.packet.ack = l->datagram.packet.acked_history_seq =
        ue_seq_of(reference_model_reported_id(l->side->model));
}

/* Whether a packet was sent after this one, as far as known: it was captured later, or one before it was. */
static bool is_not_sent_yet(const struct side_comparison *l, int64_t packet_id) {
    const struct replay_side *peer = l->side->peer;
    int64_t first = l->packet->peer_newest + 1;
    for (int64_t id = first; id <= MIN(packet_id, peer->newest) && !may_be_earlier(l, packet_id); id++) {
        if (replay_packet_ring_find(&peer->ring, id) != NULL) {
            return true;
        }
    }
    return packet_id >= first + EARLY_MAX && !may_be_earlier(l, packet_id);
}

/* The header may acknowledge packets that were captured later, or not at all. Returns whether it is accepted. */
static bool receive_header(struct side_comparison *l) {
    enum side_order order = side_evidence_order(l->side, l->packet);
    bool is_beyond = is_not_sent_yet(l, l->packet->ack);
    if (order == SIDE_ORDER_WRONG || (is_beyond && order == SIDE_ORDER_UNKNOWN)) {
        refuse_header(l, order);
        return false;
    }
    if (is_beyond && replay_packet_ring_find(&l->side->peer->ring, l->packet->ack) != NULL) {
        side_difference_add_conditional(l, REFERENCE_MODEL_DIFFERS_ACK, REPLAY_CONDITION_ORDER);
    }
    receive_until(l, MAX(l->packet->reported, l->packet->ack));
    return true;
}

/* Packets that were not acknowledged may still have arrived, with the acknowledgements that they carry. */
static void set_uncertain_until(const struct side_comparison *l, int64_t before) {
    struct replay_side *side = l->side;
    for (int64_t id = reference_model_reported_id(side->model) + 1; id < before; id++) {
        const struct replay_packet *from = replay_packet_ring_find(&side->peer->ring, id);
        side->undelivered = from != NULL ? id : side->undelivered;
        side->lacks_state |= from != NULL && may_miss_acks(l);
        for (uint32_t i = 0; from != NULL && i < from->ack_count; i++) {
            reference_model_set_ack_uncertain(side->model, full_id(from->acks[i], side->next));
        }
    }
}

/* Legacy packets acknowledge item by item, each twice. */

static bool has_ack(const struct replay_packet *packet, int64_t packet_id) {
    return replay_packet_acknowledges(packet, packet_id) == 1;
}

/* Whether a packet newly acknowledges one before this one. */
static bool has_older_ack(const struct side_comparison *l, const struct replay_packet *packet, int64_t packet_id) {
    for (uint32_t i = 0; i < packet->ack_count; i++) {
        int64_t id = full_id(packet->acks[i], packet_id);
        if (id > l->side->ack_floor && id < packet_id && !has_ack(l->packet, id)) {
            return true;
        }
    }
    return false;
}

/* Whether the next packets show that a new acknowledgement is wrong: none repeats it, and it is of a packet that was
   not sent yet, or they have one that should have been before it. */
static enum side_order order_of_ack(const struct side_comparison *l, int64_t packet_id, bool is_beyond) {
    unsigned older = 0;
    for (int64_t id = l->packet->id + 1; id <= l->packet->id + REPEATING_PACKETS; id++) {
        const struct replay_packet *next = replay_packet_ring_find(&l->side->ring, id);
        if (next == NULL || has_ack(next, packet_id)) {
            return next == NULL && is_beyond ? SIDE_ORDER_UNKNOWN : SIDE_ORDER_FITS;
        }
        older += has_older_ack(l, next, packet_id);
    }
    /* A single older one may itself be wrong. */
    return is_beyond || older > 1 ? SIDE_ORDER_WRONG : older == 1 ? SIDE_ORDER_UNKNOWN : SIDE_ORDER_FITS;
}

static void add_wrong_ack(const struct side_comparison *l, enum replay_condition condition) {
    struct replay_difference *d = side_difference_add_conditional(l, REFERENCE_MODEL_DIFFERS_ACK, condition);
    if (d != NULL) {
        d->fields = l->packet->is_out_of_place ? "packet.seq or legacy.ack_id" : "legacy.ack_id";
    }
}

/* Acknowledges a packet that is older than one that was acknowledged before. It was acknowledged before, too. */
static void compare_old_ack(const struct side_comparison *l, int64_t packet_id) {
    bool may_be_unseen = l->side->lacks_state || may_miss_acks(l);
    if (!may_be_unseen && l->side->acked_ids[packet_id & (REPLAY_PACKETS_MAX - 1)] != packet_id) {
        add_wrong_ack(l, REPLAY_CONDITION_NONE);
    }
}

/* Acknowledges a packet for the first time. False: it is wrong. */
static bool compare_new_ack(const struct side_comparison *l, int64_t id) {
    bool is_beyond = is_not_sent_yet(l, id);
    enum side_order order = order_of_ack(l, id, is_beyond);
    if (order != SIDE_ORDER_FITS) {
        add_wrong_ack(l, order == SIDE_ORDER_WRONG ? REPLAY_CONDITION_NONE
                         : is_beyond               ? REPLAY_CONDITION_EARLIER
                                                   : REPLAY_CONDITION_NEXT);
        return false;
    }
    if (is_beyond && replay_packet_ring_find(&l->side->peer->ring, id) != NULL) {
        add_wrong_ack(l, REPLAY_CONDITION_ORDER);
    }
    return true;
}

static void receive_acked(const struct side_comparison *l, int64_t id) {
    const struct replay_packet *from = replay_packet_ring_find(&l->side->peer->ring, id);
    set_uncertain_until(l, id);
    if (from == NULL) {
        receive_uncaptured(l, id);
    } else if (!receive_packet(l, from, true)) {
        side_difference_add_conditional(l, REFERENCE_MODEL_DIFFERS_HISTORY, REPLAY_CONDITION_EARLIER);
    }
}

static void receive_acks(const struct side_comparison *l) {
    struct replay_side *side = l->side;
    for (uint32_t i = 0; i < l->datagram.item_count && side->model != NULL; i++) {
        const struct ue_item *item = &l->datagram.items[i];
        int64_t reported = reference_model_reported_id(side->model);
        int64_t id = item->is_ack ? full_id(item->ack.ack_id, reported) : reported;
        if (item->is_ack && id <= side->ack_floor) {
            compare_old_ack(l, id);
        } else if (item->is_ack && compare_new_ack(l, id)) {
            side->ack_floor = id;
            side->acked_ids[id & (REPLAY_PACKETS_MAX - 1)] = id;
            if (id > reported) {
                receive_acked(l, id);
            }
        }
    }
}

/* ---- one own packet ---- */

static void set_time(struct replay_side *side, int64_t time_ns) {
    side->begin_ns = side->begin_ns == 0 ? (uint64_t)time_ns : side->begin_ns;
    uint64_t now_ns = CLOCK_BEGIN_NS + (uint64_t)time_ns - side->begin_ns;
    bool is_later = now_ns > side->now_ns && (uint64_t)time_ns >= side->begin_ns;
    side->now_ns = is_later ? now_ns : side->now_ns;
}

/* All packets of a connection have the ids of its handshake (protocol.md 4.1). */
static void compare_ids(const struct side_comparison *l) {
    struct ue_datagram expected = l->datagram;
    bool is_known = side_evidence_ids(l->side, l->packet->id, &expected.prefix);
    bool is_same =
        expected.prefix.session_id == l->packet->session_id && expected.prefix.client_id == l->packet->client_id;
    struct replay_difference *d = is_known && !is_same ? side_difference_add(l, REFERENCE_MODEL_DIFFERS_IDS) : NULL;
    if (d != NULL) {
        replay_difference_set_expected(d, &expected);
    }
}

static void look(struct replay_side *side, const struct replay_packet *packet) {
    struct ue_item items[ITEMS_MAX];
    struct side_comparison l = {.side = side, .packet = packet};
    struct ue_decode_result result;
    const struct reference_model_sink sink = {side_difference_on_report, receive_early, may_know_more, find_number, &l};
    l.datagram.items = items;
    l.datagram.item_capacity = ITEMS_MAX;
    ue_datagram_decode(&side->context, packet->bytes, packet->size_bytes, &l.datagram, NULL, &result);
    set_time(side, packet->time_ns);
    compare_ids(&l);
    int64_t ack_floor = side->ack_floor;
    if (packet->words == 0) {
        receive_acks(&l);
        ack_floor = side->ack_floor;
    } else if (receive_header(&l)) {
        ack_floor = MAX(ack_floor, packet->ack);
    }
    if (packet->is_premature && !side->lacks_state && !may_know_more(&l)) {
        side_difference_add_conditional(&l, REFERENCE_MODEL_DIFFERS_PREMATURE, REPLAY_CONDITION_EARLIER);
    }
    side->frames[packet->id & (REPLAY_PACKETS_MAX - 1)] = packet->frame;
    side->reports[packet->id & (REPLAY_PACKETS_MAX - 1)] = side->received_frame;
    reference_model_compare_sent(side->model, side->now_ns, &l.datagram, &sink);
    side->ack_floor = ack_floor;
    side->packets++;
}

/* The oldest packet of a side that either side still needs. */
static int64_t needed_from(const struct replay_side *side) {
    const struct replay_side *peer = side->peer;
    int64_t own = replay_side_is_active(side) ? side->next : INT64_MAX;
    int64_t others = !replay_side_is_active(peer) ? INT64_MAX
                     : peer->model == NULL        ? side->oldest
                                                  : reference_model_reported_id(peer->model) + 1;
    return MIN(MIN(own, others), side->newest + 1);
}

static void look_at_next(struct replay_side *side) {
    const struct replay_packet *packet = replay_packet_ring_find(&side->ring, side->next);
    uint64_t copies = replay_side_retransmissions(side).copies;
    size_t place = side->next & (REPLAY_PACKETS_MAX - 1);
    uint64_t frame = packet != NULL ? packet->frame : UINT64_MAX;
    if (packet != NULL && packet->id >= side->join) {
        look(side, packet);
    } else {
        side->lacks_state = side->lacks_state || (packet == NULL && side_evidence_is_delivered(side, side->next));
        reference_model_send_unknown(side->model, side->now_ns);
    }
    side->plain[place] = side->plain_count;
    side->times_ns[place] = side->now_ns;
    side->plain_count += replay_side_retransmissions(side).copies == copies;
    side->next++;
    if (reference_model_is_out_of_memory(side->model)) {
        side->obstacle = "its reference endpoint has no memory left";
        return;
    }
    side_difference_add_missing_retransmission(side, MISSING_PACKETS);
    replay_packet_ring_drop(&side->peer->ring, needed_from(side->peer) - KEPT_PACKETS);
    replay_packet_ring_drop(&side->ring, needed_from(side) - KEPT_PACKETS);
    /* A missing retransmission may turn out to be earlier. */
    side->since_difference += side->difference != NULL && frame >= side->difference->frame;
    side->is_over |=
        side->since_difference > MISSING_PACKETS || ue_conn_state(reference_model_conn(side->model)) == UE_CONN_CLOSED;
}

/* Whether the next own packet can be compared: enough packets follow it, or too many of the other side wait for it. */
static bool is_due(const struct replay_side *side) {
    int64_t reported = side->model != NULL ? reference_model_reported_id(side->model) : side->peer->oldest;
    int64_t newest = replay_side_settled_id(side);
    bool is_pressed = replay_side_settled_id(side->peer) - reported > REPLAY_PACKETS_MAX / 2 && newest >= side->next;
    return newest >= side->next + WINDOW || is_pressed;
}

void replay_side_compare(struct replay_side *side, const struct replay_side_start *start, bool is_end) {
    if (side->oldest == 0 || side->peer->oldest == 0) {
        return;
    }
    while (replay_side_is_active(side) && (is_end || is_due(side))) {
        if (side->model == NULL && !start_side(side, start)) {
            side->is_over = side->obstacle != NULL || side->difference != NULL;
            return;
        }
        if (side->next > side->newest) {
            break;
        }
        look_at_next(side);
    }
    if (is_end && side->model != NULL && replay_side_is_active(side)) {
        side_difference_add_missing_retransmission(side, MISSING_PACKETS_AT_END);
    }
}
