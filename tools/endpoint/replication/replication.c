/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/replication/replication.h"

#include <assert.h>

#include "tools/endpoint/core/connection.h"

/* An unreliable multicast call that waits for the next update. */
struct ue_held_call {
    struct ue_held_call *next;
    uint16_t function;
    uint16_t bits;
    uint8_t parameters[];
};

/* ---- objects ---- */

static bool widths_fit(const uint32_t *widths_bits, uint32_t count, size_t *bits) {
    *bits = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (widths_bits[i] > UE_PROPERTY_BITS_MAX) {
            return false;
        }
        *bits += widths_bits[i];
    }
    return true;
}

/* endpoint.md 37.1. */
struct ue_replicated_object *ue_replicated_object_new(struct ue_share *share, uint32_t id, const uint32_t *widths_bits,
                                                      uint32_t count) {
    size_t bits;
    if (count > UE_HANDLES_MAX || !widths_fit(widths_bits, count, &bits)) {
        return NULL;
    }
    struct ue_replicated_object *o = ue_share_alloc(share, sizeof *o + ue_bits_bytes(bits));
    if (o == NULL) {
        return NULL;
    }
    memset(o, 0, sizeof *o + ue_bits_bytes(bits));
    o->share = share;
    o->id = id;
    o->property_count = count;
    for (uint32_t i = 0, at = 0; i < count; at += widths_bits[i++]) {
        o->properties[i] = (struct ue_replicated_property){widths_bits[i], at};
    }
    return o;
}

void ue_replicated_object_free(struct ue_replicated_object *o) {
    assert(o->watchers == 0);
    ue_share_free_block(o->share, o);
}

struct ue_view ue_replicated_object_get(const struct ue_replicated_object *o, uint32_t handle) {
    assert(handle >= 1 && handle <= o->property_count);
    const struct ue_replicated_property *p = &o->properties[handle - 1];
    return (struct ue_view){o->values, p->first_bit, p->bits};
}

enum ue_status ue_replicated_object_set(struct ue_replicated_object *o, uint32_t handle, struct ue_view value) {
    if (handle < 1 || handle > o->property_count) {
        return UE_E_RANGE;
    }
    const struct ue_replicated_property *p = &o->properties[handle - 1];
    if (value.bits != p->bits) {
        return UE_E_LENGTH;
    }
    if (!ue_view_equal(ue_replicated_object_get(o, handle), value)) {
        ue_bits_copy(o->values, p->first_bit, value.base, value.bit, value.bits);
        o->dirty |= ue_handle_bit(handle);
    }
    return UE_OK;
}

void ue_replicated_object_collect(struct ue_replicated_object *o) {
    if (o->dirty != 0) {
        ue_changes_add(&o->changes, o->dirty);
        o->dirty = 0;
    }
}

static uint64_t all_handles(const struct ue_replicated_object *o) {
    return ue_bits_mask(o->property_count);
}

/* ---- replicas of a connection ---- */

void ue_replicator_init(struct ue_replicator *r, struct ue_conn *conn, struct ue_share *share) {
    assert(conn->common.config.report_packets);
    *r = (struct ue_replicator){.conn = conn, .share = share, .out_ack = INT64_MIN};
}

static void drop_held(struct ue_replicator *r, struct ue_replica *replica) {
    while (replica->held != NULL) {
        struct ue_held_call *next = replica->held->next;
        ue_share_free_block(r->share, replica->held);
        replica->held = next;
    }
    replica->held_count = 0;
}

static void free_replica(struct ue_replicator *r, struct ue_replica *replica) {
    replica->object->watchers--;
    drop_held(r, replica);
    ue_share_free_block(r->share, replica);
    r->count--;
}

static void push_last(struct ue_replicator *r, struct ue_replica *replica) {
    replica->next = NULL;
    if (r->last != NULL) {
        r->last->next = replica;
    } else {
        r->first = replica;
    }
    r->last = replica;
}

static struct ue_replica *pop_first(struct ue_replicator *r) {
    struct ue_replica *replica = r->first;
    r->first = replica->next;
    if (r->first == NULL) {
        r->last = NULL;
    }
    return replica;
}

void ue_replicator_free(struct ue_replicator *r) {
    while (r->first != NULL) {
        free_replica(r, pop_first(r));
    }
}

