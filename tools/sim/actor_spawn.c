/* SPDX-License-Identifier: MIT */
#include "tools/sim/actor_spawn.h"

#include <string.h>

#define NETVER_LEVEL 5      /* an actor spawn names its level */
#define NETVER_QUANTIZED 13 /* each vector says whether it is quantized */
#define NETVER_LARGE 23     /* vectors of large worlds; version 26 has the older form again */
#define NETVER_SMALL_AGAIN 26
#define NETVER_DOUBLES 22 /* components that are not quantized are doubles */
#define TENTHS 10.0

#define LOCATION_SCALE_BITS_MAX 24
#define EXTRA_SCALED 64

void sim_actor_write_path(struct sim_bit_writer *w, const struct sim_object_path *path) {
    size_t count = 0;
    for (; count < SIM_PATH_PARTS_MAX && path->parts[count].name != NULL; count++) {
        sim_bits_write_packed(w, path->parts[count].guid);
        sim_bits_write(w, path->flags, 8);
    }
    sim_bits_write_packed(w, 0);
    while (count-- > 0) { /* outermost object first: an outer precedes the name */
        sim_bits_write_text(w, path->parts[count].name);
        sim_bits_write(w, count == 0 ? path->checksum : 0, 32);
    }
}

/* Bits of the largest magnitude among the components. */
static unsigned magnitude_bits(const int32_t v[3]) {
    uint32_t all = 0;
    for (size_t i = 0; i < 3; i++) {
        all |= (uint32_t)(v[i] < 0 ? -v[i] : v[i]);
    }
    return all == 0 ? 1 : 32 - (unsigned)__builtin_clz(all);
}

static void put_small_vector(struct sim_bit_writer *w, const int32_t v[3]) {
    struct ue_bound bound = ue_bound_of(LOCATION_SCALE_BITS_MAX);
    unsigned bits = magnitude_bits(v) - 1;
    bool is_longer = (bits & ue_bits_mask(bound.bits)) < bound.longer;
    sim_bits_write(w, bits, bound.bits + is_longer);
    for (size_t i = 0; i < 3; i++) {
        sim_bits_write(w, (uint64_t)(v[i] + (INT64_C(2) << bits)), bits + 2);
    }
}

static void put_large_vector(struct sim_bit_writer *w, const int32_t v[3]) {
    unsigned bits = magnitude_bits(v) + 1;
    sim_bits_write(w, bits | EXTRA_SCALED, 7);
    for (size_t i = 0; i < 3; i++) {
        sim_bits_write(w, (uint64_t)(int64_t)v[i], bits);
    }
}

static void put_real(struct sim_bit_writer *w, uint16_t netver, double value) {
    float single = (float)value;
    uint64_t bits = 0;
    if (netver >= NETVER_DOUBLES) {
        memcpy(&bits, &value, sizeof value);
    } else {
        memcpy(&bits, &single, sizeof single);
    }
    sim_bits_write(w, bits, netver >= NETVER_DOUBLES ? 64 : 32);
}

static bool is_equal(const int32_t a[3], const int32_t b[3]) {
    return memcmp(a, b, 3 * sizeof *a) == 0;
}

/* A vector that has the usual value is one bit. */
static void put_vector(struct sim_bit_writer *w, uint16_t netver, const int32_t v[3], const int32_t usual[3],
                       bool is_exact) {
    bool quantized = netver < NETVER_QUANTIZED || !is_exact;
    bool is_there = !is_equal(v, usual);
    sim_bits_write(w, is_there, 1);
    if (is_there && netver >= NETVER_QUANTIZED) {
        sim_bits_write(w, quantized, 1);
    }
    if (!is_there) {
        return;
    }
    if (!quantized) {
        for (size_t i = 0; i < 3; i++) {
            put_real(w, netver, v[i] / TENTHS);
        }
    } else if (netver >= NETVER_LARGE && netver != NETVER_SMALL_AGAIN) {
        put_large_vector(w, v);
    } else {
        put_small_vector(w, v);
    }
}

static void put_rotation(struct sim_bit_writer *w, const struct sim_actor *actor) {
    sim_bits_write(w, actor->has_rotation, 1);
    for (size_t i = 0; actor->has_rotation && i < 3; i++) {
        sim_bits_write(w, actor->rotation[i] != 0, 1);
        sim_bits_write(w, actor->rotation[i], actor->rotation[i] != 0 ? 16 : 0);
    }
}

void sim_actor_write_spawn(struct sim_bit_writer *w, uint16_t netver, const struct sim_actor *actor) {
    sim_bits_write_packed(w, actor->guid);
    if (actor->guid % 2 != 0) {
        return;
    }
    sim_bits_write_packed(w, actor->archetype);
    if (netver >= NETVER_LEVEL) {
        sim_bits_write_packed(w, actor->level);
    }
    static const int32_t zero[3];
    static const int32_t one[3] = {10, 10, 10};
    put_vector(w, netver, actor->location, zero, false);
    put_rotation(w, actor);
    put_vector(w, netver, actor->scale, one, true);
    put_vector(w, netver, actor->velocity, zero, false);
}
