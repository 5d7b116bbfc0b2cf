/* SPDX-License-Identifier: MIT */
/* uerudp trace: pictures of connections, as pages for a browser and as SVG files. */
#include <string.h>

#include "tools/cli/output_file.h"
#include "tools/cli/selection.h"
#include "tools/trace/page.h"
#include "tools/trace/svg.h"

/* Connections that get a picture; of more, the first ones. */
#define PICTURES_MAX 64

struct trace {
    struct capture_reader reading;
    struct selection selection;
    char *path;
    char *browser;
    gboolean svg;
    GPtrArray *plots; /* struct trace_plot, in the order of their first datagrams */
    GHashTable *streams;
    uint64_t left_out; /* datagrams of connections without a picture */
};

static const char description[] =
    "Draws each connection: packets over time with acknowledgements and reported losses, what was sent again, gaps, "
    "the\n"
    "time until acknowledgements, and the bandwidth of each channel. A page stands alone (its drawing library, d3, is\n"
    "inside), zooms, and tells frame numbers of what one points at. Of too many points of one kind some are left out\n"
    "evenly, and the page says how many. Several connections get a page each: PAGE-0.html, PAGE-1.html, ... by stream.\n\n"
    "Exit status: 0 all well, 1 something was malformed, 2 unusable arguments or files, or no connection to draw.\n\n"
    "Examples:\n"
    "  uerudp trace game.pcapng --output game.html\n"
    "  uerudp trace --svg --stream 0 game.pcapng --output game.html";

/* ---- collecting ---- */

static struct trace_plot *find_plot(struct trace *t, const struct input_datagram *seen) {
    gpointer key = GUINT_TO_POINTER(seen->connection->stream);
    struct trace_plot *plot = g_hash_table_lookup(t->streams, key);
    if (plot == NULL && t->plots->len < PICTURES_MAX) {
        plot = trace_plot_new(seen);
        g_ptr_array_add(t->plots, plot);
        g_hash_table_insert(t->streams, key, plot);
    }
    t->left_out += plot == NULL;
    return plot;
}

struct drawing {
    struct trace_plot *plot;
    const struct input_datagram *seen;
};

static void draw_event(void *user, const struct ue_tracker_event *event) {
    struct drawing *drawing = user;
    trace_plot_on_event(drawing->plot, drawing->seen, event);
}

static void collect(struct trace *t) {
    struct tracker_table *tracks = tracker_table_new();
    struct input_datagram seen;
    while (capture_reader_next(&t->reading, &seen)) {
        if (seen.is_foreign ||
            !selection_matches(&t->selection, seen.connection->stream, &seen.context, seen.bytes, seen.size_bytes)) {
            continue;
        }
        struct drawing drawing = {find_plot(t, &seen), &seen};
        if (drawing.plot != NULL) {
            struct ue_tracker_callbacks sink = {.event = draw_event, .user = &drawing};
            trace_plot_add_datagram(drawing.plot, &seen);
            tracker_table_on_datagram(tracks, &seen, &sink);
        }
    }
    tracker_table_free(tracks);
}

/* ---- writing ---- */

/* The name of a connection's page, or, with another ending, of its SVG file. */
static char *name_file(const struct trace *t, const struct trace_plot *plot, const char *ending) {
    const char *dot = g_str_has_suffix(t->path, ".html") ? strrchr(t->path, '.') : NULL;
    char *stem = g_strndup(t->path, dot != NULL ? (gsize)(dot - t->path) : strlen(t->path));
    bool is_only = t->plots->len == 1;
    char *name = is_only ? g_strconcat(stem, ending, NULL) : g_strdup_printf("%s-%u%s", stem, plot->stream, ending);
    g_free(stem);
    return name;
}

static bool write_file(const char *path, struct text_buffer *text) {
    struct output_file output;
    return output_file_open(&output, path) && output_file_close(&output, text_buffer_flush(text, output.file));
}

static bool write_svg(const struct trace *t, const char *page, const char *path) {
    GError *error = NULL;
    char *picture = trace_draw_svg(t->browser, page, &error);
    if (picture == NULL) {
        cli_error("%s: %s", path, error->message);
        g_error_free(error);
        return false;
    }
    struct text_buffer text = {0};
    text_buffer_add(&text, picture);
    bool good = write_file(path, &text);
    text_buffer_free(&text);
    g_free(picture);
    return good;
}

