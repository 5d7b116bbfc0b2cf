/* SPDX-License-Identifier: MIT */
/* The parts of an observer: connection_table.c finds connections, recognition.c those
   without handshake, connection_readiness.c has the state of one, datagram_queue.c holds datagrams until they are
   ready and returns them, stream_analysis.c tracks streams, observer.c creates an observer and feeds it. */
#ifndef UERUDP_LIBCODEC_OBSERVE_OBSERVER_STATE_H
#define UERUDP_LIBCODEC_OBSERVE_OBSERVER_STATE_H

#include <uerudp/observer.h>
#include <uerudp/protocol_proof.h>

#include "libcodec/base/hash_table.h"
#include "libcodec/base/list.h"
#include "libcodec/observe/mid_session_recognition.h"

/* Cookies that a connection keeps: a retransmitted Initial leads to several. */
#define UE_CONNECTION_COOKIES 4

struct ue_connection;

struct ue_connection_cookie {
    struct ue_hash_link link;
    uint8_t bytes[UE_COOKIE_BYTES];
};

/* Two addresses. The pair lives as long as its current connection. */
struct ue_address_pair {
    struct ue_hash_link link;
    struct ue_address sides[2]; /* side 0 sent the first datagram */
    struct ue_protocol_proof proof;
    struct ue_connection *connection; /* the current one */
};

/* What is known of a stream: one connection, and those that continue it. */
struct ue_stream {
    struct ue_list_link used;
    unsigned connections;
    struct ue_tracker *tracker;       /* NULL: not started, or freed to save memory; likewise the others */
    struct ue_reassembly *reassembly; /* NULL: nobody wants messages */
    struct ue_guid_map *guids;
    size_t bytes; /* as counted in the total */
    int64_t used_ns;
};

/* Datagrams that wait, in capture order. */
struct ue_waiting_datagram {
    struct ue_list_link link;
    struct ue_connection *connection;
    struct ue_decode_state decode;
    uint64_t frame;
    int64_t time_ns;
    const void *tag;
    uint32_t point;
    size_t captured_bytes;
    size_t length_bytes;
    const uint8_t *bytes; /* of a waiting datagram: its copy, with space for a terminator */
};

struct ue_connection {
    struct ue_observed_connection shown; /* must be first */
    struct ue_address_pair *pair;        /* NULL: another connection follows on its addresses */
    struct ue_stream *stream;            /* NULL: not tracked yet */
    struct ue_decryptor *decryptor;
    struct ue_detection
        *compared; /* with what the caller gave: that shown, or another one; NULL: nothing is compared */
    struct ue_detection *automatic; /* without what the caller gave; NULL: nothing is compared */
    struct ue_list_link used;       /* in proven or unproven */
    struct ue_list_link turn;       /* in waiting or ready; see order */
    struct ue_list datagrams;       /* waiting ones (BY_CONNECTION) */
    struct ue_connection_cookie cookies[UE_CONNECTION_COOKIES];
    unsigned cookie_count; /* at most UE_CONNECTION_COOKIES */
    unsigned cookie_next;  /* index of the next one, which replaces the oldest */
    unsigned references;   /* of waiting datagrams and callers */
    unsigned patience;     /* datagrams to wait for proof, or for the cookie of the connection that it continues */
    /* What only sequences join, until a cookie proves it or something else; NULL: nothing. */
    struct ue_connection *guessed_earlier, *guessed_later;
    bool is_forgotten;
    bool has_challenge; /* the server sent a handshake message */
    bool has_joined;    /* the server sent a packet */
    bool is_repeated;   /* it has the stream number of a failed attempt, and never had one of its own */
    bool is_unanswered; /* began with packets of one side, and waits for an answer, which may ask for a restart */
    bool is_linked;     /* a restart named the connection that it continues */
    bool is_moved;      /* and that was found */
    bool is_continued;  /* by another one that moved */
    bool is_ready;      /* in the list of ready ones */
    _Alignas(max_align_t) char user[]; /* of the caller */
};

