/* SPDX-License-Identifier: MIT */
#include "tools/live/endpoint_report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <uerudp/time_ns.h>
#include <unistd.h>

#include "tools/cli/color.h"
#include "tools/cli/command_line.h"
#include "tools/cli/progress_line.h"
#include "tools/live/line_writer.h"
#include "tools/print/json.h"
#include "tools/print/text_escape.h"

/* Of the process: standard output and standard error, one writer if they are the same terminal; NULL: written at
   once. */
static struct {
    struct line_writer *output, *errors;
    struct progress_line progress;
    bool has_progress; /* it is shown now */
    uint64_t dropped;  /* lines that no "dropped" event has counted yet */
    uint64_t dropped_errors;
    bool as_json;
} lines;

/* ---- lines ---- */

static void add_value(GString *line, const char *key, const json_t *value, const char *separator) {
    g_autofree char *words = g_strdelimit(g_strdup(key), "_", ' ');
    if (json_is_string(value)) {
        struct text_buffer text = {0};
        text_escape_add_utf8(&text, json_string_value(value), TEXT_ESCAPE_MESSAGE);
        g_string_append_printf(line, "%s%s %.*s", separator, words, (int)text.length,
                               text.length != 0 ? text.text : "");
        text_buffer_free(&text);
    } else if (json_is_integer(value)) {
        g_string_append_printf(line, "%s%s %" JSON_INTEGER_FORMAT, separator, words, json_integer_value(value));
    } else if (json_is_real(value)) {
        g_string_append_printf(line, "%s%s %.4g", separator, words, json_real_value(value));
    } else if (json_is_true(value)) {
        g_string_append_printf(line, "%s%s", separator, words);
    }
}

static char *as_text(const char *event, json_t *members) {
    const char *key;
    json_t *value;
    const char *separator = ": ";
    GString *line = g_string_new(event);
    json_object_foreach(members, key, value) {
        if (!json_is_object(value) && !json_is_false(value) && !json_is_null(value)) {
            add_value(line, key, value, separator);
            separator = ", ";
        }
    }
    g_string_append_c(line, '\n');
    return g_string_free(line, FALSE);
}

static char *as_json_line(const char *event, json_t *members) {
    json_auto_t *object = json_pack("{s:i, s:s}", "schema", PRINT_JSON_SCHEMA, "event", event);
    json_object_update(object, members);
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(6));
    char *line = g_strconcat(text, "\n", NULL);
    free(text);
    return line;
}

/* ---- writers ---- */

static bool put_dropped(void) {
    json_auto_t *members = json_pack("{s:I}", "lines", (json_int_t)lines.dropped);
    g_autofree char *line = (lines.as_json ? as_json_line : as_text)("dropped", members);
    return line_writer_write(lines.output, line);
}

static void erase_progress(void) {
    if (lines.has_progress) {
        line_writer_write(lines.errors, PROGRESS_LINE_ERASE);
        lines.has_progress = false;
    }
}

static void emit(const char *line) {
    if (lines.output == NULL) {
        fputs(line, stdout);
        fflush(stdout);
        return;
    }
    erase_progress();
    if (lines.dropped != 0 && line_writer_is_ready(lines.output) && put_dropped()) {
        lines.dropped = 0;
    }
    if (lines.dropped != 0 || !line_writer_write(lines.output, line)) {
        lines.dropped++;
    }
}

static void complain(const char *line) {
    erase_progress();
    lines.dropped_errors += lines.errors == NULL || !line_writer_write(lines.errors, line);
}

static bool is_one_terminal(void) {
    struct stat output;
    struct stat errors;
    return isatty(STDOUT_FILENO) && isatty(STDERR_FILENO) && fstat(STDOUT_FILENO, &output) == 0 &&
           fstat(STDERR_FILENO, &errors) == 0 && output.st_rdev == errors.st_rdev;
}

void live_report_start(bool as_json) {
    lines.as_json = as_json;
    lines.output = line_writer_new(STDOUT_FILENO);
    lines.errors = is_one_terminal() ? lines.output : line_writer_new(STDERR_FILENO);
    progress_line_begin(&lines.progress);
    cli_set_error_sink(complain);
}

bool live_report_stop(void) {
    uint64_t lost;
    if (lines.output == NULL) {
        return true;
    }
    erase_progress();
    if (lines.errors == lines.output) {
        lines.errors = NULL;
    }
    bool good = line_writer_close(lines.output, &lost);
    if (!good) {
        cli_error("standard output: cannot write: %s", g_strerror(errno));
    } else if (lost + lines.dropped != 0) {
        cli_error("standard output: %" G_GUINT64_FORMAT " lines were not written: the reader has stopped reading",
                  lost + lines.dropped);
        good = false;
    }
    cli_set_error_sink(NULL);
    good = line_writer_close(lines.errors, &lost) && lost + lines.dropped_errors == 0 && good;
    memset(&lines, 0, sizeof lines);
    return good;
}

