/* SPDX-License-Identifier: MIT */
/* Invariants of the tracker's events for any input: random packets of every generation, with sequences that jump,
   repeat and wrap, acks of anything, damaged bytes, and an allocator that fails at any time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/detection.h>
#include <uerudp/packet_tracker.h>
#include <uerudp/seq.h>
#include "tests/support/arbitrary.h"
#include "tests/support/counting_allocator.h"

#define ROUNDS 300
#define DATAGRAMS 400
#define ITEMS_MAX 24
#define BYTES_MAX 4096
#define IDS (1u << 20)

struct tracker_law {
    struct rng rng;
    struct ue_context x[2];
    struct ue_detection detection;
    struct ue_tracker *tracker;
    struct ue_tracker_datagram now;
    uint8_t results[2][IDS];   /* emitted acks, by the low bits of the id */
    bool is_undecided[2][IDS]; /* acks of which it is not known whether they were the first */
    uint64_t emitted[2][UE_OBSERVED_ABANDONED];
    uint64_t copies[2], first_copies[2], spurious[2], late[2], duplicates[2];
    bool had_packet; /* of this datagram */
    bool had_bunch;
    uint32_t next_item;
    struct counting_allocator memory;
};

static struct tracker_law world;

/* ---- the laws ---- */

static void check_report(struct tracker_law *w, const struct ue_observed_event *event) {
    bool is_legacy = w->now.context->profile.packet == UE_PACKET_LEGACY;
    uint8_t result = event->type == UE_OBSERVED_ACK ? UE_TRACKER_PACKET_DELIVERED : UE_TRACKER_PACKET_NOT_DELIVERED;
    uint8_t *emitted = &w->results[!event->side][event->ack.packet_id & (IDS - 1)];
    bool is_correction =
        is_legacy && *emitted == UE_TRACKER_PACKET_DELIVERED && result == UE_TRACKER_PACKET_NOT_DELIVERED;
    assert_true(*emitted == UE_TRACKER_PACKET_UNKNOWN || is_correction);
    *emitted = result;
    assert_true(is_legacy || !w->had_bunch);
    bool is_before = event->ack.frame != 0 && event->ack.frame < event->frame;
    assert_true((event->ack.span_ns >= 0) == is_before);
    assert_true(event->ack.frame == 0 || !event->ack.is_excused);
    assert_true(event->ack.frame != event->frame);
    assert_true(!event->ack.is_undecided || (is_before && event->ack.may_be_repeated));
    if (event->ack.is_undecided) {
        w->is_undecided[!event->side][event->ack.packet_id & (IDS - 1)] = true;
    }
}

static void check_first_ack(struct tracker_law *w, const struct ue_observed_event *event) {
    const struct ue_observed_first_ack *ack = &event->first_ack;
    bool *is_undecided = &w->is_undecided[event->side][ack->acked_id & (IDS - 1)];
    assert_true(*is_undecided);
    *is_undecided = false;
    assert_true(ack->acked_frame != 0 && ack->acked_frame < ack->frame && ack->frame < event->frame);
    assert_true(ack->span_ns >= -1);
}

static void check_bunch(struct tracker_law *w, const struct ue_observed_event *event) {
    unsigned side = event->side;
    bool is_reliable = event->bunch.decoded->reliable;
    assert_true(event->bunch.item >= w->next_item && event->bunch.item < ITEMS_MAX);
    w->next_item = event->bunch.item + 1;
    w->had_bunch = true;
    assert_true(is_reliable == (event->bunch.copy != 0));
    assert_true(is_reliable || event->bunch.reliable_id == -1);
    assert_true(!is_reliable || ((uint64_t)event->bunch.reliable_id & (w->now.context->ch_seq_bound - 1)) ==
                                    (event->bunch.decoded->ch_seq & (w->now.context->ch_seq_bound - 1)));
    assert_true(event->bunch.copy > 1 ||
                (event->bunch.first_frame == 0 && event->bunch.previous_frame == 0 && !event->bunch.is_spurious));
    assert_true(event->bunch.was_delivered ? event->bunch.copy > 1 : !event->bunch.is_spurious);
    assert_true(event->bunch.first_frame <= event->bunch.previous_frame && event->bunch.previous_frame <= event->frame);
    assert_true(event->bunch.is_gap || !event->bunch.is_jump);
    assert_true(!event->bunch.is_cut || (w->now.is_cut && event->bunch.decoded->data.bits != 0));
    w->first_copies[side] += event->bunch.copy == 1;
    w->copies[side] += event->bunch.copy > 1;
    w->spurious[side] += event->bunch.is_spurious;
}

