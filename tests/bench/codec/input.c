/* SPDX-License-Identifier: MIT */
#include "tests/bench/codec/input.h"

#include <string.h>

static void fill_bunch(struct ue_item *item, const struct sample_bunch *b, const uint8_t *payloads) {
    *item = (struct ue_item){.bunch = {
                                 .control = b->control,
                                 .open = b->open,
                                 .close = b->close,
                                 .close_reason = b->close_reason,
                                 .paused = b->paused,
                                 .reliable = b->reliable,
                                 .channel = b->channel,
                                 .has_exports = b->has_exports,
                                 .has_mapped = b->has_mapped,
                                 .partial = b->partial,
                                 .ch_seq = b->ch_seq,
                                 .partial_initial = b->partial_initial,
                                 .partial_final = b->partial_final,
                                 .has_name = b->has_name,
                                 .name = {.hardcoded = b->has_name, .index = b->name_index},
                                 .data = {payloads + b->payload_byte, 0, b->data_bits},
                             }};
}

void input_fill(struct ue_datagram *d, const struct packet *p, struct ue_item *items) {
    const struct sample *s = &p->sample;
    *d = (struct ue_datagram){
        .prefix = {.session_id = s->session_id, .client_id = s->client_id},
        .packet = {.seq = s->seq,
                   .ack = s->ack,
                   .history_words = s->history_words,
                   .has_info = s->has_info,
                   .jitter_ms = s->jitter_ms,
                   .has_frame_time = s->has_frame_time,
                   .frame_time_ms = s->frame_time_ms},
        .items = items,
        .item_capacity = s->bunch_count,
        .item_count = s->bunch_count,
    };
    memcpy(d->packet.history, s->history, sizeof s->history);
    for (uint32_t i = 0; i < s->bunch_count; i++) {
        fill_bunch(&items[i], &s->bunches[i], p->payloads);
    }
}
