/* SPDX-License-Identifier: MIT */
#include "tools/generate/decode_sidecars.h"

#include "tools/cli/output_file.h"
#include "tools/input/capture_reader.h"
#include "tools/print/json.h"
#include "tools/print/datagram_trace.h"

#define FLUSH_BYTES 65536

static void print(struct print_json *json, const struct input_datagram *seen) {
    struct ue_context context;
    struct print_datagram shown;
    input_datagram_to_print(seen, &context, &shown);
    shown.raw = shown.context != NULL && !print_datagram_roundtrips(&context, shown.bytes, shown.captured_bytes);
    print_json_datagram(json, &shown);
}

static bool write_all(struct capture_reader *reading, FILE *file) {
    struct print_json json = {0};
    struct input_datagram seen;
    bool good = true;
    while (good && capture_reader_next(reading, &seen)) {
        print(&json, &seen);
        good = json.line.length < FLUSH_BYTES || text_buffer_flush(&json.line, file);
    }
    good = good && text_buffer_flush(&json.line, file);
    print_json_free(&json);
    return good && capture_reader_exit_status(reading) != CLI_EXIT_UNUSABLE;
}

bool generate_expected_write(const char *capture, const struct ue_settings *settings, const char *path) {
    struct capture_reader reading;
    struct output_file output;
    char *paths[] = {(char *)capture, NULL};
    capture_reader_init(&reading, UE_OBSERVER_IN_CAPTURE_ORDER);
    reading.summary.progress.is_silent = true;
    reading.wire.settings = *settings;
    bool good = wire_options_resolve(&reading.wire) && output_file_open(&output, path);
    if (good) {
        capture_reader_start(&reading, 1, paths);
        good = output_file_close(&output, write_all(&reading, output.file));
    }
    capture_reader_clear(&reading);
    return good;
}

static void write_key(FILE *file, const struct sim_scenario *scenario) {
    uint8_t key[UE_KEY_BYTES];
    char token[SIM_SCENARIO_TOKEN_BYTES];
    sim_scenario_key(scenario, key);
    sim_scenario_token(scenario, token);
    for (size_t i = 0; i < sizeof key; i++) {
        fprintf(file, "%02x", key[i]);
    }
    fprintf(file, " * %s\n", token);
}

void generate_keys_write(FILE *file, const struct generator *generator) {
    fputs("# key, server, token\n", file);
    for (uint32_t i = 0; i < generator->config.connections; i++) {
        write_key(file, &generator->connections[i].source.scenario);
    }
}
