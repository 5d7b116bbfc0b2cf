/* SPDX-License-Identifier: MIT */
/* Private to libcodec: runs the layouts of actor spawns and of vectors. They support no UE_BUILD. */
#ifndef UERUDP_LIBCODEC_CONTENT_ACTOR_SPAWN_H
#define UERUDP_LIBCODEC_CONTENT_ACTOR_SPAWN_H

#include <uerudp/actor_spawn.h>
#include "libcodec/wire/layout_words.h"

/* A vector that is reported as location, scale or velocity; `first` is the field of its presence bit. */
void ue_vector_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field first,
                   struct ue_vector *m);
/* A packed vector alone, which is present and quantized; reported as location. */
void ue_packed_vector_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_vector *m);
void ue_rotation_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_rotation *m);
void ue_actor_spawn_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_actor_spawn *m);

#endif