struct ue_replica *ue_replicator_add(struct ue_replicator *r, struct ue_replicated_object *object) {
    struct ue_replica *replica = ue_share_alloc(r->share, sizeof *replica);
    if (replica == NULL) {
        return NULL;
    }
    *replica = (struct ue_replica){.object = object};
    if (ue_conn_open(r->conn, UE_KIND_ACTOR, -1, &replica->channel) != UE_OK) {
        ue_share_free_block(r->share, replica);
        return NULL;
    }
    push_last(r, replica);
    r->count++;
    object->watchers++;
    return replica;
}

enum ue_status ue_replicator_remove(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica,
                                    uint8_t reason) {
    const struct ue_outgoing close = {
        .channel = replica->channel, .reliable = true, .close = true, .close_reason = reason};
    enum ue_status status = ue_conn_send(r->conn, now_ns, &close, NULL);
    replica->is_closing |= status == UE_OK;
    return status;
}

static void handle_report(struct ue_replicator *r, int64_t packet_id, bool delivered) {
    if (delivered) {
        r->out_ack = packet_id;
        return;
    }
    for (struct ue_replica *replica = r->first; replica != NULL; replica = replica->next) {
        r->counters.naks += ue_sent_nak(&replica->sent, packet_id);
    }
}

/* The index may have a new channel already. */
static bool is_gone(const struct ue_replicator *r, const struct ue_replica *replica) {
    return replica->is_closing || ue_channel_find(&r->conn->channels, replica->channel) == NULL;
}

static void remove_replicas(struct ue_replicator *r, uint32_t channel) {
    for (uint32_t left = r->count; left > 0; left--) {
        struct ue_replica *replica = pop_first(r);
        if (replica->channel == channel && is_gone(r, replica)) {
            free_replica(r, replica);
        } else {
            push_last(r, replica);
        }
    }
}

void ue_replicator_event(struct ue_replicator *r, const struct ue_event *event) {
    switch (event->type) {
    case UE_EVENT_PACKET: handle_report(r, event->packet_id, event->delivered); break;
    case UE_EVENT_CHANNEL_CLOSED: remove_replicas(r, event->channel); break;
    default: break;
    }
}

/* ---- updates ---- */

static size_t update_bits(const struct ue_replica *replica, uint64_t handles) {
    size_t bits = replica->is_opened ? 0 : UE_REPLICATION_OBJECT_BITS;
    bits += handles != 0 ? UE_REPLICATION_PROPERTIES_BITS : 0;
    for (uint32_t handle = 1; handle <= replica->object->property_count; handle++) {
        if ((handles & ue_handle_bit(handle)) != 0) {
            bits += UE_REPLICATION_PROPERTY_BITS + replica->object->properties[handle - 1].bits;
        }
    }
    for (const struct ue_held_call *call = replica->held; call != NULL; call = call->next) {
        bits += UE_REPLICATION_CALL_BITS + call->bits;
    }
    return bits;
}

static void write_properties(struct ue_replication_writer *w, const struct ue_replicated_object *o, uint64_t handles) {
    if (handles == 0) {
        return;
    }
    ue_replication_write_properties(w, (uint32_t)__builtin_popcountll(handles));
    for (uint32_t handle = 1; handle <= o->property_count; handle++) {
        if ((handles & ue_handle_bit(handle)) != 0) {
            ue_replication_write_property(w, handle, ue_replicated_object_get(o, handle));
        }
    }
}

/* The values of now, whatever they were when they changed. */
static void write_update(struct ue_replication_writer *w, const struct ue_replica *replica, uint64_t handles) {
    if (!replica->is_opened) {
        ue_replication_write_object(w, replica->object->id);
    }
    write_properties(w, replica->object, handles);
    for (const struct ue_held_call *call = replica->held; call != NULL; call = call->next) {
        ue_replication_write_call(w, call->function, (struct ue_view){call->parameters, 0, call->bits});
    }
}

/* endpoint.md 37.1. */
static enum ue_status send_update(struct ue_replicator *r, uint64_t now_ns, const struct ue_replica *replica,
                                  uint64_t handles, struct ue_packet_range *range) {
    size_t bits = update_bits(replica, handles);
    struct ue_replication_writer w = {.bytes = ue_share_alloc(r->share, ue_bits_bytes(bits))};
    if (w.bytes == NULL) {
        return UE_E_FULL;
    }
    write_update(&w, replica, handles);
    const struct ue_outgoing bunch = {
        .channel = replica->channel,
        .reliable = !replica->is_opened,
        .merge = replica->is_opened,
        .data = {w.bytes, 0, w.bits},
    };
    enum ue_status status = ue_conn_send(r->conn, now_ns, &bunch, range);
    ue_share_free_block(r->share, w.bytes);
    return status;
}

