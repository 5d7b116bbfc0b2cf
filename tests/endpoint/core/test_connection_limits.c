/* SPDX-License-Identifier: MIT */
/* Sizes of packets and their parts for every generation and setting that an endpoint supports: what ue_conn_send
   accepts is sent and fits (endpoint.md 23). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/conn_pair.h"
#include "tests/support/rng.h"

#define ROUNDS 2000

/* MaxSingle of stock settings, PartMax of replays (endpoint.md 23). */
static void sizes_equal_those_of_the_engine(void **state) {
    static const struct {
        const char *release;
        bool is_replay;
        size_t single_bits;
        size_t part_bits;
    } rows[] = {
        {"4.18", false, 4016 - 2, 4008}, {"4.20", false, 8112 - 2, 8104}, {"4.22", false, 7630 - 2, 7624},
        {"4.25", false, 7627 - 2, 7624}, {"5.1", false, 7627 - 7, 7616},  {"5.4", false, 7627 - 7, 7616},
        {"4.25", true, 15819, 15816},    {"5.4", true, 15819, 15816},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ue_conn_config config = {.profile = ue_profile_find(rows[i].release),
                                        .settings = {.internal_ack = rows[i].is_replay}};
        struct ue_context context;
        struct ue_limits limits;
        ue_context_init(&context, config.profile, &config.settings);
        for (unsigned ids = 0; ids < 2; ids++) {
            context.ids =
                ids != 0 && config.profile->handshake == UE_HANDSHAKE_V; /* reserved whether the ids are sent or not */
            assert_true(ue_limits_init(&limits, &config, &context));
            assert_int_equal(limits.single_bits, rows[i].single_bits);
            assert_int_equal(limits.part_bits, rows[i].part_bits);
        }
    }
}

static uint32_t power_of_two(struct rng *rng, unsigned lowest, unsigned count) {
    return UINT32_C(1) << (lowest + rng_below(rng, count));
}

static struct ue_conn_config arbitrary_config(struct rng *rng) {
    static const enum ue_handler handlers[] = {UE_HANDLER_NONE,    UE_HANDLER_OODLE,       UE_HANDLER_AESGCM,
                                               UE_HANDLER_AES_ECB, UE_HANDLER_RELIABILITY, UE_HANDLER_DTLS};
    struct ue_conn_config config = {
        .settings = {.max_packet_bytes = 64 + (uint32_t)rng_boundary(rng, UE_MAX_PACKET_BYTES_MAX - 63),
                     .ch_seq_bound = power_of_two(rng, 9, 5),
                     .magic_bits = (uint8_t)rng_below(rng, 33),
                     .magic = (uint32_t)rng_next(rng),
                     .skip_bytes = rng_chance(rng, 80) ? 0 : (uint32_t)rng_boundary(rng, 600),
                     .extra_bits = rng_chance(rng, 80) ? 0 : (uint32_t)rng_boundary(rng, UE_EXTRA_BITS_MAX + 1),
                     .terminators = (uint8_t)rng_below(rng, 3),
                     .internal_ack = rng_chance(rng, 10)},
        .memory_limit_bytes = (size_t)16 << 20,
        .partial_threshold = -1,
    };
    for (size_t i = 0; i < UE_HANDLERS_MAX && rng_chance(rng, 30); i++) {
        config.settings.handlers[i] = handlers[rng_below(rng, 6)];
    }
    if (rng_chance(rng, 50)) {
        config.settings.reliable_buffer = (uint32_t)rng_boundary(rng, 5000);
    }
    return config;
}

/* Creates two adopted and admitted connections. Returns false if no endpoint supports the settings. */
static bool init_pair(struct conn_pair *pair, const char *release, struct ue_conn_config *config) {
    memset(pair, 0, sizeof *pair);
    counting_allocator_init(&pair->memory, SIZE_MAX);
    config->profile = ue_profile_find(release);
    for (unsigned side = 0; side < 2; side++) {
        config->role = side == PAIR_CLIENT ? UE_ROLE_CLIENT : UE_ROLE_SERVER;
        pair->conns[side] = ue_conn_new(&pair->memory.allocator, config);
    }
    if (pair->conns[0] == NULL || pair->conns[1] == NULL) {
        return false;
    }
    for (unsigned side = 0; side < 2; side++) {
        ue_conn_adopt(pair->conns[side], 0, side == 0 ? 500 : 100, side == 0 ? 100 : 500);
        ue_conn_admit(pair->conns[side]);
    }
    return true;
}

static void free_pair(struct conn_pair *pair) {
    ue_conn_free(pair->conns[0]);
    ue_conn_free(pair->conns[1]);
    assert_int_equal(pair->memory.used_bytes, 0);
}

