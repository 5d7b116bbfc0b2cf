/* SPDX-License-Identifier: MIT */
/* uerudp encode: writes JSON Lines or hex texts as a capture. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <uerudp/version.h>

#include "tools/capture/pcapng_writer.h"
#include "tools/cli/command_line.h"
#include "tools/cli/output_file.h"
#include "tools/cli/progress_line.h"
#include "tools/input/datagram_source.h"
#include "tools/input/json_datagram.h"
#include "tools/input/json_reader.h"
#include "tools/print/text_buffer.h"

struct encode {
    struct wire_options wire;
    gboolean hex, from_hex;
    const char *path;
    const char *source, *destination;

    struct output_file output;
    struct pcapng_writer writer;
    uint32_t interface;
    struct text_buffer line;               /* of hex text */
    int64_t time_ns;                       /* of the previous datagram; -1: none */
    struct datagram_source input;          /* with from_hex, of all files */
    struct capture_address client, server; /* of its datagrams */
    struct input_json_datagram datagram;
    struct progress_line progress;
    uint64_t frames; /* read from JSON */
};

static const char description[] =
    "FILE holds JSON objects as uerudp decode --json prints them, or written by hand, one after the other; - or no "
    "FILE is standard input. Missing keys get the values that a sender would write; if raw is present, it is used "
    "instead of all fields, and data is used instead of messages.\n\n"
    "With --from-hex, FILE is a hex text as for decode --hex: dumps, lines of hex, C arrays. C> or O before a datagram "
    "marks it as sent by the client, S> or I by the server; a time may follow, such as 12:34:56.789.\n\n"
    "Exit status: 0 success, 2 wrong arguments, files or values (the message names line and key).\n\n"
    "Examples:\n"
    "  uerudp decode --json game.pcapng | uerudp encode --output again.pcapng\n"
    "  uerudp encode --from-hex --output game.pcapng game.hex\n"
    "  echo '{\"bunches\":[{\"open\":true,\"reliable\":true,\"messages\":[{\"hello\":{}}]}]}' | uerudp encode --hex";

static bool begin(struct encode *e) {
    if (!output_file_open(&e->output, e->path)) {
        return false;
    }
    if (e->hex) {
        return true;
    }
    if (output_file_is_terminal(&e->output)) {
        cli_error("a capture cannot be written to a terminal; use --output, a pipe, or --hex");
        return output_file_close(&e->output, false);
    }
    pcapng_writer_begin(&e->writer, e->output.file, "uerudp " UE_VERSION);
    e->interface = pcapng_writer_add_interface(&e->writer, CAPTURE_LINK_ETHERNET, NULL);
    return true;
}

static bool end(struct encode *e, bool good) {
    return output_file_close(&e->output, (e->hex || pcapng_writer_finish(&e->writer)) && good);
}

static void write_datagram(struct encode *e) {
    const struct input_json_datagram *d = &e->datagram;
    if (!e->hex) {
        pcapng_writer_add_datagram(&e->writer, e->interface, d->time_ns, &d->source, &d->destination, d->bytes,
                                   d->size_bytes, NULL);
        return;
    }
    text_buffer_add(&e->line, d->from_server ? "S> " : "C> ");
    text_buffer_add_hex_view(&e->line, (struct ue_view){d->bytes, 0, d->size_bytes * 8}, SIZE_MAX);
    text_buffer_add_char(&e->line, '\n');
    text_buffer_flush(&e->line, e->output.file);
}

static void write_hex_datagram(struct encode *e, const struct source_datagram *from) {
    struct input_json_datagram *d = &e->datagram;
    d->from_server = hex_text_is_from_server(e->input.hex);
    d->source = d->from_server ? e->server : e->client;
    d->destination = d->from_server ? e->client : e->server;
    d->time_ns = from->time_ns;
    d->size_bytes = from->udp.captured_bytes;
    memcpy(d->bytes, from->udp.payload, d->size_bytes);
    write_datagram(e);
}

static bool encode_hex(struct encode *e, const char *path) {
    struct source_datagram from;
    bool is_udp;
    enum capture_result result = CAPTURE_DAMAGED;
    if (datagram_source_open(&e->input, path, true)) {
        while ((result = datagram_source_next(&e->input, &from, &is_udp)) == CAPTURE_PACKET) {
            write_hex_datagram(e, &from);
        }
    }
    if (result == CAPTURE_DAMAGED) {
        cli_error("%s: %s", path, e->input.error);
    }
    datagram_source_close(&e->input);
    return result == CAPTURE_END;
}

