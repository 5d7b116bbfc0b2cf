/* SPDX-License-Identifier: MIT */
#include "tools/print/json.h"

#include <math.h>

#include "tools/print/json_settings.h"
#include "tools/print/text_escape.h"

/* Larger numbers are written as strings, because readers that store numbers as doubles would round them. */
#define EXACT_MAX (UINT64_C(1) << 53)

/* The longest key of a field, with quotes, colon and NUL. */
#define KEY_BYTES 40

/* Number of open brackets around the fields of each part. */
enum scope { SCOPE_TOP = 1, SCOPE_ITEM = 3, SCOPE_MESSAGE = 5 };

/* The position of a field: scope, sub-object, and its own key. */
struct key_position {
    uint8_t scope;
    uint8_t object_length;
    uint8_t quoted_length;
    const char *object; /* NULL: directly in the scope */
    const char *key;
    char quoted[KEY_BYTES]; /* the key with quotes and colon */
};

static struct key_position positions[UE_FIELD_COUNT];

/* Keys of the lists in an item, compared by address. */
static const char messages[] = "messages";
static const char contents[] = "content";

static bool skip_prefix(const char **name, const char *prefix) {
    size_t length = strlen(prefix);
    bool found = strncmp(*name, prefix, length) == 0;
    *name += found ? length : 0;
    return found;
}

static struct key_position position_of(const char *name) {
    struct key_position position = {.scope = SCOPE_TOP};
    if (skip_prefix(&name, "bunch.") || skip_prefix(&name, "legacy.")) {
        position.scope = SCOPE_ITEM;
    } else if (skip_prefix(&name, "control.")) {
        position.scope = SCOPE_MESSAGE;
    }
    const char *dot = strchr(name, '.');
    position.object = dot != NULL ? name : NULL;
    position.object_length = (uint8_t)(dot != NULL ? dot - name : 0);
    position.key = dot != NULL ? dot + 1 : name;
    position.quoted_length = (uint8_t)snprintf(position.quoted, sizeof position.quoted, "\"%s\":", position.key);
    return position;
}

static const struct key_position *find_position(enum ue_field field) {
    if (positions[field].key == NULL) {
        positions[field] = position_of(ue_field_row(field)->name);
    }
    return &positions[field];
}

/* ---- brackets ---- */

static void comma(struct print_json *json) {
    if (json->more[json->depth]) {
        text_buffer_add_char(&json->line, ',');
    }
    json->more[json->depth] = true;
}

static void open_bracket(struct print_json *json, char opener, char closer) {
    text_buffer_add_char(&json->line, opener);
    json->depth++;
    json->closers[json->depth] = closer;
    json->more[json->depth] = false;
}

static void close_to(struct print_json *json, unsigned depth) {
    json->array = UE_F_NONE;
    json->object = NULL;
    while (json->depth > depth) {
        text_buffer_add_char(&json->line, json->closers[json->depth--]);
    }
}

static void put_key(struct print_json *json, const char *key, size_t length) {
    comma(json);
    char *to = text_buffer_room(&json->line, length + 3);
    to[0] = '"';
    memcpy(to + 1, key, length);
    to[length + 1] = '"';
    to[length + 2] = ':';
    json->line.length += length + 3;
}

static void put_position(struct print_json *json, const struct key_position *position) {
    comma(json);
    memcpy(text_buffer_room(&json->line, KEY_BYTES), position->quoted,
           KEY_BYTES); /* a fixed size compiles to a few moves */
    json->line.length += position->quoted_length;
}

static void open_key(struct print_json *json, const char *key, char opener, char closer) {
    put_key(json, key, strlen(key));
    open_bracket(json, opener, closer);
}

/* ---- values ---- */

static void put_quoted(struct text_buffer *out, const char *text) {
    text_buffer_add_char(out, '"');
    text_buffer_add(out, text);
    text_buffer_add_char(out, '"');
}

static void put_unsigned(struct text_buffer *out, uint64_t number) {
    const char *quote = number > EXACT_MAX ? "\"" : "";
    text_buffer_add(out, quote);
    text_buffer_add_unsigned(out, number);
    text_buffer_add(out, quote);
}

static void put_text(struct text_buffer *out, struct ue_text text) {
    text_buffer_add_char(out, '"');
    text_escape_add_engine_text(out, text, TEXT_ESCAPE_JSON);
    text_buffer_add_char(out, '"');
}

static void put_bytes(struct text_buffer *out, struct ue_view view) {
    text_buffer_add_char(out, '"');
    text_buffer_add_hex_view(out, view, SIZE_MAX);
    text_buffer_add_char(out, '"');
}

/* Whether the decimal form reads back as the same bits. */
static bool survives_decimal(double value) {
    return isfinite(value) && !(value == 0 && signbit(value));
}

