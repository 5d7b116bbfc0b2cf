/* SPDX-License-Identifier: MIT */
#include "tools/trace/page_table.h"

#include <math.h>

/* Values are coded in groups, whose bytes are a multiple of 3, so that no group but the last is padded. */
#define GROUP_VALUES 3072

static const struct {
    const char *name;
    size_t bytes;
    double min, max;
} types[] = {
    [PAGE_U8] = {"u8", 1, 0, UINT8_MAX},          [PAGE_U16] = {"u16", 2, 0, UINT16_MAX},
    [PAGE_U32] = {"u32", 4, 0, UINT32_MAX},       [PAGE_I32] = {"i32", 4, INT32_MIN, INT32_MAX},
    [PAGE_F32] = {"f32", 4, -INFINITY, INFINITY}, [PAGE_F64] = {"f64", 8, -INFINITY, INFINITY},
};

static uint64_t bits_of(enum page_number type, double value) {
    uint64_t bits = 0;
    if (type == PAGE_F64) {
        memcpy(&bits, &value, sizeof value);
    } else if (type == PAGE_F32) {
        float single = (float)value;
        uint32_t single_bits;
        memcpy(&single_bits, &single, sizeof single);
        bits = single_bits;
    } else {
        bits = (uint64_t)(int64_t)CLAMP(value, types[type].min, types[type].max);
    }
    return bits;
}

static guchar *put(guchar *at, uint64_t bits, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        *at++ = (guchar)(bits >> 8 * i);
    }
    return at;
}

static void write_values(struct text_buffer *out, const GArray *rows, const struct page_column *column,
                         const void *user) {
    guchar group[GROUP_VALUES * sizeof(double)];
    size_t row_bytes = g_array_get_element_size((GArray *)rows), bytes = types[column->type].bytes;
    gint state = 0, save = 0;
    for (guint first = 0; first < rows->len; first += GROUP_VALUES) {
        guint last = MIN(rows->len, first + GROUP_VALUES);
        guchar *end = group;
        for (guint i = first; i < last; i++) {
            end = put(end, bits_of(column->type, column->value(rows->data + i * row_bytes, user)), bytes);
        }
        size_t size = (size_t)(end - group);
        out->length += g_base64_encode_step(group, size, FALSE, text_buffer_room(out, size / 3 * 4 + 8), &state, &save);
    }
    out->length += g_base64_encode_close(FALSE, text_buffer_room(out, 8), &state, &save);
}

void page_table_write(struct text_buffer *out, const char *table, const GArray *rows, const struct page_column *columns,
                      size_t column_count, const void *user) {
    for (size_t i = 0; i < column_count; i++) {
        text_buffer_add_format(out,
                               "<script type=\"application/octet-stream\" data-table=\"%s\" data-column=\"%s\" "
                               "data-type=\"%s\">",
                               table, columns[i].name, types[columns[i].type].name);
        write_values(out, rows, &columns[i], user);
        text_buffer_add(out, "</script>\n");
    }
}
