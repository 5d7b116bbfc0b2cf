/* SPDX-License-Identifier: MIT */
#include "tools/input/capture_reader.h"

#include <string.h>
#include <sys/stat.h>

#include "tools/cli/stop_signal.h"

#define NS_PER_S 1e9
#define SECONDS_MIN 1e-3
#define SECONDS_MAX 1e9

void capture_reader_init(struct capture_reader *reading) {
    *reading = (struct capture_reader){0};
    wire_options_init(&reading->wire);
}

void capture_reader_clear(struct capture_reader *reading) {
    if (reading->flows != NULL) {
        connection_table_free(reading->flows);
    }
    datagram_source_clear(&reading->input);
    wire_options_clear(&reading->wire);
    g_free(reading->frames_before);
    g_free(reading->live.interface);
    g_free(reading->live.filter);
    g_free(reading->live.count_text);
    g_free(reading->live.seconds_text);
}

void capture_reader_start(struct capture_reader *reading, int path_count, char **paths) {
    bool is_file = reading->live.interface == NULL;
    reading->paths = is_file ? paths : &reading->live.interface;
    reading->path_count = is_file ? path_count : 1;
    reading->frames_before = g_new0(uint64_t, (gsize)reading->path_count);
    reading->flows = connection_table_new(&reading->wire);
    reading->summary.begun_us = g_get_monotonic_time();
}

/* ---- options ---- */

void capture_reader_add_live_options(struct capture_reader *reading, GOptionContext *context) {
    struct capture_reader_live *live = &reading->live;
    const GOptionEntry entries[] = {
        {"interface", 'i', 0, G_OPTION_ARG_STRING, &live->interface,
         "capture what passes a network interface, such as eth0, lo or any, until Ctrl-C, instead of reading files",
         "NAME"},
        {"filter", 0, 0, G_OPTION_ARG_STRING, &live->filter,
         "only packets that match, in the language of tcpdump, for example \"udp port 7777\"", "TEXT"},
        {"count", 0, 0, G_OPTION_ARG_STRING, &live->count_text, "end after so many packets", "NUMBER"},
        {"duration", 0, 0, G_OPTION_ARG_STRING, &live->seconds_text, "end after so many seconds", "SECONDS"},
        {0},
    };
    GOptionGroup *group =
        g_option_group_new("capture", "Live capture:", "Show the options of live capture", NULL, NULL);
    g_option_group_add_entries(group, entries);
    g_option_context_add_group(context, group);
}

static bool resolve_live(struct capture_reader_live *live) {
    bool has_limit = live->count_text != NULL || live->seconds_text != NULL;
    if (live->interface == NULL && (live->filter != NULL || has_limit)) {
        cli_error("--filter, --count and --duration go with --interface");
        return false;
    }
    return cli_option_number("count", live->count_text, 1, INT64_MAX, &live->count) &&
           cli_option_real("duration", live->seconds_text, SECONDS_MIN, SECONDS_MAX, &live->seconds);
}

bool capture_reader_check_options(struct capture_reader *reading, int path_count) {
    bool is_live = reading->live.interface != NULL;
    if (!is_live && path_count == 0) {
        cli_error("no file given; see %s --help", g_get_prgname());
        return false;
    }
    if (is_live && (path_count != 0 || reading->is_hex)) {
        cli_error("--interface and files exclude each other");
        return false;
    }
    return resolve_live(&reading->live);
}

/* ---- files ---- */

/* 0 where the size is not known beforehand. */
static uint64_t file_bytes(const char *path) {
    struct stat status;
    bool known = strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
    return known ? (uint64_t)status.st_size : 0;
}

static bool listen_to(struct capture_reader *reading) {
    const struct capture_reader_live *live = &reading->live;
    const struct capture_interface_options options = {
        .name = live->interface,
        .filter = live->filter,
        .packets = live->count,
        .duration_ns = (uint64_t)(live->seconds * NS_PER_S),
        .stop = cli_stop_on_signals(),
    };
    return datagram_source_open_interface(&reading->input, &options);
}

const char *capture_reader_path_of(const struct capture_reader *reading, uint64_t frame) {
    int i = reading->next_path - 1;
    while (i > 0 && reading->frames_before[i] >= frame) {
        i--;
    }
    return reading->path_count > 1 && i >= 0 ? reading->paths[i] : NULL;
}

static void open_next(struct capture_reader *reading) {
    reading->frames_before[reading->next_path] = reading->input.frame;
    const char *path = reading->paths[reading->next_path++];
    bool is_live = reading->live.interface != NULL;
    reading->path_bytes = is_live ? 0 : file_bytes(path);
    reading->is_open = is_live ? listen_to(reading) : datagram_source_open(&reading->input, path, reading->is_hex);
    reading->is_any |= reading->is_open;
    if (!reading->is_open) {
        cli_error("%s: %s", path, reading->input.error);
        reading->worst = CLI_EXIT_UNUSABLE;
    }
}

