/* SPDX-License-Identifier: MIT */
/* Shared by the sources of the reference model (reference_model.h). */
#ifndef UERUDP_TOOLS_REPLAY_REFERENCE_MODEL_STATE_H
#define UERUDP_TOOLS_REPLAY_REFERENCE_MODEL_STATE_H

#include <glib.h>
#include "tools/endpoint/core/connection.h"
#include "tools/replay/reference_model.h"

#define REFERENCE_MODEL_RETRANSMISSIONS 16

/* A connection that receives, and what the model knows beside it. The connection sends nothing: its queue of datagrams
   has no space, so retransmissions stay in the queue of its channels, from which the model removes them. */
struct reference_model {
    struct ue_conn *conn;
    bool learns;         /* channels are created as they appear */
    int64_t first_in;    /* the peer's first packet; of those before nothing is known */
    int64_t reported_id; /* newest packet of the peer that an own header reported */
    int64_t flushed;     /* ... the newest that was reported when a history was cleared; INT64_MIN: none */
    uint32_t overflows;  /* of the history at that time */
    int64_t unknown_out; /* the newest own packet whose bytes are unknown */
    struct reference_model_retransmissions notes;
    int64_t retransmitted_id; /* the newest own packet with a retransmission that was due */
    int64_t retransmissions[REFERENCE_MODEL_RETRANSMISSIONS]; /* since when the newest of these were due: own packets */
    uint64_t retransmission_count;
    GHashTable *marks;  /* of entries of OutRec: enum reference_model_mark by (channel index, number) */
    guint marks_max;    /* at this number of marks, those of entries that are gone are removed */
    GHashTable *owing;  /* the indices of channels with bunches that must be sent again */
    GHashTable *unseen; /* by channel id: up to this number others may have been used before the capture began */
};

/* Marks of an entry of OutRec, by channel index and number. */
enum reference_model_mark {
    REFERENCE_MODEL_MARK_UNKNOWN = 1, /* its content is unknown */
    REFERENCE_MODEL_MARK_REPEATED = 2 /* copies are in several packets that were not reported yet */
};
/* Whether it has one of these marks. */
bool reference_model_has_mark(const struct reference_model *m, uint32_t index, const struct ue_out_rec *out,
                              unsigned marks);
void reference_model_add_mark(struct reference_model *m, uint32_t index, const struct ue_out_rec *out, unsigned mark);
void reference_model_clear_marks(const struct reference_model *m, uint32_t index, const struct ue_out_rec *out);

/* The entry of OutRec with this number; NULL: none. They are in the order in which they were first seen, which may
   differ from that of their numbers. */
struct ue_out_rec *reference_model_find_out(const struct ue_channel *channel, int32_t ch_seq);

/* A bunch that must be sent again has the negative id of the own packet from which on it is due. */
static inline bool reference_model_is_owed(const struct ue_out_rec *out) {
    return out->packet_id < 0 && !out->acked;
}

#define REFERENCE_MODEL_UNKNOWN_OUT_PACKETS 1024

/* Whether one of the latest own packets has unknown bytes, and so may have used numbers. */
static inline bool reference_model_may_miss_numbers(const struct reference_model *m) {
    return m->unknown_out >= m->conn->sender.out_packet_id - REFERENCE_MODEL_UNKNOWN_OUT_PACKETS;
}

/* Sets from which own packet on the bunches are due that were reported as lost since the last call. */
void reference_model_date_owed(struct reference_model *m);
/* Bunches that are due may be in a packet with unknown bytes: they count as sent. */
void reference_model_clear_owed(struct reference_model *m);
/* A bunch that was due is sent again. */
void reference_model_record_retransmission(struct reference_model *m, const struct ue_out_rec *out);

/* Compares the acknowledgements of the next own header with those of the model; differences go to the sink, and the
   header is then accepted. */
void reference_model_compare_header(struct reference_model *m, const struct ue_packet *packet,
                                    const struct reference_model_sink *sink);

#endif
