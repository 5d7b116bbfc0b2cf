/* SPDX-License-Identifier: MIT */
/* Bunches on their way out (SendBunch, SendRawBunch; endpoint.md 22 to 25). */
#include "tools/endpoint/core/connection.h"

#define CLOSE_REASON_MAX 14

static void remember_last(struct ue_conn *c, const struct ue_channel *channel, const struct ue_bunch *bunch,
                          struct ue_out *out, size_t begin_bit) {
    struct ue_last *last = &c->packer.last;
    last->begin_bit = begin_bit;
    last->end_bit = c->packer.bit;
    last->data_bits = bunch->data.bits;
    last->channel_id = channel->id;
    last->reliable = bunch->reliable;
    last->may_grow = !bunch->partial && !bunch->has_exports && !bunch->has_mapped;
    last->out = out;
    if (out == NULL) {
        last->unreliable = *bunch;
    }
}

/* SendRawBunch: into the packet being filled, or a new one. out: the OutRec entry of a reliable bunch. */
static bool send_raw(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel, const struct ue_item *item,
                     struct ue_out *out, bool merge) {
    struct ue_send_buffer *p = &c->packer;
    bool begins_packet = ue_send_buffer_is_empty(c);
    int64_t packet_before = c->out_packet_id;
    size_t begin_bit = p->bit;
    if (!ue_send_buffer_append(c, now_ns, item)) {
        return false;
    }
    begins_packet |= packet_before != c->out_packet_id;
    begin_bit = begins_packet ? p->head_bits : begin_bit;
    if (!ue_sent_packets_add_channel(&c->flight, c->out_packet_id, channel, out)) {
        p->bit = begin_bit; /* nobody would learn what became of it */
        return false;
    }
    p->may_merge = merge && !begins_packet;
    p->bunches++;
    c->counters.out_bunches++;
    c->time_sensitive = true;
    remember_last(c, channel, &item->bunch, out, begin_bit);
    if (out != NULL) {
        out->packet_id = c->out_packet_id;
        out->sent_ns = now_ns;
    }
    return true;
}

static bool send_out(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel, struct ue_out *out, bool merge) {
    struct ue_item item;
    ue_out_bunch_fill_reliable(c, channel, out, &item);
    return send_raw(c, now_ns, channel, &item, out, merge);
}

static void flush_if_full(struct ue_conn *c, uint64_t now_ns) {
    if (ue_send_buffer_free_bits(c) == 0) {
        ue_send_buffer_flush(c, now_ns);
    }
}

/* The limit is reached when the last packet that it allows takes no more. */
static bool is_burst_over(const struct ue_conn *c, const struct ue_out *out) {
    uint32_t limit = c->config.options.burst_limit;
    bool continues =
        c->burst_packet_id == c->out_packet_id && out->data_bits + c->limits.header_bits <= ue_send_buffer_free_bits(c);
    return limit != 0 && c->burst_packets >= limit && !continues;
}

/* Sends what a queue holds while it can. Returns how many bunches left. */
static uint32_t drain(struct ue_conn *c, uint64_t now_ns, struct ue_out_queue *queue) {
    uint32_t count = 0;
    for (struct ue_out *out; (out = ue_out_pop(&c->share, queue)) != NULL; count++) {
        struct ue_channel *channel = ue_conn_channel(c, out->channel);
        if (is_burst_over(c, out) || !send_out(c, now_ns, channel, out, false)) {
            ue_out_push_front(queue, channel, out);
            break;
        }
        c->burst_packets += c->burst_packet_id != c->out_packet_id;
        c->burst_packet_id = c->out_packet_id;
        flush_if_full(c, now_ns);
    }
    return count;
}

static void send_retransmissions(struct ue_conn *c, uint64_t now_ns) {
    c->counters.out_bunches_resent += drain(c, now_ns, &c->lanes.resends);
}

