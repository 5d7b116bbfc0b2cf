/* SPDX-License-Identifier: MIT */
/* Differences of a side: what the packet that shows one should be, and what else explains it. */
#ifndef UERUDP_TOOLS_REPLAY_SIDE_DIFFERENCE_H
#define UERUDP_TOOLS_REPLAY_SIDE_DIFFERENCE_H

#include "tools/replay/side_comparison.h"

/* The comparison of one own packet. */
struct side_comparison {
    struct replay_side *side;
    const struct replay_packet *packet;
    struct ue_datagram datagram;
    unsigned early_packets; /* packets that the endpoint received before the header reports them */
};

/* The recorded datagram of a difference. */
void side_difference_set_actual(struct replay_difference *d, const struct replay_packet *packet);

/* The difference that the model reports; user: struct side_comparison. */
void side_difference_on_report(void *user, const struct reference_model_difference *difference);

/* A difference of the own packet. NULL: it does not count, or is not the first. */
struct replay_difference *side_difference_add(const struct side_comparison *l,
                                              enum reference_model_difference_type type);
struct replay_difference *side_difference_add_conditional(const struct side_comparison *l,
                                                          enum reference_model_difference_type type,
                                                          enum replay_condition condition);

/* A retransmission that is missing after this number of own packets without any. */
void side_difference_add_missing_retransmission(struct replay_side *side, uint64_t packets);

/* Describes the wrong acknowledgement of a header; it is exact if the packets around it have the same one. */
void side_difference_describe_ack(struct replay_difference *d, const struct side_comparison *l);

#endif
