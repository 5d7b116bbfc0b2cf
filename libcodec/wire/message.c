/* SPDX-License-Identifier: MIT */
#include <uerudp/message.h>

#include "libcodec/wire/layout_run.h"
#include "libcodec/wire/message.h"

enum param_kind {
    KIND_U8,
    KIND_U32,
    KIND_I32,
    KIND_U64,
    KIND_TEXT,
    KIND_TOKEN,    /* a text that releases up to 4.17 lack */
    KIND_FEATURES, /* 16 bits, from 5.1; the last parameter of its bunch: present when exactly 16 bits are left */
    KIND_NET_GUID,
    KIND_REFERENCE,   /* a reference to an object by a server, which never writes a name in place of the id */
    KIND_BEACON_GUID, /* a network id; its format from EngineNetVer 39 on is not known */
    KIND_GUID,
    KIND_UNIQUE_ID,
    KIND_U8_ARRAY,
    KIND_U64_ARRAY
};

#define FEATURES_BITS 16
#define GUID_BITS 128
#define GUID_DEFAULT 1 /* in a reference: flags and a name would follow (protocol.md 23.1) */

struct param_row {
    uint8_t type;
    enum param_kind kind;
    enum ue_field field;
};

/* All parameters of all messages, in the order of messages.def. */
#define UE_F_CONTROL_LOGIN_UNIQUE_ID UE_F_NONE
#define UE_F_CONTROL_JOIN_SPLIT_UNIQUE_ID UE_F_NONE
#define UE_F_CONTROL_JOIN_NO_PAWN_SPLIT_UNIQUE_ID UE_F_NONE
#define UE_F_CONTROL_BEACON_JOIN_UNIQUE_ID UE_F_NONE
static const struct param_row params[] = {
#define UE_MESSAGE(number, id, name)
#define UE_PARAM(message, name, kind) {UE_MESSAGE_##message, KIND_##kind, UE_F_CONTROL_##message##_##name},
#include <uerudp/messages.def>
#undef UE_MESSAGE
#undef UE_PARAM
};

static const uint8_t types[] = {
#define UE_MESSAGE(number, id, name) number,
#define UE_PARAM(message, name, kind)
#include <uerudp/messages.def>
#undef UE_MESSAGE
#undef UE_PARAM
};

static bool type_is_known(uint8_t type) {
    return memchr(types, type, sizeof types) != NULL;
}

static const struct param_row *first_param(uint8_t type) {
    const struct param_row *end = params + sizeof params / sizeof *params;
    for (const struct param_row *row = params; row < end; row++) {
        if (row->type == type) {
            return row;
        }
    }
    return NULL;
}

static bool param_exists(const struct ue_context *x, const struct param_row *row) {
    switch (row->kind) {
    case KIND_TOKEN: return x->profile.hello >= 1;
    case KIND_FEATURES: return x->profile.hello >= 3;
    default: return true;
    }
}

int ue_message_params(const struct ue_context *context, uint8_t type) {
    if (!type_is_known(type)) {
        return -1;
    }
    const struct param_row *end = params + sizeof params / sizeof *params;
    int count = 0;
    for (const struct param_row *row = first_param(type); row != NULL && row < end && row->type == type; row++) {
        count += param_exists(context, row);
    }
    return count;
}

UE_INLINE void unique_id_old(enum ue_op op, struct ue_cursor *c, struct ue_unique_id *m) {
    UINT(m->size, CONTROL_UNIQUE_ID_SIZE, 32);
    if ((int32_t)m->size > 0) {
        TEXT(m->text, CONTROL_UNIQUE_ID_TEXT);
    }
}

UE_INLINE void unique_id_new(enum ue_op op, struct ue_cursor *c, struct ue_unique_id *m) {
    UINT(m->flags, CONTROL_UNIQUE_ID_FLAGS, 8);
    bool encoded = (m->flags & UE_UNIQUE_ID_ENCODED) != 0;
    unsigned hash = m->flags >> 3;
    if (encoded && (m->flags & UE_UNIQUE_ID_EMPTY) != 0) {
        return;
    }
    if (encoded && hash == UE_UNIQUE_ID_HASH_V2) {
        UINT(m->services, CONTROL_UNIQUE_ID_SERVICES, 8);
        COUNTED(m->bytes, CONTROL_UNIQUE_ID_BYTES, 32, 8);
        return;
    }
    if (hash == UE_UNIQUE_ID_HASH_OTHER) {
        TEXT(m->type, CONTROL_UNIQUE_ID_TYPE);
    }
    if (encoded) {
        COUNTED(m->bytes, CONTROL_UNIQUE_ID_BYTES, 8, 8);
    } else {
        TEXT(m->text, CONTROL_UNIQUE_ID_TEXT);
    }
}

UE_INLINE void unique_id(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_unique_id *m) {
    BEGIN(UNIQUE_ID);
    if (x->profile.hello >= 2) {
        unique_id_new(op, c, m);
    } else {
        unique_id_old(op, c, m);
    }
    END(UNIQUE_ID, m);
}

