/* SPDX-License-Identifier: MIT */
/* The passive observer: finds the connections among the datagrams of a capture, detects what they speak (protocol.md
   17), and reports what happens in them: packets, acks, losses, bunches, messages (protocol.md 6, 9, 10). It owns
   everything that is known of connections; callers own bytes, files and sentences.

   For each datagram in capture order: ue_observer_feed, then ue_observer_next until it returns NULL, and for each
   datagram that this returns, if events are wanted, ue_observer_track. At the end of the capture: ue_observer_flush,
   then ue_observer_next until NULL. */
#ifndef UERUDP_OBSERVER_H
#define UERUDP_OBSERVER_H

#include <uerudp/allocator.h>
#include <uerudp/detection.h>
#include <uerudp/guid_map.h>
#include <uerudp/observed_event.h>
#include <uerudp/packet_tracker.h>
#include <uerudp/reassembly.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limit of waiting datagrams of all connections together. */
#define UE_OBSERVER_PENDING_MAX 16384u

/* Limit of those that wait for others of their connection (gathered_max). */
#define UE_OBSERVER_GATHERED_MAX (UE_OBSERVER_PENDING_MAX / 2)

/* Limit of proven connections, and of those that are not proven yet. Above it, which only a flood of forged addresses
   causes, those that were silent the longest are forgotten. It does not apply if the datagrams are read again. */
#define UE_OBSERVER_CONNECTIONS_MAX 65536u

/* Limit in bytes of trackers and reassemblies of all streams together. Above it, those of the streams that were silent
   the longest are freed; later datagrams of such a stream begin new ones. */
#define UE_OBSERVER_ANALYSIS_BYTES_MAX (256u << 20)

/* Limit in bytes of the names of all streams, if the datagrams are read again: further names are dropped. */
#define UE_OBSERVER_NAMES_BYTES_MAX (256u << 20)

/* The tracker and the reassembly of a stream that is silent for so long, several times the timeout of any engine, are
   freed. */
#define UE_OBSERVER_SILENT_NS INT64_C(600000000000)

/* An address with a port. The bytes are in network order. Bytes that are not used are zero, so that memcmp compares. */
struct ue_address {
    uint8_t bytes[16];
    uint16_t port;
    uint8_t size_bytes; /* 4 or 16; at most 16 where the network is not IP */
    uint8_t unused;     /* 0 */
};

/* One connection. A pair of addresses may have several, one after another. Read only; valid until the next call of
   ue_observer_feed, or as long as it is referenced (ue_observer_reference), or, if the datagrams are read again, as
   long as the observer. */
struct ue_observed_connection {
    struct ue_address sides[2]; /* side 0 sent the first datagram */
    struct ue_detection detection;
    const struct ue_decryptor *decryptor; /* from struct ue_decryption; NULL: nothing is decrypted */
    uint64_t first_frame;
    uint64_t datagrams;
    uint32_t stream;    /* number, from 0; of the connection that this one continues, once that is known */
    bool is_proven;     /* a port, a setting, its handshake or its packets show that it is this protocol; else it has no
                           stream */
    bool has_handshake; /* a datagram had the form of a handshake message */
};

/* How to decode a connection. The pointers must stay valid during the call that requests them, the generation as long
   as the observer. */
struct ue_connection_settings {
    const struct ue_settings *settings;
    const struct ue_profile *generation; /* NULL: detected */
    int server_side;                     /* 0 or 1; -1: not known */
};

/* Decryption, for observers of encrypted connections. One session belongs to one connection. */
struct ue_decryption {
    /* Returns the session of a new connection, or NULL if it needs none. */
    struct ue_decryptor *(*begin)(void *user, const struct ue_address sides[2], const struct ue_settings *settings);
    void (*end)(void *user, struct ue_decryptor *session);
    /* The connection continues an earlier one on other addresses. */
    void (*adopt)(void *user, struct ue_decryptor *session, const struct ue_decryptor *earlier);
    /* Reads a datagram of the connection, in capture order. */
    void (*learn)(void *user, struct ue_decryptor *session, const struct ue_detection *detection,
                  const struct ue_decode_state *state, const uint8_t *bytes, size_t size_bytes);
    void *user;
};

/* When ue_observer_next returns a datagram whose generation is not certain yet. */
enum ue_observer_order {
    UE_OBSERVER_IN_CAPTURE_ORDER, /* once it is certain, and after all earlier datagrams */
    UE_OBSERVER_BY_CONNECTION,    /* once it is certain, and after all earlier datagrams of its connection */
    UE_OBSERVER_AT_ONCE,          /* at once, with what is known */
    UE_OBSERVER_NEVER             /* never: only the result of ue_observer_feed is wanted */
};

struct ue_observer_options {
    struct ue_allocator allocator;
    uint64_t hash_seed; /* a secret random number, so that no peer can choose addresses that make tables slow */
    enum ue_observer_order order;
    size_t gathered_max; /* BY_CONNECTION, with many connections: datagrams are returned once this many wait, those of a
                            connection together, which is faster; at most UE_OBSERVER_GATHERED_MAX; 0: at once */
    bool is_reread;      /* the caller decodes datagrams again later: nothing that needs is forgotten, and
                            generations and handlers that were given are not compared with datagrams */
    const struct ue_settings *settings; /* of connections that are not known yet; must outlive the observer */
    /* NULL, or fills *chosen, which holds the settings above, for a new connection; sender: side of the datagram that
       begins it. */
    void (*choose)(void *user, const struct ue_address sides[2], unsigned sender,
                   struct ue_connection_settings *chosen);
    void *user;
    const struct ue_decryption *decryption; /* NULL: none; must outlive the observer */
    size_t user_bytes;                      /* of each connection for the caller, see ue_observer_user */
};

