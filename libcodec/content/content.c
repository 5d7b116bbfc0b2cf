/* SPDX-License-Identifier: MIT */
#include <uerudp/content.h>

#include "libcodec/content/actor_spawn.h"
#include "libcodec/content/block.h"
#include "libcodec/content/exports.h"
#include "libcodec/content/object.h"
#include "libcodec/content/voice.h"
#include "libcodec/wire/layout_run.h"
#include "libcodec/wire/message.h"

/* ---- messages ---- */

/* The state of tracing one message. */
struct content_tracing {
    struct ue_cursor c;
    const struct ue_context *x;
    const struct ue_content *content;
    const struct ue_guid_names *names;
    const struct ue_trace *to;
    size_t reported_bit;   /* the bit after the last reported bit */
    struct ue_view mapped; /* ids of the must-be-mapped list */
    unsigned mapped_reads; /* ids read so far in searches of that list */
};

/* ---- between the layouts and the caller's trace ---- */

/* The field that holds the path of the object in an id field. */
static enum ue_field path_field(enum ue_field guid) {
    switch (guid) {
    case UE_F_EXPORT_GUID: return UE_F_EXPORT_FULL_PATH;
    case UE_F_MAPPED_GUID: return UE_F_MAPPED_PATH;
    case UE_F_ACTOR_GUID: return UE_F_ACTOR_PATH;
    case UE_F_ACTOR_ARCHETYPE: return UE_F_ACTOR_ARCHETYPE_PATH;
    case UE_F_ACTOR_LEVEL: return UE_F_ACTOR_LEVEL_PATH;
    case UE_F_BLOCK_GUID: return UE_F_BLOCK_PATH;
    case UE_F_BLOCK_CLASS: return UE_F_BLOCK_CLASS_PATH;
    case UE_F_BLOCK_OUTER: return UE_F_BLOCK_OUTER_PATH;
    default: return UE_F_NONE;
    }
}

static void report_path(const struct content_tracing *p, const struct ue_record *guid) {
    enum ue_field field = p->names != NULL && guid->number != 0 ? path_field(guid->field) : UE_F_NONE;
    const char *path = field != UE_F_NONE ? p->names->path(p->names->user, guid->number) : NULL;
    if (path != NULL) {
        p->to->field(p->to->user,
                     &(struct ue_record){
                         .field = field, .generated = true, .bit = guid->bit, .bits = guid->bits, .string = path});
    }
}

static void on_begin(void *user, enum ue_group group, size_t bit) {
    const struct content_tracing *p = user;
    if (p->to->begin != NULL) {
        p->to->begin(p->to->user, group, bit);
    }
}

static void on_end(void *user, enum ue_group group, size_t bit, const void *structure) {
    const struct content_tracing *p = user;
    if (p->to->end != NULL) {
        p->to->end(p->to->user, group, bit, structure);
    }
}

static void on_field(void *user, const struct ue_record *record) {
    struct content_tracing *p = user;
    if (!record->generated && record->bit + record->bits > p->reported_bit) {
        p->reported_bit = record->bit + record->bits;
    }
    if (p->to->field != NULL) {
        p->to->field(p->to->user, record);
        report_path(p, record);
    }
}

/* Reports the bits that no layout has reported. */
static void report_rest(struct content_tracing *p, enum ue_field field) {
    const struct ue_view *data = &p->content->data;
    size_t end = data->bit + data->bits;
    size_t at = p->reported_bit;
    if (at < end) {
        struct ue_text rest = {{data->base, at, end - at}, false};
        on_field(p, &(struct ue_record){.field = field, .bit = at, .bits = end - at, .text = rest});
    }
}

/* ---- actor channels ---- */

#define NO_NETVER 0

/* Possible lengths of the class data after the open data of an actor: none; player controllers have 8 bits, from
   EngineNetVer 41 on 40 bits, and 72 bits in release 5.7 (protocol.md 23.3). */
static const uint8_t class_bits[] = {0, 8, 40, 72};
#define CLASS_BITS_COUNT (sizeof class_bits / sizeof *class_bits)

/* The other EngineNetVer to try. The releases of a generation can differ in the content of messages only; this is the
   EngineNetVer of the releases that differ from the first one (protocol.md 23.3). */
