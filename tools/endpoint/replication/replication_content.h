/* SPDX-License-Identifier: MIT */
/* Writes the messages of actor channels (protocol.md 23): exports, must-be-mapped lists, actor spawns, and content
   blocks with properties and calls. */
#ifndef UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATION_CONTENT_H
#define UERUDP_TOOLS_ENDPOINT_REPLICATION_REPLICATION_CONTENT_H

#include <uerudp/block.h>
#include "tools/endpoint/replication/replicated_object.h"

#define UE_REFERENCES_MAX 128

/* Appends to a buffer that grows. The first error stays in `status`, and nothing more is written. */
struct ue_content_writer {
    struct ue_share *share;
    const struct ue_context *context; /* with the direction of the message */
    uint8_t *bytes;
    size_t bits;
    size_t size_bytes;
    uint64_t references[UE_REFERENCES_MAX]; /* ids in the message, each once */
    uint32_t reference_count;
    enum ue_status status;
};

void ue_content_writer_init(struct ue_content_writer *w, struct ue_share *share, const struct ue_context *context);
void ue_content_writer_free(struct ue_content_writer *w);
static inline struct ue_view ue_content_writer_view(const struct ue_content_writer *w) {
    return (struct ue_view){w->bytes, 0, w->bits};
}

void ue_content_write_mapped(struct ue_content_writer *w, const uint64_t *ids, uint16_t count);
/* Without a place: only the id, as of static actors and of actors that are gone. */
void ue_content_write_spawn(struct ue_content_writer *w, const struct ue_replicated_object *o,
                            const struct ue_actor_place *place);

/* The object that a block is about. */
struct ue_content_target {
    bool is_actor;
    uint64_t guid;       /* of a sub-object */
    uint64_t class_guid; /* 0: the receiver knows the object by name, or the client sends */
    uint64_t outer;      /* 0: the actor */
};
struct ue_content_target ue_content_target_of(const struct ue_replicated_object *o, bool is_actor);

void ue_content_write_block(struct ue_content_writer *w, const struct ue_content_target *target, bool has_properties,
                            const struct ue_content_writer *payload);
/* A block that deletes a sub-object. */
void ue_content_write_deletion(struct ue_content_writer *w, uint64_t guid);

/* Into a payload. */
void ue_content_write_properties(struct ue_content_writer *w, const struct ue_replicated_object *o, uint64_t handles);
/* One value for each parameter of the function. */
void ue_content_write_parameters(struct ue_content_writer *w, const struct ue_class_function *function,
                                 const struct ue_value *parameters);
void ue_content_write_call(struct ue_content_writer *w, const struct ue_class *layout,
                           const struct ue_class_function *function, const struct ue_value *parameters);
void ue_content_write_bits(struct ue_content_writer *w, struct ue_view bits);

/* The section of exports: its head, then objects. */
void ue_content_write_export_head(struct ue_content_writer *w, uint32_t count);
void ue_content_write_export(struct ue_content_writer *w, const struct ue_package_map *map, uint32_t index);

#endif
