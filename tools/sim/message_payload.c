/* SPDX-License-Identifier: MIT */
#include "tools/sim/message_payload.h"

#include "tools/sim/rng.h"

#define SALT_SIZE 1
#define SALT_CONTENT 2

static struct sim_rng rng_of(const struct sim_payload *p, uint64_t salt) {
    uint64_t who = (uint64_t)p->channel << 8 | (uint64_t)p->from << 1 | p->reliable;
    return (struct sim_rng){sim_rng_mix(sim_rng_mix(p->seed, salt << 40 | who), p->number)};
}

static unsigned log2_of(uint32_t number) {
    return 31u - (unsigned)__builtin_clz(number | 1);
}

uint32_t sim_payload_bits(const struct sim_payload *payload, const struct sim_stream *stream) {
    struct sim_rng rng = rng_of(payload, SALT_SIZE);
    unsigned low = log2_of(stream->min_bits);
    unsigned high = log2_of(stream->max_bits);
    uint32_t power = UINT32_C(1) << (low + sim_rng_below(&rng, high - low + 1));
    uint32_t bits = power + (uint32_t)sim_rng_below(&rng, power);
    bits = stream->is_voice ? (bits + 7) / 8 * 8 : bits;
    return bits < stream->min_bits ? stream->min_bits : bits > stream->max_bits ? stream->max_bits : bits;
}

void sim_payload_write(const struct sim_payload *payload, uint32_t bits, uint8_t *bytes) {
    struct sim_rng rng = rng_of(payload, SALT_CONTENT);
    size_t size = ue_bits_bytes(bits);
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = sim_rng_next(&rng);
        if (i == 0 && !payload->reliable) {
            word = (word & ~ue_bits_mask(32)) | (uint32_t)payload->number;
        }
        if (size - i >= 8) {
            ue_bytes_store64(bytes + i, word);
            continue;
        }
        for (size_t k = i; k < size; k++) {
            bytes[k] = (uint8_t)(word >> (k - i) * 8);
        }
    }
    if (bits % 8 != 0) {
        bytes[size - 1] &= (uint8_t)ue_bits_mask(bits % 8);
    }
}
