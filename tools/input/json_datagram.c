/* SPDX-License-Identifier: MIT */
#include "tools/input/json_datagram.h"

#include <stdio.h>

#include "tools/cli/command_line.h"

#define DEFAULT_GENERATION "5.5"
#define DEFAULT_STEP_NS INT64_C(10000000)
#define SETTING_BYTES 128
#define ITEM_PATH_BYTES 40

/* State of encoding one datagram. */
struct encoder {
    const struct wire_options *options;
    struct input_json_datagram *out;
    json_t *object;
    struct ue_context context;
    struct input_arena arena;
    struct input_json_fields source;
    struct ue_field_source binding;
};

static bool fail(struct encoder *w, const char *key, const char *what) {
    if (w->out->error[0] == '\0') {
        snprintf(w->out->error, sizeof w->out->error, "%s: %s", key, what);
    }
    return false;
}

/* ---- capture data ---- */

static bool read_address(struct encoder *w, const char *key, const char *otherwise, struct capture_address *address) {
    json_t *value = json_object_get(w->object, key);
    const char *text = value != NULL ? json_string_value(value) : otherwise;
    return (text != NULL && capture_address_parse(text, address)) || fail(w, key, "must be an address with a port");
}

static bool read_time(struct encoder *w, int64_t before_ns) {
    json_t *value = json_object_get(w->object, "time");
    uint64_t time = before_ns < 0 ? 0 : MIN((uint64_t)before_ns + DEFAULT_STEP_NS, INT64_MAX);
    bool good = value == NULL;
    if (json_is_integer(value)) {
        good = json_integer_value(value) >= 0;
        time = (uint64_t)json_integer_value(value);
    } else if (json_is_string(value)) {
        good = cli_parse_number(json_string_value(value), INT64_MAX, &time);
    }
    w->out->time_ns = (int64_t)time;
    return good || fail(w, "time", "must be nanoseconds since 1970, as a string or a number");
}

/* ---- context ---- */

static bool read_setting(struct encoder *w, struct ue_settings *settings, const char *key, const json_t *value) {
    char text[SETTING_BYTES];
    if (json_is_string(value)) {
        snprintf(text, sizeof text, "%s", json_string_value(value));
    } else if (json_is_integer(value)) {
        snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
    } else {
        snprintf(text, sizeof text, "%s", json_is_true(value) ? "true" : json_is_false(value) ? "false" : "");
    }
    g_autofree char *path = g_strconcat("settings.", key, NULL);
    switch (ue_settings_set(settings, key, text)) {
    case UE_SETTING_OK: break;
    case UE_SETTING_UNKNOWN: fail(w, path, "unknown setting"); break;
    case UE_SETTING_BAD_VALUE: fail(w, path, "invalid value"); break;
    }
    return w->out->error[0] == '\0';
}

static bool read_settings(struct encoder *w, struct ue_settings *settings) {
    json_t *given = json_object_get(w->object, "settings");
    const char *key;
    json_t *value;
    if (given != NULL && !json_is_object(given)) {
        return fail(w, "settings", "must be an object");
    }
    json_object_foreach(given, key, value) {
        if (!read_setting(w, settings, key, value)) {
            return false;
        }
    }
    return true;
}

static bool read_generation(struct encoder *w) {
    const struct ue_profile *profile = w->options->generation;
    struct ue_settings settings = w->options->settings;
    json_t *given = json_object_get(w->object, "generation");
    if (given != NULL) {
        const char *name = json_string_value(given);
        profile = name != NULL ? wire_options_find_generation(w->options, name, &settings) : NULL;
        if (profile == NULL) {
            return fail(w, "generation", "must be an engine release from 4.13 to 5.8 or a profile of --profiles");
        }
    } else if (profile == NULL) {
        profile = ue_profile_find(DEFAULT_GENERATION);
    }
    if (!read_settings(w, &settings)) {
        return false;
    }
    ue_context_init(&w->context, profile, &settings);
    return true;
}

