/* SPDX-License-Identifier: MIT */
/* The lower bound of QueuedBits: against an engine that counts the same packets, tick by tick. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <uerudp/clock_jitter.h>
#include <uerudp/saturation.h>
#include <uerudp/time_ns.h>

#define RATE 10000
#define TICKS 400

/* endpoint.md 30. */
struct engine {
    int64_t rate, queued_bits, now_ns, total_ns, end_ns;
    uint64_t frame;
};

/* In the current tick. What is left of a saturation takes the time of the new rate. */
static void set_rate(struct engine *engine, struct ue_saturation *side, int32_t rate) {
    int64_t left_ns = engine->end_ns - engine->now_ns;
    if (left_ns > 0) {
        engine->end_ns = engine->now_ns + left_ns * engine->rate / rate;
        engine->total_ns += engine->end_ns - engine->now_ns - left_ns;
    }
    engine->rate = rate;
    ue_saturation_set_rate(side, rate, true);
}

static void end_tick(struct engine *engine, int64_t tick_ns) {
    int64_t allowed = engine->rate * 8 * tick_ns / UE_NS_PER_S;
    int64_t end_ns = engine->now_ns + engine->queued_bits * UE_NS_PER_S / (engine->rate * 8);
    engine->queued_bits -= allowed;
    if (engine->queued_bits > 0) {
        int64_t begin_ns = engine->end_ns > engine->now_ns ? engine->end_ns : engine->now_ns;
        engine->total_ns += end_ns - begin_ns;
        engine->end_ns = end_ns;
    }
    engine->queued_bits = engine->queued_bits > -2 * allowed ? engine->queued_bits : -2 * allowed;
    engine->now_ns += tick_ns;
}

static void send(struct engine *engine, struct ue_saturation *side, uint64_t bytes, bool has_info) {
    engine->frame++;
    engine->queued_bits += 8 * (int64_t)bytes;
    ue_saturation_add(side, &(struct ue_saturation_packet){.time_ns = engine->now_ns,
                                                           .frame = engine->frame,
                                                           .packet_id = (int64_t)engine->frame,
                                                           .bytes = bytes,
                                                           .has_info = has_info,
                                                           .clock_ms = (uint16_t)(engine->now_ns / 1000000 % 1000)});
}

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* Each tick has a packet; its length, and now and then many more, are random; so is the rate of each third of the
 * ticks.
 */
static void run(uint32_t seed, bool has_clocks, struct engine *engine, struct ue_saturation *side) {
    int64_t tick_ns = (int64_t)(12 + seed % 7 * 5) * UE_NS_PER_MS + seed * 997;
    set_rate(engine, side, RATE);
    for (unsigned tick = 0; tick < TICKS; tick++) {
        unsigned packets = next_random(&seed) % 16 == 0 ? 1 + next_random(&seed) % 12 : 1;
        for (unsigned i = 0; i < packets; i++) {
            send(engine, side, 28 + next_random(&seed) % 400, has_clocks && i == 0);
            if (i == 0 && tick % (TICKS / 3) == 1) {
                set_rate(engine, side, RATE / 2 * (int32_t)(1 + next_random(&seed) % 6));
            }
        }
        end_tick(engine, tick_ns);
    }
    ue_saturation_finish(side, engine->now_ns);
}

static void never_more_than_the_engine(void **state) {
    int64_t found_ns = 0, true_ns = 0;
    for (uint32_t seed = 1; seed <= 100; seed++) {
        struct engine engine = {0};
        struct ue_saturation side = {0};
        run(seed, seed % 2 == 0, &engine, &side);
        assert_true(side.total_ns <= engine.total_ns);
        assert_true(side.longest.length_ns <= side.total_ns);
        assert_int_equal(side.packets, engine.frame);
        found_ns += side.total_ns;
        true_ns += engine.total_ns;
    }
    assert_true(found_ns > true_ns / 2);
}

/* 20,000 bytes at 5000 bytes/s; 1 s later the rate is another one. */
static struct ue_saturation after_another_rate(int32_t rate) {
    struct engine engine = {0};
    struct ue_saturation side = {0};
    set_rate(&engine, &side, 5000);
    for (unsigned tick = 0; tick < 400; tick++) {
        send(&engine, &side, tick == 20 ? 20000 : 28, true);
        if (tick == 60) {
            set_rate(&engine, &side, rate);
        }
        end_tick(&engine, 25 * UE_NS_PER_MS);
    }
    ue_saturation_finish(&side, engine.now_ns);
    assert_true(side.total_ns <= engine.total_ns);
    assert_true(side.total_ns > engine.total_ns - 200 * UE_NS_PER_MS);
    assert_int_equal(side.longest.frame, 21);
    assert_int_equal(side.longest.rate, 5000);
    assert_int_equal(side.peak_frame, 21);
    return side;
}

static void another_rate_drains_what_is_left(void **state) {
    struct ue_saturation same = after_another_rate(5000), higher = after_another_rate(100000),
                         lower = after_another_rate(4000);
    assert_true(higher.total_ns < 1300 * UE_NS_PER_MS);
    assert_true(same.total_ns > 4 * UE_NS_PER_S);
    assert_true(lower.total_ns > 5 * UE_NS_PER_S);
    assert_int_equal(ue_saturation_peak_ns(&higher), ue_saturation_peak_ns(&same));
    assert_int_equal(ue_saturation_peak_ns(&lower), ue_saturation_peak_ns(&same));
}

