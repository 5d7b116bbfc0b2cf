/* SPDX-License-Identifier: MIT */
/* PRIVATE: what the parts of the shadow share (shadow.h). */
#ifndef UE_SHADOW_STATE_H
#define UE_SHADOW_STATE_H

#include "tools/endpoint/connection.h"
#include "tools/endpoint/shadow.h"

/* Moves to a packet of the peer and gives it its verdict. */
void ue_shadow_judge(struct ue_conn *c, int64_t packet_id, bool delivered);

/* Compares what the next own header acknowledges with what the endpoint would; departures go to the sink, and the
   header is then taken as right. */
void ue_shadow_compare_header(struct ue_conn *c, const struct ue_packet *packet, const struct ue_shadow_sink *sink);

#endif