/* What is new for this connection: everything at first; and once the open is acknowledged, all that was sent
   unreliably before. */
static uint64_t new_handles(struct ue_replica *replica, const struct ue_channel *channel) {
    uint64_t handles = ue_changes_since(&replica->object->changes, &replica->seen);
    if (!replica->is_opened) {
        handles |= all_handles(replica->object);
    }
    if (channel->open_acked) {
        handles |= replica->before_open;
        replica->before_open = 0;
    }
    return handles;
}

static void record_sent(struct ue_replicator *r, struct ue_replica *replica, const struct ue_channel *channel,
                        uint64_t handles, struct ue_packet_range range) {
    if (handles != 0) {
        ue_sent_end(&replica->sent, range);
    }
    if (replica->is_opened && !channel->open_acked) {
        replica->before_open |= handles;
    }
    replica->is_opened = true;
    r->counters.updates++;
    r->counters.calls_sent += replica->held_count;
    drop_held(r, replica);
}

static void replicate(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica,
                      const struct ue_channel *channel) {
    uint64_t handles = ue_sent_begin(&replica->sent, new_handles(replica, channel), r->out_ack);
    struct ue_packet_range range;
    if (handles == 0 && replica->held == NULL && replica->is_opened) {
        return;
    }
    if (send_update(r, now_ns, replica, handles, &range) == UE_OK) {
        record_sent(r, replica, channel, handles, range);
    } else if (handles != 0) {
        ue_sent_fail(&replica->sent);
    }
}

/* Whether properties may go now: after a large bunch not before all reliable ones are acknowledged
   (bPausedUntilReliableACK), and never while the channel is full of them (endpoint.md 22.2, 23.7, 37.5). */
static bool may_replicate(const struct ue_conn *c, struct ue_channel *channel) {
    if (channel->paused_until_acked && channel->out_count == 0) {
        channel->paused_until_acked = false;
    }
    return !channel->paused_until_acked && channel->out_count + 1 < c->common.limits.reliable;
}

static void update_replica(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica) {
    struct ue_channel *channel = ue_channel_find(&r->conn->channels, replica->channel);
    if (channel == NULL || channel->closing || replica->is_closing) {
        return;
    }
    if (may_replicate(r->conn, channel)) {
        replicate(r, now_ns, replica, channel);
    } else {
        r->counters.paused++;
    }
}

/* endpoint.md 30.4, 37.5. */
void ue_replicator_tick(struct ue_replicator *r, uint64_t now_ns) {
    for (uint32_t left = r->count; left > 0; left--) {
        if (!ue_conn_is_ready(r->conn)) {
            r->counters.not_ready++;
            return;
        }
        struct ue_replica *replica = pop_first(r);
        update_replica(r, now_ns, replica);
        push_last(r, replica);
    }
}

/* ---- calls ---- */

static uint32_t held_of(const struct ue_replica *replica, uint16_t function) {
    uint32_t count = 0;
    for (const struct ue_held_call *held = replica->held; held != NULL; held = held->next) {
        count += held->function == function;
    }
    return count;
}

/* endpoint.md 37.6. */
static enum ue_status queue_call(struct ue_replicator *r, struct ue_replica *replica,
                                 const struct ue_replicated_call *call) {
    size_t bits = call->parameters.bits;
    if (bits > UE_HELD_CALL_BITS_MAX) {
        return UE_E_LENGTH;
    }
    struct ue_held_call *held = NULL;
    if (replica->held_count < UE_CALLS_HELD_MAX && held_of(replica, call->function) < UE_CALLS_PER_UPDATE) {
        held = ue_share_alloc(r->share, sizeof *held + ue_bits_bytes(bits));
    }
    if (held == NULL) {
        r->counters.calls_dropped++;
        return UE_E_FULL;
    }
    *held = (struct ue_held_call){.function = call->function, .bits = (uint16_t)bits};
    ue_view_copy(call->parameters, held->parameters);
    struct ue_held_call **end = &replica->held;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = held;
    replica->held_count++;
    return UE_OK;
}

