/* SPDX-License-Identifier: MIT */
#include "tools/print/phrase.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *ue_side_name(unsigned side) {
    return side == 0 ? "client" : "server";
}

const char *ue_direction_name(unsigned side) {
    return side == 0 ? "c2s" : "s2c";
}

const char *ue_direction_words(unsigned side) {
    return side == 0 ? "client to server" : "server to client";
}

double ue_ms(int64_t span_ns) {
    return (double)span_ns / 1e6;
}

double ue_seconds(int64_t span_ns) {
    return (double)span_ns / 1e9;
}

struct ue_words ue_span_words(int64_t span_ns) {
    struct ue_words words;
    if (span_ns < 10 * INT64_C(1000000)) {
        snprintf(words.text, sizeof words.text, "%.1f ms", ue_ms(span_ns));
    } else if (span_ns < 10 * INT64_C(1000000000)) {
        snprintf(words.text, sizeof words.text, "%.0f ms", ue_ms(span_ns));
    } else {
        snprintf(words.text, sizeof words.text, "%.1f s", ue_seconds(span_ns));
    }
    return words;
}

struct ue_words ue_frames_words(const uint64_t *frames, unsigned listed, uint64_t count) {
    struct ue_words words;
    int length = snprintf(words.text, sizeof words.text, "frame%s", count > 1 ? "s" : "");
    for (unsigned i = 0; i < listed && length + 28 < (int)sizeof words.text; i++) {
        const char *before = i == 0 ? "" : i + 1 == count ? " and" : ",";
        length += snprintf(words.text + length, sizeof words.text - (size_t)length, "%s %" PRIu64, before, frames[i]);
    }
    if (count > listed) {
        snprintf(words.text + length, sizeof words.text - (size_t)length, " ...");
    }
    return words;
}

struct ue_words ue_sequence_words(uint32_t first, uint32_t last) {
    struct ue_words words;
    if (first == last) {
        snprintf(words.text, sizeof words.text, "ChSequence %" PRIu32, first);
    } else {
        snprintf(words.text, sizeof words.text, "ChSequence %" PRIu32 " to %" PRIu32, first, last);
    }
    return words;
}

struct ue_words ue_times_words(uint64_t count) {
    struct ue_words words;
    if (count <= 2) {
        snprintf(words.text, sizeof words.text, "%s", count == 1 ? "once" : "twice");
    } else {
        snprintf(words.text, sizeof words.text, "%" PRIu64 " times", count);
    }
    return words;
}

struct ue_words ue_count_words(uint64_t count, const char *noun) {
    struct ue_words words;
    const char *plural = strcmp(noun + strlen(noun) - 2, "ch") == 0 ? "es" : "s";
    snprintf(words.text, sizeof words.text, "%" PRIu64 " %s%s", count, noun, count == 1 ? "" : plural);
    return words;
}
