/* SPDX-License-Identifier: MIT */
/* The connections of a capture: finds them, numbers them, and hands their datagrams out in capture order, each once the
   generation of its connection is settled (or the queue is full). */
#ifndef UERUDP_TOOLS_OBSERVE_CONNECTION_TABLE_H
#define UERUDP_TOOLS_OBSERVE_CONNECTION_TABLE_H

#include <glib.h>

#include <uerudp/detection.h>
#include "libcodec/cipher/cipher_session.h"
#include "tools/cli/wire_options.h"
#include "tools/input/datagram_source.h"

/* Datagrams that wait, of all connections together. */
#define CONNECTION_TABLE_PENDING_MAX 16384

/* Connections that are remembered at a time, and conversations that may become one. Of more, which only a flood of
   forged addresses brings, those that were silent the longest are forgotten. */
#define CONNECTION_TABLE_CONNECTIONS_MAX 65536

/* Connections that are listed at the end. */
#define CONNECTION_TABLE_LISTED_MAX 20

#define CONNECTION_FORMER_BYTES 200

/* What is told at the end about a connection, on all addresses that it moved to. */
struct connection_listing {
    struct observe_connection *latest; /* NULL: it continues another connection */
    uint64_t datagrams;
    char former[CONNECTION_FORMER_BYTES]; /* addresses that it moved away from, separated by commas */
    uint32_t network_version;     /* for learning the engine; see has_network_version */
    bool has_network_version;
};

/* One connection between two addresses. */
struct observe_connection {
    struct ue_detection flow;
    struct ue_cipher_session *session; /* NULL: there is nothing to open, or no key */
    struct observe_address_pair *pair;       /* NULL: another connection follows on the same addresses */
    struct connection_listing *listing; /* NULL: only counted */
    GList link;                 /* in the order of use */
    bool is_forgotten;          /* only its listing needs it */
    uint32_t stream;
    bool has_cookie;
    bool has_handshake; /* some datagram had the form of a handshake */
    bool is_moved;      /* it continues another, which was found */
    bool is_linked;     /* it was told which connection this one continues */
    bool is_continued;  /* by another, on other addresses */
    bool has_former;    /* when it began, another ended on these addresses: */
    uint32_t former;    /* ... this stream */
    unsigned patience;  /* datagrams to wait for the answer that tells which connection a restart continues */
    uint8_t cookie[UE_COOKIE_BYTES]; /* the latest, which a restart refers to */
    struct capture_address sides[2];
    char texts[2][CAPTURE_ADDRESS_TEXT_BYTES];
    uint64_t datagrams; /* on these addresses */
};

/* One datagram on its way out. The bytes are followed by one more, so that a cut datagram can be ended. */
struct observe_datagram {
    struct observe_datagram *next;
    uint64_t frame;
    int64_t time_ns;
    struct observe_connection *connection; /* NULL: of a conversation that is not proven to be ours */
    struct observe_address_pair *pair;
    unsigned side; /* who sent it */
    struct ue_decode_state link;
    size_t captured_bytes;
    size_t length_bytes;
    char interface[CAPTURE_INTERFACE_NAME_BYTES]; /* where it was captured; empty: not known */
    size_t capacity;
    uint8_t *bytes;
};

struct connection_table;

/* options must outlive the result. */
struct connection_table *connection_table_new(const struct wire_options *options);
void connection_table_free(struct connection_table *flows);

/* Takes the next datagram of the capture; one of a foreign conversation is forgotten at once. */
void connection_table_add(struct connection_table *flows, const struct source_datagram *datagram);

/* The frame of the oldest datagram that waits; UINT64_MAX: none does. */
uint64_t connection_table_oldest_frame(const struct connection_table *flows);

/* No more datagrams will come, or there is no room to wait for them: nothing waits any longer. */
void connection_table_flush(struct connection_table *flows);

/* The next datagram that is ready, or NULL. Valid until the next call of any function here. */
const struct observe_datagram *connection_table_next(struct connection_table *flows);

/* The first connections, in the order of their first datagrams; *count gets how many places there are. */
const struct connection_listing *connection_table_listings(const struct connection_table *flows, size_t *count);

/* All connections there were; one that moved to other addresses counts once. */
uint64_t connection_table_stream_count(const struct connection_table *flows);

/* Those of them that were forgotten before the end. */
uint64_t connection_table_forgotten_count(const struct connection_table *flows);

#endif
