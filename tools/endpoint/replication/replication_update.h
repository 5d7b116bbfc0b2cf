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

#endif
