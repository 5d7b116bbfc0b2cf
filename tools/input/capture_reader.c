/* SPDX-License-Identifier: MIT */
#include "tools/input/capture_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "libcodec/cipher/aes_decryption.h"
#include "tools/cli/command_line.h"
#include "tools/input/datagram_selection.h"
#include "tools/observe/observed_address.h"

#define US_PER_S 1e6
#define SECONDS_MIN 1e-3
#define SECONDS_MAX 1e9
#define MALFORMED_SHOWN 20

void capture_reader_init(struct capture_reader *reader, enum ue_observer_order order) {
    *reader = (struct capture_reader){.order = order};
    wire_options_init(&reader->wire);
}

void capture_reader_init_like(struct capture_reader *reader, const struct capture_reader *other) {
    *reader = (struct capture_reader){
        .wire = other->wire, .is_hex = other->is_hex, .order = other->order, .is_wire_borrowed = true};
    reader->summary.progress.is_silent = true;
}

void capture_reader_clear(struct capture_reader *reader) {
    capture_summary_clear(&reader->summary, reader->observer);
    ue_observer_free(reader->observer);
    if (reader->interfaces != NULL) {
        g_string_chunk_free(reader->interfaces);
        g_byte_array_unref(reader->copy);
    }
    datagram_source_clear(&reader->input);
    if (!reader->is_wire_borrowed) {
        wire_options_clear(&reader->wire);
    }
    g_free(reader->frames_before);
}

static void start_observer(struct capture_reader *reader) {
    struct ue_observer_options options = {.allocator = observe_memory,
                                          .hash_seed = observe_random_seed(),
                                          .order = reader->order,
                                          .gathered_max = UE_OBSERVER_GATHERED_MAX,
                                          .settings = &reader->wire.settings,
                                          .choose = wire_options_choose,
                                          .user = &reader->wire,
                                          .user_bytes = sizeof(struct input_connection)};
    if (reader->wire.cipher != NULL) {
        ue_cipher_decryption(reader->wire.cipher, &reader->decryption);
        options.decryption = &reader->decryption;
    }
    reader->observer = ue_observer_new(&options);
    reader->interfaces = g_string_chunk_new(CAPTURE_INTERFACE_NAME_BYTES);
    reader->copy = g_byte_array_new();
}

void capture_reader_start(struct capture_reader *reader, int path_count, char **paths) {
    bool is_file = reader->live.interface == NULL;
    reader->paths = is_file ? paths : &reader->live.interface;
    reader->path_count = is_file ? path_count : 1;
    reader->frames_before = g_new0(uint64_t, (gsize)reader->path_count);
    start_observer(reader);
    progress_line_begin(&reader->summary.progress);
}

/* ---- options ---- */

void capture_reader_add_live_options(struct capture_reader *reader, GOptionContext *context) {
    struct capture_reader_live *live = &reader->live;
    const GOptionEntry entries[] = {
        {"interface", 'i', 0, G_OPTION_ARG_STRING, &live->interface,
         "capture from a network interface, such as eth0, lo or any, until Ctrl-C, instead of reading files", "NAME"},
        {"filter", 0, 0, G_OPTION_ARG_STRING, &live->filter, "a libpcap capture filter, for example \"udp port 7777\"",
         "TEXT"},
        {"count", 0, 0, G_OPTION_ARG_STRING, &live->count_text, "stop after this number of packets", "NUMBER"},
        {"duration", 0, 0, G_OPTION_ARG_STRING, &live->seconds_text, "stop after this number of seconds", "SECONDS"},
        {0},
    };
    cli_add_options(context, "Live capture:", entries, NULL);
}

static bool resolve_live(struct capture_reader_live *live) {
    bool has_limit = live->count_text != NULL || live->seconds_text != NULL;
    if (live->interface == NULL && (live->filter != NULL || has_limit)) {
        return cli_error("--filter, --count and --duration require --interface");
    }
    return cli_option_number("count", live->count_text, 1, INT64_MAX, &live->count) &&
           cli_option_real("duration", live->seconds_text, SECONDS_MIN, SECONDS_MAX, &live->seconds);
}

bool capture_reader_check_options(struct capture_reader *reader, int path_count) {
    bool is_live = reader->live.interface != NULL;
    if (!is_live && path_count == 0) {
        return cli_error("no file given; see %s --help", g_get_prgname());
    }
    if (is_live && (path_count != 0 || reader->is_hex)) {
        return cli_error("--interface and files exclude each other");
    }
    return resolve_live(&reader->live);
}

/* ---- files ---- */

/* 0 if the size is not known in advance. */
static uint64_t file_bytes(const char *path) {
    struct stat status;
    bool known = strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
    return known ? (uint64_t)status.st_size : 0;
}

static bool listen_to(struct capture_reader *reader) {
    const struct capture_reader_live *live = &reader->live;
    const struct capture_interface_options options = {
        .name = live->interface,
        .filter = live->filter,
        .packets = live->count,
        .duration_us = (int64_t)(live->seconds * US_PER_S),
        .stop = cli_stop_on_signals(),
    };
    return datagram_source_open_interface(&reader->input, &options);
}

