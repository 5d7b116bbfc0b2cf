/* SPDX-License-Identifier: MIT */
#include "tests/codec/expected.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_GROUP SIZE_MAX
#define PATH_BYTES 256
#define TEXT_BYTES 40000

static void fault(struct expected *e, const char *path, const char *what, const char *detail) {
    fprintf(stderr, "%s: %s: %s %s\n", e->where, path, what, detail);
    e->faults++;
}

/* ---- the records that a JSON object describes ---- */

static bool is_item(enum ue_group kind) {
    return kind == UE_GROUP_ACK || kind == UE_GROUP_BUNCH;
}

static bool in_scope(const struct expected *e, size_t scope, size_t group) {
    const struct recorded_group *g = &e->recorder->groups[group];
    if (scope == group) {
        return true;
    }
    if (scope == 0) {
        return !is_item(g->kind) && g->kind != UE_GROUP_MESSAGE && g->kind != UE_GROUP_UNIQUE_ID;
    }
    return group != 0 && g->parent == scope && g->kind == UE_GROUP_UNIQUE_ID;
}

static size_t find_record(const struct expected *e, size_t scope, enum ue_field field, size_t index) {
    for (size_t i = 0; i < e->recorder->count; i++) {
        const struct recorded *at = &e->recorder->records[i];
        if (at->record.field == field && in_scope(e, scope, at->group) && index-- == 0) {
            return i;
        }
    }
    return RECORDER_RECORDS;
}

static size_t nth_item(const struct expected *e, size_t n) {
    for (size_t i = 1; i < e->recorder->group_count; i++) {
        if (is_item(e->recorder->groups[i].kind) && n-- == 0) {
            return i;
        }
    }
    return NO_GROUP;
}

/* Messages follow their bunch, before the next item. */
static size_t nth_message(const struct expected *e, size_t item, size_t n) {
    for (size_t i = item + 1; i < e->recorder->group_count && !is_item(e->recorder->groups[i].kind); i++) {
        if (e->recorder->groups[i].kind == UE_GROUP_MESSAGE && n-- == 0) {
            return i;
        }
    }
    return NO_GROUP;
}

/* ---- values ---- */

static void write_hex(struct ue_view view, char *to) {
    uint8_t bytes[TEXT_BYTES / 2];
    size_t size = ue_bits_bytes(view.bits);
    ue_view_copy(view, bytes);
    for (size_t i = 0; i < size; i++) {
        sprintf(to + 2 * i, "%02x", bytes[i]);
    }
    to[2 * size] = '\0';
}

static char *write_utf8(uint32_t unit, char *to) {
    if (unit < 0x80) {
        *to++ = (char)unit;
        return to;
    }
    if (unit >= 0x800) {
        *to++ = (char)(0xe0 | unit >> 12);
        *to++ = (char)(0x80 | (unit >> 6 & 0x3f));
    } else {
        *to++ = (char)(0xc0 | unit >> 6);
    }
    *to++ = (char)(0x80 | (unit & 0x3f));
    return to;
}

static void write_text(struct ue_text text, char *to) {
    unsigned width = text.wide ? 16 : 8;
    for (size_t at = 0; at < text.units.bits; at += width) {
        to = write_utf8((uint32_t)ue_view_load(text.units, at, width), to);
    }
    *to = '\0';
}

static bool text_matches(const struct ue_record *record, enum ue_field_kind kind, const char *expected) {
    static char got[TEXT_BYTES];
    if (kind == UE_KIND_BYTES) {
        write_hex(record->text.units, got);
    } else if (kind == UE_KIND_STRING && record->string != NULL) {
        return strcmp(record->string, expected) == 0;
    } else {
        write_text(record->text, got);
    }
    return strcmp(got, expected) == 0;
}

/* Parses a number such as 0x1f, 31, "1 (Challenge)", "Challenge", "NMT_Hello". */
static bool number_matches(const struct ue_field_row *row, uint64_t number, const char *expected) {
    const char *name = ue_values_name(row->values, number);
    const char *plain = strncmp(expected, "NMT_", 4) == 0 ? expected + 4 : expected;
    if (name != NULL && strcmp(name, plain) == 0) {
        return true;
    }
    char *end;
    uint64_t value = strtoull(expected, &end, 0);
    bool rest_is_name = name != NULL && end[0] == ' ' && end[1] == '(' && strncmp(end + 2, name, strlen(name)) == 0;
    return end != expected && value == number && (*end == '\0' || rest_is_name);
}

/* A vector may contain an FGuid or a bit run as a number, least significant bit first. */
static bool bytes_match_number(const struct ue_record *record, uint64_t expected) {
    return record->text.units.bits <= 64 &&
           ue_view_load(record->text.units, 0, (unsigned)record->text.units.bits) == expected;
}

