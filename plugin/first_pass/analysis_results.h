/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tracker and the reassembly found out about a datagram: written on the first pass, when it or a later
   datagram told, and only read by later passes. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_ANALYSIS_RESULTS_H
#define UERUDP_PLUGIN_FIRST_PASS_ANALYSIS_RESULTS_H

#include "plugin/compat.h"

#include <epan/wmem_scopes.h>
#include <stdint.h>

#include <uerudp/reassembly.h>

struct ue_visit;

enum ue_note_type {
    /* of the datagram */
    UE_NOTE_MISSING,   /* number: packets missing right before this one; id: the last of them */
    UE_NOTE_LATE,      /* a packet with a higher number came before it */
    UE_NOTE_DUPLICATE, /* frame: the first copy of this packet */
    UE_NOTE_IN_FLIGHT, /* number: packets of this side without verdict */
    UE_NOTE_JITTER,    /* span_ns: of the sender's clock against the capture's, smoothed */
    UE_NOTE_HANDSHAKE, /* span_ns: since the message that it answers */
    UE_NOTE_ACKS,      /* this packet reports the one of frame (0: never seen) as delivered; id: its number, span_ns */
    UE_NOTE_NACKS,     /* ... as not delivered; is_set: not this packet reports it, but an ack of it was lost */
    UE_NOTE_ACKED_IN,  /* later told: frame reports this packet as delivered */
    UE_NOTE_NACKED_IN, /* later told, perhaps behind the other: as not delivered */
    /* of one item, a bunch; in the order in which most are added */
    UE_NOTE_WHOLE,         /* its data are a message, or exports are; number: enum ue_content_kind of its channel */
    UE_NOTE_KIND,          /* no WHOLE; number: the same, where the bunch does not say it */
    UE_NOTE_RELIABLE,      /* id: full channel sequence; number: in flight on its channel; is_set: near the limit */
    UE_NOTE_COPY,          /* number: which, from 2; frame has the copy before, first_frame the first (0: not known);
                              is_set: spurious */
    UE_NOTE_COPIED_IN,     /* later told: frame has the next copy */
    UE_NOTE_GAP,           /* reliable bunches before it are missing; is_set: more than a buffer holds */
    UE_NOTE_PARTIAL_ERROR, /* number: enum ue_assembly_problem, or 0 */
    UE_NOTE_ASSEMBLED,     /* the bunch completes a message; see chains.h */
    UE_NOTE_ASSEMBLED_IN,  /* told by the last of its message, perhaps later: frame completes it */
    UE_NOTE_GIVEN_UP,      /* the bunch proves that fragments will be no message; see chains.h */
    UE_NOTE_GIVEN_UP_IN,   /* told later or now: frame proves that this fragment is of none; number: enum
                              ue_assembly_problem */
    UE_NOTE_VOID,          /* of no item: nothing; what was a note, see ue_notes_void */
    UE_NOTE_TYPE_COUNT
};

/* One note. Members that a type does not name are zero. */
struct ue_note {
    enum ue_note_type type;
    uint32_t item; /* of a bunch: its place among the items of the packet */
    uint32_t frame, first_frame;
    uint32_t number;
    int64_t id;
    int64_t span_ns; /* -1: not known */
    bool is_set;
};

/* Some notes, one behind the other. */
struct ue_notes {
    const struct ue_note *notes;
    size_t count;
};

void ue_notes_register(void);

/* From here to the end, this datagram is in hand: most notes are about it, and are kept together. */
void ue_notes_begin(struct ue_visit *visit);
void ue_notes_end(void);

/* Adds a note to the datagram in hand, or to another: first pass only. */
void ue_notes_add(struct ue_visit *visit, const struct ue_note *note);

/* Takes back the notes of one type about a datagram that is no longer in hand: first pass only. */
void ue_notes_void(const struct ue_visit *visit, enum ue_note_type type);

/* All notes of a datagram, in the pool: those of the datagram first, then those of its items, item by item; in the
   order of their type, and of one type as they were added. */
struct ue_notes ue_notes_read(const struct ue_visit *visit, wmem_allocator_t *pool);

/* Sets of notes: those of a type, or of them only those with is_set. */
#define UE_NOTES_ALL(type) (UINT64_C(0x100000001) << (type))
#define UE_NOTES_SET(type) (UINT64_C(0x100000000) << (type))
#define UE_NOTES_EVERY UINT64_MAX

/* Calls with each note of a set, in the order in which they are kept: nearly that in which they were added. Takes less
   than reading all where few are wanted. The note lives during the call. */
void ue_notes_walk(const struct ue_visit *visit, uint64_t set, void (*tell)(void *user, const struct ue_note *note),
                   void *user);

/* The part of them about the datagram itself, and about one item. */
struct ue_notes ue_notes_of_datagram(const struct ue_notes *all);
struct ue_notes ue_notes_of_item(const struct ue_notes *all, uint32_t item);

/* The flags that follow from a note, and from a part: enum ue_analysis_flag. */
uint32_t ue_note_flags(const struct ue_note *note);
uint32_t ue_notes_flags(const struct ue_notes *part);

/* The first note of a type in a part; NULL: none. */
const struct ue_note *ue_notes_find(const struct ue_notes *part, enum ue_note_type type);

#endif
