/* SPDX-License-Identifier: MIT */
/* The recorded session of a captured connection: what both sides sent, without packets, acknowledgements and
   retransmissions. It has the client's login and messages, and for each channel the number of the server's messages.
   Times are nanoseconds since the connection's first datagram. */
#ifndef UERUDP_TOOLS_REPLAY_RECORDED_SESSION_H
#define UERUDP_TOOLS_REPLAY_RECORDED_SESSION_H

#include <uerudp/endpoint.h>
#include <uerudp/message.h>
#include "tools/replay/replay.h"

/* Limits of the bunches, and of the channels. */
#define RECORDED_SESSION_BYTES_MAX (256u << 20)
#define RECORDED_SESSION_CHANNELS_MAX 65536
#define RECORDED_SESSION_REASON_BYTES 64

/* A channel from its open to its close; the first one is Control. One index may have several, one after another. */
struct session_channel {
    uint32_t channel;
    enum ue_channel_kind kind;
    bool by_server;      /* whether the server opened it */
    uint64_t sent[2][2]; /* whole messages [0 client, 1 server][reliable] */
};

/* A whole message of the client. */
struct recorded_session_message {
    uint64_t time_ns;
    uint32_t slot;
    bool reliable, close, has_exports, has_mapped, paused;
    uint8_t close_reason;
    struct ue_view data;
    GArray *exports; /* struct ue_view: fragments of exports, which precede the data */
};

struct recorded_session {
    bool is_begun;
    uint32_t stream;
    struct ue_context context; /* of the client's datagrams */
    uint32_t network_version;  /* of its handshake or Hello */
    uint16_t network_features;
    uint64_t has; /* bit n: the client sent control message n */
    struct ue_message hello, login, beacon_join;
    int32_t net_speed;
    uint64_t welcomed_ns, joined_ns, end_ns;              /* Welcome received, Join sent, the last datagram */
    GArray *channels;                                     /* struct session_channel */
    GArray *messages;                                     /* struct recorded_session_message, in the order of sending */
    uint64_t incomplete;                                  /* messages with missing fragments */
    int closed_by;                                        /* 0 client, 1 server, -1: the capture does not show it */
    char close_reasons[2][RECORDED_SESSION_REASON_BYTES]; /* [side], in its close message; "": none */
    GPtrArray *buffers;                                   /* memory of the views */
};

/* Reads the one connection that the user selects. False, with a message: there is none, more than one, or none with a
   login. Clear it in any case. */
bool recorded_session_read(struct recorded_session *session, struct replay_command *replay);
void recorded_session_clear(struct recorded_session *session);

static inline struct session_channel *recorded_session_channel(const struct recorded_session *session, uint32_t slot) {
    return &g_array_index(session->channels, struct session_channel, slot);
}

static inline bool recorded_session_has(const struct recorded_session *session, enum ue_message_type type) {
    return (session->has >> type & 1) != 0;
}

/* Private to the recorded session: adds a whole message of a side; the session owns the view's bytes. Control
   messages of the client are split: those of the login go to their members, all others to lines. */
void recorded_session_add_message(struct recorded_session *session, unsigned side,
                                  const struct recorded_session_message *whole);

#endif
