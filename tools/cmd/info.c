/* SPDX-License-Identifier: MIT */
/* uerudp info: what happened to each connection of a capture. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "tools/both_ends/vantage_points.h"
#include "tools/cli/color.h"
#include "tools/cli/command_line.h"
#include "tools/cli/output_file.h"
#include "tools/input/datagram_selection.h"
#include "tools/info/bandwidth_csv.h"
#include "tools/info/capture_info.h"
#include "tools/info/comparison_report.h"
#include "tools/info/json_report.h"
#include "tools/info/junit_report.h"
#include "tools/info/other_end.h"
#include "tools/info/overview_text.h"
#include "tools/info/diagnosis_text.h"
#include "tools/print/phrase.h"

#define FINDINGS_MAX 1000
#define REAL_DIGITS 9

struct info_arguments {
    struct capture_reader reader;
    struct selection selection;
    gboolean json, summary, bits, compare;
    struct info_bandwidth_options bandwidth;
    int findings_max;
    const char *color;
    const char *junit; /* the file; NULL: none */
    struct vantage_points points;
    struct info_fail_rules rules;
    struct text_buffer out;
};

static gboolean parse_fail_on(const char *option, const char *value, void *user, GError **error) {
    (void)option;
    return info_fail_rules_add(&((struct info_arguments *)user)->rules, value, error);
}

static void add_result_options(struct info_arguments *command, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"fail-on", 0, 0, CLI_CALLBACK(parse_fail_on),
         "exit with status 1 if a finding has this severity or a worse one, or is of this kind and reaches the limit: "
         "warning, reliable_stall:500ms, loss:2%, loss_burst:10; default error",
         "RULE[,RULE...]"},
        {"junit", 0, 0, G_OPTION_ARG_FILENAME, &command->junit,
         "also write a JUnit report, in which each kind of finding is a test that fails by the rules of --fail-on",
         "FILE"},
        {0},
    };
    cli_add_options(context, "Result:", entries, command);
}

static void add_options(struct info_arguments *command, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &command->json, "JSON Lines, one object per connection, instead of text",
         NULL},
        {"bits", 0, 0, G_OPTION_ARG_NONE, &command->bits,
         "also count the bits of each header field, control message and channel", NULL},
        {"findings", 0, 0, G_OPTION_ARG_INT, &command->findings_max,
         "print at most this number of findings of each kind, the worst; default 5", "NUMBER"},
        COLOR_OPTION(&command->color),
        {"summary", 0, 0, G_OPTION_ARG_NONE, &command->summary, "only one line per connection, the worst first", NULL},
        {"compare", 0, 0, G_OPTION_ARG_NONE, &command->compare,
         "what changed from the first of two captures to the second: loss, round trips, stalls, bandwidth and "
         "findings, "
         "as rates",
         NULL},
        VANTAGE_POINTS_OPTION(&command->points),
        {"hex", 0, 0, G_OPTION_ARG_NONE, &command->reader.is_hex,
         "the files are hex dumps, hex lines or C arrays, not captures", NULL},
        {0},
    };
    cli_add_options(context, "What to print:", entries, NULL);
    info_bandwidth_add_options(&command->bandwidth, context);
    add_result_options(command, context);
    capture_reader_add_live_options(&command->reader, context);
    selection_add_stream_option(&command->selection, context);
    wire_options_add(&command->reader.wire, context);
}

