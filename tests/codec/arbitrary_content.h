/* SPDX-License-Identifier: MIT */
/* Random structures inside messages. */
#ifndef UERUDP_TESTS_CODEC_ARBITRARY_CONTENT_H
#define UERUDP_TESTS_CODEC_ARBITRARY_CONTENT_H

#include <uerudp/actor_spawn.h>
#include <uerudp/block.h>
#include <uerudp/class_layout.h>
#include <uerudp/exports.h>
#include <uerudp/voice.h>
#include "tests/support/arbitrary.h"

/* What is not on the wire: the class_bits of arbitrary actors, the index_bound of calls, the type of parameters. */
#define ARBITRARY_CLASS_BITS 8
#define ARBITRARY_INDEX_BOUND 100
#define ARBITRARY_PARAMETER_TYPE UE_VALUE_STRING

/* The class of arbitrary properties: one property of each type. */
extern const struct ue_class arbitrary_class;

void arbitrary_export(struct rng *rng, const struct ue_context *x, struct ue_object *m);
void arbitrary_exports(struct rng *rng, const struct ue_context *x, struct ue_exports *m);
void arbitrary_field_export(struct rng *rng, const struct ue_context *x, struct ue_field_export *m);
void arbitrary_mapped(struct rng *rng, const struct ue_context *x, struct ue_mapped *m);
void arbitrary_actor_spawn(struct rng *rng, const struct ue_context *x, struct ue_actor_spawn *m);
void arbitrary_block(struct rng *rng, const struct ue_context *x, struct ue_block *m);
void arbitrary_property(struct rng *rng, const struct ue_context *x, struct ue_property *m);
void arbitrary_call(struct rng *rng, const struct ue_context *x, struct ue_call *m);
void arbitrary_live_property(struct rng *rng, const struct ue_context *x, struct ue_live_property *m);
void arbitrary_parameter(struct rng *rng, const struct ue_context *x, struct ue_parameter *m);
void arbitrary_voice(struct rng *rng, const struct ue_context *x, struct ue_voice *m);

#endif
