/* SPDX-License-Identifier: MIT */
/* A law: the passive reassembly finds every message that the endpoint sends in fragments, bit by bit, even if the
   capture reorders and duplicates datagrams, and the link loses some, so that fragments are retransmitted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/reassembly.h>
#include "tests/support/conn_pair.h"
#include "tests/support/heap.h"
#include "tests/support/rng.h"

#define ROUNDS 60
#define MESSAGES 24
#define MESSAGE_BYTES 9000
#define DATAGRAMS_MAX 4000
#define CHANNELS 3
#define FIRST_CHANNEL 2
#define SHUFFLE_MAX 24 /* packets: less than unreliable fragments wait */

struct sent {
    uint32_t channel;
    bool is_exports;
    bool is_found;
    size_t bits;
    uint8_t bytes[MESSAGE_BYTES];
};

struct shown {
    uint64_t place; /* position in the capture */
    uint8_t bytes[1100];
    size_t size_bytes;
    int64_t packet_id;
};

struct reassembly_law {
    struct rng rng;
    struct conn_pair pair;
    struct sent sent[2 * MESSAGES];
    size_t sent_count;
    struct shown shown[DATAGRAMS_MAX];
    size_t shown_count;
    struct ue_context x;
    struct ue_reassembly *reassembly;
    size_t found, joined, given_up;
};

static struct reassembly_law w;

/* ---- sent messages ---- */

static struct sent *make(uint32_t channel, bool is_exports, size_t bits) {
    struct sent *sent = &w.sent[w.sent_count++];
    *sent = (struct sent){.channel = channel, .is_exports = is_exports, .bits = bits};
    rng_fill(&w.rng, sent->bytes, ue_bits_bytes(bits));
    if (bits % 8 != 0) {
        sent->bytes[bits / 8] &= (uint8_t)((1u << bits % 8) - 1);
    }
    return sent;
}

static void speak(void) {
    struct ue_outgoing bunch = {.channel = FIRST_CHANNEL + (uint32_t)rng_below(&w.rng, CHANNELS),
                                .reliable = rng_chance(&w.rng, 60)};
    size_t count = w.sent_count;
    struct ue_view exports = {0};
    if (bunch.reliable && rng_chance(&w.rng, 30)) {
        const struct sent *sent = make(bunch.channel, true, 1 + rng_below(&w.rng, 4000));
        exports = (struct ue_view){sent->bytes, 0, sent->bits};
        bunch.exports = &exports;
        bunch.export_count = 1;
    }
    const struct sent *sent = make(bunch.channel, false, rng_below(&w.rng, 8 * MESSAGE_BYTES));
    bunch.data = (struct ue_view){sent->bytes, 0, sent->bits};
    if (ue_conn_send(w.pair.conns[PAIR_SERVER], w.pair.now_ns, &bunch, NULL) != UE_OK) {
        w.sent_count = count; /* no room now */
    }
}

static void show(const struct ue_bytes *datagram) {
    struct ue_decode_result result;
    struct shown *shown = &w.shown[w.shown_count];
    assert_true(datagram->size_bytes <= sizeof shown->bytes && w.shown_count < DATAGRAMS_MAX);
    memcpy(shown->bytes, datagram->bytes, datagram->size_bytes);
    shown->size_bytes = datagram->size_bytes;
    assert_int_equal(ue_datagram_decode(&w.x, shown->bytes, shown->size_bytes, NULL, NULL, &result), UE_OK);
    shown->packet_id = result.seq;
    shown->place = w.shown_count * 1000 + rng_below(&w.rng, rng_chance(&w.rng, 50) ? 1 : SHUFFLE_MAX * 1000);
    w.shown_count++;
}

static void carry(void) {
    struct ue_bytes datagram;
    while (ue_conn_next_datagram(w.pair.conns[PAIR_SERVER], &datagram)) {
        show(&datagram);
        if (!rng_chance(&w.rng, 10)) {
            ue_conn_receive(w.pair.conns[PAIR_CLIENT], w.pair.now_ns, datagram.bytes, datagram.size_bytes);
        }
    }
    pair_clear_received(&w.pair);
}

