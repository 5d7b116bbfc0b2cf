/* SPDX-License-Identifier: MIT */
/* uerudp info: what happened to each connection of a capture. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "tools/cli/command_line.h"
#include "tools/cli/selection.h"
#include "tools/info/capture_info.h"
#include "tools/info/json.h"
#include "tools/info/text.h"

#define FINDINGS_DEFAULT 5
#define FINDINGS_MAX 1000
#define REAL_DIGITS 9

struct command {
    struct ue_reading reading;
    struct ue_selection selection;
    gboolean json, bits;
    int findings_max;
    struct ue_out out;
};

static void add_options(struct command *command, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &command->json, "JSON Lines, one object per connection, instead of text",
         NULL},
        {"bits", 0, 0, G_OPTION_ARG_NONE, &command->bits,
         "also which header field, control message and channel the bits went to", NULL},
        {"findings", 0, 0, G_OPTION_ARG_INT, &command->findings_max,
         "at most so many findings of each kind, the worst; default 5", "NUMBER"},
        {"hex", 0, 0, G_OPTION_ARG_NONE, &command->reading.is_hex,
         "the files are hex dumps, hex lines or C arrays, not captures", NULL},
        {0},
    };
    GOptionGroup *group = g_option_group_new("output", "What to print:", "Show the options of the output", NULL, NULL);
    g_option_group_add_entries(group, entries);
    g_option_context_add_group(context, group);
    ue_reading_add_live(&command->reading, context);
    ue_selection_add_streams(&command->selection, context);
    ue_wire_options_add(&command->reading.wire, context);
}

static const char description[] =
    "Says of each connection who closed it and why, which reliable bunches came late, who fell silent, what was not\n"
    "delivered, and how the login went; then the figures. Findings come worst first: errors (the connection failed, "
    "or\n"
    "something is broken), warnings (players feel it), notes.\n\n"
    "FILE is a capture (pcap or pcapng, also gzip-compressed), or - for standard input. Several files are read as one\n"
    "capture, and their frames counted through.\n\n"
    "Exit status: 0 no errors found, 1 some finding is an error or a datagram malformed, 2 unusable arguments or "
    "files.\n\n"
    "Examples:\n"
    "  uerudp info game.pcapng\n"
    "  uerudp info --json game.pcapng | jq -r '.findings[].text'\n"
    "  uerudp info --bits --stream 0 game.pcapng\n"
    "  tcpdump -w - -G 60 -W 1 udp port 7777 | uerudp info -";

static bool resolve(struct command *command, int argc) {
    if (!ue_reading_resolve(&command->reading, argc - 1)) {
        return false;
    }
    if (command->findings_max < 1 || command->findings_max > FINDINGS_MAX) {
        ue_complain("--findings=%d: not a number from 1 to %d", command->findings_max, FINDINGS_MAX);
        return false;
    }
    return ue_wire_options_resolve(&command->reading.wire);
}

static void read_all(struct command *command, struct ue_infos *infos) {
    struct ue_seen seen;
    while (ue_reading_next(&command->reading, &seen)) {
        if (ue_selection_takes(&command->selection, seen.connection->stream, &seen.context, seen.bytes,
                               seen.size_bytes)) {
            ue_infos_feed(infos, &seen);
        }
    }
}

static bool flush(struct command *command) {
    bool written = ue_out_flush(&command->out, stdout);
    if (!written) {
        ue_complain("cannot write: %s", g_strerror(errno));
    }
    return written;
}

static int append(const char *text, size_t length, void *user) {
    ue_out_bytes(user, text, length);
    return 0;
}

static bool print_json(struct command *command, const GPtrArray *list) {
    bool written = true;
    for (guint i = 0; written && i < list->len; i++) {
        json_t *object = ue_info_to_json(g_ptr_array_index(list, i));
        json_dump_callback(object, append, &command->out, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
        json_decref(object);
        ue_out_char(&command->out, '\n');
        written = flush(command);
    }
    return written;
}

static bool print(struct command *command, const GPtrArray *list) {
    if (command->json) {
        return print_json(command, list);
    }
    ue_info_print_text(&command->out, list);
    return flush(command);
}

static void print_left_out(const struct command *command, const GPtrArray *list) {
    uint64_t streams = ue_flows_streams(command->reading.flows);
    if (list->len == UE_INFOS_MAX && streams > UE_INFOS_MAX) {
        fprintf(stderr,
                "%d of %" PRIu64 " connections are told of; left out are first those with nothing but handshakes\n",
                UE_INFOS_MAX, streams);
    }
}

static bool has_error(const GPtrArray *list) {
    for (guint i = 0; i < list->len; i++) {
        const struct ue_info *info = g_ptr_array_index(list, i);
        if (ue_findings_has_error(&info->findings)) {
            return true;
        }
    }
    return false;
}

static void name_files(const struct ue_reading *reading, const GPtrArray *list) {
    for (guint i = 0; i < list->len; i++) {
        struct ue_info *info = g_ptr_array_index(list, i);
        info->first_path = ue_reading_path_of(reading, info->first_frame);
        info->last_path = ue_reading_path_of(reading, info->last_frame);
    }
}

static enum ue_exit run(struct command *command, int path_count, char **paths) {
    struct ue_infos *infos = ue_infos_new((unsigned)command->findings_max, command->bits);
    ue_reading_start(&command->reading, path_count, paths);
    read_all(command, infos);
    const GPtrArray *list = ue_infos_finish(infos);
    name_files(&command->reading, list);
    bool written = print(command, list);
    enum ue_exit status = ue_reading_status(&command->reading);
    status = status == UE_EXIT_OK && has_error(list) ? UE_EXIT_MALFORMED : status;
    print_left_out(command, list);
    ue_reading_print_totals(&command->reading);
    ue_infos_free(infos);
    return written ? status : UE_EXIT_UNUSABLE;
}

int ue_cmd_info(int argc, char **argv) {
    struct command command = {.findings_max = FINDINGS_DEFAULT};
    GOptionContext *context = g_option_context_new("FILE... - what happened to each connection, and why");
    ue_reading_init(&command.reading);
    g_option_context_set_description(context, description);
    add_options(&command, context);
    enum ue_exit status = UE_EXIT_UNUSABLE;
    if (ue_cli_parse(context, &argc, &argv) && resolve(&command, argc)) {
        status = run(&command, argc - 1, argv + 1);
    }
    ue_reading_clear(&command.reading);
    ue_selection_clear(&command.selection);
    ue_out_free(&command.out);
    return status;
}