static bool is_server(const struct encoder *w, const char *text) {
    struct capture_address address;
    return text != NULL && capture_address_parse(text, &address) && wire_options_is_server(w->options, address.port);
}

/* The direction that follows from the addresses, if one port is a server port. */
static enum ue_direction direction_of_addresses(const struct encoder *w) {
    bool from_server = is_server(w, json_string_value(json_object_get(w->object, "src")));
    bool to_server = is_server(w, json_string_value(json_object_get(w->object, "dst")));
    return from_server == to_server ? UE_DIRECTION_UNKNOWN : from_server ? UE_SERVER_TO_CLIENT : UE_CLIENT_TO_SERVER;
}

static bool read_direction(struct encoder *w) {
    json_t *given = json_object_get(w->object, "direction");
    if (given != NULL) {
        json_int_t number = json_is_integer(given) ? json_integer_value(given) : -1;
        w->context.direction = (enum ue_direction)number;
        return (number >= 0 && number <= UE_SERVER_TO_CLIENT) || fail(w, "direction", "must be 0, 1 or 2");
    }
    int type = input_json_handshake_type(
        json_object_get(w->object, "handshake")); /* without a type there is no sender either */
    w->context.direction = ue_handshake_sender((enum ue_handshake_type)type);
    if (w->context.direction == UE_DIRECTION_UNKNOWN) {
        w->context.direction = direction_of_addresses(w);
    }
    if (w->context.direction == UE_DIRECTION_UNKNOWN) {
        w->context.direction = UE_CLIENT_TO_SERVER;
    }
    return true;
}

/* Handshakes have ids from version 3 on; they have features if the object says so. */
static void set_form(struct encoder *w) {
    json_t *handshake = json_object_get(w->object, "handshake");
    json_t *version = json_object_get(handshake, "version");
    bool versioned = w->context.profile.handshake == UE_HANDSHAKE_V;
    bool given = json_object_get(w->object, "session_id") != NULL || json_object_get(w->object, "client_id") != NULL;
    bool too_old = json_is_integer(version) && json_integer_value(version) < 3;
    w->context.ids = versioned && (given || !too_old);
    w->context.features |= versioned && json_object_get(handshake, "features") != NULL;
}

/* ---- items ---- */

/* Encodes the messages of a bunch into its payload. */
static bool encode_messages(struct encoder *w, json_t *messages, const char *item_path) {
    static const char *const opaque_keys[] = {"opaque", NULL};
    size_t capacity = w->context.data_bound / 8 + 64;
    uint8_t *bytes = input_arena_alloc(&w->arena, capacity);
    struct ue_fault fault;
    size_t bit = 0;
    size_t index;
    json_t *value;
    json_array_foreach(messages, index, value) {
        struct ue_view opaque = {0};
        struct ue_message message;
        snprintf(w->source.where, sizeof w->source.where, "%smessages[%zu].", item_path, index);
        w->source.message = value;
        json_t *rest = json_object_get(value, "opaque");
        const char *wrong = rest != NULL ? input_json_bytes(rest, &w->arena, &opaque) : NULL;
        if (!json_is_object(value)) {
            input_json_fields_set_error(&w->source, "", "must be an object");
        } else if (wrong != NULL || bit + opaque.bits > capacity * 8) {
            input_json_fields_set_error(&w->source, "opaque", wrong != NULL ? wrong : "too long");
        } else if (rest != NULL) {
            ue_bits_copy(bytes, bit, opaque.base, 0, opaque.bits);
            bit += opaque.bits;
        } else if (ue_message_build(&w->context, &w->binding, &message, &fault) != UE_OK ||
                   ue_message_encode(&w->context, &message, bytes, capacity, &bit, &fault) != UE_OK) {
            input_json_fields_set_fault(&w->source, &fault);
        }
        if (w->source.error[0] == '\0') {
            input_json_fields_check_unused(&w->source, value, "control.", opaque_keys);
        }
        if (w->source.error[0] != '\0') {
            return false;
        }
    }
    w->source.message = NULL;
    w->source.data = (struct ue_view){bytes, 0, bit};
    return true;
}

