/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/sent_packets.h"

#define CAPACITY_FIRST 8

void ue_sent_packets_init(struct ue_sent_packets *flight, struct ue_share *share) {
    *flight = (struct ue_sent_packets){.share = share};
}

void ue_sent_packets_free(struct ue_sent_packets *flight) {
    ue_share_free_block(flight->share, flight->ring);
    ue_sent_packets_init(flight, flight->share);
}

static struct ue_written *at(const struct ue_sent_packets *flight, uint32_t index) {
    return &flight->ring[(flight->begin + index) & (flight->capacity - 1)];
}

static bool grow(struct ue_sent_packets *flight) {
    uint32_t capacity = flight->capacity != 0 ? flight->capacity * 2 : CAPACITY_FIRST;
    struct ue_written *ring = ue_share_alloc(flight->share, capacity * sizeof *ring);
    if (ring == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < flight->count; i++) {
        ring[i] = *at(flight, i);
    }
    ue_share_free_block(flight->share, flight->ring);
    flight->ring = ring;
    flight->capacity = capacity;
    flight->begin = 0;
    return true;
}

static struct ue_written *append(struct ue_sent_packets *flight, int64_t packet_id) {
    if (flight->count == flight->capacity && !grow(flight)) {
        return NULL;
    }
    struct ue_written *written = at(flight, flight->count++);
    *written = (struct ue_written){.packet_id = packet_id, .sent_ns = UE_NO_TIME, .channel = UE_WRITTEN_NONE};
    return written;
}

/* Newest packets are asked for most, so the search begins there. */
static struct ue_written *find(const struct ue_sent_packets *flight, int64_t packet_id,
                               const struct ue_channel *channel) {
    for (uint32_t i = flight->count; i > 0 && at(flight, i - 1)->packet_id >= packet_id; i--) {
        struct ue_written *written = at(flight, i - 1);
        if (written->packet_id == packet_id && written->channel == channel->index &&
            written->channel_id == channel->id) {
            return written;
        }
    }
    return NULL;
}

/* Nearly always at the end: only a retransmission is older than what the packet has of its channel. */
static void insert(struct ue_written *written, struct ue_out *out) {
    struct ue_out **place = &written->first;
    if (written->last != NULL && written->last->ch_seq < out->ch_seq) {
        place = &written->last->next_in_packet;
    }
    while (*place != NULL && (*place)->ch_seq < out->ch_seq) {
        place = &(*place)->next_in_packet;
    }
    out->next_in_packet = *place;
    *place = out;
    if (out->next_in_packet == NULL) {
        written->last = out;
    }
}

bool ue_sent_packets_add_channel(struct ue_sent_packets *flight, int64_t packet_id, const struct ue_channel *channel,
                                 struct ue_out *out) {
    struct ue_written *written = find(flight, packet_id, channel);
    if (written == NULL) {
        written = append(flight, packet_id);
        if (written == NULL) {
            return false;
        }
        written->channel = channel->index;
        written->channel_id = channel->id;
    }
    if (out == NULL) {
        return true;
    }
    insert(written, out);
    return true;
}

bool ue_sent_packets_push(struct ue_sent_packets *flight, int64_t packet_id, uint64_t now_ns) {
    struct ue_written *newest = flight->count != 0 ? at(flight, flight->count - 1) : NULL;
    struct ue_written *written = newest != NULL && newest->packet_id == packet_id ? newest : append(flight, packet_id);
    if (written != NULL) {
        written->sent_ns = now_ns;
    }
    return written != NULL;
}

void ue_sent_packets_unlink(struct ue_sent_packets *flight, int64_t packet_id, const struct ue_channel *channel,
                            struct ue_out *out) {
    struct ue_written *written = find(flight, packet_id, channel);
    struct ue_out *before = NULL;
    for (struct ue_out *i = written != NULL ? written->first : NULL; i != NULL; before = i, i = i->next_in_packet) {
        if (i != out) {
            continue;
        }
        if (before != NULL) {
            before->next_in_packet = out->next_in_packet;
        } else {
            written->first = out->next_in_packet;
        }
        if (written->last == out) {
            written->last = before;
        }
        return;
    }
}

void ue_sent_packets_replace(struct ue_sent_packets *flight, int64_t packet_id, const struct ue_channel *channel,
                             const struct ue_out *old, struct ue_out *out) {
    struct ue_written *written = find(flight, packet_id, channel);
    if (written == NULL) {
        return;
    }
    for (struct ue_out **i = &written->first; *i != NULL; i = &(*i)->next_in_packet) {
        if (*i == old) {
            *i = out;
            break;
        }
    }
    if (written->last == old) {
        written->last = out;
    }
}

bool ue_sent_packets_pop(struct ue_sent_packets *flight, int64_t packet_id, struct ue_written *written) {
    while (flight->count != 0 && at(flight, 0)->packet_id <= packet_id) {
        *written = *at(flight, 0);
        flight->begin = (flight->begin + 1) & (flight->capacity - 1);
        flight->count--;
        if (written->packet_id == packet_id) {
            return true;
        }
    }
    return false;
}
