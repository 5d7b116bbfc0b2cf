/* SPDX-License-Identifier: MIT */
/* Private to the replicator: what it sends. */
#ifndef UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATION_UPDATE_H
#define UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATION_UPDATE_H

#include "tools/endpoint/replication/replication.h"

/* Sends what is new of an actor, or starts its dormancy. */
void ue_replica_update(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica);

#endif
