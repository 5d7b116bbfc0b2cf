/* SPDX-License-Identifier: MIT */
/* What holds between two acknowledgement machines whatever a network does to their packets (endpoint.md 15): loss,
   duplication, reordering, outages, bursts that nobody answers, and the wrap of sequences. An oracle that counts in
   numbers without end remembers what each receiver made of each packet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/packet_notify.h>
#include <uerudp/seq.h>
#include "tests/support/rng.h"
#include "tests/support/within.h"

#define STEPS 2000000
#define PHASE_STEPS 2000
#define LINE_PACKETS 64
#define IN_FLIGHT_MAX 6000 /* beyond half the sequences nothing can work */
#define SEQ_MASK (UE_PACKET_SEQ_MAX - 1)

struct packet {
    int64_t id;
    struct ue_packet header;
};

/* One end, and the line on which its packets travel. */
struct end {
    struct ue_notify n;
    struct packet begun;
    bool has_begun;
    int64_t out_id; /* of the next packet */
    int64_t in_id;  /* newest taken from the peer */
    int64_t verdict_id;
    bool was_delivered[UE_PACKET_SEQ_MAX]; /* own packets, at the peer */
    struct packet line[LINE_PACKETS];
    unsigned on_line;
    uint64_t lost;
    uint64_t delivered;
    uint64_t denied; /* delivered, and reported as lost */
    uint64_t waits;
};

struct world {
    struct end ends[2];
    struct rng rng;
    unsigned send_percent[2]; /* of the phase that runs */
    unsigned loss_percent;
    unsigned copy_percent;
    unsigned reorder_percent;
};

static uint8_t region[256 * 1024];
static struct ue_share share;
static struct world world;

static void begin(struct end *e) {
    if (!e->has_begun) {
        e->begun.header = (struct ue_packet){0};
        assert_true(ue_notify_write(&e->n, false, &e->begun.header));
        e->has_begun = true;
    }
}

static void put_on_line(struct world *w, struct end *e, const struct packet *packet) {
    if (e->on_line < LINE_PACKETS && !rng_chance(&w->rng, w->loss_percent)) {
        e->line[e->on_line++] = *packet;
    }
}

static void flush(struct world *w, struct end *e) {
    if (ue_notify_in_flight(&e->n) > IN_FLIGHT_MAX) {
        return;
    }
    begin(e);
    struct ue_packet *header = &e->begun.header;
    uint8_t words = header->history_words;
    bool is_reset = e->n.generation == UE_ACKS_RESET && ue_notify_is_waiting(&e->n);
    bool is_room = is_reset ? words == UE_HISTORY_WORDS_MAX : ue_notify_unreported(&e->n) <= words * 32u;
    assert_int_equal(ue_notify_write(&e->n, true, header), is_room);
    assert_true(header->history_words == words && (words == UE_HISTORY_WORDS_MAX || !header->history_flush));
    assert_int_equal(e->begun.header.seq, e->out_id & SEQ_MASK);
    e->has_begun = false;
    e->begun.id = e->out_id++;
    e->was_delivered[e->begun.id & SEQ_MASK] = false;
    ue_notify_commit(&e->n);
    put_on_line(w, e, &e->begun);
    if (rng_chance(&w->rng, w->copy_percent)) {
        put_on_line(w, e, &e->begun);
    }
}

/* Each own packet gets exactly one verdict, in order, and no packet is said to be delivered that was not. */
static void check_verdict(struct world *w, struct end *e, uint16_t seq, bool delivered) {
    bool was_delivered = e->was_delivered[seq];
    assert_int_equal(seq, ++e->verdict_id & SEQ_MASK);
    assert_true(e->verdict_id < e->out_id);
    assert_true(was_delivered || !delivered);
    e->delivered += delivered;
    e->lost += !delivered;
    e->denied += was_delivered && !delivered;
    if (rng_chance(&w->rng, 1)) { /* a resend fills the packet under construction */
        flush(w, e);
    }
}

static void take_verdicts(struct world *w, struct end *to, const struct packet *packet) {
    struct ue_notify_acks verdicts;
    uint16_t seq;
    bool delivered;
    ue_notify_begin_acks(&to->n, &packet->header, &verdicts);
    while (ue_notify_next_ack(&verdicts, &seq, &delivered)) {
        check_verdict(w, to, seq, delivered);
    }
    ue_notify_end_acks(&to->n, &packet->header);
    assert_int_equal(to->n.out_ack_seq, to->verdict_id & SEQ_MASK);
}

static void judge(struct world *w, struct end *from, struct end *to, const struct packet *packet) {
    assert_int_equal(to->in_id, packet->id);
    assert_true(packet->id > from->verdict_id); /* no verdict was given before */
    if (rng_chance(&w->rng, 5)) {               /* a handler answers at once */
        flush(w, to);
    }
    bool delivered = !rng_chance(&w->rng, 5);
    ue_notify_report(&to->n, packet->header.seq, delivered);
    from->was_delivered[packet->id & SEQ_MASK] = delivered;
}