UE_INLINE void net_guid(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field,
                        struct ue_param *m) {
    if (x->settings.guid_bits != 0) {
        VIEW(m->text.units, CONTROL_NET_GUID_BYTES, x->settings.guid_bits);
    } else {
        PACKED64_AS(m->number, field);
    }
}

UE_INLINE void param(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, const struct param_row *row,
                     struct ue_message *message, struct ue_param *m) {
    switch (row->kind) {
    case KIND_U8: UINT_AS(m->number, row->field, 8); break;
    case KIND_U32:
    case KIND_I32: UINT_AS(m->number, row->field, 32); break;
    case KIND_U64: UINT_AS(m->number, row->field, 64); break;
    case KIND_FEATURES: UINT_AS(m->number, row->field, FEATURES_BITS); break;
    case KIND_NET_GUID: net_guid(op, c, x, row->field, m); break;
    case KIND_REFERENCE:
        net_guid(op, c, x, row->field, m);
        REQUIRE(m->number != GUID_DEFAULT, UE_E_TYPE, CONTROL_DESTRUCTION_INFO_GUID);
        break;
    case KIND_BEACON_GUID:
        if (ue_context_netver(x) >= UE_NETVER_BEACON_GUID) {
            REST(m->text.units, CONTROL_NET_GUID_BYTES);
            REQUIRE(m->text.units.bits != 0, UE_E_RANGE, CONTROL_NET_GUID_BYTES);
        } else {
            net_guid(op, c, x, row->field, m);
        }
        break;
    case KIND_TEXT:
    case KIND_TOKEN: TEXT_AS(m->text, row->field); break;
    case KIND_GUID: VIEW_AS(m->text.units, row->field, GUID_BITS); break;
    case KIND_UNIQUE_ID: unique_id(op, c, x, &message->unique_id); break;
    case KIND_U8_ARRAY: COUNTED_AS(m->text.units, row->field, 32, 8); break;
    case KIND_U64_ARRAY: COUNTED_AS(m->text.units, row->field, 32, 64); break;
    }
}

/* Whether this parameter is present: senders may omit trailing parameters at the end of a bunch. */
static bool param_follows(const struct ue_cursor *c, const struct param_row *row) {
    return row->kind == KIND_FEATURES ? ue_cursor_left(c) == FEATURES_BITS : ue_cursor_left(c) != 0;
}

UE_INLINE void message_params(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_message *m) {
    const struct param_row *row = first_param(m->type);
    unsigned declared = (unsigned)ue_message_params(x, m->type);
    unsigned count = AT_MOST(m->param_count, declared);
    REQUIRE(count <= declared, UE_E_ABSENT, CONTROL_TYPE);
    unsigned done = 0;
    for (; done < count && ue_cursor_ok(c); done++, row++) {
        while (!param_exists(x, row)) {
            row++;
        }
        if (!FOLLOWS(param_follows(c, row))) {
            break;
        }
        param(op, c, x, row, m, &m->params[done]);
    }
    IMPLIED(m->param_count, CONTROL_TYPE, done);
}

UE_INLINE void layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_message *m) {
    BEGIN(MESSAGE);
    CLEAR(*m);
    size_t at = ue_cursor_pos(c);
    UINT(m->type, CONTROL_TYPE, 8);
    REQUIRE_AT(type_is_known(m->type), UE_E_TYPE, CONTROL_TYPE, at);
    if (type_is_known(m->type)) {
        message_params(op, c, x, m);
    }
    END(MESSAGE, m);
}

UE_DEFINE_RUN(ue_message, layout, struct ue_message)

UE_DEFINE_CONTENT_CODEC(ue_message, struct ue_message)

enum ue_status ue_message_build(const struct ue_context *context, const struct ue_field_source *source,
                                struct ue_message *message, struct ue_fault *fault) {
    struct ue_cursor c = {.canonical = true, .source = source};
    ue_message_run(UE_BUILD, &c, context, message);
    *fault = c.fault;
    return c.fault.status;
}

enum ue_status ue_messages_trace(const struct ue_context *x, struct ue_view payload, const struct ue_trace *trace,
                                 struct ue_fault *fault) {
    struct ue_cursor c;
    size_t end = payload.bit + payload.bits;
    *fault = (struct ue_fault){0};
    ue_cursor_init_read(&c, payload.base, payload.bit, end);
    c.trace = trace;
    while (ue_cursor_left(&c) != 0) {
        size_t at = ue_cursor_pos(&c);
        struct ue_message message;
        ue_message_run(UE_TRACE, &c, x, &message);
        if (!ue_cursor_ok(&c)) {
            *fault = c.fault;
            ue_cursor_init_read(&c, payload.base, end, end);
            c.trace = trace;
            struct ue_view rest = {payload.base, at, end - at};
            ue_cursor_report_text(&c, UE_F_CONTROL_OPAQUE, at, (struct ue_text){rest, false}, false);
        }
    }
    return fault->status;
}
