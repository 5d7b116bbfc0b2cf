/* SPDX-License-Identifier: MIT */
/* The actor for which a message opens its channel, and the class path that follows from its archetype
   (protocol.md 23.3). */
#ifndef UERUDP_ACTOR_CLASS_H
#define UERUDP_ACTOR_CLASS_H

#include <uerudp/content.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ue_actor_guids {
    uint64_t guid;
    uint64_t archetype; /* 0: an actor of the map, or one that is already destroyed */
};

/* Finds the actor's ids. Returns false when the message opens no actor channel, or when it is faulty before the id. */
bool ue_actor_class_find(const struct ue_context *context, const struct ue_content *content,
                         struct ue_actor_guids *guids);

/* Derives the path of a class from the path of its archetype: "/Game/Crate.Crate_C" from
   "/Game/Crate.Default__Crate_C". Other paths are copied. The result is NUL-terminated and cut to size_bytes. */
void ue_actor_class_path(const char *archetype_path, char *class_path, size_t size_bytes);

/* The last name of a path without the prefix of archetypes: "Crate_C". Points into the path. */
const char *ue_actor_class_name(const char *path);

#ifdef __cplusplus
}
#endif

#endif
