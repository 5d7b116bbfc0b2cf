/* SPDX-License-Identifier: MIT */
/* Replicators: the actors of one connection, from the opening of their channels to the end. */
#include "tools/endpoint/replication/replication.h"

#include <assert.h>
#include <string.h>

#include "tools/endpoint/core/connection.h"
#include "tools/endpoint/replication/actor_on_connection.h"
#include "tools/endpoint/replication/package_map_exports.h"
#include "tools/endpoint/replication/replication_update.h"

void ue_replicator_init(struct ue_replicator *r, struct ue_conn *conn, struct ue_package_map *map) {
    assert(conn->common.config.report_packets);
    *r = (struct ue_replicator){.conn = conn, .map = map, .out_ack = INT64_MIN};
}

/* ---- replicas ---- */

static void free_replica(struct ue_replicator *r, struct ue_replica *replica) {
    while (replica->objects != NULL) {
        struct ue_object_replicator *next = replica->objects->next;
        ue_object_replicator_free(&r->map->share, replica->objects);
        replica->objects = next;
    }
    ue_share_free_block(&r->map->share, replica);
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
    ue_share_free_block(&r->map->share, r->exports);
    r->exports = NULL;
    r->export_count = 0;
}

struct ue_replica *ue_replicator_add(struct ue_replicator *r, struct ue_replicated_actor *actor) {
    struct ue_replica *replica = ue_share_alloc(&r->map->share, sizeof *replica);
    if (replica == NULL) {
        return NULL;
    }
    *replica = (struct ue_replica){.actor = actor};
    r->count++;
    if (ue_replica_add_object(r, replica, actor->object) == NULL ||
        ue_conn_open(r->conn, UE_KIND_ACTOR, -1, &replica->channel) != UE_OK) {
        free_replica(r, replica);
        return NULL;
    }
    push_last(r, replica);
    return replica;
}

struct ue_replica *ue_replicator_find(const struct ue_replicator *r, const struct ue_replicated_actor *actor) {
    struct ue_replica *replica = r->first;
    while (replica != NULL && replica->actor != actor) {
        replica = replica->next;
    }
    return replica;
}

enum ue_status ue_replicator_wake(struct ue_replicator *r, struct ue_replica *replica) {
    if (replica->is_closing) {
        return UE_E_CONFLICT;
    }
    replica->wants_dormancy = false;
    if (replica->channel != UE_NO_CHANNEL) {
        return UE_OK;
    }
    enum ue_status status = ue_conn_open(r->conn, UE_KIND_ACTOR, -1, &replica->channel);
    if (status != UE_OK) {
        replica->channel = UE_NO_CHANNEL;
        return UE_E_FULL;
    }
    replica->is_opened = false;
    return UE_OK;
}

/* ---- ends ---- */

/* A channel that opens and closes at once says that its actor is gone (endpoint.md 37.9). */
static enum ue_status send_notice(struct ue_replicator *r, uint64_t now_ns, const struct ue_replicated_object *object,
                                  uint32_t *channel) {
    enum ue_status status = ue_conn_open(r->conn, UE_KIND_ACTOR, -1, channel);
    if (status != UE_OK) {
        return status;
    }
    struct ue_content_writer w;
    ue_content_writer_init(&w, &r->map->share, &r->map->context);
    ue_content_write_spawn(&w, object, NULL);
    const struct ue_outgoing notice = {
        .channel = *channel, .reliable = true, .close = true, .close_reason = UE_CHANNEL_DESTROYED};
    status = w.status == UE_OK ? ue_replicator_send(r, now_ns, &notice, &w, NULL) : w.status;
    ue_content_writer_free(&w);
    return status;
}

enum ue_status ue_replicator_destroy_static(struct ue_replicator *r, uint64_t now_ns,
                                            const struct ue_replicated_object *actor) {
    uint32_t channel;
    return send_notice(r, now_ns, actor, &channel);
}

enum ue_status ue_replicator_remove(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica,
                                    enum ue_channel_close reason) {
    if (replica->is_closing) {
        return UE_E_CONFLICT;
    }
    if (replica->channel == UE_NO_CHANNEL) {
        enum ue_status status = send_notice(r, now_ns, replica->actor->object, &replica->channel);
        replica->is_closing |= status == UE_OK;
        return status;
    }
    return ue_replica_close(r, now_ns, replica, reason);
}

