/* SPDX-License-Identifier: MIT */
/* uerudp decode: captured datagrams as text, JSON Lines or columns. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/cli.h"
#include "tools/flows.h"
#include "tools/print/columns.h"
#include "tools/print/json.h"
#include "tools/print/text.h"
#include "tools/redact.h"
#include "tools/roundtrip.h"
#include "tools/select.h"
#include "tools/summary.h"

/* Output waits for this much of it, unless somebody is watching. */
#define FLUSH_BYTES 65536

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_COLUMNS, FORMAT_NONE };

struct decode {
    struct ue_wire_options wire;
    struct ue_selection selection;
    gboolean json, bits, quiet, redact, hex;
    char *fields;
    char *separator;
    char *project, *project_version;
    gint64 changelist, game_netver;

    enum format format;
    struct ue_json json_lines;
    struct ue_text_tree tree;
    struct ue_columns columns;
    bool is_watched; /* every datagram is written at once */
    bool output_failed;
    bool opened; /* at least one file */
    struct ue_input input;
    struct ue_flows *flows;
    struct ue_summary summary;
};

/* ---- options ---- */

static void add_options(struct decode *d, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &d->json, "JSON Lines, one object per datagram, instead of a text tree",
         NULL},
        {"bits", 0, 0, G_OPTION_ARG_NONE, &d->bits,
         "with --json, add \"bits\": [KEY, bit offset, bit length] of each field, in wire order", NULL},
        {"fields", 0, 0, G_OPTION_ARG_STRING, &d->fields, "only these fields, as columns, one line per datagram",
         "KEY[,KEY...]"},
        {"separator", 0, 0, G_OPTION_ARG_STRING, &d->separator, "between columns: tab (default) or comma", "NAME"},
        {"quiet", 0, 0, G_OPTION_ARG_NONE, &d->quiet, "only the summary", NULL},
        {"redact", 0, 0, G_OPTION_ARG_NONE, &d->redact,
         "mask login URLs, tokens, names and unique ids at their length, in texts, data and raw bytes", NULL},
        {"hex", 0, 0, G_OPTION_ARG_NONE, &d->hex, "the files are hex dumps, hex lines or C arrays, not captures", NULL},
        {"project", 0, 0, G_OPTION_ARG_STRING, &d->project,
         "name of the game's project: learn the engine's network version from its checksum", "NAME"},
        {"project-version", 0, 0, G_OPTION_ARG_STRING, &d->project_version, "version of the project; default 1.0.0.0",
         "TEXT"},
        {"changelist", 0, 0, G_OPTION_ARG_INT64, &d->changelist, "network changelist of the engine build; default 0",
         "NUMBER"},
        {"game-netver", 0, 0, G_OPTION_ARG_INT64, &d->game_netver, "network version of the game; default 0", "NUMBER"},
        {0},
    };
    GOptionGroup *group = g_option_group_new("output", "What to print:", "Show the options of the output", NULL, NULL);
    g_option_group_add_entries(group, entries);
    g_option_context_add_group(context, group);
    ue_selection_add(&d->selection, context);
    ue_wire_options_add(&d->wire, context);
}

static const char description[] =
    "FILE is a capture (pcap or pcapng, also gzip-compressed), or - for standard input. Several files are read as one\n"
    "capture, and their frames counted through. A summary goes to stderr.\n\n"
    "KIND is handshake, packet, opaque (encrypted or compressed), malformed, data (of no known form); or says what a\n"
    "packet has: empty (no bunch), ack (before 4.22), bunch, control, open, close, reliable, unreliable, partial, "
    "exports.\n\n"
    "Exit status: 0 all well, 1 something was malformed, 2 unusable arguments or files.\n\n"
    "Examples:\n"
    "  uerudp decode game.pcapng\n"
    "  uerudp decode --json --channel 0 game.pcapng | jq -c '.bunches[]?.messages[]?'\n"
    "  uerudp decode --fields frame,direction,packet.seq,packet.ack --separator comma game.pcapng\n"
    "  tcpdump -w - udp port 7777 | uerudp decode --kind handshake -\n"
    "  echo '00 00 28 00 00 00 00 00 0c' | uerudp decode --hex --generation 4.25 -";

static bool resolve_columns(struct decode *d) {
    bool comma = d->separator != NULL && strcmp(d->separator, "comma") == 0;
    if (d->separator != NULL && !comma && strcmp(d->separator, "tab") != 0) {
        ue_complain("--separator=%s: neither tab nor comma", d->separator);
        return false;
    }
    d->columns.separator = comma ? ',' : '\t';
    char **keys = g_strsplit(d->fields, ",", -1);
    bool good = keys[0] != NULL;
    for (size_t i = 0; good && keys[i] != NULL; i++) {
        good = ue_columns_add(&d->columns, keys[i]);
        if (!good) {
            ue_complain("--fields: there is no field '%s'", keys[i]);
        }
    }
    g_strfreev(keys);
    return good;
}