struct ue_observer {
    struct ue_observer_options options;
    size_t analysis_bytes_max;
    size_t connections_max, pending_max, ungathered_max; /* constant, except in tests */
    struct ue_hash_table pairs;
    struct ue_hash_table cookies;
    struct ue_address_pair *latest;  /* most datagrams come from the same pair as the one before */
    struct ue_list proven, unproven; /* connections, the one used last at the end */
    uint64_t expecting;              /* pairs that a packet may prove */
    struct ue_recognition recognition;
    uint32_t numbered; /* stream numbers given */
    uint64_t moved;    /* of these, streams that continue another */
    uint64_t forgotten;
    int64_t end_ns; /* of the latest datagram */

    struct ue_list datagrams;      /* waiting ones (IN_CAPTURE_ORDER) */
    struct ue_list waiting, ready; /* connections with waiting datagrams (BY_CONNECTION) */
    size_t waiting_count, waiting_bytes;
    bool is_releasing;                      /* the gathered ones, until none is left */
    struct ue_waiting_datagram direct;      /* the latest one that was added */
    bool has_direct;                        /* it need not wait, and was not copied */
    struct ue_datagram_start start;         /* of the latest datagram, with the context of its connection */
    struct ue_waiting_datagram *latest_out; /* returned last, to be freed */
    struct ue_observed_datagram out;

    uint8_t *completed; /* a cut datagram, zeros up to its length, and terminators */
    size_t completed_capacity;
    struct ue_list streams; /* with a tracker, the one used last at the end */
    size_t analysis_bytes;
    size_t names_bytes;              /* of the streams, if they are read again */
    const struct ue_guid_map *named; /* of ue_observer_names */
    uint64_t named_frame;
    char path[UE_GUID_MAP_PATH_MAX + 1];
};

static inline void *ue_observer_allocate(struct ue_observer *observer, size_t size_bytes) {
    const struct ue_allocator *allocator = &observer->options.allocator;
    return allocator->resize(allocator->user, NULL, size_bytes);
}

static inline void ue_observer_deallocate(struct ue_observer *observer, void *block) {
    const struct ue_allocator *allocator = &observer->options.allocator;
    if (block != NULL) {
        allocator->resize(allocator->user, block, 0);
    }
}

/* ---- connection_readiness.c ---- */

/* Whether the datagrams of a connection need not wait. */
bool ue_connection_is_ready(const struct ue_observer *observer, const struct ue_connection *connection);

/* Whether the datagrams of a connection will never be returned. */
bool ue_connection_is_hopeless(const struct ue_connection *connection);

/* To be called whenever a connection may have become ready or hopeless. */
void ue_connection_update_turn(struct ue_observer *observer, struct ue_connection *connection);

/* Compares what the caller gave with the first datagrams of a new connection, which wait for that. Not if datagrams are
   returned at once, whose ends the caller knows, and not if they are read again: then the first pass shows what was
   given without waiting. Ends that after the release. */
void ue_connection_begin_comparison(struct ue_observer *observer, struct ue_connection *connection);
void ue_connection_end_comparison(struct ue_observer *observer, struct ue_connection *connection);

/* Releases the detection of a connection. */
void ue_connection_end_detection(struct ue_connection *connection);

/* Ends the waiting of a connection for a certain generation, a proof or an earlier connection. */
void ue_connection_stop_waiting(struct ue_observer *observer, struct ue_connection *connection);

/* Removes one reference, and frees a forgotten connection without references. */
void ue_connection_release(struct ue_observer *observer, struct ue_connection *connection);

/* ---- connection_table.c ---- */

void ue_connection_table_init(struct ue_observer *observer);
void ue_connection_table_clear(struct ue_observer *observer);

/* Finds or begins the connection of a datagram, and updates it. NULL: not of this protocol, as far as known. */
struct ue_connection *ue_connection_table_feed(struct ue_observer *observer,
                                               const struct ue_captured_datagram *captured,
                                               struct ue_decode_state *decode);

/* ---- datagram_queue.c ---- */

/* Adds a datagram that connection_table_feed accepted. Returns false if there is no memory. */
bool ue_datagram_queue_add(struct ue_observer *observer, struct ue_connection *connection,
                           const struct ue_captured_datagram *captured, const struct ue_decode_state *decode);

void ue_datagram_queue_clear(struct ue_observer *observer);

/* ---- stream_analysis.c ---- */

/* Makes a connection share the stream of the one that it continues. */
void ue_stream_join(struct ue_observer *observer, struct ue_connection *connection, struct ue_connection *earlier);
void ue_stream_leave(struct ue_observer *observer, struct ue_connection *connection);

#endif