static const char description[] =
    "Reports for each connection who closed it and why, which reliable bunches arrived late, which side fell silent, "
    "what was not delivered, and how the login went; then the statistics. Findings are ordered by severity: errors "
    "(the connection failed, or violates the protocol), warnings (players notice them), notes.\n\n"
    "FILE is a capture (pcap or pcapng, also gzip-compressed), or - for standard input. Several files without a common "
    "packet are read as one capture with consecutive frame numbers. Files with the same packets are captures of both "
    "ends: the report is of the first, and compares it with the other: what was lost between them, and one-way delays. "
    "Two interfaces of one file are compared in the same way.\n\n"
    "Exit status: 0 success, 1 a finding is an error or a datagram is malformed (with --fail-on: a finding matches a "
    "rule) or a budget is exceeded, 2 wrong arguments, unusable files, with --fail-on, --junit or --budget no "
    "connection to judge, or a budget for a class that nothing of what was sent is known to be of. With --compare only "
    "the second capture decides between 0 and 1.\n\n"
    "Examples:\n"
    "  uerudp info game.pcapng\n"
    "  uerudp info --json game.pcapng | jq -r '.findings[].text'\n"
    "  uerudp info --bits --stream 0 game.pcapng\n"
    "  uerudp info client.pcapng server.pcapng\n"
    "  uerudp info --compare before.pcapng after.pcapng\n"
    "  uerudp info --bandwidth --top 20 --by peak game.pcapng\n"
    "  uerudp info --summary --fail-on reliable_stall:500ms,loss:2% --junit report.xml game.pcapng\n"
    "  tcpdump -w - -G 60 -W 1 udp port 7777 | uerudp info -";

static bool check_compare(const struct info_arguments *command, int path_count) {
    bool has_other = command->summary || command->bits || command->bandwidth.is_wanted || command->junit != NULL ||
                     command->points.vantage != NULL;
    if (command->compare && (path_count != 2 || has_other)) {
        return cli_error(
            "--compare requires two files, and excludes --summary, --bits, --junit, --vantage and options of the "
            "bandwidth, such as --budget");
    }
    return true;
}

/* A line per connection has none of these. */
static bool check_summary(const struct info_arguments *command) {
    const char *other = command->json                                         ? "json"
                        : command->bits                                       ? "bits"
                        : command->bandwidth.is_csv                           ? "csv"
                        : command->bandwidth.is_wanted                        ? "bandwidth"
                        : command->bandwidth.top_text                         ? "top"
                        : command->bandwidth.order != INFO_BANDWIDTH_BY_TOTAL ? "by"
                                                                              : NULL;
    return !command->summary || other == NULL || cli_error("--summary and --%s exclude each other", other);
}

static bool resolve(struct info_arguments *command, int argc) {
    if (!check_summary(command) || !info_bandwidth_resolve(&command->bandwidth, command->json)) {
        return false;
    }
    if (!check_compare(command, argc - 1)) {
        return false;
    }
    if (!capture_reader_check_options(&command->reader, argc - 1)) {
        return false;
    }
    if (command->findings_max < 1 || command->findings_max > FINDINGS_MAX) {
        return cli_error("--findings=%d: must be a number from 1 to %d", command->findings_max, FINDINGS_MAX);
    }
    command->out.columns = color_columns(STDOUT_FILENO);
    return color_resolve(command->color, &command->out.is_colored) && wire_options_resolve(&command->reader.wire);
}

static void read_all(struct capture_reader *reader, const struct selection *selection, struct info_capture *infos) {
    struct input_datagram captured;
    while (capture_reader_next(reader, &captured)) {
        if (capture_reader_selects(reader, selection, &captured)) {
            info_capture_on_datagram(infos, &captured);
        }
    }
}

static bool flush(struct info_arguments *command) {
    bool written = text_buffer_flush(&command->out, stdout);
    if (!written) {
        cli_error("cannot write: %s", g_strerror(errno));
    }
    return written;
}

static int append(const char *text, size_t length, void *user) {
    text_buffer_add_bytes(user, text, length);
    return 0;
}

