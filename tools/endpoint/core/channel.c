/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/core/channel.h"

#define CAPACITY_FIRST 8
#define SPARE_OUT_RECS 4
#define VOICE_INDEX 1
#define FIRST_FREE_INDEX 2 /* 0 is the index of Control, 1 of Voice */

void ue_channel_table_init(struct ue_channel_table *table, struct ue_common *common, int32_t in_first,
                           int32_t out_first) {
    *table = (struct ue_channel_table){.common = common,
                                       .in_first = in_first,
                                       .out_first = out_first,
                                       .control = {.in_reliable = in_first, .out_reliable = out_first},
                                       .out_recs.max = SPARE_OUT_RECS};
}

void ue_channel_table_free(struct ue_channel_table *table) {
    for (uint32_t i = 0; i < table->capacity; i++) {
        if (table->slots[i] != NULL) {
            ue_channel_free(table, table->slots[i]);
            if (table->slots[i] != &table->control) {
                ue_share_free_block(&table->common->share, table->slots[i]);
            }
        }
    }
    ue_out_queue_pop(&table->common->share, &table->resends); /* without channels nothing is left to return */
    ue_out_queue_pop(&table->common->share, &table->unsent);
    ue_spares_free_all(&table->out_recs, &table->common->share);
    ue_share_free_block(&table->common->share, table->slots);
    ue_channel_table_init(table, table->common, table->in_first, table->out_first);
}

static bool grow(struct ue_channel_table *table) {
    uint32_t capacity = table->capacity != 0 ? table->capacity * 2 : CAPACITY_FIRST;
    struct ue_channel_entry **slots = ue_share_alloc(&table->common->share, capacity * sizeof *slots);
    if (slots == NULL) {
        return false;
    }
    memset(slots, 0, capacity * sizeof *slots);
    for (uint32_t i = 0; i < table->capacity; i++) {
        if (table->slots[i] != NULL) {
            slots[ue_channel_entry_slot(slots, capacity, table->slots[i]->index)] = table->slots[i];
        }
    }
    ue_share_free_block(&table->common->share, table->slots);
    table->slots = slots;
    table->capacity = capacity;
    return true;
}

/* endpoint.md 20.3. */
struct ue_channel_entry *ue_channel_entry_get(struct ue_channel_table *table, uint32_t index) {
    struct ue_channel_entry *entry = ue_channel_entry_find(table, index);
    if (entry != NULL || (table->count * 4 >= table->capacity * 3 && !grow(table))) {
        return entry;
    }
    entry = index == 0 ? &table->control : ue_share_alloc(&table->common->share, sizeof *entry);
    if (entry != NULL) {
        *entry =
            (struct ue_channel_entry){.index = index, .in_reliable = table->in_first, .out_reliable = table->out_first};
        table->slots[ue_channel_entry_slot(table->slots, table->capacity, index)] = entry;
        table->count++;
    }
    return entry;
}

struct ue_channel *ue_channel_new(struct ue_channel_table *table, struct ue_channel_entry *entry,
                                  enum ue_channel_kind kind) {
    struct ue_channel *channel = ue_share_alloc(&table->common->share, sizeof *channel);
    if (channel != NULL) {
        *channel = (struct ue_channel){
            .index = entry->index, .id = ++table->next_id, .kind = kind, .open_packets = {UE_NO_PACKET, UE_NO_PACKET}};
        entry->channel = channel;
        table->open_count++;
    }
    return channel;
}

static void keep_pending_out_rec(struct ue_channel_entry *entry) {
    const struct ue_out_rec *first = entry->channel->out_first;
    if (first != NULL && entry->pending_out_rec == 0) {
        entry->pending_out_rec = first->ch_seq;
    }
}

void ue_partial_drop(struct ue_share *share, struct ue_channel *channel) {
    if (channel->partial != NULL) {
        ue_share_free_block(share, channel->partial->data);
        ue_share_free_block(share, channel->partial);
        channel->partial = NULL;
    }
}

