/* SPDX-License-Identifier: MIT */
/* Updates and calls: what a replicator sends (endpoint.md 37). */
#include "tools/endpoint/replication/actor_on_connection.h"
#include "tools/endpoint/replication/replication_update.h"

#include <string.h>

#include "tools/endpoint/core/connection.h"
#include "tools/endpoint/replication/package_map_exports.h"

static bool is_reliable_acked(const struct ue_object_replicator *o, const struct ue_channel *channel) {
    return channel->out_first == NULL || channel->out_first->ch_seq > o->reliable_seq;
}

/* The channel on which a replica can send; NULL: dormant, or its channel closes. */
static struct ue_channel *sending_channel(const struct ue_replicator *r, const struct ue_replica *replica) {
    struct ue_channel *channel = ue_channel_find(&r->conn->channels, replica->channel);
    return channel != NULL && !channel->closing && !replica->is_closing ? channel : NULL;
}

static struct ue_object_replicator *find_object(const struct ue_replica *replica,
                                                const struct ue_replicated_object *object) {
    struct ue_object_replicator *o = replica->objects;
    while (o != NULL && o->object != object) {
        o = o->next;
    }
    return o;
}

/* Whether the next message creates the sub-object at the client. */
static bool is_to_create(const struct ue_object_replicator *o) {
    return !o->is_created && o->object->class_guid != 0;
}

/* What is new for this connection; and once the newest reliable bunch of the object is acknowledged, all that was sent
   unreliably since: a retransmission may have overwritten it with older values (endpoint.md 37.3). */
static uint64_t new_handles(struct ue_object_replicator *o, const struct ue_channel *channel) {
    uint64_t handles = ue_changes_since(&o->object->changes, &o->seen);
    if (o->reliable_seq != UE_NO_RELIABLE && is_reliable_acked(o, channel)) {
        handles |= o->before_ack;
        o->before_ack = 0;
        o->reliable_seq = UE_NO_RELIABLE;
    }
    return handles;
}

/* Adds what the actor has that the replica does not. */
static bool add_objects(struct ue_replicator *r, struct ue_replica *replica) {
    for (struct ue_replicated_object *object = replica->actor->object; object != NULL; object = object->next) {
        if (!object->is_removed && find_object(replica, object) == NULL &&
            ue_replica_add_object(r, replica, object) == NULL) {
            return false;
        }
    }
    return true;
}

/* What an update contains. */
struct update_plan {
    bool is_needed;
    bool is_reliable; /* it opens the channel, or creates or deletes a sub-object */
};

static struct update_plan plan_update(struct ue_replicator *r, struct ue_replica *replica,
                                      const struct ue_channel *channel) {
    struct update_plan plan = {!replica->is_opened, !replica->is_opened};
    for (struct ue_object_replicator *o = replica->objects; o != NULL; o = o->next) {
        o->planned = ue_sent_begin(&o->sent, o->object->is_removed ? 0 : new_handles(o, channel), r->out_ack);
        bool changes_existence = o->object->is_removed || is_to_create(o);
        plan.is_reliable |= changes_existence;
        plan.is_needed |= changes_existence || o->planned != 0 || o->held != NULL;
    }
    return plan;
}

/* The ids that a client must load before it processes the message. */
static void write_mapped(struct ue_content_writer *w, const struct ue_replica *replica) {
    uint64_t ids[UE_REFERENCES_MAX];
    uint16_t count = 0;
    if (replica->actor->place.archetype != 0 && !replica->is_opened) {
        ids[count++] = replica->actor->place.archetype;
    }
    for (const struct ue_object_replicator *o = replica->objects; o != NULL; o = o->next) {
        if (!o->is_actor && is_to_create(o) && count < UE_REFERENCES_MAX) {
            ids[count++] = o->object->class_guid;
        }
    }
    if (count != 0) {
        ue_content_write_mapped(w, ids, count);
    }
}

