/* SPDX-License-Identifier: MIT */
/* A server that replicates to one client, directly or over simulated links, in virtual time. */
#ifndef UERUDP_TESTS_ENDPOINT_REPLICATION_REPLICATION_FIXTURE_H
#define UERUDP_TESTS_ENDPOINT_REPLICATION_REPLICATION_FIXTURE_H

#include "tests/support/counting_allocator.h"
#include "tools/endpoint/core/connection.h"
#include "tools/endpoint/replication/replication.h"
#include "tools/sim/link.h"

#define TICK_NS UINT64_C(33333333)
#define CHANNELS_MAX 64

struct replication_fixture {
    struct counting_allocator memory;
    struct ue_share share;
    struct ue_conn *server;
    struct ue_conn *client;
    struct sim_link *down; /* NULL: without loss or delay */
    struct sim_link *up;
    bool downlink_drops;
    struct ue_replicator replicator;
    struct ue_mirror mirrors[CHANNELS_MAX]; /* by channel */
    uint64_t now_ns;
    uint32_t bunches; /* received by the client */
};

extern struct replication_fixture replication_fixture;

/* Creates both connections; the server has received the client's first bunch and may send. */
void replication_fixture_init(const struct ue_profile *profile);
void replication_fixture_free(void);
/* Frees the object, then everything, and asserts that no memory is in use. */
void replication_fixture_free_with(struct ue_replicated_object *object);

/* Delivers the datagrams of one connection to the other, over the link if not NULL; `drops` discards them. */
void replication_deliver(struct ue_conn *from, struct ue_conn *to, struct sim_link *link, bool drops);
void replication_tick(void);
void replication_run(unsigned times);

/* An object whose properties have the same width, in memory with old contents. */
struct ue_replicated_object *replication_new_object(uint32_t id, uint32_t width_bits, uint32_t count);
/* A property of 8 bits: set at the server, read at the client. */
void replication_set_value(struct ue_replicated_object *o, uint32_t handle, uint8_t value);
uint8_t replication_get_value(const struct ue_replica *replica, uint32_t handle);
/* Whether the client's copy equals the object. */
bool replication_equal(const struct ue_replicated_object *o, const struct ue_mirror *m);

enum ue_status replication_call(struct ue_replica *replica, uint16_t function, bool reliable, bool multicast);

#endif
