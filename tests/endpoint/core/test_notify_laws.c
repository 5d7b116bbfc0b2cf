/* SPDX-License-Identifier: MIT */
/* Laws of two ack state machines over a network with loss, duplication, reordering, outages, bursts without answers,
   and the wrap of sequences (endpoint.md 10 to 14). The test counts in full numbers, and remembers what each receiver
   reported of each packet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/endpoint/core/packet_notify.h"
#include <uerudp/seq.h>
#include "tests/support/rng.h"
#include "tests/support/within.h"

#define STEPS 2000000
#define PHASE_STEPS 2000
#define LINK_PACKETS 64
#define IN_FLIGHT_MAX 6000 /* beyond half the sequences acks are ambiguous */
#define SEQ_MASK (UE_PACKET_SEQ_MAX - 1)

struct sent_packet {
    int64_t id;
    struct ue_packet header;
};

/* One side, and the link that carries its packets. */
struct notify_side {
    struct ue_notify n;
    struct sent_packet pending;
    bool has_pending;
    int64_t out_id; /* of the next packet that it sends */
    int64_t in_id;  /* of the newest packet that it accepted from the peer */
    int64_t acked_id;
    bool was_delivered[UE_PACKET_SEQ_MAX]; /* own packets that the peer delivered */
    struct sent_packet link[LINK_PACKETS];
    unsigned on_link;
    uint64_t lost;
    uint64_t delivered;
    uint64_t nacked_though_delivered; /* delivered, but reported as not received */
    uint64_t waits;
};

struct notify_network {
    struct notify_side sides[2];
    struct rng rng;
    unsigned send_percent[2]; /* of the current phase */
    unsigned loss_percent;
    unsigned copy_percent;
    unsigned reorder_percent;
};

static struct ue_share share;
static struct notify_network network;

static void begin_header(struct notify_side *e) {
    if (!e->has_pending) {
        e->pending.header = (struct ue_packet){0};
        assert_true(ue_notify_write(&e->n, false, &e->pending.header));
        e->has_pending = true;
    }
}

static void put_on_link(struct notify_network *w, struct notify_side *e, const struct sent_packet *packet) {
    if (e->on_link < LINK_PACKETS && !rng_chance(&w->rng, w->loss_percent)) {
        e->link[e->on_link++] = *packet;
    }
}

static void flush(struct notify_network *w, struct notify_side *e) {
    if (ue_notify_in_flight(&e->n) > IN_FLIGHT_MAX) {
        return;
    }
    begin_header(e);
    struct ue_packet *header = &e->pending.header;
    uint8_t words = header->history_words;
    bool is_reset = e->n.generation == UE_ACKS_RESET && ue_notify_is_waiting(&e->n);
    bool fits = is_reset ? words == UE_HISTORY_WORDS_MAX : ue_notify_unreported(&e->n) <= words * 32u;
    assert_int_equal(ue_notify_write(&e->n, true, header), fits);
    assert_true(header->history_words == words && (words == UE_HISTORY_WORDS_MAX || !header->history_flush));
    assert_int_equal(e->pending.header.seq, e->out_id & SEQ_MASK);
    e->has_pending = false;
    e->pending.id = e->out_id++;
    e->was_delivered[e->pending.id & SEQ_MASK] = false;
    ue_notify_commit(&e->n);
    put_on_link(w, e, &e->pending);
    if (rng_chance(&w->rng, w->copy_percent)) {
        put_on_link(w, e, &e->pending);
    }
}

/* Each own packet is reported exactly once, in order, and no packet is acknowledged that was not delivered. */
static void check_ack(struct notify_network *w, struct notify_side *e, uint16_t seq, bool delivered) {
    bool was_delivered = e->was_delivered[seq];
    assert_int_equal(seq, ++e->acked_id & SEQ_MASK);
    assert_true(e->acked_id < e->out_id);
    assert_true(was_delivered || !delivered);
    e->delivered += delivered;
    e->lost += !delivered;
    e->nacked_though_delivered += was_delivered && !delivered;
    if (rng_chance(&w->rng, 1)) { /* a resend fills and sends the packet under construction */
        flush(w, e);
    }
}