/* endpoint.md 20.4. */
void ue_channel_free(struct ue_channel_table *table, struct ue_channel_entry *entry) {
    struct ue_channel *channel = entry->channel;
    if (channel == NULL) {
        return;
    }
    keep_pending_out_rec(entry);
    ue_out_rec_free_all(&table->common->share, channel->out_first);
    while (channel->in_first != NULL) {
        struct ue_in_rec *next = channel->in_first->next;
        ue_share_free_block(&table->common->share, channel->in_first);
        channel->in_first = next;
    }
    ue_partial_drop(&table->common->share, channel);
    ue_share_free_block(&table->common->share, channel->name);
    ue_share_free_block(&table->common->share, channel);
    entry->channel = NULL;
    table->open_count--;
}

uint32_t ue_pending_out_rec_count(const struct ue_channel_entry *entry) {
    return entry->pending_out_rec != 0 ? (uint32_t)(entry->out_reliable - entry->pending_out_rec + 1) : 0;
}

struct ue_out_rec *ue_out_rec_alloc(struct ue_channel_table *table, uint32_t data_bits) {
    struct ue_out_rec *out =
        ue_spares_alloc(&table->out_recs, &table->common->share, sizeof *out + ue_bits_bytes(data_bits));
    if (out != NULL) {
        *out = (struct ue_out_rec){.data_bits = data_bits, .packet_id = UE_NO_PACKET};
    }
    return out;
}

void ue_out_rec_free_all(struct ue_share *share, struct ue_out_rec *first) {
    while (first != NULL) {
        struct ue_out_rec *next = first->next;
        if (first->queued) {
            first->abandoned = true;
        } else {
            ue_share_free_block(share, first);
        }
        first = next;
    }
}

static void enqueue(struct ue_out_rec *out, const struct ue_channel *channel, struct ue_out_rec *next) {
    out->next_in_packet = next;
    out->packet_id = UE_NO_PACKET;
    out->channel = channel->index;
    out->queued = true;
}

void ue_out_queue_push(struct ue_out_queue *queue, const struct ue_channel *channel, struct ue_out_rec *out) {
    enqueue(out, channel, NULL);
    if (queue->first == NULL) {
        queue->first = out;
    } else {
        queue->last->next_in_packet = out;
    }
    queue->last = out;
}

void ue_out_queue_push_front(struct ue_out_queue *queue, const struct ue_channel *channel, struct ue_out_rec *out) {
    enqueue(out, channel, queue->first);
    if (queue->first == NULL) {
        queue->last = out;
    }
    queue->first = out;
}

struct ue_out_rec *ue_out_queue_pop(struct ue_share *share, struct ue_out_queue *queue) {
    while (queue->first != NULL) {
        struct ue_out_rec *out = queue->first;
        queue->first = out->next_in_packet;
        out->queued = false;
        if (!out->abandoned) {
            return out;
        }
        ue_share_free_block(share, out);
    }
    return NULL;
}

void ue_channel_add_out(struct ue_channel_entry *entry, struct ue_out_rec *out, int32_t ch_seq) {
    struct ue_channel *channel = entry->channel;
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
    entry->out_peak = channel->out_count > entry->out_peak ? channel->out_count : entry->out_peak;
}

