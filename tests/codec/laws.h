/* SPDX-License-Identifier: MIT */
/* Laws for one wire structure, in every generation. L1: what decodes canonically encodes to the same bits. L2: what
   encodes decodes to an equal structure. L4: cut at any bit, decoding faults and reads nothing past the cut. */
#ifndef UERUDP_TESTS_CODEC_LAWS_H
#define UERUDP_TESTS_CODEC_LAWS_H

#include "libcodec/wire/layout_words.h"
#include "tests/support/rng.h"

#if defined(__SANITIZE_ADDRESS__) || !defined(__OPTIMIZE__) || defined(__clang__)
#define LAWS_ROUNDS 30000 /* possibly with sanitizers */
#else
#define LAWS_ROUNDS 100000
#endif

#define LAWS_PART_BYTES 8192 /* of the largest structure */

/* One structure: functions that make, run and compare it. */
struct law_part {
    const char *name;
    void (*make)(struct rng *rng, const struct ue_context *x, void *m);
    void (*run)(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, void *m);
    bool (*equal)(const struct ue_context *x, const void *a, const void *b);
    bool whole;    /* extends to the end of the payload */
    bool handlers; /* only with packet handlers */
};

/* Test a law for a part, `rounds` times in each generation. */
void laws_hold_L1(const struct law_part *part, uint64_t rounds);
void laws_hold_L2(const struct law_part *part, uint64_t rounds);
void laws_hold_L4(const struct law_part *part, uint64_t rounds);

/* For cmocka_run_group_tests. */
int laws_set_up(void **state);
int laws_tear_down(void **state);

/* Defines part_NAME. In `same` the context is called x. */
#define PART(name, type, made, ran, same, whole, handlers)                                                             \
    static void make_##name(struct rng *rng, const struct ue_context *x, void *m) {                                    \
        made(rng, x, (type *)m);                                                                                       \
    }                                                                                                                  \
    static void run_##name(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, void *m) {                  \
        ran(op, c, x, (type *)m);                                                                                      \
    }                                                                                                                  \
    static bool equal_##name(const struct ue_context *x, const void *a, const void *b) {                               \
        return same((const type *)a, (const type *)b);                                                                 \
    }                                                                                                                  \
    _Static_assert(sizeof(type) <= LAWS_PART_BYTES, "LAWS_PART_BYTES is enough");                                      \
    static const struct law_part part_##name = {#name, make_##name, run_##name, equal_##name, whole, handlers};

/* Defines the test NAME_LAW. */
#define LAW(name, law, rounds)                                                                                         \
    static void name##_##law(void **state) {                                                                           \
        laws_hold_##law(&part_##name, rounds);                                                                         \
    }

#endif