static void read_acks(struct notify_network *w, struct notify_side *to, const struct sent_packet *packet) {
    struct ue_notify_acks acks;
    uint16_t seq;
    bool delivered;
    ue_notify_begin_acks(&to->n, &packet->header, &acks);
    while (ue_notify_next_ack(&acks, &seq, &delivered)) {
        check_ack(w, to, seq, delivered);
    }
    ue_notify_end_acks(&to->n, &packet->header);
    assert_int_equal(to->n.out_ack_seq, to->acked_id & SEQ_MASK);
}

static void report_packet(struct notify_network *w, struct notify_side *from, struct notify_side *to,
                          const struct sent_packet *packet) {
    assert_int_equal(to->in_id, packet->id);
    assert_true(packet->id > from->acked_id); /* it was not reported before */
    if (rng_chance(&w->rng, 5)) {             /* a receive hook answers at once */
        flush(w, to);
    }
    bool delivered = !rng_chance(&w->rng, 5);
    ue_notify_report(&to->n, packet->header.seq, delivered);
    from->was_delivered[packet->id & SEQ_MASK] = delivered;
}

static void receive(struct notify_network *w, struct notify_side *from, struct notify_side *to,
                    const struct sent_packet *packet) {
    int64_t ahead = packet->id - to->in_id;
    bool is_outdated = ue_seq_newer((uint32_t)to->acked_id & SEQ_MASK, packet->header.ack);
    bool is_accepted = ahead > 0 && !is_outdated;
    assert_int_equal(ue_notify_delta(&to->n, &packet->header), is_accepted ? ahead : 0);
    if (!is_accepted) {
        /* A newer packet brought the acks and was refused during the wait for the flush. */
        assert_true(ahead <= 0 || to->n.generation == UE_ACKS_FLUSH);
        return;
    }
    uint16_t known = to->n.in_ack_seq_ack;
    read_acks(w, to, packet);
    to->in_id += ue_notify_accept(&to->n, &packet->header);
    assert_int_equal(to->n.in_seq, to->in_id & SEQ_MASK);
    assert_true(to->n.generation == UE_ACKS_PLAIN || !ue_seq_newer(known, to->n.in_ack_seq_ack)); /* never goes back */
    if (ue_notify_is_waiting(&to->n)) {
        to->waits++;
    } else {
        report_packet(w, from, to, packet);
    }
}

/* Delivers the oldest packet of a link, or one of the next seven. */
static void deliver(struct notify_network *w, struct notify_side *from, struct notify_side *to) {
    if (from->on_link == 0) {
        return;
    }
    unsigned window = from->on_link < 8 ? from->on_link : 8;
    unsigned at = rng_chance(&w->rng, w->reorder_percent) ? (unsigned)rng_below(&w->rng, window) : 0;
    struct sent_packet packet = from->link[at];
    from->on_link--;
    memmove(&from->link[at], &from->link[at + 1], (from->on_link - at) * sizeof packet);
    receive(w, from, to, &packet);
}

static void new_phase(struct notify_network *w) {
    static const unsigned percents[] = {0, 0, 2, 10, 40, 100};
    w->loss_percent = percents[rng_below(&w->rng, 6)];
    w->copy_percent = percents[rng_below(&w->rng, 4)];
    w->reorder_percent = percents[rng_below(&w->rng, 5)];
    w->send_percent[0] = percents[rng_below(&w->rng, 6)];
    w->send_percent[1] = percents[rng_below(&w->rng, 6)];
}

static void step(struct notify_network *w) {
    unsigned side = (unsigned)rng_below(&w->rng, 2);
    struct notify_side *e = &w->sides[side];
    if (rng_chance(&w->rng, 50)) {
        deliver(w, &w->sides[!side], e);
    } else if (rng_chance(&w->rng, w->send_percent[side])) {
        flush(w, e);
    } else if (rng_chance(&w->rng, 10)) {
        begin_header(e);
    }
}