static bool value_matches(const struct ue_record *record, const json_t *value) {
    const struct ue_field_row *row = ue_field_row(record->field);
    bool is_text = row->kind == UE_KIND_BYTES || row->kind == UE_KIND_TEXT || row->kind == UE_KIND_STRING;
    if (json_is_null(value)) {
        return true; /* a type without a name in the vector */
    }
    if (json_is_string(value)) {
        const char *text = json_string_value(value);
        return is_text ? text_matches(record, row->kind, text) : number_matches(row, record->number, text);
    }
    if (row->kind == UE_KIND_REAL) {
        return ue_record_real(record) == json_number_value(value);
    }
    uint64_t number = json_is_true(value) ? 1 : json_is_false(value) ? 0 : (uint64_t)json_integer_value(value);
    uint64_t got = row->kind == UE_KIND_I32 ? (uint64_t)(int64_t)(int32_t)record->number : record->number;
    return is_text ? bytes_match_number(record, number)
                   : (json_is_integer(value) || json_is_boolean(value)) && got == number;
}

/* ---- positions in vectors ---- */

static size_t terminator_bit(const struct expected *e, bool inner) {
    size_t first = find_record(e, 0, UE_F_TERMINATOR, 0);
    size_t second = find_record(e, 0, UE_F_TERMINATOR, 1);
    size_t wanted = inner || second == RECORDER_RECORDS ? first : second;
    return wanted == RECORDER_RECORDS ? 0 : e->recorder->records[wanted].record.bit;
}

static size_t bit_of(const struct expected *e, size_t scope, enum ue_field field) {
    size_t found = find_record(e, scope, field, 0);
    return found != RECORDER_RECORDS ? e->recorder->records[found].record.bit : 0;
}

static size_t first_item_bit(const struct expected *e) {
    size_t first = nth_item(e, 0);
    return first != NO_GROUP ? e->recorder->groups[first].begin_bit : terminator_bit(e, true);
}

/* Returns false for a key that this table lacks. */
static bool position_of(const struct expected *e, const char *key, size_t scope, uint64_t *value) {
    const struct recorded_group *group = &e->recorder->groups[scope];
    const struct {
        const char *key;
        uint64_t value;
    } rows[] = {
        {"outer_terminator_bit", terminator_bit(e, false)},
        {"outer_terminator_bit_index", terminator_bit(e, false)},
        {"bits_before_terminator", terminator_bit(e, false)},
        {"terminator_bit", terminator_bit(e, false)},
        {"inner_terminator_bit", terminator_bit(e, true)},
        {"inner_terminator_bit_index", terminator_bit(e, true)},
        {"first_bunch_bit", first_item_bit(e)},
        {"header_end_bit", first_item_bit(e)},
        {"header_offset_bit", bit_of(e, 0, UE_F_PACKET_HISTORY_WORDS)},
        {"bit_offset", group->begin_bit - e->base_bit},
        {"offset_bits", group->begin_bit},
        {"data_offset", bit_of(e, scope, UE_F_BUNCH_DATA) - e->base_bit},
        {"data_offset_bits", bit_of(e, scope, UE_F_BUNCH_DATA)},
        {"header_bits", bit_of(e, scope, UE_F_BUNCH_DATA) - group->begin_bit},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].key, key) == 0) {
            *value = rows[i].value;
            return true;
        }
    }
    return false;
}

static void check_position(struct expected *e, const char *path, const char *key, const json_t *value, size_t scope) {
    uint64_t position;
    if (!json_is_integer(value) || !position_of(e, key, scope, &position)) {
        return;
    }
    e->values++;
    if (position != (uint64_t)json_integer_value(value)) {
        char got[32];
        snprintf(got, sizeof got, "%" PRIu64, position);
        fault(e, path, "is elsewhere: at", got);
    }
}

/* ---- comparison ---- */

static void check_object(struct expected *e, const char *path, const json_t *object, size_t scope);

/* Vectors contain 0 for bits that are not on the wire, and the sequences of a cookie even in a restart, where the
   connection keeps its own. */
static bool may_be_absent(const struct expected *e, enum ue_field field, const json_t *value) {
    bool zero = json_is_false(value) || (json_is_integer(value) && json_integer_value(value) == 0);
    switch (field) {
    case UE_F_PACKET_HISTORY_FLUSH:
    case UE_F_BUNCH_OPEN:
    case UE_F_BUNCH_CLOSE: return zero;
    case UE_F_HANDSHAKE_SERVER_SEQ:
    case UE_F_HANDSHAKE_CLIENT_SEQ: {
        size_t restart = find_record(e, 0, UE_F_HANDSHAKE_RESTART, 0);
        return restart != RECORDER_RECORDS && e->recorder->records[restart].record.number != 0;
    }
    default: return false;
    }
}

