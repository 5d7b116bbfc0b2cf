/* SPDX-License-Identifier: MIT */
#include "tools/input/json_defaults.h"

#define JITTER_NOT_USABLE 1023
#define RANDOM_BYTES 8
#define HANDSHAKE_MIN_VERSION 3
#define UNIQUE_ID_PLAIN (1u << 3) /* type hash 1: the id is its text */
#define UNIQUE_ID_PACKED (2u << 3 | UE_UNIQUE_ID_ENCODED)
#define UNIQUE_ID_NONE (UE_UNIQUE_ID_ENCODED | UE_UNIQUE_ID_EMPTY)

static bool has(const struct input_json_fields *source, enum ue_field field) {
    return input_json_fields_have(source, field);
}

static bool item_implies(const struct input_json_fields *source, const char *key) {
    return json_is_true(json_object_get(source->item, key));
}

/* ---- handshake ---- */

static enum ue_handshake_type handshake_type(const struct input_json_fields *source) {
    return source->type >= 0 ? (enum ue_handshake_type)source->type : UE_HANDSHAKE_INITIAL;
}

static uint64_t timestamp(const struct input_json_fields *source) {
    struct ue_handshake handshake = {.type = handshake_type(source)};
    switch (handshake.type) {
    case UE_HANDSHAKE_CHALLENGE:
    case UE_HANDSHAKE_RESPONSE:
    case UE_HANDSHAKE_RESTART_RESPONSE: return ue_handshake_timestamp_bits(source->context, 1.0);
    case UE_HANDSHAKE_ACK: return ue_handshake_timestamp_bits(source->context, -1.0);
    default: return 0;
    }
}

static uint64_t version(const struct input_json_fields *source) {
    return source->context->features ? 4 : 3;
}

/* Every type but a restart request and a version upgrade has a body. Newer senders do not always write the correct
   type into a restart request, so for that type only the body's own fields count. */
static bool has_body(const struct input_json_fields *source) {
    enum ue_handshake_type type = handshake_type(source);
    if (source->has_body_field || type == UE_HANDSHAKE_RESTART_RESPONSE) {
        return true;
    }
    bool versioned = source->context->profile.handshake == UE_HANDSHAKE_V;
    return type <= UE_HANDSHAKE_ACK && !(versioned && source->restart);
}

static bool default_handshake(const struct input_json_fields *source, struct ue_record *record) {
    switch (record->field) {
    case UE_F_HANDSHAKE_RESTART: record->number = source->restart; return true;
    case UE_F_HANDSHAKE_VERSION: record->number = version(source); return true;
    case UE_F_HANDSHAKE_MIN_VERSION: record->number = HANDSHAKE_MIN_VERSION; return true;
    case UE_F_HANDSHAKE_TIMESTAMP: record->number = timestamp(source); return true;
    case UE_F_HANDSHAKE_TYPE:
        if (source->context->profile.handshake == UE_HANDSHAKE_V) {
            record->number = handshake_type(source);
        }
        return true;
    case UE_F_HANDSHAKE_RANDOM:
        record->text.units = (struct ue_view){input_arena_alloc(source->arena, RANDOM_BYTES), 0, RANDOM_BYTES * 8};
        return true;
    default: return false;
    }
}

bool input_json_default_presence(const struct input_json_fields *source, enum ue_field field) {
    switch (field) {
    case UE_F_HANDSHAKE_COOKIE: return has_body(source);
    case UE_F_HANDSHAKE_ORIG_COOKIE:
        return has(source, field) || handshake_type(source) == UE_HANDSHAKE_RESTART_RESPONSE;
    default: return has(source, field);
    }
}

/* ---- packet ---- */

static bool default_packet(const struct input_json_fields *source, struct ue_record *record) {
    json_t *history;
    switch (record->field) {
    case UE_F_IS_HANDSHAKE: record->number = json_object_get(source->datagram, "handshake") != NULL; return true;
    case UE_F_MAGIC: record->number = source->context->settings.magic; return true;
    case UE_F_WRAPPER:
    case UE_F_PACKET_EXTRA: {
        bool is_extra = record->field == UE_F_PACKET_EXTRA;
        const struct ue_settings *s = &source->context->settings;
        size_t bits = is_extra ? s->extra_bits : (size_t)s->skip_bytes * 8;
        record->text.units = (struct ue_view){input_arena_alloc(source->arena, ue_bits_bytes(bits)), 0, bits};
        return true;
    }
    case UE_F_PACKET_HISTORY_WORDS:
        history = json_object_get(json_object_get(source->datagram, "packet"), "history");
        if (json_array_size(history) != 0) {
            record->number = json_array_size(history);
        } else if (json_is_true(json_object_get(json_object_get(source->datagram, "packet"), "history_flush"))) {
            record->number = UE_HISTORY_WORDS_MAX; /* the words that follow the mark */
        }
        return true;
    case UE_F_PACKET_HAS_INFO:
        record->number = has(source, UE_F_PACKET_JITTER_MS) || has(source, UE_F_PACKET_HAS_FRAME_TIME) ||
                         has(source, UE_F_PACKET_FRAME_TIME_MS);
        return true;
    case UE_F_PACKET_JITTER_MS: record->number = JITTER_NOT_USABLE; return true;
    case UE_F_PACKET_HAS_FRAME_TIME: record->number = has(source, UE_F_PACKET_FRAME_TIME_MS); return true;
    case UE_F_LEGACY_IS_ACK: record->number = has(source, UE_F_LEGACY_ACK_ID); return true;
    case UE_F_LEGACY_HAS_FRAME_TIME: record->number = has(source, UE_F_LEGACY_FRAME_TIME_MS); return true;
    default: return false;
    }
}

