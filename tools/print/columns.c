/* SPDX-License-Identifier: MIT */
#include "tools/print/columns.h"
#include "tools/print/text_escape.h"

/* Keys of columns that show capture data, not a field of the datagram. */
enum column_kind {
    KIND_FIELD,
    KIND_FRAME,
    KIND_TIME,
    KIND_SOURCE,
    KIND_DESTINATION,
    KIND_LENGTH,
    KIND_RAW,
    KIND_COUNT
};

/* In the order of enum column_kind, from KIND_FRAME on. */
const struct print_columns_key print_columns_keys[] = {
    {"frame", "Number of the frame in the capture, from 1"},
    {"time", "Time of the capture, in nanoseconds since 1970"},
    {"src", "Address and port of the sender"},
    {"dst", "Address and port of the receiver"},
    {"length", "Bytes of the UDP payload on the wire"},
    {"raw", "All captured bytes of the UDP payload"},
    {NULL, NULL},
};

/* Fields from this row on are computed by the plugin. */
#define FIELDS_END UE_F_ANALYSIS_FLAGS

const char *print_columns_add(struct print_columns *columns, const char *key) {
    if (columns->count == PRINT_COLUMNS_MAX) {
        return "only 64 fields can be printed";
    }
    enum column_kind kind = KIND_FIELD;
    for (size_t i = 0; print_columns_keys[i].key != NULL; i++) {
        kind = strcmp(print_columns_keys[i].key, key) == 0 ? (enum column_kind)(KIND_FRAME + i) : kind;
    }
    enum ue_field field = ue_field_find(key);
    if (kind == KIND_FIELD && field == UE_F_NONE) {
        return PRINT_COLUMNS_UNKNOWN;
    }
    if (kind == KIND_FIELD && field >= FIELDS_END) {
        return "this field exists only in Wireshark";
    }
    columns->kinds[columns->count] = (uint8_t)kind;
    columns->fields[columns->count++] = (uint16_t)field;
    return NULL;
}

static void list_key(struct text_buffer *out, const char *key, const char *description) {
    text_buffer_add_format(out, "%-36s  %s\n", key, description);
}

void print_columns_list(struct text_buffer *out) {
    for (const struct print_columns_key *row = print_columns_keys; row->key != NULL; row++) {
        list_key(out, row->key, row->description);
    }
    for (unsigned i = UE_F_NONE + 1; i < FIELDS_END; i++) {
        const struct ue_field_row *row = ue_field_row((enum ue_field)i);
        list_key(out, row->name, row->description);
    }
}

void print_columns_add_value(struct text_buffer *out, const struct ue_record *record) {
    switch (ue_field_row(record->field)->kind) {
    case UE_KIND_BOOL:
    case UE_KIND_U8:
    case UE_KIND_U16:
    case UE_KIND_U32:
    case UE_KIND_U64: text_buffer_add_unsigned(out, record->number); break;
    case UE_KIND_X32: text_buffer_add_format(out, "0x%08llx", (unsigned long long)record->number); break;
    case UE_KIND_I32: text_buffer_add_signed(out, (int32_t)(uint32_t)record->number); break;
    case UE_KIND_BYTES: text_buffer_add_hex_view(out, record->text.units, SIZE_MAX); break;
    case UE_KIND_TEXT: text_escape_add_engine_text(out, record->text, TEXT_ESCAPE_PLAIN); break;
    case UE_KIND_REAL: text_buffer_add_real(out, ue_record_real(record)); break;
    case UE_KIND_STRING:
        if (record->string != NULL) {
            text_escape_add_utf8(out, record->string, TEXT_ESCAPE_PLAIN);
        } else {
            text_escape_add_engine_text(out, record->text, TEXT_ESCAPE_PLAIN);
        }
        break;
    case UE_KIND_FRAME:
    case UE_KIND_SPAN:
    case UE_KIND_FLAG:
    case UE_KIND_FINDING: break; /* not a kind of a record */
    }
}