static enum ue_status send_call(struct ue_replicator *r, uint64_t now_ns, const struct ue_replica *replica,
                                const struct ue_replicated_call *call) {
    uint8_t bytes[(UE_REPLICATION_CALL_BITS + UE_CALL_BITS_MAX + 7) / 8];
    struct ue_replication_writer w = {.bytes = bytes};
    ue_replication_write_call(&w, call->function, call->parameters);
    const struct ue_outgoing bunch = {
        .channel = replica->channel, .reliable = call->reliable, .merge = true, .data = {bytes, 0, w.bits}};
    return ue_conn_send(r->conn, now_ns, &bunch, NULL);
}

/* A reliable call that finds the channel full ends the connection (endpoint.md 22.2, 30.4, 37.6). */
static enum ue_status refuse_call(struct ue_replicator *r, uint64_t now_ns, const struct ue_replicated_call *call) {
    if (call->reliable) {
        ue_conn_close(r->conn, now_ns, UE_CLOSE_RPC_RELIABLE_BUFFER_OVERFLOW);
    } else {
        r->counters.calls_dropped++;
    }
    return UE_E_FULL;
}

/* endpoint.md 37.6. */
enum ue_status ue_replica_call(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica,
                               const struct ue_replicated_call *call) {
    const struct ue_channel *channel = ue_channel_find(&r->conn->channels, replica->channel);
    if (call->parameters.bits > UE_CALL_BITS_MAX) {
        return UE_E_LENGTH;
    }
    if (channel == NULL || channel->closing || replica->is_closing || !replica->is_opened) {
        return UE_E_CONFLICT;
    }
    if (!call->reliable && call->multicast) {
        return queue_call(r, replica, call);
    }
    bool is_full = channel->out_count + 1 >= r->conn->common.limits.reliable;
    if (is_full || (!call->reliable && !ue_conn_is_ready(r->conn))) {
        return refuse_call(r, now_ns, call);
    }
    enum ue_status status = send_call(r, now_ns, replica, call);
    r->counters.calls_sent += status == UE_OK;
    return status;
}

/* ---- the receiver's copy ---- */

void ue_mirror_init(struct ue_mirror *m, struct ue_share *share) {
    *m = (struct ue_mirror){.share = share};
}

void ue_mirror_free(struct ue_mirror *m) {
    for (size_t i = 0; i < UE_HANDLES_MAX; i++) {
        ue_share_free_block(m->share, m->values[i].bytes);
    }
    ue_mirror_init(m, m->share);
}

static enum ue_status set_value(struct ue_mirror *m, const struct ue_replication_block *item) {
    struct ue_mirror_value *v = &m->values[item->number - 1];
    size_t size_bytes = ue_bits_bytes(item->value.bits);
    uint8_t *bytes = ue_share_resize(m->share, v->bytes, size_bytes != 0 ? size_bytes : 1);
    if (bytes == NULL) {
        return UE_E_FULL;
    }
    ue_view_copy(item->value, bytes);
    *v = (struct ue_mirror_value){bytes, (uint32_t)item->value.bits};
    m->properties++;
    return UE_OK;
}

static enum ue_status apply_block(struct ue_mirror *m, const struct ue_replication_block *item) {
    switch (item->kind) {
    case UE_REPLICATION_OBJECT:
        if (m->has_id && m->id != item->number) {
            return UE_E_CONFLICT;
        }
        m->has_id = true;
        m->id = item->number;
        return UE_OK;
    case UE_REPLICATION_PROPERTY: return set_value(m, item);
    default: m->calls++; return UE_OK;
    }
}

enum ue_status ue_mirror_read(struct ue_mirror *m, struct ue_view data) {
    struct ue_replication_reader reader = {.data = data};
    struct ue_replication_block item;
    while (ue_replication_read(&reader, &item)) {
        enum ue_status status = apply_block(m, &item);
        if (status != UE_OK) {
            return status;
        }
    }
    return reader.status;
}

struct ue_view ue_mirror_get(const struct ue_mirror *m, uint32_t handle) {
    if (handle < 1 || handle > UE_HANDLES_MAX) {
        return (struct ue_view){0};
    }
    const struct ue_mirror_value *v = &m->values[handle - 1];
    return (struct ue_view){v->bytes, 0, v->bits};
}
