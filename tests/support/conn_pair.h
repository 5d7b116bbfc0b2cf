/* SPDX-License-Identifier: MIT */
/* A client and a server that run in virtual time, for tests that inspect a connection. */
#ifndef UERUDP_TESTS_SUPPORT_CONN_PAIR_H
#define UERUDP_TESTS_SUPPORT_CONN_PAIR_H

#include "tests/support/counting_allocator.h"
#include "tools/endpoint/core/connection.h"

#define PAIR_CLIENT 0u
#define PAIR_SERVER 1u
#define PAIR_CLIENT_SEQ 100
#define PAIR_SERVER_SEQ 500
#define PAIR_TICK_NS UINT64_C(33333333)
#define PAIR_RECEIVED_MAX 4096

/* A received bunch; only the first byte of its data is kept. */
struct pair_received {
    uint32_t channel;
    bool reliable;
    bool has_mapped;
    size_t bits;
    uint8_t first_byte;
};

struct conn_pair {
    struct counting_allocator memory;
    struct ue_conn *conns[2];
    uint64_t now_ns;
    struct pair_received received[2][PAIR_RECEIVED_MAX]; /* by receiver, since the last pair_clear_received */
    size_t received_count[2];
    unsigned exports[2];            /* received in bunches of their own */
    uint8_t close_reason[2];        /* of the channel that each side closed last */
    enum ue_close_reason faults[2]; /* newest fault that each side reported */
};

/* Creates two adopted and admitted connections; the client has sent its first bunch and the server has received it. The
   role and the profile of the configuration are set here. */
void pair_init(struct conn_pair *pair, const char *release, const struct ue_conn_config *config);
/* Frees both connections; fails the test if memory is still in use. */
void pair_free(struct conn_pair *pair);

/* Deliver or drop all pending datagrams of a side; return their number. */
size_t pair_deliver(struct conn_pair *pair, unsigned from);
size_t pair_drop(struct conn_pair *pair, unsigned from);
/* Ticks both sides and delivers all datagrams. */
void pair_run(struct conn_pair *pair, unsigned ticks);
void pair_clear_received(struct conn_pair *pair);

/* Limit the memory of a side to what it uses plus spare_bytes, and restore the configured limit. */
void pair_limit_memory(struct conn_pair *pair, unsigned side, size_t spare_bytes);
void pair_restore_memory(struct conn_pair *pair, unsigned side);

/* Sends size_bytes bytes of the given value in a bunch with the given header; returns the status of ue_conn_send. */
enum ue_status pair_send(struct conn_pair *pair, unsigned side, const struct ue_outgoing *header, uint8_t value,
                         size_t size_bytes);
/* Sends a reliable bunch of 10 bytes. */
enum ue_status pair_send_short(struct conn_pair *pair, unsigned side, uint32_t channel, uint8_t value);
/* Opens an actor channel at the server and delivers the open to the client. */
void pair_open_channel(struct conn_pair *pair, uint32_t channel);

/* Asserts that the first bytes of the bunches that a side received on a channel since the last pair_clear_received are
   these values, in this order. */
void pair_assert_received(const struct conn_pair *pair, unsigned side, uint32_t channel, const char *values);

/* Encodes a packet of the given items with the next sequence of a side, whose state does not change. Returns its
   size. */
size_t pair_encode_packet(const struct conn_pair *pair, unsigned from, const struct ue_item *items, size_t count,
                          uint8_t *bytes, size_t size_bytes);

#endif
