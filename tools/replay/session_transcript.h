/* SPDX-License-Identifier: MIT */
/* What the two ends of a captured connection told each other, without packets, acknowledgements and repetitions: how
   the client logged in, its messages, and how many the server said on each channel. Times are nanoseconds since the
   connection's first datagram. */
#ifndef UERUDP_TOOLS_REPLAY_SESSION_TRANSCRIPT_H
#define UERUDP_TOOLS_REPLAY_SESSION_TRANSCRIPT_H

#include <uerudp/endpoint.h>
#include <uerudp/message.h>
#include "tools/replay/replay.h"

/* More than this in bunches, or so many channels, are refused. */
#define UE_TALE_BYTES_MAX (256u << 20)
#define UE_TALE_LIVES_MAX 65536
#define UE_TALE_REASON_BYTES 64

/* A channel from its opening to its close; the first one is Control. An index may have several, one after another. */
struct ue_life {
    uint32_t channel;
    enum ue_channel_kind kind;
    bool by_server;      /* who opened it */
    uint64_t said[2][2]; /* whole messages by [0 the client, 1 the server], [reliable] */
};

/* A message of the client, put together from its parts. */
struct ue_tale_line {
    uint64_t time_ns;
    uint32_t life;
    bool reliable, close, has_exports, has_mapped, paused;
    uint8_t close_reason;
    struct ue_view data;
    GArray *exports; /* struct ue_view: parts of their own in front of the data */
};

struct ue_tale {
    bool is_begun;
    uint32_t stream;
    struct ue_context context; /* of the client's datagrams */
    uint32_t network_version;  /* of its handshake or Hello */
    uint16_t network_features;
    uint64_t has; /* bit n: the client sent control message n */
    struct ue_message hello, login, beacon_join;
    int32_t net_speed;
    uint64_t welcomed_ns, joined_ns, end_ns;     /* Welcome came, Join left, the last datagram */
    GArray *lives;                               /* struct ue_life */
    GArray *lines;                               /* struct ue_tale_line, in the order in which they leave */
    uint64_t incomplete;                         /* messages of which parts are missing */
    int closed_by;                               /* 0 the client, 1 the server, -1: the capture does not show it */
    char close_reasons[2][UE_TALE_REASON_BYTES]; /* by side, what it said; "" nothing */
    GPtrArray *buffers;                          /* what views point into */
};

/* Reads the one connection that the user selects. False, with a message, when there is none, or more, or no login in
   it. Clear it in any case. */
bool ue_tale_read(struct ue_tale *tale, struct ue_replay *replay);
void ue_tale_clear(struct ue_tale *tale);

static inline struct ue_life *ue_tale_life(const struct ue_tale *tale, uint32_t life) {
    return &g_array_index(tale->lives, struct ue_life, life);
}

static inline bool ue_tale_has(const struct ue_tale *tale, enum ue_message_type type) {
    return (tale->has >> type & 1) != 0;
}

/* Private to the tale: a whole message of a side, its parts put together; the view's bytes are the tale's. Control
   messages of the client are taken apart: what belongs to the login becomes part of the tale, the rest lines. */
void ue_tale_take(struct ue_tale *tale, unsigned side, const struct ue_tale_line *whole);

#endif
