/* SPDX-License-Identifier: MIT */
/* uerudp trace: draws connections as HTML pages or SVG files. */
#include <string.h>

#include "tools/both_ends/vantage_points.h"
#include "tools/cli/output_file.h"
#include "tools/input/datagram_selection.h"
#include "tools/info/other_end.h"
#include "tools/trace/index_rows.h"
#include "tools/trace/page_template.h"
#include "tools/trace/svg.h"

/* The first connections get a picture, up to this limit. */
#define PICTURES_MAX 256
#define PAGE_ENDING ".html"
#define SVG_ENDING ".svg"
/* Of the panel of the bandwidth by class. The bins of a page are 1 ms times a power of 2 wide, so that they add up. */
#define CLASSES_SHOWN 5
#define CLASSES_BIN_NS INT64_C(8000000)
#define CHANNELS_MAX 65536

struct trace_command {
    struct capture_reader reader;
    struct selection selection;
    const char *path;
    const char *browser;
    gboolean svg;
    int elements_max; /* rows of all pages, see struct trace_plot_limits */
    GPtrArray *plots; /* struct trace_plot, in the order of their first datagrams */
    GHashTable *streams;
    struct trace_plot_limits limits;
    struct vantage_points points;
    uint64_t left_out; /* datagrams of connections without a picture */
};

static const char description[] =
    "Draws each connection as a page: findings as flags, loss rate, round trip times, late reliable bunches, the "
    "reliable buffer, the bandwidth of each channel, and the packets of both directions, over one time axis that "
    "zooms. From near each packet is drawn with its frame number, acknowledgement and retransmissions. A page is "
    "self-contained; it includes the drawing library d3. Several connections get a page each, PAGE-0.html, "
    "PAGE-1.html, ... by stream, and PAGE.html lists them. Captures of both ends, in two files or two interfaces, are "
    "drawn as two lines with the way of each packet between them.\n\n"
    "Exit status: 0 success, 1 a datagram is malformed, 2 wrong arguments, unusable files, or no connection to "
    "draw.\n\n"
    "Examples:\n"
    "  uerudp trace game.pcapng --output game.html\n"
    "  uerudp trace --svg --stream 0 game.pcapng --output game.html";

/* ---- collecting ---- */

static struct trace_plot *find_plot(struct trace_command *t, const struct input_datagram *captured) {
    gpointer key = GUINT_TO_POINTER(captured->connection->stream);
    struct trace_plot *plot = g_hash_table_lookup(t->streams, key);
    if (plot == NULL && t->plots->len < PICTURES_MAX) {
        plot = trace_plot_new(captured, &t->limits);
        g_ptr_array_add(t->plots, plot);
        g_hash_table_insert(t->streams, key, plot);
    }
    t->left_out += plot == NULL;
    return plot;
}

static void free_plot(gpointer plot) {
    trace_plot_free(plot);
}

static void init_plots(struct trace_command *t, unsigned findings_max) {
    g_clear_pointer(&t->plots, g_ptr_array_unref);
    g_clear_pointer(&t->streams, g_hash_table_unref);
    t->plots = g_ptr_array_new_with_free_func(free_plot);
    t->streams = g_hash_table_new(NULL, NULL);
    t->left_out = 0;
    t->limits = (struct trace_plot_limits){
        {.findings_max = findings_max,
         .bandwidth = {.is_wanted = true, .rows_max = CLASSES_SHOWN, .bin_ns = CLASSES_BIN_NS, .is_apart = true}},
        CHANNELS_MAX,
        (uint64_t)t->elements_max};
}

/* Makes the plots of all connections, anew. */
static void collect(struct trace_command *t, struct capture_reader *reader, unsigned findings_max) {
    struct input_datagram captured;
    init_plots(t, findings_max);
    while (capture_reader_next(reader, &captured)) {
        if (captured.is_foreign || !capture_reader_selects(reader, &t->selection, &captured)) {
            continue;
        }
        struct trace_plot *plot = find_plot(t, &captured);
        if (plot != NULL) {
            trace_plot_on_datagram(plot, &captured);
        }
    }
}

/* ---- writing ---- */

/* The user's name for the page without its extension. */
static char *stem_of(const struct trace_command *t) {
    bool has_ending = g_str_has_suffix(t->path, PAGE_ENDING);
    return g_strndup(t->path, strlen(t->path) - (has_ending ? strlen(PAGE_ENDING) : 0));
}

