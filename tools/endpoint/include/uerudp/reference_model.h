/* SPDX-License-Identifier: MIT */
/* The endpoint in the place of another implementation, of which a capture tells what it received and what it sent: the
   endpoint receives the same, and where it would send it is shown what the other one sent. Where the other one
   acknowledges, numbers, opens or repeats in another way than the endpoint would (endpoint.md 15 to 20), it departs.
   What is a matter of taste is not compared: when packets leave, and which bunches share one. */
#ifndef UERUDP_REFERENCE_MODEL_H
#define UERUDP_REFERENCE_MODEL_H

#include <uerudp/endpoint.h>

enum ue_model_difference_type {
#define X(id, name, text) UE_MODEL_DIFFERS_##id,
#include <uerudp/reference_model.def>
#undef X
    UE_MODEL_DIFFERENCE_COUNT
};

/* As users write it; and a clause that goes on after "the server". */
const char *ue_model_difference_name(enum ue_model_difference_type type);
const char *ue_model_difference_text(enum ue_model_difference_type type);

/* Members that a type does not name are zero; they live during the call. */
struct ue_model_difference {
    enum ue_model_difference_type type;
    bool has_item;                  /* it is about one item of the datagram */
    uint32_t item;                  /* its place */
    const struct ue_packet *packet; /* ACK, HISTORY: the header as the endpoint would write it */
    const struct ue_bunch *bunch;   /* the item as the endpoint would write it; NULL: it would not be there */
    uint32_t channel;               /* NOT_RESENT */
    int64_t reliable_id;            /* CH_SEQ, CONTENT, NOT_RESENT, SPURIOUS: full number of the recorded bunch */
};

struct ue_model_sink {
    void (*depart)(void *user, const struct ue_model_difference *departure);
    /* What was sent answers what was not yet received: gives the shadow the next packet that the other implementation
       took (nacked_id >= 0: one that reports this own packet as not delivered). False: there is none. */
    bool (*hasten)(void *user, int64_t nacked_id);
    void *user;
};

/* Where a conversation is joined. */
struct ue_model_start {
    const struct ue_context *context; /* in which the peer's datagrams are written */
    struct ue_prefix prefix;          /* of any packet: the ids */
    int64_t in, out;                  /* full ids of the first packets of the peer and of the own side */
    bool opens_freely;                /* the peer may open channels as no engine would */
    bool is_whole;                    /* they are the first of all; else channels are learned as they appear */
};

/* A connection that nothing was done with yet becomes a shadow. */
void ue_model_begin(struct ue_conn *c, const struct ue_model_start *start);

/* A packet of the peer that the other implementation took. Whether an endpoint counts it as delivered. */
bool ue_model_receive(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes);

/* A packet of the peer whose bytes nobody knows, with its verdict. */
void ue_model_receive_unknown(struct ue_conn *c, int64_t packet_id, bool delivered);

/* What the newest packet that was received counts as, whatever the endpoint thinks. */
void ue_model_set_delivered(struct ue_conn *c, int64_t packet_id, bool delivered);

/* An own packet whose acknowledgement may have been taken, or not: whether its bunches must be sent again nobody can
   tell. */
void ue_model_set_ack_uncertain(struct ue_conn *c, int64_t packet_id);

/* The next own packet, whose bytes nobody knows. */
void ue_model_send_unknown(struct ue_conn *c, uint64_t now_ns);

/* The next own packet. What was reported is then taken as right, so that it is reported once. */
void ue_model_compare_sent(struct ue_conn *c, uint64_t now_ns, const struct ue_datagram *sent,
                    const struct ue_model_sink *sink);

/* Full id of the newest packet of the peer with a verdict. */
int64_t ue_model_reported_id(const struct ue_conn *c);

/* A reliable bunch that was reported as not delivered and that has not been sent again. */
struct ue_model_missing_retransmission {
    uint32_t channel;
    int64_t reliable_id;
    int64_t since_id; /* the own packet that it should have been in */
};

/* How late a retransmission may be. An implementation may spread retransmissions over a long time (burst_limit), but
   the losses that were reported first go first. */
struct ue_model_retransmission_limits {
    int64_t order_id;  /* a bunch that was due before this own packet is missed when several bunches that were due later
                          were sent again; */
    int64_t silent_id; /* and one that was due before this packet when nothing was sent again from there on */
};

/* A retransmission that is missed; false: there is none. */
bool ue_model_find_missing_retransmission(const struct ue_conn *c, const struct ue_model_retransmission_limits *patience, struct ue_model_missing_retransmission *debt);

/* The newest own packet whose bytes nobody knows; INT64_MIN: there is none. */
int64_t ue_model_unknown_id(const struct ue_conn *c);

/* Whether the connection was refused memory: then it knows too little for any comparison. */
bool ue_model_is_out_of_memory(const struct ue_conn *c);

/* Copies of reliable bunches; of these, what stays within the rules: sent before a verdict was known (endpoint.md 20.3,
   and options of endpoint.md 7), sent later than at once (the option burst_limit). */
struct ue_model_retransmissions {
    uint64_t copies, early, late;
};
const struct ue_model_retransmissions *ue_model_retransmissions(const struct ue_conn *c);

#endif
