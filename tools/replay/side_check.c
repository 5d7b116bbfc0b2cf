/* SPDX-License-Identifier: MIT */
#include "tools/replay/side_check.h"

#include <glib.h>

#include <uerudp/seq.h>

#define WINDOW 256                      /* own packets that wait for those before them; */
#define VOTES 16                        /* ... and whose headers confirm what one says */
#define GRACE 64                        /* own packets without any retransmission until one is missed; */
#define GRACE_AT_END 16                 /* ... when no more will come */
#define ORDER_NS UINT64_C(1000000000)   /* ... where retransmissions that were due later show it, */
#define SILENCE_NS UINT64_C(2000000000) /* ... or where there are none */
#define SHADOW_BYTES ((size_t)4 << 20)  /* of an endpoint; what is not used costs nothing */
#define FIRST_MAX 256                   /* how many first packets may be missing */
#define HASTEN_MAX 32                   /* packets of the other side that an own one may be ahead of its header */
#define DOUBT 256                       /* packets for which one that was not delivered leaves doubts */
#define ITEMS_MAX 1024
#define CLOCK_BEGIN_NS UINT64_C(1000000000)

struct ue_model_retransmissions replay_side_notes(const struct replay_side *side) {
    return side->shadow != NULL ? *ue_model_retransmissions(side->shadow) : side->notes;
}

static void free_shadow(struct replay_side *side) {
    side->notes = replay_side_notes(side);
    ue_conn_free(side->shadow);
    g_free(side->region);
    side->shadow = NULL;
    side->region = NULL;
}

void replay_side_finish(struct replay_side *side) {
    free_shadow(side);
    replay_packet_ring_free(&side->kept);
    side->is_finished = true;
}

void replay_side_free(struct replay_side *side) {
    replay_side_finish(side);
    g_free(side->difference);
}

void replay_side_reset(struct replay_side *side) {
    free_shadow(side);
    g_free(side->difference);
    side->difference = NULL;
    memset(side->departures, 0, sizeof side->departures);
    side->since_difference = 0;
    side->is_over = false;
    side->oldest = MAX(side->oldest, side->kept.oldest);
    side->next = MAX(side->next, side->oldest);
    if (side->is_finished) {
        side->trouble = "its generation was recognised too late";
    }
}

bool replay_side_is_active(const struct replay_side *side) {
    return side->is_checked && !side->is_over && side->trouble == NULL;
}

