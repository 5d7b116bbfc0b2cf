/* SPDX-License-Identifier: MIT */
#include "tools/print/phrase.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <uerudp/findings.h>

const char *phrase_side(unsigned side) {
    return side == 0 ? "client" : "server";
}

const char *phrase_direction_key(unsigned side) {
    return side == 0 ? "c2s" : "s2c";
}

double phrase_milliseconds(int64_t span_ns) {
    return (double)span_ns / 1e6;
}

double phrase_seconds(int64_t span_ns) {
    return (double)span_ns / 1e9;
}

struct phrase phrase_duration(int64_t span_ns) {
    struct phrase phrase;
    ue_duration_text(span_ns, phrase.text, sizeof phrase.text);
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