static void check_packet(struct tracker_law *w, const struct ue_observed_event *event) {
    assert_false(w->had_packet);
    assert_int_equal(event->packet_id, w->now.packet_ids->packet_id);
    assert_false(event->packet.is_late && event->packet.is_duplicate);
    assert_true(event->packet.is_duplicate || event->packet.first_frame == 0);
    if (w->emitted[event->side][UE_OBSERVED_PACKET] == 1) { /* before this packet its ids were a guess */
        memset(w->results[event->side], UE_TRACKER_PACKET_UNKNOWN, IDS);
    }
    w->had_packet = true;
    w->late[event->side] += event->packet.is_late;
    w->duplicates[event->side] += event->packet.is_duplicate;
}

static void on_event(void *user, const struct ue_observed_event *event) {
    struct tracker_law *w = user;
    bool may_be_earlier = event->type == UE_OBSERVED_ACK || event->type == UE_OBSERVED_NAK;
    assert_true(event->frame == w->now.frame || (may_be_earlier && event->frame < w->now.frame));
    assert_int_equal(event->side, w->now.side);
    w->emitted[event->side][event->type]++;
    switch (event->type) {
    case UE_OBSERVED_HANDSHAKE: assert_false(w->had_packet); break;
    case UE_OBSERVED_RESTARTING:
    case UE_OBSERVED_RESTARTED: assert_false(w->had_bunch); break;
    case UE_OBSERVED_NOT_LOST:
        assert_true(event->lost.jump_frame < event->frame && event->lost.first_id < event->lost.last_id);
        assert_true(event->lost.first_id <= event->packet_id && event->packet_id <= event->lost.last_id);
        assert_false(w->had_packet);
        break;
    case UE_OBSERVED_LOST:
        assert_false(w->had_packet);
        assert_true(event->lost.first_id <= event->lost.last_id && event->lost.last_id == event->packet_id - 1);
        assert_true(event->lost.missing >= 1 && event->lost.missing <= event->lost.last_id - event->lost.first_id + 1);
        break;
    case UE_OBSERVED_OPAQUE: assert_true(w->now.is_cut && !w->had_packet && !w->had_bunch); break;
    case UE_OBSERVED_PACKET: check_packet(w, event); break;
    case UE_OBSERVED_NEVER_SENT:
        assert_true(event->never_sent.first_id + 64 < event->never_sent.last_id && !w->had_bunch);
        assert_true(event->never_sent.frame < event->frame);
        break;
    case UE_OBSERVED_ACK:
    case UE_OBSERVED_NAK: check_report(w, event); break;
    case UE_OBSERVED_FIRST_ACK: check_first_ack(w, event); break;
    case UE_OBSERVED_BUNCH: check_bunch(w, event); break;
    case UE_OBSERVED_CHANNEL_OPENED: assert_true(event->channel.bunch->open && w->had_bunch); break;
    case UE_OBSERVED_CHANNEL_CLOSED:
        assert_true(event->channel.bunch->close && w->had_bunch && event->channel.open_ns >= -1);
        break;
    default: fail(); /* only the reassembly emits messages */
    }
    assert_true(event->type < UE_OBSERVED_PACKET || w->had_packet);
}

static void check_counts(const struct tracker_law *w) {
    for (unsigned side = 0; side < 2; side++) {
        const struct ue_tracker_counts *counts = ue_tracker_counts(w->tracker, side);
        assert_int_equal(counts->packets, w->emitted[side][UE_OBSERVED_PACKET]);
        assert_int_equal(counts->opaque, w->emitted[side][UE_OBSERVED_OPAQUE]);
        assert_int_equal(counts->handshakes, w->emitted[side][UE_OBSERVED_HANDSHAKE]);
        assert_int_equal(counts->duplicates, w->duplicates[side]);
        assert_int_equal(counts->late, w->late[side]);
        assert_int_equal(counts->nacked, w->emitted[!side][UE_OBSERVED_NAK]);
        assert_true(counts->acked <= w->emitted[!side][UE_OBSERVED_ACK]);
        assert_int_equal(counts->reliable, w->first_copies[side]);
        assert_int_equal(counts->resends, w->copies[side]);
        assert_int_equal(counts->spurious, w->spurious[side]);
        assert_true(counts->missing < UINT64_C(1) << 32);
    }
}

/* ---- input ---- */

static void add_items(struct tracker_law *w, const struct ue_context *x, struct ue_datagram *datagram) {
    bool is_legacy = x->profile.packet == UE_PACKET_LEGACY;
    datagram->item_count = rng_below(&w->rng, 8);
    for (size_t i = 0; i < datagram->item_count; i++) {
        struct ue_item *item = &datagram->items[i];
        item->is_ack = is_legacy && rng_chance(&w->rng, 50);
        if (item->is_ack) {
            arbitrary_ack(&w->rng, x, &item->ack);
            item->ack.ack_id = (uint16_t)rng_below(&w->rng, rng_chance(&w->rng, 90) ? 64 : UE_PACKET_SEQ_MAX);
        } else {
            arbitrary_bunch(&w->rng, x, &item->bunch);
            item->bunch.channel = (uint32_t)rng_below(&w->rng, rng_chance(&w->rng, 95) ? 4 : x->profile.channel_bound);
        }
    }
}

