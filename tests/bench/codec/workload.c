/* SPDX-License-Identifier: MIT */
#include "tests/bench/codec/workload.h"

#include <stdlib.h>
#include <string.h>

#include "tests/bench/codec/anchors.h"

static const struct shape shapes[] = {
    {"U0", 0, 0, 0, 0, 1},           {"U0h8", 0, 0, 0, 0, 8},      {"U1s", 1, 1, 90, 100, 1},
    {"U1sh8", 1, 1, 90, 100, 8},     {"U1", 1, 1, 990, 1000, 1},   {"U1h8", 1, 1, 990, 1000, 8},
    {"U4", 4, 4, 990, 1000, 1},      {"U4h8", 4, 4, 990, 1000, 8}, {"U20", 20, 20, 990, 1000, 1},
    {"U20h8", 20, 20, 990, 1000, 8}, {"Umix", 1, 6, 80, 680, 1},
};

/* The smaller half of Umix: what clients send. */
static const struct shape mix_small = {"Umix", 1, 2, 60, 120, 1};

const struct shape *shape_at(size_t index) {
    return index < sizeof shapes / sizeof *shapes ? &shapes[index] : NULL;
}

const struct shape *shape_find(const char *name) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if (strcmp(shapes[i].name, name) == 0) {
            return &shapes[i];
        }
    }
    return NULL;
}

const struct shape *shape_variant(const struct shape *shape, uint64_t index) {
    return strcmp(shape->name, mix_small.name) == 0 && index % 2 == 0 ? &mix_small : shape;
}

static void generate_header(struct sample *s, const struct shape *shape, struct random *random) {
    s->session_id = (uint8_t)random_below(random, 4);
    s->client_id = (uint8_t)random_below(random, 8);
    s->seq = (uint16_t)random_below(random, 1 << 14);
    s->ack = (uint16_t)random_below(random, 1 << 14);
    s->history_words = (uint8_t)shape->history_words;
    for (uint32_t i = 0; i < s->history_words; i++) {
        s->history[i] = (uint32_t)random_next(random);
    }
    s->has_info = true;
    s->jitter_ms = (uint16_t)random_below(random, 1024);
    s->has_frame_time = random_percent(random, 50);
    s->frame_time_ms = s->has_frame_time ? (uint8_t)random_below(random, 256) : 0;
}

/* Plausible, so that whoever learns from packets learns: no control channel, names of other channels only. */
static void generate_bunch(struct sample_bunch *b, struct random *random) {
    b->control = random_percent(random, 6);
    b->open = b->control && random_percent(random, 50);
    b->close = b->control && !b->open;
    b->close_reason = b->close ? (uint8_t)random_below(random, 6) : 0;
    b->paused = random_percent(random, 2);
    b->reliable = random_percent(random, 40);
    b->channel = random_percent(random, 30) ? random_between(random, 1, 127) : random_between(random, 128, 2000);
    b->has_exports = random_percent(random, 5);
    b->has_mapped = random_percent(random, 10);
    b->partial = random_percent(random, 10);
    b->ch_seq = b->reliable ? (uint16_t)random_below(random, 1024) : 0;
    uint32_t fragment = random_below(random, 3); /* first, middle, last */
    b->partial_initial = b->partial && fragment == 0;
    b->partial_final = b->partial && fragment == 2;
    b->has_name = b->reliable || b->open;
    b->name_index = !b->has_name ? 0 : random_percent(random, 50) ? 102 : 256;
}

/* Divides the payload bits among the bunches at random. */
static void share_bits(struct sample *s, uint32_t bits, struct random *random) {
    for (uint32_t i = 0; i < s->bunch_count; i++) {
        uint32_t left = s->bunch_count - i;
        uint32_t even = bits / left;
        uint32_t part = left == 1 ? bits : random_between(random, even / 2, even + even / 2);
        s->bunches[i].data_bits = part;
        bits -= part;
    }
}

static void generate_payloads(struct packet *p, struct random *random) {
    uint32_t byte = 0;
    for (uint32_t i = 0; i < p->sample.bunch_count; i++) {
        struct sample_bunch *b = &p->sample.bunches[i];
        b->payload_byte = byte;
        uint32_t bytes = (b->data_bits + 7) / 8;
        for (uint32_t k = 0; k < bytes; k++) {
            p->payloads[byte + k] = (uint8_t)random_next(random);
        }
        if (b->data_bits % 8 != 0) {
            p->payloads[byte + bytes - 1] &= (uint8_t)((1u << b->data_bits % 8) - 1);
        }
        byte = sample_next_payload(byte, b->data_bits);
    }
}

/* Encoding without payload gives the size of the headers. */
void packet_generate(struct packet *packet, const struct shape *shape, struct random *random) {
    memset(packet, 0, sizeof *packet);
    struct sample *s = &packet->sample;
    generate_header(s, shape, random);
    s->bunch_count = random_between(random, shape->bunches_min, shape->bunches_max);
    for (uint32_t i = 0; i < s->bunch_count; i++) {
        generate_bunch(&s->bunches[i], random);
    }
    uint32_t headers = (uint32_t)naive_encode(s, packet->payloads, packet->bytes);
    uint32_t bytes = random_between(random, shape->bytes_min, shape->bytes_max);
    uint32_t spare = bytes > headers ? (bytes - headers) * 8 : 0;
    share_bits(s, s->bunch_count != 0 ? spare : 0, random);
    generate_payloads(packet, random);
    packet->size = naive_encode(s, packet->payloads, packet->bytes);
}

bool pool_init(struct pool *pool, const struct shape *shape, uint32_t count, uint64_t seed) {
    struct random random = {seed};
    *pool = (struct pool){malloc(count * sizeof *pool->packets), malloc(count * sizeof *pool->order), count};
    if (pool->packets == NULL || pool->order == NULL) {
        pool_free(pool);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        packet_generate(&pool->packets[i], shape_variant(shape, i), &random);
        pool->order[i] = i;
    }
    return true;
}

void pool_free(struct pool *pool) {
    free(pool->packets);
    free(pool->order);
    *pool = (struct pool){0};
}

void pool_shuffle(struct pool *pool, struct random *random) {
    for (uint32_t i = pool->count; i > 1; i--) {
        uint32_t other = random_below(random, i);
        uint32_t swapped = pool->order[i - 1];
        pool->order[i - 1] = pool->order[other];
        pool->order[other] = swapped;
    }
}
