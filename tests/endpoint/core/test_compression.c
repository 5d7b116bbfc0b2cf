/* SPDX-License-Identifier: MIT */
/* Marking datagrams as compressed: they come back bit by bit, only smaller ones are marked, and damaged ones never read
   or write beyond their buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/codec.h>
#include "tools/endpoint/core/datagram_compression.h"
#include "tests/support/guarded.h"
#include "tests/support/rng.h"
#include "tests/support/within.h"

#define BUFFER_BYTES 4096

static struct ue_context init_context(const char *release, struct ue_settings settings) {
    struct ue_context x;
    ue_context_init(&x, ue_profile_find(release), &settings);
    return x;
}

/* A packet whose bunch has these data. */
static size_t packet_of(const struct ue_context *x, const uint8_t *data, size_t bits, uint8_t *bytes) {
    struct ue_item item = {.bunch = {.reliable = true, .has_name = true, .channel = 3, .ch_seq = 5}};
    item.bunch.name = (struct ue_name){.hardcoded = true, .index = UE_NAME_ACTOR};
    item.bunch.data = (struct ue_view){data, 0, bits};
    struct ue_datagram datagram = {.items = &item, .item_capacity = 1, .item_count = 1};
    datagram.prefix.magic = x->settings.magic;
    datagram.packet.history_words = 1;
    datagram.packet.history[0] = 0xfedcba98;
    datagram.packet.seq = 0x2345;
    datagram.packet.ack = 0x1678;
    struct ue_fault fault;
    size_t written = 0;
    assert_int_equal(ue_datagram_encode(x, &datagram, bytes, BUFFER_BYTES, &written, &fault), UE_OK);
    return written;
}

/* Returns the size of the compressed form; 0: it travels unchanged. */
static size_t check_round_trip(const struct ue_context *x, const uint8_t *clear, size_t size) {
    struct ue_decode_result result;
    struct guarded in = guarded_new(size);
    size_t room_bytes = size + UE_COMPRESSION_OVERHEAD_BYTES;
    struct guarded out = guarded_new(room_bytes);
    uint8_t *compressed = guarded_end(&out, room_bytes);
    size_t compressed_size = ue_compression_compress(x, guarded_put(&in, clear, size), size, compressed);
    if (compressed_size != 0) {
        size_t again_bytes = ue_compression_room_bytes(x, compressed_size);
        struct guarded room = guarded_new(again_bytes);
        uint8_t *again = guarded_end(&room, again_bytes);
        assert_true(compressed_size <= size);
        assert_int_equal(ue_datagram_decode(x, compressed, compressed_size, NULL, NULL, &result), UE_OK);
        assert_true(result.is_opaque && result.canonical);
        assert_int_equal(result.closed_by, UE_HANDLER_OODLE);
        assert_int_equal(ue_compression_decompress(x, compressed, compressed_size, again), size);
        assert_memory_equal(again, clear, size);
        guarded_free(&room);
    }
    guarded_free(&in);
    guarded_free(&out);
    return compressed_size;
}

static void packets_come_back(void **state) {
    static const struct ue_settings rows[] = {
        {.handlers = {UE_HANDLER_OODLE}},
        {.handlers = {UE_HANDLER_RELIABILITY, UE_HANDLER_OODLE}, .magic_bits = 13, .magic = 0x0123},
        {.handlers = {UE_HANDLER_AESGCM, UE_HANDLER_OODLE}},
        {.handlers = {UE_HANDLER_OODLE}, .max_packet_bytes = 1028}, /* no power of two: a bound of two lengths */
    };
    struct rng rng = rng_seeded("packets_come_back");
    size_t marked = 0;
    for (size_t i = 0; i < 400; i++) {
        struct ue_context x = init_context(i % 2 == 0 ? "4.25" : "5.5", rows[i % 4]);
        uint8_t data[900] = {0};
        uint8_t clear[BUFFER_BYTES];
        for (size_t k = 0; k < 20; k++) {
            data[rng_below(&rng, sizeof data)] = (uint8_t)rng_next(&rng);
        }
        size_t size = packet_of(&x, data, rng_below(&rng, sizeof data * 8), clear);
        marked += check_round_trip(&x, clear, size) != 0;
    }
    assert_true(is_within(marked, 300, 400));
}

static void packets_that_become_no_smaller_are_left(void **state) {
    struct ue_context x = init_context("5.5", (struct ue_settings){.handlers = {UE_HANDLER_OODLE}});
    struct rng rng = rng_seeded("packets_that_become_no_smaller_are_left");
    uint8_t data[500];
    uint8_t clear[BUFFER_BYTES];
    rng_fill(&rng, data, sizeof data);
    assert_int_equal(check_round_trip(&x, clear, packet_of(&x, data, sizeof data * 8, clear)), 0);
    x.settings.handlers[0] = UE_HANDLER_NONE;
    memset(data, 0, sizeof data);
    assert_int_equal(check_round_trip(&x, clear, packet_of(&x, data, sizeof data * 8, clear)), 0);
}

static void damaged_datagrams_stay_within_their_buffers(void **state) {
    struct ue_context x = init_context("5.5", (struct ue_settings){.handlers = {UE_HANDLER_OODLE}});
    struct rng rng = rng_seeded("damaged_datagrams_stay_within_their_buffers");
    for (size_t i = 0; i < 20000; i++) {
        uint8_t bytes[64];
        size_t size = rng_below(&rng, sizeof bytes);
        rng_fill(&rng, bytes, sizeof bytes);
        bytes[0] = (uint8_t)((bytes[0] & 0xc0) | 0x40); /* no handshake, compressed */
        for (size_t k = 2; k < sizeof bytes; k += rng_chance(&rng, 50) ? 1 : 2) {
            bytes[k] = 0;
        }
        struct guarded in = guarded_new(sizeof bytes);
        size_t room_bytes = ue_compression_room_bytes(&x, size);
        struct guarded out = guarded_new(room_bytes);
        size_t got = ue_compression_decompress(&x, guarded_put(&in, bytes, size), size, guarded_end(&out, room_bytes));
        assert_true(got <= room_bytes);
        guarded_free(&in);
        guarded_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_come_back),
        cmocka_unit_test(packets_that_become_no_smaller_are_left),
        cmocka_unit_test(damaged_datagrams_stay_within_their_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
