/* SPDX-License-Identifier: MIT */
/* Shared by the sources of the reference model (reference_model.h). */
#ifndef UERUDP_TOOLS_REPLAY_REFERENCE_MODEL_STATE_H
#define UERUDP_TOOLS_REPLAY_REFERENCE_MODEL_STATE_H

#include "tools/endpoint/core/connection.h"
#include "tools/replay/reference_model.h"

#define UE_MODEL_RETRANSMISSIONS 16

/* What a reference model knows beside its connection; the user of the connection's hook. */
struct ue_model {
    bool learns;         /* channels are created as they appear */
    int64_t first_in;    /* the peer's first packet; of those before nothing is known */
    int64_t told;        /* newest packet of the peer that an own header reported */
    int64_t flushed;     /* ... the newest that was reported when a history was cleared; INT64_MIN: none */
    uint32_t overflows;  /* of the history at that time */
    int64_t unknown_out; /* the newest own packet whose bytes are unknown */
    struct ue_model_retransmissions notes;
    int64_t retransmitted_id;                          /* the newest own packet with a retransmission that was due */
    int64_t retransmissions[UE_MODEL_RETRANSMISSIONS]; /* since when the newest of these were due: own packets */
    uint64_t retransmission_count;
};

static inline struct ue_model *ue_model_of(const struct ue_conn *c) {
    return c->hook_user;
}

/* Moves to a packet of the peer and reports it as delivered or not. */
void ue_model_report_packet(struct ue_conn *c, int64_t packet_id, bool delivered);

/* Compares the acknowledgements of the next own header with those of the model; differences go to the sink, and the
   header is then accepted. */
void ue_model_compare_header(struct ue_conn *c, const struct ue_packet *packet, const struct ue_model_sink *sink);

#endif