static unsigned other_netver(const struct ue_context *x) {
    switch (ue_context_netver(x)) {
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

static bool is_mapped(struct content_tracing *p, const struct ue_guid *guid) {
    struct ue_cursor c;
    ue_cursor_init_read(&c, p->mapped.base, p->mapped.bit, p->mapped.bit + p->mapped.bits);
    while (ue_cursor_ok(&c) && ue_cursor_left(&c) != 0 && p->mapped_reads < MAPPED_READS_MAX) {
        struct ue_guid id;
        p->mapped_reads++;
        ue_guid_run(UE_DECODE, &c, p->x, UE_F_MAPPED_GUID, &id);
        if (ue_cursor_ok(&c) && id.number == guid->number) {
            return true;
        }
    }
    return false;
}

static bool is_known(struct content_tracing *p, const struct ue_guid *guid) {
    return (p->names != NULL && p->names->path(p->names->user, guid->number) != NULL) || is_mapped(p, guid);
}

/* Guid 0 is no object. The block creates a sub-object with an even id; a sub-object with an odd id, its class, and an
   object that is destroyed must have been exported before. */
static enum plausibility plausibility_of(struct content_tracing *p, const struct ue_block *block) {
    const struct ue_guid *object = &block->object.links[0].guid;
    if (block->is_actor) {
        return PLAUSIBLE;
    }
    if (ue_guid_is_null(object)) {
        return IMPOSSIBLE;
    }
    bool creates = block->has_payload && p->x->direction != UE_CLIENT_TO_SERVER && !block->stably_named;
    if (creates && !is_known(p, &block->class_object.links[0].guid)) {
        return DOUBTFUL;
    }
    bool is_new = block->has_payload && ue_guid_is_dynamic(object);
    return is_new || is_known(p, object) ? PLAUSIBLE : DOUBTFUL;
}

static void run_actor_spawn(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, uint8_t class_data_bits,
                            struct ue_actor_spawn *actor) {
    *actor = (struct ue_actor_spawn){.class_bits = class_data_bits};
    ue_actor_spawn_run(op, c, x, actor);
}

/* Each iteration consumes at least two bits or is the last one. */
static void run_blocks(enum ue_op op, struct ue_cursor *c, const struct ue_context *x) {
    while (ue_cursor_left(c) != 0) {
        struct ue_block block;
        ue_block_run(op, c, x, &block);
    }
}

static enum plausibility try_actor(struct content_tracing *p, const struct ue_context *x, uint8_t class_data_bits) {
    struct ue_cursor c = p->c;
    if (p->content->open) {
        struct ue_actor_spawn actor;
        actor.class_bits = class_data_bits;
        ue_actor_spawn_run(UE_DECODE, &c, x, &actor);
    }
    enum plausibility plausibility = class_data_bits == 0 || ue_cursor_left(&c) != 0 ? PLAUSIBLE : DOUBTFUL;
    while (ue_cursor_left(&c) != 0) {
        struct ue_block block;
        ue_block_run(UE_DECODE, &c, x, &block);
        enum plausibility of_block = ue_cursor_ok(&c) ? plausibility_of(p, &block) : DOES_NOT_FIT;
        plausibility = of_block < plausibility ? of_block : plausibility;
    }
    return ue_cursor_ok(&c) ? plausibility : DOES_NOT_FIT;
}

/* An interpretation of a message of an actor channel. */
struct interpretation {
    enum plausibility plausibility;
    uint8_t class_data_bits;
    unsigned netver; /* NO_NETVER: the EngineNetVer of the context */
};

/* Finds the most plausible interpretation; among equals the one with the shortest class data. */
static void find_interpretation(struct content_tracing *p, const struct ue_context *x, unsigned netver,
                                struct interpretation *best) {
    size_t choices = p->content->open ? CLASS_BITS_COUNT : 1;
    for (size_t i = 0; i < choices && best->plausibility < PLAUSIBLE; i++) {
        enum plausibility plausibility = try_actor(p, x, class_bits[i]);
        if (plausibility > best->plausibility) {
            *best = (struct interpretation){plausibility, class_bits[i], netver};
        }
    }
}

/* Reports what is not on the wire and follows from the interpretation. */
static void report_interpretation(struct content_tracing *p, const struct interpretation *interpretation) {
    size_t at = ue_cursor_pos(&p->c);
    size_t bits = ue_cursor_left(&p->c);
    if (interpretation->netver != NO_NETVER) {
        ue_cursor_report_generated(&p->c, UE_F_CONTENT_NETVER, at, bits, interpretation->netver);
    }
    if (interpretation->netver != NO_NETVER || interpretation->class_data_bits != 0) {
        ue_cursor_report_generated(&p->c, UE_F_CONTENT_GUESS, at, bits, 1);
    }
}

/* Finds the interpretation of a message. *x: the context with its EngineNetVer. */
static struct interpretation interpret(struct content_tracing *p, struct ue_context *x) {
    unsigned other = p->x->settings.netver == 0 ? other_netver(p->x) : NO_NETVER;
    struct interpretation best = {DOES_NOT_FIT, 0, NO_NETVER};
    *x = *p->x;
    if (p->content->open || other != NO_NETVER) {
        find_interpretation(p, p->x, NO_NETVER, &best);
    }
    if (best.plausibility <= IMPOSSIBLE && other != NO_NETVER) {
        x->settings.netver = (uint8_t)other;
        find_interpretation(p, x, other, &best);
    }
    if (p->content->open && best.plausibility == IMPOSSIBLE) {
        best = (struct interpretation){IMPOSSIBLE, 0, NO_NETVER};
    }
    x->settings.netver = best.netver != NO_NETVER ? (uint8_t)best.netver : p->x->settings.netver;
    return best;
}

/* When no interpretation is possible, the bits after the open data stay opaque. */
static void trace_actor(struct content_tracing *p) {
    struct ue_context x;
    const struct interpretation interpretation = interpret(p, &x);
    report_interpretation(p, &interpretation);
    if (p->content->open) {
        struct ue_actor_spawn actor;
        run_actor_spawn(UE_TRACE, &p->c, &x, interpretation.class_data_bits, &actor);
    }
    if (!p->content->open || interpretation.plausibility != IMPOSSIBLE) {
        run_blocks(UE_TRACE, &p->c, &x);
    }
}

/* ---- the rest ---- */

static void run_exports(enum ue_op op, struct content_tracing *p) {
    struct ue_cursor *c = &p->c;
    struct ue_exports exports;
    ue_cursor_begin_group(c, UE_GROUP_EXPORTS);
    ue_exports_run(op, c, p->x, &exports);
    for (uint32_t i = 0; i < exports.count && ue_cursor_ok(c); i++) {
        struct ue_field_export field;
        struct ue_object object;
        if (exports.has_rep_layout) {
            ue_field_export_run(op, c, p->x, &field);
        } else {
            ue_export_run(op, c, p->x, &object);
        }
    }
    ue_cursor_end_group(c, UE_GROUP_EXPORTS, &exports);
}

/* What precedes the content of the channel's kind. Returns whether such content follows: engines also send exports
   without it. */
static bool run_leading_parts(enum ue_op op, struct content_tracing *p) {
    if (p->content->has_exports) {
        run_exports(op, p);
    }
    if (ue_cursor_left(&p->c) == 0) {
        return false;
    }
    if (p->content->has_mapped) {
        struct ue_mapped mapped;
        ue_mapped_run(op, &p->c, p->x, &mapped);
        p->mapped = mapped.ids;
    }
    return true;
}

static void trace_voice(struct content_tracing *p) {
    while (ue_cursor_left(&p->c) != 0) {
        struct ue_voice voice;
        ue_voice_run(UE_TRACE, &p->c, p->x, &voice);
    }
}

static void trace_control(struct content_tracing *p) {
    struct ue_view rest = {p->c.in, ue_cursor_pos(&p->c), ue_cursor_left(&p->c)};
    ue_messages_trace(p->x, rest, p->c.trace, &p->c.fault);
}

static void trace_message(struct content_tracing *p) {
    if (!run_leading_parts(UE_TRACE, p)) {
        return;
    }
    switch (p->content->kind) {
    case UE_CONTENT_CONTROL: trace_control(p); break;
    case UE_CONTENT_ACTOR: trace_actor(p); break;
    case UE_CONTENT_VOICE: trace_voice(p); break;
    case UE_CONTENT_UNKNOWN:
    case UE_CONTENT_DATA_STREAM: break;
    }
}

const char *ue_content_kind_name(enum ue_content_kind kind) {
    static const char *const names[UE_CONTENT_KIND_COUNT] = {
        [UE_CONTENT_CONTROL] = "Control",
        [UE_CONTENT_ACTOR] = "Actor",
        [UE_CONTENT_VOICE] = "Voice",
        [UE_CONTENT_DATA_STREAM] = "DataStream",
    };
    return names[kind];
}

enum ue_status ue_content_trace(const struct ue_context *context, const struct ue_content *content,
                                const struct ue_guid_names *names, const struct ue_trace *trace,
                                struct ue_fault *fault) {
    const struct ue_view *data = &content->data;
    struct content_tracing p = {
        .x = context, .content = content, .names = names, .to = trace, .reported_bit = data->bit};
    const struct ue_trace between = {on_begin, on_field, on_end, &p};
    ue_cursor_init_read(&p.c, data->base, data->bit, data->bit + data->bits);
    p.c.trace = &between;
    if (content->is_custom_exports) {
        report_rest(&p, UE_F_CONTENT_CUSTOM_EXPORTS);
    } else {
        trace_message(&p);
        report_rest(&p, UE_F_CONTENT_OPAQUE);
    }
    *fault = p.c.fault;
    return fault->status;
}

static bool decode_spawn(const struct ue_context *context, const struct ue_content *content,
                         struct ue_actor_spawn *spawn) {
    const struct ue_view *data = &content->data;
    struct content_tracing p = {.x = context, .content = content};
    ue_cursor_init_read(&p.c, data->base, data->bit, data->bit + data->bits);
    if (!run_leading_parts(UE_DECODE, &p)) {
        return false;
    }
    struct ue_context x;
    const struct interpretation interpretation = interpret(&p, &x);
    run_actor_spawn(UE_DECODE, &p.c, &x, interpretation.class_data_bits, spawn);
    return true;
}

bool ue_content_find_spawn(const struct ue_context *context, const struct ue_content *content,
                           struct ue_actor_spawn *spawn) {
    bool opens_actor = content->kind == UE_CONTENT_ACTOR && content->open && !content->is_custom_exports;
    return opens_actor && decode_spawn(context, content, spawn);
}