static bool resolve(struct decode *d, int argc) {
    if (argc < 2) {
        ue_complain("no file given; see uerudp decode --help");
        return false;
    }
    if (d->bits && !d->json) {
        ue_complain("--bits goes with --json");
        return false;
    }
    if (d->separator != NULL && d->fields == NULL) {
        ue_complain("--separator goes with --fields");
        return false;
    }
    if (d->changelist < 0 || d->changelist > UINT32_MAX || d->game_netver < 0 || d->game_netver > UINT32_MAX) {
        ue_complain("--changelist and --game-netver are numbers of 32 bits");
        return false;
    }
    if ((d->json != 0) + (d->fields != NULL) + (d->quiet != 0) > 1) {
        ue_complain("--json, --fields and --quiet exclude each other");
        return false;
    }
    d->format = d->quiet ? FORMAT_NONE : d->json ? FORMAT_JSON : d->fields != NULL ? FORMAT_COLUMNS : FORMAT_TEXT;
    d->json_lines.with_bits = d->bits;
    d->summary.project =
        (struct ue_project){d->project, d->project_version, (uint32_t)d->changelist, (uint32_t)d->game_netver};
    return (d->fields == NULL || resolve_columns(d)) && ue_wire_options_resolve(&d->wire);
}

/* ---- one datagram ---- */

/* A datagram on a server port that fits nothing is somebody else's. */
static bool is_foreign(const struct ue_connection *connection, const struct ue_frame *frame,
                       const struct ue_verdict *verdict) {
    const struct ue_choice *choice = ue_flow_choice(&connection->flow, frame);
    bool doubtful = choice->reason == UE_REASON_NONE || choice->reason == UE_REASON_CLOSEST;
    return verdict->fault.status != UE_OK && doubtful && !connection->has_handshake;
}

static void learn(void *user, const struct ue_record *record) {
    struct ue_listing *listing = user;
    if (record->field == UE_F_HANDSHAKE_NETWORK_VERSION || record->field == UE_F_CONTROL_HELLO_NETWORK_VERSION) {
        listing->network_version = (uint32_t)record->number;
        listing->has_network_version = true;
    }
}

static void learn_engine(const struct decode *d, struct ue_listing *listing, const struct ue_shown *shown) {
    if (d->summary.project.name != NULL && listing != NULL && !listing->has_network_version) {
        struct ue_sink sink = {NULL, learn, NULL, listing};
        struct ue_verdict verdict;
        ue_datagram_trace(shown->context, shown->bytes, shown->size_bytes, NULL, &sink, &verdict);
    }
}

static struct ue_out *output(struct decode *d) {
    switch (d->format) {
    case FORMAT_TEXT: return &d->tree.page;
    case FORMAT_JSON: return &d->json_lines.line;
    case FORMAT_COLUMNS: return &d->columns.lines;
    case FORMAT_NONE: break;
    }
    return NULL;
}

static void flush(struct decode *d) {
    struct ue_out *out = output(d);
    if (out != NULL && !d->output_failed && !ue_out_flush(out, stdout)) {
        ue_complain("cannot write: %s", g_strerror(errno));
        d->output_failed = true;
    }
}

static void print(struct decode *d, struct ue_shown *shown) {
    switch (d->format) {
    case FORMAT_TEXT: ue_text_print(&d->tree, shown); break;
    case FORMAT_COLUMNS: ue_columns_print(&d->columns, shown); break;
    case FORMAT_JSON:
        shown->raw = shown->context != NULL && !ue_roundtrip_holds(shown->context, shown->bytes, shown->captured_bytes);
        ue_json_print(&d->json_lines, shown);
        break;
    case FORMAT_NONE: return;
    }
    if (d->is_watched || output(d)->length >= FLUSH_BYTES) {
        flush(d);
    }
}

static void redact(const struct ue_held *held, struct ue_context *context, const struct ue_shown *shown) {
    context->settings.opener = NULL; /* decrypted content cannot be masked in the encrypted bytes */
    if (shown->context != NULL) {
        ue_redact(context, held->bytes, shown->size_bytes);
    } else {
        ue_redact_all(held->bytes, shown->captured_bytes);
    }
}

static void count(struct decode *d, const struct ue_held *held, const struct ue_shown *shown) {
    d->summary.decoded++;
    if (shown->context == NULL) {
        d->summary.unknown++;
    } else if (ue_shown_is_cut(shown)) {
        d->summary.cut++;
    } else if (shown->fault.status != UE_OK) {
        ue_summary_malformed(&d->summary, held->frame, &shown->fault);
    }
}