struct ue_out_rec *ue_channel_grow_out(struct ue_channel_table *table, struct ue_channel *channel, uint32_t data_bits) {
    struct ue_out_rec *out =
        ue_share_resize(&table->common->share, channel->out_last, sizeof *out + ue_bits_bytes(data_bits));
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
static bool open_is_acked(const struct ue_out_rec *out) {
    while (out->partial && !out->partial_final) {
        out = out->next;
        if (out == NULL || !out->acked) {
            return false;
        }
    }
    return true;
}

static void drop_first(struct ue_channel_table *table, struct ue_channel *channel) {
    struct ue_out_rec *first = channel->out_first;
    channel->out_first = first->next;
    if (channel->out_before_last == first) {
        channel->out_before_last = NULL;
    }
    if (channel->out_last == first) {
        channel->out_last = NULL;
    }
    channel->out_count--;
    ue_spares_free(&table->out_recs, &table->common->share, first);
}

/* endpoint.md 15.2, 15.3. */
bool ue_channel_release(struct ue_channel_table *table, struct ue_channel *channel) {
    bool is_closed = false;
    while (channel->out_first != NULL && channel->out_first->acked) {
        const struct ue_out_rec *first = channel->out_first;
        if (first->open) {
            if (!open_is_acked(first)) {
                break;
            }
            channel->open_acked = true;
        }
        is_closed |= first->close;
        drop_first(table, channel);
    }
    return is_closed;
}

/* ---- the record of sent packets (WrittenChannelsRecord, OutLag) ---- */

void ue_sent_packets_init(struct ue_sent_packets *sent, struct ue_share *share) {
    *sent = (struct ue_sent_packets){.share = share};
}

void ue_sent_packets_free(struct ue_sent_packets *sent) {
    ue_share_free_block(sent->share, sent->ring);
    ue_sent_packets_init(sent, sent->share);
}

static struct ue_written *written_at(const struct ue_sent_packets *sent, uint32_t index) {
    return &sent->ring[(sent->begin + index) & (sent->capacity - 1)];
}

static bool grow_ring(struct ue_sent_packets *sent) {
    uint32_t capacity = sent->capacity != 0 ? sent->capacity * 2 : CAPACITY_FIRST;
    struct ue_written *ring = ue_share_alloc(sent->share, capacity * sizeof *ring);
    if (ring == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < sent->count; i++) {
        ring[i] = *written_at(sent, i);
    }
    ue_share_free_block(sent->share, sent->ring);
    sent->ring = ring;
    sent->capacity = capacity;
    sent->begin = 0;
    return true;
}

static struct ue_written *append_written(struct ue_sent_packets *sent, int64_t packet_id) {
    if (sent->count == sent->capacity && !grow_ring(sent)) {
        return NULL;
    }
    struct ue_written *written = written_at(sent, sent->count++);
    *written = (struct ue_written){.packet_id = packet_id, .sent_ns = UE_NO_TIME, .channel = UE_WRITTEN_NONE};
    return written;
}

/* Newest packets are asked for most, so the search begins there. */
static struct ue_written *find_written(const struct ue_sent_packets *sent, int64_t packet_id,
                                       const struct ue_channel *channel) {
    for (uint32_t i = sent->count; i > 0 && written_at(sent, i - 1)->packet_id >= packet_id; i--) {
        struct ue_written *written = written_at(sent, i - 1);
        if (written->packet_id == packet_id && written->channel == channel->index &&
            written->channel_id == channel->id) {
            return written;
        }
    }
    return NULL;
}

/* Nearly always at the end: only a retransmission is older than what the packet has of its channel. */
static void insert_in_packet(struct ue_written *written, struct ue_out_rec *out) {
    struct ue_out_rec **place = &written->first;
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

bool ue_sent_packets_add_channel(struct ue_sent_packets *sent, int64_t packet_id, const struct ue_channel *channel,
                                 struct ue_out_rec *out) {
    struct ue_written *written = find_written(sent, packet_id, channel);
    if (written == NULL) {
        written = append_written(sent, packet_id);
        if (written == NULL) {
            return false;
        }
        written->channel = channel->index;
        written->channel_id = channel->id;
    }
    if (out == NULL) {
        return true;
    }
    insert_in_packet(written, out);
    return true;
}

bool ue_sent_packets_push(struct ue_sent_packets *sent, int64_t packet_id, uint64_t now_ns) {
    struct ue_written *newest = sent->count != 0 ? written_at(sent, sent->count - 1) : NULL;
    struct ue_written *written =
        newest != NULL && newest->packet_id == packet_id ? newest : append_written(sent, packet_id);
    if (written != NULL) {
        written->sent_ns = now_ns;
    }
    return written != NULL;
}

void ue_sent_packets_unlink(struct ue_sent_packets *sent, int64_t packet_id, const struct ue_channel *channel,
                            struct ue_out_rec *out) {
    struct ue_written *written = find_written(sent, packet_id, channel);
    struct ue_out_rec *before = NULL;
    for (struct ue_out_rec *i = written != NULL ? written->first : NULL; i != NULL; before = i, i = i->next_in_packet) {
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

void ue_sent_packets_replace(struct ue_sent_packets *sent, int64_t packet_id, const struct ue_channel *channel,
                             const struct ue_out_rec *old, struct ue_out_rec *out) {
    struct ue_written *written = find_written(sent, packet_id, channel);
    if (written == NULL) {
        return;
    }
    for (struct ue_out_rec **i = &written->first; *i != NULL; i = &(*i)->next_in_packet) {
        if (*i == old) {
            *i = out;
            break;
        }
    }
    if (written->last == old) {
        written->last = out;
    }
}

bool ue_sent_packets_pop(struct ue_sent_packets *sent, int64_t packet_id, struct ue_written *written) {
    while (sent->count != 0 && written_at(sent, 0)->packet_id <= packet_id) {
        *written = *written_at(sent, 0);
        sent->count--;
        sent->begin = sent->count != 0 ? (sent->begin + 1) & (sent->capacity - 1) : 0; /* the begin is in the cache */
        if (written->packet_id == packet_id) {
            return true;
        }
    }
    return false;
}

/* ---- channels of a connection ---- */

struct ue_channel *ue_channel_find(const struct ue_channel_table *channels, uint32_t index) {
    const struct ue_channel_entry *entry = ue_channel_entry_find(channels, index);
    return entry != NULL ? entry->channel : NULL;
}

/* endpoint.md 20.5, 20.7, 20.8. */
bool ue_may_open(const struct ue_common *common, enum ue_channel_kind kind) {
    if (ue_has_internal_ack(common) || common->config.no_login) {
        return true;
    }
    switch (kind) {
    case UE_KIND_CONTROL: return !ue_is_server(common);
    case UE_KIND_ACTOR: return ue_is_server(common);
    default: return true;
    }
}

/* endpoint.md 20.5, 20.6, 20.7. */
int64_t ue_channel_free_index(const struct ue_channel_table *channels, enum ue_channel_kind kind) {
    int64_t index = kind == UE_KIND_CONTROL ? 0 : kind == UE_KIND_VOICE ? VOICE_INDEX : FIRST_FREE_INDEX;
    while (kind != UE_KIND_CONTROL && kind != UE_KIND_VOICE && index < channels->common->config.max_channels &&
           ue_channel_find(channels, (uint32_t)index) != NULL) {
        index++;
    }
    return index;
}

static uint32_t name_of(enum ue_channel_kind kind) {
    switch (kind) {
    case UE_KIND_CONTROL: return UE_NAME_CONTROL;
    case UE_KIND_ACTOR: return UE_NAME_ACTOR;
    case UE_KIND_VOICE: return UE_NAME_VOICE;
    default: return UE_NAME_DATA_STREAM;
    }
}

/* A channel on an index with missing numbers has bunches to send from the beginning (endpoint.md 20.4). */
struct ue_channel *ue_channel_create(struct ue_channel_table *channels, uint32_t index, enum ue_channel_kind kind) {
    struct ue_channel_entry *entry = ue_channel_entry_get(channels, index);
    struct ue_channel *channel = entry != NULL ? ue_channel_new(channels, entry, kind) : NULL;
    if (channel != NULL) {
        channel->name_index = name_of(kind);
        channels->has_pending_out_rec |= entry->pending_out_rec != 0;
    }
    return channel;
}

/* endpoint.md 20.5, 21.2. */
void ue_channel_clean_up(struct ue_channel_table *channels, struct ue_channel *channel) {
    struct ue_event event = {.type = UE_EVENT_CHANNEL_CLOSED,
                             .channel = channel->index,
                             .kind = channel->kind,
                             .close_reason = channel->close_reason};
    bool ends_connection = channel->index == 0 && !channel->closing;
    if (channel->has_opened) {
        ue_event_emit(channels->common, &event);
    }
    ue_channel_free(channels, ue_channel_entry_find(channels, channel->index));
    if (ends_connection) {
        ue_want_close(channels->common, UE_CLOSE_CONTROL_CHANNEL_CLOSE, UE_CLOSE_NONE);
    }
}

/* endpoint.md 8.9, 15.3. */
void ue_free_closed_channels(struct ue_channel_table *channels) {
    if (!channels->has_close_acked) {
        return;
    }
    channels->has_close_acked = false;
    for (uint32_t i = 0; i < channels->capacity; i++) {
        struct ue_channel *channel = ue_channel_at(channels, i);
        if (channel != NULL && channel->close_acked) {
            ue_channel_clean_up(channels, channel);
        }
    }
}

/* endpoint.md 27.2. */
bool ue_may_send(const struct ue_channel_table *channels) {
    const struct ue_common *common = channels->common;
    if (!ue_is_server(common) || ue_has_internal_ack(common) || common->config.no_login) {
        return true;
    }
    return channels->control.in_reliable != channels->in_first;
}
