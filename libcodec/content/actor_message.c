/* SPDX-License-Identifier: MIT */
#include "libcodec/content/actor_message.h"

#include "libcodec/content/actor_spawn.h"
#include "libcodec/content/block.h"
#include "libcodec/content/object.h"
#include "libcodec/wire/layout_run.h"

#define NO_NETVER 0

/* Possible lengths of the class data after the open data of an actor: none; player controllers have 8 bits, from
   EngineNetVer 41 on 40 bits, and 72 bits in release 5.7 (protocol.md 23.3). */
static const uint8_t class_bits[] = {0, 8, 40, 72};
#define CLASS_BITS_COUNT (sizeof class_bits / sizeof *class_bits)
#define CLASS_BITS_COUNT_BEFORE_5_5 2
#define NETVER_5_5 36 /* the lowest of the generation that contains 41 */

/* The other EngineNetVer to try. The releases of a generation can differ in the content of messages only; this is the
   EngineNetVer of the releases that differ from the first one (protocol.md 23.3), or that of the first one if the
   connection has another one. */
static unsigned other_netver(const struct ue_context *x) {
    if (x->settings.netver != 0 || x->found_netver != 0) {
        return x->settings.netver != 0 ? NO_NETVER : x->profile.netver;
    }
    switch (x->profile.netver) {
    case 10: return 13; /* 4.24 */
    case 14: return 23; /* 5.0 */
    default: return NO_NETVER;
    }
}

/* How plausible an interpretation of a message is. */
enum plausibility {
    DOES_NOT_FIT, /* it does not end with the message */
    IMPOSSIBLE,   /* it ends with the message, but a value is impossible */
    DOUBTFUL,     /* it refers to ids that were never exported, or contains the open data only */
    PLAUSIBLE
};

/* Limits the work for one message: the list can be as long as the blocks that refer to it. */
#define MAPPED_READS_MAX 65536

static bool is_mapped(struct ue_actor_message *m, const struct ue_guid *guid) {
    struct ue_cursor c;
    ue_cursor_init_read(&c, m->mapped.base, m->mapped.bit, m->mapped.bit + m->mapped.bits);
    while (ue_cursor_ok(&c) && ue_cursor_left(&c) != 0 && m->mapped_reads < MAPPED_READS_MAX) {
        struct ue_guid id;
        m->mapped_reads++;
        ue_guid_run(UE_DECODE, &c, m->context, UE_F_MAPPED_GUID, &id);
        if (ue_cursor_ok(&c) && id.number == guid->number) {
            return true;
        }
    }
    return false;
}

static bool is_known(struct ue_actor_message *m, const struct ue_guid *guid) {
    return (m->names != NULL && m->names->path(m->names->user, guid->number) != NULL) || is_mapped(m, guid);
}

/* Guid 0 is no object. The block creates a sub-object with an even id; a sub-object with an odd id, its class, and an
   object that is destroyed must have been exported before. */
static enum plausibility plausibility_of(struct ue_actor_message *m, const struct ue_block *block) {
    const struct ue_guid *object = &block->object.links[0].guid;
    if (block->is_actor) {
        return PLAUSIBLE;
    }
    if (ue_guid_is_null(object)) {
        return IMPOSSIBLE;
    }
    bool creates = block->has_payload && m->context->direction != UE_CLIENT_TO_SERVER && !block->stably_named;
    if (creates && !is_known(m, &block->class_object.links[0].guid)) {
        return DOUBTFUL;
    }
    bool is_new = block->has_payload && ue_guid_is_dynamic(object);
    return is_new || is_known(m, object) ? PLAUSIBLE : DOUBTFUL;
}

static void run_actor_spawn(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, uint8_t class_data_bits,
                            struct ue_actor_spawn *actor) {
    actor->class_bits = class_data_bits;
    ue_actor_spawn_run(op, c, x, actor);
}

/* Each iteration consumes at least two bits or is the last one. */
static void run_blocks(enum ue_op op, struct ue_cursor *c, const struct ue_context *x) {
    while (ue_cursor_left(c) != 0) {
        struct ue_block block;
        ue_block_run(op, c, x, &block);
    }
}