void live_report(bool as_json, const char *event, json_t *members) {
    g_autofree char *line = (as_json ? as_json_line : as_text)(event, members);
    emit(line);
    json_decref(members);
}

bool live_report_progress_is_due(void) {
    return lines.errors != NULL && progress_line_is_due(&lines.progress);
}

void live_report_progress(const char *event, json_t *members) {
    char *line = g_strchomp(as_text(event, members));
    unsigned columns = color_columns(STDERR_FILENO);
    char *shown = columns != 0 ? g_utf8_substring(line, 0, MIN(columns - 1, g_utf8_strlen(line, -1))) : g_strdup(line);
    char *text = g_strconcat(PROGRESS_LINE_ERASE, shown, NULL);
    lines.has_progress = line_writer_write(lines.errors, text);
    lines.progress.shown_us = g_get_monotonic_time();
    g_free(text);
    g_free(shown);
    g_free(line);
    json_decref(members);
}

static json_t *all_counters(const struct ue_counters *counters) {
    json_t *object = json_object();
#define UE_COUNTER(id, sentence) json_object_set_new(object, #id, json_integer((json_int_t)counters->id));
#include <uerudp/counters.def>
#undef UE_COUNTER
    return object;
}

static double percent(uint64_t part, uint64_t whole) {
    return whole != 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* null before the first sample. */
static json_t *rtt_ms(const struct ue_ping *ping) {
    return ping->smoothed_ns != 0 ? json_real((double)ping->smoothed_ns / UE_NS_PER_MS) : json_null();
}

json_t *live_report_connection(const struct ue_conn *conn) {
    const struct ue_counters *counters = ue_conn_counters(conn);
    size_t peak_bytes;
    ue_conn_memory_bytes(conn, &peak_bytes);
    return json_pack("{s:o, s:f, s:I, s:I, s:f, s:f, s:I, s:I, s:I, s:o}", "rtt_ms", rtt_ms(ue_conn_ping(conn)),
                     "jitter_ms", ue_conn_jitter_ms(conn), "out_packets", (json_int_t)counters->out_packets,
                     "in_packets", (json_int_t)counters->in_packets, "out_lost_percent",
                     percent(counters->out_packets_lost, counters->out_packets_lost + counters->out_packets_acked),
                     "in_lost_percent",
                     percent(counters->in_packets_lost, counters->in_packets_lost + counters->in_packets), "resent",
                     (json_int_t)counters->out_bunches_resent, "malformed", (json_int_t)counters->malformed,
                     "memory_bytes", (json_int_t)peak_bytes, "counters", all_counters(counters));
}

json_t *live_report_transport(const struct live_transport *port) {
    struct live_transport_counters counters;
    live_transport_get_counters(port, &counters);
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "in_datagrams", (json_int_t)counters.in_datagrams,
                     "in_bytes", (json_int_t)counters.in_bytes, "out_datagrams", (json_int_t)counters.out_datagrams,
                     "out_bytes", (json_int_t)counters.out_bytes, "impaired", (json_int_t)counters.lost, "too_long",
                     (json_int_t)counters.too_long, "unreachable", (json_int_t)counters.unreachable, "failed",
                     (json_int_t)counters.failed);
}

static void report_listening(bool as_json, const struct net_address *address) {
    char text[NET_ADDRESS_TEXT_BYTES];
    net_address_format(address, text);
    if (as_json) {
        live_report(true, "listening", json_pack("{s:s}", "address", text));
    } else {
        g_autofree char *line = g_strdup_printf("listening on %s\n", text);
        emit(line);
    }
}

void live_report_listening(bool as_json, const struct net_socket *socket) {
    const struct net_address *local = net_socket_local(socket);
    if (net_socket_is_dual(socket)) {
        const struct net_address any4 = {.port = local->port};
        report_listening(as_json, &any4);
    }
    report_listening(as_json, local);
}

json_t *live_report_text(const char *text) {
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_autoptr(GString) shown = g_string_new(NULL);
    for (const char *at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
        gunichar character = g_utf8_get_char(at);
        g_string_append_unichar(shown, text_escape_is_hidden(character) ? 0xfffd : character);
    }
    return json_string(shown->str);
}