static void put_real(struct text_buffer *out, const struct ue_record *record) {
    double value = ue_record_real(record);
    if (survives_decimal(value)) {
        text_buffer_add_real(out, value);
    } else {
        text_buffer_add(out, "null");
    }
}

void print_json_add_value(struct text_buffer *out, const struct ue_record *record) {
    switch (ue_field_row(record->field)->kind) {
    case UE_KIND_BOOL: text_buffer_add(out, record->number != 0 ? "true" : "false"); break;
    case UE_KIND_U8:
    case UE_KIND_U16:
    case UE_KIND_U32:
    case UE_KIND_X32: text_buffer_add_unsigned(out, record->number); break;
    case UE_KIND_U64: put_unsigned(out, record->number); break;
    case UE_KIND_I32: text_buffer_add_signed(out, (int32_t)(uint32_t)record->number); break;
    case UE_KIND_BYTES: put_bytes(out, record->text.units); break;
    case UE_KIND_TEXT: put_text(out, record->text); break;
    case UE_KIND_REAL: put_real(out, record); break;
    case UE_KIND_STRING:
        if (record->string != NULL) {
            text_buffer_add_char(out, '"');
            text_escape_add_utf8(out, record->string, TEXT_ESCAPE_JSON);
            text_buffer_add_char(out, '"');
        } else {
            put_text(out, record->text);
        }
        break;
    case UE_KIND_FRAME:
    case UE_KIND_SPAN:
    case UE_KIND_FLAG:
    case UE_KIND_FINDING: break; /* not a kind of a record */
    }
}

void print_json_add_raw(struct text_buffer *out, const char *key, const struct ue_record *record) {
    if (ue_field_row(record->field)->kind == UE_KIND_REAL && !survives_decimal(ue_record_real(record))) {
        text_buffer_add_format(out, ",\"%s_raw\":\"%0*llx\"", key, (int)record->bits / 4,
                               (unsigned long long)record->number);
    }
}

/* ---- the trace ---- */

/* Opens and closes brackets so that the field can follow. */
static void go_to(struct print_json *json, const struct key_position *position) {
    bool same = json->object != NULL && position->object != NULL && json->depth == position->scope + 1u &&
                strncmp(json->object, position->object, position->object_length + 1u) == 0;
    if (same) {
        return;
    }
    if (json->depth != position->scope) {
        close_to(json, position->scope);
    }
    if (position->object != NULL) {
        put_key(json, position->object, position->object_length);
        open_bracket(json, '{', '}');
        json->object = position->object;
    }
}

static void put_listed(struct print_json *json, const struct key_position *position, const struct ue_record *record) {
    if (json->array != record->field) {
        go_to(json, position);
        open_key(json, position->key, '[', ']');
        json->array = record->field;
    }
    comma(json);
    print_json_add_value(&json->line, record);
}

static void end_list(struct print_json *json) {
    if (json->array != UE_F_NONE) {
        json->array = UE_F_NONE;
        text_buffer_add_char(&json->line, json->closers[json->depth--]);
    }
}

/* Appends a value to a list that is written later in the line. */
static void defer_value(struct text_buffer *deferred, const struct ue_record *record) {
    if (deferred->length != 0) {
        text_buffer_add_char(deferred, ',');
    }
    print_json_add_value(deferred, record);
}

static void store_bits(struct print_json *json, const struct ue_record *record) {
    if (json->with_bits && !record->generated) {
        if (json->bits.length != 0) {
            text_buffer_add_char(&json->bits, ',');
        }
        text_buffer_add_format(&json->bits, "[\"%s\",%zu,%zu%s]", ue_field_row(record->field)->name, record->bit,
                               record->bits,
                               json->is_reassembled ? ",\"message\""
                               : json->is_decrypted ? ",true"
                                                    : "");
    }
}

static void put_unique_id(struct print_json *json, const struct key_position *position,
                          const struct ue_record *record) {
    struct text_buffer *out = &json->unique_id;
    if (out->length > 1) {
        text_buffer_add_char(out, ',');
    }
    put_quoted(out, position->key);
    text_buffer_add_char(out, ':');
    print_json_add_value(out, record);
}

static void begin_item(struct print_json *json) {
    if (json->depth >= SCOPE_ITEM) {
        close_to(json, SCOPE_ITEM - 1);
    } else {
        close_to(json, SCOPE_TOP);
        open_key(json, json->items_key, '[', ']');
    }
    comma(json);
    open_bracket(json, '{', '}');
}