void ue_resend(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel, struct ue_out *out) {
    if (c->config.is_mute) {
        out->packet_id = UE_NO_PACKET;
        channel->has_unsent = c->has_unsent = true;
        return;
    }
    ue_out_push(&c->lanes.resends, channel, out);
    send_retransmissions(c, now_ns);
}

void ue_resend_early(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel, struct ue_out *out) {
    ue_sent_packets_unlink(&c->flight, out->packet_id, channel, out);
    ue_resend(c, now_ns, channel, out);
}

/* One part of what is to be sent, not yet numbered. */
struct part {
    struct ue_view data;
    bool is_export;
    bool is_first;
    bool is_last;
    bool is_partial;
};

static void describe_part(struct ue_out *out, const struct ue_outgoing *from, const struct part *part, bool open) {
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

static bool send_unreliable(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel,
                            const struct ue_outgoing *from, const struct part *part, bool open, bool merge) {
    struct ue_out out = {0};
    struct ue_item item;
    item.is_ack = false;
    describe_part(&out, from, part, open);
    ue_out_bunch_fill(c, channel, &out, false, part->data, &item.bunch);
    return send_raw(c, now_ns, channel, &item, NULL, merge);
}

/* A numbered bunch must arrive, if not now then later. */
static void send_numbered(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel, struct ue_out *out,
                          bool merge) {
    if (ue_send_is_waiting(c) || !send_out(c, now_ns, channel, out, merge)) {
        ue_out_push(&c->lanes.unsent, channel, out);
    }
}

/* Where the bits of one message come from: the bunch written last, and what is appended to it. */
static uint8_t *join(struct ue_conn *c, struct ue_view more, size_t *bits) {
    const struct ue_last *last = &c->packer.last;
    size_t before = last->data_bits;
    uint8_t *joined = ue_share_alloc(&c->share, ue_bits_bytes(before + more.bits) + 1);
    if (joined != NULL) {
        ue_bits_copy(joined, 0, c->packer.parcel->bytes, last->end_bit - before, before);
        ue_bits_copy(joined, before, more.base, more.bit, more.bits);
        *bits = before + more.bits;
    }
    return joined;
}

static bool may_merge(const struct ue_conn *c, const struct ue_channel *channel, const struct ue_outgoing *from) {
    const struct ue_send_buffer *p = &c->packer;
    const struct ue_last *last = &p->last;
    bool is_newest = !last->reliable || last->out == channel->out_last; /* others may wait to be sent behind it */
    bool is_plain = !from->has_exports && !from->has_mapped && from->export_count == 0;
    return is_plain && p->may_merge && p->parcel != NULL && last->end_bit == p->bit &&
           last->channel_id == channel->id && last->reliable == from->reliable && is_newest && last->may_grow &&
           last->data_bits + from->data.bits <= c->limits.single_bits;
}

static struct ue_out *enlarge(struct ue_conn *c, struct ue_channel *channel, const struct ue_outgoing *from,
                              const uint8_t *data, size_t bits) {
    struct ue_out *old = c->packer.last.out;
    struct ue_out *out = ue_channel_grow_out(&c->lanes, channel, (uint32_t)bits);
    if (out == NULL) {
        return NULL;
    }
    if (out != old) {
        ue_sent_packets_replace(&c->flight, out->packet_id, channel, old, out);
    }
    memcpy(out->data, data, ue_bits_bytes(bits));
    out->close |= from->close;
    out->close_reason = from->close ? from->close_reason : out->close_reason;
    return out;
}

static bool write_reliable(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel, struct ue_out *out) {
    ue_sent_packets_unlink(&c->flight, out->packet_id, channel, out);
    if (!send_out(c, now_ns, channel, out, true)) {
        ue_out_push(&c->lanes.unsent, channel, out);
    }
    return true;
}

static bool write_unreliable(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel,
                             const struct ue_outgoing *from, struct ue_view data) {
    struct ue_item item = {.bunch = c->packer.last.unreliable};
    struct ue_bunch *bunch = &item.bunch;
    bunch->close |= from->close;
    bunch->control |= from->close;
    bunch->close_reason = bunch->close && !ue_conn_is_legacy(c) ? from->close_reason : 0;
    bunch->data = data;
    return send_raw(c, now_ns, channel, &item, NULL, true);
}

/* Takes the last bunch back and writes it again with more data: same number, same OutRec entry (endpoint.md 24). */
static bool merge_into_last(struct ue_conn *c, uint64_t now_ns, struct ue_channel *channel,
                            const struct ue_outgoing *from) {
    struct ue_send_buffer *p = &c->packer;
    size_t bits = 0;
    uint8_t *joined = join(c, from->data, &bits);
    struct ue_out *out = p->last.out;
    if (joined == NULL) {
        return false;
    }
    if (out != NULL) {
        out = enlarge(c, channel, from, joined, bits);
    }
    bool is_merged = out != NULL || !p->last.reliable;
    if (is_merged) {
        p->bit = p->last.begin_bit;
        p->last.end_bit = 0;
        p->bunches--;
        is_merged = out != NULL ? write_reliable(c, now_ns, channel, out)
                                : write_unreliable(c, now_ns, channel, from, (struct ue_view){joined, 0, bits});
    }
    ue_share_free_block(&c->share, joined);
    return is_merged;
}

static size_t count_parts(const struct ue_conn *c, const struct ue_outgoing *bunch) {
    size_t parts = bunch->data.bits > c->limits.single_bits
                       ? (bunch->data.bits + c->limits.part_bits - 1) / c->limits.part_bits
                       : 1;
    return parts + bunch->export_count;
}

static struct part part_at(const struct ue_conn *c, const struct ue_outgoing *bunch, size_t index, size_t count) {
    struct part part = {.is_first = index == 0, .is_last = index + 1 == count, .is_partial = count > 1};
    if (index < bunch->export_count) {
        part.data = bunch->exports[index];
        part.is_export = true;
        return part;
    }
    size_t from = (index - bunch->export_count) * c->limits.part_bits;
    size_t left = bunch->data.bits - from;
    bool is_cut = bunch->data.bits > c->limits.single_bits;
    part.data = (struct ue_view){bunch->data.base, bunch->data.bit + from,
                                 is_cut && left > c->limits.part_bits ? c->limits.part_bits : left};
    return part;
}

/* OutRec entries for all parts of a bunch, not yet numbered; NULL: no memory, and nothing changed. */
static struct ue_out *new_outs(struct ue_conn *c, const struct ue_outgoing *bunch, size_t count, bool open) {
    struct ue_out *first = NULL;
    for (size_t i = count; i > 0; i--) {
        struct part part = part_at(c, bunch, i - 1, count);
        struct ue_out *out = ue_out_new(&c->share, (uint32_t)part.data.bits);
        if (out == NULL) {
            ue_outs_free(&c->share, first);
            return NULL;
        }
        ue_view_copy(part.data, out->data);
        describe_part(out, bunch, &part, open);
        out->next = first;
        first = out;
    }
    return first;
}

/* Numbers that the peer never got, because the channel that used them is gone, go out empty first (endpoint.md 20).
   False: no memory. */
static bool pay_debts(struct ue_conn *c, uint64_t now_ns, struct ue_lane *lane) {
    struct ue_outgoing nothing = {.channel = lane->index, .reliable = true};
    struct ue_out *first = NULL;
    for (uint32_t debts = ue_lane_debts(lane); debts > 0; debts--) {
        struct ue_out *out = new_outs(c, &nothing, 1, false);
        if (out == NULL) {
            ue_outs_free(&c->share, first);
            return false;
        }
        out->next = first;
        first = out;
    }
    int32_t ch_seq = lane->owed_from;
    lane->owed_from = 0;
    for (struct ue_out *out = first, *next; out != NULL; out = next) {
        next = out->next;
        ue_channel_add_out(lane, out, ch_seq++);
        send_numbered(c, now_ns, lane->channel, out, false);
    }
    return true;
}

/* Debts of channels that found no memory for them before. */
static void pay_all_debts(struct ue_conn *c, uint64_t now_ns) {
    bool has_unsent = false;
    for (uint32_t i = 0; c->has_unsent && i < c->lanes.capacity; i++) {
        struct ue_lane *lane = c->lanes.slots[i];
        if (lane != NULL && lane->channel != NULL && lane->channel->has_unsent) {
            lane->channel->has_unsent = lane->owed_from != 0 && !pay_debts(c, now_ns, lane);
            has_unsent |= lane->channel->has_unsent;
        }
    }
    c->has_unsent = has_unsent;
}

bool ue_send_is_waiting(const struct ue_conn *c) {
    return c->lanes.resends.first != NULL || c->lanes.unsent.first != NULL;
}

void ue_send_waiting(struct ue_conn *c, uint64_t now_ns) {
    send_retransmissions(c, now_ns);
    if (c->lanes.resends.first == NULL) {
        drain(c, now_ns, &c->lanes.unsent);
    }
    if (!ue_send_is_waiting(c)) {
        pay_all_debts(c, now_ns);
    }
}

static enum ue_status overflow(struct ue_conn *c) {
    ue_conn_want_close(c, UE_CLOSE_RELIABLE_BUFFER_OVERFLOW, UE_CLOSE_NONE);
    return UE_E_FULL;
}

/* All parts, or where memory is short none. */
static enum ue_status send_parts(struct ue_conn *c, uint64_t now_ns, struct ue_lane *lane,
                                 const struct ue_outgoing *bunch, size_t count, struct ue_packet_range *range) {
    struct ue_channel *channel = lane->channel;
    bool open = channel->opened_locally && !channel->open_sent;
    bool merge = bunch->merge && count == 1 && !bunch->has_exports && !bunch->has_mapped;
    struct ue_out *next = bunch->reliable ? new_outs(c, bunch, count, open) : NULL;
    if (bunch->reliable && next == NULL) {
        return UE_E_FULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (bunch->reliable) {
            struct ue_out *out = next;
            next = out->next; /* NOLINT(clang-analyzer-core.NullDereference): there are `count` of them */
            ue_channel_add_out(lane, out, ++lane->out_reliable);
            send_numbered(c, now_ns, channel, out, merge);
        } else {
            struct part part = part_at(c, bunch, i, count);
            if (!send_unreliable(c, now_ns, channel, bunch, &part, open, merge)) {
                return UE_E_FULL;
            }
        }
        range->first = i == 0 ? c->out_packet_id : range->first;
        range->last = c->out_packet_id;
        flush_if_full(c, now_ns);
    }
    if (open) {
        channel->open_sent = true;
        channel->temporary = !bunch->reliable;
        channel->open_packets = *range;
    }
    channel->closing |= bunch->close;
    return UE_OK;
}

/* endpoint.md 23.6 and 23.7: how many parts, and whether they fit the reliable buffer. */
static enum ue_status send_split(struct ue_conn *c, uint64_t now_ns, struct ue_lane *lane,
                                 const struct ue_outgoing *bunch, struct ue_packet_range *range) {
    struct ue_channel *channel = lane->channel;
    struct ue_outgoing safe;
    size_t count = count_parts(c, bunch);
    bool is_over = count > ue_conn_room_parts(c, lane, bunch->close);
    bool has_many = c->limits.parts_reliable != 0 && count >= c->limits.parts_reliable;
    if (has_many && !is_over && !ue_conn_has_internal_ack(c) && !channel->temporary) {
        safe = *bunch;
        safe.reliable = true;
        bunch = &safe;
        channel->paused_until_acked = true;
    }
    if (bunch->reliable && is_over) {
        return overflow(c);
    }
    bool opens = channel->opened_locally && !channel->open_sent;
    if (opens && !bunch->reliable && !bunch->close && count == 1) {
        return UE_E_CONFLICT; /* a receiver takes such an opening only whole or in parts */
    }
    return send_parts(c, now_ns, lane, bunch, count, range);
}

/* A bunch that no packet could take would be tried for ever. */
static enum ue_status check_sizes(const struct ue_conn *c, const struct ue_outgoing *bunch) {
    for (size_t i = 0; i < bunch->export_count; i++) {
        if (bunch->exports[i].bits > c->limits.single_bits) {
            return UE_E_LENGTH;
        }
    }
    bool is_long = ue_bits_bytes(bunch->data.bits) > c->config.partial_max_bytes && !ue_conn_has_internal_ack(c);
    return is_long ? UE_E_LENGTH : bunch->close_reason > CLOSE_REASON_MAX ? UE_E_RANGE : UE_OK;
}

enum ue_status ue_send_check(const struct ue_conn *c, const struct ue_lane *lane, const struct ue_outgoing *bunch) {
    const struct ue_channel *channel = lane->channel;
    bool may_close = channel->opened_locally || channel->index == 0;
    if (channel->closing || (bunch->reliable && channel->temporary) || (bunch->close && !may_close)) {
        return UE_E_CONFLICT;
    }
    bool is_full = !bunch->reliable && ue_conn_room_parts(c, lane, bunch->close) == 0;
    return is_full ? UE_E_FULL : check_sizes(c, bunch);
}

bool ue_send_has_room(const struct ue_conn *c, const struct ue_lane *lane, const struct ue_outgoing *bunch) {
    return count_parts(c, bunch) <= ue_conn_room_parts(c, lane, bunch->close);
}

enum ue_status ue_send_now(struct ue_conn *c, uint64_t now_ns, struct ue_lane *lane, const struct ue_outgoing *bunch,
                           struct ue_packet_range *range) {
    struct ue_channel *channel = lane->channel;
    ue_send_waiting(c, now_ns);
    if (lane->owed_from != 0 && !pay_debts(c, now_ns, lane)) {
        return UE_E_FULL;
    }
    if (bunch->merge && may_merge(c, channel, bunch) && merge_into_last(c, now_ns, channel, bunch)) {
        *range = (struct ue_packet_range){c->out_packet_id, c->out_packet_id};
        channel->closing |= bunch->close;
        flush_if_full(c, now_ns);
        return UE_OK;
    }
    return send_split(c, now_ns, lane, bunch, range);
}

/* Voice is dropped when there is no room, and travels safely until the peer has the channel (endpoint.md 20). */
static enum ue_status send_voice(struct ue_conn *c, uint64_t now_ns, struct ue_lane *lane,
                                 const struct ue_outgoing *bunch, struct ue_packet_range *range) {
    struct ue_outgoing voice = *bunch;
    voice.reliable = lane->channel->opened_locally && !lane->channel->open_acked;
    return ue_conn_is_ready(c) ? ue_send_now(c, now_ns, lane, &voice, range) : UE_E_FULL;
}

enum ue_status ue_send(struct ue_conn *c, uint64_t now_ns, struct ue_lane *lane, const struct ue_outgoing *bunch,
                       struct ue_packet_range *range) {
    struct ue_packet_range ignored;
    enum ue_status status = ue_send_check(c, lane, bunch);
    range = range != NULL ? range : &ignored;
    *range = (struct ue_packet_range){c->out_packet_id, c->out_packet_id};
    if (status != UE_OK) {
        return status;
    }
    if (lane->channel->kind == UE_KIND_VOICE && !bunch->reliable) {
        return send_voice(c, now_ns, lane, bunch, range);
    }
    return ue_send_now(c, now_ns, lane, bunch, range);
}
