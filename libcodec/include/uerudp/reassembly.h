/* SPDX-License-Identifier: MIT */
/* Passive reassembly: the whole messages of one connection out of the bunches of a capture, in which fragments may come
   late, twice or never (protocol.md 10). It stands on the tracker's numbers: fragments are ordered by full channel
   sequence, unreliable ones by packet id. Export fragments are messages of their own, and their data no part of what
   they precede. */
#ifndef UERUDP_REASSEMBLY_H
#define UERUDP_REASSEMBLY_H

#include <uerudp/content.h>
#include <uerudp/packet_tracker.h>

/* What one connection holds at most, whatever a capture says: bytes, and fragments that wait on one channel for others
   of their direction and reliability. What waits the longest gives way. */
#define UE_REASSEMBLY_BYTES_MAX (4u << 20)
#define UE_REASSEMBLY_FRAGMENTS_MAX 1024u

/* What receivers take at most, unless they are told otherwise (protocol.md 10.2). */
#define UE_REASSEMBLY_MESSAGE_BYTES_MAX 65536u

/* One fragment of a message, by where it was seen. */
struct ue_fragment {
    uint64_t frame;
    uint32_t item; /* its place among the items of the packet */
    uint32_t bits; /* what it adds to the message: exports add nothing */
};

enum ue_reassembly_event_type {
    UE_REASSEMBLY_COMPLETE, /* a message is complete with this bunch: one that is not partial, the exports of a fragment, or
                          all fragments of a chain */
    UE_REASSEMBLY_PENDING, /* this bunch is a fragment of a chain, of which others are missing so far */
    UE_REASSEMBLY_ABANDONED /* the fragments will never be a message, and are forgotten: problem. This bunch, which proved
                            it, may be among them */
};

enum ue_reassembly_problem {
    UE_REASSEMBLY_NO_PROBLEM,
    UE_REASSEMBLY_INTERRUPTED,     /* a new message began before the end of this one */
    UE_REASSEMBLY_NO_START,  /* what came before continues in no fragment */
    UE_REASSEMBLY_NO_END,        /* what comes next is no fragment that continues it */
    UE_REASSEMBLY_MIXED_RELIABILITY,         /* it would continue one of the other reliability */
    UE_REASSEMBLY_FRAGMENT_LOST,       /* other fragments were never seen, and come no more */
    UE_REASSEMBLY_UNALIGNED,     /* a fragment before the last is no whole number of bytes */
    UE_REASSEMBLY_FINAL_EXPORTS, /* the last fragment carries exports */
    UE_REASSEMBLY_TOO_LARGE,     /* of a WHOLE: more than UE_REASSEMBLY_MESSAGE_BYTES_MAX */
    UE_REASSEMBLY_NO_MEMORY      /* more waits than is kept */
};

/* Everything lives during the call. */
struct ue_reassembly_event {
    enum ue_reassembly_event_type type;
    enum ue_reassembly_problem problem;
    uint64_t frame; /* the bunch that brought it about */
    uint32_t item;
    unsigned side;
    uint32_t channel;
    bool is_reliable;
    struct ue_content content;           /* WHOLE; WAITS: only kind. Custom exports are what a chain has up to its
                                            bPartialCustomExportsFinal */
    bool is_kind_guessed;                /* nothing captured so far told it */
    bool is_joined;                      /* WHOLE: of a chain; content.data is a copy that begins at bit 0 */
    const struct ue_fragment *fragments; /* WHOLE, GIVEN_UP: in the order of the message; else this one */
    uint32_t fragment_count;
};

struct ue_reassembly_callbacks {
    void (*event)(void *user, const struct ue_reassembly_event *event);
    void *user;
};

struct ue_reassembly;

/* NULL: no memory. The memory's user must outlive it. */
struct ue_reassembly *ue_reassembly_new(const struct ue_allocator *memory);
void ue_reassembly_free(struct ue_reassembly *assembly);

/* Takes an event of the tracker (PACKET and BUNCH count), with the context of its datagram. A bunch that is not partial
   tells WHOLE; a fragment WHOLE of its exports, then WHOLE, WAITS or GIVEN_UP of its chain. GIVEN_UP of others that it
   proves broken comes before. Copies of reliable bunches tell nothing. */
void ue_reassembly_feed(struct ue_reassembly *assembly, const struct ue_context *context,
                      const struct ue_tracker_event *event, const struct ue_reassembly_callbacks *sink);

/* Sends for the memory that these bunches will need; see struct ue_tracker_callbacks. */
void ue_reassembly_prefetch(const struct ue_reassembly *assembly, const struct ue_item *items, size_t count);

/* To be called behind each datagram: only then is told what the unreliable fragments of a late packet belong to, once
   for those that hang together. */
void ue_reassembly_end_datagram(struct ue_reassembly *assembly, const struct ue_reassembly_callbacks *sink);

/* What the latest bunch that names the kind of a channel said, of either side: they share channels. Without one, what
   is likely (protocol.md 11.1), and *is_guessed. */
enum ue_content_kind ue_reassembly_channel_kind(const struct ue_reassembly *assembly, uint32_t channel, bool *is_guessed);

/* A static English sentence about the fragments, without final period. */
const char *ue_reassembly_problem_text(enum ue_reassembly_problem problem);

/* What it holds now. */
size_t ue_reassembly_bytes(const struct ue_reassembly *assembly);

#endif
