/* SPDX-License-Identifier: MIT */
#include "tools/replay/datagram_difference.h"

#include <glib.h>

#include "tools/print/phrase.h"
#include "tools/print/text_escape.h"
#include "tools/print/text_tree.h"

#define ROW_BYTES 8
#define ROWS_AROUND 1
#define VALUE_BYTES 64

void replay_difference_set_expected(struct replay_difference *difference, const struct ue_datagram *expected) {
    struct ue_fault fault;
    if (ue_datagram_encode(&difference->context, expected, difference->expected, sizeof difference->expected,
                           &difference->expected_bytes, &fault) != UE_OK) {
        difference->expected_bytes = 0;
    }
}

/* ---- the first field ---- */

/* The fields of a traced datagram, each as a text. */
struct listing {
    GArray *fields; /* struct field */
    struct text_buffer texts;
};

struct field {
    enum ue_field id;
    size_t bit;
    size_t text; /* offset of its value in texts: UTF-8, then a NUL */
    size_t text_bytes;
};

static void list_field(void *user, const struct ue_record *record) {
    struct listing *listing = user;
    if (record->generated) {
        return;
    }
    struct field field = {.id = record->field, .bit = record->bit, .text = listing->texts.length};
    if (ue_field_row(record->field)->kind == UE_KIND_BYTES) {
        text_buffer_add_hex_view(&listing->texts, record->text.units, SIZE_MAX); /* print_tree_value cuts it */
    } else {
        print_tree_value(&listing->texts, record);
    }
    field.text_bytes = listing->texts.length - field.text;
    text_buffer_add_char(&listing->texts, '\0');
    g_array_append_val(listing->fields, field);
}

static void list(struct listing *listing, const struct ue_context *context, const uint8_t *bytes, size_t size_bytes) {
    const struct ue_trace sink = {NULL, list_field, NULL, listing};
    struct ue_decode_result result;
    *listing = (struct listing){.fields = g_array_new(FALSE, FALSE, sizeof(struct field))};
    ue_datagram_trace(context, bytes, size_bytes, NULL, &sink, &result);
}

static void listing_free(struct listing *listing) {
    g_array_free(listing->fields, TRUE);
    text_buffer_free(&listing->texts);
}

static const struct field *field_at(const struct listing *listing, size_t index) {
    return index < listing->fields->len ? &g_array_index(listing->fields, struct field, index) : NULL;
}

static bool same_field(const struct listing *a, const struct field *x, const struct listing *b, const struct field *y) {
    return x->id == y->id && x->text_bytes == y->text_bytes &&
           (x->text_bytes == 0 || memcmp(a->texts.text + x->text, b->texts.text + y->text, x->text_bytes) == 0);
}

/* Both datagrams as fields, and the first ones that differ; NULL: one datagram ends there. */
struct listing_comparison {
    struct listing expected, actual;
    const struct field *expected_field, *actual_field;
};

static void compare(const struct replay_difference *d, struct listing_comparison *comparison) {
    size_t i = 0;
    list(&comparison->expected, &d->context, d->expected, d->expected_bytes);
    list(&comparison->actual, &d->context, d->actual, d->actual_bytes);
    do {
        comparison->expected_field = field_at(&comparison->expected, i);
        comparison->actual_field = field_at(&comparison->actual, i);
        i++;
    } while (
        comparison->expected_field != NULL && comparison->actual_field != NULL &&
        same_field(&comparison->expected, comparison->expected_field, &comparison->actual, comparison->actual_field));
}

static void comparison_free(struct listing_comparison *comparison) {
    listing_free(&comparison->expected);
    listing_free(&comparison->actual);
}

static const char *field_name(const struct listing_comparison *comparison) {
    const struct field *field =
        comparison->actual_field != NULL ? comparison->actual_field : comparison->expected_field;
    return field != NULL ? ue_field_row(field->id)->name : "";
}

/* ---- the first bit ---- */

static bool bit_at(const uint8_t *bytes, size_t size_bytes, size_t bit) {
    return bit / 8 < size_bytes && (bytes[bit / 8] >> bit % 8 & 1) != 0;
}

static size_t first_bit(const struct replay_difference *d) {
    size_t bits = 8 * (d->expected_bytes > d->actual_bytes ? d->expected_bytes : d->actual_bytes);
    size_t bit = 0;
    while (bit < bits && bit_at(d->expected, d->expected_bytes, bit) == bit_at(d->actual, d->actual_bytes, bit)) {
        bit++;
    }
    return bit;
}

/* ---- text ---- */

/* Prints one row: bytes in hex, then their bits in wire order, the least significant bit of each byte first. */
static void print_row(struct text_buffer *out, const char *name, const uint8_t *bytes, size_t size_bytes,
                      size_t start_side) {
    text_buffer_add_format(out, "    %-8s %04zx ", name, start_side);
    for (size_t i = start_side; i < start_side + ROW_BYTES; i++) {
        if (i < size_bytes) {
            text_buffer_add_format(out, " %02x", bytes[i]);
        } else {
            text_buffer_add(out, "   ");
        }
    }
    text_buffer_add_char(out, ' ');
    for (size_t bit = 8 * start_side; bit < 8 * (start_side + ROW_BYTES) && bit < 8 * size_bytes; bit++) {
        text_buffer_add(out, bit % 8 == 0 ? " " : "");
        text_buffer_add_char(out, bit_at(bytes, size_bytes, bit) ? '1' : '0');
    }
    text_buffer_add_char(out, '\n');
}

