/* SPDX-License-Identifier: MIT */
#include <uerudp/content.h>

#include "libcodec/content/content_layouts.h"
#include "libcodec/wire/layouts.h"

/* One message on its way to the caller's sink. */
struct pass {
    struct ue_cursor c;
    const struct ue_context *x;
    const struct ue_content *content;
    const struct ue_guid_names *names;
    const struct ue_trace *to;
    size_t told_bit; /* behind the last bit that was told */
    struct ue_view mapped; /* ids of the must-be-mapped list */
    unsigned mapped_reads; /* ids read so far to find one there */
};

/* ---- between the layouts and the caller's sink ---- */

/* The path that belongs to an id. */
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

static void tell_path(const struct pass *p, const struct ue_record *guid) {
    enum ue_field field = p->names != NULL && guid->number != 0 ? path_field(guid->field) : UE_F_NONE;
    const char *path = field != UE_F_NONE ? p->names->path(p->names->user, guid->number) : NULL;
    if (path != NULL) {
        p->to->field(p->to->user,
                     &(struct ue_record){
                         .field = field, .generated = true, .bit = guid->bit, .bits = guid->bits, .string = path});
    }
}

static void on_begin(void *user, enum ue_group group, size_t bit) {
    const struct pass *p = user;
    if (p->to->begin != NULL) {
        p->to->begin(p->to->user, group, bit);
    }
}

static void on_end(void *user, enum ue_group group, size_t bit) {
    const struct pass *p = user;
    if (p->to->end != NULL) {
        p->to->end(p->to->user, group, bit);
    }
}

static void on_field(void *user, const struct ue_record *record) {
    struct pass *p = user;
    if (!record->generated && record->bit + record->bits > p->told_bit) {
        p->told_bit = record->bit + record->bits;
    }
    if (p->to->field != NULL) {
        p->to->field(p->to->user, record);
        tell_path(p, record);
    }
}

/* What no layout told, to the end. */
static void tell_rest(struct pass *p, enum ue_field field) {
    const struct ue_view *data = &p->content->data;
    size_t end = data->bit + data->bits;
    size_t at = p->told_bit;
    if (at < end) {
        struct ue_text rest = {{data->base, at, end - at}, false};
        on_field(p, &(struct ue_record){.field = field, .bit = at, .bits = end - at, .text = rest});
    }
}

/* ---- actor channels ---- */

#define NO_NETVER 0

/* Bits of class data after the open data of an actor: none; of player controllers 8, from EngineNetVer 41 on 40, and in
   the stock 5.7 72 (protocol.md 23.3). */
static const uint8_t class_bits[] = {0, 8, 40, 72};
#define CLASS_BITS_COUNT (sizeof class_bits / sizeof *class_bits)

/* Releases of one generation agree in all but what is inside of messages: the EngineNetVer of those that differ from
   the first (protocol.md 23.3). */
static unsigned other_netver(const struct ue_context *x) {
    switch (ue_context_netver(x)) {
    case 10: return 13; /* 4.24 */
    case 14: return 23; /* 5.0 */
    default: return NO_NETVER;
    }
}

/* How much there is to believe in what a trial reads. */
enum belief {
    BELIEF_NONE,     /* it does not end with the message */
    BELIEF_REFUTED,  /* it ends with the message and says the impossible */
    BELIEF_DOUBTFUL, /* it names ids that nobody exported, or nothing but the opening */
    BELIEF_GOOD
};

/* Ids of the list that are read for one message at most: the list may be as long as the blocks that refer to it. */
#define MAPPED_READS_MAX 65536

