/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE /* timegm */
#include "tools/capture/hex_timestamp.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <uerudp/time_ns.h>

#define TEXT_BYTES 48                   /* longer than any accepted time */
#define SECONDS_MAX INT64_C(9000000000) /* the largest number of seconds that fits in int64_t nanoseconds */

/* Parses a fraction from its point on, as nanoseconds; *length is the number of characters, 0: no fraction. */
static int64_t read_fraction(const char *text, size_t *length) {
    int64_t ns = 0;
    int64_t unit = UE_NS_PER_S;
    size_t at = 1;
    *length = 0;
    if (text[0] != '.' || !g_ascii_isdigit(text[1])) {
        return 0;
    }
    for (; g_ascii_isdigit(text[at]); at++) {
        unit /= 10;
        ns += (text[at] - '0') * unit;
    }
    *length = at;
    return ns;
}

static bool is_in_range(const struct tm *tm) {
    return tm->tm_mon >= 0 && tm->tm_mon < 12 && tm->tm_mday >= 1 && tm->tm_mday <= 31 && tm->tm_hour < 24 &&
           tm->tm_min < 60 && tm->tm_sec <= 60 && tm->tm_year >= 70;
}

/* Parses the whole seconds; returns the number of characters, 0: no date or time. */
static size_t read_date(const char *text, int64_t *seconds) {
    struct tm tm = {0};
    int length = 0;
    if (sscanf(text, "%4d-%2d-%2d%*1[T ]%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
               &tm.tm_sec, &length) != 6) {
        return 0;
    }
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    if (!is_in_range(&tm)) { /* timegm would normalise it */
        return 0;
    }
    *seconds = timegm(&tm);
    return *seconds <= SECONDS_MAX ? (size_t)length : 0;
}

static size_t read_clock(const char *text, int64_t *seconds) {
    struct tm tm = {.tm_mday = 1, .tm_year = 70};
    int length = 0;
    if (sscanf(text, "%2d:%2d:%2d%n", &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &length) != 3) {
        return 0;
    }
    *seconds = tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec;
    return is_in_range(&tm) ? (size_t)length : 0;
}

static size_t read_seconds(const char *text, int64_t *seconds) {
    size_t at = 0;
    for (*seconds = 0; g_ascii_isdigit(text[at]) && *seconds <= SECONDS_MAX; at++) {
        *seconds = *seconds * 10 + (text[at] - '0');
    }
    return *seconds <= SECONDS_MAX ? at : 0;
}

static bool is_end(char c) {
    return c == '\0' || c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

size_t hex_timestamp_parse(const char *text, size_t size_bytes, int64_t *time_ns) {
    char start[TEXT_BYTES] = "";
    int64_t seconds;
    size_t fraction_length;
    memcpy(start, text, size_bytes < TEXT_BYTES - 1 ? size_bytes : TEXT_BYTES - 1);
    if (!g_ascii_isdigit(start[0])) {
        return 0; /* sscanf would accept blanks and signs */
    }
    size_t length = read_date(start, &seconds);
    bool is_date = length != 0;
    length = is_date ? length : read_clock(start, &seconds);
    length = length != 0 ? length : read_seconds(start, &seconds);
    int64_t fraction_ns = read_fraction(start + length, &fraction_length);
    if (length == 0 || (fraction_length == 0 && !is_date)) {
        return 0;
    }
    length += fraction_length;
    length += is_date && start[length] == 'Z';
    if (!is_end(start[length])) {
        return 0;
    }
    *time_ns = seconds * UE_NS_PER_S + fraction_ns;
    return length;
}