static size_t make(struct tracker_law *w, unsigned side, uint8_t *bytes) {
    static struct ue_item items[ITEMS_MAX];
    const struct ue_context *x = &w->x[side];
    struct ue_datagram datagram = {.items = items, .item_capacity = ITEMS_MAX};
    struct ue_fault fault;
    size_t size_bytes = 0;
    if (rng_chance(&w->rng, 5)) {
        datagram.prefix.is_handshake = true;
        arbitrary_handshake(&w->rng, x, &datagram.handshake);
    } else {
        arbitrary_packet(&w->rng, x, &datagram.packet);
        uint64_t bound = rng_chance(&w->rng, 95) ? 64 : UE_PACKET_SEQ_MAX;
        datagram.packet.seq = (uint16_t)rng_below(&w->rng, bound);
        datagram.packet.ack = x->profile.packet == UE_PACKET_LEGACY ? 0 : (uint16_t)rng_below(&w->rng, bound);
        add_items(w, x, &datagram);
    }
    ue_datagram_encode(x, &datagram, bytes, BYTES_MAX, &size_bytes, &fault);
    if (size_bytes != 0 && rng_chance(&w->rng, 10)) {
        bytes[rng_below(&w->rng, size_bytes)] ^= (uint8_t)(1u << rng_below(&w->rng, 8));
    }
    return size_bytes;
}

/* The observer completes a cut datagram. */
static void cut(struct tracker_law *w, uint8_t *bytes) {
    size_t captured_bytes = rng_below(&w->rng, w->now.size_bytes);
    memset(bytes + captured_bytes, 0, w->now.size_bytes - captured_bytes);
    bytes[w->now.size_bytes - 1] = w->now.context->settings.terminators > 1 ? 0xc0 : 0x80;
    w->now.captured_bytes = captured_bytes;
    w->now.is_cut = true;
}

static void feed(struct tracker_law *w, uint64_t frame) {
    static uint8_t bytes[BYTES_MAX];
    static struct ue_decode_state link;
    const struct ue_observer_callbacks callbacks = {.event = on_event, .user = w};
    struct ue_handshake_match match;
    unsigned side = (unsigned)rng_below(&w->rng, 2);
    size_t size_bytes = make(w, side, bytes);
    bool is_handshake = ue_profile_match_handshake(&w->x[side].settings, bytes, size_bytes, &match);
    ue_detection_feed(&w->detection, side, bytes, size_bytes, is_handshake ? &match : NULL, &link);
    w->now = (struct ue_tracker_datagram){.frame = frame,
                                          .time_ns = w->now.time_ns + (int64_t)rng_below(&w->rng, 1000) - 100,
                                          .side = side,
                                          .context = &w->x[side],
                                          .packet_ids = &link.packet_ids,
                                          .bytes = bytes,
                                          .size_bytes = size_bytes};
    if (size_bytes != 0 && rng_chance(&w->rng, 10)) {
        cut(w, bytes);
    }
    w->had_packet = false;
    w->had_bunch = false;
    w->next_item = 0;
    ue_tracker_feed(w->tracker, &w->now, &callbacks);
}

static void begin(struct tracker_law *w, struct rng rng, size_t row) {
    memset(w, 0, sizeof *w);
    w->rng = rng;
    counting_allocator_init(&w->memory, SIZE_MAX / 2);
    for (unsigned side = 0; side < 2; side++) {
        ue_context_init(&w->x[side], ue_profile_at(row), NULL);
        w->x[side].direction = side == 0 ? UE_CLIENT_TO_SERVER : UE_SERVER_TO_CLIENT;
    }
    ue_detection_init(&w->detection, &w->x[0].settings, ue_profile_at(row), 1);
    w->tracker = ue_tracker_new(&w->memory.allocator);
    if (rng_chance(&w->rng, 30)) {
        w->memory.limit_bytes = w->memory.used_bytes + rng_below(&w->rng, 30000);
    }
}

static void nothing_that_is_told_contradicts_itself(void **state) {
    struct rng rng = rng_seeded("track");
    uint64_t rounds = rng_rounds(ROUNDS);
    uint64_t events = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        begin(&world, rng, round % UE_PROFILE_COUNT);
        for (uint64_t frame = 1; frame <= DATAGRAMS; frame++) {
            feed(&world, frame);
        }
        check_counts(&world);
        for (unsigned type = 0; type < UE_OBSERVED_ABANDONED; type++) {
            events += world.emitted[0][type] + world.emitted[1][type];
        }
        ue_tracker_free(world.tracker);
        assert_int_equal(world.memory.used_bytes, 0);
        rng = world.rng;
    }
    assert_true(events > rounds * DATAGRAMS / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_that_is_told_contradicts_itself)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
