/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What messages of a stream contain: path names of net GUIDs, the actor of each channel, channels with messages. The
   first pass collects it; every pass asks for the state at its frame. */
#ifndef UERUDP_PLUGIN_FIRST_PASS_KNOWN_OBJECTS_H
#define UERUDP_PLUGIN_FIRST_PASS_KNOWN_OBJECTS_H

#include "plugin/compat.h"

#include <epan/wmem_scopes.h>

#include <uerudp/actor_class.h>
#include <uerudp/observer.h>
#include "plugin/first_pass/channel_set.h"

/* Limits for all streams of a capture file together: bytes of sets of channels, and actor spawns. Whatever exceeds them
   is not stored. */
#define UERUDP_KNOWN_OBJECTS_BYTES_MAX (64u << 20)
#define UERUDP_KNOWN_OBJECTS_SPAWNS_MAX (1u << 20)

/* Of one stream, in file scope. */
struct uerudp_known_objects {
    struct ue_observer *observer; /* NULL: nothing is known */
    const struct ue_observed_connection *connection;
    struct uerudp_known_objects_spawns *spawns; /* NULL: no actor channel was opened */
    struct uerudp_channel_set channels;         /* channels with at least one message that is not empty */
    uint64_t *first_opaque;                     /* frame and bunch of the content that is reported as not decoded */
};

/* The actor of a channel. An actor of the map has no archetype, and its own name. */
struct uerudp_known_objects_actor {
    struct ue_actor_guids guids;
    const char *name; /* of its class, or its own; in file scope or allocated in pool; NULL: not known */
};

void uerudp_known_objects_register(void);

void uerudp_known_objects_init(struct uerudp_known_objects *objects, struct ue_observer *observer,
                               const struct ue_observed_connection *connection);

/* Adds the contents of a whole message. Returns whether it spawns an actor. */
bool uerudp_known_objects_add_message(struct uerudp_known_objects *objects, const struct ue_context *context,
                                      const struct ue_observed_event *event);

/* Adds that a channel opens in a frame, for an actor that no message of the frame names. */
void uerudp_known_objects_add_open(struct uerudp_known_objects *objects, uint32_t channel, uint64_t frame);

/* Whether this bunch, whose content does not decode, is the first of its stream that any pass asks about; where no
   stream is known, every bunch is. */
bool uerudp_known_objects_is_first_opaque(const struct uerudp_known_objects *objects, uint32_t frame, uint32_t item);

/* The path of a net GUID at this frame, allocated in pool; NULL: not known. */
const char *uerudp_known_objects_find_path(const struct uerudp_known_objects *objects, wmem_allocator_t *pool,
                                           uint64_t guid, uint64_t frame);

/* The actor of a channel at this frame; false: none was seen, and *actor is zeroed. */
bool uerudp_known_objects_find_actor(const struct uerudp_known_objects *objects, wmem_allocator_t *pool,
                                     uint32_t channel, uint64_t frame, struct uerudp_known_objects_actor *actor);

/* The path of an actor's class at this frame, or of an actor of the map, allocated in pool; NULL: not known. */
const char *uerudp_known_objects_find_class_path(const struct uerudp_known_objects *objects, wmem_allocator_t *pool,
                                                 const struct ue_actor_guids *guids, uint64_t frame);

#endif