static void print_mark(struct text_buffer *out, size_t bit, size_t row) {
    size_t place = bit - 8 * row;
    text_buffer_add_format(out, "%*s^ bit %zu\n", (int)(18 + 3 * ROW_BYTES + 2 + place + place / 8), "", bit);
}

static void print_rows(const struct replay_difference *d, struct text_buffer *out) {
    size_t bit = first_bit(d);
    size_t middle = bit / 8 / ROW_BYTES;
    size_t longest = d->expected_bytes > d->actual_bytes ? d->expected_bytes : d->actual_bytes;
    for (size_t row = middle < ROWS_AROUND ? 0 : middle - ROWS_AROUND;
         row <= middle + ROWS_AROUND && row * ROW_BYTES < longest; row++) {
        print_row(out, "expected", d->expected, d->expected_bytes, row * ROW_BYTES);
        print_row(out, "recorded", d->actual, d->actual_bytes, row * ROW_BYTES);
        if (row == middle) {
            print_mark(out, bit, row * ROW_BYTES);
        }
    }
}

/* The offset of the character that this byte is part of. */
static size_t character_begin(const char *text, size_t at) {
    while (at > 0 && ((uint8_t)text[at] & 0xc0) == 0x80) {
        at--;
    }
    return at;
}

/* Where the part of two values begins that is shown: long ones from the first difference on. */
static size_t shown_from(const struct listing_comparison *comparison) {
    const struct field *a = comparison->expected_field, *b = comparison->actual_field;
    const char *x = comparison->expected.texts.text, *y = comparison->actual.texts.text;
    size_t same = 0;
    if (a == NULL || b == NULL || MAX(a->text_bytes, b->text_bytes) <= VALUE_BYTES) {
        return 0;
    }
    while (same < MIN(a->text_bytes, b->text_bytes) && x[a->text + same] == y[b->text + same]) {
        same++;
    }
    return character_begin(x + a->text, same / 2 * 2); /* a byte has two digits */
}

static void print_value(struct text_buffer *out, const struct listing *listing, const struct field *field,
                        size_t from) {
    if (field == NULL) {
        text_buffer_add(out, "nothing");
        return;
    }
    const char *text = listing->texts.text + field->text;
    size_t end = character_begin(text, MIN(field->text_bytes, from + VALUE_BYTES));
    text_buffer_add(out, from != 0 ? "..." : "");
    text_buffer_add_bytes(out, text + from, end - from);
    text_buffer_add(out, end < field->text_bytes ? "..." : "");
}

static void print_fields(const struct replay_difference *d, struct text_buffer *out) {
    struct listing_comparison comparison;
    compare(d, &comparison);
    size_t from = shown_from(&comparison);
    text_buffer_add_format(out, "    %s: expected ", field_name(&comparison));
    print_value(out, &comparison.expected, comparison.expected_field, from);
    text_buffer_add(out, ", recorded ");
    print_value(out, &comparison.actual, comparison.actual_field, from);
    text_buffer_add_char(out, '\n');
    comparison_free(&comparison);
}

static void print_range(const struct replay_difference *d, struct text_buffer *out) {
    text_buffer_add_format(out, "    %s", d->fields);
    if (d->has_range && d->range_first == d->range_last) {
        text_buffer_add_format(out, ": expected %u, recorded %u", (unsigned)d->range_first,
                               (unsigned)d->recorded_value);
    } else if (d->has_range) {
        text_buffer_add_format(out, ": expected %u to %u, recorded %u", (unsigned)d->range_first,
                               (unsigned)d->range_last, (unsigned)d->recorded_value);
    }
    text_buffer_add_char(out, '\n');
}

/* Prints the condition under which the difference is not one of its packet, without indentation and end of line. */
static void print_condition(const struct replay_difference *d, struct text_buffer *out) {
    unsigned long long frame = (unsigned long long)d->suspect_frame;
    switch (d->condition) {
    case REPLAY_CONDITION_NONE: break;
    case REPLAY_CONDITION_EARLIER:
        text_buffer_add(out, "or an earlier packet is not as it was sent, or the capture lacks one or has one later");
        break;
    case REPLAY_CONDITION_REPORT:
        text_buffer_add_format(out, "or the packet with the report (frame %llu or before) or a later packet", frame);
        text_buffer_add(out, " is not as it was sent, or the capture lacks one");
        break;
    case REPLAY_CONDITION_NEXT: text_buffer_add(out, "or one of its next packets is not as it was sent"); break;
    case REPLAY_CONDITION_FRAME: text_buffer_add_format(out, "or frame %llu is not as it was sent", frame); break;
    case REPLAY_CONDITION_ORDER:
        text_buffer_add(out, "or the capture has datagrams in another order than they were sent");
        break;
    }
}

