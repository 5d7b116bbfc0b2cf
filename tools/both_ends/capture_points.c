/* SPDX-License-Identifier: MIT */
#include "tools/both_ends/capture_points.h"

#include <inttypes.h>
#include <string.h>

#include "tools/both_ends/capture_groups.h"

#define LEFT_OUT 2

/* ---- the words of --vantage ---- */

static bool parse_word(const char *word, unsigned *role) {
    static const char *const words[] = {"client", "server", "-"};
    for (*role = 0; *role < G_N_ELEMENTS(words); ++*role) {
        if (strcmp(word, words[*role]) == 0) {
            return true;
        }
    }
    return false;
}

/* The role of each file or interface. False after a message. */
static bool parse(const char *vantage, unsigned count, const char *things, unsigned *roles) {
    g_auto(GStrv) words = g_strsplit(vantage, ",", -1);
    bool has[LEFT_OUT + 1] = {false}, is_good = g_strv_length(words) == count;
    for (unsigned i = 0; is_good && i < count; i++) {
        is_good = parse_word(words[i], &roles[i]);
        has[is_good ? roles[i] : LEFT_OUT] = true;
    }
    if (!is_good || !has[0] || !has[1]) {
        return cli_error(
            "--vantage=%s: must have a word for each of the %u %s: client or server, for the end at which it was "
            "captured, each at least once, or - to leave it out",
            vantage, count, things);
    }
    return true;
}

/* ---- files ---- */

static void set_sources(struct capture_points *points) {
    points->are_two = true;
    for (unsigned i = 0; i < 2; i++) {
        points->sources[i] = (struct end_source){.paths = (char **)(void *)points->paths[i]->pdata,
                                                 .path_count = (int)points->paths[i]->len};
    }
}

/* The first file that is not left out is of source 0. */
static int client_end_of(const unsigned *roles) {
    while (*roles == LEFT_OUT) {
        roles++;
    }
    return (int)*roles;
}

bool capture_points_of_files(struct capture_points *points, const char *vantage, char **paths, int path_count) {
    g_autofree unsigned *groups = g_new0(unsigned, (gsize)path_count);
    bool is_good = true, are_two = false;
    *points = (struct capture_points){.client_end = -1, .paths = {g_ptr_array_new(), g_ptr_array_new()}};
    if (vantage != NULL) {
        is_good = are_two = parse(vantage, (unsigned)path_count, "files", groups);
        points->client_end = are_two ? client_end_of(groups) : -1;
    } else {
        are_two = capture_groups_find(paths, path_count, groups);
    }
    for (int i = 0; are_two && i < path_count; i++) {
        if (groups[i] != LEFT_OUT) {
            g_ptr_array_add(points->paths[groups[i] ^ (unsigned)(points->client_end == 1)], paths[i]);
        }
    }
    if (are_two) {
        set_sources(points);
    }
    return is_good;
}

/* ---- interfaces ---- */

static bool are_one_each(const unsigned *roles, uint32_t count) {
    unsigned counts[LEFT_OUT + 1] = {0};
    for (uint32_t i = 0; i < count; i++) {
        counts[roles[i]]++;
    }
    if (counts[0] != 1 || counts[1] != 1) {
        cli_error("--vantage: of the %" PRIu32 " interfaces one can be client and one server; the others are -", count);
    }
    return counts[0] == 1 && counts[1] == 1;
}

bool capture_points_of_interfaces(struct capture_points *points, const char *vantage, char **path,
                                  uint32_t interface_count) {
    g_autofree unsigned *roles = g_new0(unsigned, interface_count + 2);
    bool is_good = true;
    *points = (struct capture_points){.client_end = -1};
    roles[1] = 1;
    if (vantage != NULL) {
        is_good = parse(vantage, interface_count, "interfaces", roles) && are_one_each(roles, interface_count);
        points->client_end = is_good ? client_end_of(roles) : -1;
    }
    points->are_two = is_good && interface_count >= 2 && (vantage != NULL || interface_count == 2);
    for (uint32_t i = 0; points->are_two && i < interface_count; i++) {
        if (roles[i] != LEFT_OUT) {
            points->sources[roles[i] ^ (unsigned)(points->client_end == 1)] =
                (struct end_source){.paths = path, .path_count = 1, .has_interface = true, .interface_number = i};
        }
    }
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): g_autofree */
    return is_good;
}

void capture_points_clear(struct capture_points *points) {
    for (unsigned i = 0; i < 2; i++) {
        g_clear_pointer(&points->paths[i], g_ptr_array_unref);
    }
    *points = (struct capture_points){0};
}
