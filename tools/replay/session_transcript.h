/* SPDX-License-Identifier: MIT */
/* The session transcript of a captured connection: what both sides sent, without packets, acknowledgements and
   retransmissions. It has the client's login and messages, and for each channel the number of the server's messages.
   Times are nanoseconds since the connection's first datagram. */
#ifndef UERUDP_TOOLS_REPLAY_SESSION_TRANSCRIPT_H
#define UERUDP_TOOLS_REPLAY_SESSION_TRANSCRIPT_H

#include <uerudp/endpoint.h>
#include <uerudp/message.h>
#include "tools/replay/replay.h"

/* Limits of the bunches, and of the channels. */
#define SESSION_TRANSCRIPT_BYTES_MAX (256u << 20)
#define SESSION_TRANSCRIPT_CHANNELS_MAX 65536
#define SESSION_TRANSCRIPT_REASON_BYTES 64

/* A channel from its open to its close; the first one is Control. One index may have several, one after another. */
struct session_channel {
    uint32_t channel;
    enum ue_channel_kind kind;
    bool by_server;      /* whether the server opened it */
    uint64_t sent[2][2]; /* whole messages [0 client, 1 server][reliable] */
};

/* A whole message of the client. */
struct session_transcript_message {
    uint64_t time_ns;
    uint32_t slot;
    bool reliable, close, has_exports, has_mapped, paused;
    uint8_t close_reason;
    struct ue_view data;
    GArray *exports; /* struct ue_view: fragments of exports, which precede the data */
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
    uint64_t welcomed_ns, joined_ns, end_ns; /* Welcome received, Join sent, the last datagram */
    GArray *channels;                        /* struct session_channel */
    GArray *messages;                        /* struct session_transcript_message, in the order of sending */
    uint64_t incomplete;                     /* messages with missing fragments */
    int closed_by;                           /* 0 client, 1 server, -1: the capture does not show it */
    char close_reasons[2][SESSION_TRANSCRIPT_REASON_BYTES]; /* [side], in its close message; "": none */
    GPtrArray *buffers;                                     /* memory of the views */
};

/* Reads the one connection that the user selects. False, with a message: there is none, more than one, or none with a
   login. Clear it in any case. */
bool session_transcript_read(struct session_transcript *transcript, struct replay_command *replay);
void session_transcript_clear(struct session_transcript *transcript);

static inline struct session_channel *session_transcript_channel(const struct session_transcript *transcript,
                                                                 uint32_t slot) {
    return &g_array_index(transcript->channels, struct session_channel, slot);
}

static inline bool session_transcript_has(const struct session_transcript *transcript, enum ue_message_type type) {
    return (transcript->has >> type & 1) != 0;
}

/* Private to the session transcript: adds a whole message of a side; the transcript owns the view's bytes. Control
   messages of the client are split: those of the login go to their members, all others to lines. */
void session_transcript_add_message(struct session_transcript *transcript, unsigned side,
                                    const struct session_transcript_message *whole);

#endif