static void read_one(struct capture_reader *reading) {
    struct source_datagram datagram;
    bool is_udp;
    enum capture_result result = datagram_source_next_packet(&reading->input, &datagram, &is_udp);
    if (result == CAPTURE_PACKET) {
        if (is_udp) {
            connection_table_add(reading->flows, &datagram);
        }
        capture_summary_show_progress(&reading->summary, &reading->input, reading->path_bytes);
        return;
    }
    datagram_source_close(&reading->input);
    reading->is_open = false;
    if (result == CAPTURE_DAMAGED) {
        cli_error("%s: %s; what comes before it was read", reading->paths[reading->next_path - 1],
                    reading->input.error);
        reading->worst = CLI_EXIT_UNUSABLE;
    }
}

/* False: there is nothing left to read. */
static bool advance(struct capture_reader *reading) {
    if (reading->is_open) {
        read_one(reading);
    } else if (reading->next_path < reading->path_count) {
        open_next(reading);
    } else if (!reading->is_over) {
        reading->is_over = true;
        connection_table_flush(reading->flows);
    } else {
        return false;
    }
    return true;
}

/* ---- one datagram ---- */

static void look(const struct observe_datagram *held, struct input_datagram *seen) {
    seen->held = held;
    seen->connection = held->connection;
    seen->bytes = held->bytes;
    seen->size_bytes = held->captured_bytes;
    seen->is_cut = held->captured_bytes < held->length_bytes;
    ue_detection_context(&seen->connection->flow, &held->link, &seen->context);
    if (seen->is_cut) {
        held->bytes[seen->size_bytes++] = seen->context.settings.terminators > 1 ? 3 : 1;
    }
    seen->role =
        seen->context.direction == UE_DIRECTION_UNKNOWN ? held->side : seen->context.direction == UE_SERVER_TO_CLIENT;
    ue_datagram_check(&seen->context, seen->bytes, seen->size_bytes, NULL, &seen->verdict);
    seen->is_foreign = ue_detection_is_foreign(&seen->connection->flow, &held->link, seen->bytes, seen->size_bytes);
}

void input_datagram_to_print(const struct input_datagram *seen, struct ue_context *context, struct print_datagram *shown) {
    const struct observe_datagram *held = seen->held;
    const struct observe_connection *connection = seen->connection;
    *context = seen->context;
    *shown = (struct print_datagram){
        .frame = held->frame,
        .time_ns = held->time_ns,
        .source = connection->texts[held->side],
        .destination = connection->texts[!held->side],
        .bytes = seen->bytes,
        .size_bytes = seen->size_bytes,
        .captured_bytes = held->captured_bytes,
        .length_bytes = held->length_bytes,
        .stream = connection->stream,
        .links = &held->link.links,
        .reason = ue_detection_reason_text((enum ue_detection_reason)ue_detection_result_of(&connection->flow, &held->link)->reason),
    };
    if (!seen->is_foreign) {
        shown->context = context;
        shown->fault = seen->verdict.fault;
        shown->canonical = seen->verdict.canonical;
    }
}

static void count(struct capture_summary *summary, const struct input_datagram *seen) {
    summary->decoded++;
    if (seen->is_foreign) {
        summary->unknown++;
    } else if (seen->is_cut) {
        summary->cut++;
    } else if (seen->verdict.fault.status != UE_OK) {
        capture_summary_report_malformed(summary, seen->held->frame, &seen->verdict.fault);
    }
}

bool capture_reader_next(struct capture_reader *reading, struct input_datagram *seen) {
    const struct observe_datagram *held;
    while ((held = connection_table_next(reading->flows)) == NULL) {
        if (!advance(reading)) {
            return false;
        }
    }
    look(held, seen);
    count(&reading->summary, seen);
    return true;
}

bool capture_reader_is_live(const struct capture_reader *reading) {
    return reading->path_bytes == 0;
}

/* ---- the end ---- */

void capture_reader_print_summary(struct capture_reader *reading) {
    if (reading->is_any) {
        capture_summary_print(&reading->summary, &reading->input, reading->flows);
    }
}

void capture_reader_print_totals(struct capture_reader *reading) {
    if (reading->is_any) {
        capture_summary_print_totals(&reading->summary, &reading->input, reading->flows);
    }
}

enum cli_exit capture_reader_exit_status(const struct capture_reader *reading) {
    return reading->worst == CLI_EXIT_OK && reading->summary.malformed != 0 ? CLI_EXIT_MALFORMED : reading->worst;
}