/* Begins an object in a list of the item: messages or content. */
static void begin_element(struct print_json *json, const char *list) {
    bool is_next = json->depth >= SCOPE_MESSAGE - 1 && json->list == list;
    close_to(json, is_next ? SCOPE_MESSAGE - 1 : SCOPE_ITEM);
    if (!is_next) {
        json->list = list;
        open_key(json, list, '[', ']');
    }
    comma(json);
    open_bracket(json, '{', '}');
}

static void write_deferred(struct print_json *json, struct text_buffer *deferred, const char *key, char opener,
                           char closer) {
    if (deferred->length != 0) {
        put_key(json, key, strlen(key));
        text_buffer_add_char(&json->line, opener);
        text_buffer_add_bytes(&json->line, deferred->text, deferred->length);
        text_buffer_add_char(&json->line, closer);
        deferred->length = 0;
    }
}

static void end_message(struct print_json *json) {
    close_to(json, SCOPE_MESSAGE);
    write_deferred(json, &json->unique_id, "unique_id", '{', '}');
    close_to(json, SCOPE_MESSAGE - 1);
}

static void end_packet(struct print_json *json) {
    end_list(json);
    write_deferred(json, &json->acked, "acked", '[', ']');
    write_deferred(json, &json->nacked, "nacked", '[', ']');
}

static void on_begin(void *user, enum ue_group group, size_t bit) {
    struct print_json *json = user;
    (void)bit;
    if (json->content.line != NULL) {
        print_json_content_group(&json->content, group);
    } else if (group == UE_GROUP_BUNCH || group == UE_GROUP_ACK) {
        begin_item(user);
    } else if (group == UE_GROUP_MESSAGE) {
        begin_element(user, messages);
    } else if (group == UE_GROUP_OPENED) {
        json->is_decrypted = true;
    }
}

static void on_end(void *user, enum ue_group group, size_t bit, const void *structure) {
    (void)structure;
    struct print_json *json = user;
    (void)bit;
    if (json->content.line != NULL) {
        print_json_content_group_end(&json->content);
    } else if (group == UE_GROUP_MESSAGE) {
        end_message(user);
    } else if (group == UE_GROUP_PACKET) {
        end_packet(user);
    } else if (group == UE_GROUP_OPENED) {
        json->is_decrypted = false;
    }
}

/* The bits after a message that cannot be decoded are a list element of their own. */
static void put_opaque(struct print_json *json, const struct key_position *position, const struct ue_record *record) {
    begin_element(json, messages);
    put_position(json, position);
    print_json_add_value(&json->line, record);
    end_message(json);
}

static bool is_unique_id(const struct key_position *position) {
    return position->object_length == sizeof "unique_id" - 1 &&
           memcmp(position->object, "unique_id", position->object_length) == 0;
}

static void on_field(void *user, const struct ue_record *record) {
    struct print_json *json = user;
    store_bits(json, record);
    if (UE_UNLIKELY(json->content.line != NULL)) {
        print_json_content_field(&json->content, record);
        return;
    }
    const struct key_position *position = find_position(record->field);
    if (record->field == UE_F_PACKET_HISTORY) {
        put_listed(json, position, record);
        return;
    }
    end_list(json);
    if (record->field == UE_F_PACKET_ACKED || record->field == UE_F_PACKET_NACKED) {
        defer_value(record->field == UE_F_PACKET_ACKED ? &json->acked : &json->nacked, record);
    } else if (record->field == UE_F_TERMINATOR) {
        defer_value(&json->terminators,
                    record); /* decrypted content has terminators too, after those of the datagram */
    } else if (record->field == UE_F_CONTROL_OPAQUE) {
        put_opaque(json, position, record);
    } else if (is_unique_id(position)) {
        put_unique_id(json, position, record);
    } else {
        go_to(json, position);
        put_position(json, position);
        print_json_add_value(&json->line, record);
        print_json_add_raw(&json->line, position->key, record);
    }
}

/* ---- complete messages ---- */

/* The frames of the partial bunches of a reassembled message. */
static void put_frames(struct print_json *json, const struct print_message *message) {
    uint64_t last = 0;
    text_buffer_add(&json->line, "\"frames\":");
    for (uint32_t i = 0; i < message->fragment_count; i++) {
        if (message->fragments[i].frame != last) {
            last = message->fragments[i].frame;
            text_buffer_add_char(&json->line, i == 0 ? '[' : ',');
            text_buffer_add_unsigned(&json->line, last);
        }
    }
    text_buffer_add_char(&json->line, ']');
}

static void on_message(void *user, const struct print_message *message) {
    struct print_json *json = user;
    begin_element(json, contents);
    json->is_reassembled = message->fragments != NULL;
    if (json->is_reassembled) {
        put_frames(json, message);
    }
    print_json_content_begin(&json->content, &json->line, json->is_reassembled);
}

