/* SPDX-License-Identifier: MIT */
/* uerudp decode: prints captured datagrams as text, JSON Lines or columns. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "tools/cli/color.h"
#include "tools/cli/command_line.h"
#include "tools/input/datagram_selection.h"
#include "tools/cli/output_file.h"
#include "tools/cli/suggestion.h"
#include "tools/edit/redactor.h"
#include "tools/events/capture_log.h"
#include "tools/input/capture_reader.h"
#include "tools/input/completed_messages.h"
#include "tools/print/columns.h"
#include "tools/print/json.h"
#include "tools/print/datagram_trace.h"
#include "tools/print/text_tree.h"

/* Output is buffered up to this size, unless somebody is watching. */
#define FLUSH_BYTES 65536

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_COLUMNS, FORMAT_EVENTS, FORMAT_NONE };

struct decode {
    struct capture_reader reader;
    struct selection selection;
    gboolean json, bits, content, quiet, redact;
    const char *fields;
    const char *separator;
    const char *color;
    const char *events;
    const char *project, *project_version;
    gint64 changelist, game_netver;

    enum format format;
    struct print_json json_lines;
    struct print_tree tree;
    struct print_columns columns;
    bool is_terminal; /* somebody is watching the output */
    bool output_failed;
    struct capture_log *log;              /* NULL: none */
    struct completed_messages *completed; /* NULL: not printed */
    struct redactor *redactor;
};

/* ---- options ---- */

static void add_options(struct decode *d, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &d->json, "JSON Lines, one object per datagram, instead of a text tree",
         NULL},
        {"bits", 0, 0, G_OPTION_ARG_NONE, &d->bits,
         "with --json, add \"bits\": [KEY, bit offset, bit length] of each field, in wire order", NULL},
        {"content", 0, 0, G_OPTION_ARG_NONE, &d->content,
         "also decode the content of complete messages, reassembled from partial bunches: exports, actors, content "
         "blocks, voice",
         NULL},
        {"fields", 0, 0, G_OPTION_ARG_STRING, &d->fields,
         "print only these fields, as columns, one line per datagram; help lists the keys", "KEY[,KEY...]"},
        {"separator", 0, 0, G_OPTION_ARG_STRING, &d->separator, "separator of columns: tab (default) or comma", "NAME"},
        {"events", 0, 0, G_OPTION_ARG_FILENAME, &d->events,
         "write an event log of the connections (JSON Lines) to this file, - for standard output, instead of "
         "datagrams",
         "FILE"},
        {"quiet", 0, 0, G_OPTION_ARG_NONE, &d->quiet, "print only the summary", NULL},
        COLOR_OPTION(&d->color),
        {"redact", 0, 0, G_OPTION_ARG_NONE, &d->redact,
         "mask login URLs, tokens, names and unique ids in texts, data and raw bytes; their lengths stay", NULL},
        {"hex", 0, 0, G_OPTION_ARG_NONE, &d->reader.is_hex,
         "the files are hex dumps, hex lines or C arrays, not captures", NULL},
        {"project", 0, 0, G_OPTION_ARG_STRING, &d->project,
         "name of the game's project: derive the engine's network version from the checksum", "NAME"},
        {"project-version", 0, 0, G_OPTION_ARG_STRING, &d->project_version, "version of the project; default 1.0.0.0",
         "TEXT"},
        {"changelist", 0, 0, G_OPTION_ARG_INT64, &d->changelist, "network changelist of the engine build; default 0",
         "NUMBER"},
        {"game-netver", 0, 0, G_OPTION_ARG_INT64, &d->game_netver, "network version of the game; default 0", "NUMBER"},
        {0},
    };
    cli_add_options(context, "What to print:", entries, NULL);
    capture_reader_add_live_options(&d->reader, context);
    selection_add_options(&d->selection, context);
    wire_options_add(&d->reader.wire, context);
}

static const char description[] =
    "FILE is a capture (pcap or pcapng, also gzip-compressed), or - for standard input. Several files are read as one "
    "capture with consecutive frame numbers. A summary goes to stderr.\n\n"
    "KIND is handshake, packet, opaque (encrypted or compressed), malformed, or data (not recognised); or a property "
    "of a packet: empty (no bunch), ack (before 4.22), bunch, control, open, close, reliable, unreliable, partial, "
    "exports.\n\n"
    "Exit status: 0 success, 1 a datagram is malformed, 2 wrong arguments or unusable files.\n\n"
    "Examples:\n"
    "  uerudp decode game.pcapng\n"
    "  uerudp decode --json --channel 0 game.pcapng | jq -c '.bunches[]?.messages[]?'\n"
    "  uerudp decode --fields frame,direction,packet.seq,packet.ack --separator comma game.pcapng\n"
    "  uerudp decode --content --channel 5 game.pcapng\n"
    "  uerudp decode -i eth0 --filter 'udp port 7777' --kind handshake\n"
    "  tcpdump -w - udp port 7777 | uerudp decode --kind handshake -\n"
    "  echo '00 00 28 00 00 00 00 00 0c' | uerudp decode --hex --generation 4.25 -";