static bool is_mapped(struct pass *p, const struct ue_guid *guid) {
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

static bool is_known(struct pass *p, const struct ue_guid *guid) {
    return (p->names != NULL && p->names->path(p->names->user, guid->number) != NULL) || is_mapped(p, guid);
}

/* Guid 0 is no object. A sub-object with an even id is created by the block; what has an odd one, its class, and what
   is destroyed were named before. */
static enum belief belief_in(struct pass *p, const struct ue_block *block) {
    const struct ue_guid *object = &block->object.links[0].guid;
    if (block->is_actor) {
        return BELIEF_GOOD;
    }
    if (ue_guid_is_null(object)) {
        return BELIEF_REFUTED;
    }
    bool creates = block->has_payload && p->x->direction != UE_CLIENT_TO_SERVER && !block->stably_named;
    if (creates && !is_known(p, &block->class_object.links[0].guid)) {
        return BELIEF_DOUBTFUL;
    }
    bool is_new = block->has_payload && ue_guid_is_dynamic(object);
    return is_new || is_known(p, object) ? BELIEF_GOOD : BELIEF_DOUBTFUL;
}

static void open_actor(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, uint8_t skipped) {
    struct ue_actor_spawn actor = {.class_bits = skipped};
    ue_actor_spawn_run(op, c, x, &actor);
}

/* Each turn takes at least two bits or is the last. */
static void run_blocks(enum ue_op op, struct ue_cursor *c, const struct ue_context *x) {
    while (ue_cursor_left(c) != 0) {
        struct ue_block block;
        ue_block_run(op, c, x, &block);
    }
}

static enum belief try_actor(struct pass *p, const struct ue_context *x, uint8_t skipped) {
    struct ue_cursor c = p->c;
    if (p->content->open) {
        open_actor(UE_DECODE, &c, x, skipped);
    }
    enum belief belief = skipped == 0 || ue_cursor_left(&c) != 0 ? BELIEF_GOOD : BELIEF_DOUBTFUL;
    while (ue_cursor_left(&c) != 0) {
        struct ue_block block;
        ue_block_run(UE_DECODE, &c, x, &block);
        enum belief of_block = ue_cursor_ok(&c) ? belief_in(p, &block) : BELIEF_NONE;
        belief = of_block < belief ? of_block : belief;
    }
    return ue_cursor_ok(&c) ? belief : BELIEF_NONE;
}

/* How to read a message of an actor channel. */
struct reading {
    enum belief belief;
    uint8_t skipped; /* bits of class data */
    unsigned netver; /* NO_NETVER: that of the context */
};

/* The reading with the most belief; of equals the one with the fewest bits of class data. */
static void find_reading(struct pass *p, const struct ue_context *x, unsigned netver, struct reading *best) {
    size_t choices = p->content->open ? CLASS_BITS_COUNT : 1;
    for (size_t i = 0; i < choices && best->belief < BELIEF_GOOD; i++) {
        enum belief belief = try_actor(p, x, class_bits[i]);
        if (belief > best->belief) {
            *best = (struct reading){belief, class_bits[i], netver};
        }
    }
}

/* Reports what is not on the wire and was found by trial. */
static void report_trial(struct pass *p, const struct reading *reading) {
    size_t at = ue_cursor_pos(&p->c);
    size_t bits = ue_cursor_left(&p->c);
    if (reading->netver != NO_NETVER) {
        ue_cursor_report_generated(&p->c, UE_F_CONTENT_NETVER, at, bits, reading->netver);
    }
    if (reading->netver != NO_NETVER || reading->skipped != 0) {
        ue_cursor_report_generated(&p->c, UE_F_CONTENT_GUESS, at, bits, 1);
    }
}

/* Where no reading is possible, what follows the opening stays opaque. */
static void trace_actor(struct pass *p) {
    unsigned other = p->x->settings.netver == 0 ? other_netver(p->x) : NO_NETVER;
    struct reading reading = {BELIEF_NONE, 0, NO_NETVER};
    struct ue_context x = *p->x;
    if (p->content->open || other != NO_NETVER) {
        find_reading(p, p->x, NO_NETVER, &reading);
    }
    if (reading.belief <= BELIEF_REFUTED && other != NO_NETVER) {
        x.settings.netver = (uint8_t)other;
        find_reading(p, &x, other, &reading);
    }
    bool is_refuted = p->content->open && reading.belief == BELIEF_REFUTED;
    if (is_refuted) {
        reading = (struct reading){BELIEF_REFUTED, 0, NO_NETVER};
    }
    const struct ue_context *chosen = reading.netver != NO_NETVER ? &x : p->x;
    report_trial(p, &reading);
    if (p->content->open) {
        open_actor(UE_TRACE, &p->c, chosen, reading.skipped);
    }
    if (!is_refuted) {
        run_blocks(UE_TRACE, &p->c, chosen);
    }
}

/* ---- the rest ---- */

static void trace_exports(struct pass *p) {
    struct ue_cursor *c = &p->c;
    struct ue_exports exports;
    ue_cursor_begin_group(c, UE_GROUP_EXPORTS);
    ue_exports_run(UE_TRACE, c, p->x, &exports);
    for (uint32_t i = 0; i < exports.count && ue_cursor_ok(c); i++) {
        struct ue_field_export field;
        struct ue_object object;
        if (exports.has_rep_layout) {
            ue_field_export_run(UE_TRACE, c, p->x, &field);
        } else {
            ue_export_run(UE_TRACE, c, p->x, &object);
        }
    }
    ue_cursor_end_group(c, UE_GROUP_EXPORTS);
}

static void trace_voice(struct pass *p) {
    while (ue_cursor_left(&p->c) != 0) {
        struct ue_voice voice;
        ue_voice_run(UE_TRACE, &p->c, p->x, &voice);
    }
}

static void trace_control(struct pass *p) {
    struct ue_view rest = {p->c.in, ue_cursor_pos(&p->c), ue_cursor_left(&p->c)};
    ue_messages_trace(p->x, rest, p->c.sink, &p->c.fault);
}

/* Behind exports there is, in what engines send, nothing else. */
static void trace(struct pass *p) {
    if (p->content->has_exports) {
        trace_exports(p);
    }
    if (ue_cursor_left(&p->c) == 0) {
        return;
    }
    if (p->content->has_mapped) {
        struct ue_mapped mapped;
        ue_mapped_run(UE_TRACE, &p->c, p->x, &mapped);
        p->mapped = mapped.ids;
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
                                const struct ue_guid_names *names, const struct ue_trace *sink, struct ue_fault *fault) {
    const struct ue_view *data = &content->data;
    struct pass p = {.x = context, .content = content, .names = names, .to = sink, .told_bit = data->bit};
    const struct ue_trace between = {on_begin, on_field, on_end, &p};
    ue_cursor_init_read(&p.c, data->base, data->bit, data->bit + data->bits);
    p.c.sink = &between;
    if (content->is_custom_exports) {
        tell_rest(&p, UE_F_CONTENT_CUSTOM_EXPORTS);
    } else {
        trace(&p);
        tell_rest(&p, UE_F_CONTENT_OPAQUE);
    }
    *fault = p.c.fault;
    return fault->status;
}
