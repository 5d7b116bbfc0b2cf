/* SPDX-License-Identifier: MIT */
/* One side of a conversation against the reference endpoint: what it acknowledges tells which packets of the other side
   it took; the endpoint takes the same, and is shown what the side sent. Own packets are looked at some packets late,
   when the headers behind them confirm what theirs says. */
#ifndef UERUDP_TOOLS_REPLAY_SIDE_CHECK_H
#define UERUDP_TOOLS_REPLAY_SIDE_CHECK_H

#include "tools/replay/difference.h"
#include "tools/replay/pending_packets.h"

#define REPLAY_SIDE_STRAYS 16

struct replay_side {
    unsigned role; /* 0 client, 1 server */
    bool is_checked;
    bool is_over;             /* nothing more is compared: it departed, or its connection was closed */
    uint32_t ignored;         /* bit mask of departures that do not count */
    struct replay_packet_ring kept; /* own packets */
    int64_t offset;           /* of ids here to those that the flow tells */
    int64_t oldest;           /* first of all that were captured; 0: none yet */
    int64_t newest;
    int64_t overtaken;         /* by how many ids at most a packet came late */
    int64_t next;              /* own packets before it were compared */
    int64_t join;              /* the first that is compared */
    int64_t undelivered;       /* newest captured packet of the other side that did not count as delivered */
    bool learns;               /* its endpoint does not know all that it received */
    bool has_spoken;           /* sent a reliable bunch on channel 0 */
    bool begins_elsewhere;     /* a bunch on another channel came before one */
    int64_t acked;             /* newest of the other side that it acknowledged, before that side was seen; 0: none */
    struct ue_context context; /* of its datagrams */
    struct ue_prefix prefix;

    struct replay_side *peer;
    void *region;           /* the memory of its endpoint, so that none takes from another */
    struct ue_conn *shadow; /* NULL: not begun, or nothing more is compared */
    bool has_begun;
    bool is_finished;                   /* its memory is freed */
    struct ue_model_retransmissions notes;       /* of a shadow that is gone */
    unsigned strays;                    /* packets in a row that are too far ahead */
    int64_t stray_ids[REPLAY_SIDE_STRAYS]; /* the newest of all that were: they are not kept */
    uint64_t stray_count;
    uint64_t begin_ns; /* capture time of the first packet, and the endpoint's time */
    uint64_t now_ns;
    uint64_t frames[REPLAY_PACKETS_MAX];   /* of own packets, by id */
    uint64_t plain[REPLAY_PACKETS_MAX];    /* how many own packets before this one repeated nothing, by id */
    uint64_t plain_count;           /* ... and before the next */
    uint64_t times_ns[REPLAY_PACKETS_MAX]; /* when own packets were looked at, by id, on the endpoint's clock */
    struct ue_model_retransmission_limits patience;
    uint64_t packets;   /* compared */
    uint64_t delivered; /* bunches that the endpoint handed over */
    uint64_t departures[UE_MODEL_DIFFERENCE_COUNT];
    struct replay_difference *difference; /* the first that counts; NULL: none */
    uint32_t since_difference;        /* own packets looked at since */
    const char *trouble;              /* why it cannot be compared; NULL: it can */
};

/* Where the sides begin, when a handshake told. */
struct replay_side_start {
    bool is_known;
    struct ue_sequences sequences;
};

void replay_side_free(struct replay_side *side);

/* Frees the memory of a side that is compared no more, and whose packets the other side needs no more. */
void replay_side_finish(struct replay_side *side);

/* Drops what was found of a side, which is then joined in the middle. */
void replay_side_reset(struct replay_side *side);

struct ue_model_retransmissions replay_side_notes(const struct replay_side *side);

/* Whether more can be learned about it. */
bool replay_side_is_active(const struct replay_side *side);

/* Compares what can be compared by now; is_end: nothing more will come. */
void replay_side_compare(struct replay_side *side, const struct replay_side_start *start, bool is_end);

/* Notes that the side departs; context, actual and expected are then filled in by the caller in what is returned. NULL:
   it does not count, or is not the first. */
struct replay_difference *replay_side_add_difference(struct replay_side *side, enum ue_model_difference_type type, uint64_t frame, int64_t id);

#endif
