/* SPDX-License-Identifier: MIT */
/* Exports: names of objects and fields, which a message carries before the content that refers to them
   (protocol.md 23 to 23.2). Views point into the message. */
#ifndef UERUDP_EXPORTS_H
#define UERUDP_EXPORTS_H

#include <uerudp/bunch.h>
#include <uerudp/object.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Engines reject a message with more objects. */
#define UE_EXPORTS_MAX 2048

/* More exports of fields, of 17 bits each at least, do not fit into the largest message (65536 bytes, protocol.md 10).
 */
#define UE_FIELD_EXPORTS_MAX (65536u * 8 / 17)

/* The head of an export section. `count` objects (ue_export_decode) or exports of fields (ue_field_export_decode)
   follow. */
struct ue_exports {
    bool has_rep_layout; /* exports of fields follow */
    uint32_t count;
};

/* The export of a field, as in old replays. Members that are absent on the wire are zero. */
struct ue_field_export {
    uint32_t path_index;
    bool has_path;
    struct ue_text path;
    uint32_t group_size;
    uint8_t exported; /* 0: no member after this one is present */
    uint32_t handle;
    uint32_t checksum;
    struct ue_name name; /* up to EngineNetVer 9 only its text is used */
    struct ue_text type; /* up to EngineNetVer 8 */
};

/* The objects that the receiver must be able to load before it processes the message. */
struct ue_mapped {
    uint16_t count;
    struct ue_view ids; /* `count` network ids as on the wire */
};

/* Decode at *bit of a message, or encode at *bit of bytes. All advance *bit. */
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

#ifdef __cplusplus
}
#endif

#endif
