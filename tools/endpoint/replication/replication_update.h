/* SPDX-License-Identifier: MIT */
/* Private to the replicator: what it sends. */
#ifndef UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATION_UPDATE_H
#define UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATION_UPDATE_H

#include "tools/endpoint/replication/replication.h"
#include "tools/endpoint/replication/replication_content.h"

/* Sends a message, after exports of the objects in it that the peer may not know. range may be NULL. */
enum ue_status ue_replicator_send(struct ue_replicator *r, uint64_t now_ns, const struct ue_outgoing *bunch,
                                  const struct ue_content_writer *w, struct ue_packet_range *range);

/* Sends what is new of an actor, or starts its dormancy. */
void ue_replica_update(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica);

/* replication.c */
void ue_replica_become_dormant(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica);
/* NULL: no memory. */
struct ue_object_replicator *ue_replica_add_object(struct ue_replicator *r, struct ue_replica *replica,
                                                   struct ue_replicated_object *object);
void ue_object_replicator_drop_held(struct ue_share *share, struct ue_object_replicator *o);
void ue_object_replicator_free(struct ue_share *share, struct ue_object_replicator *o);

#endif
