/* SPDX-License-Identifier: MIT */
/* Private to the replicator: one actor on one connection, and its objects. */
#ifndef UERUDP_TOOLS_ENDPOINT_REPLICATION_ACTOR_ON_CONNECTION_H
#define UERUDP_TOOLS_ENDPOINT_REPLICATION_ACTOR_ON_CONNECTION_H

#include "tools/endpoint/replication/replication.h"

/* NULL: no memory. */
struct ue_object_replicator *ue_replica_add_object(struct ue_replicator *r, struct ue_replica *replica,
                                                   struct ue_replicated_object *object);
void ue_object_replicator_drop_held(struct ue_share *share, struct ue_object_replicator *o);
void ue_object_replicator_free(struct ue_share *share, struct ue_object_replicator *o);

enum ue_status ue_replica_close(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica,
                                enum ue_channel_close reason);
void ue_replica_become_dormant(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica);

#endif