/* The values of now, whatever they were when they changed. */
static void write_object(struct ue_replicator *r, struct ue_content_writer *w, const struct ue_object_replicator *o) {
    struct ue_content_writer payload;
    bool is_new = is_to_create(o);
    if (o->object->is_removed) {
        ue_content_write_deletion(w, o->object->guid);
        return;
    }
    if (o->planned == 0 && o->held == NULL && !is_new) {
        return;
    }
    ue_content_writer_init(&payload, &r->map->share, &r->map->context);
    bool has_properties = o->planned != 0 || is_new;
    if (has_properties) {
        ue_content_write_properties(&payload, o->object, o->planned);
    }
    for (const struct ue_held_call *call = o->held; call != NULL; call = call->next) {
        ue_content_write_bits(&payload, (struct ue_view){call->payload, 0, call->bits});
    }
    const struct ue_content_target target = ue_content_target_of(o->object, o->is_actor);
    ue_content_write_block(w, &target, has_properties, &payload);
    ue_content_writer_free(&payload);
}

static enum ue_status send_update(struct ue_replicator *r, uint64_t now_ns, const struct ue_replica *replica,
                                  bool is_reliable, struct ue_packet_range *range) {
    struct ue_content_writer w;
    ue_content_writer_init(&w, &r->map->share, &r->map->context);
    write_mapped(&w, replica);
    struct ue_outgoing bunch = {
        .channel = replica->channel, .reliable = is_reliable, .merge = !is_reliable, .has_mapped = w.bits != 0};
    if (!replica->is_opened) {
        const struct ue_actor_place *place = &replica->actor->place;
        ue_content_write_spawn(&w, replica->actor->object, place->archetype != 0 ? place : NULL);
    }
    for (const struct ue_object_replicator *o = replica->objects; o != NULL; o = o->next) {
        write_object(r, &w, o);
    }
    enum ue_status status = w.status == UE_OK ? ue_replicator_send(r, now_ns, &bunch, &w, range) : w.status;
    ue_content_writer_free(&w);
    return status;
}

/* reliable_seq: UE_NO_RELIABLE where the bunch was unreliable. */
static void record_sent(struct ue_replicator *r, struct ue_replica *replica, struct ue_object_replicator *o,
                        struct ue_packet_range range, int64_t reliable_seq) {
    if (o->planned != 0) {
        ue_sent_end(&o->sent, range);
    }
    bool precedes_others = o->planned != 0 || !o->is_created || !replica->is_opened;
    if (reliable_seq != UE_NO_RELIABLE && precedes_others) {
        o->reliable_seq = reliable_seq;
    } else if (o->reliable_seq != UE_NO_RELIABLE) {
        o->before_ack |= o->planned;
    }
    o->is_created = true;
    r->counters.calls_sent += o->held_count;
    if (r->watch.updated != NULL) {
        r->watch.updated(r->watch.user, replica, o, range);
    }
    ue_object_replicator_drop_held(&r->map->share, o);
}

static void remove_deleted(struct ue_replicator *r, struct ue_replica *replica) {
    for (struct ue_object_replicator **at = &replica->objects; *at != NULL;) {
        struct ue_object_replicator *o = *at;
        if (o->object->is_removed) {
            *at = o->next;
            ue_object_replicator_free(&r->map->share, o);
        } else {
            at = &o->next;
        }
    }
}

