/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tracker and the reassembly found out about a datagram: written on the first pass, when it or a later
   datagram told, and only read by later passes. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_ANALYSIS_RESULTS_H
#define UERUDP_PLUGIN_FIRST_PASS_ANALYSIS_RESULTS_H

#include "plugin/compat.h"

#include <epan/wmem_scopes.h>
#include <stdint.h>

#include <uerudp/reassembly.h>

struct uerudp_frame_state;

enum uerudp_analysis_result_type {
    /* of the datagram */
    UERUDP_RESULT_MISSING,   /* number: packets missing right before this one; id: the last of them */
    UERUDP_RESULT_OUT_OF_ORDER,      /* a packet with a higher number came before it */
    UERUDP_RESULT_DUPLICATE, /* frame: the first copy of this packet */
    UERUDP_RESULT_PACKETS_IN_FLIGHT, /* number: packets of this side without verdict */
    UERUDP_RESULT_JITTER,    /* span_ns: of the sender's clock against the capture's, smoothed */
    UERUDP_RESULT_HANDSHAKE_RTT, /* span_ns: since the message that it answers */
    UERUDP_RESULT_ACK,      /* this packet reports the one of frame (0: never seen) as delivered; id: its number, span_ns */
    UERUDP_RESULT_NAK,     /* ... as not delivered; is_set: not this packet reports it, but an ack of it was lost */
    UERUDP_RESULT_ACKED_IN,  /* later told: frame reports this packet as delivered */
    UERUDP_RESULT_NACKED_IN, /* later told, perhaps behind the other: as not delivered */
    /* of one item, a bunch; in the order in which most are added */
    UERUDP_RESULT_MESSAGE,         /* its data are a message, or exports are; number: enum ue_content_kind of its channel */
    UERUDP_RESULT_CHANNEL_KIND,          /* no WHOLE; number: the same, where the bunch does not say it */
    UERUDP_RESULT_RELIABLE,      /* id: full channel sequence; number: in flight on its channel; is_set: near the limit */
    UERUDP_RESULT_RETRANSMISSION,          /* number: which, from 2; frame has the copy before, first_frame the first (0: not known);
                              is_set: spurious */
    UERUDP_RESULT_RETRANSMITTED_IN,     /* later told: frame has the next copy */
    UERUDP_RESULT_RELIABLE_GAP,           /* reliable bunches before it are missing; is_set: more than a buffer holds */
    UERUDP_RESULT_PARTIAL_ERROR, /* number: enum ue_reassembly_problem, or 0 */
    UERUDP_RESULT_REASSEMBLED,     /* the bunch completes a message; see chains.h */
    UERUDP_RESULT_REASSEMBLED_IN,  /* told by the last of its message, perhaps later: frame completes it */
    UERUDP_RESULT_GIVEN_UP,      /* the bunch proves that fragments will be no message; see chains.h */
    UERUDP_RESULT_GIVEN_UP_IN,   /* told later or now: frame proves that this fragment is of none; number: enum
                              ue_reassembly_problem */
    UERUDP_RESULT_REMOVED,          /* of no item: nothing; what was a note, see uerudp_analysis_results_remove */
    UERUDP_RESULT_TYPE_COUNT
};

/* One note. Members that a type does not name are zero. */
struct uerudp_analysis_result {
    enum uerudp_analysis_result_type type;
    uint32_t item; /* of a bunch: its place among the items of the packet */
    uint32_t frame, first_frame;
    uint32_t number;
    int64_t id;
    int64_t span_ns; /* -1: not known */
    bool is_set;
};

/* Some notes, one behind the other. */
struct uerudp_analysis_results {
    const struct uerudp_analysis_result *notes;
    size_t count;
};

void uerudp_analysis_results_register(void);

/* From here to the end, this datagram is in hand: most notes are about it, and are kept together. */
void uerudp_analysis_results_begin(struct uerudp_frame_state *visit);
void uerudp_analysis_results_end(void);

/* Adds a note to the datagram in hand, or to another: first pass only. */
void uerudp_analysis_results_add(struct uerudp_frame_state *visit, const struct uerudp_analysis_result *note);

/* Takes back the notes of one type about a datagram that is no longer in hand: first pass only. */
void uerudp_analysis_results_remove(const struct uerudp_frame_state *visit, enum uerudp_analysis_result_type type);

/* All notes of a datagram, in the pool: those of the datagram first, then those of its items, item by item; in the
   order of their type, and of one type as they were added. */
struct uerudp_analysis_results uerudp_analysis_results_read(const struct uerudp_frame_state *visit, wmem_allocator_t *pool);

/* Sets of notes: those of a type, or of them only those with is_set. */
#define UERUDP_RESULTS_OF_TYPE(type) (UINT64_C(0x100000001) << (type))
#define UERUDP_RESULTS_WITH_FLAG(type) (UINT64_C(0x100000000) << (type))
#define UERUDP_RESULTS_EVERY UINT64_MAX

/* Calls with each note of a set, in the order in which they are kept: nearly that in which they were added. Takes less
   than reading all where few are wanted. The note lives during the call. */
void uerudp_analysis_results_for_each(const struct uerudp_frame_state *visit, uint64_t set, void (*tell)(void *user, const struct uerudp_analysis_result *note),
                   void *user);

/* The part of them about the datagram itself, and about one item. */
struct uerudp_analysis_results uerudp_analysis_results_of_datagram(const struct uerudp_analysis_results *all);
struct uerudp_analysis_results uerudp_analysis_results_of_item(const struct uerudp_analysis_results *all, uint32_t item);

/* The flags that follow from a note, and from a part: enum uerudp_tap_analysis_flag. */
uint32_t uerudp_analysis_result_flags(const struct uerudp_analysis_result *note);
uint32_t uerudp_analysis_results_all_flags(const struct uerudp_analysis_results *part);

/* The first note of a type in a part; NULL: none. */
const struct uerudp_analysis_result *uerudp_analysis_results_find(const struct uerudp_analysis_results *part, enum uerudp_analysis_result_type type);

#endif