static void on_field(void *user, const struct ue_record *record) {
    struct print_columns *columns = user;
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->fields[i] == record->field && columns->kinds[i] == KIND_FIELD) {
            if (columns->values[i].length != 0) {
                text_buffer_add_char(&columns->values[i], ';');
            }
            print_columns_add_value(&columns->values[i], record);
        }
    }
}

/* Adds the fields that come from print_datagram and not from the trace. */
static void add_capture_columns(struct print_columns *columns, const struct print_datagram *datagram) {
    const struct ue_record stream = {.field = UE_F_STREAM, .number = datagram->stream};
    on_field(columns, &stream);
    if (datagram->context == NULL) {
        return;
    }
    const struct ue_record records[] = {
        {.field = UE_F_DIRECTION, .number = datagram->context->direction},
        {.field = UE_F_GENERATION, .string = datagram->context->profile.name},
        {.field = UE_F_GENERATION_REASON, .string = datagram->reason},
        {.field = UE_F_CANONICAL, .number = datagram->canonical},
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        on_field(columns, &records[i]);
    }
    if (datagram->fault.status != UE_OK) {
        on_field(columns,
                 &(struct ue_record){.field = UE_F_FAULT_STATUS, .string = ue_status_name(datagram->fault.status)});
        on_field(columns,
                 &(struct ue_record){.field = UE_F_FAULT_FIELD, .string = ue_field_row(datagram->fault.field)->name});
        on_field(columns, &(struct ue_record){.field = UE_F_FAULT_BIT, .number = datagram->fault.bit});
    }
}

static void put_capture(struct text_buffer *out, enum column_kind kind, const struct print_datagram *datagram) {
    switch (kind) {
    case KIND_FRAME: text_buffer_add_unsigned(out, datagram->frame); break;
    case KIND_TIME: text_buffer_add_signed(out, datagram->time_ns); break;
    case KIND_SOURCE: text_buffer_add(out, datagram->source); break;
    case KIND_DESTINATION: text_buffer_add(out, datagram->destination); break;
    case KIND_LENGTH: text_buffer_add_unsigned(out, datagram->length_bytes); break;
    case KIND_RAW:
        text_buffer_add_hex_view(out, (struct ue_view){datagram->bytes, 0, datagram->captured_bytes * 8}, SIZE_MAX);
        break;
    case KIND_FIELD:
    case KIND_COUNT: break;
    }
}

/* Values hold no control characters. Tab-separated values need no further care; comma-separated values may need
   quotes. */
static void put_column(struct print_columns *columns, const struct text_buffer *value) {
    struct text_buffer *out = &columns->lines;
    bool quote = columns->separator == ',' && value->length != 0 &&
                 (memchr(value->text, ',', value->length) != NULL || memchr(value->text, '"', value->length) != NULL);
    if (!quote) {
        text_buffer_add_bytes(out, value->text, value->length);
        return;
    }
    text_buffer_add_char(out, '"');
    for (size_t i = 0; i < value->length; i++) {
        if (value->text[i] == '"') {
            text_buffer_add_char(out, '"');
        }
        text_buffer_add_char(out, value->text[i]);
    }
    text_buffer_add_char(out, '"');
}

void print_columns_datagram(struct print_columns *columns, const struct print_datagram *datagram) {
    const struct print_sink sink = {.sink = {NULL, on_field, NULL, columns}};
    struct ue_decode_result result;
    for (size_t i = 0; i < columns->count; i++) {
        columns->values[i].length = 0;
        put_capture(&columns->values[i], (enum column_kind)columns->kinds[i], datagram);
    }
    add_capture_columns(columns, datagram);
    if (datagram->context != NULL) {
        print_datagram_trace(datagram, &sink, &result);
    }
    for (size_t i = 0; i < columns->count; i++) {
        if (i != 0) {
            text_buffer_add_char(&columns->lines, columns->separator);
        }
        put_column(columns, &columns->values[i]);
    }
    text_buffer_add_char(&columns->lines, '\n');
}

void print_columns_free(struct print_columns *columns) {
    text_buffer_free(&columns->lines);
    for (size_t i = 0; i < columns->count; i++) {
        text_buffer_free(&columns->values[i]);
    }
}
