/* SPDX-License-Identifier: MIT */
/* Bunches on their way out (SendBunch, SendRawBunch; endpoint.md 22 to 25). */
#include "tools/endpoint/core/sender.h"

#define CLOSE_REASON_MAX 14

static void remember_last(struct ue_sender *s, const struct ue_channel *channel, const struct ue_bunch *bunch,
                          struct ue_out_rec *out, size_t begin_bit) {
    struct ue_last *last = &s->send_buffer.last;
    last->begin_bit = begin_bit;
    last->end_bit = s->send_buffer.bit;
    last->data_bits = bunch->data.bits;
    last->channel_id = channel->id;
    last->reliable = bunch->reliable;
    last->may_grow = !bunch->partial && !bunch->has_exports && !bunch->has_mapped;
    last->out = out;
    if (out == NULL) {
        last->unreliable = *bunch;
    }
}

/* SendRawBunch: into the packet being filled, or a new one. out: the OutRec entry of a reliable bunch
   (endpoint.md 10.5, 25.2). */
static bool send_raw(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel, const struct ue_item *item,
                     struct ue_out_rec *out, bool merge) {
    struct ue_send_buffer *p = &s->send_buffer;
    bool begins_packet = ue_send_buffer_is_empty(s);
    int64_t packet_before = s->out_packet_id;
    size_t begin_bit = p->bit;
    if (!ue_send_buffer_append(s, now_ns, item)) {
        return false;
    }
    begins_packet |= packet_before != s->out_packet_id;
    begin_bit = begins_packet ? p->head_bits : begin_bit;
    if (!ue_sent_packets_add_channel(&s->sent_packets, s->out_packet_id, channel, out)) {
        p->bit = begin_bit; /* a report on the packet would not reach it */
        return false;
    }
    p->bunches++;
    s->common->statistics.counters.out_bunches++;
    s->time_sensitive = true;
    p->last.end_bit = 0;
    if (merge && !begins_packet) {
        remember_last(s, channel, &item->bunch, out, begin_bit);
    }
    if (out != NULL) {
        out->packet_id = s->out_packet_id;
        out->sent_ns = now_ns;
        s->repeat_ticks_left = (uint64_t)s->common->config.options.repeat_ticks + 1;
    }
    return true;
}

static bool send_out(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel, struct ue_out_rec *out,
                     bool merge) {
    struct ue_item item;
    ue_out_bunch_fill_reliable(s->common, channel, out, &item);
    return send_raw(s, now_ns, channel, &item, out, merge);
}

static void flush_if_full(struct ue_sender *s, uint64_t now_ns) {
    if (ue_send_buffer_free_bits(s) == 0) {
        ue_send_buffer_flush(s, now_ns);
    }
}

/* The limit is reached when the last packet that it allows has no space (endpoint.md 39.4). */
static bool is_burst_over(const struct ue_sender *s, const struct ue_out_rec *out) {
    uint32_t limit = s->common->config.options.burst_limit;
    bool continues = s->burst_packet_id == s->out_packet_id &&
                     out->data_bits + s->common->limits.header_bits <= ue_send_buffer_free_bits(s);
    return limit != 0 && s->burst_packets >= limit && !continues;
}

/* Sends what a queue holds while it can. Returns how many bunches left (endpoint.md 25.3, 39.4). */
static uint32_t drain(struct ue_sender *s, uint64_t now_ns, struct ue_out_queue *queue) {
    uint32_t count = 0;
    for (struct ue_out_rec *out; (out = ue_out_queue_pop(&s->common->share, queue)) != NULL; count++) {
        struct ue_channel *channel = ue_channel_find(s->channels, out->channel);
        if (is_burst_over(s, out) || !send_out(s, now_ns, channel, out, false)) {
            ue_out_queue_push_front(queue, channel, out);
            break;
        }
        s->burst_packets += s->burst_packet_id != s->out_packet_id;
        s->burst_packet_id = s->out_packet_id;
        flush_if_full(s, now_ns);
    }
    return count;
}

static void send_retransmissions(struct ue_sender *s, uint64_t now_ns) {
    s->common->statistics.counters.out_bunches_resent += drain(s, now_ns, &s->channels->resends);
}

/* endpoint.md 15.5, 25.3. */
void ue_retransmit(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel, struct ue_out_rec *out) {
    ue_out_queue_push(&s->channels->resends, channel, out);
    send_retransmissions(s, now_ns);
}