static bool write_picture(const struct trace *t, const struct trace_plot *plot) {
    char *page = name_file(t, plot, ".html"), *svg = name_file(t, plot, ".svg");
    struct text_buffer text = {0};
    trace_write_page(plot, &text);
    bool good = write_file(page, &text) && (!t->svg || write_svg(t, page, svg));
    text_buffer_free(&text);
    g_free(page);
    g_free(svg);
    return good;
}

static bool write_to_pipe(const struct trace *t) {
    if (t->plots->len > 1) {
        cli_error("there are %u connections, and a page for each; use --output, or --stream for one of them",
                    t->plots->len);
        return false;
    }
    struct text_buffer text = {0};
    trace_write_page(t->plots->pdata[0], &text);
    bool good = write_file(NULL, &text);
    text_buffer_free(&text);
    return good;
}

static bool write_all(const struct trace *t) {
    if (t->plots->len == 0) {
        cli_error("there is no connection to draw");
        return false;
    }
    if (t->path == NULL || strcmp(t->path, "-") == 0) {
        return write_to_pipe(t);
    }
    bool good = true;
    for (guint i = 0; i < t->plots->len && good; i++) {
        good = write_picture(t, t->plots->pdata[i]);
    }
    if (t->left_out != 0) {
        cli_error("pictures show the first %d connections; others can be chosen with --stream", PICTURES_MAX);
    }
    return good;
}

/* ---- the command ---- */

static void free_plot(gpointer plot) {
    trace_plot_free(plot);
}

static enum cli_exit run(struct trace *t, int path_count, char **paths) {
    t->plots = g_ptr_array_new_with_free_func(free_plot);
    t->streams = g_hash_table_new(NULL, NULL);
    capture_reader_start(&t->reading, path_count, paths);
    collect(t);
    enum cli_exit status = capture_reader_exit_status(&t->reading);
    bool good = write_all(t);
    g_hash_table_unref(t->streams);
    g_ptr_array_unref(t->plots);
    return good ? status : CLI_EXIT_UNUSABLE;
}

static bool resolve(struct trace *t, int argc) {
    bool is_pipe = t->path == NULL || strcmp(t->path, "-") == 0;
    if (argc < 2) {
        cli_error("no file given; see uerudp trace --help");
        return false;
    }
    if ((t->svg && is_pipe) || (t->browser != NULL && !t->svg)) {
        cli_error(t->svg ? "--svg needs --output FILE, beside which it goes" : "--browser goes with --svg");
        return false;
    }
    return wire_options_resolve(&t->reading.wire);
}

static void add_options(struct trace *t, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &t->path, "write pages to PAGE instead of one to standard output",
         "PAGE.html"},
        {"svg", 0, 0, G_OPTION_ARG_NONE, &t->svg, "draw PAGE.svg, too, with Chromium", NULL},
        {"browser", 0, 0, G_OPTION_ARG_FILENAME, &t->browser, "with --svg, a Chromium or Chrome to use", "PROGRAM"},
        {"hex", 0, 0, G_OPTION_ARG_NONE, &t->reading.is_hex, "the files are hex dumps, hex lines or C arrays", NULL},
        {0},
    };
    GOptionGroup *group = g_option_group_new("output", "What to draw:", "Show the options of the output", NULL, NULL);
    g_option_group_add_entries(group, entries);
    g_option_context_add_group(context, group);
    selection_add_stream_option(&t->selection, context);
    wire_options_add(&t->reading.wire, context);
}

int cmd_trace(int argc, char **argv) {
    struct trace t = {0};
    GOptionContext *context = g_option_context_new("FILE... - draw connections");
    capture_reader_init(&t.reading);
    g_option_context_set_description(context, description);
    add_options(&t, context);
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (cli_parse(context, &argc, &argv) && resolve(&t, argc)) {
        status = run(&t, argc - 1, argv + 1);
    }
    capture_reader_clear(&t.reading);
    selection_clear(&t.selection);
    g_free(t.path);
    g_free(t.browser);
    return status;
}
