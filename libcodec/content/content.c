/* SPDX-License-Identifier: MIT */
#include <uerudp/content.h>

#include "libcodec/content/actor_message.h"
#include "libcodec/content/exports.h"
#include "libcodec/content/object.h"
#include "libcodec/content/voice.h"
#include "libcodec/wire/layout_run.h"
#include "libcodec/wire/message.h"

/* The state of tracing one message. */
struct content_tracing {
    struct ue_cursor c;
    const struct ue_context *x;
    const struct ue_content *content;
    const struct ue_guid_names *names;
    const struct ue_trace *to;
    size_t reported_bit;   /* the bit after the last reported bit */
    struct ue_view mapped; /* ids of the must-be-mapped list */
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

/* ---- messages of each kind ---- */

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

static struct ue_actor_message actor_message(struct content_tracing *p) {
    return (struct ue_actor_message){
        .c = &p->c, .context = p->x, .content = p->content, .names = p->names, .mapped = p->mapped};
}

static void trace_actor(struct content_tracing *p) {
    struct ue_actor_message message = actor_message(p);
    ue_actor_message_trace(&message);
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

/* Whether the message opens the channel of an actor. Its spawn is then at the cursor. */
static bool begin_spawn(struct content_tracing *p, const struct ue_context *context, const struct ue_content *content) {
    const struct ue_view *data = &content->data;
    *p = (struct content_tracing){.x = context, .content = content};
    ue_cursor_init_read(&p->c, data->base, data->bit, data->bit + data->bits);
    bool opens_actor = content->kind == UE_CONTENT_ACTOR && content->open && !content->is_custom_exports;
    return opens_actor && run_leading_parts(UE_DECODE, p);
}

bool ue_content_find_spawn(const struct ue_context *context, const struct ue_content *content,
                           struct ue_actor_spawn *spawn) {
    struct content_tracing p;
    if (!begin_spawn(&p, context, content)) {
        return false;
    }
    struct ue_actor_message message = actor_message(&p);
    ue_actor_message_decode_spawn(&message, spawn);
    return true;
}

bool ue_content_spawn_fits(const struct ue_context *context, const struct ue_content *content) {
    struct content_tracing p;
    if (!begin_spawn(&p, context, content)) {
        return false;
    }
    struct ue_actor_message message = actor_message(&p);
    return ue_actor_message_spawn_fits(&message);
}
