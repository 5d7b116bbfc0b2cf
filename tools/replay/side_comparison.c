/* SPDX-License-Identifier: MIT */
#include "tools/replay/side_comparison.h"

#include <glib.h>

#include <uerudp/seq.h>

#define WINDOW 256                      /* own packets that wait for earlier ones; */
#define VOTES 16                        /* ... and whose headers confirm what one header reports */
#define MISSING_PACKETS 64              /* own packets without retransmission before one counts as missing; */
#define MISSING_PACKETS_AT_END 16       /* ... at the end of the capture */
#define ORDER_NS UINT64_C(1000000000)   /* ... where later retransmissions show it, */
#define SILENCE_NS UINT64_C(2000000000) /* ... or where there are none */
#define FIRST_MAX 256                   /* first packets that may be missing */
#define EARLY_MAX 32          /* packets of the other side that an own packet may use before its header reports them */
#define UNCERTAIN_PACKETS 256 /* packets after one that was not delivered whose content is uncertain */
#define ITEMS_MAX 1024
#define CLOCK_BEGIN_NS UINT64_C(1000000000)

struct reference_model_retransmissions replay_side_retransmissions(const struct replay_side *side) {
    return side->model != NULL ? *reference_model_get_retransmissions(side->model) : side->retransmissions;
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

bool replay_side_is_active(const struct replay_side *side) {
    return side->is_checked && !side->is_over && side->obstacle == NULL;
}

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
    d->has_bunch = false;
    d->context = side->context;
    d->actual_bytes = d->expected_bytes = 0;
    return d;
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
    const struct reference_model_start start = {
        .context = &side->peer->context,
        .prefix = side->prefix,
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
        replay_side_add_difference(side, REFERENCE_MODEL_DIFFERS_SEQUENCE, packet != NULL ? packet->frame : 0,
                                   side->oldest);
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

/* ---- differences ---- */

static void set_actual(struct replay_difference *d, const struct replay_packet *packet) {
    d->actual_bytes = packet->size_bytes < sizeof d->actual ? packet->size_bytes : sizeof d->actual;
    memcpy(d->actual, packet->bytes, d->actual_bytes);
}

/* The comparison of one own packet. */
struct side_comparison {
    struct replay_side *side;
    const struct replay_packet *packet;
    struct ue_datagram datagram;
    unsigned early_packets; /* packets that the endpoint received before the header reports them */
};

static void set_expected_item(struct replay_difference *d, const struct side_comparison *l, uint32_t at,
                              const struct ue_bunch *bunch) {
    struct ue_datagram expected = l->datagram;
    uint32_t behind = (uint32_t)expected.item_count - at - 1;
    expected.items = g_memdup2(expected.items, expected.item_count * sizeof *expected.items);
    if (bunch != NULL) {
        expected.items[at].bunch = *bunch;
    } else {
        memmove(&expected.items[at], &expected.items[at + 1], behind * sizeof *expected.items);
        expected.item_count--;
    }
    replay_difference_set_expected(d, &expected);
    g_free(expected.items);
}

static void set_expected_header(struct replay_difference *d, const struct side_comparison *l,
                                const struct ue_packet *packet) {
    struct ue_datagram expected = l->datagram;
    expected.packet = *packet;
    replay_difference_set_expected(d, &expected);
}

static void on_difference(void *user, const struct reference_model_difference *difference) {
    struct side_comparison *l = user;
    struct replay_difference *d =
        replay_side_add_difference(l->side, difference->type, l->packet->frame, l->packet->id);
    if (d == NULL) {
        return;
    }
    set_actual(d, l->packet);
    if (difference->packet != NULL) {
        set_expected_header(d, l, difference->packet);
    }
    if (!difference->has_item) {
        return;
    }
    const struct ue_bunch *bunch = &l->datagram.items[difference->item].bunch;
    d->has_bunch = true;
    d->channel = bunch->channel;
    d->reliable_id = difference->reliable_id;
    set_expected_item(d, l, difference->item, difference->bunch);
}

/* ---- packets that the side received ---- */

/* The votes of headers on a packet of the other side, that of the own packet and of the next ones: above 0 delivered,
   below 0 not, 0 nothing or a tie. The result is final once one value leads by more than the votes left. */
static int votes_on(const struct side_comparison *l, int64_t packet_id) {
    int64_t last = l->packet->id + VOTES;
    int votes = 0;
    for (int64_t id = l->packet->id; id <= last && ABS(votes) <= last - id + 1; id++) {
        const struct replay_packet *packet = replay_packet_ring_find(&l->side->ring, id);
        int report = packet != NULL && (packet->words == 0 || packet->ack <= packet->peer_newest)
                         ? replay_packet_acknowledges(packet, packet_id)
                         : -1;
        votes += report == 1 ? 1 : report == 0 ? -1 : 0;
    }
    return votes;
}

/* What headers report of a packet of the other side. */
enum side_report {
    REPORT_NONE, /* nothing: no history reaches back to it */
    REPORT_LOST,
    REPORT_DELIVERED
};

static enum side_report report_of(const struct side_comparison *l, int64_t packet_id) {
    int votes = votes_on(l, packet_id);
    int report = votes == 0 ? replay_packet_acknowledges(l->packet, packet_id) : votes > 0;
    return report < 0 ? REPORT_NONE : report == 0 ? REPORT_LOST : REPORT_DELIVERED;
}

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
            set_actual(d, from);
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

static void receive_uncaptured(const struct side_comparison *l, int64_t packet_id) {
    if (is_out_of_range(l->side->peer, packet_id)) {
        l->side->obstacle = "too many packets are missing at once";
    }
    if (may_be_earlier(l, packet_id) || l->side->obstacle != NULL) {
        reference_model_report_packet(l->side->model, packet_id, true);
        return;
    }
    struct replay_difference *d =
        replay_side_add_difference(l->side, REFERENCE_MODEL_DIFFERS_UNCAPTURED, l->packet->frame, l->packet->id);
    if (d != NULL) {
        d->other_id = packet_id - l->side->peer->offset;
    }
    reference_model_report_packet(l->side->model, packet_id, true);
}

/* Passes a packet to the endpoint. Returns whether it counts as delivered there. */
static bool receive_packet(const struct side_comparison *l, const struct replay_packet *from, bool reported_delivered) {
    struct replay_side *side = l->side;
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
        enum side_report report = report_of(l, id);
        bool delivered = report == REPORT_DELIVERED;
        const struct replay_packet *from = replay_packet_ring_find(&side->peer->ring, id);
        side->undelivered = from != NULL && !delivered ? id : side->undelivered;
        side->lacks_state |= from != NULL && report == REPORT_NONE;
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
    int64_t last = MIN(l->packet->id + VOTES, l->side->newest);
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
    int votes = votes_on(l, packet_id);
    return votes > 0 || (votes == 0 && (l->side->newest - l->packet->id < VOTES || may_miss_acks(l)));
}

static bool receive_early(void *user, int64_t nacked_id) {
    struct side_comparison *l = user;
    int64_t first = reference_model_reported_id(l->side->model) + 1;
    for (int64_t id = first; id <= l->packet->peer_newest && id < first + EARLY_MAX; id++) {
        const struct replay_packet *from = replay_packet_ring_find(&l->side->peer->ring, id);
        bool explains = from != NULL && (nacked_id < 0 || replay_packet_acknowledges(from, nacked_id) == 0);
        if (explains && l->early_packets < EARLY_MAX && may_be_received(l, id)) {
            l->early_packets++;
            receive_until(l, id);
            return true;
        }
    }
    return false;
}

static struct replay_difference *add_difference(const struct side_comparison *l,
                                                enum reference_model_difference_type type) {
    struct replay_difference *d = replay_side_add_difference(l->side, type, l->packet->frame, l->packet->id);
    if (d != NULL) {
        set_actual(d, l->packet);
    }
    return d;
}

/* The header acknowledges what was not sent yet; it is then handled as one that reports nothing new. */
static void refuse_header(struct side_comparison *l) {
    struct ue_packet expected = l->datagram.packet;
    struct replay_difference *d = add_difference(l, REFERENCE_MODEL_DIFFERS_ACK);
    expected.ack = ue_seq_of(l->packet->peer_newest);
    if (d != NULL) {
        set_expected_header(d, l, &expected);
    }
    l->datagram.packet.history_words = 0;
    l->datagram.packet.ack = l->datagram.packet.acked_history_seq =
        ue_seq_of(reference_model_reported_id(l->side->model));
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
static void receive_acks(const struct side_comparison *l) {
    struct replay_side *side = l->side;
    for (uint32_t i = 0; i < l->datagram.item_count && side->model != NULL; i++) {
        const struct ue_item *item = &l->datagram.items[i];
        int64_t reported = reference_model_reported_id(side->model);
        int64_t id = item->is_ack ? full_id(item->ack.ack_id, reported) : reported;
        const struct replay_packet *from = replay_packet_ring_find(&side->peer->ring, id);
        if (id <= reported) {
            continue;
        }
        set_uncertain_until(l, id);
        if (id > l->packet->peer_newest && !may_be_earlier(l, id)) {
            struct replay_difference *d = add_difference(l, REFERENCE_MODEL_DIFFERS_ACK);
            if (d != NULL) {
                set_expected_item(d, l, i, NULL);
            }
        } else if (from == NULL) {
            receive_uncaptured(l, id);
        } else if (!receive_packet(l, from, true)) {
            struct replay_difference *d = add_difference(l, REFERENCE_MODEL_DIFFERS_HISTORY);
            if (d != NULL) {
                set_expected_item(d, l, i, NULL);
            }
        }
    }
}

/* ---- one own packet ---- */

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

static void miss_retransmissions(struct replay_side *side, uint64_t grace) {
    struct reference_model_missing_retransmission missing;
    grow_impatient(side, grace);
    if (!reference_model_find_missing_retransmission(side->model, &side->limits, &missing) ||
        missing.since_id <= side->next - REPLAY_PACKETS_MAX) {
        return;
    }
    struct replay_difference *d =
        replay_side_add_difference(side, REFERENCE_MODEL_DIFFERS_NOT_RESENT,
                                   side->frames[missing.since_id & (REPLAY_PACKETS_MAX - 1)], missing.since_id);
    if (d != NULL) {
        d->has_bunch = true;
        d->channel = missing.channel;
        d->reliable_id = missing.reliable_id;
    }
}

static void set_time(struct replay_side *side, int64_t time_ns) {
    side->begin_ns = side->begin_ns == 0 ? (uint64_t)time_ns : side->begin_ns;
    uint64_t now_ns = CLOCK_BEGIN_NS + (uint64_t)time_ns - side->begin_ns;
    bool is_later = now_ns > side->now_ns && (uint64_t)time_ns >= side->begin_ns;
    side->now_ns = is_later ? now_ns : side->now_ns;
}

static void look(struct replay_side *side, const struct replay_packet *packet) {
    static struct ue_item items[ITEMS_MAX];
    struct side_comparison l = {.side = side, .packet = packet};
    struct ue_decode_result result;
    const struct reference_model_sink sink = {on_difference, receive_early, &l};
    l.datagram.items = items;
    l.datagram.item_capacity = ITEMS_MAX;
    ue_datagram_decode(&side->context, packet->bytes, packet->size_bytes, &l.datagram, NULL, &result);
    set_time(side, packet->time_ns);
    if (packet->is_premature) {
        add_difference(&l, REFERENCE_MODEL_DIFFERS_PREMATURE);
    }
    if (packet->words == 0) {
        receive_acks(&l);
    } else if (packet->ack > packet->peer_newest && !may_be_earlier(&l, packet->ack)) {
        refuse_header(&l);
    } else {
        receive_until(&l, MAX(packet->reported, packet->ack));
    }
    side->frames[packet->id & (REPLAY_PACKETS_MAX - 1)] = packet->frame;
    reference_model_compare_sent(side->model, side->now_ns, &l.datagram, &sink);
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
    uint64_t copies = reference_model_get_retransmissions(side->model)->copies;
    size_t place = side->next & (REPLAY_PACKETS_MAX - 1);
    if (packet != NULL && packet->id >= side->join) {
        look(side, packet);
    } else {
        reference_model_send_unknown(side->model, side->now_ns);
    }
    side->plain[place] = side->plain_count;
    side->times_ns[place] = side->now_ns;
    side->plain_count += reference_model_get_retransmissions(side->model)->copies == copies;
    side->next++;
    if (reference_model_is_out_of_memory(side->model)) {
        side->obstacle = "its reference endpoint has no memory left";
        return;
    }
    miss_retransmissions(side, MISSING_PACKETS);
    replay_packet_ring_drop(&side->peer->ring, needed_from(side->peer));
    replay_packet_ring_drop(&side->ring, needed_from(side));
    side->since_difference += side->difference != NULL; /* a missing retransmission may turn out to be earlier */
    side->is_over |=
        side->since_difference > MISSING_PACKETS || ue_conn_state(reference_model_conn(side->model)) == UE_CONN_CLOSED;
}

/* Whether the next own packet can be compared: enough packets follow it, or too many of the other side wait for it. */
static bool is_due(const struct replay_side *side) {
    int64_t reported = side->model != NULL ? reference_model_reported_id(side->model) : side->peer->oldest;
    bool is_pressed = side->peer->newest - reported > REPLAY_PACKETS_MAX / 2 && side->newest >= side->next;
    return side->newest >= side->next + WINDOW || is_pressed;
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
        miss_retransmissions(side, MISSING_PACKETS_AT_END);
    }
}