const char *capture_reader_path_of(const struct capture_reader *reader, uint64_t frame) {
    int i = reader->next_path - 1;
    while (i > 0 && reader->frames_before[i] >= frame) {
        i--;
    }
    return reader->path_count > 1 && i >= 0 ? reader->paths[i] : NULL;
}

static void report_error(const struct capture_reader *reader, const char *path, const char *effect) {
    if (!reader->summary.progress.is_silent) {
        cli_error("%s: %s%s", path, reader->input.error, effect);
    }
}

static void open_next(struct capture_reader *reader) {
    reader->frames_before[reader->next_path] = reader->input.frame;
    reader->first_point = reader->next_point;
    const char *path = reader->paths[reader->next_path++];
    bool is_live = reader->live.interface != NULL;
    reader->path_bytes = is_live ? 0 : file_bytes(path);
    reader->is_open = is_live ? listen_to(reader) : datagram_source_open(&reader->input, path, reader->is_hex);
    reader->is_any |= reader->is_open;
    if (!reader->is_open) {
        report_error(reader, path, "");
        reader->worst = CLI_EXIT_UNUSABLE;
    }
}

/* The name, valid as long as the reader. */
static const char *interface_of(struct capture_reader *reader, const char *name) {
    if (name == NULL || name[0] == '\0') {
        return NULL;
    }
    if (reader->interface == NULL || strcmp(reader->interface, name) != 0) {
        reader->interface = g_string_chunk_insert_const(reader->interfaces, name);
    }
    return reader->interface;
}

/* Each interface of each file is a capture point. */
static uint32_t point_of(struct capture_reader *reader, uint32_t interface_number) {
    uint32_t point = reader->first_point + interface_number;
    reader->next_point = MAX(reader->next_point, point + 1);
    return point;
}

static void feed(struct capture_reader *reader, const struct source_datagram *datagram) {
    const struct capture_udp *udp = &datagram->udp;
    struct ue_captured_datagram captured = {.frame = datagram->frame,
                                            .time_ns = datagram->time_ns,
                                            .source = observe_address_of(&udp->source),
                                            .destination = observe_address_of(&udp->destination),
                                            .bytes = udp->payload,
                                            .captured_bytes = udp->captured_bytes,
                                            .length_bytes = udp->length_bytes,
                                            .point = point_of(reader, datagram->interface_number),
                                            .tag = interface_of(reader, datagram->interface)};
    struct ue_datagram_record unused;
    captured.is_ours = wire_options_has_server(&reader->wire, &captured.source, &captured.destination);
    ue_observer_feed(reader->observer, &captured, &unused);
}

/* A pipe has no known length, and a live capture no end. */
static void show_progress(struct capture_reader *reader) {
    struct progress_line *progress = &reader->summary.progress;
    uint64_t frames = reader->input.frame;
    if (frames % PROGRESS_LINE_FRAMES != 0 || reader->live.interface != NULL || !progress_line_is_due(progress)) {
        return;
    }
    double share = reader->path_bytes != 0
                       ? (double)datagram_source_consumed_bytes(&reader->input) / (double)reader->path_bytes
                       : -1;
    progress_line_show(progress, share, frames);
}

static void read_one(struct capture_reader *reader) {
    struct source_datagram datagram;
    bool is_udp;
    enum capture_result result = datagram_source_next(&reader->input, &datagram, &is_udp);
    if (result == CAPTURE_PACKET) {
        reader->begin_ns = reader->has_begun ? reader->begin_ns : datagram.time_ns;
        reader->has_begun = true;
        if (is_udp && (!reader->has_one_interface || datagram.interface_number == reader->one_interface)) {
            feed(reader, &datagram);
        }
        show_progress(reader);
        return;
    }
    datagram_source_close(&reader->input);
    reader->is_open = false;
    if (result == CAPTURE_DAMAGED) {
        report_error(reader, reader->paths[reader->next_path - 1], "; the part before it was read");
        reader->worst = CLI_EXIT_UNUSABLE;
    }
}

/* Opens the next file; false if there is nothing left to read. */
static bool advance(struct capture_reader *reader) {
    if (reader->is_open) {
        read_one(reader);
    } else if (reader->next_path < reader->path_count) {
        open_next(reader);
    } else if (!reader->is_over) {
        reader->is_over = true;
        progress_line_finish(&reader->summary.progress, reader->input.frame);
        ue_observer_flush(reader->observer);
    } else {
        return false;
    }
    return true;
}

/* ---- one datagram ---- */

static const struct input_connection *texts_of(const struct ue_observed_connection *connection) {
    struct input_connection *texts = ue_observer_user(connection);
    for (size_t i = 0; i < 2 && texts->addresses[i][0] == '\0'; i++) {
        observe_address_format(&connection->sides[i], texts->addresses[i]);
    }
    return texts;
}

static uint8_t *copy_bytes(struct capture_reader *reader, const struct ue_observed_datagram *observed) {
    g_byte_array_set_size(reader->copy, 0);
    g_byte_array_append(reader->copy, observed->bytes, (guint)observed->size_bytes);
    return reader->copy->data;
}