static void put_fault(struct text_buffer *out, const char *status, const struct ue_fault *fault) {
    text_buffer_add(out, ",\"fault\":{\"status\":");
    put_quoted(out, status);
    text_buffer_add(out, ",\"field\":");
    put_quoted(out, ue_field_row(fault->field)->name);
    text_buffer_add_format(out, ",\"bit\":%zu}", fault->bit);
}

/* A fault makes the rest of the content opaque, so at least one object is open. */
static void on_message_end(void *user, const struct ue_fault *fault) {
    struct print_json *json = user;
    print_json_content_end(&json->content);
    if (fault->status != UE_OK) {
        put_fault(&json->line, ue_status_name(fault->status), fault);
    }
    json->is_reassembled = false;
}

/* ---- the line ---- */

static void put_capture(struct print_json *json, const struct print_datagram *datagram) {
    struct text_buffer *out = &json->line;
    text_buffer_add(out, "\"schema\":");
    text_buffer_add_unsigned(out, PRINT_JSON_SCHEMA);
    text_buffer_add(out, ",\"frame\":");
    text_buffer_add_unsigned(out, datagram->frame);
    text_buffer_add(out, ",\"time\":\"");
    text_buffer_add_signed(out, datagram->time_ns);
    text_buffer_add(out, "\",\"src\":");
    put_quoted(out, datagram->source);
    text_buffer_add(out, ",\"dst\":");
    put_quoted(out, datagram->destination);
    text_buffer_add(out, ",\"length\":");
    text_buffer_add_unsigned(out, datagram->length_bytes);
    text_buffer_add(out, ",\"stream\":");
    text_buffer_add_unsigned(out, datagram->stream);
    json->more[SCOPE_TOP] = true;
}

static void put_choice(struct print_json *json, const struct print_datagram *datagram) {
    struct text_buffer *out = &json->line;
    text_buffer_add(out, ",\"direction\":");
    text_buffer_add_unsigned(out, datagram->context->direction);
    text_buffer_add(out, ",\"generation\":");
    put_quoted(out, datagram->context->profile.name);
    text_buffer_add(out, ",\"generation_reason\":");
    put_quoted(out, datagram->reason);
    if (!print_settings_are_stock(datagram->context)) {
        text_buffer_add(out, ",\"settings\":");
        print_settings_json(out, datagram->context);
    }
}

static void put_decode_result(struct print_json *json, const struct print_datagram *datagram) {
    struct text_buffer *out = &json->line;
    if (!datagram->canonical && datagram->fault.status == UE_OK && !print_datagram_is_cut(datagram)) {
        text_buffer_add(out, ",\"canonical\":false");
    }
    if (datagram->fault.status != UE_OK || print_datagram_is_cut(datagram)) {
        put_fault(out, print_datagram_is_cut(datagram) ? "size limited" : ue_status_name(datagram->fault.status),
                  &datagram->fault);
    }
    if (datagram->raw || datagram->context == NULL) {
        text_buffer_add(out, ",\"raw\":");
        put_bytes(out, (struct ue_view){datagram->bytes, 0, datagram->captured_bytes * 8});
    }
}

static void trace(struct print_json *json, const struct print_datagram *datagram) {
    const struct print_sink sink = {{on_begin, on_field, on_end, json}, on_message, on_message_end};
    struct ue_decode_result result;
    bool legacy = datagram->context->profile.packet == UE_PACKET_LEGACY && !datagram->context->settings.internal_ack;
    json->items_key = legacy ? "items" : "bunches";
    print_datagram_trace(datagram, &sink, &result);
    close_to(json, SCOPE_TOP);
    write_deferred(json, &json->terminators, "terminator", '[', ']');
}

void print_json_datagram(struct print_json *json, const struct print_datagram *datagram) {
    json->depth = 0;
    json->bits.length = 0;
    open_bracket(json, '{', '}');
    put_capture(json, datagram);
    if (datagram->context != NULL) {
        put_choice(json, datagram);
        trace(json, datagram);
        put_decode_result(json, datagram);
        if (json->with_bits) {
            text_buffer_add(&json->line, ",\"bits\":[");
            text_buffer_add_bytes(&json->line, json->bits.text, json->bits.length);
            text_buffer_add_char(&json->line, ']');
        }
    } else {
        put_decode_result(json, datagram);
    }
    close_to(json, 0);
    text_buffer_add_char(&json->line, '\n');
}

void print_json_free(struct print_json *json) {
    text_buffer_free(&json->line);
    text_buffer_free(&json->bits);
    text_buffer_free(&json->acked);
    text_buffer_free(&json->nacked);
    text_buffer_free(&json->unique_id);
    text_buffer_free(&json->terminators);
}
