/* SPDX-License-Identifier: MIT */
/* Compares one side of a connection with the reference model. The headers of the side report which packets of the other
   side it received; the model receives the same packets and is shown what the side sent. An own packet is compared some
   packets later, when the headers after it confirm its own. */
#ifndef UERUDP_TOOLS_REPLAY_SIDE_COMPARISON_H
#define UERUDP_TOOLS_REPLAY_SIDE_COMPARISON_H

#include "tools/replay/datagram_difference.h"
#include "tools/replay/packet_placement.h"
#include "tools/replay/pending_packets.h"

#define REPLAY_SIDE_STRAYS 16

struct replay_side {
    unsigned role; /* 0 client, 1 server */
    bool is_checked;
    bool is_over;                      /* nothing more is compared: it differed, or its connection was closed */
    uint32_t ignored;                  /* bit mask of differences that do not count */
    struct replay_packet_ring ring;    /* own packets */
    struct packet_placement placement; /* of own packets in the capture */
    uint64_t undecrypted;              /* own datagrams that do not decrypt */
    uint64_t uncaptured;               /* packets of the other side that it acknowledged and that were not captured */
    int64_t offset;                    /* add it to an id of the capture's tracker to get the id here */
    int64_t oldest;                    /* the first one captured; 0: none yet */
    int64_t newest;
    int64_t overtaken;     /* most ids by which a packet arrived late */
    int64_t next;          /* own packets before it were compared */
    int64_t join;          /* the first one that is compared */
    int64_t ack_floor;     /* the newest acknowledgement of the packets that were compared; 0: none */
    int64_t undelivered;   /* newest captured packet of the other side that did not count as delivered */
    bool lacks_state;      /* its endpoint does not know everything that it received */
    bool has_sent_control; /* has sent a reliable bunch on channel 0 */
    bool starts_elsewhere; /* a bunch on another channel came before that */
    int64_t acked;         /* newest packet of the other side that it acknowledged before any was captured; 0: none */
    struct ue_context context; /* of its datagrams */
    struct ue_prefix prefix;

    struct replay_side *peer;
    struct reference_model *model; /* the reference model; NULL: not started, or nothing more is compared */
    bool has_begun;
    bool is_finished;                                       /* its memory was freed */
    struct reference_model_retransmissions retransmissions; /* of models that were freed */
    unsigned out_of_range_count;                            /* packets in a row that are too far ahead */
    int64_t stray_ids[REPLAY_SIDE_STRAYS];                  /* their newest ids; the packets are not stored */
    uint64_t stray_count;
    uint64_t begin_ns; /* capture time of the first packet, and the endpoint's time */
    uint64_t now_ns;
    uint64_t frames[REPLAY_PACKETS_MAX];   /* of own packets, by id */
    uint64_t reports[REPLAY_PACKETS_MAX];  /* the newest frame of the other side that was received before them, by id */
    uint64_t received_frame;               /* ... and up to now */
    int64_t acked_ids[REPLAY_PACKETS_MAX]; /* legacy: packets of the other side that own packets acknowledged */
    uint64_t plain[REPLAY_PACKETS_MAX];    /* number of own packets without retransmissions before this one, by id */
    uint64_t plain_count;                  /* ... and before the next one */
    uint64_t times_ns[REPLAY_PACKETS_MAX]; /* when own packets were compared, by id, on the endpoint's clock */
    struct reference_model_retransmission_limits limits;
    uint64_t packets;   /* compared */
    uint64_t delivered; /* bunches that the endpoint delivered */
    uint64_t differences[REFERENCE_MODEL_DIFFERENCE_COUNT];
    struct replay_difference *difference; /* the first that counts; NULL: none */
    uint32_t since_difference;            /* own packets compared since */
    const char *obstacle;                 /* why it cannot be compared; NULL: it can */
};

/* The first sequences of both sides, where the handshake shows them. */
struct replay_side_start {
    bool is_known;
    struct ue_sequences sequences;
};

void replay_side_free(struct replay_side *side);

/* Frees the memory of a side that is not compared any more and whose packets the other side no longer needs. */
void replay_side_finish(struct replay_side *side);

/* Drops the state of a side, which then starts in the middle of the connection. */
void replay_side_reset(struct replay_side *side);

struct reference_model_retransmissions replay_side_retransmissions(const struct replay_side *side);

/* The newest own packet, without one whose sequence may be wrong. */
int64_t replay_side_settled_id(const struct replay_side *side);

/* Whether anything can still be compared. */
bool replay_side_is_active(const struct replay_side *side);

/* Compares what can be compared now. is_end: the capture has ended. */
void replay_side_compare(struct replay_side *side, const struct replay_side_start *start, bool is_end);

/* Records a difference; the caller fills context, actual and expected of the result. NULL: it does not count, or is not
   the first. */
struct replay_difference *replay_side_add_difference(struct replay_side *side,
                                                     enum reference_model_difference_type type, uint64_t frame,
                                                     int64_t id);

#endif