/* A pipe has no known length. */
static void show_progress(struct encode *e, FILE *file) {
    struct stat status;
    if (++e->frames % PROGRESS_LINE_FRAMES == 0 && progress_line_is_due(&e->progress)) {
        bool is_file = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
        progress_line_show(&e->progress, is_file ? (double)ftell(file) / (double)status.st_size : -1, e->frames);
    }
}

static bool encode_json(struct encode *e, const char *path) {
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "r");
    if (file == NULL) {
        return cli_error("%s: %s", path, g_strerror(errno));
    }
    struct input_json_reader stream;
    json_t *object;
    bool good = true;
    input_json_reader_init(&stream, file);
    progress_line_begin(&e->progress);
    while (good && (object = input_json_reader_next(&stream)) != NULL) {
        good = input_json_encode(&e->wire, object, e->time_ns, &e->datagram);
        if (good) {
            e->time_ns = e->datagram.time_ns;
            write_datagram(e);
            show_progress(e, file);
        } else {
            cli_error("%s:%zu: %s", path, stream.begin_line, e->datagram.error);
        }
        json_decref(object);
    }
    if (stream.error[0] != '\0') {
        cli_error("%s:%zu: %s", path, stream.begin_line, stream.error);
        good = false;
    }
    progress_line_finish(&e->progress, e->frames);
    if (!is_stdin) {
        fclose(file);
    }
    return good;
}

static enum cli_exit run(struct encode *e, int files, char **paths) {
    char dash[] = "-";
    char *standard_input[] = {dash, NULL};
    if (files == 0) {
        files = 1;
        paths = standard_input;
    }
    if (!begin(e)) {
        return CLI_EXIT_UNUSABLE;
    }
    bool good = true;
    for (int i = 0; i < files && good; i++) {
        good = (e->from_hex ? encode_hex : encode_json)(e, paths[i]);
    }
    return end(e, good) ? CLI_EXIT_OK : CLI_EXIT_UNUSABLE;
}

static void add_options(struct encode *e, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &e->path, "write to this file instead of standard output", "FILE"},
        {"hex", 0, 0, G_OPTION_ARG_NONE, &e->hex, "write lines of hex for uerudp decode --hex instead of pcapng", NULL},
        {0},
    };
    const GOptionEntry hex_entries[] = {
        {"from-hex", 0, 0, G_OPTION_ARG_NONE, &e->from_hex, "the files are hex dumps, hex lines or C arrays, not JSON",
         NULL},
        {"src", 0, 0, G_OPTION_ARG_STRING, &e->source,
         "with --from-hex, the client's address; default " INPUT_JSON_DEFAULT_CLIENT ", and for IPv6 as in [::1]:50000",
         "ADDRESS:PORT"},
        {"dst", 0, 0, G_OPTION_ARG_STRING, &e->destination,
         "with --from-hex, the server's address; default " INPUT_JSON_DEFAULT_SERVER, "ADDRESS:PORT"},
        {0},
    };
    cli_add_options(context, "Input:", hex_entries, NULL);
    cli_add_options(context, "Output:", entries, NULL);
    wire_options_add(&e->wire, context);
}

static bool resolve_address(const char *option, const char *text, const char *otherwise,
                            struct capture_address *address) {
    bool good = capture_address_parse(text != NULL ? text : otherwise, address);
    if (!good) {
        cli_error("--%s=%s: must be an address with a port", option, text);
    }
    return good;
}

static bool resolve_addresses(struct encode *e) {
    if (!e->from_hex && (e->source != NULL || e->destination != NULL)) {
        return cli_error("--src and --dst require --from-hex; JSON has its own src and dst");
    }
    if (!resolve_address("src", e->source, INPUT_JSON_DEFAULT_CLIENT, &e->client) ||
        !resolve_address("dst", e->destination, INPUT_JSON_DEFAULT_SERVER, &e->server)) {
        return false;
    }
    if (e->client.family != e->server.family) {
        return cli_error("--src and --dst must both be IPv4 or both be IPv6; the defaults are IPv4");
    }
    return true;
}

int cmd_encode(int argc, char **argv) {
    struct encode *e = g_new0(struct encode, 1);
    GOptionContext *context = g_option_context_new("[FILE...] - write JSON Lines or hex dumps as a capture");
    wire_options_init(&e->wire);
    e->time_ns = -1;
    g_option_context_set_description(context, description);
    add_options(e, context);
    enum cli_exit status = CLI_EXIT_UNUSABLE;
    if (cli_parse(context, &argc, &argv) && wire_options_resolve(&e->wire) && resolve_addresses(e)) {
        status = run(e, argc - 1, argv + 1);
    }
    wire_options_clear(&e->wire);
    datagram_source_clear(&e->input);
    text_buffer_free(&e->line);
    g_free(e);
    return status;
}
