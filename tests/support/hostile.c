/* SPDX-License-Identifier: MIT */
#include "tests/support/hostile.h"

#define PART_BYTES 900
#define CHANNEL_FIRST 100

uint32_t hostile_per_channel(enum hostile_traffic traffic) {
    static const uint32_t counts[] = {[HOSTILE_PARTS] = 70, [HOSTILE_EARLY] = 240, [HOSTILE_CHANNELS] = 1};
    return counts[traffic];
}

void hostile_send(struct ue_conn *c, uint64_t now_ns, enum hostile_traffic traffic, uint32_t number, bool reliable) {
    static const uint8_t data[PART_BYTES];
    uint32_t index = number % hostile_per_channel(traffic);
    uint32_t ch_seq = (uint32_t)c->channels.out_first + 1 + index +
                      (traffic == HOSTILE_EARLY && index > 0); /* the second is missing */
    const struct ue_item item = {.bunch = {
                                     .control = index == 0,
                                     .open = index == 0,
                                     .reliable = reliable,
                                     .partial = traffic == HOSTILE_PARTS,
                                     .partial_initial = traffic == HOSTILE_PARTS && index == 0,
                                     .has_name = true,
                                     .name = {.hardcoded = true, .index = UE_NAME_VOICE},
                                     .channel = CHANNEL_FIRST + number / hostile_per_channel(traffic),
                                     .ch_seq = reliable ? ch_seq & (c->common.context.ch_seq_bound - 1) : 0,
                                     .data = {data, 0, traffic == HOSTILE_CHANNELS ? 8 : 8 * PART_BYTES},
                                 }};
    ue_send_buffer_append(&c->sender, now_ns, &item);
}
