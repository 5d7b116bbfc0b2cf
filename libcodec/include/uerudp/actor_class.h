/* SPDX-License-Identifier: MIT */
/* Which actor a message opens its channel for, and the class that its archetype is of (protocol.md 23.3). */
#ifndef UERUDP_ACTOR_CLASS_H
#define UERUDP_ACTOR_CLASS_H

#include <uerudp/content.h>

struct ue_actor_guids {
    uint64_t guid;
    uint64_t archetype; /* 0: an actor of the map, or one that is gone already (protocol.md 23.3) */
};

/* False: the message opens no actor's channel, or is not readable so far. */
bool ue_actor_class_find(const struct ue_context *context, const struct ue_content *content, struct ue_actor_guids *opening);

/* The path of a class from that of its archetype: "/Game/Crate.Crate_C" from "/Game/Crate.Default__Crate_C". Other
   paths stay as they are; what does not fit is cut. */
void ue_actor_class_path(const char *archetype_path, char *class_path, size_t size_bytes);

/* The last name of a path, without what archetypes have in front: "Crate_C". Points into the path. */
const char *ue_actor_class_name(const char *path);

#endif
