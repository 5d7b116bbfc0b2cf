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
#define SESSION_TRANSCRIPT_BYTES_MAX (256u << 20)
#define SESSION_TRANSCRIPT_CHANNELS_MAX 65536
#define SESSION_TRANSCRIPT_REASON_BYTES 64

/* A channel from its opening to its close; the first one is Control. An index may have several, one after another. */
struct session_channel {
    uint32_t channel;
    enum ue_channel_kind kind;
    bool by_server;      /* who opened it */
    uint64_t said[2][2]; /* whole messages by [0 the client, 1 the server], [reliable] */
};

/* A message of the client, put together from its parts. */
struct session_transcript_message {
    uint64_t time_ns;
    uint32_t life;
    bool reliable, close, has_exports, has_mapped, paused;
    uint8_t close_reason;
    struct ue_view data;
    GArray *exports; /* struct ue_view: parts of their own in front of the data */
};

struct session_transcript {
    bool is_begun;
    uint32_t stream;
    struct ue_context context; /* of the client's datagrams */
    uint32_t network_version;  /* of its handshake or Hello */
    uint16_t network_features;
    uint64_t has; /* bit n: the client sent control message n */
    struct ue_message hello, login, beacon_join;
    int32_t net_speed;
    uint64_t welcomed_ns, joined_ns, end_ns;     /* Welcome came, Join left, the last datagram */
    GArray *lives;                               /* struct session_channel */
    GArray *lines;                               /* struct session_transcript_message, in the order in which they leave */
    uint64_t incomplete;                         /* messages of which parts are missing */
    int closed_by;                               /* 0 the client, 1 the server, -1: the capture does not show it */
    char close_reasons[2][SESSION_TRANSCRIPT_REASON_BYTES]; /* by side, what it said; "" nothing */
    GPtrArray *buffers;                          /* what views point into */
};

/* Reads the one connection that the user selects. False, with a message, when there is none, or more, or no login in
   it. Clear it in any case. */
bool session_transcript_read(struct session_transcript *tale, struct replay_command *replay);
void session_transcript_clear(struct session_transcript *tale);

static inline struct session_channel *session_transcript_channel(const struct session_transcript *tale, uint32_t life) {
    return &g_array_index(tale->lives, struct session_channel, life);
}

static inline bool session_transcript_has(const struct session_transcript *tale, enum ue_message_type type) {
    return (tale->has >> type & 1) != 0;
}

/* Private to the tale: a whole message of a side, its parts put together; the view's bytes are the tale's. Control
   messages of the client are taken apart: what belongs to the login becomes part of the tale, the rest lines. */
void session_transcript_add_message(struct session_transcript *tale, unsigned side, const struct session_transcript_message *whole);

#endif
