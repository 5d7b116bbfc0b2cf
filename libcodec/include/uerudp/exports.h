/* SPDX-License-Identifier: MIT */
/* Exports: the names that stand in front of what uses them (protocol.md 23 to 23.2). */
#ifndef UERUDP_EXPORTS_H
#define UERUDP_EXPORTS_H

#include <uerudp/bunch.h>
#include <uerudp/object.h>

/* Engines refuse more objects in one message. */
#define UE_EXPORTS_MAX 2048

/* The head of an export section: behind it come that many objects (ue_export_decode), or exports of fields. */
struct ue_exports {
    bool has_rep_layout; /* of fields */
    uint32_t count;
};

/* The export of a field, which old replays have. Members that are absent on the wire are zero. */
struct ue_field_export {
    uint32_t path_index;
    bool has_path;
    struct ue_text path;
    uint32_t group_size;
    uint8_t exported; /* 0: nothing else */
    uint32_t handle;
    uint32_t checksum;
    struct ue_name name; /* up to EngineNetVer 9 only its text counts */
    struct ue_text type; /* up to EngineNetVer 8 */
};

/* The objects that the receiver must be able to load before it takes the message. */
struct ue_mapped {
    uint16_t count;
    struct ue_view ids; /* that many network ids as on the wire */
};

/* Each reads at *bit of a message and advances *bit, or appends at *bit of bytes. */
enum ue_status ue_exports_decode(const struct ue_context *context, struct ue_view data, size_t *bit,
                                 struct ue_exports *exports, struct ue_fault *fault);
enum ue_status ue_exports_encode(const struct ue_context *context, const struct ue_exports *exports, uint8_t *bytes,
                                 size_t size_bytes, size_t *bit, struct ue_fault *fault);
enum ue_status ue_field_export_decode(const struct ue_context *context, struct ue_view data, size_t *bit,
                                      struct ue_field_export *field, struct ue_fault *fault);
enum ue_status ue_field_export_encode(const struct ue_context *context, const struct ue_field_export *field,
                                      uint8_t *bytes, size_t size_bytes, size_t *bit, struct ue_fault *fault);
enum ue_status ue_mapped_decode(const struct ue_context *context, struct ue_view data, size_t *bit,
                                struct ue_mapped *mapped, struct ue_fault *fault);
enum ue_status ue_mapped_encode(const struct ue_context *context, const struct ue_mapped *mapped, uint8_t *bytes,
                                size_t size_bytes, size_t *bit, struct ue_fault *fault);

#endif
