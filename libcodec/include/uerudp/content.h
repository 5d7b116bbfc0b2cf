/* SPDX-License-Identifier: MIT */
/* What a whole message of a channel carries: a bunch that is not partial, or an assembled chain (protocol.md 23).
   Control messages are those of message.h. */
#ifndef UERUDP_CONTENT_H
#define UERUDP_CONTENT_H

#include <uerudp/profile.h>
#include <uerudp/status.h>
#include <uerudp/trace.h>

enum ue_content_kind {
    UE_CONTENT_UNKNOWN, /* its opening was not seen, or the game's own */
    UE_CONTENT_CONTROL,
    UE_CONTENT_ACTOR,
    UE_CONTENT_VOICE,
    UE_CONTENT_DATA_STREAM
};

#define UE_CONTENT_KIND_COUNT (UE_CONTENT_DATA_STREAM + 1)

/* The channel's name as engines write it, "Actor"; NULL for UE_CONTENT_UNKNOWN. */
const char *ue_content_kind_name(enum ue_content_kind kind);

/* Names for network ids, where the caller knows some. path: a text that lives during the call, or NULL. */
struct ue_guid_names {
    const char *(*path)(void *user, uint64_t guid);
    void *user;
};

/* One whole message. Bits in records and faults count from the first bit of data.base: the datagram, where data is a
   view into it. */
struct ue_content {
    enum ue_content_kind kind;
    bool open, close;
    bool has_exports;
    bool has_mapped;
    bool is_custom_exports; /* the part of a chain before its bPartialCustomExportsFinal */
    struct ue_view data;
};

/* Reports what is inside to the sink, to the last bit: what cannot be known is told as opaque bits (protocol.md 23). A
   fault ends the report; what is left is then told as opaque, so that nothing is lost. names may be NULL. */
enum ue_status ue_content_trace(const struct ue_context *context, const struct ue_content *content,
                                const struct ue_guid_names *names, const struct ue_trace *sink, struct ue_fault *fault);

#endif