static void complain_field(const char *key, const char *wrong) {
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const struct print_columns_key *row = print_columns_keys; row->key != NULL; row++) {
        g_ptr_array_add(names, (char *)row->key);
    }
    suggestion_add_fields(names);
    bool is_unknown = strcmp(wrong, PRINT_COLUMNS_UNKNOWN) == 0;
    g_autofree char *hint = is_unknown ? suggestion_text(key, names, "; --fields help lists all") : g_strdup("");
    cli_error("--fields=%s: %s%s", key, wrong, hint);
}

static bool resolve_columns(struct decode *d) {
    bool comma = d->separator != NULL && strcmp(d->separator, "comma") == 0;
    if (d->separator != NULL && !comma && strcmp(d->separator, "tab") != 0) {
        return cli_error("--separator=%s: must be tab or comma", d->separator);
    }
    d->columns.separator = comma ? ',' : '\t';
    g_auto(GStrv) keys = g_strsplit(d->fields, ",", -1);
    bool good = keys[0] != NULL;
    for (size_t i = 0; good && keys[i] != NULL; i++) {
        const char *wrong = print_columns_add(&d->columns, keys[i]);
        good = wrong == NULL;
        if (!good) {
            complain_field(keys[i], wrong);
        }
    }
    return good;
}

static bool resolve(struct decode *d, int argc) {
    if (!capture_reader_check_options(&d->reader, argc - 1)) {
        return false;
    }
    if (d->bits && !d->json) {
        return cli_error("--bits requires --json");
    }
    if (d->content && (d->quiet || d->events != NULL || d->redact)) {
        return cli_error("--content excludes --quiet, --events and --redact (which does not mask content of messages)");
    }
    if (d->separator != NULL && d->fields == NULL) {
        return cli_error("--separator requires --fields");
    }
    if (d->changelist < 0 || d->changelist > UINT32_MAX || d->game_netver < 0 || d->game_netver > UINT32_MAX) {
        return cli_error("--changelist and --game-netver must be numbers from 0 to 4294967295");
    }
    if ((d->json != 0) + (d->fields != NULL) + (d->quiet != 0) + (d->events != NULL) > 1) {
        return cli_error("--json, --fields, --events and --quiet exclude each other");
    }
    if (d->events != NULL && !selection_is_by_stream(&d->selection)) {
        return cli_error("--events needs whole connections: of the selections, only --stream is allowed");
    }
    d->format = d->events != NULL   ? FORMAT_EVENTS
                : d->quiet          ? FORMAT_NONE
                : d->json           ? FORMAT_JSON
                : d->fields != NULL ? FORMAT_COLUMNS
                                    : FORMAT_TEXT;
    d->json_lines.with_bits = d->bits;
    d->reader.summary.project =
        (struct ue_project){d->project, d->project_version, (uint32_t)d->changelist, (uint32_t)d->game_netver};
    return (d->fields == NULL || resolve_columns(d)) && color_resolve(d->color, &d->tree.page.is_colored) &&
           wire_options_resolve(&d->reader.wire);
}

/* ---- one datagram ---- */

static void learn(void *user, const struct ue_record *record) {
    struct capture_summary_connection *listing = user;
    if (record->field == UE_F_HANDSHAKE_NETWORK_VERSION || record->field == UE_F_CONTROL_HELLO_NETWORK_VERSION) {
        listing->network_version = (uint32_t)record->number;
        listing->has_network_version = true;
    }
}

static void check_project(const struct decode *d, struct capture_summary_connection *listing,
                          const struct print_datagram *shown) {
    if (d->reader.summary.project.name != NULL && listing != NULL && !listing->has_network_version) {
        struct ue_trace sink = {NULL, learn, NULL, listing};
        struct ue_decode_result result;
        ue_datagram_trace(shown->context, shown->bytes, shown->size_bytes, NULL, &sink, &result);
    }
}

static struct text_buffer *output(struct decode *d) {
    switch (d->format) {
    case FORMAT_TEXT: return &d->tree.page;
    case FORMAT_JSON: return &d->json_lines.line;
    case FORMAT_COLUMNS: return &d->columns.lines;
    case FORMAT_EVENTS:
    case FORMAT_NONE: break;
    }
    return NULL;
}

static void flush(struct decode *d) {
    struct text_buffer *out = output(d);
    if (out != NULL && !d->output_failed && !text_buffer_flush(out, stdout)) {
        cli_error("cannot write: %s", g_strerror(errno));
        d->output_failed = true;
    }
}