struct replay_difference *replay_side_add_difference(struct replay_side *side, enum ue_model_difference_type type, uint64_t frame, int64_t id) {
    side->departures[type]++;
    const struct replay_difference *first = side->difference;
    bool is_first = first == NULL || frame < first->frame ||
                    (frame == first->frame && first->type == UE_MODEL_DIFFERS_RECEIVED); /* the complaint of the other side */
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

/* ---- begin ---- */

/* The first own packet from which on the other side's packets are known; false: it has not come. */
static bool find_join(struct replay_side *side, const struct replay_packet **join) {
    for (; side->next <= side->newest; side->next++) {
        const struct replay_packet *kept = replay_packet_ring_find(&side->kept, side->next);
        if (kept != NULL && (kept->words == 0 || kept->judged >= side->peer->oldest - 1)) {
            *join = kept;
            side->join = kept->id;
            return true;
        }
    }
    return false;
}

/* The first packet of the other side of which verdicts are known. */
static int64_t first_judged(const struct replay_side *side, const struct replay_packet *join) {
    int64_t first = join->judged + 1 - (int64_t)join->words * 32;
    return join->words == 0 || first < side->peer->oldest ? side->peer->oldest : first;
}

/* The first own packet that the other side may still acknowledge. */
static int64_t first_unacked(const struct replay_side *side, int64_t in, int64_t first) {
    for (int64_t id = in; id <= side->peer->newest; id++) {
        const struct replay_packet *kept = replay_packet_ring_find(&side->peer->kept, id);
        if (kept != NULL && kept->words != 0) {
            return kept->judged + 1 < first ? kept->judged + 1 : first;
        }
    }
    return first;
}

static bool begin_at(struct replay_side *side, int64_t in, int64_t out, bool is_whole) {
    const struct ue_conn_config config = {
        .profile = &side->context.profile,
        .settings = side->context.settings,
        .role = side->role == 0 ? UE_ROLE_CLIENT : UE_ROLE_SERVER,
        .no_timeouts = true,
        .no_order_cache = true,
        .any_channel = true,
    };
    const struct ue_model_start start = {
        .context = &side->peer->context,
        .prefix = side->prefix,
        .in = in,
        .out = out,
        .opens_freely = (side->ignored >> UE_MODEL_DIFFERS_OPEN & 1) != 0,
        .is_whole = is_whole,
    };
    side->region = g_try_malloc(SHADOW_BYTES);
    if (side->region == NULL) {
        side->trouble = "there is no memory for an endpoint in its place";
        return false;
    }
    side->shadow = ue_conn_new(ue_pool_init(side->region, SHADOW_BYTES), &config);
    if (side->shadow == NULL) {
        side->trouble = "an endpoint does not speak this form";
        return false;
    }
    side->has_begun = true;
    ue_model_begin(side->shadow, &start);
    side->learns = !is_whole;
    side->next = side->patience.order_id = side->patience.silent_id = out;
    return true;
}

static int64_t full_id(uint16_t seq, int64_t near) {
    return ue_seq_expand(seq, near, UE_PACKET_SEQ_MAX);
}

static bool begin_whole(struct replay_side *side, const struct replay_side_start *start) {
    uint16_t out = side->role == 0 ? start->sequences.client : start->sequences.server;
    uint16_t in = side->role == 0 ? start->sequences.server : start->sequences.client;
    int64_t first = full_id(out, side->oldest);
    const struct replay_packet *kept = replay_packet_ring_find(&side->kept, side->oldest);
    if (side->oldest < first || side->oldest - first > FIRST_MAX) {
        replay_side_add_difference(side, UE_MODEL_DIFFERS_SEQUENCE, kept != NULL ? kept->frame : 0, side->oldest);
        return false;
    }
    return begin_at(side, full_id(in, side->peer->oldest), first, true);
}

static bool begin(struct replay_side *side, const struct replay_side_start *start) {
    const struct replay_packet *join;
    if (start->is_known) {
        return begin_whole(side, start);
    }
    if (!find_join(side, &join)) {
        return false;
    }
    int64_t in = first_judged(side, join);
    return begin_at(side, in, first_unacked(side, in, join->id), false);
}

/* ---- departures ---- */

static void keep_actual(struct replay_difference *d, const struct replay_packet *kept) {
    d->actual_bytes = kept->size_bytes < sizeof d->actual ? kept->size_bytes : sizeof d->actual;
    memcpy(d->actual, kept->bytes, d->actual_bytes);
}

/* The own packet that is looked at. */
struct looking {
    struct replay_side *side;
    const struct replay_packet *kept;
    struct ue_datagram datagram;
    unsigned hastened; /* packets given to the endpoint before the header speaks of them */
};

static void expect_item(struct replay_difference *d, const struct looking *l, uint32_t at, const struct ue_bunch *bunch) {
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

static void expect_header(struct replay_difference *d, const struct looking *l, const struct ue_packet *packet) {
    struct ue_datagram expected = l->datagram;
    expected.packet = *packet;
    replay_difference_set_expected(d, &expected);
}

static void on_departure(void *user, const struct ue_model_difference *departure) {
    struct looking *l = user;
    struct replay_difference *d = replay_side_add_difference(l->side, departure->type, l->kept->frame, l->kept->id);
    if (d == NULL) {
        return;
    }
    keep_actual(d, l->kept);
    if (departure->packet != NULL) {
        expect_header(d, l, departure->packet);
    }
    if (!departure->has_item) {
        return;
    }
    const struct ue_bunch *bunch = &l->datagram.items[departure->item].bunch;
    d->has_bunch = true;
    d->channel = bunch->channel;
    d->reliable_id = departure->reliable_id;
    expect_item(d, l, departure->item, departure->bunch);
}

/* ---- what the side took ---- */

/* What most headers say of a packet of the other side, the one that is looked at with the next ones: more than 0
   delivered, less not; 0 when they say nothing, or disagree evenly. Who is ahead of all that are left has won. */
static int votes_on(const struct looking *l, int64_t packet_id) {
    int64_t last = l->kept->id + VOTES;
    int votes = 0;
    for (int64_t id = l->kept->id; id <= last && ABS(votes) <= last - id + 1; id++) {
        const struct replay_packet *kept = replay_packet_ring_find(&l->side->kept, id);
        int claim =
            kept != NULL && (kept->words == 0 || kept->ack <= kept->peer_newest) ? replay_packet_acknowledges(kept, packet_id) : -1;
        votes += claim == 1 ? 1 : claim == 0 ? -1 : 0;
    }
    return votes;
}

/* What headers say of a packet of the other side. */
enum claim {
    CLAIM_UNKNOWN, /* nothing: the histories do not reach back to it */
    CLAIM_LOST,
    CLAIM_DELIVERED
};

static enum claim claim_on(const struct looking *l, int64_t packet_id) {
    int votes = votes_on(l, packet_id);
    int claim = votes == 0 ? replay_packet_acknowledges(l->kept, packet_id) : votes > 0;
    return claim < 0 ? CLAIM_UNKNOWN : claim == 0 ? CLAIM_LOST : CLAIM_DELIVERED;
}

/* What came in packets that were not delivered may have been taken all the same, up to the bunch that was refused:
   then, and when it joined in the middle, the endpoint knows too little to think otherwise than the side. */
static bool is_in_doubt(const struct replay_side *side, int64_t packet_id) {
    return side->learns || packet_id - side->undelivered < DOUBT;
}

/* What the endpoint tells about a packet of the other side. */
static void listen(struct replay_side *side, const struct replay_packet *from) {
    struct ue_event event;
    while (ue_conn_next_event(side->shadow, &event)) {
        side->delivered += event.type == UE_EVENT_BUNCH;
        if (event.type != UE_EVENT_FAULT || is_in_doubt(side, from->id)) {
            continue;
        }
        enum ue_model_difference_type type = event.reason == UE_CLOSE_ALREADY_OPEN ? UE_MODEL_DIFFERS_OPEN : UE_MODEL_DIFFERS_RECEIVED;
        struct replay_difference *d = replay_side_add_difference(side->peer, type, from->frame, from->id);
        if (d != NULL) {
            d->reason = event.reason;
            keep_actual(d, from);
        }
    }
}

/* Whether a packet of the other side may have passed before the capture began, overtaking the first one that was
   captured: as far as others overtake, twice over, for these are few. */
static bool may_be_earlier(const struct looking *l, int64_t packet_id) {
    const struct replay_side *peer = l->side->peer;
    return l->side->learns && packet_id <= peer->oldest + 2 * peer->overtaken;
}

/* Whether a packet was captured but is not kept. */
static bool is_stray(const struct replay_side *side, int64_t packet_id) {
    for (uint64_t i = 0; i < side->stray_count && i < REPLAY_SIDE_STRAYS; i++) {
        if (side->stray_ids[i] == packet_id) {
            return true;
        }
    }
    return false;
}

static void take_uncaptured(const struct looking *l, int64_t packet_id) {
    if (is_stray(l->side->peer, packet_id)) {
        l->side->trouble = "too many packets are missing at once";
    }
    if (may_be_earlier(l, packet_id) || l->side->trouble != NULL) {
        ue_model_receive_unknown(l->side->shadow, packet_id, true);
        return;
    }
    struct replay_difference *d = replay_side_add_difference(l->side, UE_MODEL_DIFFERS_UNCAPTURED, l->kept->frame, l->kept->id);
    if (d != NULL) {
        d->other_id = packet_id - l->side->peer->offset;
    }
    ue_model_receive_unknown(l->side->shadow, packet_id, true);
}

/* Whether it counts as delivered, which the side says it does or not. */
static bool take_packet(const struct looking *l, const struct replay_packet *from, bool said) {
    struct replay_side *side = l->side;
    bool delivered = ue_model_receive(side->shadow, side->now_ns, from->bytes, from->size_bytes);
    listen(side, from);
    if (delivered != said && is_in_doubt(side, from->id)) {
        ue_model_set_delivered(side->shadow, from->id, said);
        delivered = said;
    }
    return delivered;
}

/* Everything up to a packet that was taken, in order. What was not delivered is left out, but for the last, which can
   only be known because it arrived. */
static void take_until(const struct looking *l, int64_t last) {
    struct replay_side *side = l->side;
    for (int64_t id = ue_model_reported_id(side->shadow) + 1; id <= last; id++) {
        enum claim claim = claim_on(l, id);
        bool delivered = claim == CLAIM_DELIVERED;
        const struct replay_packet *from = replay_packet_ring_find(&side->peer->kept, id);
        side->undelivered = from != NULL && !delivered ? id : side->undelivered;
        side->learns |= from != NULL && claim == CLAIM_UNKNOWN;
        if (from != NULL && (delivered || id == last)) {
            take_packet(l, from, delivered);
        } else if (delivered) {
            take_uncaptured(l, id);
        } else if (id == last) {
            ue_model_receive_unknown(side->shadow, id, false);
        }
    }
}

/* Up to 4.21: whether acknowledgements may be in own packets that are not in the capture. */
static bool may_miss_acks(const struct looking *l) {
    int64_t last = MIN(l->kept->id + VOTES, l->side->newest);
    for (int64_t id = l->kept->id + 1; l->kept->words == 0 && id <= last; id++) {
        if (replay_packet_ring_find(&l->side->kept, id) == NULL) {
            return true;
        }
    }
    return l->kept->words == 0 && ue_model_unknown_id(l->side->shadow) > l->kept->id - DOUBT;
}

/* Whether the side may have taken a packet that no header spoke of yet: they say so later, or none comes any more. */
static bool may_be_taken(const struct looking *l, int64_t packet_id) {
    int votes = votes_on(l, packet_id);
    return votes > 0 || (votes == 0 && (l->side->newest - l->kept->id < VOTES || may_miss_acks(l)));
}

static bool hasten(void *user, int64_t nacked_id) {
    struct looking *l = user;
    int64_t first = ue_model_reported_id(l->side->shadow) + 1;
    for (int64_t id = first; id <= l->kept->peer_newest && id < first + HASTEN_MAX; id++) {
        const struct replay_packet *from = replay_packet_ring_find(&l->side->peer->kept, id);
        bool explains = from != NULL && (nacked_id < 0 || replay_packet_acknowledges(from, nacked_id) == 0);
        if (explains && l->hastened < HASTEN_MAX && may_be_taken(l, id)) {
            l->hastened++;
            take_until(l, id);
            return true;
        }
    }
    return false;
}

static struct replay_difference *depart_here(const struct looking *l, enum ue_model_difference_type type) {
    struct replay_difference *d = replay_side_add_difference(l->side, type, l->kept->frame, l->kept->id);
    if (d != NULL) {
        keep_actual(d, l->kept);
    }
    return d;
}

/* An acknowledgement of what was not sent yet; the header is then taken as one that says nothing new. */
static void refuse_header(struct looking *l) {
    struct ue_packet expected = l->datagram.packet;
    struct replay_difference *d = depart_here(l, UE_MODEL_DIFFERS_ACK);
    expected.ack = ue_seq_of(l->kept->peer_newest);
    if (d != NULL) {
        expect_header(d, l, &expected);
    }
    l->datagram.packet.history_words = 0;
    l->datagram.packet.ack = l->datagram.packet.acked_history_seq = ue_seq_of(ue_model_reported_id(l->side->shadow));
}

/* Packets that were not acknowledged may have come all the same, and their acknowledgements with them. */
static void doubt_until(const struct looking *l, int64_t before) {
    struct replay_side *side = l->side;
    for (int64_t id = ue_model_reported_id(side->shadow) + 1; id < before; id++) {
        const struct replay_packet *from = replay_packet_ring_find(&side->peer->kept, id);
        side->undelivered = from != NULL ? id : side->undelivered;
        side->learns |= from != NULL && may_miss_acks(l);
        for (uint32_t i = 0; from != NULL && i < from->ack_count; i++) {
            ue_model_set_ack_uncertain(side->shadow, full_id(from->acks[i], side->next));
        }
    }
}

/* Legacy packets acknowledge item by item, and repeat each. */
static void take_acks(const struct looking *l) {
    struct replay_side *side = l->side;
    for (uint32_t i = 0; i < l->datagram.item_count && side->shadow != NULL; i++) {
        const struct ue_item *item = &l->datagram.items[i];
        int64_t judged = ue_model_reported_id(side->shadow);
        int64_t id = item->is_ack ? full_id(item->ack.ack_id, judged) : judged;
        const struct replay_packet *from = replay_packet_ring_find(&side->peer->kept, id);
        if (id <= judged) {
            continue;
        }
        doubt_until(l, id);
        if (id > l->kept->peer_newest && !may_be_earlier(l, id)) {
            struct replay_difference *d = depart_here(l, UE_MODEL_DIFFERS_ACK);
            if (d != NULL) {
                expect_item(d, l, i, NULL);
            }
        } else if (from == NULL) {
            take_uncaptured(l, id);
        } else if (!take_packet(l, from, true)) {
            struct replay_difference *d = depart_here(l, UE_MODEL_DIFFERS_HISTORY);
            if (d != NULL) {
                expect_item(d, l, i, NULL);
            }
        }
    }
}

/* ---- one own packet ---- */

/* Whether an own packet is older than a number of packets without retransmissions, and than a time. */
static bool is_past(const struct replay_side *side, int64_t id, uint64_t packets, uint64_t wait_ns) {
    size_t place = id & (REPLAY_PACKETS_MAX - 1);
    return id < side->next && side->plain_count - side->plain[place] >= packets &&
           side->now_ns - side->times_ns[place] >= wait_ns;
}

static void grow_impatient(struct replay_side *side, uint64_t packets) {
    struct ue_model_retransmission_limits *patience = &side->patience;
    while (is_past(side, patience->order_id, packets, ORDER_NS)) {
        patience->order_id++;
    }
    while (is_past(side, patience->silent_id, packets, SILENCE_NS)) {
        patience->silent_id++;
    }
}

static void miss_retransmissions(struct replay_side *side, uint64_t grace) {
    struct ue_model_missing_retransmission debt;
    grow_impatient(side, grace);
    if (!ue_model_find_missing_retransmission(side->shadow, &side->patience, &debt) || debt.since_id <= side->next - REPLAY_PACKETS_MAX) {
        return;
    }
    struct replay_difference *d =
        replay_side_add_difference(side, UE_MODEL_DIFFERS_NOT_RESENT, side->frames[debt.since_id & (REPLAY_PACKETS_MAX - 1)], debt.since_id);
    if (d != NULL) {
        d->has_bunch = true;
        d->channel = debt.channel;
        d->reliable_id = debt.reliable_id;
    }
}

static void set_time(struct replay_side *side, int64_t time_ns) {
    side->begin_ns = side->begin_ns == 0 ? (uint64_t)time_ns : side->begin_ns;
    uint64_t now_ns = CLOCK_BEGIN_NS + (uint64_t)time_ns - side->begin_ns;
    bool is_later = now_ns > side->now_ns && (uint64_t)time_ns >= side->begin_ns;
    side->now_ns = is_later ? now_ns : side->now_ns;
}

static void look(struct replay_side *side, const struct replay_packet *kept) {
    static struct ue_item items[ITEMS_MAX];
    struct looking l = {.side = side, .kept = kept};
    struct ue_decode_result verdict;
    const struct ue_model_sink sink = {on_departure, hasten, &l};
    l.datagram.items = items;
    l.datagram.item_capacity = ITEMS_MAX;
    ue_datagram_decode(&side->context, kept->bytes, kept->size_bytes, &l.datagram, &verdict);
    set_time(side, kept->time_ns);
    if (kept->is_premature) {
        depart_here(&l, UE_MODEL_DIFFERS_PREMATURE);
    }
    if (kept->words == 0) {
        take_acks(&l);
    } else if (kept->ack > kept->peer_newest && !may_be_earlier(&l, kept->ack)) {
        refuse_header(&l);
    } else {
        take_until(&l, MAX(kept->judged, kept->ack));
    }
    side->frames[kept->id & (REPLAY_PACKETS_MAX - 1)] = kept->frame;
    ue_model_compare_sent(side->shadow, side->now_ns, &l.datagram, &sink);
    side->packets++;
}

/* The oldest packet of a side that it or the other one still needs. */
static int64_t needed_from(const struct replay_side *side) {
    const struct replay_side *peer = side->peer;
    int64_t own = replay_side_is_active(side) ? side->next : INT64_MAX;
    int64_t others = !replay_side_is_active(peer) ? INT64_MAX
                     : peer->shadow == NULL    ? side->oldest
                                               : ue_model_reported_id(peer->shadow) + 1;
    return MIN(MIN(own, others), side->newest + 1);
}

static void look_at_next(struct replay_side *side) {
    const struct replay_packet *kept = replay_packet_ring_find(&side->kept, side->next);
    uint64_t copies = ue_model_retransmissions(side->shadow)->copies;
    size_t place = side->next & (REPLAY_PACKETS_MAX - 1);
    if (kept != NULL && kept->id >= side->join) {
        look(side, kept);
    } else {
        ue_model_send_unknown(side->shadow, side->now_ns);
    }
    side->plain[place] = side->plain_count;
    side->times_ns[place] = side->now_ns;
    side->plain_count += ue_model_retransmissions(side->shadow)->copies == copies;
    side->next++;
    if (ue_model_is_out_of_memory(side->shadow)) {
        side->trouble = "the endpoint in its place has no memory left";
        return;
    }
    miss_retransmissions(side, GRACE);
    replay_packet_ring_drop(&side->peer->kept, needed_from(side->peer));
    replay_packet_ring_drop(&side->kept, needed_from(side));
    side->since_difference += side->difference != NULL; /* a missing retransmission may prove to be earlier */
    side->is_over |= side->since_difference > GRACE || ue_conn_state(side->shadow) == UE_CONN_CLOSED;
}

/* Whether there is enough behind the next own packet to look at it, or so much of the other side waits for it that it
   cannot be put off. */
static bool is_due(const struct replay_side *side) {
    int64_t judged = side->shadow != NULL ? ue_model_reported_id(side->shadow) : side->peer->oldest;
    bool is_pressed = side->peer->newest - judged > REPLAY_PACKETS_MAX / 2 && side->newest >= side->next;
    return side->newest >= side->next + WINDOW || is_pressed;
}

void replay_side_compare(struct replay_side *side, const struct replay_side_start *start, bool is_end) {
    if (side->oldest == 0 || side->peer->oldest == 0) {
        return;
    }
    while (replay_side_is_active(side) && (is_end || is_due(side))) {
        if (side->shadow == NULL && !begin(side, start)) {
            side->is_over = side->trouble != NULL || side->difference != NULL;
            return;
        }
        if (side->next > side->newest) {
            break;
        }
        look_at_next(side);
    }
    if (is_end && side->shadow != NULL && replay_side_is_active(side)) {
        miss_retransmissions(side, GRACE_AT_END);
    }
}
