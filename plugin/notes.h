/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tracker and the reassembly found out about a datagram: written on the first pass, when it or a later
   datagram told, and only read by later passes. */
#ifndef UE_NOTES_H
#define UE_NOTES_H

#include "plugin/compat.h"

#include <stdint.h>

#include "libcodec/assembly.h"

enum ue_note_type {
    UE_NOTE_MISSING,   /* number: packets missing right before this one */
    UE_NOTE_LATE,      /* a packet with a higher number came before it */
    UE_NOTE_DUPLICATE, /* frame: the first copy of this packet */
    UE_NOTE_ACKS,      /* this packet reports the one of frame (0: never seen) as delivered; id: its number, span_ns */
    UE_NOTE_NACKS,     /* ... as not delivered */
    UE_NOTE_ACKED_IN,  /* later told: frame reports this packet as delivered */
    UE_NOTE_NACKED_IN,
    UE_NOTE_RELIABLE,      /* item: a reliable bunch; id: full channel sequence; number: in flight */
    UE_NOTE_COPY,          /* item: frame has the copy before, first_frame the first; is_set: spurious */
    UE_NOTE_COPIED_IN,     /* item; later told: frame has the next copy */
    UE_NOTE_GAP,           /* item: is_set: and more than a buffer holds is missing */
    UE_NOTE_PARTIAL_ERROR, /* item; number: enum ue_assembly_problem, or 0 */
    UE_NOTE_IN_FLIGHT,     /* number: packets of this side without verdict */
    UE_NOTE_HANDSHAKE,     /* span_ns: since the message that it answers */
    UE_NOTE_KIND,          /* item; number: enum ue_content_kind of its channel, where the bunch does not say it */
    UE_NOTE_ASSEMBLED,     /* item completes a message; see ue_notes_message */
    UE_NOTE_ASSEMBLED_IN   /* item; later told: frame completes its message */
};

/* One note, as read. Members that a type does not name are zero. */
struct ue_note {
    enum ue_note_type type;
    uint32_t item;
    uint32_t frame, first_frame;
    uint32_t number;
    int64_t id;
    int64_t span_ns;
    bool is_set;
};

struct ue_visit;

/* Reads the notes of a datagram in the order of their type, then item; false behind the last. */
struct ue_note_reader {
    const uint8_t *at, *end;
};
struct ue_note_reader ue_notes_of(const struct ue_visit *visit);
bool ue_notes_next(struct ue_note_reader *reader, struct ue_note *note);

#endif
