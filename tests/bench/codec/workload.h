/* SPDX-License-Identifier: MIT */
/* Pools of packets of one shape, generated from a seed: fields, payloads and bytes on the wire. */
#ifndef UERUDP_TESTS_BENCH_CODEC_WORKLOAD_H
#define UERUDP_TESTS_BENCH_CODEC_WORKLOAD_H

#include "tests/bench/codec/random.h"
#include "tests/bench/codec/sample.h"

/* A pool of this size fits the second-level cache together with its outputs. */
#define POOL_PACKETS 512

struct shape {
    const char *name;
    uint32_t bunches_min, bunches_max;
    uint32_t bytes_min, bytes_max; /* of the packet; without bunches it is as long as it is */
    uint32_t history_words;
};

/* The shapes: UN has N bunches in about 995 bytes, U1s 95 bytes, Umix mixes, h8 means eight history words. */
const struct shape *shape_at(size_t index);
const struct shape *shape_find(const char *name);

/* The shape of one packet of many: Umix alternates between two. */
const struct shape *shape_variant(const struct shape *shape, uint64_t index);

struct packet {
    struct sample sample;
    uint8_t payloads[SAMPLE_PAYLOADS_BYTES];
    uint8_t bytes[SAMPLE_BYTES_MAX + SAMPLE_SLACK_BYTES];
    size_t size;
};

struct pool {
    struct packet *packets;
    uint32_t *order; /* in which candidates visit the packets */
    uint32_t count;
};

/* False when memory is short. */
bool pool_init(struct pool *pool, const struct shape *shape, uint32_t count, uint64_t seed);
void pool_free(struct pool *pool);

/* One packet of a shape; pool_init in small. */
void packet_generate(struct packet *packet, const struct shape *shape, struct random *random);

/* A CPU learns 512 packets in a fixed order by heart. */
void pool_shuffle(struct pool *pool, struct random *random);

#endif
