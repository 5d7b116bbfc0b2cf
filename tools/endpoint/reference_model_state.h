/* SPDX-License-Identifier: MIT */
/* Shared by the sources of the reference model (reference_model.h). */
#ifndef UERUDP_TOOLS_ENDPOINT_REFERENCE_MODEL_STATE_H
#define UERUDP_TOOLS_ENDPOINT_REFERENCE_MODEL_STATE_H

#include <uerudp/reference_model.h>
#include "tools/endpoint/connection.h"

/* Moves to a packet of the peer and reports it as delivered or not. */
void ue_model_report_packet(struct ue_conn *c, int64_t packet_id, bool delivered);

/* Compares the acknowledgements of the next own header with those of the model; differences go to the sink, and the
   header is then accepted. */
void ue_model_compare_header(struct ue_conn *c, const struct ue_packet *packet, const struct ue_model_sink *sink);

#endif