/* The bits of a connection that another one replaced are none of the new one. */
static void saturation_ends_with_the_connection(void **state) {
    struct engine engine = {0};
    struct ue_saturation side = {0};
    for (unsigned connection = 0; connection < 2; connection++) {
        set_rate(&engine, &side, RATE);
        for (unsigned tick = 0; tick < 40; tick++) {
            send(&engine, &side, tick % 20 == 10 ? 30000 : 28, true);
            end_tick(&engine, 25 * UE_NS_PER_MS);
        }
        ue_saturation_stop(&side);
    }
    ue_saturation_finish(&side, engine.now_ns);
    assert_int_equal(side.spans, 2);
    assert_true(side.total_ns > UE_NS_PER_S);
    assert_true(side.longest.length_ns < 750 * UE_NS_PER_MS);
}

/* 3000 bytes in the first tick, and the rate since then. */
static struct ue_saturation after_first_tick(int32_t first_rate, bool is_known) {
    struct engine engine = {.rate = RATE};
    struct ue_saturation side = {0};
    ue_saturation_set_rate(&side, first_rate, is_known);
    ue_saturation_set_rate(&side, RATE, true);
    for (unsigned tick = 0; tick < 40; tick++) {
        send(&engine, &side, tick == 0 ? 3000 : 250, true);
        end_tick(&engine, 25 * UE_NS_PER_MS);
    }
    ue_saturation_finish(&side, engine.now_ns);
    return side;
}

/* A sender keeps up to two ticks of the rate before. */
static void first_rate_counts(void **state) {
    struct ue_saturation same = after_first_tick(RATE, true), higher = after_first_tick(20 * RATE, true),
                         not_known = after_first_tick(RATE, false);
    assert_int_not_equal(same.spans, 0);
    assert_false(same.is_from_start);
    assert_int_equal(same.tick_ns, 25 * UE_NS_PER_MS);
    assert_int_equal(higher.spans, 0);
    assert_int_equal(not_known.total_ns, same.total_ns);
    assert_true(not_known.is_from_start);
}

/* A pause shows that no more than two ticks of the current rate are left, whatever the rate was. */
static void pause_forgets_the_first_rate(void **state) {
    struct engine engine = {.rate = RATE};
    struct ue_saturation side = {0};
    ue_saturation_set_rate(&side, 20 * RATE, false);
    ue_saturation_set_rate(&side, RATE, true);
    for (unsigned tick = 0; tick < 60; tick++) {
        send(&engine, &side, tick == 50 ? 3000 : 100, true);
        end_tick(&engine, 25 * UE_NS_PER_MS);
    }
    ue_saturation_finish(&side, engine.now_ns);
    assert_int_equal(side.spans, 1);
    assert_int_equal(side.latest.frame, 51);
    assert_false(side.is_from_start);
}

/* Without a rate, and after another connection began, nothing is counted. */
static void nothing_is_known(void **state) {
    struct engine engine = {.rate = RATE};
    struct ue_saturation side = {0};
    for (unsigned tick = 0; tick < 40; tick++) {
        send(&engine, &side, 5000, true);
        end_tick(&engine, 25 * UE_NS_PER_MS);
    }
    ue_saturation_set_rate(&side, RATE, true);
    ue_saturation_stop(&side);
    send(&engine, &side, 5000, true);
    ue_saturation_finish(&side, engine.now_ns);
    assert_int_equal(side.packets, 0);
    assert_int_equal(side.spans, 0);
}

/* Packets of an idle sender, whose clocks have no value. */
static void clocks_without_value(void **state) {
    struct ue_saturation side = {0};
    ue_saturation_set_rate(&side, RATE, true);
    for (int64_t i = 0; i < 100; i++) {
        ue_saturation_add(&side, &(struct ue_saturation_packet){.time_ns = i,
                                                                .frame = (uint64_t)i + 1,
                                                                .packet_id = i,
                                                                .bytes = 1000,
                                                                .has_info = true,
                                                                .clock_ms = UE_CLOCK_JITTER_UNUSABLE_MS});
    }
    ue_saturation_finish(&side, 100);
    assert_int_equal(side.spans, 0);
}

/* Times of a capture can be anything. */
static void times_jump(void **state) {
    static const int64_t times[] = {UE_NS_PER_S, INT64_MIN, INT64_MAX, 0, -1, INT64_MAX - 1, 2 * UE_NS_PER_S};
    for (unsigned has_clocks = 0; has_clocks < 2; has_clocks++) {
        struct ue_saturation side = {0};
        ue_saturation_set_rate(&side, INT32_MAX, true);
        for (uint64_t i = 0; i < sizeof times / sizeof *times; i++) {
            ue_saturation_add(&side, &(struct ue_saturation_packet){.time_ns = times[i],
                                                                    .frame = i + 1,
                                                                    .packet_id = INT64_MAX - 7 + (int64_t)i,
                                                                    .bytes = UINT16_MAX,
                                                                    .has_info = has_clocks != 0 && i % 2 == 0,
                                                                    .clock_ms = (uint16_t)(100 * i)});
        }
        ue_saturation_finish(&side, INT64_MIN);
        assert_true(side.total_ns >= 0);
        assert_int_equal(side.packets, sizeof times / sizeof *times);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_more_than_the_engine),
        cmocka_unit_test(another_rate_drains_what_is_left),
        cmocka_unit_test(saturation_ends_with_the_connection),
        cmocka_unit_test(first_rate_counts),
        cmocka_unit_test(pause_forgets_the_first_rate),
        cmocka_unit_test(nothing_is_known),
        cmocka_unit_test(clocks_without_value),
        cmocka_unit_test(times_jump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
