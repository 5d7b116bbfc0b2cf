/* SPDX-License-Identifier: MIT */
/* A client and a server in one pool and in virtual time, for tests that look into a connection. */
#ifndef UERUDP_TESTS_SUPPORT_CONN_PAIR_H
#define UERUDP_TESTS_SUPPORT_CONN_PAIR_H

#include "tools/endpoint/connection.h"

#define PAIR_CLIENT 0u
#define PAIR_SERVER 1u
#define PAIR_CLIENT_SEQ 100
#define PAIR_SERVER_SEQ 500
#define PAIR_TICK_NS UINT64_C(33333333)
#define PAIR_HEARD_MAX 4096

/* A bunch that arrived; its data are compared where a test looks at them. */
struct pair_heard {
    uint32_t channel;
    bool reliable;
    bool has_mapped;
    size_t bits;
    uint8_t first_byte;
};

struct conn_pair {
    void *region;
    struct ue_pool *pool;
    size_t empty_bytes; /* of the pool */
    struct ue_conn *conns[2];
    uint64_t now_ns;
    struct pair_heard heard[2][PAIR_HEARD_MAX]; /* what came to each side since the last pair_forget */
    size_t heard_count[2];
    unsigned exports[2];            /* that came on their own */
    uint8_t close_reason[2];        /* of the channel closed last, by the side that reports it */
    enum ue_close_reason faults[2]; /* the newest, by the side that reports it */
};

/* Adopted connections of which the client has said hello, the server has heard it, and both are admitted. Role and
   profile of the configuration need not be filled in; stock is 5.4. */
void pair_begin(struct conn_pair *pair, const char *release, const struct ue_conn_config *config);
/* Frees everything; fails the test when memory of the pool is still in use. */
void pair_end(struct conn_pair *pair);

/* Hands all datagrams of a side to the other, or to nobody; returns how many. */
size_t pair_carry(struct conn_pair *pair, unsigned from);
size_t pair_lose(struct conn_pair *pair, unsigned from);
/* Some ticks of both sides, in which everything arrives. */
void pair_run(struct conn_pair *pair, unsigned ticks);
void pair_forget(struct conn_pair *pair);

/* Leaves a side so many bytes from now on; gives it its memory back. */
void pair_starve(struct conn_pair *pair, unsigned side, size_t spare_bytes);
void pair_feed(struct conn_pair *pair, unsigned side);

/* Sends bytes of a value; the status of ue_conn_send. */
enum ue_status pair_send(struct conn_pair *pair, unsigned side, const struct ue_outgoing *like, uint8_t value,
                         size_t size_bytes);
/* A reliable bunch of 10 bytes. */
enum ue_status pair_say(struct conn_pair *pair, unsigned side, uint32_t channel, uint8_t value);
/* Opens an actor channel by the server and lets the client know. */
void pair_open(struct conn_pair *pair, uint32_t channel);

/* Asserts that these values came to a side on a channel since the last pair_forget, in this order. */
void pair_assert_heard(const struct conn_pair *pair, unsigned side, uint32_t channel, const char *values);

/* Encodes a packet of one bunch as the next of a side, whose state stays as it is. Returns its size. */
size_t pair_forge(const struct conn_pair *pair, unsigned from, const struct ue_item *items, size_t count,
                  uint8_t *bytes, size_t size_bytes);

#endif
