/* SPDX-License-Identifier: MIT */
/* Replicated objects on top of connections (endpoint.md 37): a server's objects, their replicas on each connection,
   calls (RPCs), and the client's copies. Properties travel unreliably and become consistent eventually: intermediate
   values may be lost, the last one arrives. It generates traffic like a game's, and checks that promise. One tick of a
   sender: pass the connection's events to ue_replicator_event, set properties, call ue_replicated_object_collect once
   for each object, ue_replicator_tick for each connection, then ue_conn_tick. */
#ifndef UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATION_H
#define UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATION_H

#include "tools/endpoint/base/memory_share.h"
#include "tools/endpoint/replication/replication_content.h"
#include "tools/endpoint/replication/replication_history.h"

/* ---- objects ---- */

/* One property: a value of fixed width. */
struct ue_replicated_property {
    uint32_t bits;
    uint32_t first_bit; /* in the object's values */
};

struct ue_replicated_object {
    struct ue_share *share;
    uint32_t id;
    uint32_t property_count;
    struct ue_replicated_property properties[UE_HANDLES_MAX];
    uint64_t dirty; /* changed since the last ue_replicated_object_collect */
    struct ue_changes changes;
    uint32_t watchers; /* connections that replicate it */
    uint8_t values[];
};

/* Creates an object whose properties, handles 1 to count, have these widths in bits and are zero. The share must
   outlive it. NULL: no memory, more than UE_HANDLES_MAX properties, or one wider than UE_PROPERTY_BITS_MAX. */
struct ue_replicated_object *ue_replicated_object_new(struct ue_share *share, uint32_t id, const uint32_t *widths_bits,
                                                      uint32_t count);
/* Frees an object that no connection replicates. */
void ue_replicated_object_free(struct ue_replicated_object *o);
/* Sets a property; an equal value is no change. UE_E_RANGE: no such handle; UE_E_LENGTH: another width. */
enum ue_status ue_replicated_object_set(struct ue_replicated_object *o, uint32_t handle, struct ue_view value);
/* The value of an existing handle. */
struct ue_view ue_replicated_object_get(const struct ue_replicated_object *o, uint32_t handle);
/* Adds the changes since the last call to the list that all connections share; call it once for each update of the
   object. */
void ue_replicated_object_collect(struct ue_replicated_object *o);

/* ---- replicas on one connection, at the sender ---- */

#define UE_CALLS_PER_UPDATE 2 /* net.MaxRPCPerNetUpdate: of one function, unreliable and multicast */
#define UE_CALLS_HELD_MAX 32
#define UE_HELD_CALL_BITS_MAX 4096 /* so that they and all properties fit into one bunch */

struct ue_replicated_call {
    uint16_t function;
    bool reliable;
    bool multicast; /* unreliable ones wait for the object's next update */
    struct ue_view parameters;
};

struct ue_held_call;

/* An object on a channel of a connection. */
struct ue_replica {
    struct ue_replica *next;
    struct ue_replicated_object *object;
    uint32_t channel;
    bool is_opened; /* the first bunch was sent */
    bool is_closing;
    uint64_t seen; /* of the object's changelists */
    struct ue_sent sent;
    uint64_t before_open; /* sent unreliably before the open was acknowledged: sent once more after that */
    struct ue_held_call *held;
    uint32_t held_count;
};

struct ue_replication_counters {
    uint64_t updates;   /* property bunches */
    uint64_t naks;      /* changelists in lost packets */
    uint64_t not_ready; /* rounds that the bandwidth ended */
    uint64_t paused;    /* attempts while a channel waited for reliable acknowledgements, or was full */
    uint64_t calls_sent;
    uint64_t calls_dropped; /* unreliable ones */
};

struct ue_replicator {
    struct ue_conn *conn;
    struct ue_share *share;
    struct ue_replica *first; /* in the order of their turn */
    struct ue_replica *last;
    uint32_t count;
    int64_t out_ack; /* newest own packet that was acknowledged */
    struct ue_replication_counters counters;
};

/* The connection must report packets (config.report_packets). */
void ue_replicator_init(struct ue_replicator *r, struct ue_conn *conn, struct ue_share *share);
/* Frees all replicas without closing their channels. */
void ue_replicator_free(struct ue_replicator *r);

/* Replicates an object on a new channel, from the next tick on. NULL: no channel or no memory. */
struct ue_replica *ue_replicator_add(struct ue_replicator *r, struct ue_replicated_object *object);
/* Closes the channel with an engine's reason; the replica is freed when the close is acknowledged. Errors of
   ue_conn_send: nothing changed. */
enum ue_status ue_replicator_remove(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica,
                                    uint8_t reason);

/* Handles an event of the connection; call it for all of them, in order. */
void ue_replicator_event(struct ue_replicator *r, const struct ue_event *event);
/* Sends changes, object after object, until the bandwidth is used up; the next tick begins with the first object that
   had no turn. */
void ue_replicator_tick(struct ue_replicator *r, uint64_t now_ns);

/* Reliable: sent at once, in the order of the channel; a full channel closes the connection. Unreliable: dropped when
   the bandwidth is exceeded; multicast: held for the next update. UE_E_CONFLICT: the object's first bunch was not sent
   yet, or the channel closes; UE_E_FULL: dropped; UE_E_LENGTH: too many parameter bits. */
enum ue_status ue_replica_call(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica,
                               const struct ue_replicated_call *call);

/* ---- the receiver's copy ---- */

struct ue_mirror_value {
    uint8_t *bytes; /* NULL: not received */
    uint32_t bits;
};

/* The objects of one channel as received. */
struct ue_mirror {
    struct ue_share *share;
    bool has_id;
    uint32_t id;
    struct ue_mirror_value values[UE_HANDLES_MAX];
    uint64_t properties; /* number of values received */
    uint64_t calls;
};

void ue_mirror_init(struct ue_mirror *m, struct ue_share *share);
void ue_mirror_free(struct ue_mirror *m);
/* Reads a whole bunch. Malformed: the part before the fault counts. UE_E_CONFLICT: of another object; UE_E_FULL: no
   memory. */
enum ue_status ue_mirror_read(struct ue_mirror *m, struct ue_view data);
/* Bits 0 with base NULL: not received. */
struct ue_view ue_mirror_get(const struct ue_mirror *m, uint32_t handle);

#endif
