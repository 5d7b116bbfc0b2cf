/* SPDX-License-Identifier: MIT */
#include "tools/both_ends/vantage_points.h"

#include <inttypes.h>
#include <string.h>

#include "tools/both_ends/capture_groups.h"
#include "tools/print/phrase.h"

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

static void set_sources(struct vantage_points *points) {
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

static bool find_files(struct vantage_points *points, char **paths, int path_count) {
    g_autofree unsigned *groups = g_new0(unsigned, (gsize)path_count);
    bool is_good = true, are_two = false;
    points->client_end = -1;
    points->paths[0] = g_ptr_array_new();
    points->paths[1] = g_ptr_array_new();
    if (points->vantage != NULL) {
        is_good = are_two = parse(points->vantage, (unsigned)path_count, "files", groups);
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
        cli_error("--vantage: of %s one can be client and one server; the others are -",
                  phrase_count(count, "interface").text);
    }
    return counts[0] == 1 && counts[1] == 1;
}

static bool find_interfaces(struct vantage_points *points, char **path, uint32_t interface_count) {
    g_autofree unsigned *roles = g_new0(unsigned, interface_count + 2);
    bool is_good = true;
    points->client_end = -1;
    roles[1] = 1;
    if (points->vantage != NULL) {
        is_good = parse(points->vantage, interface_count, "interfaces", roles) && are_one_each(roles, interface_count);
        points->client_end = is_good ? client_end_of(roles) : -1;
    }
    points->are_two = is_good && interface_count >= 2 && (points->vantage != NULL || interface_count == 2);
    for (uint32_t i = 0; points->are_two && i < interface_count; i++) {
        if (roles[i] != LEFT_OUT) {
            points->sources[roles[i] ^ (unsigned)(points->client_end == 1)] =
                (struct end_source){.paths = path, .path_count = 1, .has_interface = true, .interface_number = i};
        }
    }
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): g_autofree */
    return is_good;
}

/* ---- both ---- */

/* Compares the two capture points, if they are. False after a message. */
static bool compare(struct vantage_points *points, const struct capture_reader *reader,
                    const struct selection *selection) {
    const struct both_ends_options options = {
        .reader = reader, .selection = selection, .client_end = points->client_end, .with_paths = points->with_paths};
    if (points->are_two) {
        points->found = both_ends_read(&options, points->sources);
    }
    if (points->found == NULL && points->vantage != NULL) {
        cli_error("--vantage=%s: the capture points have no connection in common", points->vantage);
    }
    return points->found != NULL || points->vantage == NULL;
}

bool vantage_points_of_files(struct vantage_points *points, const struct capture_reader *reader,
                             const struct selection *selection, char **paths, int path_count) {
    if (path_count < 2 || reader->is_hex) {
        return true;
    }
    return find_files(points, paths, path_count) && compare(points, reader, selection);
}

bool vantage_points_of_interfaces(struct vantage_points *points, const struct capture_reader *reader,
                                  const struct selection *selection) {
    uint32_t count = reader->next_point;
    bool is_candidate = points->found == NULL && reader->path_count == 1 && !capture_reader_is_live(reader);
    if (!is_candidate || (count < 2 && points->vantage == NULL)) {
        return true;
    }
    return find_interfaces(points, reader->paths, count) && compare(points, reader, selection);
}

void vantage_points_start(const struct vantage_points *points, unsigned end, struct capture_reader *reader,
                          const struct capture_reader *options) {
    const struct end_source *source = &points->sources[end];
    end_source_start(source, reader, options);
    reader->summary.progress.is_silent = source->has_interface;
}

void vantage_points_clear(struct vantage_points *points) {
    both_ends_free(points->found);
    for (unsigned i = 0; i < 2; i++) {
        g_clear_pointer(&points->paths[i], g_ptr_array_unref);
    }
}
