/* SPDX-License-Identifier: MIT */
/* Sends the traffic of a game, one bulk transfer or sparse messages through a pair of ends in virtual time, and
   measures it. */
#ifndef UERUDP_TESTS_BENCH_ENDPOINT_PLAY_H
#define UERUDP_TESTS_BENCH_ENDPOINT_PLAY_H

#include "tests/bench/endpoint/rival.h"
#include "tools/sim/link.h"

struct play {
    struct sim_link_config path; /* of both directions */
    uint64_t seed;
    double seconds;        /* of the game; 0: bulk */
    uint64_t bulk_bytes;   /* server to client, in messages of 900 bytes */
    double limit_seconds;  /* of bulk: what lasts longer has stalled */
    uint32_t sparse_ticks; /* a reliable message of 200 bytes each time this number of ticks passed, and nothing else;
                              0: game or bulk */
    uint32_t polls;        /* of the network in each tick of the program, by a kernel that hands messages over at the
                              next tick; 0: the program polls once in a tick, as games do */
    bool has_ip_headers;   /* the datagrams are IP packets */
};

struct play_result {
    bool ok;                                /* the pair could be created, and all messages were whole and in order */
    double p50_ms, p99_ms, p999_ms, max_ms; /* of reliable messages */
    uint64_t reliable_sent, reliable_received;
    uint64_t unreliable_sent, unreliable_received; /* server to client */
    uint64_t datagrams[2];                         /* by sender */
    uint64_t datagrams_lost[2];
    double wire_per_app; /* bytes with the headers of IP and UDP, over bytes that the application sent */
    double bulk_seconds; /* 0: it stalled */
};

/* False: no memory. */
bool play_run(const struct rival *rival, const struct play *play, struct play_result *result);

#endif
