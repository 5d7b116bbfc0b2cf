/* SPDX-License-Identifier: MIT */
/* Network ids and what they stand for: references to objects, and objects that are exported with their names
   (protocol.md 2.7, 23.1). */
#ifndef UERUDP_OBJECT_H
#define UERUDP_OBJECT_H

#include <uerudp/profile.h>
#include <uerudp/status.h>
#include <uerudp/trace.h>

/* FNetworkGUID. Where a game made its length fixed: its first 64 bits, and the rest. */
struct ue_guid {
    uint64_t number;
    struct ue_view rest;
};

/* The id that at least 64 bits of fixed length say. */
struct ue_guid ue_guid_fixed(struct ue_view bits);

bool ue_guid_is_null(const struct ue_guid *guid);

/* An object that was spawned, not one with a stable name. */
bool ue_guid_is_dynamic(const struct ue_guid *guid);

enum ue_export_flag { UE_EXPORT_HAS_PATH = 1, UE_EXPORT_NO_LOAD = 2, UE_EXPORT_HAS_CHECKSUM = 4 };

/* An object and at most 16 around it. */
#define UE_OBJECT_LINKS_MAX 17

/* Members that are absent on the wire are zero. */
struct ue_object_link {
    struct ue_guid guid;
    uint8_t flags; /* enum ue_export_flag: there in exports, and in references whose number is 1 */
    struct ue_text name;
    uint32_t checksum;
};

/* An object, then the one that it belongs to, and so on: a further one as long as a link has UE_EXPORT_HAS_PATH. */
struct ue_object {
    uint8_t count;
    struct ue_object_link links[UE_OBJECT_LINKS_MAX];
};

/* An exported object: reads it at *bit of a message and advances *bit, or appends it at *bit of bytes. */
enum ue_status ue_export_decode(const struct ue_context *context, struct ue_view data, size_t *bit,
                                struct ue_object *object, struct ue_fault *fault);
enum ue_status ue_export_encode(const struct ue_context *context, const struct ue_object *object, uint8_t *bytes,
                                size_t size_bytes, size_t *bit, struct ue_fault *fault);

#endif
