/* SPDX-License-Identifier: MIT */
/* Passive reassembly of the messages of one connection from the bunches of a capture, in which fragments can be late,
   repeated or missing (protocol.md 10). Its input are the events of the tracker: reliable fragments are ordered by full
   channel sequence, unreliable ones by packet id. The exports of a fragment are a message of their own. */
#ifndef UERUDP_REASSEMBLY_H
#define UERUDP_REASSEMBLY_H

#include <uerudp/allocator.h>
#include <uerudp/observed_event.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Limits of one connection: bytes, and pending fragments of one channel, direction and reliability. The oldest pending
   fragments are dropped first. */
#define UE_REASSEMBLY_BYTES_MAX (4u << 20)
#define UE_REASSEMBLY_FRAGMENTS_MAX 1024u

/* Largest message that receivers accept unless they are configured otherwise (protocol.md 10.2). */
#define UE_REASSEMBLY_MESSAGE_BYTES_MAX 65536u

struct ue_reassembly;

/* Allocates a reassembly; NULL when there is no memory. It copies the allocator, whose user must outlive it. */
struct ue_reassembly *ue_reassembly_new(const struct ue_allocator *allocator);
void ue_reassembly_free(struct ue_reassembly *reassembly);

/* Processes an event of the tracker (PACKET and BUNCH matter) with the context of its datagram. A bunch that is not
   partial emits MESSAGE. A fragment emits MESSAGE for its exports, ABANDONED for other messages that it proves
   impossible, then MESSAGE, FRAGMENT or ABANDONED for its own message. A message with custom exports emits MESSAGE
   twice, first for these. Retransmissions emit nothing. */
void ue_reassembly_feed(struct ue_reassembly *reassembly, const struct ue_context *context,
                        const struct ue_observed_event *event, const struct ue_observer_callbacks *callbacks);

/* Call after the events of each datagram. Emits the events of unreliable fragments in a late packet, one for each group
   of consecutive fragments. */
void ue_reassembly_end_datagram(struct ue_reassembly *reassembly, const struct ue_observer_callbacks *callbacks);

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