/* Bunches with every flag that lengthens the header, of sizes around the largest that is not split. */
static void accepted_bunches_of_any_size_arrive(void **state) {
    static struct conn_pair pair;
    struct rng rng = rng_seeded("limits of connections");
    uint64_t rounds = rng_rounds(ROUNDS), supported = 0;
    for (uint64_t round = 0; round < rounds; round++) {
        size_t row = rng_below(&rng, UE_PROFILE_COUNT);
        struct ue_conn_config config = arbitrary_config(&rng);
        bool is_supported = init_pair(&pair, ue_profile_at(row)->name, &config);
        supported += is_supported;
        if (is_supported) {
            uint32_t opened, channel = rng_chance(&rng, 50) ? 2 : ue_profile_at(row)->channel_bound - 1;
            struct ue_conn *server = pair.conns[PAIR_SERVER];
            if (!ue_has_internal_ack(&server->common)) {
                assert_int_equal(pair_send(&pair, PAIR_CLIENT, &(struct ue_outgoing){.reliable = true}, 'h', 1), UE_OK);
                pair_run(&pair, 3);
            }
            assert_int_equal(ue_conn_open(server, UE_KIND_ACTOR, channel, &opened), UE_OK);
            const struct ue_outgoing bunch = {.channel = channel,
                                              .reliable = true,
                                              .close = true,
                                              .close_reason = 14,
                                              .has_mapped = true,
                                              .paused = true};
            size_t bytes = server->common.limits.single_bits / 8 + rng_below(&rng, 3);
            bytes = bytes > 1 ? bytes - rng_below(&rng, 2) : bytes;
            size_t capacity_bytes = ue_conn_room_bits(server, channel) / 8;
            bytes = bytes < capacity_bytes ? bytes : capacity_bytes;
            assert_int_equal(pair_send(&pair, PAIR_SERVER, &bunch, 'x', bytes), UE_OK);
            pair_run(&pair, 6);
            pair_assert_received(&pair, PAIR_CLIENT, channel, bytes != 0 ? "x" : "");
            assert_int_equal(ue_conn_unacked(server, channel), 0);
        }
        free_pair(&pair);
    }
    printf("%llu of %llu supported\n", (unsigned long long)supported, (unsigned long long)rounds);
    assert_true(supported > rounds / 10);
}

/* 4.13 to 4.19 write a channel index below 10,240, whatever limit is configured. */
static void channels_beyond_the_wire_format_are_refused(void **state) {
    static struct conn_pair pair;
    uint32_t opened;
    assert_true(init_pair(&pair, "4.18", &(struct ue_conn_config){0}));
    struct ue_conn *server = pair.conns[PAIR_SERVER];
    assert_int_equal(ue_conn_open(server, UE_KIND_ACTOR, 10239, &opened), UE_OK);
    assert_int_equal(ue_conn_open(server, UE_KIND_ACTOR, 10240, &opened), UE_E_FULL);
    free_pair(&pair);
}

static void one_handler_of_a_kind_may_encrypt(void **state) {
    static const uint8_t key[UE_KEY_BYTES];
    static const struct {
        enum ue_handler handlers[UE_HANDLERS_MAX];
        bool compress;
        bool is_usable;
    } rows[] = {
        {{UE_HANDLER_AESGCM, UE_HANDLER_OODLE}, true, true},
        {{UE_HANDLER_OODLE, UE_HANDLER_AESGCM}, true, true},
        {{UE_HANDLER_RELIABILITY, UE_HANDLER_DTLS, UE_HANDLER_OODLE}, false, true},
        {{UE_HANDLER_AESGCM_BYTES, UE_HANDLER_OODLE}, false, true},
        {{UE_HANDLER_AESGCM_BYTES, UE_HANDLER_OODLE}, true, false},
        {{UE_HANDLER_AESGCM, UE_HANDLER_AES_ECB}, false, false},
        {{UE_HANDLER_OODLE, UE_HANDLER_OODLE}, false, false},
    };
    struct counting_allocator memory;
    counting_allocator_init(&memory, SIZE_MAX);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ue_conn_config config = {.profile = ue_profile_find("5.4"), .key = key, .compress = rows[i].compress};
        memcpy(config.settings.handlers, rows[i].handlers, sizeof rows[i].handlers);
        struct ue_conn *conn = ue_conn_new(&memory.allocator, &config);
        assert_int_equal(conn != NULL, rows[i].is_usable);
        ue_conn_free(conn);
        assert_int_equal(memory.used_bytes, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_equal_those_of_the_engine),
        cmocka_unit_test(accepted_bunches_of_any_size_arrive),
        cmocka_unit_test(channels_beyond_the_wire_format_are_refused),
        cmocka_unit_test(one_handler_of_a_kind_may_encrypt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
