/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What sequence analysis and reassembly found about each datagram. The first pass writes results, for the current
   datagram and for earlier ones; later passes only read them. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_ANALYSIS_RESULTS_H
#define UERUDP_PLUGIN_FIRST_PASS_ANALYSIS_RESULTS_H

#include "plugin/compat.h"

#include <epan/wmem_scopes.h>
#include <stdint.h>

#include <uerudp/reassembly.h>

struct uerudp_frame_state;

enum uerudp_analysis_result_type {
    /* of the datagram */
    UERUDP_RESULT_MISSING,           /* number: packets missing directly before this one; id: the last of them; is_set:
                                        malformed datagrams there may be some of them */
    UERUDP_RESULT_OUT_OF_ORDER,      /* a packet with a higher id was captured before */
    UERUDP_RESULT_DUPLICATE,         /* frame: where this packet was captured first; 0: not known */
    UERUDP_RESULT_OTHER_VIEW,        /* frame: of another interface, where this packet was captured first */
    UERUDP_RESULT_PACKETS_IN_FLIGHT, /* number: packets of this side without ack or nak so far, this one included */
    UERUDP_RESULT_JITTER,            /* span_ns: smoothed jitter of the sender's clock against the capture's */
    UERUDP_RESULT_HANDSHAKE_RTT,     /* span_ns: since the handshake message that this one answers */
    UERUDP_RESULT_ACK, /* id: of the packet that is reported as delivered; frame: of it (0: not captured); span_ns:
                          since it, if no earlier packet that was not captured may have reported it */
    UERUDP_RESULT_NAK, /* likewise, not delivered; is_set: inferred, because its ack never reached the sender */
    UERUDP_RESULT_NEVER_SENT, /* id: the last of the packets that this one acknowledges although they were never sent
                                 before; frame: takes that back */
    UERUDP_RESULT_ACKED_IN,   /* frame: the frame that acknowledges this packet */
    UERUDP_RESULT_NACKED_IN,  /* frame: the frame that reports it as not delivered; may follow ACKED_IN */
    UERUDP_RESULT_FINDING,    /* number: see finding_results.h */
    /* of one bunch; in the order in which most are added */
    UERUDP_RESULT_MESSAGE,          /* a whole message, or whole exports; number: enum ue_content_kind of the channel */
    UERUDP_RESULT_CHANNEL_KIND,     /* without MESSAGE; number: the same, where the bunch does not name it */
    UERUDP_RESULT_RELIABLE,         /* id: full channel sequence; number: in flight; is_set: buffer nearly full */
    UERUDP_RESULT_RETRANSMISSION,   /* number: transmission, from 2; frame: previous; first_frame: first (0: not known);
                                       is_set: spurious */
    UERUDP_RESULT_RETRANSMITTED_IN, /* frame: the next transmission of this bunch */
    UERUDP_RESULT_RELIABLE_GAP,     /* bunches before it are missing; is_set: more than the buffer holds */
    UERUDP_RESULT_PARTIAL_ERROR,    /* number: enum ue_reassembly_problem, or 0 */
    UERUDP_RESULT_OPENING,          /* a fragment, not the first, of the message that opens the channel */
    UERUDP_RESULT_REASSEMBLED,      /* the bunch completes a message, see reassembly_results.h */
    UERUDP_RESULT_REASSEMBLED_IN,   /* frame: where the message of this fragment is completed */
    UERUDP_RESULT_GIVEN_UP,         /* the bunch ends fragments without a message, see reassembly_results.h */
    UERUDP_RESULT_GIVEN_UP_IN,      /* frame: where this fragment is given up; number: enum ue_reassembly_problem */
    UERUDP_RESULT_REMOVED,          /* a removed result; has no members */
    UERUDP_RESULT_TYPE_COUNT
};

/* One result. Members that its type does not have are zero. */
struct uerudp_analysis_result {
    enum uerudp_analysis_result_type type;
    uint32_t item; /* index of the bunch among the items of the packet */
    uint32_t frame, first_frame;
    uint32_t number;
    int64_t id;
    int64_t span_ns; /* -1: not known */
    bool is_set;
};

/* An array of results. */
struct uerudp_analysis_results {
    const struct uerudp_analysis_result *results;
    size_t count;
};

void uerudp_analysis_results_register(void);

/* Between begin and end, this datagram is the current one: its results are stored together. */
void uerudp_analysis_results_begin(struct uerudp_frame_state *state);
void uerudp_analysis_results_end(void);

/* Adds a result to the current datagram or to an earlier one. First pass only. */
void uerudp_analysis_results_add(struct uerudp_frame_state *state, const struct uerudp_analysis_result *result);

/* The same for a result of type MESSAGE or CHANNEL_KIND, in fewer instructions: every bunch has one. */
void uerudp_analysis_results_add_kind(struct uerudp_frame_state *state, enum uerudp_analysis_result_type type,
                                      uint32_t item, enum ue_content_kind kind);

/* Removes the results of one type, with this id (NULL: any), from an earlier datagram. Returns whether there were any.
   First pass only. */
bool uerudp_analysis_results_remove(const struct uerudp_frame_state *state, enum uerudp_analysis_result_type type,
                                    const int64_t *id);

/* All results of a datagram, allocated in pool and sorted: first those of the datagram, then those of each item; by
   type, then in the order of adding. */
struct uerudp_analysis_results uerudp_analysis_results_read(const struct uerudp_frame_state *state,
                                                            wmem_allocator_t *pool);

/* Sets of results: all of a type, or only those with is_set. */
#define UERUDP_RESULTS_OF_TYPE(type) (UINT64_C(0x100000001) << (type))
#define UERUDP_RESULTS_WITH_FLAG(type) (UINT64_C(0x100000000) << (type))
#define UERUDP_RESULTS_EVERY UINT64_MAX

/* Calls back for each result of a set, in storage order. Cheaper than uerudp_analysis_results_read() where few results
   are wanted. The result is valid during the call. */
void uerudp_analysis_results_for_each(const struct uerudp_frame_state *state, uint64_t set,
                                      void (*callback)(void *user, const struct uerudp_analysis_result *result),
                                      void *user);

/* The results of the datagram itself, and those of one item. */
struct uerudp_analysis_results uerudp_analysis_results_of_datagram(const struct uerudp_analysis_results *all);
struct uerudp_analysis_results uerudp_analysis_results_of_item(const struct uerudp_analysis_results *all,
                                                               uint32_t item);

/* Analysis flags (enum uerudp_tap_analysis_flag) of one result, and of an array. */
uint32_t uerudp_analysis_result_flags(const struct uerudp_analysis_result *result);
uint32_t uerudp_analysis_results_all_flags(const struct uerudp_analysis_results *results);

/* The first result of a type; NULL: none. */
const struct uerudp_analysis_result *uerudp_analysis_results_find(const struct uerudp_analysis_results *results,
                                                                  enum uerudp_analysis_result_type type);

#endif
