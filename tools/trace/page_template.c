/* SPDX-License-Identifier: MIT */
#include "tools/trace/page_template.h"

#include <glib.h>

#include "trace_resource.h"

#define REAL_DIGITS 9

static GBytes *load(const char *file) {
    g_autofree char *path = g_strconcat("/uerudp/trace/", file, NULL);
    GBytes *bytes = g_resource_lookup_data(trace_resource_get_resource(), path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
    g_assert(bytes != NULL); /* built into the program */
    return bytes;
}

static void write_bytes(struct text_buffer *out, GBytes *bytes) {
    gsize size;
    const void *data = g_bytes_get_data(bytes, &size);
    text_buffer_add_bytes(out, data, size);
    g_bytes_unref(bytes);
}

/* The parts between @ are text of the page, and in turn names of files, or DATA. */
void trace_write_template(const char *file, const struct text_buffer *data, struct text_buffer *out) {
    g_autoptr(GBytes) page = load(file);
    gsize size;
    const char *text = g_bytes_get_data(page, &size);
    g_autofree char *copy = g_strndup(text, size);
    g_auto(GStrv) pieces = g_strsplit(copy, "@", -1);
    for (size_t i = 0; pieces[i] != NULL; i++) {
        if (i % 2 == 0) {
            text_buffer_add(out, pieces[i]);
        } else if (strcmp(pieces[i], "DATA") == 0) {
            text_buffer_add_bytes(out, data->text, data->length);
        } else {
            write_bytes(out, load(pieces[i]));
        }
    }
}

/* JSON in an HTML script element must not contain its end tag; < occurs only in strings. */
static int append_json(const char *text, size_t length, void *user) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '<') {
            text_buffer_add(user, "\\u003c");
        } else {
            text_buffer_add_char(user, text[i]);
        }
    }
    return 0;
}

void trace_add_json(const json_t *json, struct text_buffer *out) {
    text_buffer_add(out, "<script id=\"data\" type=\"application/json\">\n");
    json_dump_callback(json, append_json, out, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
    text_buffer_add(out, "\n</script>\n");
}
