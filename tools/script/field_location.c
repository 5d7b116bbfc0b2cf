/* SPDX-License-Identifier: MIT */
#include "tools/script/field_location.h"

#include <inttypes.h>
#include <string.h>

#include "tools/print/columns.h"

/* The search for a field while a packet is decoded. */
struct search {
    enum ue_field field;
    size_t index;
    size_t items; /* items seen so far */
    size_t seen;  /* occurrences outside of items */
    bool is_found;
    struct script_field_location *location;
};

static char *value_text(const struct ue_record *record) {
    struct text_buffer out = {0};
    if (ue_field_row(record->field)->kind == UE_KIND_X32) {
        text_buffer_add_format(&out, "0x%" PRIx64, record->number); /* as scripts write it, without leading zeros */
    } else {
        print_columns_add_value(&out, record);
    }
    char *text = g_strndup(out.length != 0 ? out.text : "", out.length);
    text_buffer_free(&out);
    return text;
}

static bool is_item(enum ue_group group) {
    return group == UE_GROUP_BUNCH || group == UE_GROUP_ACK;
}

static void begin_group(void *user, enum ue_group group, size_t bit) {
    struct search *search = user;
    (void)bit;
    search->items += is_item(group);
}

static void handle_field(void *user, const struct ue_record *record) {
    struct search *search = user;
    if (record->field != search->field || search->is_found) {
        return;
    }
    size_t index = search->items != 0 ? search->items - 1 : search->seen++;
    if (index == search->index) {
        search->is_found = true;
        search->location->bit = record->bit;
        search->location->value = value_text(record);
    }
}

static const struct script_testbed_packet *packet_of(const struct script_testbed *testbed,
                                                     const struct script_line *line) {
    return line->packet != SCRIPT_NO_PACKET
               ? &g_array_index(testbed->sides[line->side].packets, struct script_testbed_packet, line->packet)
               : NULL;
}

bool script_field_locate(const struct script_testbed *testbed, const struct script_line *line, enum ue_field field,
                         size_t index, struct script_field_location *location) {
    struct search search = {.field = field, .index = index, .location = location};
    const struct ue_trace sink = {begin_group, handle_field, NULL, &search};
    const struct script_testbed_packet *packet = packet_of(testbed, line);
    struct ue_decode_result result;
    struct ue_context x;
    *location = (struct script_field_location){0};
    if (packet != NULL) {
        script_testbed_context(testbed, line->side, &x);
        ue_datagram_trace(&x, packet->bytes, packet->size_bytes, NULL, &sink, &result);
    }
    return search.is_found;
}

void script_field_location_clear(struct script_field_location *location) {
    g_free(location->value);
}

/* ---- tokens ---- */

/* The tokens of a printed packet with their fields; `before` is the text that precedes it in the line. */
static GArray *text_fields_of(const struct script_testbed *testbed, const struct script_line *line, size_t *before) {
    struct ue_item items[SCRIPT_PACKET_ITEMS_MAX];
    struct ue_datagram d = {.items = items, .item_capacity = SCRIPT_PACKET_ITEMS_MAX};
    const struct script_testbed_packet *packet = packet_of(testbed, line);
    struct ue_decode_result result;
    struct ue_context x;
    GArray *text_fields = g_array_new(FALSE, FALSE, sizeof(struct script_text_field));
    g_autoptr(GString) text = g_string_new(NULL);
    script_testbed_context(testbed, line->side, &x);
    ue_datagram_decode(&x, packet->bytes, packet->size_bytes, &d, NULL, &result);
    script_packet_print(text, text_fields, &x, &testbed->numbers, line->side, &d);
    const char *location = strstr(line->text, text->str);
    *before = location != NULL ? (size_t)(location - line->text) : strlen(line->text);
    return text_fields;
}

/* Time, letter and ">" precede the number. */
static size_t number_at(const char *text) {
    const char *sign = strstr(text, "> ");
    return sign != NULL ? (size_t)(sign + 2 - text) : SIZE_MAX;
}

/* The last entry that does not start after the token. */
static struct script_text_field text_field_at(const struct script_testbed *testbed, const struct script_line *line,
                                              size_t at) {
    size_t before;
    struct script_text_field found = {.field = UE_F_NONE};
    g_autoptr(GArray) text_fields = text_fields_of(testbed, line, &before);
    for (size_t i = 0; i < text_fields->len && before <= at; i++) {
        struct script_text_field text_field = g_array_index(text_fields, struct script_text_field, i);
        found = before + text_field.at <= at + 1 ? text_field : found; /* one more: after a bracket */
    }
    return found;
}

static size_t end_bit(const struct script_testbed *testbed, const struct script_line *line) {
    const struct script_testbed_packet *packet = packet_of(testbed, line);
    struct ue_decode_result result;
    struct ue_context x;
    script_testbed_context(testbed, line->side, &x);
    ue_datagram_decode(&x, packet->bytes, packet->size_bytes, NULL, NULL, &result);
    return result.payload_end_bit;
}

void script_field_at_offset(const struct script_testbed *testbed, const struct script_line *line, size_t at,
                            enum ue_field *field, size_t *bit) {
    struct script_field_location location;
    const struct script_testbed_packet *packet = packet_of(testbed, line);
    *field = UE_F_NONE;
    *bit = 0;
    if (packet == NULL || packet->id < 0) {
        return;
    }
    if (at == strlen(line->text)) {
        *bit = end_bit(testbed, line);
        return;
    }
    struct script_text_field text_field = text_field_at(testbed, line, at);
    if (at == number_at(line->text)) {
        text_field = (struct script_text_field){.field = UE_F_PACKET_SEQ};
    }
    if (text_field.field != UE_F_NONE &&
        script_field_locate(testbed, line, text_field.field, text_field.item, &location)) {
        *field = text_field.field;
        *bit = location.bit;
        script_field_location_clear(&location);
    }
}
