/* SPDX-License-Identifier: MIT */
/* What the parts of the shadow share (shadow.h). */
#ifndef UERUDP_TOOLS_ENDPOINT_REFERENCE_MODEL_STATE_H
#define UERUDP_TOOLS_ENDPOINT_REFERENCE_MODEL_STATE_H

#include <uerudp/reference_model.h>
#include "tools/endpoint/connection.h"

/* Moves to a packet of the peer and gives it its verdict. */
void ue_model_report_packet(struct ue_conn *c, int64_t packet_id, bool delivered);

/* Compares what the next own header acknowledges with what the endpoint would; departures go to the sink, and the
   header is then taken as right. */
void ue_model_compare_header(struct ue_conn *c, const struct ue_packet *packet, const struct ue_model_sink *sink);

#endif
