/* SPDX-License-Identifier: MIT */
/* Passive reassembly of the messages of one connection from the bunches of a capture, in which fragments can be late,
   repeated or missing (protocol.md 10). Its input are the events of the tracker: reliable fragments are ordered by full
   channel sequence, unreliable ones by packet id. The exports of a fragment are a message of their own. */
#ifndef UERUDP_REASSEMBLY_H
#define UERUDP_REASSEMBLY_H

#include <uerudp/content.h>
#include <uerudp/packet_tracker.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of one connection: bytes, and pending fragments of one channel, direction and reliability. The oldest pending
   fragments are dropped first. */
#define UE_REASSEMBLY_BYTES_MAX (4u << 20)
#define UE_REASSEMBLY_FRAGMENTS_MAX 1024u

/* Largest message that receivers accept unless they are configured otherwise (protocol.md 10.2). */
#define UE_REASSEMBLY_MESSAGE_BYTES_MAX 65536u

/* Where one fragment of a message was captured. */
struct ue_fragment {
    uint64_t frame;
    uint32_t item; /* index among the items of the packet */
    uint32_t bits; /* number of bits that it adds to the message; exports add none */
};

enum ue_reassembly_event_type {
    UE_REASSEMBLY_COMPLETE, /* this bunch completes a message: it is not partial, or the last fragment to arrive; or the
                               message is the exports of this fragment */
    UE_REASSEMBLY_PENDING,  /* this bunch is a fragment of a message of which other fragments are missing so far */
    UE_REASSEMBLY_ABANDONED /* the fragments cannot become a message and are dropped, because of `problem`. This bunch
                               may be one of them */
};

enum ue_reassembly_problem {
    UE_REASSEMBLY_NO_PROBLEM,
    UE_REASSEMBLY_INTERRUPTED,       /* another message began before the end of this one */
    UE_REASSEMBLY_NO_START,          /* the bunch before the first fragment is not part of this message */
    UE_REASSEMBLY_NO_END,            /* the bunch after the last fragment does not continue this message */
    UE_REASSEMBLY_MIXED_RELIABILITY, /* a reliable fragment would continue an unreliable one, or the reverse */
    UE_REASSEMBLY_FRAGMENT_LOST,     /* other fragments were not captured, and are too old to arrive */
    UE_REASSEMBLY_UNALIGNED,         /* a fragment before the last is no whole number of bytes */
    UE_REASSEMBLY_FINAL_EXPORTS,     /* the last fragment carries exports */
    UE_REASSEMBLY_TOO_LARGE,         /* of a COMPLETE message: longer than UE_REASSEMBLY_MESSAGE_BYTES_MAX */
    UE_REASSEMBLY_NO_MEMORY          /* the limits above are reached */
};

/* An event. Valid during the call. */
struct ue_reassembly_event {
    enum ue_reassembly_event_type type;
    enum ue_reassembly_problem problem;
    uint64_t frame; /* frame, item and side of the bunch that caused the event */
    uint32_t item;
    unsigned side;
    uint32_t channel;
    bool is_reliable;
    struct ue_content content; /* COMPLETE; PENDING: kind only */
    bool is_kind_guessed;      /* no captured bunch names the kind of the channel */
    bool is_joined;            /* COMPLETE: joined from fragments; content.data is a copy that begins at bit 0 */
    const struct ue_fragment *fragments; /* COMPLETE, ABANDONED: in the order of the message; PENDING: this bunch */
    uint32_t fragment_count;
};

struct ue_reassembly_callbacks {
    void (*event)(void *user, const struct ue_reassembly_event *event);
    void *user;
};

struct ue_reassembly;

/* Allocates a reassembly; NULL when there is no memory. It copies the allocator, whose user must outlive it. */
struct ue_reassembly *ue_reassembly_new(const struct ue_allocator *allocator);
void ue_reassembly_free(struct ue_reassembly *reassembly);

/* Processes an event of the tracker (PACKET and BUNCH matter) with the context of its datagram. A bunch that is not
   partial emits COMPLETE. A fragment emits COMPLETE for its exports, ABANDONED for other messages that it proves
   impossible, then COMPLETE, PENDING or ABANDONED for its own message. A message with custom exports emits COMPLETE
   twice, first for these. Retransmissions emit nothing. */
void ue_reassembly_feed(struct ue_reassembly *reassembly, const struct ue_context *context,
                        const struct ue_tracker_event *event, const struct ue_reassembly_callbacks *callbacks);

/* Call after the events of each datagram. Emits the events of unreliable fragments in a late packet, one for each group
   of consecutive fragments. */
void ue_reassembly_end_datagram(struct ue_reassembly *reassembly, const struct ue_reassembly_callbacks *callbacks);

/* What the latest bunch that names the kind of a channel said, of either side: they share channels. Without one, what
   is likely (protocol.md 11.1), and *is_guessed. */
enum ue_content_kind ue_reassembly_channel_kind(const struct ue_reassembly *reassembly, uint32_t channel,
                                                bool *is_guessed);

/* A static English sentence about the problem, without final period. */
const char *ue_reassembly_problem_text(enum ue_reassembly_problem problem);

/* Number of bytes that the reassembly has allocated. */
size_t ue_reassembly_bytes(const struct ue_reassembly *reassembly);

#ifdef __cplusplus
}
#endif

#endif