static void show(struct decode *d, const struct ue_held *held) {
    struct ue_connection *connection = held->connection;
    struct ue_context context;
    struct ue_verdict verdict;
    ue_flow_context(&connection->flow, &held->link, &context);
    struct ue_shown shown = {
        .frame = held->frame,
        .time_ns = held->time_ns,
        .source = connection->texts[held->side],
        .destination = connection->texts[!held->side],
        .bytes = held->bytes,
        .size_bytes = held->captured_bytes,
        .captured_bytes = held->captured_bytes,
        .length_bytes = held->length_bytes,
        .stream = connection->stream,
        .links = &held->link.links,
        .reason = ue_reason_text((enum ue_reason)ue_flow_choice(&connection->flow, &held->link)->reason),
    };
    if (ue_shown_is_cut(&shown)) {
        held->bytes[shown.size_bytes++] = context.settings.terminators > 1 ? 3 : 1;
    }
    ue_datagram_check(&context, shown.bytes, shown.size_bytes, NULL, &verdict);
    shown.context = is_foreign(connection, &held->link, &verdict) ? NULL : &context;
    if (shown.context != NULL) {
        shown.fault = verdict.fault;
        shown.canonical = verdict.canonical;
    }
    count(d, held, &shown);
    if (shown.context != NULL) {
        learn_engine(d, connection->listing, &shown);
    }
    if (ue_selection_takes(&d->selection, shown.stream, shown.context, shown.bytes, shown.size_bytes)) {
        if (d->redact) {
            redact(held, &context, &shown);
        }
        print(d, &shown);
    }
}

/* ---- files ---- */

static void show_ready(struct decode *d) {
    const struct ue_held *held;
    while ((held = ue_flows_next(d->flows)) != NULL && !d->output_failed) {
        show(d, held);
    }
}

/* 0 where the size is not known beforehand. */
static uint64_t file_bytes(const char *path) {
    struct stat status;
    bool known = strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
    return known ? (uint64_t)status.st_size : 0;
}

static enum ue_exit read_file(struct decode *d, const char *path) {
    struct ue_input_datagram datagram;
    enum ue_capture_result result;
    uint64_t bytes = file_bytes(path);
    if (!ue_input_open(&d->input, path, d->hex)) {
        ue_complain("%s: %s", path, d->input.error);
        return UE_EXIT_UNUSABLE;
    }
    d->opened = true;
    d->is_watched = isatty(STDOUT_FILENO) || bytes == 0;
    while ((result = ue_input_next(&d->input, &datagram)) == UE_CAPTURE_PACKET && !d->output_failed) {
        ue_flows_feed(d->flows, &datagram);
        show_ready(d);
        ue_summary_progress(&d->summary, &d->input, bytes);
    }
    ue_input_close(&d->input);
    if (result == UE_CAPTURE_DAMAGED) {
        ue_complain("%s: %s; what comes before it was read", path, d->input.error);
        return UE_EXIT_UNUSABLE;
    }
    return UE_EXIT_OK;
}

static enum ue_exit run(struct decode *d, int files, char **paths) {
    enum ue_exit worst = UE_EXIT_OK;
    d->flows = ue_flows_new(&d->wire);
    d->summary.begun_us = g_get_monotonic_time();
    for (int i = 0; i < files && !d->output_failed; i++) {
        enum ue_exit status = read_file(d, paths[i]);
        worst = status > worst ? status : worst;
    }
    ue_flows_end(d->flows);
    show_ready(d);
    flush(d);
    worst = d->output_failed ? UE_EXIT_UNUSABLE : worst;
    if (d->opened) {
        ue_summary_print(&d->summary, &d->input, d->flows);
    }
    ue_flows_free(d->flows);
    return worst == UE_EXIT_OK && d->summary.malformed != 0 ? UE_EXIT_MALFORMED : worst;
}

static void clear(struct decode *d) {
    ue_input_clear(&d->input);
    ue_json_free(&d->json_lines);
    ue_text_free(&d->tree);
    ue_columns_free(&d->columns);
    ue_selection_clear(&d->selection);
    ue_wire_options_clear(&d->wire);
    g_free(d->fields);
    g_free(d->separator);
    g_free(d->project);
    g_free(d->project_version);
}

int ue_cmd_decode(int argc, char **argv) {
    struct decode d = {0};
    GOptionContext *context = g_option_context_new("FILE... - show captured datagrams");
    ue_wire_options_init(&d.wire);
    g_option_context_set_description(context, description);
    add_options(&d, context);
    enum ue_exit status = UE_EXIT_UNUSABLE;
    if (ue_cli_parse(context, &argc, &argv) && resolve(&d, argc)) {
        status = run(&d, argc - 1, argv + 1);
    }
    clear(&d);
    return status;
}