void ue_retransmit_early(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel, struct ue_out_rec *out) {
    ue_sent_packets_unlink(&s->sent_packets, out->packet_id, channel, out);
    ue_retransmit(s, now_ns, channel, out);
}

/* One part of what is to be sent, not yet numbered. */
struct part {
    struct ue_view data;
    bool is_export;
    bool is_first;
    bool is_last;
    bool is_partial;
};

/* endpoint.md 23.2, 23.4, 23.8. */
static void describe_part(struct ue_out_rec *out, const struct ue_outgoing *from, const struct part *part, bool open) {
    out->open = open && part->is_first;
    out->close = from->close && part->is_last;
    out->close_reason = out->close ? from->close_reason : 0;
    out->paused = from->paused;
    out->has_exports = part->is_export || (from->has_exports && !part->is_partial);
    out->has_mapped = from->has_mapped && !part->is_export;
    out->partial = part->is_partial;
    out->partial_initial = part->is_partial && part->is_first;
    out->partial_final = part->is_partial && part->is_last;
}

/* endpoint.md 15.6. */
static bool send_unreliable(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel,
                            const struct ue_outgoing *from, const struct part *part, bool open, bool merge) {
    struct ue_out_rec out = {0};
    struct ue_item item;
    item.is_ack = false;
    describe_part(&out, from, part, open);
    ue_out_bunch_fill(s->common, channel, &out, false, part->data, &item.bunch);
    return send_raw(s, now_ns, channel, &item, NULL, merge);
}

/* A numbered bunch must arrive, if not now then later (endpoint.md 25.1, 25.3). */
static void send_numbered(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel, struct ue_out_rec *out,
                          bool merge) {
    if (ue_send_is_waiting(s->channels) || !send_out(s, now_ns, channel, out, merge)) {
        ue_out_queue_push(&s->channels->unsent, channel, out);
    }
}

/* Where the bits of one message come from: the bunch written last, and what is appended to it. */
static uint8_t *join(struct ue_sender *s, struct ue_view more, size_t *bits) {
    const struct ue_last *last = &s->send_buffer.last;
    size_t before = last->data_bits;
    uint8_t *joined = ue_share_alloc(&s->common->share, ue_bits_bytes(before + more.bits) + 1);
    if (joined != NULL) {
        ue_bits_copy(joined, 0, s->send_buffer.block->bytes, last->end_bit - before, before);
        ue_bits_copy(joined, before, more.base, more.bit, more.bits);
        *bits = before + more.bits;
    }
    return joined;
}

/* endpoint.md 23.5, 24.1, 24.2. */
static bool may_merge(const struct ue_sender *s, const struct ue_channel *channel, const struct ue_outgoing *from) {
    const struct ue_send_buffer *p = &s->send_buffer;
    const struct ue_last *last = &p->last;
    bool is_newest = !last->reliable || last->out == channel->out_last; /* others may wait to be sent after it */
    bool is_plain = !from->has_exports && !from->has_mapped && from->export_count == 0;
    return is_plain && p->block != NULL && last->end_bit == p->bit && last->channel_id == channel->id &&
           last->reliable == from->reliable && is_newest && last->may_grow &&
           last->data_bits + from->data.bits <= s->common->limits.single_bits;
}

static struct ue_out_rec *enlarge(struct ue_sender *s, struct ue_channel *channel, const struct ue_outgoing *from,
                                  const uint8_t *data, size_t bits) {
    struct ue_out_rec *old = s->send_buffer.last.out;
    struct ue_out_rec *out = ue_channel_grow_out(s->channels, channel, (uint32_t)bits);
    if (out == NULL) {
        return NULL;
    }
    if (out != old) {
        ue_sent_packets_replace(&s->sent_packets, out->packet_id, channel, old, out);
    }
    memcpy(out->data, data, ue_bits_bytes(bits));
    out->close |= from->close;
    out->close_reason = from->close ? from->close_reason : out->close_reason;
    return out;
}

static void write_reliable(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel, struct ue_out_rec *out) {
    ue_sent_packets_unlink(&s->sent_packets, out->packet_id, channel, out);
    if (!send_out(s, now_ns, channel, out, true)) {
        ue_out_queue_push(&s->channels->unsent, channel, out);
    }
}

