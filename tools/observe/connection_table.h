/* SPDX-License-Identifier: MIT */
/* The connections of a capture: finds and numbers them, and returns their datagrams in capture order as soon as the
   generation of the connection is detected or the queue is full. */
#ifndef UERUDP_TOOLS_OBSERVE_CONNECTION_TABLE_H
#define UERUDP_TOOLS_OBSERVE_CONNECTION_TABLE_H

#include <glib.h>

#include <uerudp/detection.h>
#include "libcodec/cipher/cipher_session.h"
#include "tools/cli/wire_options.h"
#include "tools/input/datagram_source.h"

/* Limit of waiting datagrams of all connections together. */
#define CONNECTION_TABLE_PENDING_MAX 16384

/* Limit of connections in memory, and of address pairs that may become a connection. Above it, which only a flood of
   forged addresses causes, those that were silent the longest are forgotten. */
#define CONNECTION_TABLE_CONNECTIONS_MAX 65536

/* Limit of connections listed at the end. */
#define CONNECTION_TABLE_LISTED_MAX 20

#define CONNECTION_FORMER_BYTES 200

/* The summary of a connection with all addresses that it moved to. */
struct connection_listing {
    struct observe_connection *latest; /* NULL: it continues another connection */
    uint64_t datagrams;
    char former[CONNECTION_FORMER_BYTES]; /* earlier addresses, separated by commas */
    uint32_t network_version;             /* for deriving the engine release, if has_network_version */
    bool has_network_version;
};

/* One connection between two addresses. */
struct observe_connection {
    struct ue_detection flow;
    struct ue_cipher_session *session;  /* NULL: nothing is encrypted, or no key is known */
    struct observe_address_pair *pair;  /* NULL: another connection follows on the same addresses */
    struct connection_listing *listing; /* NULL: only counted */
    GList link;                         /* in order of use */
    bool is_forgotten;                  /* only its listing needs it */
    uint32_t stream;
    bool has_cookie;
    bool has_handshake;              /* a datagram had the form of a handshake */
    bool is_moved;                   /* it continues another connection, which was found */
    bool is_linked;                  /* the connection that it continues is known */
    bool is_continued;               /* another connection continues it on other addresses */
    bool has_former;                 /* an earlier connection ended on the same addresses */
    uint32_t former;                 /* the stream number of the earlier connection */
    unsigned patience;               /* datagrams to wait for the answer that identifies the connection of a restart */
    uint8_t cookie[UE_COOKIE_BYTES]; /* the latest cookie, to which a restart refers */
    struct capture_address sides[2];
    char texts[2][CAPTURE_ADDRESS_TEXT_BYTES];
    uint64_t datagrams; /* on these addresses */
};

/* A waiting datagram. One more byte follows its bytes, so that a cut datagram can be terminated. */
struct observe_datagram {
    struct observe_datagram *next;
    uint64_t frame;
    int64_t time_ns;
    struct observe_connection *connection; /* NULL: of an address pair that is not recognised yet */
    struct observe_address_pair *pair;
    unsigned side; /* the sender */
    struct ue_decode_state link;
    size_t captured_bytes;
    size_t length_bytes;
    char interface[CAPTURE_INTERFACE_NAME_BYTES]; /* capture interface; empty: unknown */
    size_t capacity;
    uint8_t *bytes;
};

struct connection_table;

/* options must outlive the result. */
struct connection_table *connection_table_new(const struct wire_options *options);
void connection_table_free(struct connection_table *flows);

/* Adds the next datagram of the capture; a foreign one is dropped at once. */
void connection_table_add(struct connection_table *flows, const struct source_datagram *datagram);

/* The frame of the oldest waiting datagram; UINT64_MAX: none. */
uint64_t connection_table_oldest_frame(const struct connection_table *flows);

/* Ends all waiting: at the end of the capture, or when memory is short. */
void connection_table_flush(struct connection_table *flows);

/* Returns the next datagram that is ready, or NULL; valid until the next call of any function of the table. */
const struct observe_datagram *connection_table_next(struct connection_table *flows);

/* Returns the first connections in the order of their first datagrams, *count of them. */
const struct connection_listing *connection_table_listings(const struct connection_table *flows, size_t *count);

/* The number of connections; one that moved to other addresses counts once. */
uint64_t connection_table_stream_count(const struct connection_table *flows);

/* The number of connections that were forgotten before the end. */
uint64_t connection_table_forgotten_count(const struct connection_table *flows);

#endif
