/* SPDX-License-Identifier: MIT */
/* Compares the captures of both ends of connections: what was lost between them, and how long packets were on their
   way. */
#ifndef UERUDP_TOOLS_BOTH_ENDS_BOTH_ENDS_H
#define UERUDP_TOOLS_BOTH_ENDS_BOTH_ENDS_H

#include "tools/both_ends/one_way.h"

struct both_ends_connection {
    struct stream_pair pair;
    int64_t from_ns, to_ns; /* times of capture 0 that are selected; INT64_MIN and INT64_MAX: all */
    enum clock_order order; /* of the packets of client and server */
    bool is_contradicted;   /* the user says the opposite of order, which the times prove */
    bool has_ends;          /* it is known which capture is the client's end; else the next members are not set */
    unsigned client_end;    /* capture 0 or 1 that is nearer to the client */
    struct clock_fit fit;   /* of the clock of capture 1 against that of capture 0 */
    struct one_way ways[2]; /* [role of the sender] */
};

struct both_ends {
    struct end_capture *captures[2];
    GPtrArray *connections;   /* struct both_ends_connection, in the order of capture 0 */
    GHashTable *by_stream[2]; /* these by their number in capture 0 or 1 */
};

struct both_ends_options {
    const struct capture_reader *reader; /* how to decode */
    const struct selection *selection;   /* of capture 0: only packets that were sent in its times */
    int client_end;                      /* as the user says; -1: found by the times */
    bool with_paths;                     /* also keep the way of each packet */
};

/* Reads two capture points. Returns NULL if they have no connection in common. */
struct both_ends *both_ends_read(const struct both_ends_options *options, const struct end_source sources[2]);
void both_ends_free(struct both_ends *ends);

/* The connection with this number in capture 0 or 1; NULL: it is not in both captures. */
const struct both_ends_connection *both_ends_find(const struct both_ends *ends, unsigned capture, uint32_t stream);

/* Whether the offset between the clocks of the captures is known. */
bool both_ends_have_clocks(const struct both_ends_connection *connection);

/* Whether a datagram of capture 1 is at a time that is selected of capture 0. False, too, if that is not known. */
bool both_ends_selects(const struct both_ends *ends, uint32_t stream, int64_t time_ns);

#endif