static bool write_unreliable(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel, struct ue_view data) {
    struct ue_item item = {.bunch = s->send_buffer.last.unreliable};
    item.bunch.data = data;
    return send_raw(s, now_ns, channel, &item, NULL, true);
}

/* Takes the last bunch back and writes it again with more data: same number, same OutRec entry (endpoint.md 24.1). */
static bool merge_into_last(struct ue_sender *s, uint64_t now_ns, struct ue_channel *channel,
                            const struct ue_outgoing *from) {
    struct ue_send_buffer *p = &s->send_buffer;
    size_t bits = 0;
    uint8_t *joined = join(s, from->data, &bits);
    struct ue_out_rec *out = p->last.out;
    if (joined == NULL) {
        return false;
    }
    if (out != NULL) {
        out = enlarge(s, channel, from, joined, bits);
    }
    bool is_merged = out != NULL || !p->last.reliable;
    if (is_merged) {
        p->bit = p->last.begin_bit;
        p->last.end_bit = 0;
        p->bunches--;
        if (out != NULL) {
            write_reliable(s, now_ns, channel, out);
        } else {
            is_merged = write_unreliable(s, now_ns, channel, (struct ue_view){joined, 0, bits});
        }
    }
    ue_share_free_block(&s->common->share, joined);
    return is_merged;
}

/* endpoint.md 22.1. */
uint32_t ue_send_room_parts(const struct ue_channel_table *channels, const struct ue_channel_entry *entry,
                            bool closes) {
    if (ue_has_internal_ack(channels->common)) {
        return UINT32_MAX;
    }
    uint32_t limit = channels->common->limits.reliable + closes;
    uint32_t used = entry->channel->out_count + ue_pending_out_rec_count(entry) + 1;
    limit = limit < channels->common->context.ch_seq_bound / 2
                ? limit
                : channels->common->context.ch_seq_bound / 2; /* else it looks old */
    return used < limit ? limit - used : 0;
}

/* endpoint.md 23.3, 23.6. */
static size_t count_parts(const struct ue_common *common, const struct ue_outgoing *bunch) {
    size_t parts = bunch->data.bits > common->limits.single_bits
                       ? (bunch->data.bits + common->limits.part_bits - 1) / common->limits.part_bits
                       : 1;
    return parts + bunch->export_count;
}

/* endpoint.md 23.3, 23.6. */
static struct part part_at(const struct ue_common *common, const struct ue_outgoing *bunch, size_t index,
                           size_t count) {
    struct part part = {.is_first = index == 0, .is_last = index + 1 == count, .is_partial = count > 1};
    if (index < bunch->export_count) {
        part.data = bunch->exports[index];
        part.is_export = true;
        return part;
    }
    size_t from = (index - bunch->export_count) * common->limits.part_bits;
    size_t left = bunch->data.bits - from;
    bool is_cut = bunch->data.bits > common->limits.single_bits;
    part.data = (struct ue_view){bunch->data.base, bunch->data.bit + from,
                                 is_cut && left > common->limits.part_bits ? common->limits.part_bits : left};
    return part;
}

/* OutRec entries for all parts of a bunch, not yet numbered; NULL: no memory, and nothing changed (endpoint.md
   25.1). */
static struct ue_out_rec *new_outs(struct ue_channel_table *channels, const struct ue_outgoing *bunch, size_t count,
                                   bool open) {
    struct ue_out_rec *first = NULL;
    for (size_t i = count; i > 0; i--) {
        struct part part = part_at(channels->common, bunch, i - 1, count);
        struct ue_out_rec *out = ue_out_rec_alloc(channels, (uint32_t)part.data.bits);
        if (out == NULL) {
            ue_out_rec_free_all(&channels->common->share, first);
            return NULL;
        }
        ue_view_copy(part.data, out->data);
        describe_part(out, bunch, &part, open);
        out->next = first;
        first = out;
    }
    return first;
}

/* Numbers that the peer never got, because the channel that used them is gone, go out empty first (endpoint.md 20.4).
   False: no memory. */