static void check_leaf(struct expected *e, const char *path, const char *name, const json_t *value, size_t scope,
                       size_t index) {
    enum ue_field field = ue_field_find(name);
    if (field == UE_F_NONE) {
        fault(e, path, "is mapped to no field of ours:", name);
        return;
    }
    size_t found = find_record(e, scope, field, index);
    e->values++;
    if (found == RECORDER_RECORDS) {
        if (!json_is_null(value) && !may_be_absent(e, field, value)) {
            fault(e, path, "was not read:", name);
        }
        return;
    }
    e->seen[found] = true;
    if (!value_matches(&e->recorder->records[found].record, value)) {
        char *text = json_dumps(value, JSON_ENCODE_ANY);
        fault(e, path, "has another value than", text);
        free(text);
    }
}

static void check_messages(struct expected *e, const char *path, const json_t *array, size_t item) {
    size_t n;
    const json_t *message;
    json_array_foreach(array, n, message) {
        size_t group = nth_message(e, item, n);
        const char *name = json_string_value(json_object_get(message, "name"));
        if (group == NO_GROUP || name == NULL) {
            fault(e, path, "message was not read", "");
            return;
        }
        check_object(e, strncmp(name, "NMT_", 4) == 0 ? name + 4 : name, message, group);
    }
    if (nth_message(e, item, json_array_size(array)) != NO_GROUP) {
        fault(e, path, "more messages were read", "");
    }
}

static void check_items(struct expected *e, const char *path, const json_t *array) {
    size_t n;
    const json_t *item;
    json_array_foreach(array, n, item) {
        size_t group = nth_item(e, n);
        if (group == NO_GROUP) {
            fault(e, path, "item was not read", "");
            return;
        }
        check_object(e, path, item, group);
    }
    if (nth_item(e, json_array_size(array)) != NO_GROUP) {
        fault(e, path, "more items were read", "");
    }
}

static bool starts_with(const char *text, const char *start) {
    return text != NULL && strncmp(text, start, strlen(start)) == 0;
}

static void check_member(struct expected *e, const char *parent, const char *key, const json_t *value, size_t scope) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s%s%s", parent, *parent != '\0' ? "." : "", key);
    const char *name = json_string_value(json_object_get(e->names, path));
    if (starts_with(name, "not checked: ")) {
        return;
    }
    if (json_is_object(value)) {
        check_object(e, path, value, scope);
        return;
    }
    if (strcmp(key, "control_messages") == 0) {
        check_messages(e, path, value, scope);
        return;
    }
    if (json_is_array(value)) {
        strncat(path, "[]", sizeof path - strlen(path) - 1);
        name = json_string_value(json_object_get(e->names, path));
        if (strcmp(key, "bunches") == 0 || strcmp(key, "items") == 0) {
            check_items(e, path, value);
            return;
        }
    }
    if (name == NULL) {
        fault(e, path, "is not in names.json", "");
    } else if (starts_with(name, "not a field: ")) {
        check_position(e, path, key, value, scope);
    } else if (json_is_array(value)) {
        size_t n;
        const json_t *element;
        json_array_foreach(value, n, element) {
            check_leaf(e, path, name, element, scope, n);
        }
    } else {
        check_leaf(e, path, name, value, scope, 0);
    }
}

static void check_object(struct expected *e, const char *path, const json_t *object, size_t scope) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        check_member(e, path, key, value, scope);
    }
}

/* Vectors contain these by position, or not at all. */
static bool has_no_key(enum ue_field field) {
    switch (field) {
    case UE_F_TERMINATOR:
    case UE_F_IS_HANDSHAKE:
    case UE_F_PACKET_HISTORY_WORDS:
    case UE_F_BUNCH_DATA:
    case UE_F_CONTROL_UNIQUE_ID_TEXT:
    case UE_F_CONTROL_UNIQUE_ID_BYTES: return true;
    default: return false;
    }
}

/* Every field that was decoded must be in the vector. */
static void check_unexpected(struct expected *e, size_t scope) {
    for (size_t i = 0; i < e->recorder->count; i++) {
        const struct recorded *at = &e->recorder->records[i];
        enum ue_group kind = e->recorder->groups[at->group].kind;
        bool header = at->group == 0 || kind == UE_GROUP_PACKET;
        bool concerned = scope == 0 ? !(header && e->ignore_header) : in_scope(e, scope, at->group);
        if (concerned && !e->seen[i] && !at->record.generated && !has_no_key(at->record.field)) {
            fault(e, ue_field_row(at->record.field)->name, "was read, but is not expected", "");
        }
    }
}

void expected_datagram(struct expected *e, const json_t *object) {
    check_object(e, "", object, 0);
    check_unexpected(e, 0);
}

void expected_bunch(struct expected *e, const json_t *object, size_t n) {
    size_t group = nth_item(e, n);
    if (group == NO_GROUP) {
        fault(e, "bunches[]", "was not read", "");
        return;
    }
    check_object(e, "bunches[]", object, group);
    check_unexpected(e, group);
}

void expected_messages(struct expected *e, const json_t *array) {
    check_messages(e, "messages", array, nth_item(e, 0));
}
