/* SPDX-License-Identifier: MIT */
/* The option repeat_reliable: free room in a packet that leaves is filled with reliable bunches that were not reported
   yet (endpoint.md 39.11). */
#include "tools/endpoint/core/connection.h"

/* Writes a copy into the packet being filled, where it must fit. The bunch stays with the packet that it left in: an
   ack of the copy's packet does not count for it. */
static void repeat(struct ue_conn *c, const struct ue_channel *channel, const struct ue_out *out) {
    struct ue_item item;
    ue_out_bunch_fill_reliable(c, channel, out, &item);
    if (ue_send_buffer_put(c, &item)) {
        c->packer.bunches++;
        c->counters.out_bunches++;
        c->counters.repeated++;
    }
}

static struct ue_channel *channel_at(const struct ue_conn *c, uint32_t slot) {
    return c->lanes.slots[slot] != NULL ? c->lanes.slots[slot]->channel : NULL;
}

static bool may_repeat(const struct ue_conn *c, const struct ue_out *out) {
    return !out->acked && out->packet_id > c->last_notified_id && out->packet_id != c->out_packet_id;
}

static void repeat_of(struct ue_conn *c, struct ue_channel *channel) {
    for (struct ue_out *out = channel->out_first; out != NULL; out = out->next) {
        size_t needed = out->data_bits + c->limits.header_bits;
        if (!may_repeat(c, out)) {
            continue;
        }
        if (needed > ue_send_buffer_free_bits(c)) {
            return;
        }
        repeat(c, channel, out);
    }
}

void ue_repeat_reliable(struct ue_conn *c) {
    if (!c->config.options.repeat_reliable || ue_conn_is_legacy(c) || ue_conn_has_internal_ack(c)) {
        return;
    }
    for (uint32_t i = 0; i < c->lanes.capacity; i++) {
        struct ue_channel *channel = channel_at(c, i);
        if (channel != NULL && channel->out_first != NULL) {
            repeat_of(c, channel);
        }
    }
}