static bool send_pending_out_rec(struct ue_sender *s, uint64_t now_ns, struct ue_channel_entry *entry) {
    struct ue_outgoing nothing = {.channel = entry->index, .reliable = true};
    struct ue_out_rec *first = NULL;
    for (uint32_t count = ue_pending_out_rec_count(entry); count > 0; count--) {
        struct ue_out_rec *out = new_outs(s->channels, &nothing, 1, false);
        if (out == NULL) {
            ue_out_rec_free_all(&s->common->share, first);
            return false;
        }
        out->next = first;
        first = out;
    }
    int32_t ch_seq = entry->pending_out_rec;
    entry->pending_out_rec = 0;
    for (struct ue_out_rec *out = first, *next; out != NULL; out = next) {
        next = out->next;
        ue_channel_add_out(entry, out, ch_seq++);
        send_numbered(s, now_ns, entry->channel, out, false);
    }
    return true;
}

/* Sends the PendingOutRec of channels for which allocation failed earlier. */
static void send_all_pending_out_recs(struct ue_sender *s, uint64_t now_ns) {
    bool has_pending_out_rec = false;
    for (uint32_t i = 0; s->channels->has_pending_out_rec && i < s->channels->capacity; i++) {
        struct ue_channel_entry *entry = s->channels->slots[i];
        if (entry != NULL && entry->channel != NULL && entry->pending_out_rec != 0) {
            has_pending_out_rec |= !send_pending_out_rec(s, now_ns, entry);
        }
    }
    s->channels->has_pending_out_rec = has_pending_out_rec;
}

/* endpoint.md 25.3, 29.3. */
void ue_send_all_waiting(struct ue_sender *s, uint64_t now_ns) {
    send_retransmissions(s, now_ns);
    if (s->channels->resends.first == NULL) {
        drain(s, now_ns, &s->channels->unsent);
    }
    if (!ue_send_is_waiting(s->channels)) {
        send_all_pending_out_recs(s, now_ns);
    }
}

/* endpoint.md 22.2. */
static enum ue_status overflow(struct ue_common *common) {
    ue_want_close(common, UE_CLOSE_RELIABLE_BUFFER_OVERFLOW, UE_CLOSE_NONE);
    return UE_E_FULL;
}

static bool opens(const struct ue_channel *channel) {
    return channel->opened_locally && !channel->open_sent;
}

/* Voice is sent reliably, whatever the program says (endpoint.md 20.6). */
static bool is_early_voice(const struct ue_channel *channel) {
    return channel->kind == UE_KIND_VOICE && channel->opened_locally && !channel->open_acked;
}

/* endpoint.md 20.2, 20.5, 23.2. */
static bool may_be_unreliable(const struct ue_channel *channel, const struct ue_outgoing *bunch) {
    return is_early_voice(channel) || (channel->index != 0 && bunch->close == opens(channel));
}

/* All parts, or where memory is short none (endpoint.md 20.2, 23.2, 23.9, 25.1). */
static enum ue_status send_parts(struct ue_sender *s, uint64_t now_ns, struct ue_channel_entry *entry,
                                 const struct ue_outgoing *bunch, size_t count, struct ue_packet_range *range) {
    struct ue_channel *channel = entry->channel;
    bool open = opens(channel);
    bool merge = bunch->merge && count == 1 && !bunch->has_exports && !bunch->has_mapped;
    struct ue_out_rec *next = bunch->reliable ? new_outs(s->channels, bunch, count, open) : NULL;
    if (bunch->reliable && next == NULL) {
        return UE_E_FULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (bunch->reliable) {
            struct ue_out_rec *out = next;
            next = out->next; /* NOLINT(clang-analyzer-core.NullDereference): there are `count` of them */
            ue_channel_add_out(entry, out, ++entry->out_reliable);
            send_numbered(s, now_ns, channel, out, merge);
        } else {
            struct part part = part_at(s->common, bunch, i, count);
            if (!send_unreliable(s, now_ns, channel, bunch, &part, open, merge)) {
                return UE_E_FULL;
            }
        }
        range->first = i == 0 ? s->out_packet_id : range->first;
        range->last = s->out_packet_id;
        flush_if_full(s, now_ns);
    }
    if (open) {
        channel->open_sent = true;
        channel->temporary = !bunch->reliable;
        channel->open_packets = *range;
    }
    channel->closing |= bunch->close;
    return UE_OK;
}