static void tick(void) {
    w.pair.now_ns += PAIR_TICK_NS;
    for (unsigned side = 0; side < 2; side++) {
        ue_conn_end_receive(w.pair.conns[side], w.pair.now_ns);
        ue_conn_tick(w.pair.conns[side], w.pair.now_ns);
    }
    carry();
    pair_deliver(&w.pair, PAIR_CLIENT);
    pair_clear_received(&w.pair);
}

static void talk(const char *release) {
    const struct ue_conn_config config = {.partial_threshold = -1};
    pair_init(&w.pair, release, &config);
    w.x = w.pair.conns[PAIR_SERVER]->common.context;
    for (uint32_t i = 0; i < CHANNELS; i++) {
        pair_open_channel(&w.pair, FIRST_CHANNEL + i);
    }
    for (unsigned i = 0; i < MESSAGES; i++) {
        speak();
        carry();
        for (uint64_t ticks = rng_below(&w.rng, 3); ticks > 0; ticks--) {
            tick();
        }
    }
    for (unsigned i = 0; i < 60; i++) {
        tick();
    }
    pair_free(&w.pair);
}

/* ---- reassembled messages ---- */

static bool is_that(const struct sent *sent, const struct ue_observed_event *event) {
    const struct ue_view bits = {sent->bytes, 0, sent->bits};
    return !sent->is_found && sent->channel == event->message.channel &&
           sent->is_exports == event->message.content.has_exports && ue_view_equal(bits, event->message.content.data);
}

static void find(void *user, const struct ue_observed_event *event) {
    w.given_up += event->type == UE_OBSERVED_ABANDONED;
    if (event->type != UE_OBSERVED_MESSAGE || event->message.channel < FIRST_CHANNEL) {
        return;
    }
    size_t i = 0;
    while (i < w.sent_count && !is_that(&w.sent[i], event)) {
        i++;
    }
    assert_true(i < w.sent_count);
    w.sent[i].is_found = true;
    w.found++;
    w.joined += event->message.fragment_count > 1;
}

static const struct ue_observer_callbacks finder = {.event = find};

static void pass_on(void *user, const struct ue_observed_event *event) {
    ue_reassembly_feed(w.reassembly, &w.x, event, &finder);
}

static int by_place(const void *a, const void *b) {
    const struct shown *one = a;
    const struct shown *other = b;
    return (one->place > other->place) - (one->place < other->place);
}

static void read_capture(void) {
    const struct ue_observer_callbacks callbacks = {.event = pass_on};
    struct ue_tracker *tracker = ue_tracker_new(&heap);
    w.reassembly = ue_reassembly_new(&heap);
    qsort(w.shown, w.shown_count, sizeof *w.shown, by_place);
    for (size_t i = 0; i < w.shown_count; i++) {
        const struct ue_packet_ids packet_ids = {.has_id = true, .packet_id = w.shown[i].packet_id};
        const struct ue_tracker_datagram datagram = {.frame = i + 1,
                                                     .side = PAIR_SERVER,
                                                     .context = &w.x,
                                                     .packet_ids = &packet_ids,
                                                     .bytes = w.shown[i].bytes,
                                                     .size_bytes = w.shown[i].size_bytes};
        for (unsigned copies = 1 + rng_chance(&w.rng, 10); copies > 0; copies--) {
            ue_tracker_feed(tracker, &datagram, &callbacks);
            ue_reassembly_end_datagram(w.reassembly, &finder);
        }
    }
    assert_true(ue_reassembly_bytes(w.reassembly) < 20000); /* no fragment is pending */
    ue_reassembly_free(w.reassembly);
    ue_tracker_free(tracker);
}

static void what_is_sent_in_fragments_is_found_whole(void **state) {
    static const char *const releases[] = {"4.18", "4.22", "4.25", "5.1", "5.5", "5.8"};
    struct rng rng = rng_seeded("assembly");
    uint64_t rounds = rng_rounds(ROUNDS);
    size_t joined = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        const char *release = releases[round % (sizeof releases / sizeof *releases)];
        memset(&w, 0, sizeof w);
        w.rng = rng;
        talk(release);
        read_capture();
        assert_int_equal(w.found, w.sent_count);
        assert_int_equal(w.given_up, 0);
        joined += w.joined;
        rng = w.rng;
    }
    assert_true(joined > 5 * rounds);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_sent_in_fragments_is_found_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
