/* SPDX-License-Identifier: MIT */
/* Private to the replicator: exports of named objects to one connection, until it is known to have them
   (NetGUIDAckStatus; endpoint.md 37.7). */
#ifndef UERUDP_TOOLS_ENDPOINT_REPLICATION_PACKAGE_MAP_EXPORTS_H
#define UERUDP_TOOLS_ENDPOINT_REPLICATION_PACKAGE_MAP_EXPORTS_H

#include "tools/endpoint/replication/replication.h"
#include "tools/endpoint/replication/replication_content.h"

/* Sends a message, after exports of the objects in it that the peer may not know. range may be NULL. */
enum ue_status ue_replicator_send(struct ue_replicator *r, uint64_t now_ns, const struct ue_outgoing *bunch,
                                  const struct ue_content_writer *w, struct ue_packet_range *range);

/* An own packet was delivered, or not. */
void ue_package_map_exports_handle_report(struct ue_replicator *r, int64_t packet_id, bool delivered);

#endif