/* Prints a line with the object, and frees it. */
static bool print_object(struct info_arguments *command, json_t *object) {
    json_dump_callback(object, append, &command->out, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
    json_decref(object);
    text_buffer_add_char(&command->out, '\n');
    return flush(command);
}

static bool print_json(struct info_arguments *command, const GPtrArray *list) {
    bool written = true;
    for (guint i = 0; written && i < list->len; i++) {
        written = print_object(command, info_to_json(g_ptr_array_index(list, i)));
    }
    return written;
}

static bool print_csv(struct info_arguments *command, const GPtrArray *list) {
    bool written = true;
    info_bandwidth_print_csv_head(&command->out);
    for (guint i = 0; written && i < list->len; i++) {
        const struct info_connection *info = g_ptr_array_index(list, i);
        info_bandwidth_print_csv(&command->out, info->stream, info->bandwidth, &command->bandwidth,
                                 info->course->implausible == 0);
        written = flush(command);
    }
    return written;
}

/* If there are several connections, first the summary. */
static bool print_text(struct info_arguments *command, const GPtrArray *list) {
    bool has_summary = command->summary || list->len > 1;
    if (has_summary) {
        info_print_overview(&command->out, list);
    }
    bool written = flush(command);
    for (guint i = 0; written && !command->summary && i < list->len; i++) {
        text_buffer_add(&command->out, has_summary ? "\n" : "");
        info_print_connection(&command->out, g_ptr_array_index(list, i));
        written = flush(command);
    }
    return written;
}

static bool print(struct info_arguments *command, const GPtrArray *list) {
    if (command->json || command->bandwidth.is_csv) {
        return command->json ? print_json(command, list) : print_csv(command, list);
    }
    return print_text(command, list);
}

static bool write_junit(struct info_arguments *command, const GPtrArray *list) {
    struct output_file output;
    if (command->junit == NULL) {
        return true;
    }
    if (!output_file_open(&output, command->junit)) {
        return false;
    }
    info_write_junit(&command->out, list);
    return output_file_close(&output, text_buffer_flush(&command->out, output.file));
}

/* The worst finding that matches a rule; where: the name of the capture, if there are two; else "". */
static void add_failure(struct text_buffer *out, const struct info_connection *info, const char *where) {
    g_autoptr(GPtrArray) sorted = info_findings_sorted(&info->findings);
    for (guint i = 0; i < sorted->len; i++) {
        const struct info_finding *finding = info_findings_at(sorted, i);
        if (finding->is_failure) {
            g_autofree char *sentence = info_finding_sentence(finding);
            text_buffer_add_format(out, "connection %" PRIu32 "%s%s: --fail-on: %s", info->stream,
                                   where[0] != '\0' ? ", " : "", where, sentence);
            if (info->findings.failures > 1) {
                text_buffer_add_format(out, "; %" PRIu64 " more", info->findings.failures - 1);
            }
            text_buffer_add_char(out, '\n');
            return;
        }
    }
}

/* A table has only the worst finding, which may match no rule. */
static void print_failures(const struct info_arguments *command, const GPtrArray *list) {
    const struct both_ends *ends = command->points.found;
    struct text_buffer remarks = {0};
    for (guint i = 0; i < list->len; i++) {
        const struct info_connection *info = g_ptr_array_index(list, i);
        add_failure(&remarks, info, ends != NULL ? ends->captures[0]->name : "");
        if (ends != NULL && info->other_end != NULL) {
            add_failure(&remarks, info->other_end, ends->captures[1]->name);
        }
    }
    text_buffer_flush(&remarks, stderr);
    text_buffer_free(&remarks);
}

/* Without a text report the reason of the exit status would be missing. */
static void print_budget_remarks(const struct info_arguments *command, const GPtrArray *list) {
    struct text_buffer remarks = {0};
    info_budgets_add_remarks(&remarks, &command->bandwidth.budgets, list,
                             command->summary || command->bandwidth.is_csv);
    text_buffer_flush(&remarks, stderr);
    text_buffer_free(&remarks);
}

static void print_left_out(const struct capture_reader *reader, const GPtrArray *list) {
    uint64_t streams = ue_observer_stream_count(reader->observer);
    if (list->len == INFO_CONNECTIONS_MAX && streams > INFO_CONNECTIONS_MAX) {
        fprintf(stderr,
                "%d of %" PRIu64
                " connections are reported; those of which only handshakes were seen are left out first\n",
                INFO_CONNECTIONS_MAX, streams);
    }
}

static enum cli_exit exit_status(const struct info_arguments *command, const struct capture_reader *reader,
                                 const GPtrArray *list) {
    enum cli_exit status = capture_reader_exit_status(reader);
    uint64_t failures = 0;
    for (guint i = 0; i < list->len; i++) {
        const struct info_connection *info = g_ptr_array_index(list, i);
        failures += info->findings.failures + (info->bandwidth != NULL && info_budget_is_exceeded(info));
        failures += info->other_end != NULL ? info->other_end->findings.failures : 0;
    }
    if (status == CLI_EXIT_MALFORMED && command->rules.rules != NULL) {
        status = CLI_EXIT_OK; /* a malformed datagram is a finding, which the rules may name */
    }
    return status == CLI_EXIT_OK && failures != 0 ? CLI_EXIT_MALFORMED : status;
}

/* A build machine must not take a capture for good in which nothing was judged. */
static enum cli_exit judge(const struct info_arguments *command, enum cli_exit status, uint64_t connections) {
    bool is_judged =
        command->rules.rules != NULL || command->junit != NULL || command->bandwidth.budgets.limits != NULL;
    if (is_judged && connections == 0 && status != CLI_EXIT_UNUSABLE) {
        cli_error("no connection to judge: none was found, or none is in the chosen part of the capture");
        status = CLI_EXIT_UNUSABLE;
    }
    return status;
}

/* ---- the report ---- */

static void print_ends(const struct info_arguments *command, int file_count) {
    const struct both_ends *ends = command->points.found;
    if (ends != NULL) {
        cli_print_line(stderr, "%s and %s have the same packets of %s: both ends are compared", ends->captures[0]->name,
                       ends->captures[1]->name, phrase_count(ends->connections->len, "connection").text);
    } else if (file_count > 1 && command->reader.is_any) {
        fprintf(stderr, "%d files are read as one capture\n", file_count);
    }
}

static void name_files(const struct capture_reader *reader, const GPtrArray *list) {
    for (guint i = 0; i < list->len; i++) {
        struct info_connection *info = g_ptr_array_index(list, i);
        info->first_path = capture_reader_path_of(reader, info->first_frame);
        info->last_path = capture_reader_path_of(reader, info->last_frame);
    }
}

/* Prints the connections that a reader read, and frees nothing. */
static enum cli_exit report(struct info_arguments *command, struct capture_reader *reader, const GPtrArray *list,
                            int file_count) {
    name_files(reader, list);
    bool written = print(command, list) && write_junit(command, list);
    enum cli_exit status = judge(command, exit_status(command, reader, list), list->len);
    status = info_budgets_are_known(&command->bandwidth.budgets, list) ? status : CLI_EXIT_UNUSABLE;
    if (command->rules.rules != NULL && (command->summary || command->bandwidth.is_csv)) {
        print_failures(command, list);
    }
    print_budget_remarks(command, list);
    print_left_out(reader, list);
    print_ends(command, file_count);
    capture_reader_print_totals(reader);
    return written ? status : CLI_EXIT_UNUSABLE;
}

static struct info_options options_of(const struct info_arguments *command) {
    return (struct info_options){.findings_max = (unsigned)command->findings_max,
                                 .with_cost = command->bits,
                                 .is_part = !time_range_is_all(&command->selection.range),
                                 .bandwidth = command->bandwidth,
                                 .rules = &command->rules};
}

static const GPtrArray *finish(struct info_capture *infos, const struct capture_reader *reader,
                               const struct selection *selection) {
    return info_capture_finish(infos, capture_reader_end_ns(reader, selection));
}

/* Of the captures of both ends, the first is reported, and what only the other shows at the same times. */
static enum cli_exit report_ends(struct info_arguments *command, int file_count) {
    struct info_options options = options_of(command);
    struct info_options other_options = {
        .findings_max = INFO_OTHER_END_FINDINGS, .is_part = options.is_part, .rules = &command->rules};
    struct capture_reader reader, other;
    options.findings_max = INFO_OTHER_END_FINDINGS;
    struct info_capture *infos = info_capture_new(&options), *other_infos = info_capture_new(&other_options);
    vantage_points_start(&command->points, 0, &reader, &command->reader);
    reader.summary.capture = command->points.found->captures[0]->name;
    read_all(&reader, &command->selection, infos);
    const GPtrArray *list = finish(infos, &reader, &command->selection);
    info_other_end_read(&command->points, &command->selection, &other, &command->reader, other_infos);
    info_other_end_join(command->points.found, list, finish(other_infos, &other, &command->selection),
                        (unsigned)command->findings_max);
    enum cli_exit status = report(command, &reader, list, file_count);
    enum cli_exit other_status = capture_reader_exit_status(&other);
    capture_summary_print_contradictions(&other.summary);
    if (capture_summary_is_contradicted(&other.summary)) {
        status = MAX(status, CLI_EXIT_MALFORMED);
    }
    info_capture_free(infos);
    info_capture_free(other_infos);
    capture_reader_clear(&reader);
    capture_reader_clear(&other);
    return other_status == CLI_EXIT_UNUSABLE ? other_status : status;
}

static enum cli_exit report_files(struct info_arguments *command, int path_count, char **paths) {
    const struct info_options options = options_of(command);
    struct info_capture *infos = info_capture_new(&options);
    capture_reader_start(&command->reader, path_count, paths);
    read_all(&command->reader, &command->selection, infos);
    bool is_usable = vantage_points_of_interfaces(&command->points, &command->reader, &command->selection);
    bool is_report = is_usable && command->points.found == NULL;
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (is_report) {
        status = report(command, &command->reader, finish(infos, &command->reader, &command->selection), path_count);
    }
    info_capture_free(infos); /* before each end is read alone */
    return is_usable && !is_report ? report_ends(command, path_count) : status;
}

static enum cli_exit run(struct info_arguments *command, int path_count, char **paths) {
    if (!vantage_points_of_files(&command->points, &command->reader, &command->selection, paths, path_count)) {
        return CLI_EXIT_UNUSABLE;
    }
    return command->points.found != NULL ? report_ends(command, path_count) : report_files(command, path_count, paths);
}

/* ---- comparison ---- */

/* Reads one of the captures; its findings and files decide about *status. Prints what it contradicts. */
static struct info_figures read_figures(struct info_arguments *command, struct capture_reader *reader, char **path,
                                        enum cli_exit *status) {
    const struct info_options options = options_of(command);
    struct info_capture *infos = info_capture_new(&options);
    capture_reader_start(reader, 1, path);
    reader->summary.capture = *path;
    read_all(reader, &command->selection, infos);
    const GPtrArray *list = finish(infos, reader, &command->selection);
    struct info_figures figures = info_figures_of(list);
    *status = exit_status(command, reader, list);
    capture_summary_print_contradictions(&reader->summary);
    info_capture_free(infos);
    return figures;
}

static enum cli_exit compare(struct info_arguments *command, char **paths) {
    struct info_comparison comparison = {.names = {paths[0], paths[1]}};
    struct capture_reader after;
    enum cli_exit statuses[2];
    capture_reader_init_like(&after, &command->reader);
    after.summary.progress.is_silent = false;
    comparison.figures[0] = read_figures(command, &command->reader, &paths[0], &statuses[0]);
    comparison.figures[1] = read_figures(command, &after, &paths[1], &statuses[1]);
    bool is_contradicted = capture_summary_is_contradicted(&command->reader.summary);
    capture_reader_clear(&after);
    bool is_usable = statuses[0] != CLI_EXIT_UNUSABLE && statuses[1] != CLI_EXIT_UNUSABLE, written = true;
    if (is_usable && command->json) {
        written = print_object(command, info_comparison_to_json(&comparison));
    } else if (is_usable) {
        info_print_comparison(&command->out, &comparison);
        written = flush(command);
    }
    enum cli_exit status = is_contradicted ? MAX(statuses[1], CLI_EXIT_MALFORMED) : statuses[1];
    return is_usable && written ? judge(command, status, comparison.figures[1].connections) : CLI_EXIT_UNUSABLE;
}

int cmd_info(int argc, char **argv) {
    struct info_arguments command = {.findings_max = INFO_FINDINGS_DEFAULT};
    GOptionContext *context = g_option_context_new("FILE... - report what happened to each connection, and why");
    capture_reader_init(&command.reader, UE_OBSERVER_BY_CONNECTION);
    g_option_context_set_description(context, description);
    add_options(&command, context);
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (cli_parse(context, &argc, &argv) && resolve(&command, argc)) {
        output_file_protect(argc - 1, argv + 1);
        status = command.compare ? compare(&command, argv + 1) : run(&command, argc - 1, argv + 1);
    }
    vantage_points_clear(&command.points);
    capture_reader_clear(&command.reader);
    selection_clear(&command.selection);
    info_fail_rules_clear(&command.rules);
    info_bandwidth_clear_options(&command.bandwidth);
    text_buffer_free(&command.out);
    return status;
}
