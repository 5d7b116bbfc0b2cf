/* SPDX-License-Identifier: MIT */
#include "tests/bench/codec/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "tests/bench/codec/anchors.h"
#include "tests/bench/codec/input.h"

static size_t count_bunches(const struct pool *pool) {
    size_t bunches = 0;
    for (uint32_t i = 0; i < pool->count; i++) {
        bunches += pool->packets[i].sample.bunch_count;
    }
    return bunches;
}

bool bench_init(struct bench *bench, const struct shape *shape, uint32_t count, uint64_t seed) {
    *bench = (struct bench){0};
    if (!pool_init(&bench->pool, shape, count, seed)) {
        return false;
    }
    bench->inputs = malloc(count * sizeof *bench->inputs);
    bench->items = malloc((count_bunches(&bench->pool) + 1) * sizeof *bench->items);
    if (bench->inputs == NULL || bench->items == NULL) {
        bench_free(bench);
        return false;
    }
    ue_context_init(&bench->context, ue_profile_find("5.1"), NULL);
    bench->context.direction = UE_SERVER_TO_CLIENT;
    struct ue_item *items = bench->items;
    for (uint32_t i = 0; i < count; i++) {
        input_fill(&bench->inputs[i], &bench->pool.packets[i], items);
        items += bench->inputs[i].item_count;
    }
    return true;
}

void bench_free(struct bench *bench) {
    free(bench->inputs);
    free(bench->items);
    pool_free(&bench->pool);
}

/* ---- what candidates write to, reused from packet to packet as a program would ---- */

static struct ue_item items[SAMPLE_BUNCHES_MAX];
static struct sample sample;
static uint8_t payloads[SAMPLE_PAYLOADS_BYTES];
static uint8_t bytes[SAMPLE_BYTES_MAX + SAMPLE_SLACK_BYTES];

/* The functions are not static so that they keep their names and nothing of them is left out. */
#define CANDIDATE(name, statement)                                                                                     \
    void bench_run_##name(const struct bench *bench);                                                                  \
    void bench_run_##name(const struct bench *bench) {                                                                 \
        for (uint32_t i = 0; i < bench->pool.count; i++) {                                                             \
            uint32_t index = bench->pool.order[i];                                                                     \
            const struct packet *p = &bench->pool.packets[index];                                                      \
            statement;                                                                                                 \
        }                                                                                                              \
    }

UE_INLINE void library_decode(const struct bench *bench, const struct packet *p, struct ue_datagram *d) {
    struct ue_decode_result result;
    d->items = items;
    d->item_capacity = SAMPLE_BUNCHES_MAX;
    ue_datagram_decode(&bench->context, p->bytes, p->size, d, NULL, &result);
}

UE_INLINE void library_headers(const struct bench *bench, const struct packet *p) {
    struct ue_datagram d;
    library_decode(bench, p, &d);
}

UE_INLINE void library_payload(const struct bench *bench, const struct packet *p) {
    struct ue_datagram d;
    library_decode(bench, p, &d);
    uint32_t byte = 0;
    for (size_t i = 0; i < d.item_count; i++) {
        struct ue_view data = d.items[i].bunch.data;
        ue_view_copy(data, payloads + byte);
        byte = sample_next_payload(byte, (uint32_t)data.bits);
    }
}

UE_INLINE void library_encode(const struct bench *bench, uint32_t index) {
    struct ue_fault fault;
    size_t size;
    ue_datagram_encode(&bench->context, &bench->inputs[index], bytes, SAMPLE_BYTES_MAX, &size, &fault);
}

CANDIDATE(memcpy, memcpy(bytes, p->bytes, p->size))
CANDIDATE(limit_headers, limit_decode(p->bytes, p->size, &sample))
CANDIDATE(limit_payload, limit_decode_payload(p->bytes, p->size, &sample, payloads))
CANDIDATE(limit_encode, limit_encode(&p->sample, p->payloads, bytes))
CANDIDATE(naive_headers, naive_decode(p->bytes, p->size, &sample))
CANDIDATE(naive_payload, naive_decode_payload(p->bytes, p->size, &sample, payloads))
CANDIDATE(naive_encode, naive_encode(&p->sample, p->payloads, bytes))
CANDIDATE(library_headers, library_headers(bench, p))
CANDIDATE(library_payload, library_payload(bench, p))
CANDIDATE(library_check, struct ue_decode_result result;
          ue_datagram_decode(&bench->context, p->bytes, p->size, NULL, NULL, &result))
CANDIDATE(library_encode, (void)p; library_encode(bench, index))

static const struct candidate candidates[] = {
    {"memcpy", bench_run_memcpy},
    {"limit_headers", bench_run_limit_headers},
    {"limit_payload", bench_run_limit_payload},
    {"limit_encode", bench_run_limit_encode},
    {"naive_headers", bench_run_naive_headers},
    {"naive_payload", bench_run_naive_payload},
    {"naive_encode", bench_run_naive_encode},
    {"library_headers", bench_run_library_headers},
    {"library_payload", bench_run_library_payload},
    {"library_check", bench_run_library_check},
    {"library_encode", bench_run_library_encode},
};

const struct candidate *candidate_at(size_t index) {
    return index < sizeof candidates / sizeof *candidates ? &candidates[index] : NULL;
}

const struct candidate *candidate_find(const char *name) {
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        if (strcmp(candidates[i].name, name) == 0) {
            return &candidates[i];
        }
    }
    return NULL;
}
