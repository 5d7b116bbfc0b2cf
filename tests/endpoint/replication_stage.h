/* SPDX-License-Identifier: MIT */
/* A server that replicates to one client, over links or none, in virtual time. */
#ifndef UERUDP_TESTS_ENDPOINT_REPLICATION_STAGE_H
#define UERUDP_TESTS_ENDPOINT_REPLICATION_STAGE_H

#include <uerudp/replication.h>
#include "tools/endpoint/connection.h"
#include "tools/sim/link.h"

#define TICK_NS UINT64_C(33333333)
#define CHANNELS_MAX 64

struct replication_stage {
    uint8_t region[32 << 20];
    struct ue_share share;
    struct ue_conn *server;
    struct ue_conn *client;
    struct sim_link *down; /* NULL: everything arrives at once */
    struct sim_link *up;
    bool down_is_cut;
    struct ue_replicator replicator;
    struct ue_mirror mirrors[CHANNELS_MAX]; /* by channel */
    uint64_t now_ns;
    uint32_t bunches; /* taken by the client */
};

extern struct replication_stage stage;

/* Connections of which the server may send. */
void begin(const struct ue_profile *profile);
void end(void);
/* Ends, frees the object, and asserts that nothing is left in the pool. */
void end_with(struct ue_replicated_object *object);

/* Everything from one connection that gets through to the other. */
void carry(struct ue_conn *from, struct ue_conn *to, struct sim_link *link, bool is_cut);
void tick(void);
void ticks(unsigned times);

/* An object of properties with the same width, in memory that was used before. */
struct ue_replicated_object *new_object(uint32_t id, uint32_t width_bits, uint32_t count);
/* A property of 8 bits, at the sender and at the client. */
void set(struct ue_replicated_object *o, uint32_t handle, uint8_t value);
uint8_t got(const struct ue_replica *replica, uint32_t handle);
/* Whether a copy equals the object. */
bool same(const struct ue_replicated_object *o, const struct ue_mirror *m);

enum ue_status call(struct ue_replica *replica, uint16_t function, bool reliable, bool multicast);

#endif
