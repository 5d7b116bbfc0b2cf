/* SPDX-License-Identifier: MIT */
/* Who used the bandwidth of a connection. Each bit of each UDP payload has one kind; each bit of a bunch also belongs
   to one actor (or to a channel without actor), to the class of that actor and to one channel. Sums over kinds, and
   over the rows of one dimension with the bits outside of bunches, are exactly the bits of the datagrams.

   Index 0 of arrays of two counts what the client sent, index 1 what the server sent. */
#ifndef UERUDP_BANDWIDTH_H
#define UERUDP_BANDWIDTH_H

#include <uerudp/observer.h>
#include <uerudp/saturation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Up to DUPLICATE, the bits of bunches with their headers, and from HEADERS on those outside of bunches. Among the
   kinds of bunches, one that is later in this list has precedence. */
enum ue_bandwidth_kind {
    UE_BANDWIDTH_CONTENT,        /* all other bunches: properties and calls of actors, games' own channels */
    UE_BANDWIDTH_OPEN,           /* of a message that opens its channel: for an actor, its spawn and first properties */
    UE_BANDWIDTH_EXPORTS,        /* with exports of net GUIDs (bHasPackageMapExports), and no other content */
    UE_BANDWIDTH_CONTROL,        /* a bunch of the control channel */
    UE_BANDWIDTH_VOICE,          /* a bunch of a voice channel */
    UE_BANDWIDTH_RETRANSMISSION, /* a reliable bunch that was sent before */
    UE_BANDWIDTH_DUPLICATE,      /* a bunch in a packet that was captured before */
    UE_BANDWIDTH_HEADERS,        /* of packets with bunches: everything outside of these, acks included */
    UE_BANDWIDTH_ACKS,           /* packets without bunches */
    UE_BANDWIDTH_HANDSHAKE,      /* handshake messages */
    UE_BANDWIDTH_UNREAD          /* encrypted, compressed or malformed content, or cut by a snap length */
};

#define UE_BANDWIDTH_KIND_COUNT (UE_BANDWIDTH_UNREAD + 1)

/* "content", "open", "exports", ... Static. */
const char *ue_bandwidth_kind_name(enum ue_bandwidth_kind kind);

/* What stands for the class of an actor, or for the name of an object that is none, that is not known. Static. */
const char *ue_bandwidth_unnamed(bool is_actor);

/* ---- one datagram ---- */

/* Receives the parts of a datagram, in wire order; they are valid during the call. */
struct ue_bandwidth_parts {
    /* A bunch that was read whole; item: its index among the items of the packet. bits include header_bits. */
    void (*bunch)(void *user, uint32_t item, const struct ue_bunch *bunch, uint64_t bits, uint64_t header_bits);
    /* All bits of a kind outside of bunches. */
    void (*rest)(void *user, enum ue_bandwidth_kind kind, uint64_t bits);
    void *user;
};

struct ue_bandwidth_datagram {
    const struct ue_context *context;
    const uint8_t *bytes;
    size_t size_bytes;     /* to decode; of a cut one with a byte more, see ue_observer_terminator */
    size_t captured_bytes; /* fewer than length_bytes if the datagram was cut */
    size_t length_bytes;
};

/* Splits a datagram into its parts. */
void ue_bandwidth_split(const struct ue_bandwidth_datagram *datagram, const struct ue_bandwidth_parts *parts);

/* What the observer knows of a bunch. */
struct ue_bandwidth_bunch {
    enum ue_content_kind channel; /* the kind of its channel */
    bool is_opening;              /* see struct ue_observed_bunch */
    bool is_retransmission;
    bool is_duplicate; /* its packet */
};

enum ue_bandwidth_kind ue_bandwidth_kind_of(const struct ue_bunch *bunch, const struct ue_bandwidth_bunch *known);

/* ---- one connection ---- */

/* Limits of one connection. What exceeds them is counted in one more row, which is_rest. */
#define UE_BANDWIDTH_CLASSES_MAX 1024u
#define UE_BANDWIDTH_ACTORS_MAX 16384u
#define UE_BANDWIDTH_CHANNELS_MAX 4096u
#define UE_BANDWIDTH_BYTES_MAX (64u << 20)
/* Bins of a series. When a connection is longer, the bins become twice as wide. */
#define UE_BANDWIDTH_BINS_MAX 4096u

