/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/channel.h"

#include "tools/endpoint/core/assemble.h"

#define CAPACITY_FIRST 8
/* This part of a connection's memory is not for bunches that came early: the one that they wait for must find room. */
#define IN_TURN_PART 16

void ue_lanes_init(struct ue_lanes *lanes, struct ue_share *share, int32_t in_first, int32_t out_first) {
    *lanes = (struct ue_lanes){.share = share, .in_first = in_first, .out_first = out_first};
}

void ue_lanes_free(struct ue_lanes *lanes) {
    for (uint32_t i = 0; i < lanes->capacity; i++) {
        if (lanes->slots[i] != NULL) {
            ue_channel_free(lanes, lanes->slots[i]);
            ue_share_free_block(lanes->share, lanes->slots[i]);
        }
    }
    ue_out_pop(lanes->share, &lanes->resends); /* without channels nothing is left to return */
    ue_out_pop(lanes->share, &lanes->unsent);
    ue_share_free_block(lanes->share, lanes->slots);
    ue_lanes_init(lanes, lanes->share, lanes->in_first, lanes->out_first);
}

static bool grow(struct ue_lanes *lanes) {
    uint32_t capacity = lanes->capacity != 0 ? lanes->capacity * 2 : CAPACITY_FIRST;
    struct ue_lane **slots = ue_share_alloc(lanes->share, capacity * sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    memset(slots, 0, capacity * sizeof *slots);
    for (uint32_t i = 0; i < lanes->capacity; i++) {
        if (lanes->slots[i] != NULL) {
            slots[ue_lane_slot(slots, capacity, lanes->slots[i]->index)] = lanes->slots[i];
        }
    }
    ue_share_free_block(lanes->share, lanes->slots);
    lanes->slots = slots;
    lanes->capacity = capacity;
    return true;
}

struct ue_lane *ue_lane_need(struct ue_lanes *lanes, uint32_t index) {
    struct ue_lane *lane = ue_lane_find(lanes, index);
    if (lane != NULL || (lanes->count * 4 >= lanes->capacity * 3 && !grow(lanes))) {
        return lane;
    }
    lane = ue_share_alloc(lanes->share, sizeof *lane);
    if (lane != NULL) {
        *lane = (struct ue_lane){.index = index, .in_reliable = lanes->in_first, .out_reliable = lanes->out_first};
        lanes->slots[ue_lane_slot(lanes->slots, lanes->capacity, index)] = lane;
        lanes->count++;
    }
    return lane;
}

struct ue_channel *ue_channel_new(struct ue_lanes *lanes, struct ue_lane *lane, enum ue_channel_kind kind) {
    struct ue_channel *channel = ue_share_alloc(lanes->share, sizeof *channel);
    if (channel != NULL) {
        *channel = (struct ue_channel){
            .index = lane->index, .id = ++lanes->next_id, .kind = kind, .open_packets = {UE_NO_PACKET, UE_NO_PACKET}};
        lane->channel = channel;
        lanes->open_count++;
    }
    return channel;
}

static void owe(struct ue_lane *lane) {
    const struct ue_out *first = lane->channel->out_first;
    if (first != NULL && lane->owed_from == 0) {
        lane->owed_from = first->ch_seq;
    }
}

void ue_channel_free(struct ue_lanes *lanes, struct ue_lane *lane) {
    struct ue_channel *channel = lane->channel;
    if (channel == NULL) {
        return;
    }
    owe(lane);
    ue_outs_free(lanes->share, channel->out_first);
    while (channel->in_first != NULL) {
        struct ue_in *next = channel->in_first->next;
        ue_share_free_block(lanes->share, channel->in_first);
        channel->in_first = next;
    }
    ue_assemble_drop(lanes->share, channel);
    ue_share_free_block(lanes->share, (void *)channel->name.units.base);
    ue_share_free_block(lanes->share, channel);
    lane->channel = NULL;
    lanes->open_count--;
}

uint32_t ue_lane_debts(const struct ue_lane *lane) {
    return lane->owed_from != 0 ? (uint32_t)(lane->out_reliable - lane->owed_from + 1) : 0;
}

struct ue_out *ue_out_new(struct ue_share *share, uint32_t data_bits) {
    struct ue_out *out = ue_share_alloc(share, sizeof *out + ue_bits_bytes(data_bits));
    if (out != NULL) {
        *out = (struct ue_out){.data_bits = data_bits, .packet_id = UE_NO_PACKET};
    }
    return out;
}

void ue_outs_free(struct ue_share *share, struct ue_out *first) {
    while (first != NULL) {
        struct ue_out *next = first->next;
        if (first->queued) {
            first->abandoned = true;
        } else {
            ue_share_free_block(share, first);
        }
        first = next;
    }
}

static void enqueue(struct ue_out *out, const struct ue_channel *channel, struct ue_out *next) {
    out->next_in_packet = next;
    out->packet_id = UE_NO_PACKET;
    out->channel = channel->index;
    out->queued = true;
}

void ue_out_push(struct ue_out_queue *queue, const struct ue_channel *channel, struct ue_out *out) {
    enqueue(out, channel, NULL);
    if (queue->first == NULL) {
        queue->first = out;
    } else {
        queue->last->next_in_packet = out;
    }
    queue->last = out;
}

void ue_out_push_front(struct ue_out_queue *queue, const struct ue_channel *channel, struct ue_out *out) {
    enqueue(out, channel, queue->first);
    if (queue->first == NULL) {
        queue->last = out;
    }
    queue->first = out;
}

struct ue_out *ue_out_pop(struct ue_share *share, struct ue_out_queue *queue) {
    while (queue->first != NULL) {
        struct ue_out *out = queue->first;
        queue->first = out->next_in_packet;
        out->queued = false;
        if (!out->abandoned) {
            return out;
        }
        ue_share_free_block(share, out);
    }
    return NULL;
}

void ue_channel_add_out(struct ue_lane *lane, struct ue_out *out, int32_t ch_seq) {
    struct ue_channel *channel = lane->channel;
    out->next = NULL;
    out->ch_seq = ch_seq;
    if (channel->out_last != NULL) {
        channel->out_last->next = out;
    } else {
        channel->out_first = out;
    }
    channel->out_before_last = channel->out_last;
    channel->out_last = out;
    channel->out_count++;
    lane->out_peak = channel->out_count > lane->out_peak ? channel->out_count : lane->out_peak;
}

struct ue_out *ue_channel_grow_out(struct ue_lanes *lanes, struct ue_channel *channel, uint32_t data_bits) {
    struct ue_out *out = ue_share_resize(lanes->share, channel->out_last, sizeof *out + ue_bits_bytes(data_bits));
    if (out == NULL) {
        return NULL;
    }
    out->data_bits = data_bits;
    channel->out_last = out;
    if (channel->out_before_last != NULL) {
        channel->out_before_last->next = out;
    } else {
        channel->out_first = out;
    }
    return out;
}

/* An open bunch in parts counts when all of them are acknowledged. */
static bool open_is_acked(const struct ue_out *out) {
    while (out->partial && !out->partial_final) {
        out = out->next;
        if (out == NULL || !out->acked) {
            return false;
        }
    }
    return true;
}

static void drop_first(struct ue_lanes *lanes, struct ue_channel *channel) {
    struct ue_out *first = channel->out_first;
    channel->out_first = first->next;
    if (channel->out_before_last == first) {
        channel->out_before_last = NULL;
    }
    if (channel->out_last == first) {
        channel->out_last = NULL;
    }
    channel->out_count--;
    ue_share_free_block(lanes->share, first);
}

/* endpoint.md 15.2, 15.3. */
bool ue_channel_release(struct ue_lanes *lanes, struct ue_channel *channel) {
    bool is_closed = false;
    while (channel->out_first != NULL && channel->out_first->acked) {
        const struct ue_out *first = channel->out_first;
        if (first->open) {
            if (!open_is_acked(first)) {
                break;
            }
            channel->open_acked = true;
        }
        is_closed |= first->close;
        drop_first(lanes, channel);
    }
    return is_closed;
}

/* endpoint.md 17.5. */
static struct ue_in *copy_in(struct ue_share *share, const struct ue_bunch *bunch, int64_t ch_seq, int64_t packet_id) {
    size_t size_bytes = sizeof(struct ue_in) + ue_bits_bytes(bunch->data.bits);
    bool has_room = ue_share_room_bytes(share) >= size_bytes + share->limit_bytes / IN_TURN_PART;
    struct ue_in *in = has_room ? ue_share_alloc(share, size_bytes) : NULL;
    share->refusals += !has_room;
    if (in != NULL) {
        *in = (struct ue_in){.ch_seq = ch_seq, .packet_id = packet_id, .bunch = *bunch};
        ue_view_copy(bunch->data, in->data);
        in->bunch.data = (struct ue_view){in->data, 0, bunch->data.bits};
        in->bunch.name = (struct ue_name){0}; /* it was compared already, and its text is in the packet */
    }
    return in;
}

/* endpoint.md 17.2. */
enum ue_in_result ue_channel_keep_in(struct ue_lanes *lanes, struct ue_channel *channel, const struct ue_bunch *bunch,
                                     int64_t ch_seq, int64_t packet_id, uint32_t limit) {
    struct ue_in **at = &channel->in_first;
    while (*at != NULL && (*at)->ch_seq < ch_seq) {
        at = &(*at)->next;
    }
    if (*at != NULL && (*at)->ch_seq == ch_seq) {
        return UE_IN_KNOWN;
    }
    if (channel->in_count + 1 >= limit) {
        return UE_IN_TOO_MANY;
    }
    struct ue_in *in = copy_in(lanes->share, bunch, ch_seq, packet_id);
    if (in == NULL) {
        return UE_IN_NO_MEMORY;
    }
    in->next = *at;
    *at = in;
    channel->in_count++;
    return UE_IN_KEPT;
}

struct ue_in *ue_channel_take_in(struct ue_channel *channel, int64_t ch_seq) {
    struct ue_in *in = channel->in_first;
    if (in == NULL || in->ch_seq != ch_seq) {
        return NULL;
    }
    channel->in_first = in->next;
    channel->in_count--;
    return in;
}
