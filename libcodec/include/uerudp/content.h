/* SPDX-License-Identifier: MIT */
/* The content of a whole message of a channel: of a bunch that is not partial, or of a reassembled message
   (protocol.md 23). Control messages are described in message.h. */
#ifndef UERUDP_CONTENT_H
#define UERUDP_CONTENT_H

#include <uerudp/profile.h>
#include <uerudp/status.h>
#include <uerudp/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ue_bunch;

enum ue_content_kind {
    UE_CONTENT_UNKNOWN, /* the open of the channel was not seen, or it is a game's own kind */
    UE_CONTENT_CONTROL,
    UE_CONTENT_ACTOR,
    UE_CONTENT_VOICE,
    UE_CONTENT_DATA_STREAM
};

#define UE_CONTENT_KIND_COUNT (UE_CONTENT_DATA_STREAM + 1)

/* The channel's name as engines write it, "Actor"; NULL for UE_CONTENT_UNKNOWN. */
const char *ue_content_kind_name(enum ue_content_kind kind);

/* The kind of the channel that a bunch names or has the type of; UE_CONTENT_UNKNOWN for a game's own kind. False when
   the bunch has neither. */
bool ue_content_named_kind(const struct ue_context *context, const struct ue_bunch *bunch, enum ue_content_kind *kind);

/* The caller's guid bindings. path returns a text that is valid during the call, or NULL when the id is not known. */
struct ue_guid_names {
    const char *(*path)(void *user, uint64_t guid);
    void *user;
};

/* One whole message. Bits in records and faults count from the first bit of data.base, which is the start of the
   datagram when data is a view into it. */
struct ue_content {
    enum ue_content_kind kind;
    bool open, close;
    bool has_exports;
    bool has_mapped;
    bool is_custom_exports; /* the fragments up to the one with bPartialCustomExportsFinal */
    struct ue_view data;
};

/* Reports the content to a trace. Every bit of the message is reported: bits whose format is not known, and bits after
   a fault, are reported as opaque (protocol.md 23). names may be NULL. */
enum ue_status ue_content_trace(const struct ue_context *context, const struct ue_content *content,
                                const struct ue_guid_names *names, const struct ue_trace *trace,
                                struct ue_fault *fault);

struct ue_actor_spawn;

/* Decodes the spawn of a message that opens the channel of an actor. Returns false when the message has none; after a
   fault, the members that follow are 0. */
bool ue_content_find_spawn(const struct ue_context *context, const struct ue_content *content,
                           struct ue_actor_spawn *spawn);

/* Whether such a message ends with its spawn and blocks under the EngineNetVer of the settings, and no value in it is
   impossible. */
bool ue_content_spawn_fits(const struct ue_context *context, const struct ue_content *content);

#ifdef __cplusplus
}
#endif

#endif
