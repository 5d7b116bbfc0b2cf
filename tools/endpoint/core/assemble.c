/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/assemble.h"

#include <uerudp/partial.h>

#define CAPACITY_FIRST 2048

void ue_assemble_drop(struct ue_share *share, struct ue_channel *channel) {
    if (channel->partial != NULL) {
        ue_share_free_block(share, channel->partial->data);
        ue_share_free_block(share, channel->partial);
        channel->partial = NULL;
    }
}

static struct ue_assembled result(enum ue_assemble_result result) {
    return (struct ue_assembled){.result = result,
                                 .skip = result == UE_ASSEMBLE_SKIP || result == UE_ASSEMBLE_NO_MEMORY};
}

static struct ue_assembled error(enum ue_close_reason reason) {
    return (struct ue_assembled){.result = UE_ASSEMBLE_ERROR, .reason = reason};
}

static bool reserve(struct ue_share *share, struct ue_partial *p, size_t bits) {
    size_t needed = ue_bits_bytes(p->data_bits + bits);
    if (needed <= p->capacity_bytes) {
        return true;
    }
    size_t capacity = p->capacity_bytes != 0 ? p->capacity_bytes : CAPACITY_FIRST;
    while (capacity < needed) {
        capacity *= 2;
    }
    uint8_t *data = ue_share_resize(share, p->data, capacity);
    if (data == NULL) {
        return false;
    }
    p->data = data;
    p->capacity_bytes = capacity;
    return true;
}

static void take_flags(struct ue_partial *p, const struct ue_bunch *last) {
    p->bunch.close = last->close;
    p->bunch.close_reason = last->close_reason;
    p->bunch.dormant = last->dormant;
    p->bunch.paused = last->paused;
    p->bunch.has_mapped = last->has_mapped;
    p->complete = true;
}

/* endpoint.md 18.3. */
static struct ue_assembled append(struct ue_share *share, struct ue_channel *channel, const struct ue_bunch *part,
                                  int64_t ch_seq, uint32_t max_bytes) {
    struct ue_partial *p = channel->partial;
    size_t bits = ue_partial_bits(part);
    if (ue_bits_bytes(p->data_bits + bits) > max_bytes) {
        return error(UE_CLOSE_PARTIAL_TOO_LARGE);
    }
    if (!reserve(share, p, bits)) {
        return result(UE_ASSEMBLE_NO_MEMORY); /* what is there stays: a reliable part comes again */
    }
    p->ch_seq = ch_seq;
    ue_bits_copy(p->data, p->data_bits, part->data.base, part->data.bit, bits);
    p->data_bits += bits;
    if (part->partial_final) {
        take_flags(p, part);
    }
    return result(p->complete ? UE_ASSEMBLE_WHOLE : UE_ASSEMBLE_WAIT);
}

static struct ue_assembled begin(struct ue_share *share, struct ue_channel *channel, const struct ue_bunch *part,
                                 int64_t ch_seq, int64_t packet_id, uint32_t max_bytes) {
    struct ue_partial *p = channel->partial;
    if (p != NULL && !p->complete && p->reliable) {
        return part->reliable ? error(UE_CLOSE_PARTIAL_INITIAL_RELIABLE_DESTROY) : result(UE_ASSEMBLE_SKIP);
    }
    ue_assemble_drop(share, channel);
    if (ue_partial_check(part) != UE_PARTIAL_VALID) {
        return error(UE_CLOSE_PARTIAL_INITIAL_NON_BYTE_ALIGNED);
    }
    p = ue_share_alloc(share, sizeof *p);
    if (p == NULL) {
        return result(UE_ASSEMBLE_NO_MEMORY);
    }
    *p = (struct ue_partial){
        .bunch = *part, .first_ch_seq = ch_seq, .first_packet_id = packet_id, .reliable = part->reliable};
    p->bunch.name = (struct ue_name){0};
    p->bunch.data = (struct ue_view){0};
    channel->partial = p;
    struct ue_assembled begun = append(share, channel, part, ch_seq, max_bytes);
    if (begun.result == UE_ASSEMBLE_NO_MEMORY) {
        ue_assemble_drop(share, channel); /* it has not come */
    }
    return begun;
}

static bool fits(const struct ue_partial *p, const struct ue_bunch *part, int64_t ch_seq) {
    return p != NULL && !p->complete && p->reliable == part->reliable &&
           ue_partial_is_next(p->reliable, p->ch_seq, ch_seq);
}

/* endpoint.md 18.2. */
static struct ue_assembled refuse(struct ue_share *share, struct ue_channel *channel, const struct ue_bunch *part) {
    if (channel->partial == NULL || !channel->partial->reliable) {
        ue_assemble_drop(share, channel);
        return result(UE_ASSEMBLE_SKIP);
    }
    struct ue_assembled assembled = result(UE_ASSEMBLE_SKIP);
    if (part->reliable) {
        assembled.result = UE_ASSEMBLE_ERROR;
        assembled.reason = UE_CLOSE_PARTIAL_MERGE_RELIABLE_DESTROY;
    }
    return assembled;
}

struct ue_assembled ue_assemble(struct ue_share *share, struct ue_channel *channel, const struct ue_bunch *part,
                                int64_t ch_seq, int64_t packet_id, uint32_t max_bytes) {
    if (part->partial_initial) {
        return begin(share, channel, part, ch_seq, packet_id, max_bytes);
    }
    if (!fits(channel->partial, part, ch_seq)) {
        return refuse(share, channel, part);
    }
    switch (ue_partial_check(part)) {
    case UE_PARTIAL_UNALIGNED: return error(UE_CLOSE_PARTIAL_NON_BYTE_ALIGNED);
    case UE_PARTIAL_FINAL_EXPORTS: return error(UE_CLOSE_PARTIAL_FINAL_EXPORTS);
    case UE_PARTIAL_VALID: break;
    }
    return append(share, channel, part, ch_seq, max_bytes);
}
