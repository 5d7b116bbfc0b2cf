/* SPDX-License-Identifier: MIT */
#include "tools/generate/decode_sidecar.h"

#include "tools/cli/output_file.h"
#include "tools/input/capture_reader.h"
#include "tools/print/json.h"
#include "tools/print/roundtrip.h"

#define FLUSH_BYTES 65536

static void print(struct ue_json *json, const struct ue_seen *seen) {
    struct ue_context context;
    struct ue_shown shown;
    ue_seen_show(seen, &context, &shown);
    shown.raw = shown.context != NULL && !ue_roundtrip_holds(&context, shown.bytes, shown.captured_bytes);
    ue_json_print(json, &shown);
}

static bool write_all(struct ue_reading *reading, FILE *file) {
    struct ue_json json = {0};
    struct ue_seen seen;
    bool good = true;
    while (good && ue_reading_next(reading, &seen)) {
        print(&json, &seen);
        good = json.line.length < FLUSH_BYTES || ue_out_flush(&json.line, file);
    }
    good = good && ue_out_flush(&json.line, file);
    ue_json_free(&json);
    return good && ue_reading_status(reading) != UE_EXIT_UNUSABLE;
}

bool ue_expected_write(const char *capture, const struct ue_settings *settings, const char *path) {
    struct ue_reading reading;
    struct ue_output output;
    char *paths[] = {(char *)capture, NULL};
    ue_reading_init(&reading);
    reading.summary.is_silent = true;
    reading.wire.settings = *settings;
    bool good = ue_wire_options_resolve(&reading.wire) && ue_output_open(&output, path);
    if (good) {
        ue_reading_start(&reading, 1, paths);
        good = ue_output_close(&output, write_all(&reading, output.file));
    }
    ue_reading_clear(&reading);
    return good;
}
