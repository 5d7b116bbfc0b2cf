/* SPDX-License-Identifier: MIT */
#include "tools/input/json_fields.h"

#include <stdio.h>
#include <string.h>

#include "tools/input/json_defaults.h"

#define KEY_BYTES 64

/* ---- keys ---- */

/* The part of a field name after the name of its array element. */
static const char *name_in_element(const char *name) {
    static const char *const prefixes[] = {"bunch.", "legacy.", "control."};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        if (g_str_has_prefix(name, prefixes[i])) {
            return name + strlen(prefixes[i]);
        }
    }
    return name;
}

struct position {
    json_t *object; /* NULL: absent */
    const char *key;
};

/* Where the value of the field with this dotted name belongs. */
static struct position position_of(const struct input_json_fields *source, const char *name) {
    json_t *object = source->datagram;
    const char *key = name_in_element(name);
    if (g_str_has_prefix(name, "control.")) {
        object = source->message;
    } else if (key != name) {
        object = source->item;
    }
    const char *dot = strchr(key, '.');
    if (dot != NULL) {
        object = json_object_getn(object, key, (size_t)(dot - key));
        key = dot + 1;
    }
    return (struct position){json_is_object(object) ? object : NULL, key};
}

/* The value of a field; NULL: its key is absent. */
static json_t *value_of(const struct input_json_fields *source, enum ue_field field) {
    struct position position = position_of(source, ue_field_row(field)->name);
    return json_object_get(position.object, position.key);
}

bool input_json_fields_have(const struct input_json_fields *source, enum ue_field field) {
    return value_of(source, field) != NULL;
}

/* ---- errors ---- */

void input_json_fields_set_error(struct input_json_fields *source, const char *key, const char *what) {
    if (source->error[0] == '\0') {
        snprintf(source->error, sizeof source->error, "%s%s: %s", source->where, key, what);
    }
}

void input_json_fields_set_fault(struct input_json_fields *source, const struct ue_fault *fault) {
    const char *name = ue_field_row(fault->field)->name;
    input_json_fields_set_error(source, source->where[0] != '\0' ? name_in_element(name) : name,
                                ue_status_text(fault->status));
}

/* ---- fields ---- */

static void fail_field(struct input_json_fields *source, enum ue_field field, const char *what) {
    const char *name = ue_field_row(field)->name;
    input_json_fields_set_error(source, source->where[0] != '\0' ? name_in_element(name) : name, what);
}

/* The size of a field with a fixed number of bytes, which the codec would pad. */
static size_t fixed_bytes(enum ue_field field) {
    switch (field) {
    case UE_F_HANDSHAKE_COOKIE:
    case UE_F_HANDSHAKE_ORIG_COOKIE: return UE_COOKIE_BYTES;
    case UE_F_HANDSHAKE_DIAGNOSTICS: return UE_DIAGNOSTICS_BYTES;
    case UE_F_HANDLER_IV: return UE_AES_IV_BYTES;
    case UE_F_HANDLER_TAG: return UE_AES_TAG_BYTES;
    default: return 0;
    }
}

static void read_value(struct input_json_fields *source, json_t *value, struct ue_record *record) {
    const char *wrong = input_json_value(value, source->arena, record);
    size_t fixed = fixed_bytes(record->field);
    if (wrong == NULL && fixed != 0 && record->text.units.bits != fixed * 8) {
        wrong = "has the wrong number of bytes";
    }
    if (wrong != NULL) {
        record->number = 0;
        record->text.units.bits = 0;
        fail_field(source, record->field, wrong);
    }
}

static bool read_history(struct input_json_fields *source, struct ue_record *record) {
    json_t *words = value_of(source, UE_F_PACKET_HISTORY);
    size_t index = source->history++;
    if (words == NULL || index >= json_array_size(words)) {
        return false;
    }
    read_value(source, json_array_get(words, index), record);
    return true;
}

/* Bits that a decimal number cannot hold are in a key of their own. */
static bool read_real(struct input_json_fields *source, struct position position, struct ue_record *record) {
    char raw_key[KEY_BYTES];
    snprintf(raw_key, sizeof raw_key, "%s_raw", position.key);
    json_t *raw = json_object_get(position.object, raw_key);
    if (raw == NULL) {
        return false;
    }
    const char *wrong = input_json_raw_real(raw, record);
    if (wrong != NULL) {
        input_json_fields_set_error(source, raw_key, wrong);
    }
    json_object_del(position.object, raw_key);
    json_object_del(position.object, position.key);
    return true;
}

static bool read_data(struct input_json_fields *source, struct ue_record *record) {
    record->text.units = source->data;
    json_object_del(source->item, "data");
    return true;
}

static bool on_field(void *user, struct ue_record *record) {
    static const uint8_t nothing;
    struct input_json_fields *source = user;
    struct position position = position_of(source, ue_field_row(record->field)->name);
    record->text.units.base = &nothing; /* an absent text is empty, with a non-NULL pointer */
    if (record->field == UE_F_PACKET_HISTORY) {
        return read_history(source, record);
    }
    if (record->field == UE_F_BUNCH_DATA) {
        return read_data(source, record);
    }
    bool is_real = ue_field_row(record->field)->kind == UE_KIND_REAL;
    if (is_real && read_real(source, position, record)) {
        return true;
    }
    json_t *value = json_object_get(position.object, position.key);
    if (value == NULL) {
        return input_json_default(source, record);
    }
    read_value(source, value, record);
    if (record->field != UE_F_LEGACY_IS_ACK) { /* read twice: as kind of the item, and as its first bit */
        json_object_del(position.object, position.key);
    }
    return true;
}

