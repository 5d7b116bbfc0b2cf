/* SPDX-License-Identifier: MIT */
/* Private to libcodec: messages of actor channels. Some lengths in them depend on classes that the decoder does not
   know: it tries several interpretations, and takes the most plausible one (protocol.md 23.3). */
#ifndef UERUDP_LIBCODEC_CONTENT_ACTOR_MESSAGE_H
#define UERUDP_LIBCODEC_CONTENT_ACTOR_MESSAGE_H

#include <uerudp/content.h>

struct ue_cursor;

struct ue_actor_message {
    struct ue_cursor *c; /* at the first bit after exports and must-be-mapped list */
    const struct ue_context *context;
    const struct ue_content *content;
    const struct ue_guid_names *names; /* may be NULL */
    struct ue_view mapped;             /* ids of the must-be-mapped list */
    unsigned mapped_reads;             /* ids read so far in searches of that list */
};

void ue_actor_message_trace(struct ue_actor_message *m);

/* The open data of a message that opens a channel. */
void ue_actor_message_decode_spawn(struct ue_actor_message *m, struct ue_actor_spawn *spawn);

/* Whether the open data and the blocks of such a message end with it, and may be what they say. */
bool ue_actor_message_spawn_fits(struct ue_actor_message *m);

#endif
