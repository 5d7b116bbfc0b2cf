/* SPDX-License-Identifier: MIT */
/* What bench_loop compares: ways to bring messages of LOOP_MESSAGE_BYTES from one end to the other over sockets of the
   loopback interface, both ends in this process and thread. */
#ifndef UERUDP_TESTS_BENCH_ENDPOINT_LOOP_H
#define UERUDP_TESTS_BENCH_ENDPOINT_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#define LOOP_MESSAGE_BYTES 200
/* What is put into one datagram where the candidate decides about that. */
#define LOOP_DATAGRAM_BYTES 1000

/* What a candidate counts. */
struct loop_counts {
    uint64_t messages;  /* that arrived */
    uint64_t datagrams; /* sent by both ends; 0: a stream */
};

struct loop_candidate {
    const char *name;
    void *(*open)(void); /* connected; NULL: not possible here */
    /* One end sends this number of messages and flushes, the other receives and acknowledges them. False: a message
       is missing. */
    bool (*step)(void *pair, uint32_t messages);
    struct loop_counts (*counts)(const void *pair);
    void (*close)(void *pair);
};

extern const struct loop_candidate loop_raw;         /* one datagram of LOOP_DATAGRAM_BYTES a step, unacknowledged */
extern const struct loop_candidate loop_tcp;         /* NODELAY, one write a flush */
extern const struct loop_candidate loop_ue;          /* the reference endpoint on the program's own sockets */
extern const struct loop_candidate *const loop_enet; /* NULL: not built in */

/* Two connected sockets of the loopback interface, in bytes of SOCK_STREAM or SOCK_DGRAM; false: not possible here. */
bool loop_sockets(int type, int ends[2]);

#endif