static bool on_more(void *user, enum ue_field field) {
    return input_json_default_presence(user, field);
}

void input_json_fields_bind(struct input_json_fields *source, struct ue_field_source *binding) {
    *binding = (struct ue_field_source){on_field, on_more, source};
}

int input_json_handshake_type(const json_t *handshake) {
    json_t *type = json_object_get(handshake, "type");
    if (json_is_integer(type)) {
        return (int)json_integer_value(type);
    }
    if (json_object_get(handshake, "orig_cookie") != NULL) {
        return UE_HANDSHAKE_RESTART_RESPONSE;
    }
    bool bare = json_object_get(handshake, "timestamp") == NULL && json_object_get(handshake, "cookie") == NULL;
    return bare && json_is_true(json_object_get(handshake, "restart")) ? UE_HANDSHAKE_RESTART_REQUEST : -1;
}

void input_json_fields_begin(struct input_json_fields *source, const struct ue_context *context,
                             struct input_arena *arena, json_t *datagram) {
    *source = (struct input_json_fields){.context = context, .arena = arena, .datagram = datagram};
    json_t *handshake = json_object_get(datagram, "handshake");
    json_t *restart = json_object_get(handshake, "restart");
    source->type = input_json_handshake_type(handshake);
    source->has_body_field = input_json_fields_have(source, UE_F_HANDSHAKE_SECRET_ID) ||
                             input_json_fields_have(source, UE_F_HANDSHAKE_TIMESTAMP) ||
                             input_json_fields_have(source, UE_F_HANDSHAKE_COOKIE);
    source->restart =
        restart != NULL ? json_is_true(restart)
                        : source->type == UE_HANDSHAKE_RESTART_REQUEST || source->type == UE_HANDSHAKE_RESTART_RESPONSE;
}

/* ---- unused keys ---- */

static bool is_generated(enum ue_field field) {
    switch (field) {
    case UE_F_STREAM:
    case UE_F_DIRECTION:
    case UE_F_GENERATION:
    case UE_F_GENERATION_REASON:
    case UE_F_CANONICAL:
    case UE_F_FAULT_STATUS:
    case UE_F_FAULT_FIELD:
    case UE_F_FAULT_BIT:
    case UE_F_HANDSHAKE_SERVER_SEQ:
    case UE_F_HANDSHAKE_CLIENT_SEQ:
    case UE_F_PACKET_ID:
    case UE_F_PACKET_ACKED:
    case UE_F_PACKET_NACKED:
    case UE_F_BUNCH_CHANNEL_NAME: return true;
    default: return false;
    }
}

static void check_key(struct input_json_fields *source, const char *prefix, const char *object_key, const char *key) {
    char name[2 * KEY_BYTES];
    char path[2 * KEY_BYTES];
    snprintf(name, sizeof name, "%s%s%s%s", prefix, object_key, object_key[0] != '\0' ? "." : "", key);
    snprintf(path, sizeof path, "%s%s%.60s", object_key, object_key[0] != '\0' ? "." : "", key);
    enum ue_field field = ue_field_find(name);
    if (field == UE_F_NONE && strcmp(prefix, "bunch.") == 0) {
        snprintf(name, sizeof name, "legacy.%.60s", key);
        field = ue_field_find(name);
    }
    if (field == UE_F_NONE) {
        input_json_fields_set_error(source, path, "unknown field");
    } else if (!is_generated(field)) {
        char what[2 * KEY_BYTES];
        snprintf(what, sizeof what, "not on the wire of generation %.20s with these other fields",
                 source->context->profile.name);
        input_json_fields_set_error(source, path, what);
    }
}

/* Whether a field name starts with this key, so that it names a nested object. */
static bool is_object_key(const char *prefix, const char *key) {
    char start[2 * KEY_BYTES];
    snprintf(start, sizeof start, "%s%.60s.", prefix, key);
    for (int field = 1; field < UE_FIELD_COUNT; field++) {
        if (g_str_has_prefix(ue_field_row((enum ue_field)field)->name, start)) {
            return true;
        }
    }
    return false;
}

void input_json_fields_check_unused(struct input_json_fields *source, json_t *object, const char *prefix,
                                    const char *const *ignored) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        bool is_bare_message = json_is_object(value) && json_object_size(value) == 0 && input_json_is_message(key);
        if (g_strv_contains(ignored, key) || (is_bare_message && strcmp(prefix, "control.") == 0)) {
            continue;
        }
        if (!is_object_key(prefix, key)) {
            check_key(source, prefix, "", key);
        } else if (!json_is_object(value)) {
            input_json_fields_set_error(source, key, "must be an object");
        } else {
            const char *inner_key;
            json_t *inner;
            json_object_foreach(value, inner_key, inner) {
                check_key(source, prefix, key, inner_key);
            }
        }
    }
}