/* ---- bunch ---- */

static const struct {
    const char *name;
    uint32_t index;
    uint8_t ch_type;
} channel_names[] = {
    {"Control", UE_NAME_CONTROL, UE_CHANNEL_CONTROL},
    {"Actor", UE_NAME_ACTOR, UE_CHANNEL_ACTOR},
    {"Voice", UE_NAME_VOICE, UE_CHANNEL_VOICE},
    {"DataStream", UE_NAME_DATA_STREAM, 0},
    {"File", 0, UE_CHANNEL_FILE},
};

/* The row of the channel's name: as given, else Control for channel 0 and Actor for all others. */
static size_t channel_row(const struct input_json_fields *source) {
    const char *given = json_string_value(json_object_get(source->item, "channel_name"));
    for (size_t i = 0; given != NULL && i < sizeof channel_names / sizeof *channel_names; i++) {
        if (strcmp(channel_names[i].name, given) == 0) {
            return i;
        }
    }
    return source->channel == 0 ? 0 : 1;
}

static bool default_bunch(const struct input_json_fields *source, struct ue_record *record) {
    switch (record->field) {
    case UE_F_BUNCH_CONTROL:
        record->number = item_implies(source, "open") || item_implies(source, "close");
        return true;
    case UE_F_BUNCH_CH_TYPE: record->number = channel_names[channel_row(source)].ch_type; return true;
    case UE_F_BUNCH_NAME_HARDCODED: record->number = !has(source, UE_F_BUNCH_NAME_TEXT); return true;
    case UE_F_BUNCH_NAME_INDEX: record->number = channel_names[channel_row(source)].index; return true;
    case UE_F_BUNCH_DATA_BITS: record->number = source->data.bits; return true;
    default: return false;
    }
}

/* ---- control messages ---- */

static const struct {
    uint8_t type;
    const char *id;
} messages[] = {
#define UE_MESSAGE(number, id, name) {number, #id},
#define UE_PARAM(message, name, kind)
#include <uerudp/messages.def>
#undef UE_MESSAGE
#undef UE_PARAM
};

bool input_json_is_message(const char *key) {
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        if (g_ascii_strcasecmp(messages[i].id, key) == 0) {
            return true;
        }
    }
    return false;
}

static int message_type_of(const json_t *message) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)message, key, value) {
        for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
            if (g_ascii_strcasecmp(messages[i].id, key) == 0) {
                return messages[i].type;
            }
        }
    }
    return -1;
}

static uint64_t unique_id_flags(const struct input_json_fields *source) {
    bool bytes = has(source, UE_F_CONTROL_UNIQUE_ID_BYTES);
    if (has(source, UE_F_CONTROL_UNIQUE_ID_SERVICES)) {
        return UE_UNIQUE_ID_HASH_V2 << 3 | UE_UNIQUE_ID_ENCODED;
    }
    if (has(source, UE_F_CONTROL_UNIQUE_ID_TYPE)) {
        return UE_UNIQUE_ID_HASH_OTHER << 3 | (bytes ? UE_UNIQUE_ID_ENCODED : 0);
    }
    return bytes ? UNIQUE_ID_PACKED : has(source, UE_F_CONTROL_UNIQUE_ID_TEXT) ? UNIQUE_ID_PLAIN : UNIQUE_ID_NONE;
}

static bool default_message(const struct input_json_fields *source, struct ue_record *record) {
    int type;
    switch (record->field) {
    case UE_F_CONTROL_TYPE:
        type = message_type_of(source->message);
        record->number = type >= 0 ? (uint64_t)type : record->number;
        return type >= 0;
    case UE_F_CONTROL_HELLO_LITTLE_ENDIAN: record->number = 1; return true;
    case UE_F_CONTROL_UNIQUE_ID_FLAGS: record->number = unique_id_flags(source); return true;
    case UE_F_CONTROL_UNIQUE_ID_SIZE: record->number = has(source, UE_F_CONTROL_UNIQUE_ID_TEXT); return true;
    default: return false;
    }
}

bool input_json_default(const struct input_json_fields *source, struct ue_record *record) {
    return default_handshake(source, record) || default_packet(source, record) || default_bunch(source, record) ||
           default_message(source, record);
}