static enum plausibility try_actor(struct ue_actor_message *m, const struct ue_context *x, uint8_t class_data_bits) {
    struct ue_cursor c = *m->c;
    if (m->content->open) {
        struct ue_actor_spawn actor;
        actor.class_bits = class_data_bits;
        ue_actor_spawn_run(UE_DECODE, &c, x, &actor);
    }
    enum plausibility plausibility = class_data_bits == 0 || ue_cursor_left(&c) != 0 ? PLAUSIBLE : DOUBTFUL;
    while (ue_cursor_left(&c) != 0) {
        struct ue_block block;
        ue_block_run(UE_DECODE, &c, x, &block);
        enum plausibility of_block = ue_cursor_ok(&c) ? plausibility_of(m, &block) : DOES_NOT_FIT;
        plausibility = of_block < plausibility ? of_block : plausibility;
    }
    return ue_cursor_ok(&c) ? plausibility : DOES_NOT_FIT;
}

/* An interpretation of a message of an actor channel. */
struct interpretation {
    enum plausibility plausibility;
    uint8_t class_data_bits;
    unsigned netver;
};

/* Finds the most plausible interpretation; among equals the one with the shortest class data. */
static void find_interpretation(struct ue_actor_message *m, const struct ue_context *x, unsigned netver,
                                struct interpretation *best) {
    size_t lengths = netver >= NETVER_5_5 ? CLASS_BITS_COUNT : CLASS_BITS_COUNT_BEFORE_5_5;
    size_t choices = m->content->open ? lengths : 1;
    for (size_t i = 0; i < choices && best->plausibility < PLAUSIBLE; i++) {
        enum plausibility plausibility = try_actor(m, x, class_bits[i]);
        if (plausibility > best->plausibility) {
            *best = (struct interpretation){plausibility, class_bits[i], netver};
        }
    }
}

/* Reports what is not on the wire and follows from the interpretation. */
static void report_interpretation(struct ue_actor_message *m, const struct interpretation *interpretation) {
    size_t at = ue_cursor_pos(m->c);
    size_t bits = ue_cursor_left(m->c);
    const struct ue_context *x = m->context;
    bool is_found = x->settings.netver == 0 && (x->found_netver != 0 || interpretation->netver != x->profile.netver);
    if (is_found) {
        ue_cursor_report_generated(m->c, UE_F_CONTENT_NETVER, at, bits, interpretation->netver);
    }
    if (interpretation->netver != ue_context_netver(x) || interpretation->class_data_bits != 0) {
        ue_cursor_report_generated(m->c, UE_F_CONTENT_GUESS, at, bits, 1);
    }
}

/* Finds the interpretation of a message. *x: the context with its EngineNetVer. */
static struct interpretation interpret(struct ue_actor_message *m, struct ue_context *x) {
    unsigned other = other_netver(m->context);
    unsigned first = ue_context_netver(m->context);
    struct interpretation best = {DOES_NOT_FIT, 0, first};
    *x = *m->context;
    if (m->content->open || other != NO_NETVER) {
        find_interpretation(m, m->context, first, &best);
    }
    if (best.plausibility <= IMPOSSIBLE && other != NO_NETVER) {
        x->settings.netver = (uint8_t)other;
        find_interpretation(m, x, other, &best);
    }
    if (m->content->open && best.plausibility == IMPOSSIBLE) {
        best = (struct interpretation){IMPOSSIBLE, 0, first};
    }
    x->settings.netver = (uint8_t)best.netver;
    return best;
}

/* When no interpretation is possible, the bits after the open data stay opaque. */
void ue_actor_message_trace(struct ue_actor_message *m) {
    struct ue_context x;
    const struct interpretation interpretation = interpret(m, &x);
    report_interpretation(m, &interpretation);
    if (m->content->open) {
        struct ue_actor_spawn actor;
        run_actor_spawn(UE_TRACE, m->c, &x, interpretation.class_data_bits, &actor);
    }
    if (!m->content->open || interpretation.plausibility != IMPOSSIBLE) {
        run_blocks(UE_TRACE, m->c, &x);
    }
}

void ue_actor_message_decode_spawn(struct ue_actor_message *m, struct ue_actor_spawn *spawn) {
    struct ue_context x;
    const struct interpretation interpretation = interpret(m, &x);
    run_actor_spawn(UE_DECODE, m->c, &x, interpretation.class_data_bits, spawn);
}

bool ue_actor_message_spawn_fits(struct ue_actor_message *m) {
    struct ue_context x;
    return interpret(m, &x).plausibility > IMPOSSIBLE;
}