/* Whether the last byte of data has bits that are set beyond the given number. */
static bool is_cut_short(struct ue_view data, size_t bits) {
    return bits % 8 != 0 && data.base[bits / 8] >> bits % 8 != 0;
}

static bool prepare_data(struct encoder *w, json_t *item, const char *path) {
    json_t *data = json_object_get(item, "data");
    json_t *messages = json_object_get(item, "messages");
    json_t *bits = json_object_get(item, "data_bits");
    w->source.data = (struct ue_view){0};
    if (data == NULL) {
        if (messages != NULL && !json_is_array(messages)) {
            input_json_fields_set_error(&w->source, "messages", "must be an array");
            return false;
        }
        return encode_messages(w, messages, path);
    }
    const char *wrong = input_json_bytes(data, &w->arena, &w->source.data);
    if (wrong != NULL) {
        input_json_fields_set_error(&w->source, "data", wrong);
    } else if (json_is_integer(bits) &&
               ue_bits_bytes((size_t)json_integer_value(bits)) != ue_bits_bytes(w->source.data.bits)) {
        input_json_fields_set_error(&w->source, "data_bits", "does not match the length of data");
    } else if (json_is_integer(bits) && is_cut_short(w->source.data, (size_t)json_integer_value(bits))) {
        input_json_fields_set_error(&w->source, "data_bits", "data has bits beyond it that are set");
    }
    return w->source.error[0] == '\0';
}

static bool build_item(struct encoder *w, json_t *value, const char *path, struct ue_item *item) {
    static const char *const item_keys[] = {"messages", "content", NULL};
    struct ue_fault fault;
    snprintf(w->source.where, sizeof w->source.where, "%s", path);
    if (!json_is_object(value)) {
        input_json_fields_set_error(&w->source, "", "must be an object");
        return false;
    }
    json_t *channel = json_object_get(value, "channel");
    w->source.item = value;
    w->source.channel = json_is_integer(channel) ? (uint64_t)json_integer_value(channel) : 0;
    if (!prepare_data(w, value, path)) {
        return false;
    }
    snprintf(w->source.where, sizeof w->source.where, "%s", path);
    if (ue_item_build(&w->context, &w->binding, item, &fault) != UE_OK) {
        input_json_fields_set_fault(&w->source, &fault);
        return false;
    }
    if (w->context.profile.packet == UE_PACKET_LEGACY) {
        json_object_del(value, "is_ack");
    }
    input_json_fields_check_unused(&w->source, value, "bunch.", item_keys);
    return w->source.error[0] == '\0';
}

static bool build_items(struct encoder *w, struct ue_datagram *datagram) {
    bool legacy = w->context.profile.packet == UE_PACKET_LEGACY && !w->context.settings.internal_ack;
    bool possible = !datagram->prefix.is_handshake && !datagram->handlers.is_opaque;
    const char *key = legacy ? "items" : "bunches";
    json_t *values = json_object_get(w->object, key);
    if (json_object_get(w->object, legacy ? "bunches" : "items") != NULL) {
        return fail(w, legacy ? "bunches" : "items",
                    legacy ? "packets of this generation have items" : "packets of this generation have bunches");
    }
    if (values != NULL && (!json_is_array(values) || !possible)) {
        return fail(w, key, possible ? "must be an array" : "not allowed, because this datagram has none");
    }
    size_t index;
    json_t *value;
    datagram->item_capacity = json_array_size(values);
    datagram->items = input_arena_alloc(&w->arena, datagram->item_capacity * sizeof *datagram->items);
    json_array_foreach(values, index, value) {
        char path[ITEM_PATH_BYTES];
        snprintf(path, sizeof path, "%s[%zu].", key, index);
        if (!build_item(w, value, path, &datagram->items[index])) {
            return false;
        }
        datagram->item_count = index + 1;
    }
    w->source.item = NULL;
    w->source.where[0] = '\0';
    json_object_del(w->object, key);
    return true;
}

/* ---- the datagram ---- */

