/* SPDX-License-Identifier: MIT */
/* Values of the JSON of info. */
#ifndef UERUDP_TOOLS_INFO_JSON_VALUES_H
#define UERUDP_TOOLS_INFO_JSON_VALUES_H

#include <jansson.h>
#include <stdint.h>

#include "tools/print/phrase.h"

static inline json_t *info_count(uint64_t number) {
    return json_integer((json_int_t)number);
}

/* A value for each direction; both are consumed. */
static inline json_t *info_both(json_t *client, json_t *server) {
    return json_pack("{s:o, s:o}", phrase_direction_key(0), client, phrase_direction_key(1), server);
}

static inline json_t *info_counts(const uint64_t numbers[2]) {
    return info_both(info_count(numbers[0]), info_count(numbers[1]));
}

#endif