/* ---- events ---- */

static void handle_report(struct ue_replicator *r, int64_t packet_id, bool delivered) {
    ue_package_map_exports_handle_report(r, packet_id, delivered);
    if (delivered) {
        r->out_ack = packet_id;
        return;
    }
    for (struct ue_replica *replica = r->first; replica != NULL; replica = replica->next) {
        for (struct ue_object_replicator *o = replica->objects; o != NULL; o = o->next) {
            r->counters.naks += ue_sent_nak(&o->sent, packet_id);
        }
    }
}

/* A dormant actor keeps its history. */
static void stay_dormant(struct ue_replica *replica) {
    replica->channel = UE_NO_CHANNEL;
    replica->is_closing = replica->is_opened = replica->wants_dormancy = replica->becomes_dormant = false;
    for (struct ue_object_replicator *o = replica->objects; o != NULL; o = o->next) {
        o->reliable_seq = UE_NO_RELIABLE;
    }
}

/* The index may have a new channel already. */
static bool is_gone(const struct ue_replicator *r, const struct ue_replica *replica) {
    return replica->is_closing || ue_channel_find(&r->conn->channels, replica->channel) == NULL;
}

static void handle_closed(struct ue_replicator *r, uint32_t channel) {
    for (uint32_t left = r->count; left > 0; left--) {
        struct ue_replica *replica = pop_first(r);
        bool is_closed = replica->channel == channel && is_gone(r, replica);
        if (is_closed && replica->becomes_dormant) {
            stay_dormant(replica);
        }
        if (is_closed && replica->channel != UE_NO_CHANNEL) {
            free_replica(r, replica);
        } else {
            push_last(r, replica);
        }
    }
}

void ue_replicator_event(struct ue_replicator *r, const struct ue_event *event) {
    switch (event->type) {
    case UE_EVENT_PACKET: handle_report(r, event->packet_id, event->delivered); break;
    case UE_EVENT_CHANNEL_CLOSED: handle_closed(r, event->channel); break;
    default: break;
    }
}

static const struct ue_replicated_object *target_of(const struct ue_replica *replica, const struct ue_block *block) {
    const struct ue_object_replicator *o = replica->objects;
    while (o != NULL && !(block->is_actor ? o->is_actor : o->object->guid == block->object.links[0].guid.number)) {
        o = o->next;
    }
    return o != NULL ? o->object : NULL;
}

static enum ue_status read_block(const struct ue_replica *replica, const struct ue_context *x,
                                 const struct ue_event *bunch, size_t *bit, const struct ue_call_handler *handler) {
    struct ue_block block;
    struct ue_fault fault;
    if (ue_block_decode(x, bunch->data, bit, &block, &fault) != UE_OK) {
        return fault.status;
    }
    const struct ue_replicated_object *target = target_of(replica, &block);
    if (block.has_rep_layout || !block.has_payload) {
        return UE_E_TYPE;
    }
    if (target == NULL) {
        return UE_OK; /* a sub-object that is gone */
    }
    const struct ue_received_call call = {
        .channel = bunch->channel, .guid = target->guid, .layout = target->layout, .reliable = bunch->reliable};
    return ue_received_calls_read(x, block.payload, 0, &call, handler);
}

enum ue_status ue_replicator_read(struct ue_replicator *r, const struct ue_event *bunch,
                                  const struct ue_call_handler *handler) {
    struct ue_context incoming = r->map->context;
    const struct ue_replica *replica = r->first;
    enum ue_status status = UE_OK;
    incoming.direction = UE_CLIENT_TO_SERVER;
    while (replica != NULL && replica->channel != bunch->channel) {
        replica = replica->next;
    }
    for (size_t bit = 0; replica != NULL && status == UE_OK && bit < bunch->data.bits;) {
        status = read_block(replica, &incoming, bunch, &bit, handler);
    }
    return status;
}

/* endpoint.md 30.4, 37.5. */
void ue_replicator_tick(struct ue_replicator *r, uint64_t now_ns) {
    for (uint32_t left = r->count; left > 0; left--) {
        if (!ue_conn_is_ready(r->conn)) {
            r->counters.not_ready++;
            return;
        }
        struct ue_replica *replica = pop_first(r);
        ue_replica_update(r, now_ns, replica);
        push_last(r, replica);
    }
}