/* The name of a connection's page, or with another extension of its SVG file. */
static char *name_file(const struct trace_command *t, const struct trace_plot *plot, const char *ending) {
    g_autofree char *stem = stem_of(t);
    bool is_only = t->plots->len == 1;
    return is_only ? g_strconcat(stem, ending, NULL) : g_strdup_printf("%s-%u%s", stem, plot->info->stream, ending);
}

static bool write_file(const char *path, struct text_buffer *text) {
    struct output_file output;
    return output_file_open(&output, path) && output_file_close(&output, text_buffer_flush(text, output.file));
}

static bool write_svg(const struct trace_command *t, const char *page, const char *path) {
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

static void write_page(const struct trace_plot *plot, struct text_buffer *out) {
    struct text_buffer data = {0};
    trace_plot_write_data(plot, &data);
    trace_write_template("page.html", &data, out);
    text_buffer_free(&data);
}

static bool write_picture(const struct trace_command *t, const struct trace_plot *plot) {
    char *page = name_file(t, plot, PAGE_ENDING), *svg = name_file(t, plot, SVG_ENDING);
    struct text_buffer text = {0};
    write_page(plot, &text);
    bool good = write_file(page, &text) && (!t->svg || write_svg(t, page, svg));
    text_buffer_free(&text);
    g_free(page);
    g_free(svg);
    return good;
}

/* The page that lists the others. */
static bool write_index(const struct trace_command *t) {
    g_autoptr(GPtrArray) pages = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < t->plots->len; i++) {
        g_autofree char *page = name_file(t, t->plots->pdata[i], PAGE_ENDING);
        g_ptr_array_add(pages, g_path_get_basename(page));
    }
    struct text_buffer text = {0};
    trace_write_index(t->plots, pages, &text);
    g_autofree char *stem = stem_of(t);
    g_autofree char *path = g_strconcat(stem, PAGE_ENDING, NULL);
    bool good = write_file(path, &text);
    text_buffer_free(&text);
    return good;
}

static bool write_to_pipe(const struct trace_command *t) {
    if (t->plots->len > 1) {
        return cli_error(
            "the capture has %u connections, each with its own page; use --output, or --stream to choose one",
            t->plots->len);
    }
    struct text_buffer text = {0};
    write_page(t->plots->pdata[0], &text);
    bool good = write_file(NULL, &text);
    text_buffer_free(&text);
    return good;
}

static bool write_all(const struct trace_command *t) {
    if (t->plots->len == 0) {
        return cli_error("no connection to draw");
    }
    if (t->path == NULL || strcmp(t->path, "-") == 0) {
        return write_to_pipe(t);
    }
    bool good = t->plots->len == 1 || write_index(t);
    for (guint i = 0; i < t->plots->len && good; i++) {
        good = write_picture(t, t->plots->pdata[i]);
    }
    if (t->left_out != 0) {
        cli_error("only the first %d connections are drawn; choose others with --stream", PICTURES_MAX);
    }
    return good;
}

/* ---- the command ---- */

static void finish_plots(const struct trace_command *t, const struct capture_reader *reader) {
    for (guint i = 0; i < t->plots->len; i++) {
        trace_plot_finish(t->plots->pdata[i], capture_reader_end_ns(reader, &t->selection));
    }
}

static enum cli_exit draw(struct trace_command *t, struct capture_reader *reader) {
    enum cli_exit status = capture_reader_exit_status(reader);
    capture_summary_print_contradictions(&reader->summary);
    return write_all(t) ? status : CLI_EXIT_UNUSABLE;
}

/* Of the captures of both ends, the first is drawn, with the ways of the packets to the other and its findings. */
static enum cli_exit draw_ends(struct trace_command *t) {
    const struct info_options options = {.findings_max = INFO_OTHER_END_FINDINGS,
                                         .is_part = !time_range_is_all(&t->selection.range)};
    struct info_capture *infos = info_capture_new(&options);
    struct capture_reader reader, other;
    vantage_points_start(&t->points, 0, &reader, &t->reader);
    reader.summary.capture = t->points.found->captures[0]->name;
    collect(t, &reader, INFO_OTHER_END_FINDINGS);
    finish_plots(t, &reader);
    info_other_end_read(&t->points, &t->selection, &other, &t->reader, infos);
    g_autoptr(GPtrArray) drawn = g_ptr_array_new();
    for (guint i = 0; i < t->plots->len; i++) {
        g_ptr_array_add(drawn, ((struct trace_plot *)t->plots->pdata[i])->info);
    }
    info_other_end_join(t->points.found, drawn,
                        info_capture_finish(infos, capture_reader_end_ns(&other, &t->selection)),
                        TRACE_PLOT_FINDINGS_MAX);
    enum cli_exit status = draw(t, &reader), other_status = capture_reader_exit_status(&other);
    capture_summary_print_contradictions(&other.summary);
    info_capture_free(infos);
    capture_reader_clear(&reader);
    capture_reader_clear(&other);
    return MAX(status, other_status);
}