static bool has_packet_id(const struct replay_difference *d) {
    return d->type != REFERENCE_MODEL_DIFFERS_HANDSHAKE && d->type != REFERENCE_MODEL_DIFFERS_PACKET_SEQ;
}

void replay_difference_print(const struct replay_difference *d, struct text_buffer *out) {
    text_buffer_add_format(out, "  frame %llu", (unsigned long long)d->frame);
    if (has_packet_id(d)) {
        text_buffer_add_format(out, ", packet %lld", (long long)d->packet_id);
    }
    text_buffer_add_format(out, ": the %s %s [%s]\n", phrase_side(d->side), reference_model_difference_text(d->type),
                           reference_model_difference_name(d->type));
    if (d->has_bunch) {
        text_buffer_add_format(out, "    channel %u", (unsigned)d->channel);
        if (d->has_reliable_id) {
            text_buffer_add_format(out, ", reliable bunch %lld", (long long)d->reliable_id);
        }
        text_buffer_add_char(out, '\n');
    }
    if (d->type == REFERENCE_MODEL_DIFFERS_RECEIVED) {
        text_buffer_add_format(out, "    an endpoint says %s\n", ue_close_reason_name(d->reason));
    }
    if (d->condition != REPLAY_CONDITION_NONE) {
        text_buffer_add(out, "    ");
        print_condition(d, out);
        text_buffer_add_char(out, '\n');
    }
    if (d->expected_bytes != 0) {
        print_fields(d, out);
        print_rows(d, out);
    } else if (d->fields != NULL) {
        print_range(d, out);
    }
}

/* ---- JSON ---- */

static void print_json_value(struct text_buffer *out, const char *key, const struct listing *listing,
                             const struct field *field) {
    if (field != NULL) {
        text_buffer_add_format(out, ",\"%s\":\"", key);
        text_escape_add_utf8(out, listing->texts.text + field->text, TEXT_ESCAPE_JSON);
        text_buffer_add_char(out, '"');
    }
}

static void print_json_datagrams(const struct replay_difference *d, struct text_buffer *out) {
    struct listing_comparison comparison;
    compare(d, &comparison);
    text_buffer_add_format(out, ",\"field\":\"%s\",\"bit\":%zu", field_name(&comparison), first_bit(d));
    print_json_value(out, "expected_value", &comparison.expected, comparison.expected_field);
    print_json_value(out, "recorded_value", &comparison.actual, comparison.actual_field);
    text_buffer_add(out, ",\"expected\":\"");
    text_buffer_add_hex_view(out, (struct ue_view){d->expected, 0, 8 * d->expected_bytes}, sizeof d->expected);
    text_buffer_add(out, "\",\"recorded\":\"");
    text_buffer_add_hex_view(out, (struct ue_view){d->actual, 0, 8 * d->actual_bytes}, sizeof d->actual);
    text_buffer_add_char(out, '"');
    comparison_free(&comparison);
}

static void print_json_condition(const struct replay_difference *d, struct text_buffer *out) {
    if (d->condition == REPLAY_CONDITION_NONE) {
        return;
    }
    text_buffer_add(out, ",\"condition\":\"");
    print_condition(d, out);
    text_buffer_add_char(out, '"');
    if (d->suspect_frame != 0) {
        text_buffer_add_format(out, ",\"suspect_frame\":%llu", (unsigned long long)d->suspect_frame);
    }
}

static void print_json_range(const struct replay_difference *d, struct text_buffer *out) {
    text_buffer_add_format(out, ",\"field\":\"%s\"", d->fields);
    if (d->has_range) {
        text_buffer_add_format(out, ",\"expected_first\":%u,\"expected_last\":%u,\"recorded_value\":\"%u\"",
                               (unsigned)d->range_first, (unsigned)d->range_last, (unsigned)d->recorded_value);
    }
}

void replay_difference_print_json(const struct replay_difference *d, struct text_buffer *out) {
    text_buffer_add_format(out, "\"type\":\"%s\",\"side\":\"%s\",\"frame\":%llu",
                           reference_model_difference_name(d->type), phrase_side(d->side),
                           (unsigned long long)d->frame);
    if (has_packet_id(d)) {
        text_buffer_add_format(out, ",\"packet_id\":%lld", (long long)d->packet_id);
    }
    if (d->has_bunch) {
        text_buffer_add_format(out, ",\"channel\":%u", (unsigned)d->channel);
    }
    if (d->has_reliable_id) {
        text_buffer_add_format(out, ",\"reliable_id\":%lld", (long long)d->reliable_id);
    }
    if (d->type == REFERENCE_MODEL_DIFFERS_RECEIVED) {
        text_buffer_add_format(out, ",\"reason\":\"%s\"", ue_close_reason_name(d->reason));
    }
    print_json_condition(d, out);
    if (d->expected_bytes != 0) {
        print_json_datagrams(d, out);
    } else if (d->fields != NULL) {
        print_json_range(d, out);
    }
}
