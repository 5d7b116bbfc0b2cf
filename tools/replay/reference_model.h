/* SPDX-License-Identifier: MIT */
/* The reference model: a connection in the place of another implementation whose traffic was captured. It receives what
   the implementation received, and is shown what the implementation sent where it would send itself. It reports a
   difference where the implementation acknowledges, numbers, opens or retransmits in another way (endpoint.md 7 to 29).
   It does not compare what is free: when packets leave, and which bunches share one. */
#ifndef UERUDP_TOOLS_REPLAY_REFERENCE_MODEL_H
#define UERUDP_TOOLS_REPLAY_REFERENCE_MODEL_H

#include <uerudp/endpoint.h>

enum reference_model_difference_type {
#define X(id, name, text) REFERENCE_MODEL_DIFFERS_##id,
#include "tools/replay/reference_model.def"
#undef X
    REFERENCE_MODEL_DIFFERENCE_COUNT
};

/* The name in options and JSON; and the text, a clause that continues "the server". Both are static. */
const char *reference_model_difference_name(enum reference_model_difference_type type);
const char *reference_model_difference_text(enum reference_model_difference_type type);

/* Members that a type does not name are zero. Pointers are valid during the call. */
struct reference_model_difference {
    enum reference_model_difference_type type;
    bool has_item;                  /* about one item of the datagram */
    uint32_t item;                  /* its index */
    const struct ue_packet *packet; /* ACK, HISTORY: the header that the model would write */
    const struct ue_bunch *bunch;   /* the item that the model would write; NULL: unknown */
    uint32_t channel;               /* NOT_RESENT */
    int64_t reliable_id;            /* full number of the recorded bunch, if it is reliable */
    bool is_certain;                /* the packet itself differs, whatever others are */
};

/* What later bunches of a channel show about a number that a bunch does not have. */
enum reference_model_number {
    REFERENCE_MODEL_NUMBER_UNKNOWN,
    REFERENCE_MODEL_NUMBER_FOLLOWS, /* a later bunch has it */
    REFERENCE_MODEL_NUMBER_SKIPPED  /* a later bunch has the number after it, and none has this one */
};

struct reference_model_sink {
    void (*report)(void *user, const struct reference_model_difference *difference);
    /* The header that was sent reports packets not yet received: passes the model the next packet that the
       implementation received (nacked_id >= 0: one that reports this own packet as not delivered). False: there is
       none. */
    bool (*receive_next)(void *user, int64_t nacked_id);
    /* Whether the implementation may have received packets that are not known. */
    bool (*may_know_more)(void *user);
    enum reference_model_number (*find_number)(void *user, const struct ue_bunch *bunch, uint32_t ch_seq);
    void *user;
};

/* Where the comparison starts. */
struct reference_model_start {
    const struct ue_context *context; /* in which the peer's datagrams are encoded */
    struct ue_prefix prefix;          /* of any packet, for its ids */
    int64_t in, out;                  /* full ids of the first packets of the peer and of the own side */
    bool opens_freely;                /* the peer may open channels that no engine would */
    bool is_whole; /* they are the first of the connection; else channels are created as they appear */
};

struct reference_model;

/* NULL: the endpoint does not support these settings. */
struct reference_model *reference_model_new(const struct ue_conn_config *config,
                                            const struct reference_model_start *start);
void reference_model_free(struct reference_model *m); /* NULL is ignored */

/* The connection that receives what the implementation received, for its events and its state. */
struct ue_conn *reference_model_conn(const struct reference_model *m);

/* A packet of the peer that the implementation received. Returns whether the model counts it as delivered. */
bool reference_model_receive(struct reference_model *m, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes);

/* Moves to a packet of the peer whose bytes are unknown, and reports it as delivered or not. */
void reference_model_report_packet(struct reference_model *m, int64_t packet_id, bool delivered);

/* Sets whether the newest received packet counts as delivered, whatever the model computed. */
void reference_model_set_delivered(struct reference_model *m, int64_t packet_id, bool delivered);

/* Whether the acknowledgement of an own packet was received is unknown, so its bunches need not be sent again and may
   be. */
void reference_model_set_ack_uncertain(struct reference_model *m, int64_t packet_id);

/* The next own packet; its bytes are unknown. */
void reference_model_send_unknown(struct reference_model *m, uint64_t now_ns);

/* The next own packet. What differs is reported and then accepted, so that it is reported once. */
void reference_model_compare_sent(struct reference_model *m, uint64_t now_ns, const struct ue_datagram *sent,
                                  const struct reference_model_sink *sink);

/* Full id of the newest packet of the peer that was reported. */
int64_t reference_model_reported_id(const struct reference_model *m);

/* A reliable bunch that was reported as not delivered and was not sent again. */
struct reference_model_missing_retransmission {
    uint32_t channel;
    int64_t reliable_id;
    int64_t since_id; /* the own packet that should have carried it */
};

/* How late a retransmission may be. An implementation may spread retransmissions over a long time (burst_limit), but
   the losses that were reported first are repaired first. */
struct reference_model_retransmission_limits {
    int64_t order_id;  /* a bunch due before this own packet is missing when several bunches that were due later were
                          sent again; */
    int64_t silent_id; /* and one due before this packet when no bunch was sent again from there on */
};

/* Finds a missing retransmission. False: there is none. */
bool reference_model_find_missing_retransmission(const struct reference_model *m,
                                                 const struct reference_model_retransmission_limits *limits,
                                                 struct reference_model_missing_retransmission *missing);

/* The newest own packet whose bytes are unknown; INT64_MIN: none. */
int64_t reference_model_unknown_id(const struct reference_model *m);

/* Whether an allocation failed: the model then knows too little for any comparison. */
bool reference_model_is_out_of_memory(const struct reference_model *m);

/* Copies of reliable bunches, and of these the permitted ones: sent before the packet was reported (endpoint.md 21,
   and options of endpoint.md 39), and sent later than at once (the option burst_limit). */
struct reference_model_retransmissions {
    uint64_t copies, early, late;
};
const struct reference_model_retransmissions *reference_model_get_retransmissions(const struct reference_model *m);

#endif
