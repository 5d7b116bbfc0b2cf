/* SPDX-License-Identifier: MIT */
#include "tools/rules/number_ranges.h"

#include <string.h>

#include "tools/cli/command_line.h"

struct range {
    uint64_t first, last;
};

static bool parse_range(char *text, struct range *range) {
    char *dash = strchr(text, '-');
    if (dash == NULL) {
        bool good = cli_parse_number(text, UINT64_MAX, &range->first);
        range->last = range->first;
        return good;
    }
    *dash = '\0';
    range->last = UINT64_MAX;
    return cli_parse_number(text, UINT64_MAX, &range->first) &&
           (dash[1] == '\0' || cli_parse_number(dash + 1, UINT64_MAX, &range->last)) && range->first <= range->last;
}

bool number_ranges_add(GArray **ranges, const char *text) {
    if (*ranges == NULL) {
        *ranges = g_array_new(FALSE, FALSE, sizeof(struct range));
    }
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    bool good = parts[0] != NULL;
    for (size_t i = 0; good && parts[i] != NULL; i++) {
        struct range range = {0};
        good = parse_range(parts[i], &range);
        g_array_append_val(*ranges, range);
    }
    return good;
}

bool number_ranges_contain(const GArray *ranges, uint64_t number) {
    for (guint i = 0; ranges != NULL && i < ranges->len; i++) {
        const struct range *range = &g_array_index(ranges, struct range, i);
        if (range->first <= number && number <= range->last) {
            return true;
        }
    }
    return ranges == NULL;
}
