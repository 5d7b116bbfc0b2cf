/* SPDX-License-Identifier: MIT */
/* Network ids (FNetworkGUID), references to objects, and exports of objects with their names (protocol.md 2.7, 23.1).
   Views point into the message. */
#ifndef UERUDP_OBJECT_H
#define UERUDP_OBJECT_H

#include <uerudp/profile.h>
#include <uerudp/status.h>
#include <uerudp/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* FNetworkGUID. An id whose length a game made fixed is split into its first 64 bits and the rest. */
struct ue_guid {
    uint64_t number;
    struct ue_view rest;
};

/* The id in a run of at least 64 bits, for ids of fixed length. */
struct ue_guid ue_guid_fixed(struct ue_view bits);

bool ue_guid_is_null(const struct ue_guid *guid);

/* Whether the object was spawned at run time: its id is even and not 0. Objects with stable names have odd ids. */
bool ue_guid_is_dynamic(const struct ue_guid *guid);

enum ue_export_flag { UE_EXPORT_HAS_PATH = 1, UE_EXPORT_NO_LOAD = 2, UE_EXPORT_HAS_CHECKSUM = 4 };

/* An object and at most 16 outer objects. */
#define UE_OBJECT_LINKS_MAX 17

/* Members that are absent on the wire are zero. */
struct ue_object_link {
    struct ue_guid guid;
    uint8_t flags; /* enum ue_export_flag; present in exports, and in references with id 1 */
    struct ue_text name;
    uint32_t checksum;
};

/* An object, its outer object, and so on: a link with UE_EXPORT_HAS_PATH is followed by its outer object. */
struct ue_object {
    uint8_t count;
    struct ue_object_link links[UE_OBJECT_LINKS_MAX];
};

/* Decodes an exported object at *bit of a message, or encodes one at *bit of bytes. Both advance *bit. */
enum ue_status ue_export_decode(const struct ue_context *context, struct ue_view data, size_t *bit,
                                struct ue_object *object, struct ue_fault *fault);
enum ue_status ue_export_encode(const struct ue_context *context, const struct ue_object *object, uint8_t *bytes,
                                size_t size_bytes, size_t *bit, struct ue_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