static void replicate(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica,
                      const struct ue_channel *channel) {
    const struct ue_channel_entry *entry = ue_channel_entry_find(&r->conn->channels, replica->channel);
    struct ue_packet_range range;
    if (!add_objects(r, replica)) {
        return;
    }
    const struct update_plan plan = plan_update(r, replica, channel);
    if (!plan.is_needed) {
        return;
    }
    int32_t before = entry->out_reliable;
    bool is_sent = send_update(r, now_ns, replica, plan.is_reliable, &range) == UE_OK;
    int64_t reliable_seq = entry->out_reliable != before ? entry->out_reliable : UE_NO_RELIABLE;
    for (struct ue_object_replicator *o = replica->objects; o != NULL; o = o->next) {
        if (is_sent) {
            record_sent(r, replica, o, range, reliable_seq);
        } else if (o->planned != 0) {
            ue_sent_fail(&o->sent);
        }
    }
    if (is_sent) {
        replica->is_opened = true;
        r->counters.updates++;
        remove_deleted(r, replica);
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

void ue_replica_update(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica) {
    struct ue_channel *channel = sending_channel(r, replica);
    if (channel == NULL) {
        return;
    }
    if (!may_replicate(r->conn, channel)) {
        r->counters.paused++;
        return;
    }
    replicate(r, now_ns, replica, channel);
    if (replica->wants_dormancy) {
        ue_replica_become_dormant(r, now_ns, replica);
    }
}

/* ---- calls ---- */

static uint32_t held_of(const struct ue_object_replicator *o, const struct ue_class_function *function) {
    uint32_t count = 0;
    for (const struct ue_held_call *held = o->held; held != NULL; held = held->next) {
        count += held->function == function;
    }
    return count;
}

/* endpoint.md 37.6. */
static enum ue_status queue_call(struct ue_replicator *r, struct ue_object_replicator *o,
                                 const struct ue_class_function *function, struct ue_view payload) {
    if (payload.bits > UE_HELD_CALL_BITS_MAX) {
        return UE_E_LENGTH;
    }
    struct ue_held_call *held = NULL;
    if (o->held_count < UE_CALLS_HELD_MAX && held_of(o, function) < UE_CALLS_PER_UPDATE) {
        held = ue_share_alloc(&r->map->share, sizeof *held + ue_bits_bytes(payload.bits));
    }
    if (held == NULL) {
        r->counters.calls_dropped++;
        return UE_E_FULL;
    }
    *held = (struct ue_held_call){.function = function, .bits = (uint32_t)payload.bits};
    ue_view_copy(payload, held->payload);
    struct ue_held_call **end = &o->held;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = held;
    o->held_count++;
    return UE_OK;
}

static enum ue_status send_call(struct ue_replicator *r, uint64_t now_ns, const struct ue_replica *replica,
                                const struct ue_object_replicator *o, bool is_reliable,
                                const struct ue_content_writer *payload) {
    struct ue_content_writer w;
    ue_content_writer_init(&w, &r->map->share, &r->map->context);
    const struct ue_content_target target = ue_content_target_of(o->object, o->is_actor);
    ue_content_write_block(&w, &target, false, payload);
    const struct ue_outgoing bunch = {.channel = replica->channel, .reliable = is_reliable, .merge = true};
    enum ue_status status = w.status == UE_OK ? ue_replicator_send(r, now_ns, &bunch, &w, NULL) : w.status;
    ue_content_writer_free(&w);
    r->counters.calls_sent += status == UE_OK;
    return status;
}

/* A reliable call that finds the channel full ends the connection (endpoint.md 22.2, 30.4, 37.6). */
static enum ue_status refuse_call(struct ue_replicator *r, uint64_t now_ns, bool is_reliable) {
    if (is_reliable) {
        ue_conn_close(r->conn, now_ns, UE_CLOSE_RPC_RELIABLE_BUFFER_OVERFLOW);
    } else {
        r->counters.calls_dropped++;
    }
    return UE_E_FULL;
}

static enum ue_status call_with(struct ue_replicator *r, uint64_t now_ns, const struct ue_replica *replica,
                                struct ue_object_replicator *o, const struct ue_class_function *function,
                                const struct ue_content_writer *payload) {
    const struct ue_channel *channel = ue_channel_find(&r->conn->channels, replica->channel);
    bool is_reliable = (function->flags & UE_FUNCTION_RELIABLE) != 0;
    if (payload->status != UE_OK || payload->bits > UE_CALL_BITS_MAX) {
        return payload->status != UE_OK ? payload->status : UE_E_LENGTH;
    }
    if (!is_reliable && (function->flags & UE_FUNCTION_MULTICAST) != 0) {
        return queue_call(r, o, function, ue_content_writer_view(payload));
    }
    bool is_full = channel->out_count + 1 >= r->conn->common.limits.reliable;
    if (is_full || (!is_reliable && !ue_conn_is_ready(r->conn))) {
        return refuse_call(r, now_ns, is_reliable);
    }
    return send_call(r, now_ns, replica, o, is_reliable, payload);
}

/* endpoint.md 37.6. */
enum ue_status ue_replica_call(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica,
                               const struct ue_replicated_call *call) {
    const struct ue_replicated_object *target = call->target != NULL ? call->target : replica->actor->object;
    struct ue_object_replicator *o = find_object(replica, target);
    if (sending_channel(r, replica) == NULL || !replica->is_opened || o == NULL || !o->is_created ||
        ue_class_field_index(&r->map->context, target->layout, call->function) == UINT32_MAX) {
        return UE_E_CONFLICT;
    }
    struct ue_content_writer payload;
    ue_content_writer_init(&payload, &r->map->share, &r->map->context);
    ue_content_write_call(&payload, target->layout, call->function, call->parameters);
    enum ue_status status = call_with(r, now_ns, replica, o, call->function, &payload);
    ue_content_writer_free(&payload);
    return status;
}
