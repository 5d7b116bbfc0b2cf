/* SPDX-License-Identifier: MIT */
#include "tools/print/phrase.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *phrase_side(unsigned side) {
    return side == 0 ? "client" : "server";
}

const char *phrase_direction_key(unsigned side) {
    return side == 0 ? "c2s" : "s2c";
}

const char *phrase_direction(unsigned side) {
    return side == 0 ? "client to server" : "server to client";
}

double phrase_milliseconds(int64_t span_ns) {
    return (double)span_ns / 1e6;
}

double phrase_seconds(int64_t span_ns) {
    return (double)span_ns / 1e9;
}

struct phrase phrase_duration(int64_t span_ns) {
    struct phrase words;
    if (span_ns < 10 * INT64_C(1000000)) {
        snprintf(words.text, sizeof words.text, "%.1f ms", phrase_milliseconds(span_ns));
    } else if (span_ns < 10 * INT64_C(1000000000)) {
        snprintf(words.text, sizeof words.text, "%.0f ms", phrase_milliseconds(span_ns));
    } else {
        snprintf(words.text, sizeof words.text, "%.1f s", phrase_seconds(span_ns));
    }
    return words;
}

struct phrase phrase_frames(const uint64_t *frames, unsigned listed, uint64_t count) {
    struct phrase words;
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

struct phrase phrase_ch_sequence(uint32_t first, uint32_t last) {
    struct phrase words;
    if (first == last) {
        snprintf(words.text, sizeof words.text, "ChSequence %" PRIu32, first);
    } else {
        snprintf(words.text, sizeof words.text, "ChSequence %" PRIu32 " to %" PRIu32, first, last);
    }
    return words;
}

struct phrase phrase_times(uint64_t count) {
    struct phrase words;
    if (count <= 2) {
        snprintf(words.text, sizeof words.text, "%s", count == 1 ? "once" : "twice");
    } else {
        snprintf(words.text, sizeof words.text, "%" PRIu64 " times", count);
    }
    return words;
}

struct phrase phrase_count(uint64_t count, const char *noun) {
    struct phrase words;
    const char *plural = strcmp(noun + strlen(noun) - 2, "ch") == 0 ? "es" : "s";
    snprintf(words.text, sizeof words.text, "%" PRIu64 " %s%s", count, noun, count == 1 ? "" : plural);
    return words;
}
