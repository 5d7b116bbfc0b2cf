/* SPDX-License-Identifier: MIT */
/* Random structures inside messages. */
#ifndef UERUDP_TESTS_CODEC_ARBITRARY_CONTENT_H
#define UERUDP_TESTS_CODEC_ARBITRARY_CONTENT_H

#include <uerudp/actor_spawn.h>
#include <uerudp/block.h>
#include <uerudp/exports.h>
#include <uerudp/voice.h>
#include "tests/support/arbitrary.h"

/* The class_bits and index_bits of arbitrary actors and calls, which are not on the wire. */
#define ARBITRARY_CLASS_BITS 8
#define ARBITRARY_INDEX_BITS 7

void arbitrary_export(struct rng *rng, const struct ue_context *x, struct ue_object *object);
void arbitrary_exports(struct rng *rng, const struct ue_context *x, struct ue_exports *exports);
void arbitrary_field_export(struct rng *rng, const struct ue_context *x, struct ue_field_export *field);
void arbitrary_mapped(struct rng *rng, const struct ue_context *x, struct ue_mapped *mapped);
void arbitrary_actor_spawn(struct rng *rng, const struct ue_context *x, struct ue_actor_spawn *actor);
void arbitrary_block(struct rng *rng, const struct ue_context *x, struct ue_block *block);
void arbitrary_property(struct rng *rng, const struct ue_context *x, struct ue_property *property);
void arbitrary_call(struct rng *rng, const struct ue_context *x, struct ue_call *call);
void arbitrary_voice(struct rng *rng, const struct ue_context *x, struct ue_voice *voice);

#endif