static void describe(struct capture_reader *reader, const struct ue_observed_datagram *observed,
                     struct input_datagram *captured) {
    captured->observer = reader->observer;
    captured->observed = observed;
    captured->connection = observed->record.connection;
    captured->texts = texts_of(observed->record.connection);
    captured->interface = observed->tag;
    captured->writable = reader->is_writable ? copy_bytes(reader, observed) : NULL;
    captured->bytes = reader->is_writable ? captured->writable : observed->bytes;
    captured->size_bytes = observed->size_bytes;
    captured->context = observed->context;
    captured->role = observed->role;
    captured->is_cut = observed->is_cut;
    captured->is_foreign = observed->is_foreign;
    ue_datagram_decode(&captured->context, captured->bytes, captured->size_bytes, NULL, NULL, &captured->result);
}

void input_datagram_to_print(const struct input_datagram *captured, struct ue_context *context,
                             struct print_datagram *shown) {
    const struct ue_observed_datagram *observed = captured->observed;
    const struct ue_observed_connection *connection = captured->connection;
    const struct ue_decode_state *decode = &observed->record.decode;
    const struct ue_detection_result *detected = ue_detection_result_of(&connection->detection, decode);
    *context = captured->context;
    *shown = (struct print_datagram){
        .frame = observed->frame,
        .time_ns = observed->time_ns,
        .source = captured->texts->addresses[decode->side],
        .destination = captured->texts->addresses[!decode->side],
        .bytes = captured->bytes,
        .size_bytes = captured->size_bytes,
        .captured_bytes = observed->captured_bytes,
        .length_bytes = observed->length_bytes,
        .stream = connection->stream,
        .packet_ids = &decode->packet_ids,
        .profiles = ue_detection_named_profiles(&connection->detection, detected),
        .reason = ue_detection_reason_text((enum ue_detection_reason)detected->reason),
    };
    if (!captured->is_foreign) {
        shown->context = context;
        shown->fault = captured->result.fault;
        shown->canonical = captured->result.canonical;
    }
}

/* "frame 7: malformed: bunch.channel at bit 40: ..."; above a limit nothing is printed. */
static void warn_malformed(struct capture_summary *summary, uint64_t frame, const struct ue_fault *fault) {
    if (summary->malformed > MALFORMED_SHOWN || summary->progress.is_silent) {
        return;
    }
    progress_line_erase(&summary->progress);
    fprintf(stderr, "frame %" PRIu64 ": malformed: %s at bit %zu: %s\n", frame, ue_field_row(fault->field)->name,
            fault->bit, ue_status_text(fault->status));
    if (summary->malformed == MALFORMED_SHOWN) {
        fputs("further malformed datagrams are only counted\n", stderr);
    }
}

static void count(struct capture_summary *summary, struct input_datagram *captured) {
    summary->decoded++;
    captured->listing = capture_summary_on_datagram(summary, captured);
    if (captured->observed->record.decode.is_echo) {
        summary->echoes++;
    } else if (captured->is_foreign) {
        summary->unknown++;
    } else if (captured->is_cut) {
        summary->cut++;
    } else if (captured->result.fault.status != UE_OK) {
        summary->malformed++;
        warn_malformed(summary, captured->observed->frame, &captured->result.fault);
    }
}

bool capture_reader_next(struct capture_reader *reader, struct input_datagram *captured) {
    const struct ue_observed_datagram *observed;
    while ((observed = ue_observer_next(reader->observer)) == NULL) {
        if (!advance(reader)) {
            return false;
        }
    }
    describe(reader, observed, captured);
    count(&reader->summary, captured);
    return true;
}

bool capture_reader_selects(struct capture_reader *reader, const struct selection *selection,
                            const struct input_datagram *captured) {
    bool is_selected = selection_matches(selection, captured, reader->begin_ns);
    reader->summary.compared++;
    reader->summary.selected += is_selected;
    return is_selected;
}

bool capture_reader_is_live(const struct capture_reader *reader) {
    return reader->path_bytes == 0;
}

/* ---- the end ---- */

int64_t capture_reader_end_ns(const struct capture_reader *reader, const struct selection *selection) {
    int64_t end_ns = ue_observer_end_ns(reader->observer);
    bool is_selected = time_range_contains(&selection->range, reader->begin_ns, reader->input.frame, end_ns);
    int64_t known_ns = reader->path_count == 1 ? end_ns : 0;
    return is_selected ? known_ns : UE_FINDINGS_GO_ON;
}

void capture_reader_print_summary(struct capture_reader *reader) {
    if (reader->is_any) {
        capture_summary_print(&reader->summary, &reader->input, reader->observer);
    }
}

void capture_reader_print_totals(struct capture_reader *reader) {
    if (reader->is_any) {
        capture_summary_print_totals(&reader->summary, &reader->input, reader->observer);
    }
}

enum cli_exit capture_reader_exit_status(const struct capture_reader *reader) {
    bool is_suspect = reader->summary.malformed != 0 || capture_summary_is_contradicted(&reader->summary);
    return reader->worst == CLI_EXIT_OK && is_suspect ? CLI_EXIT_MALFORMED : reader->worst;
}
