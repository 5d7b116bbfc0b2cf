/* SPDX-License-Identifier: MIT */
/* The option repeat_reliable: copies of unacknowledged bunches in what is left of each packet (endpoint.md 39.11). */
#include "tools/endpoint/core/sender.h"

/* Writes a copy into the packet being filled, where it must fit. The bunch stays with the packet that it left in: an
   ack of the copy's packet does not count for it. */
static void write_copy(struct ue_sender *s, const struct ue_channel *channel, const struct ue_out_rec *out) {
    struct ue_item item;
    ue_out_bunch_fill_reliable(s->common, channel, out, &item);
    if (ue_send_buffer_put(s, &item)) {
        s->send_buffer.bunches++;
        s->common->statistics.counters.out_bunches++;
        s->common->statistics.counters.repeated++;
    }
}

static bool may_copy(const struct ue_sender *s, const struct ue_out_rec *out) {
    return !out->acked && out->packet_id > s->last_notified_id && out->packet_id != s->out_packet_id;
}

static void write_copies(struct ue_sender *s, struct ue_channel *channel) {
    for (struct ue_out_rec *out = channel->out_first; out != NULL; out = out->next) {
        size_t needed = out->data_bits + s->common->limits.header_bits;
        if (!may_copy(s, out)) {
            continue;
        }
        if (needed > ue_send_buffer_free_bits(s)) {
            return;
        }
        write_copy(s, channel, out);
    }
}

/* endpoint.md 39.11. */
void ue_send_unacknowledged_copies(struct ue_sender *s) {
    if (!s->common->config.options.repeat_reliable || ue_is_legacy(s->common) || ue_has_internal_ack(s->common) ||
        !ue_sender_is_ready(s)) {
        return;
    }
    for (uint32_t i = 0; i < s->channels->capacity; i++) {
        struct ue_channel *channel = ue_channel_at(s->channels, i);
        if (channel != NULL && channel->out_first != NULL) {
            write_copies(s, channel);
        }
    }
}
