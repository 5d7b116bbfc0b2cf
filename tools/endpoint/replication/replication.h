/* SPDX-License-Identifier: MIT */
/* Replication of actors over a connection, at the server (endpoint.md 37). Properties travel unreliably and become
   consistent eventually: intermediate values may be lost, the last one arrives. One tick: pass the connection's events
   to ue_replicator_event, set properties, call ue_replicated_actor_collect once for each actor, ue_replicator_tick
   for each connection, then ue_conn_tick. */
#ifndef UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATION_H
#define UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATION_H

#include <uerudp/endpoint.h>
#include "tools/endpoint/core/channel.h"
#include "tools/endpoint/replication/received_remote_calls.h"
#include "tools/endpoint/replication/replicated_object.h"
#include "tools/endpoint/replication/replication_history.h"

#define UE_CALLS_PER_UPDATE 2 /* net.MaxRPCPerNetUpdate: of one function, unreliable and multicast */
#define UE_CALLS_HELD_MAX 32
#define UE_HELD_CALL_BITS_MAX 4096 /* so that they and all properties fit into one bunch */
#define UE_CALL_BITS_MAX UINT16_MAX

/* A call of a remote procedure. Its function says whether it is reliable and multicast. */
struct ue_replicated_call {
    const struct ue_replicated_object *target; /* NULL: the actor */
    const struct ue_class_function *function;
    const struct ue_value *parameters; /* one for each parameter */
};

/* An unreliable multicast call that waits for the next update. */
struct ue_held_call {
    struct ue_held_call *next;
    const struct ue_class_function *function;
    uint32_t bits;
    uint8_t payload[]; /* as in a content block */
};

/* One object on one connection (FObjectReplicator). */
struct ue_object_replicator {
    struct ue_object_replicator *next;
    struct ue_replicated_object *object;
    bool is_actor;
    bool is_created;      /* the client knows the object, or will when a reliable bunch arrives */
    uint64_t planned;     /* handles of the update that is being written */
    uint64_t seen;        /* changes up to here were sent */
    uint64_t before_ack;  /* handles sent unreliably while `reliable_seq` is not acknowledged */
    int64_t reliable_seq; /* the newest reliable bunch with this object's properties; UE_NO_RELIABLE: none */
    struct ue_sent sent;
    struct ue_held_call *held;
    uint32_t held_count;
};

#define UE_NO_RELIABLE INT64_MIN
#define UE_NO_CHANNEL UINT32_MAX

/* One actor on one connection: an actor channel, or a dormant actor, which has none. */
struct ue_replica {
    struct ue_replica *next;
    struct ue_replicated_actor *actor;
    struct ue_object_replicator *objects; /* the actor, then its sub-objects */
    uint32_t channel;                     /* UE_NO_CHANNEL: dormant */
    bool is_opened;                       /* the first bunch was sent */
    bool is_closing;
    bool wants_dormancy;  /* becomes dormant when everything is acknowledged */
    bool becomes_dormant; /* the channel closes for dormancy, and the replica stays */
};

struct ue_replication_counters {
    uint64_t updates;
    uint64_t naks;      /* changelists that a lost packet carried */
    uint64_t not_ready; /* ticks that ended early for lack of bandwidth */
    uint64_t paused;    /* attempts while a channel waited for reliable acknowledgements, or was full */
    uint64_t calls_sent;
    uint64_t calls_dropped; /* unreliable ones */
    uint64_t exports;       /* of objects, with those that were repeated before the ack */
};

/* What a connection's peer knows of a named object (NetGUIDAckStatus). */
struct ue_export_state {
    struct ue_packet_range range; /* of the packets that carried an export, until it is reported */
    bool is_pending;
    bool is_acked;
};

/* Called for each update that left, before anything else happens; for logs. */
struct ue_replication_watch {
    void (*updated)(void *user, const struct ue_replica *replica, const struct ue_object_replicator *object,
                    struct ue_packet_range packets);
    void *user;
};

struct ue_replicator {
    struct ue_conn *conn;
    struct ue_package_map *map;
    struct ue_export_state *exports; /* by position in the map */
    uint32_t export_count;
    struct ue_replica *first; /* in the order of their turn */
    struct ue_replica *last;
    uint32_t count;
    int64_t out_ack; /* newest own packet that was acknowledged */
    struct ue_replication_watch watch;
    struct ue_replication_counters counters;
};

/* The connection must report packets (config.report_packets). */
void ue_replicator_init(struct ue_replicator *r, struct ue_conn *conn, struct ue_package_map *map);
/* Frees all replicas without closing their channels. */
void ue_replicator_free(struct ue_replicator *r);

/* Replicates an actor on a new channel, from the next tick on. NULL: no channel or no memory. */
struct ue_replica *ue_replicator_add(struct ue_replicator *r, struct ue_replicated_actor *actor);
/* NULL: the connection does not replicate the actor, or no longer. */
struct ue_replica *ue_replicator_find(const struct ue_replicator *r, const struct ue_replicated_actor *actor);
/* Closes the channel with an engine's reason; the replica is freed when the close is acknowledged. A dormant actor's
   channel is opened to close it. Errors of ue_conn_send: nothing changed. */
enum ue_status ue_replicator_remove(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica,
                                    enum ue_channel_close reason);
/* Sends the notice that an actor of the map is gone, which this connection never had a channel for: a channel that
   opens and closes at once. */
enum ue_status ue_replicator_destroy_static(struct ue_replicator *r, uint64_t now_ns,
                                            const struct ue_replicated_object *actor);
/* Ends dormancy: the actor gets a channel again. Only changes since then are sent. UE_E_FULL: no channel;
   UE_E_CONFLICT: its channel still closes. */
enum ue_status ue_replicator_wake(struct ue_replicator *r, struct ue_replica *replica);

/* Handles an event of the connection; call it for all of them, in order. */
void ue_replicator_event(struct ue_replicator *r, const struct ue_event *event);
/* Sends changes, actor after actor, until the bandwidth is used up; the next tick begins with the first actor that had
   no turn. */
void ue_replicator_tick(struct ue_replicator *r, uint64_t now_ns);

/* Reliable: sent at once, in the order of the channel; a full channel closes the connection. Unreliable: dropped when
   the bandwidth is exceeded; multicast: held for the next update. UE_E_CONFLICT: the actor's first bunch was not sent
   yet, the channel closes, or the function is not of the target's class; UE_E_FULL: dropped; UE_E_LENGTH: too many
   bits. */
enum ue_status ue_replica_call(struct ue_replicator *r, uint64_t now_ns, struct ue_replica *replica,
                               const struct ue_replicated_call *call);

/* Reads the calls in a bunch of the client. Clients send nothing else on actor channels: UE_E_TYPE. */
enum ue_status ue_replicator_read(struct ue_replicator *r, const struct ue_event *bunch,
                                  const struct ue_call_handler *handler);

#endif