static enum cli_exit draw_files(struct trace_command *t, int path_count, char **paths) {
    capture_reader_start(&t->reader, path_count, paths);
    collect(t, &t->reader, TRACE_PLOT_FINDINGS_MAX);
    if (!vantage_points_of_interfaces(&t->points, &t->reader, &t->selection)) {
        return CLI_EXIT_UNUSABLE;
    }
    if (t->points.found != NULL) {
        return draw_ends(t);
    }
    finish_plots(t, &t->reader);
    return draw(t, &t->reader);
}

static enum cli_exit run(struct trace_command *t, int path_count, char **paths) {
    if (!vantage_points_of_files(&t->points, &t->reader, &t->selection, paths, path_count)) {
        return CLI_EXIT_UNUSABLE;
    }
    return t->points.found != NULL ? draw_ends(t) : draw_files(t, path_count, paths);
}

static bool resolve(struct trace_command *t, int argc) {
    bool is_pipe = t->path == NULL || strcmp(t->path, "-") == 0;
    if (argc < 2) {
        return cli_error("no file given; see uerudp trace --help");
    }
    if ((t->svg && is_pipe) || (t->browser != NULL && !t->svg)) {
        return cli_error(t->svg ? "--svg requires --output FILE, to write the SVG file beside it"
                                : "--browser requires --svg");
    }
    if (!is_pipe && g_str_has_suffix(t->path, SVG_ENDING)) {
        return cli_error("--output=%s: names the page, such as PAGE%s; --svg writes PAGE%s beside it", t->path,
                         PAGE_ENDING, SVG_ENDING);
    }
    if (t->elements_max < 1) {
        return cli_error("--elements=%d: must be at least 1", t->elements_max);
    }
    return wire_options_resolve(&t->reader.wire);
}

static void add_options(struct trace_command *t, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &t->path, "write pages to PAGE instead of one to standard output",
         "PAGE.html"},
        {"svg", 0, 0, G_OPTION_ARG_NONE, &t->svg, "also draw PAGE.svg, with Chromium", NULL},
        {"browser", 0, 0, G_OPTION_ARG_FILENAME, &t->browser, "with --svg, the Chromium or Chrome to use", "PROGRAM"},
        {"elements", 0, 0, G_OPTION_ARG_INT, &t->elements_max,
         "draw at most this number of packets and other elements each by itself; rates include what comes later; "
         "default 4000000",
         "NUMBER"},
        VANTAGE_POINTS_OPTION(&t->points),
        {"hex", 0, 0, G_OPTION_ARG_NONE, &t->reader.is_hex, "the files are hex dumps, hex lines or C arrays", NULL},
        {0},
    };
    cli_add_options(context, "What to draw:", entries, NULL);
    selection_add_stream_option(&t->selection, context);
    wire_options_add(&t->reader.wire, context);
}

int cmd_trace(int argc, char **argv) {
    struct trace_command t = {.elements_max = TRACE_PLOT_ROWS_MAX, .points.with_paths = true};
    GOptionContext *context = g_option_context_new("FILE... - draw connections");
    capture_reader_init(&t.reader, UE_OBSERVER_IN_CAPTURE_ORDER);
    g_option_context_set_description(context, description);
    add_options(&t, context);
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (cli_parse(context, &argc, &argv) && resolve(&t, argc)) {
        output_file_protect(argc - 1, argv + 1);
        status = run(&t, argc - 1, argv + 1);
    }
    g_clear_pointer(&t.plots, g_ptr_array_unref);
    g_clear_pointer(&t.streams, g_hash_table_unref);
    vantage_points_clear(&t.points);
    capture_reader_clear(&t.reader);
    selection_clear(&t.selection);
    return status;
}
