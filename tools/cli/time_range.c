/* SPDX-License-Identifier: MIT */
#include "tools/cli/time_range.h"

#include <string.h>

#include <uerudp/time_ns.h>
#include "tools/cli/command_line.h"

#define FRAME_PREFIX "frame:"
#define NS_PER_DAY (86400 * UE_NS_PER_S)

static bool parse_part(const char *text, int64_t below, int64_t *number) {
    uint64_t parsed;
    bool is_good = strlen(text) == 2 && cli_parse_number(text, (uint64_t)below - 1, &parsed);
    *number = is_good ? (int64_t)parsed : 0;
    return is_good;
}

static bool parse_time_of_day(const char *text, int64_t *ns) {
    g_auto(GStrv) parts = g_strsplit(text, ":", -1);
    bool is_good = g_strv_length(parts) == 3;
    int64_t hours = 0, minutes = 0, second_ns = 0;
    is_good = is_good && parse_part(parts[0], 24, &hours) && parse_part(parts[1], 60, &minutes) &&
              cli_parse_seconds(parts[2], &second_ns) && second_ns < 60 * UE_NS_PER_S;
    *ns = (hours * 60 + minutes) * 60 * UE_NS_PER_S + second_ns;
    return is_good;
}

static bool parse_time(const char *text, int64_t *ns) {
    GDateTime *time = g_date_time_new_from_iso8601(text, NULL); /* NULL: the text must have a time zone */
    if (time != NULL) {
        *ns = ue_time_ns_from(g_date_time_to_unix(time), g_date_time_get_microsecond(time) * INT64_C(1000));
        g_date_time_unref(time);
    }
    return time != NULL;
}

bool time_bound_parse(const char *text, struct time_bound *bound) {
    bool is_frame = g_str_has_prefix(text, FRAME_PREFIX);
    *bound = (struct time_bound){0};
    bound->kind = is_frame                    ? TIME_BOUND_FRAME
                  : strchr(text, 'T') != NULL ? TIME_BOUND_TIME
                  : strchr(text, ':') != NULL ? TIME_BOUND_TIME_OF_DAY
                                              : TIME_BOUND_SINCE;
    switch (bound->kind) {
    case TIME_BOUND_FRAME:
        return cli_parse_number(text + strlen(FRAME_PREFIX), UINT64_MAX, &bound->frame) && bound->frame != 0;
    case TIME_BOUND_TIME: return parse_time(text, &bound->ns);
    case TIME_BOUND_TIME_OF_DAY: return parse_time_of_day(text, &bound->ns);
    default: return cli_parse_seconds(text, &bound->ns);
    }
}

bool time_range_is_all(const struct time_range *range) {
    return range->from.kind == TIME_BOUND_NONE && range->to.kind == TIME_BOUND_NONE;
}

bool time_range_is_ordered(const struct time_range *range) {
    const struct time_bound *from = &range->from, *to = &range->to;
    return from->kind != to->kind || from->kind == TIME_BOUND_TIME_OF_DAY ||
           (from->frame <= to->frame && from->ns <= to->ns);
}

static int64_t resolve_time_of_day(int64_t of_day_ns, int64_t begin_ns) {
    int64_t begin_of_day_ns = (begin_ns % NS_PER_DAY + NS_PER_DAY) % NS_PER_DAY;
    int64_t after_ns = of_day_ns - begin_of_day_ns;
    return ue_time_ns_add(begin_ns, after_ns >= 0 ? after_ns : after_ns + NS_PER_DAY);
}

/* Negative: the packet is before the bound; 0: at it. */
static int compare(const struct time_bound *bound, int64_t begin_ns, uint64_t frame, int64_t time_ns) {
    int64_t bound_ns = bound->kind == TIME_BOUND_SINCE         ? ue_time_ns_add(begin_ns, bound->ns)
                       : bound->kind == TIME_BOUND_TIME_OF_DAY ? resolve_time_of_day(bound->ns, begin_ns)
                                                               : bound->ns;
    return bound->kind == TIME_BOUND_FRAME ? (frame > bound->frame) - (frame < bound->frame)
                                           : (time_ns > bound_ns) - (time_ns < bound_ns);
}

bool time_range_contains(const struct time_range *range, int64_t begin_ns, uint64_t frame, int64_t time_ns) {
    return (range->from.kind == TIME_BOUND_NONE || compare(&range->from, begin_ns, frame, time_ns) >= 0) &&
           (range->to.kind == TIME_BOUND_NONE || compare(&range->to, begin_ns, frame, time_ns) <= 0);
}
