/* SPDX-License-Identifier: MIT */
#include "tools/edit/generation_rewrite.h"

#include <jansson.h>

static bool is_versioned(const struct ue_profile *profile) {
    return profile->handshake == UE_HANDSHAKE_V;
}

/* Whether the value is the default: false, or an empty text. */
static bool is_default(const json_t *value) {
    return json_is_false(value) || (json_is_string(value) && json_string_length(value) == 0);
}

static void remove_defaults(json_t *object) {
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(object, next, key, value) {
        if (is_default(value)) {
            json_object_del(object, key);
        }
    }
}

static void drop_keys(json_t *object, const char *const *keys) {
    for (; *keys != NULL; keys++) {
        json_object_del(object, *keys);
    }
}

/* The form of a handshake follows the new generation; its body belongs to the connection. */
static void adapt_handshake(json_t *handshake, const struct ue_profile *from, const struct ue_profile *to) {
    static const char *const form[] = {"min_version", "version", NULL};
    static const char *const layout[] = {"network_version", "random", "sent_count", "timestamp_raw", NULL};
    remove_defaults(handshake);
    drop_keys(handshake, form);
    if (from->handshake != to->handshake) {
        drop_keys(handshake, layout);
    }
    if (!to->features) {
        json_object_del(handshake, "features");
    }
}

/* Without runtime features the value is what a login without the field means. */
static void adapt_params(json_t *params, const struct ue_profile *to) {
    remove_defaults(params);
    json_t *features = json_object_get(params, "features");
    if (to->hello < 3 && json_is_integer(features) && json_integer_value(features) == 0) {
        json_object_del(params, "features");
    }
}

static void adapt_message(json_t *message, const struct ue_profile *from, const struct ue_profile *to) {
    static const char *const how[] = {"flags", "size", NULL};
    const char *key;
    json_t *params;
    json_object_foreach(message, key, params) {
        if (json_is_object(params)) {
            adapt_params(params, to);
        }
    }
    if ((from->hello < 2) != (to->hello < 2)) {
        drop_keys(json_object_get(message, "unique_id"), how);
    }
}

/* A channel with an engine name gets the name form of the other generation, and control messages are encoded again. */
static void adapt_bunch(json_t *bunch, const struct ue_profile *from, const struct ue_profile *to) {
    static const char *const names[] = {"ch_type", "name_hardcoded", "name_index", NULL};
    static const char *const data[] = {"data", "data_bits", NULL};
    json_t *messages = json_object_get(bunch, "messages"), *message;
    size_t index;
    remove_defaults(bunch);
    if (from->channel != to->channel && json_object_get(bunch, "channel_name") != NULL) {
        drop_keys(bunch, names);
    }
    json_array_foreach(messages, index, message) {
        adapt_message(message, from, to);
    }
    if (json_array_size(messages) != 0) {
        drop_keys(bunch, data);
    }
}

static void adapt(json_t *object, const struct ue_profile *from, const struct ue_profile *to) {
    static const char *const ids[] = {"session_id", "client_id", NULL};
    json_t *bunches = json_object_get(object, from->packet == UE_PACKET_LEGACY ? "items" : "bunches"), *bunch;
    size_t index;
    json_object_set_new(object, "generation", json_string(to->name));
    json_object_del(object, "terminator");
    adapt_handshake(json_object_get(object, "handshake"), from, to);
    remove_defaults(json_object_get(object, "packet"));
    json_array_foreach(bunches, index, bunch) {
        adapt_bunch(bunch, from, to);
    }
    if (!is_versioned(to)) {
        drop_keys(object, ids);
    }
}

static json_t *object_of(struct generation_rewrite *rewrite, const struct input_datagram *captured,
                         const uint8_t *bytes, size_t size_bytes) {
    struct print_datagram shown = {
        .frame = captured->observed->frame,
        .time_ns = captured->observed->time_ns,
        .source = captured->texts->addresses[captured->observed->record.decode.side],
        .destination = captured->texts->addresses[!captured->observed->record.decode.side],
        .bytes = bytes,
        .size_bytes = size_bytes,
        .captured_bytes = size_bytes,
        .length_bytes = size_bytes,
        .context = &captured->context,
        .packet_ids = &captured->observed->record.decode.packet_ids,
        .reason = "",
        .canonical = true,
    };
    rewrite->json.line.length = 0;
    print_json_datagram(&rewrite->json, &shown);
    return json_loadb(rewrite->json.line.text, rewrite->json.line.length, JSON_ALLOW_NUL, NULL);
}

/* Whether the other generation needs a sequence number in every packet that this packet does not have. */
static bool lacks_history_seq(const struct input_datagram *captured, const struct ue_profile *to) {
    return to->packet == UE_PACKET_HISTORY_SEQ && captured->context.profile.packet != to->packet &&
           !captured->result.is_handshake;
}

/* Why the datagram cannot be rewritten; NULL: it can. */
static const char *unwritable(const struct input_datagram *captured, const struct ue_profile *to) {
    return lacks_history_seq(captured, to)          ? "packet.acked_history_seq: unknown"
           : captured->is_foreign                   ? "not recognised"
           : captured->is_cut                       ? "cut by a snap length"
           : captured->result.fault.status != UE_OK ? "malformed"
           : captured->result.is_opaque             ? "encrypted, compressed or in an unknown format"
                                                    : NULL;
}

/* The context with which the object is encoded. */
static void set_context(struct generation_rewrite *rewrite, const struct input_datagram *captured) {
    ue_context_init(&rewrite->context, rewrite->profile, &captured->context.settings);
    rewrite->context.direction = captured->context.direction;
    rewrite->context.ids = is_versioned(rewrite->profile);
}

bool generation_rewrite_datagram(struct generation_rewrite *rewrite, const struct input_datagram *captured,
                                 const uint8_t *bytes, size_t size_bytes) {
    if (rewrite->datagram == NULL) {
        rewrite->datagram = g_new0(struct input_json_datagram, 1);
    }
    const char *wrong = unwritable(captured, rewrite->profile);
    json_t *object = wrong == NULL ? object_of(rewrite, captured, bytes, size_bytes) : NULL;
    if (object == NULL) {
        g_snprintf(rewrite->datagram->error, INPUT_JSON_ERROR_BYTES, "%s", wrong != NULL ? wrong : "out of memory");
        return false;
    }
    adapt(object, &captured->context.profile, rewrite->profile);
    bool good = input_json_encode(&rewrite->options, object, -1, rewrite->datagram);
    json_decref(object);
    set_context(rewrite, captured);
    return good;
}

void generation_rewrite_clear(struct generation_rewrite *rewrite) {
    print_json_free(&rewrite->json);
    g_clear_pointer(&rewrite->datagram, g_free);
}
