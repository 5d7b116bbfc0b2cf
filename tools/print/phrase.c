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
    struct phrase phrase;
    if (span_ns < 10 * INT64_C(1000000)) {
        snprintf(phrase.text, sizeof phrase.text, "%.1f ms", phrase_milliseconds(span_ns));
    } else if (span_ns < 10 * INT64_C(1000000000)) {
        snprintf(phrase.text, sizeof phrase.text, "%.0f ms", phrase_milliseconds(span_ns));
    } else {
        snprintf(phrase.text, sizeof phrase.text, "%.1f s", phrase_seconds(span_ns));
    }
    return phrase;
}

struct phrase phrase_frames(const uint64_t *frames, unsigned listed, uint64_t count) {
    struct phrase phrase;
    int length = snprintf(phrase.text, sizeof phrase.text, "frame%s", count > 1 ? "s" : "");
    for (unsigned i = 0; i < listed && length + 28 < (int)sizeof phrase.text; i++) {
        const char *before = i == 0 ? "" : i + 1 == count ? " and" : ",";
        length += snprintf(phrase.text + length, sizeof phrase.text - (size_t)length, "%s %" PRIu64, before, frames[i]);
    }
    if (count > listed) {
        snprintf(phrase.text + length, sizeof phrase.text - (size_t)length, " ...");
    }
    return phrase;
}

struct phrase phrase_ch_sequence(uint32_t first, uint32_t last) {
    struct phrase phrase;
    if (first == last) {
        snprintf(phrase.text, sizeof phrase.text, "ChSequence %" PRIu32, first);
    } else {
        snprintf(phrase.text, sizeof phrase.text, "ChSequence %" PRIu32 " to %" PRIu32, first, last);
    }
    return phrase;
}

struct phrase phrase_times(uint64_t count) {
    struct phrase phrase;
    if (count <= 2) {
        snprintf(phrase.text, sizeof phrase.text, "%s", count == 1 ? "once" : "twice");
    } else {
        snprintf(phrase.text, sizeof phrase.text, "%" PRIu64 " times", count);
    }
    return phrase;
}

struct phrase phrase_count(uint64_t count, const char *noun) {
    struct phrase phrase;
    const char *plural = strcmp(noun + strlen(noun) - 2, "ch") == 0 ? "es" : "s";
    snprintf(phrase.text, sizeof phrase.text, "%" PRIu64 " %s%s", count, noun, count == 1 ? "" : plural);
    return phrase;
}
