/* SPDX-License-Identifier: MIT */
#include "tools/trace/page.h"

#include "trace_resource.h"

/* A placeholder between two @ of the page, and the file that replaces it; NULL: the data. */
static const struct {
    const char *mark;
    const char *file;
} parts[] = {
    {"STYLE", "page.css"}, {"DATA", NULL}, {"D3", "d3.min.js"}, {"LICENCE", "BSD-3-Clause.txt"}, {"SCRIPT", "page.js"},
};

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

static void write_part(const struct trace_plot *plot, struct text_buffer *out, const char *mark) {
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (strcmp(parts[i].mark, mark) == 0 && parts[i].file == NULL) {
            trace_plot_write_json(plot, out);
        } else if (strcmp(parts[i].mark, mark) == 0) {
            write_bytes(out, load(parts[i].file));
        }
    }
}

/* The parts between @ are text of the page and placeholders in turn. */
void trace_write_page(const struct trace_plot *plot, struct text_buffer *out) {
    GBytes *page = load("page.html");
    gsize size;
    const char *text = g_bytes_get_data(page, &size);
    char *copy = g_strndup(text, size);
    char **pieces = g_strsplit(copy, "@", -1);
    for (size_t i = 0; pieces[i] != NULL; i++) {
        if (i % 2 == 0) {
            text_buffer_add(out, pieces[i]);
        } else {
            write_part(plot, out, pieces[i]);
        }
    }
    g_strfreev(pieces);
    g_free(copy);
    g_bytes_unref(page);
}
