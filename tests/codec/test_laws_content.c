/* SPDX-License-Identifier: MIT */
/* Laws L1, L2 and L4 for each structure inside messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/codec/arbitrary_content.h"
#include "tests/codec/equal_content.h"
#include "tests/codec/laws.h"
#include "libcodec/content/actor_spawn.h"
#include "libcodec/content/block.h"
#include "libcodec/content/exports.h"
#include "libcodec/content/object.h"
#include "libcodec/content/voice.h"

#define ROUNDS (LAWS_ROUNDS / 20)
#define CUT_ROUNDS (LAWS_ROUNDS / 500)

/* What is not on the wire is the same for all structures. */
static void run_actor_given(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_actor_spawn *m) {
    m->class_bits = ARBITRARY_CLASS_BITS;
    ue_actor_spawn_run(op, c, x, m);
}

static void run_call_given(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_call *m) {
    m->index_bound = ARBITRARY_INDEX_BOUND;
    ue_call_run(op, c, x, m);
}

static void run_property_given(enum ue_op op, struct ue_cursor *c, const struct ue_context *x,
                               struct ue_live_property *m) {
    m->layout = &arbitrary_class;
    ue_live_property_run(op, c, x, m);
}

static void run_parameter_given(enum ue_op op, struct ue_cursor *c, const struct ue_context *x,
                                struct ue_parameter *m) {
    m->value.type = ARBITRARY_PARAMETER_TYPE;
    ue_parameter_run(op, c, x, m);
}

#define SAME_ACTOR(a, b) actor_spawn_equal(x, (a), (b))
#define SAME_BLOCK(a, b) block_equal(x, (a), (b))

PART(object, struct ue_object, arbitrary_export, ue_export_run, object_equal, false, false)
PART(exports, struct ue_exports, arbitrary_exports, ue_exports_run, exports_equal, false, false)
PART(field, struct ue_field_export, arbitrary_field_export, ue_field_export_run, field_export_equal, false, false)
PART(mapped, struct ue_mapped, arbitrary_mapped, ue_mapped_run, mapped_equal, false, false)
PART(actor, struct ue_actor_spawn, arbitrary_actor_spawn, run_actor_given, SAME_ACTOR, false, false)
PART(block, struct ue_block, arbitrary_block, ue_block_run, SAME_BLOCK, false, false)
PART(property, struct ue_property, arbitrary_property, ue_property_run, property_equal, false, false)
PART(call, struct ue_call, arbitrary_call, run_call_given, call_equal, false, false)
PART(live, struct ue_live_property, arbitrary_live_property, run_property_given, live_property_equal, false, false)
PART(parameter, struct ue_parameter, arbitrary_parameter, run_parameter_given, parameter_equal, false, false)
PART(voice, struct ue_voice, arbitrary_voice, ue_voice_run, voice_equal, false, false)

#define LAWS(name)                                                                                                     \
    LAW(name, L1, ROUNDS)                                                                                              \
    LAW(name, L2, ROUNDS)                                                                                              \
    LAW(name, L4, CUT_ROUNDS)

LAWS(object)
LAWS(exports)
LAWS(field)
LAWS(mapped)
LAWS(actor)
LAWS(block)
LAWS(property)
LAWS(call)
LAWS(live)
LAWS(parameter)
LAWS(voice)

#define ALL(name) cmocka_unit_test(name##_L1), cmocka_unit_test(name##_L2), cmocka_unit_test(name##_L4)

int main(void) {
    const struct CMUnitTest tests[] = {
        ALL(object),   ALL(exports), ALL(field), ALL(mapped),    ALL(actor), ALL(block),
        ALL(property), ALL(call),    ALL(live),  ALL(parameter), ALL(voice),
    };
    return cmocka_run_group_tests(tests, laws_set_up, laws_tear_down);
}
