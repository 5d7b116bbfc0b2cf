/* SPDX-License-Identifier: MIT */
/* One actor on one connection, and its objects. */
#include "tools/endpoint/replication/actor_on_connection.h"

#include <string.h>

#include "tools/endpoint/core/connection.h"

void ue_object_replicator_drop_held(struct ue_share *share, struct ue_object_replicator *o) {
    while (o->held != NULL) {
        struct ue_held_call *next = o->held->next;
        ue_share_free_block(share, o->held);
        o->held = next;
    }
    o->held_count = 0;
}

void ue_object_replicator_free(struct ue_share *share, struct ue_object_replicator *o) {
    o->object->watchers--;
    ue_object_replicator_drop_held(share, o);
    ue_share_free_block(share, o);
}

struct ue_object_replicator *ue_replica_add_object(struct ue_replicator *r, struct ue_replica *replica,
                                                   struct ue_replicated_object *object) {
    struct ue_object_replicator *o = ue_share_alloc(&r->map->share, sizeof *o);
    if (o == NULL) {
        return NULL;
    }
    memset(o, 0, sizeof *o);
    o->object = object;
    o->is_actor = object == replica->actor->object;
    o->reliable_seq = UE_NO_RELIABLE;
    object->watchers++;
    struct ue_object_replicator **end = &replica->objects;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = o;
    return o;
}

enum ue_status ue_replica_close(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica,
                                enum ue_channel_close reason) {
    const struct ue_outgoing close = {
        .channel = replica->channel, .reliable = true, .close = true, .close_reason = (uint8_t)reason};
    enum ue_status status = ue_conn_send(r->conn, now_ns, &close, NULL);
    replica->is_closing |= status == UE_OK;
    return status;
}

/* An actor may become dormant when everything that was sent of it is acknowledged (ReadyForDormancy;
   endpoint.md 37.8). */
void ue_replica_become_dormant(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica) {
    const struct ue_channel *channel = ue_channel_find(&r->conn->channels, replica->channel);
    bool is_ready = replica->is_opened && channel->open_acked && channel->out_count == 0;
    for (const struct ue_object_replicator *o = replica->objects; o != NULL; o = o->next) {
        is_ready &= o->sent.count == 0 && o->before_ack == 0 && o->seen == o->object->changes.end && o->held == NULL;
    }
    if (is_ready) {
        replica->becomes_dormant = ue_replica_close(r, now_ns, replica, UE_CHANNEL_DORMANCY) == UE_OK;
    }
}
