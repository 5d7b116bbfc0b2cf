/* SPDX-License-Identifier: MIT */
/* Channel 0: its messages wait when the reliable buffer is full, and its open is sent again (endpoint.md 22, 21). */
#include "tools/endpoint/core/sender.h"

#define MESSAGE_BYTES_MAX 8192
#define RESEND_AFTER_NS UINT64_C(1000000000)
#define RESEND_BUNCHES_MAX 8

/* An entry of the queue: the number of bits, then the bits (endpoint.md 21.4). */
static enum ue_status queue(struct ue_sender *s, const struct ue_outgoing *bunch) {
    size_t bits = bunch->data.bits;
    struct ue_output_block *block = ue_output_queue_alloc(&s->control_queue, sizeof bits + ue_bits_bytes(bits));
    if (block == NULL) {
        ue_want_close(s->common, UE_CLOSE_CONTROL_QUEUE_OVERFLOW, UE_CLOSE_NONE);
        return UE_E_FULL;
    }
    memcpy(block->bytes, &bits, sizeof bits);
    ue_view_copy(bunch->data, block->bytes + sizeof bits);
    ue_output_queue_push(&s->control_queue, block);
    return UE_OK;
}

/* Control messages wait if OutRec has no space for them, or if others wait already. */
static bool is_to_wait(const struct ue_sender *s, const struct ue_channel_entry *entry,
                       const struct ue_outgoing *bunch) {
    return entry->index == 0 && bunch->reliable && !bunch->close &&
           (s->control_queue.count != 0 ||
            (entry->channel->out_count != 0 && !ue_send_has_room(s->channels, entry, bunch)));
}

/* endpoint.md 21.4. */
enum ue_status ue_control_send_or_queue(struct ue_sender *s, uint64_t now_ns, struct ue_channel_entry *entry,
                                        const struct ue_outgoing *bunch, struct ue_packet_range *range) {
    if (!is_to_wait(s, entry, bunch)) {
        return ue_send(s, now_ns, entry, bunch, range);
    }
    enum ue_status status = ue_send_check(s->channels, entry, bunch);
    if (range != NULL) {
        *range = (struct ue_packet_range){s->out_packet_id, s->out_packet_id};
    }
    return status == UE_OK ? queue(s, bunch) : status;
}

enum ue_status ue_control_send(struct ue_sender *s, uint64_t now_ns, const struct ue_message *message) {
    uint8_t bytes[MESSAGE_BYTES_MAX];
    struct ue_fault fault;
    size_t bit = 0;
    enum ue_status status = ue_message_encode(&s->common->context, message, bytes, sizeof bytes, &bit, &fault);
    if (status != UE_OK) {
        return status;
    }
    const struct ue_outgoing bunch = {.channel = 0, .reliable = true, .merge = true, .data = {bytes, 0, bit}};
    struct ue_channel_entry *entry = ue_channel_entry_find(s->channels, 0);
    return entry != NULL && entry->channel != NULL ? ue_control_send_or_queue(s, now_ns, entry, &bunch, NULL)
                                                   : UE_E_CONFLICT;
}

static struct ue_outgoing queued_bunch(const struct ue_output_block *block) {
    size_t bits;
    memcpy(&bits, block->bytes, sizeof bits);
    return (struct ue_outgoing){.reliable = true, .data = {block->bytes + sizeof bits, 0, bits}};
}

/* endpoint.md 21.4. */
static void send_queued(struct ue_sender *s, uint64_t now_ns, struct ue_channel_entry *entry) {
    struct ue_packet_range range;
    while (s->control_queue.first != NULL && !entry->channel->closing) {
        const struct ue_outgoing bunch = queued_bunch(s->control_queue.first);
        bool has_room = entry->channel->out_count == 0 || ue_send_has_room(s->channels, entry, &bunch);
        if (!has_room || ue_send_now(s, now_ns, entry, &bunch, &range) != UE_OK) {
            break;
        }
        ue_output_queue_pop(&s->control_queue);
    }
    ue_output_queue_begin_input(&s->control_queue);
}

void ue_control_repeat(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel, uint64_t before_ns) {
    for (struct ue_out_rec *out = channel->out_first; out != NULL; out = out->next) {
        if (!out->acked && out->packet_id != UE_NO_PACKET && out->sent_ns < before_ns) {
            ue_retransmit_early(s, now_ns, channel, out);
        }
    }
}

static bool is_opening(const struct ue_channel *channel) {
    return channel->opened_locally && !channel->open_acked;
}

/* Until the server has the channel, the loss of the first messages cannot be noticed (endpoint.md 15.7, 21.1). */
static void repeat_opening(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel) {
    if (channel->out_count <= RESEND_BUNCHES_MAX && now_ns > RESEND_AFTER_NS) {
        ue_control_repeat(s, now_ns, channel, now_ns - RESEND_AFTER_NS);
    }
}

/* endpoint.md 21.1. */
uint64_t ue_control_deadline(const struct ue_channel *channel) {
    uint64_t deadline = UINT64_MAX;
    if (!is_opening(channel) || channel->out_count > RESEND_BUNCHES_MAX) {
        return deadline;
    }
    for (const struct ue_out_rec *out = channel->out_first; out != NULL; out = out->next) {
        bool is_unreported = !out->acked && out->packet_id != UE_NO_PACKET;
        uint64_t resend_ns = out->sent_ns + RESEND_AFTER_NS + 1;
        deadline = is_unreported && resend_ns < deadline ? resend_ns : deadline;
    }
    return deadline;
}

/* endpoint.md 21.1, 21.4, 29.3. */
void ue_control_tick(struct ue_sender *s, uint64_t now_ns, struct ue_channel_entry *entry) {
    if (is_opening(entry->channel)) {
        repeat_opening(s, now_ns, entry->channel);
    } else {
        send_queued(s, now_ns, entry);
    }
}