/* Whether all fragments of a bunch fit OutRec, and whether it becomes reliable (endpoint.md 22.2, 23.6, 23.7). */
static enum ue_status send_split(struct ue_sender *s, uint64_t now_ns, struct ue_channel_entry *entry,
                                 const struct ue_outgoing *bunch, struct ue_packet_range *range) {
    struct ue_channel *channel = entry->channel;
    struct ue_outgoing safe;
    size_t count = count_parts(s->common, bunch);
    bool is_over = count > ue_send_room_parts(s->channels, entry, bunch->close);
    bool has_many = s->common->limits.parts_reliable != 0 && count >= s->common->limits.parts_reliable;
    if (has_many && !is_over && !ue_has_internal_ack(s->common)) {
        safe = *bunch;
        safe.reliable = true;
        bunch = &safe;
        channel->paused_until_acked = true;
    }
    if (bunch->reliable && is_over) {
        return overflow(s->common);
    }
    return send_parts(s, now_ns, entry, bunch, count, range);
}

/* A bunch that fits no packet would wait without end (endpoint.md 23.1). */
static enum ue_status check_sizes(const struct ue_common *common, const struct ue_outgoing *bunch) {
    for (size_t i = 0; i < bunch->export_count; i++) {
        if (bunch->exports[i].bits > common->limits.single_bits) {
            return UE_E_LENGTH;
        }
    }
    bool is_long = ue_bits_bytes(bunch->data.bits) > common->config.partial_max_bytes && !ue_has_internal_ack(common);
    return is_long ? UE_E_LENGTH : bunch->close_reason > CLOSE_REASON_MAX ? UE_E_RANGE : UE_OK;
}

/* endpoint.md 20.2, 22.1, 22.2. */
enum ue_status ue_send_check(const struct ue_channel_table *channels, const struct ue_channel_entry *entry,
                             const struct ue_outgoing *bunch) {
    const struct ue_channel *channel = entry->channel;
    bool may_close = channel->opened_locally || channel->index == 0;
    if (channel->closing || (bunch->close && !may_close) || !(bunch->reliable || may_be_unreliable(channel, bunch))) {
        return UE_E_CONFLICT;
    }
    bool is_full = !bunch->reliable && ue_send_room_parts(channels, entry, bunch->close) == 0;
    return is_full ? UE_E_FULL : check_sizes(channels->common, bunch);
}

bool ue_send_has_room(const struct ue_channel_table *channels, const struct ue_channel_entry *entry,
                      const struct ue_outgoing *bunch) {
    return count_parts(channels->common, bunch) <= ue_send_room_parts(channels, entry, bunch->close);
}

enum ue_status ue_send_now(struct ue_sender *s, uint64_t now_ns, struct ue_channel_entry *entry,
                           const struct ue_outgoing *bunch, struct ue_packet_range *range) {
    struct ue_channel *channel = entry->channel;
    ue_send_waiting(s, now_ns);
    if (entry->pending_out_rec != 0 && !send_pending_out_rec(s, now_ns, entry)) {
        return UE_E_FULL;
    }
    if (bunch->merge && may_merge(s, channel, bunch) && merge_into_last(s, now_ns, channel, bunch)) {
        *range = (struct ue_packet_range){s->out_packet_id, s->out_packet_id};
        channel->closing |= bunch->close;
        flush_if_full(s, now_ns);
        return UE_OK;
    }
    return send_split(s, now_ns, entry, bunch, range);
}

/* Voice is dropped if the bandwidth is exceeded, and is reliable until the peer has the channel
   (endpoint.md 20.6, 30.4). */
static enum ue_status send_voice(struct ue_sender *s, uint64_t now_ns, struct ue_channel_entry *entry,
                                 const struct ue_outgoing *bunch, struct ue_packet_range *range) {
    struct ue_outgoing voice = *bunch;
    voice.reliable = is_early_voice(entry->channel);
    return ue_sender_is_ready(s) ? ue_send_now(s, now_ns, entry, &voice, range) : UE_E_FULL;
}

enum ue_status ue_send(struct ue_sender *s, uint64_t now_ns, struct ue_channel_entry *entry,
                       const struct ue_outgoing *bunch, struct ue_packet_range *range) {
    struct ue_packet_range ignored;
    enum ue_status status = ue_send_check(s->channels, entry, bunch);
    range = range != NULL ? range : &ignored;
    *range = (struct ue_packet_range){s->out_packet_id, s->out_packet_id};
    if (status != UE_OK) {
        return status;
    }
    if (entry->channel->kind == UE_KIND_VOICE && !bunch->reliable) {
        return send_voice(s, now_ns, entry, bunch, range);
    }
    return ue_send_now(s, now_ns, entry, bunch, range);
}