/* On a perfect network every packet is soon reported, and no side waits for a flush. */
static void drain(struct notify_network *w) {
    w->loss_percent = w->copy_percent = w->reorder_percent = 0;
    for (unsigned i = 0; i < 64 * LINK_PACKETS; i++) {
        unsigned side = i & 1;
        if (w->sides[side].on_link == 0) {
            flush(w, &w->sides[side]);
        }
        deliver(w, &w->sides[side], &w->sides[!side]);
    }
    for (unsigned side = 0; side < 2; side++) {
        assert_true(is_within(ue_notify_in_flight(&w->sides[side].n), 0, 3));
        assert_false(ue_notify_is_waiting(&w->sides[side].n));
    }
}

static void start(struct notify_network *w, enum ue_ack_generation first, enum ue_ack_generation second) {
    int64_t from[2] = {(int64_t)rng_below(&w->rng, UE_PACKET_SEQ_MAX), (int64_t)rng_below(&w->rng, UE_PACKET_SEQ_MAX)};
    for (unsigned side = 0; side < 2; side++) {
        struct notify_side *e = &w->sides[side];
        *e = (struct notify_side){.out_id = from[side], .in_id = from[!side] - 1, .acked_id = from[side] - 1};
        ue_notify_init(&e->n, side == 0 ? first : second, (uint16_t)(e->in_id & SEQ_MASK), (uint16_t)e->out_id, &share);
    }
}

static void check_side(const struct notify_side *e, const struct notify_side *peer) {
    print_message("delivered %llu, lost %llu, delivered but nacked %llu, waits %llu\n",
                  (unsigned long long)e->delivered, (unsigned long long)e->lost,
                  (unsigned long long)e->nacked_though_delivered, (unsigned long long)e->waits);
    /* The run had enough acks and naks, several wraps, and overflows of each kind. */
    assert_true(e->delivered > STEPS / 50 && e->lost > STEPS / 100 && e->out_id > 4 * UE_PACKET_SEQ_MAX);
    if (peer->n.generation == UE_ACKS_PLAIN) {
        assert_true(peer->waits == 0 && e->nacked_though_delivered > 0);
    } else {
        assert_true(peer->waits > 0 && e->nacked_though_delivered == 0);
    }
    assert_int_equal(e->n.missing_records, 0);
}

static void run(const char *name, enum ue_ack_generation first, enum ue_ack_generation second) {
    struct notify_network *w = &network;
    ue_share_init(&share, NULL, 256 * 1024);
    w->rng = rng_seeded(name);
    start(w, first, second);
    for (unsigned i = 0; i < STEPS; i++) {
        if (i % PHASE_STEPS == 0) {
            new_phase(w);
        }
        step(w);
    }
    drain(w);
    for (unsigned side = 0; side < 2; side++) {
        check_side(&w->sides[side], &w->sides[!side]);
        ue_notify_free(&w->sides[side].n);
    }
    assert_true(share.used_bytes == 0);
}

static void laws_hold_in_generation_a(void **state) {
    run("laws_hold_in_generation_a", UE_ACKS_PLAIN, UE_ACKS_PLAIN);
}

static void laws_hold_in_generation_b(void **state) {
    run("laws_hold_in_generation_b", UE_ACKS_FLUSH, UE_ACKS_FLUSH);
}

static void laws_hold_in_generation_c(void **state) {
    run("laws_hold_in_generation_c", UE_ACKS_RESET, UE_ACKS_RESET);
}

static void laws_hold_between_generations_a_and_b(void **state) {
    run("laws_hold_between_generations_a_and_b", UE_ACKS_PLAIN, UE_ACKS_FLUSH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_hold_in_generation_a),
        cmocka_unit_test(laws_hold_in_generation_b),
        cmocka_unit_test(laws_hold_in_generation_c),
        cmocka_unit_test(laws_hold_between_generations_a_and_b),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
