/* SPDX-License-Identifier: MIT */
#include "tests/bench/codec/hostile.h"

#include <string.h>

#define APART_BYTES 16 /* fits what every packet has behind it: SAMPLE_SLACK_BYTES, less what a load may touch */

static void flip_bits(struct packet *p, struct random *random) {
    for (unsigned i = 0; i < 8; i++) {
        uint32_t bit = random_below(random, (uint32_t)p->size * 8);
        p->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void randomise(struct packet *p, struct random *random) {
    for (size_t i = 0; i < p->size; i++) {
        p->bytes[i] = (uint8_t)random_next(random);
    }
}

static void cut(struct packet *p, struct random *random) {
    p->size = random_between(random, 1, (uint32_t)p->size - 1);
}

/* Zeros from here on up to an outer terminator: the search for the inner one goes far back. */
static void blank(struct packet *p, size_t from) {
    memset(p->bytes + from, 0, p->size - 1 - from);
    p->bytes[p->size - 1] = 0x80;
}

/* The inner terminator is found in a bunch header. */
static void clear_tail(struct packet *p, struct random *random) {
    blank(p, 16);
}

/* The inner terminator is found in the packet header. */
static void clear_history(struct packet *p, struct random *random) {
    blank(p, 6);
}

/* There is no inner terminator. */
static void clear(struct packet *p, struct random *random) {
    blank(p, 0);
}

/* All of the packet is there, but zeros separate its terminators. */
static void move_terminator(struct packet *p, struct random *random) {
    uint8_t *last = &p->bytes[p->size - 1];
    *last ^= (uint8_t)(1u << (31 - __builtin_clz(*last)));
    memset(last + 1, 0, APART_BYTES);
    p->size += APART_BYTES;
    p->bytes[p->size - 1] = 0x80;
}

/* The last payload reaches one bit too far: everything is read, then refused. */
static void shorten(struct packet *p, struct random *random) {
    p->size--;
    p->bytes[p->size - 1] = 0xc0;
}

/* Packed integers that never end. */
static void fill_ones(struct packet *p, struct random *random) {
    memset(p->bytes + 16, 0xff, p->size - 16);
}

static const struct {
    const char *name;
    void (*damage)(struct packet *packet, struct random *random);
} ways[] = {
    {"flipped", flip_bits},     {"random", randomise},       {"cut", cut},
    {"zeros", clear_tail},      {"headless", clear_history}, {"empty", clear},
    {"apart", move_terminator}, {"short", shorten},          {"ones", fill_ones},
};

const char *hostile_name(size_t way) {
    return way < sizeof ways / sizeof *ways ? ways[way].name : NULL;
}

void hostile_damage(struct pool *pool, size_t way, struct random *random) {
    for (uint32_t i = 0; i < pool->count; i++) {
        ways[way].damage(&pool->packets[i], random);
    }
}