enum ue_bandwidth_by { UE_BANDWIDTH_BY_CLASS, UE_BANDWIDTH_BY_ACTOR, UE_BANDWIDTH_BY_CHANNEL };

#define UE_BANDWIDTH_BY_COUNT (UE_BANDWIDTH_BY_CHANNEL + 1)

struct ue_bandwidth_counts {
    uint64_t bits[UE_BANDWIDTH_KIND_COUNT][2];
    uint64_t header_bits[2]; /* of bunch headers, included in bits */
    uint64_t bunches[2];
    uint64_t updates[2];    /* messages: bunches that are no fragments, and first fragments; not sent again */
    uint64_t peak_bits[2];  /* of the busiest second */
    int64_t peak_second[2]; /* that second, since the first datagram */
};

/* Bits over time. */
struct ue_bandwidth_series {
    uint64_t (*bits)[2]; /* of each bin; NULL if count is 0 */
    size_t count;        /* further bins are 0 */
};

struct ue_bandwidth_row {
    const char *name; /* a class: UTF-8 path, or channel name. NULL: not known, or not a class */
    bool is_actor;    /* a class of actors, or an actor; else channels of other kinds */
    bool is_rest;     /* all rows above the limit together */
    uint64_t guid;    /* of an actor; 0: not known */
    uint32_t channel; /* of a channel; of an actor or other use of a channel, the latest */
    const struct ue_bandwidth_row *class_row; /* of an actor or channel, the latest; NULL: a class, or not known */
    uint64_t opens;                           /* of channels; an actor that was dormant opens one again */
    uint64_t dormant;                         /* channels closed because of dormancy */
    int64_t open_ns;                          /* how long channels were open in the capture, all together */
    uint64_t waits[2]; /* of a channel: how often it sent nothing while its side was saturated, which was longer than
                          the average between its updates before */
    int64_t longest_wait_ns[2]; /* between two updates, in such a case */
    struct ue_bandwidth_counts counts;
    struct ue_bandwidth_series series; /* of a class; bins that did not fit into memory are missing */
};

/* The whole connection. */
struct ue_bandwidth_totals {
    struct ue_bandwidth_counts counts;
    struct ue_bandwidth_series series[UE_BANDWIDTH_KIND_COUNT];
    uint64_t datagrams[2];
    uint64_t ip_udp_bits[2]; /* of the headers of IP and UDP, not included in counts */
    int64_t first_ns, last_ns;
    int64_t bin_ns; /* width of the bins of all series, from first_ns on */
};

struct ue_bandwidth;

/* bin_ns: initial width of bins. NULL: there is no memory. The allocator is copied, its user must outlive the result.
 */
struct ue_bandwidth *ue_bandwidth_new(const struct ue_allocator *allocator, int64_t bin_ns);
void ue_bandwidth_free(struct ue_bandwidth *bandwidth); /* NULL is ignored */

/* An event of the datagram that follows; the observer must report messages, too. */
void ue_bandwidth_on_event(struct ue_bandwidth *bandwidth, struct ue_observer *observer,
                           const struct ue_observed_datagram *datagram, const struct ue_observed_event *event);

/* What is known of the saturation of a side, before the datagram that is counted next. */
void ue_bandwidth_set_saturation(struct ue_bandwidth *bandwidth, unsigned side,
                                 const struct ue_saturation_span *latest);

/* Counts a datagram, after its events. */
void ue_bandwidth_on_datagram(struct ue_bandwidth *bandwidth, const struct ue_observed_datagram *datagram);

/* Counts what waits for the class of its actor. No datagram may follow. */
void ue_bandwidth_finish(struct ue_bandwidth *bandwidth);

const struct ue_bandwidth_totals *ue_bandwidth_totals(const struct ue_bandwidth *bandwidth);

/* The rows of a dimension in the order of their first bits, the rest last; complete after ue_bandwidth_finish. */
size_t ue_bandwidth_row_count(const struct ue_bandwidth *bandwidth, enum ue_bandwidth_by by);
const struct ue_bandwidth_row *ue_bandwidth_row_at(const struct ue_bandwidth *bandwidth, enum ue_bandwidth_by by,
                                                   size_t place);

/* The sum of all kinds. */
uint64_t ue_bandwidth_bits(const struct ue_bandwidth_counts *counts, unsigned side);

#ifdef __cplusplus
}
#endif

#endif
