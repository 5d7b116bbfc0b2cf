/* SPDX-License-Identifier: MIT */
/* One function per structure inside whole messages. Each runs its layout for the given operation at the cursor; these
   structures are not built. */
#ifndef UERUDP_LIBCODEC_CONTENT_CONTENT_LAYOUTS_H
#define UERUDP_LIBCODEC_CONTENT_CONTENT_LAYOUTS_H

#include <uerudp/actor_spawn.h>
#include <uerudp/block.h>
#include <uerudp/exports.h>
#include <uerudp/voice.h>
#include "libcodec/wire/layout_run.h"

void ue_guid_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field,
                 struct ue_guid *m);
void ue_reference_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field,
                      struct ue_object *m);
void ue_export_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_object *m);
void ue_exports_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_exports *m);
void ue_field_export_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_field_export *m);
void ue_mapped_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_mapped *m);
/* A vector whose records are those of the location, the scale or the velocity: first is that of its presence. */
void ue_vector_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field first,
                   struct ue_vector *m);
void ue_actor_spawn_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_actor_spawn *m);
void ue_block_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_block *m);
void ue_property_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_property *m);
void ue_call_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_call *m);
void ue_voice_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_voice *m);

/* Reports what can be known of a block's payload, which stands at the cursor's sink already as a run of bits. */
void ue_payload_trace(struct ue_cursor *c, const struct ue_context *x, const struct ue_block *block);

#endif