static void print(struct decode *d, struct print_datagram *shown) {
    switch (d->format) {
    case FORMAT_TEXT: print_tree_datagram(&d->tree, shown); break;
    case FORMAT_COLUMNS: print_columns_datagram(&d->columns, shown); break;
    case FORMAT_JSON:
        shown->raw =
            shown->context != NULL && !print_datagram_roundtrips(shown->context, shown->bytes, shown->captured_bytes);
        print_json_datagram(&d->json_lines, shown);
        break;
    case FORMAT_EVENTS:
    case FORMAT_NONE: return;
    }
    if (d->is_terminal || capture_reader_is_live(&d->reader) || output(d)->length >= FLUSH_BYTES) {
        flush(d);
    }
}

static void redact(struct decode *d, const struct input_datagram *captured, const struct print_datagram *shown) {
    const struct redactor_datagram datagram = {
        .context = shown->context,
        .stream = shown->stream,
        .side = captured->role,
        .bytes = captured->writable,
        .size_bytes = shown->size_bytes,
    };
    redactor_mask(d->redactor, &datagram);
}

static void show(struct decode *d, const struct input_datagram *captured) {
    struct ue_context context;
    struct print_datagram shown;
    input_datagram_to_print(captured, &context, &shown);
    shown.messages = d->completed != NULL ? completed_messages_on_datagram(d->completed, captured) : NULL;
    if (shown.context != NULL) {
        check_project(d, captured->listing, &shown);
    }
    if (capture_reader_selects(&d->reader, &d->selection, captured)) {
        if (d->redact) {
            redact(d, captured, &shown);
        }
        print(d, &shown);
    }
}

/* Event logs need whole connections and contain no personal data. */
static void log_events(struct decode *d, const struct input_datagram *captured) {
    if (capture_reader_selects(&d->reader, &d->selection, captured)) {
        capture_log_on_datagram(d->log, captured);
    }
    if (d->is_terminal || capture_reader_is_live(&d->reader)) {
        capture_log_flush(d->log);
    }
}

static bool open_log(struct decode *d, char **paths) {
    if (d->events == NULL) {
        return true;
    }
    g_autofree char *title = g_strjoinv(" ", paths);
    d->log = capture_log_open(d->events, title, d->redact != FALSE);
    return d->log != NULL;
}

static enum cli_exit run(struct decode *d, int path_count, char **paths) {
    struct input_datagram captured;
    if (!open_log(d, paths)) {
        return CLI_EXIT_UNUSABLE;
    }
    d->completed = d->content ? completed_messages_new() : NULL;
    d->reader.is_writable = d->redact != FALSE;
    d->redactor = redactor_new(d->reader.wire.cipher);
    d->is_terminal = isatty(STDOUT_FILENO);
    capture_reader_start(&d->reader, path_count, paths);
    while (!d->output_failed && capture_reader_next(&d->reader, &captured)) {
        (d->log != NULL ? log_events : show)(d, &captured);
    }
    flush(d);
    d->output_failed |= !capture_log_close(d->log, capture_reader_end_ns(&d->reader, &d->selection), d->reader.is_any);
    capture_reader_print_summary(&d->reader);
    redactor_report(redactor_counts(d->redactor));
    return d->output_failed ? CLI_EXIT_UNUSABLE : capture_reader_exit_status(&d->reader);
}

static enum cli_exit list_fields(struct decode *d) {
    d->format = FORMAT_COLUMNS;
    print_columns_list(&d->columns.lines);
    flush(d);
    return d->output_failed ? CLI_EXIT_UNUSABLE : CLI_EXIT_OK;
}

static void clear(struct decode *d) {
    capture_reader_clear(&d->reader);
    g_clear_pointer(&d->completed, completed_messages_free);
    redactor_free(d->redactor);
    print_json_free(&d->json_lines);
    print_tree_free(&d->tree);
    print_columns_free(&d->columns);
    selection_clear(&d->selection);
}

int cmd_decode(int argc, char **argv) {
    struct decode d = {0};
    GOptionContext *context = g_option_context_new("[FILE...] - print captured datagrams");
    capture_reader_init(&d.reader, UE_OBSERVER_IN_CAPTURE_ORDER);
    g_option_context_set_description(context, description);
    add_options(&d, context);
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    bool is_parsed = cli_parse(context, &argc, &argv);
    if (is_parsed && g_strcmp0(d.fields, "help") == 0) {
        status = list_fields(&d);
    } else if (is_parsed && resolve(&d, argc)) {
        output_file_protect(argc - 1, argv + 1);
        status = run(&d, argc - 1, argv + 1);
    }
    clear(&d);
    return status;
}
