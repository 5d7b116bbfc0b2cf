/* SPDX-License-Identifier: MIT */
#include "tools/print/phrase.h"

#include <inttypes.h>
#include <stdarg.h>
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

struct phrase phrase_format(const char *format, ...) {
    struct phrase phrase;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(phrase.text, sizeof phrase.text, format, arguments);
    va_end(arguments);
    return phrase;
}

struct phrase phrase_times(uint64_t count) {
    return count == 1   ? (struct phrase){"once"}
           : count == 2 ? (struct phrase){"twice"}
                        : phrase_format("%" PRIu64 " times", count);
}

struct phrase phrase_count(uint64_t count, const char *noun) {
    const char *plural = strcmp(noun + strlen(noun) - 2, "ch") == 0 ? "es" : "s";
    return phrase_format("%" PRIu64 " %s%s", count, noun, count == 1 ? "" : plural);
}
