/* SPDX-License-Identifier: MIT */
/* Passive reassembly: the whole messages of one connection out of the bunches of a capture, in which fragments may come
   late or twice (spec 4.8, 4.9, 4.12). Export fragments are messages of their own. It stands on the tracker's numbers.
 */
#ifndef UE_ASSEMBLY_H
#define UE_ASSEMBLY_H

#include "libcodec/content.h"
#include "libcodec/track.h"

/* What one connection's fragments may hold at most, together, whatever a capture says; and one message (spec 4.11). */
#define UE_ASSEMBLY_BYTES_MAX (4u << 20)
#define UE_ASSEMBLY_MESSAGE_BYTES_MAX 65536u

/* One fragment of a message, by where it was seen. */
struct ue_fragment {
    uint64_t frame;
    uint32_t item;
    uint32_t bits; /* of its data */
};

enum ue_assembly_type {
    UE_ASSEMBLY_WHOLE,      /* content is complete with this bunch: a bunch that is not partial, an export fragment, or
                               the last missing fragment of a chain */
    UE_ASSEMBLY_WAITS,      /* a fragment; others are missing so far */
    UE_ASSEMBLY_UNFINISHED, /* the chain of `fragments` was given up; why: problem */
    UE_ASSEMBLY_MISFIT      /* this fragment belongs to no chain: problem */
};

enum ue_assembly_problem {
    UE_ASSEMBLY_NO_PROBLEM,
    UE_ASSEMBLY_NEW_BEGAN,     /* a new chain began before the end of the one before */
    UE_ASSEMBLY_NO_BEGINNING,  /* a middle or last fragment whose beginning was never seen */
    UE_ASSEMBLY_MIXED,         /* reliable and unreliable fragments */
    UE_ASSEMBLY_UNALIGNED,     /* a fragment before the last is no whole number of bytes */
    UE_ASSEMBLY_FINAL_EXPORTS, /* the last fragment carries exports */
    UE_ASSEMBLY_TOO_LARGE,
    UE_ASSEMBLY_NO_MEMORY
};

/* Everything lives during the call. */
struct ue_assembly_event {
    enum ue_assembly_type type;
    enum ue_assembly_problem problem;
    const struct ue_track_event *bunch;  /* the BUNCH that brought it about */
    struct ue_content content;           /* WHOLE; kind also with the others */
    bool is_custom_exports;              /* WHOLE: the part of a chain before its bPartialCustomExportsFinal */
    const struct ue_fragment *fragments; /* in the order of the message; one for a bunch that is not partial */
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

/* Takes one event of the tracker (BUNCH, OPENED, CLOSED and RESET count), with the context of its datagram. Copies of
   bunches that were taken already tell nothing. */
void ue_assembly_feed(struct ue_assembly *assembly, const struct ue_context *context,
                      const struct ue_track_event *event, const struct ue_assembly_sink *sink);

/* The kind of a channel now, by its opening or by its bunch; both sides share channels. */
enum ue_channel_kind ue_assembly_kind(const struct ue_assembly *assembly, uint32_t channel);

/* A static English sentence without final period. */
const char *ue_assembly_problem_text(enum ue_assembly_problem problem);

/* What it holds now. */
size_t ue_assembly_bytes(const struct ue_assembly *assembly);

#endif