/* A datagram of the capture. */
struct ue_captured_datagram {
    uint64_t frame; /* its number in the capture, below 2^38 */
    int64_t time_ns;
    struct ue_address source, destination;
    const uint8_t *bytes;
    size_t captured_bytes;
    size_t length_bytes; /* on the wire; larger than captured_bytes if the snap length of the capture cut it */
    uint32_t point;      /* number of the capture point: an interface, or a file; 0 if there is only one */
    bool is_ours;        /* a port or a setting selects this protocol, so that no proof is needed */
    const void *tag;     /* returned with the datagram */
};

/* What is needed to decode a datagram again at any time: small and copyable. */
struct ue_datagram_record {
    const struct ue_observed_connection *connection;
    struct ue_decode_state decode;
};

/* A datagram of a connection, and what decodes it. Valid until the next call of feed or next. */
struct ue_observed_datagram {
    struct ue_datagram_record record; /* with the packet ids as known now */
    uint64_t frame;
    int64_t time_ns;
    const void *tag;
    uint32_t point;
    const uint8_t *bytes;
    size_t captured_bytes;
    size_t length_bytes;
    size_t size_bytes; /* of bytes to decode: captured_bytes, or one more that terminates a cut datagram */
    struct ue_context context;
    const struct ue_datagram_start *start; /* how it begins, decoded with the context; NULL: not decoded so far */
    unsigned role;   /* of the sender: 0 client, 1 server; if the direction is unknown, the server is the side with
                        the lower port, or, if the ports are equal, side 1 */
    bool is_cut;     /* by a snap length */
    bool is_foreign; /* probably of another protocol, see ue_detection_is_foreign */
};

/* The role of a side of a connection (0 or 1) in a datagram with this direction, see role above. */
unsigned ue_observed_role(const struct ue_observed_connection *connection, enum ue_direction direction, unsigned side);

/* The IP and UDP headers of each datagram. */
static inline unsigned ue_observed_header_bytes(const struct ue_observed_connection *connection) {
    return connection->sides[0].size_bytes > 4 ? UE_IPV6_UDP_BYTES : UE_IPV4_UDP_BYTES;
}

/* The last byte of a datagram whose end is not captured: terminators in the highest bits, since the bits before them
   may belong to the last bunch. */
static inline uint8_t ue_observer_terminator(const struct ue_settings *settings) {
    return settings->terminators == 1 || settings->internal_ack ? 0x80 : 0xc0;
}

struct ue_observer;

/* Returns NULL if there is no memory. Copies the options. */
struct ue_observer *ue_observer_new(const struct ue_observer_options *options);
void ue_observer_free(struct ue_observer *observer);

/* Feeds the next datagram of the capture, whose bytes must stay valid until the next call. Returns false if nothing
   shows that it is of this protocol, or there is no memory; else fills *record, as far as known now. */
bool ue_observer_feed(struct ue_observer *observer, const struct ue_captured_datagram *captured,
                      struct ue_datagram_record *record);

/* The capture time of the latest datagram that was fed, of any connection; 0: none. */
int64_t ue_observer_end_ns(const struct ue_observer *observer);

/* Whether a packet in this frame may prove that addresses without connection speak this protocol. If not, only
   handshake messages, and datagrams of connections, need to be fed. */
bool ue_observer_is_expecting(const struct ue_observer *observer, uint64_t frame);

/* The next datagram that need not wait any more; NULL: none. */
const struct ue_observed_datagram *ue_observer_next(struct ue_observer *observer);

/* Ends all waiting. */
void ue_observer_flush(struct ue_observer *observer);

/* The frame of the oldest waiting datagram (IN_CAPTURE_ORDER); UINT64_MAX: none. */
uint64_t ue_observer_oldest_frame(const struct ue_observer *observer);

/* Reports the events of a datagram that ue_observer_next returned last; nothing of one that is foreign. Of one that is
   cut, it reports packet, acks and bunches as far as their headers are captured, and no messages that are cut. Returns
   whether the datagram was tracked. */
bool ue_observer_track(struct ue_observer *observer, const struct ue_observed_datagram *datagram,
                       const struct ue_observer_callbacks *callbacks);

/* The tracker of a connection's stream; NULL: none. */
const struct ue_tracker *ue_observer_tracker(const struct ue_observed_connection *connection);

/* The kind of a channel as known now, see ue_reassembly_channel_kind. */
enum ue_content_kind ue_observer_channel_kind(const struct ue_observed_connection *connection, uint32_t channel,
                                              bool *is_guessed);

/* Names of network ids at a frame, from messages so far; valid until the next call. */
struct ue_guid_names ue_observer_names(struct ue_observer *observer, const struct ue_observed_connection *connection,
                                       uint64_t frame);

/* Keeps a connection valid until ue_observer_release, which must precede ue_observer_free. */
void ue_observer_reference(const struct ue_observed_connection *connection);
void ue_observer_release(struct ue_observer *observer, const struct ue_observed_connection *connection);

/* The caller's bytes of a connection, zero at first, aligned as for any type. */
void *ue_observer_user(const struct ue_observed_connection *connection);

/* Number of connections; one that moved to other addresses counts once. */
uint64_t ue_observer_stream_count(const struct ue_observer *observer);

/* Number of connections that were forgotten. */
uint64_t ue_observer_forgotten_count(const struct ue_observer *observer);

/* Sets another limit than UE_OBSERVER_ANALYSIS_BYTES_MAX. The stream in use alone may exceed it. */
void ue_observer_set_limit(struct ue_observer *observer, size_t analysis_bytes_max);

#ifdef __cplusplus
}
#endif

#endif
