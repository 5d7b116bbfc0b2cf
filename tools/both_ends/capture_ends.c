/* SPDX-License-Identifier: MIT */
#include "tools/both_ends/capture_ends.h"

/* Compares the two capture points, if they are. False after a message. */
static bool compare(struct capture_ends *ends, const struct capture_reader *reader, const struct selection *selection) {
    const struct both_ends_options options = {.reader = reader,
                                              .selection = selection,
                                              .client_end = ends->points.client_end,
                                              .with_paths = ends->with_paths};
    if (ends->points.are_two) {
        ends->found = both_ends_read(&options, ends->points.sources);
    }
    if (ends->found == NULL && ends->vantage != NULL) {
        cli_error("--vantage=%s: the capture points have no connection in common", ends->vantage);
    }
    return ends->found != NULL || ends->vantage == NULL;
}

bool capture_ends_of_files(struct capture_ends *ends, const struct capture_reader *reader,
                           const struct selection *selection, char **paths, int path_count) {
    if (path_count < 2 || reader->is_hex) {
        return true;
    }
    return capture_points_of_files(&ends->points, ends->vantage, paths, path_count) && compare(ends, reader, selection);
}

bool capture_ends_of_interfaces(struct capture_ends *ends, const struct capture_reader *reader,
                                const struct selection *selection) {
    uint32_t count = reader->next_point;
    bool is_candidate = ends->found == NULL && reader->path_count == 1 && !capture_reader_is_live(reader);
    if (!is_candidate || (count < 2 && ends->vantage == NULL)) {
        return true;
    }
    return capture_points_of_interfaces(&ends->points, ends->vantage, reader->paths, count) &&
           compare(ends, reader, selection);
}

void capture_ends_start(const struct capture_ends *ends, unsigned end, struct capture_reader *reader,
                        const struct capture_reader *options) {
    const struct end_source *source = &ends->points.sources[end];
    end_source_start(source, reader, options);
    reader->summary.progress.is_silent = source->has_interface;
}

void capture_ends_clear(struct capture_ends *ends) {
    both_ends_free(ends->found);
    capture_points_clear(&ends->points);
    g_free(ends->vantage);
}
