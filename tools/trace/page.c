/* SPDX-License-Identifier: MIT */
#include "tools/trace/page.h"

#include "trace_resource.h"

static GBytes *load(const char *file) {
    char *path = g_strconcat("/uerudp/trace/", file, NULL);
    GBytes *bytes = g_resource_lookup_data(trace_resource_get_resource(), path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
    g_free(path);
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
void trace_write_page(const struct trace_plot *plot, struct text_buffer *out) {
    GBytes *page = load("page.html");
    gsize size;
    const char *text = g_bytes_get_data(page, &size);
    char *copy = g_strndup(text, size);
    char **pieces = g_strsplit(copy, "@", -1);
    for (size_t i = 0; pieces[i] != NULL; i++) {
        if (i % 2 == 0) {
            text_buffer_add(out, pieces[i]);
        } else if (strcmp(pieces[i], "DATA") == 0) {
            trace_plot_write_data(plot, out);
        } else {
            write_bytes(out, load(pieces[i]));
        }
    }
    g_strfreev(pieces);
    g_free(copy);
    g_bytes_unref(page);
}
