/* SPDX-License-Identifier: MIT */
#include "tests/support/hostile.h"

#define PART_BYTES 900
#define CHANNEL_FIRST 100

uint32_t hostile_per_channel(enum hostility how) {
    static const uint32_t counts[] = {[HOSTILE_PARTS] = 70, [HOSTILE_EARLY] = 240, [HOSTILE_CHANNELS] = 1};
    return counts[how];
}

void hostile_put(struct ue_conn *c, uint64_t now_ns, enum hostility how, uint32_t number, bool reliable) {
    static const uint8_t data[PART_BYTES];
    uint32_t at = number % hostile_per_channel(how);
    uint32_t ch_seq =
        (uint32_t)c->lanes.out_first + 1 + at + (how == HOSTILE_EARLY && at > 0); /* the second is left out */
    const struct ue_item item = {.bunch = {
                                     .control = at == 0,
                                     .open = at == 0,
                                     .reliable = reliable,
                                     .partial = how == HOSTILE_PARTS,
                                     .partial_initial = how == HOSTILE_PARTS && at == 0,
                                     .has_name = true,
                                     .name = {.hardcoded = true, .index = UE_NAME_VOICE},
                                     .channel = CHANNEL_FIRST + number / hostile_per_channel(how),
                                     .ch_seq = reliable ? ch_seq & (c->out_context.ch_seq_bound - 1) : 0,
                                     .data = {data, 0, how == HOSTILE_CHANNELS ? 8 : 8 * PART_BYTES},
                                 }};
    ue_send_buffer_append(c, now_ns, &item);
}