/* Terminators are always written, so the object must agree with that. */
static bool check_terminators(struct encoder *w) {
    json_t *given = json_object_get(w->object, "terminator");
    size_t index;
    json_t *value;
    bool good = given == NULL || json_is_array(given);
    json_array_foreach(given, index, value) {
        good = good && json_is_true(value);
    }
    return good || fail(w, "terminator", "must be an array of true");
}

/* Removes the history words if all were used; unused words stay and are reported. */
static void drop_history(struct encoder *w) {
    json_t *packet = json_object_get(w->object, "packet");
    json_t *history = json_object_get(packet, "history");
    if (history != NULL && json_array_size(history) <= w->source.history && json_is_array(history)) {
        json_object_del(packet, "history");
    }
}

static bool check_leftover(struct encoder *w) {
    static const char *const capture_keys[] = {"schema", "frame",    "time", "src",        "dst", "length",
                                               "raw",    "settings", "bits", "terminator", NULL};
    drop_history(w);
    input_json_fields_check_unused(&w->source, w->object, "", capture_keys);
    return w->source.error[0] == '\0';
}

static bool encode_fields(struct encoder *w) {
    struct ue_datagram datagram = {0};
    struct ue_fault fault;
    set_form(w);
    input_json_fields_begin(&w->source, &w->context, &w->arena, w->object);
    input_json_fields_bind(&w->source, &w->binding);
    if (ue_datagram_build(&w->context, &w->binding, &datagram, &fault) != UE_OK) {
        input_json_fields_set_fault(&w->source, &fault);
    }
    if (w->source.error[0] != '\0' || !build_items(w, &datagram) || !check_leftover(w)) {
        return false;
    }
    if (ue_datagram_encode(&w->context, &datagram, w->out->bytes, sizeof w->out->bytes, &w->out->size_bytes, &fault) !=
        UE_OK) {
        input_json_fields_set_fault(&w->source, &fault);
    }
    return w->source.error[0] == '\0';
}

static bool copy_raw(struct encoder *w, const json_t *raw) {
    struct ue_view view;
    const char *wrong = input_json_bytes(raw, &w->arena, &view);
    if (wrong != NULL || view.bits > sizeof w->out->bytes * 8) {
        return fail(w, "raw", wrong != NULL ? wrong : "larger than a UDP datagram");
    }
    w->out->size_bytes = view.bits / 8;
    memcpy(w->out->bytes, view.base, w->out->size_bytes);
    return true;
}

static bool read_addresses(struct encoder *w) {
    bool from_server = w->context.direction == UE_SERVER_TO_CLIENT;
    w->out->from_server = from_server;
    if (!read_address(w, "src", from_server ? INPUT_JSON_DEFAULT_SERVER : INPUT_JSON_DEFAULT_CLIENT, &w->out->source) ||
        !read_address(w, "dst", from_server ? INPUT_JSON_DEFAULT_CLIENT : INPUT_JSON_DEFAULT_SERVER,
                      &w->out->destination)) {
        return false;
    }
    return w->out->source.family == w->out->destination.family ||
           fail(w, "dst", "must be of the same IP version as src");
}

static bool encode(struct encoder *w, int64_t before_ns) {
    json_t *raw = json_object_get(w->object, "raw");
    if (raw != NULL) {
        return read_time(w, before_ns) && read_direction(w) && read_addresses(w) && copy_raw(w, raw);
    }
    return read_time(w, before_ns) && read_generation(w) && read_direction(w) && read_addresses(w) &&
           check_terminators(w) && encode_fields(w);
}

bool input_json_encode(const struct wire_options *options, json_t *object, int64_t before_ns,
                       struct input_json_datagram *datagram) {
    struct encoder w = {.options = options, .out = datagram, .object = object};
    datagram->error[0] = '\0';
    bool good = encode(&w, before_ns);
    if (!good && datagram->error[0] == '\0') {
        snprintf(datagram->error, sizeof datagram->error, "%s", w.source.error);
    }
    input_arena_clear(&w.arena);
    return good;
}
