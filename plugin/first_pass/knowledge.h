/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a stream besides its packets: the paths of network ids, which actor stands on a channel, and which
   channels said anything. Learned on the first pass; every pass asks for what was known at its frame. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_KNOWLEDGE_H
#define UERUDP_PLUGIN_FIRST_PASS_KNOWLEDGE_H

#include "plugin/compat.h"

#include <epan/wmem_scopes.h>

#include <uerudp/actor_class.h>
#include <uerudp/guid_map.h>
#include <uerudp/reassembly.h>
#include "plugin/first_pass/channel_set.h"

/* What all streams of a file hold at most together: bytes, and openings of channels. What comes later is not learned.
 */
#define UERUDP_KNOWLEDGE_BYTES_MAX (256u << 20)
#define UERUDP_KNOWLEDGE_SPAWNS_MAX (1u << 20)

/* Of one stream; zeroed. All of it lies in the scope of the capture file. */
struct uerudp_knowledge {
    struct ue_guid_map *map;   /* NULL: nothing was told */
    struct uerudp_knowledge_spawns *openings; /* NULL: no channel was opened */
    struct uerudp_channel_set talked; /* channels that carried messages which are not empty */
};

/* The class, or the object itself where no class is known: of a channel's actor. */
struct uerudp_knowledge_actor {
    uint64_t guid;
    uint64_t frame;         /* that opened the channel */
    const char *class_path; /* NULL: not known; else in the pool */
};

void uerudp_knowledge_register(void);

/* Takes what the assembly tells: a message that is whole. */
void uerudp_knowledge_add_message(struct uerudp_knowledge *knowledge, const struct ue_context *context,
                        const struct ue_reassembly_event *event);

/* The path of an id as of this frame, in the pool; NULL: not known. */
const char *uerudp_knowledge_find_path(const struct uerudp_knowledge *knowledge, wmem_allocator_t *pool, uint64_t guid,
                              uint64_t frame);

/* The actor that stands on a channel as of this frame; false: none was seen. */
bool uerudp_knowledge_find_actor(const struct uerudp_knowledge *knowledge, wmem_allocator_t *pool, uint32_t channel, uint64_t frame,
                        struct uerudp_knowledge_actor *actor);

#endif
