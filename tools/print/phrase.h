/* SPDX-License-Identifier: MIT */
/* Short texts for sides, durations and counts in messages. Side 0 is the client, side 1 the server. */
#ifndef UERUDP_TOOLS_PRINT_PHRASE_H
#define UERUDP_TOOLS_PRINT_PHRASE_H

#include <stdint.h>

#define PHRASE_CHARS 128

/* A text by value, for printf arguments. */
struct phrase {
    char text[PHRASE_CHARS];
};

/* Longer texts are cut. */
struct phrase phrase_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

const char *phrase_side(unsigned side); /* "client" */
const char *
phrase_direction_key(unsigned side); /* "c2s": the direction of this side's packets, as in options and JSON */

struct phrase phrase_duration(int64_t span_ns);

/* "once", "twice", "3 times" */
struct phrase phrase_times(uint64_t count);

/* "1 packet", "2 packets", "2 bunches"; the noun has at least two letters. */
struct phrase phrase_count(uint64_t count, const char *noun);

double phrase_milliseconds(int64_t span_ns);
double phrase_seconds(int64_t span_ns);

#endif