static void receive(struct world *w, struct end *from, struct end *to, const struct packet *packet) {
    int64_t ahead = packet->id - to->in_id;
    bool is_behind = ue_seq_newer((uint32_t)to->verdict_id & SEQ_MASK, packet->header.ack);
    bool is_taken = ahead > 0 && !is_behind;
    assert_int_equal(ue_notify_delta(&to->n, &packet->header), is_taken ? ahead : 0);
    if (!is_taken) {
        /* A newer packet brought its verdicts and was refused while the flush was awaited. */
        assert_true(ahead <= 0 || to->n.generation == UE_ACKS_FLUSH);
        return;
    }
    uint16_t known = to->n.in_ack_seq_ack;
    take_verdicts(w, to, packet);
    to->in_id += ue_notify_accept(&to->n, &packet->header);
    assert_int_equal(to->n.in_seq, to->in_id & SEQ_MASK);
    assert_true(to->n.generation == UE_ACKS_PLAIN || !ue_seq_newer(known, to->n.in_ack_seq_ack)); /* never forgets */
    if (ue_notify_is_waiting(&to->n)) {
        to->waits++;
    } else {
        judge(w, from, to, packet);
    }
}

/* Takes the oldest packet of a line, or one a little younger. */
static void deliver(struct world *w, struct end *from, struct end *to) {
    if (from->on_line == 0) {
        return;
    }
    unsigned near = from->on_line < 8 ? from->on_line : 8;
    unsigned at = rng_chance(&w->rng, w->reorder_percent) ? (unsigned)rng_below(&w->rng, near) : 0;
    struct packet packet = from->line[at];
    from->on_line--;
    memmove(&from->line[at], &from->line[at + 1], (from->on_line - at) * sizeof packet);
    receive(w, from, to, &packet);
}

static void new_phase(struct world *w) {
    static const unsigned percents[] = {0, 0, 2, 10, 40, 100};
    w->loss_percent = percents[rng_below(&w->rng, 6)];
    w->copy_percent = percents[rng_below(&w->rng, 4)];
    w->reorder_percent = percents[rng_below(&w->rng, 5)];
    w->send_percent[0] = percents[rng_below(&w->rng, 6)];
    w->send_percent[1] = percents[rng_below(&w->rng, 6)];
}

static void step(struct world *w) {
    unsigned side = (unsigned)rng_below(&w->rng, 2);
    struct end *e = &w->ends[side];
    if (rng_chance(&w->rng, 50)) {
        deliver(w, &w->ends[!side], e);
    } else if (rng_chance(&w->rng, w->send_percent[side])) {
        flush(w, e);
    } else if (rng_chance(&w->rng, 10)) {
        begin(e);
    }
}

/* On a perfect network everything gets its verdict soon, and nobody waits any longer. */
static void drain(struct world *w) {
    w->loss_percent = w->copy_percent = w->reorder_percent = 0;
    for (unsigned i = 0; i < 64 * LINE_PACKETS; i++) {
        unsigned side = i & 1;
        if (w->ends[side].on_line == 0) {
            flush(w, &w->ends[side]);
        }
        deliver(w, &w->ends[side], &w->ends[!side]);
    }
    for (unsigned side = 0; side < 2; side++) {
        assert_true(is_within(ue_notify_in_flight(&w->ends[side].n), 0, 3));
        assert_false(ue_notify_is_waiting(&w->ends[side].n));
    }
}

static void start(struct world *w, enum ue_ack_generation first, enum ue_ack_generation second) {
    int64_t from[2] = {(int64_t)rng_below(&w->rng, UE_PACKET_SEQ_MAX), (int64_t)rng_below(&w->rng, UE_PACKET_SEQ_MAX)};
    for (unsigned side = 0; side < 2; side++) {
        struct end *e = &w->ends[side];
        *e = (struct end){.out_id = from[side], .in_id = from[!side] - 1, .verdict_id = from[side] - 1};
        ue_notify_init(&e->n, side == 0 ? first : second, (uint16_t)(e->in_id & SEQ_MASK), (uint16_t)e->out_id, &share);
    }
}

static void check_end(const struct end *e, const struct end *peer) {
    print_message("delivered %llu, lost %llu, denied %llu, waited %llu\n", (unsigned long long)e->delivered,
                  (unsigned long long)e->lost, (unsigned long long)e->denied, (unsigned long long)e->waits);
    /* The trouble has been seen: enough of both verdicts, several wraps, overflows of each kind. */
    assert_true(e->delivered > STEPS / 50 && e->lost > STEPS / 100 && e->out_id > 4 * UE_PACKET_SEQ_MAX);
    if (peer->n.generation == UE_ACKS_PLAIN) {
        assert_true(peer->waits == 0 && e->denied > 0);
    } else {
        assert_true(peer->waits > 0 && e->denied == 0);
    }
    assert_int_equal(e->n.missing_records, 0);
}

static void run(const char *name, enum ue_ack_generation first, enum ue_ack_generation second) {
    struct world *w = &world;
    ue_share_init(&share, ue_pool_init(region, sizeof region), SIZE_MAX);
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
        check_end(&w->ends[side], &w->ends[!side]);
        ue_notify_free(&w->ends[side].n);
    }
    assert_true(share.used_bytes == 0);
}

static void laws_of_plain(void **state) {
    (void)state;
    run("laws_of_plain", UE_ACKS_PLAIN, UE_ACKS_PLAIN);
}

static void laws_of_flush(void **state) {
    (void)state;
    run("laws_of_flush", UE_ACKS_FLUSH, UE_ACKS_FLUSH);
}

static void laws_of_reset(void **state) {
    (void)state;
    run("laws_of_reset", UE_ACKS_RESET, UE_ACKS_RESET);
}

static void laws_of_plain_with_flush(void **state) {
    (void)state;
    run("laws_of_plain_with_flush", UE_ACKS_PLAIN, UE_ACKS_FLUSH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_of_plain),
        cmocka_unit_test(laws_of_flush),
        cmocka_unit_test(laws_of_reset),
        cmocka_unit_test(laws_of_plain_with_flush),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
