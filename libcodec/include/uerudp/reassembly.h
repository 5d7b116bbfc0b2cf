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
#define UE_ASSEMBLY_BYTES_MAX (4u << 20)
#define UE_ASSEMBLY_FRAGMENTS_MAX 1024u

/* What receivers take at most, unless they are told otherwise (protocol.md 10.2). */
#define UE_ASSEMBLY_MESSAGE_BYTES_MAX 65536u

/* One fragment of a message, by where it was seen. */
struct ue_fragment {
    uint64_t frame;
    uint32_t item; /* its place among the items of the packet */
    uint32_t bits; /* what it adds to the message: exports add nothing */
};

enum ue_assembly_type {
    UE_ASSEMBLY_WHOLE, /* a message is complete with this bunch: one that is not partial, the exports of a fragment, or
                          all fragments of a chain */
    UE_ASSEMBLY_WAITS, /* this bunch is a fragment of a chain, of which others are missing so far */
    UE_ASSEMBLY_GIVEN_UP /* the fragments will never be a message, and are forgotten: problem. This bunch, which proved
                            it, may be among them */
};

enum ue_assembly_problem {
    UE_ASSEMBLY_NO_PROBLEM,
    UE_ASSEMBLY_NEW_BEGAN,     /* a new message began before the end of this one */
    UE_ASSEMBLY_NO_BEGINNING,  /* what came before continues in no fragment */
    UE_ASSEMBLY_NO_END,        /* what comes next is no fragment that continues it */
    UE_ASSEMBLY_MIXED,         /* it would continue one of the other reliability */
    UE_ASSEMBLY_MISSING,       /* other fragments were never seen, and come no more */
    UE_ASSEMBLY_UNALIGNED,     /* a fragment before the last is no whole number of bytes */
    UE_ASSEMBLY_FINAL_EXPORTS, /* the last fragment carries exports */
    UE_ASSEMBLY_TOO_LARGE,     /* of a WHOLE: more than UE_ASSEMBLY_MESSAGE_BYTES_MAX */
    UE_ASSEMBLY_NO_MEMORY      /* more waits than is kept */
};

/* Everything lives during the call. */
struct ue_assembly_event {
    enum ue_assembly_type type;
    enum ue_assembly_problem problem;
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

struct ue_assembly_sink {
    void (*event)(void *user, const struct ue_assembly_event *event);
    void *user;
};

struct ue_assembly;

/* NULL: no memory. The memory's user must outlive it. */
struct ue_assembly *ue_assembly_new(const struct ue_track_memory *memory);
void ue_assembly_free(struct ue_assembly *assembly);

/* Takes an event of the tracker (PACKET and BUNCH count), with the context of its datagram. A bunch that is not partial
   tells WHOLE; a fragment WHOLE of its exports, then WHOLE, WAITS or GIVEN_UP of its chain. GIVEN_UP of others that it
   proves broken comes before. Copies of reliable bunches tell nothing. */
void ue_assembly_feed(struct ue_assembly *assembly, const struct ue_context *context,
                      const struct ue_track_event *event, const struct ue_assembly_sink *sink);

/* Sends for the memory that these bunches will need; see struct ue_track_sink. */
void ue_assembly_expect(const struct ue_assembly *assembly, const struct ue_item *items, size_t count);

/* To be called behind each datagram: only then is told what the unreliable fragments of a late packet belong to, once
   for those that hang together. */
void ue_assembly_end(struct ue_assembly *assembly, const struct ue_assembly_sink *sink);

/* What the latest bunch that names the kind of a channel said, of either side: they share channels. Without one, what
   is likely (protocol.md 11.1), and *is_guessed. */
enum ue_content_kind ue_assembly_kind(const struct ue_assembly *assembly, uint32_t channel, bool *is_guessed);

/* A static English sentence about the fragments, without final period. */
const char *ue_assembly_problem_text(enum ue_assembly_problem problem);

/* What it holds now. */
size_t ue_assembly_bytes(const struct ue_assembly *assembly);

#endif
