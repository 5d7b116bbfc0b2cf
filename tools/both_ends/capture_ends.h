/* SPDX-License-Identifier: MIT */
/* Finds the captures of both ends among the files of a subcommand. */
#ifndef UERUDP_TOOLS_BOTH_ENDS_CAPTURE_ENDS_H
#define UERUDP_TOOLS_BOTH_ENDS_CAPTURE_ENDS_H

#include "tools/both_ends/both_ends.h"
#include "tools/both_ends/capture_points.h"

/* Fill the first two members; the rest starts zeroed. */
struct capture_ends {
    char *vantage;   /* as on the command line, owned; NULL: not given */
    bool with_paths; /* see struct both_ends_options */
    struct capture_points points;
    struct both_ends *found; /* NULL: there is one capture */
};

#define CAPTURE_ENDS_OPTION(ends)                                                                                      \
    {"vantage",                                                                                                        \
     0,                                                                                                                \
     0,                                                                                                                \
     G_OPTION_ARG_STRING,                                                                                              \
     &(ends)->vantage,                                                                                                 \
     "compare both ends: at which end each file, or each interface of one file, was captured: client, server, "        \
     "or - to leave it out; default by the times of common packets",                                                   \
     "END,END..."}

/* Of files, before they are read with this reader. Returns false after a message about --vantage. */
bool capture_ends_of_files(struct capture_ends *ends, const struct capture_reader *reader,
                           const struct selection *selection, char **paths, int path_count);

/* Of the interfaces of a file that was read, which are known only then; nothing if its files are ends already. */
bool capture_ends_of_interfaces(struct capture_ends *ends, const struct capture_reader *reader,
                                const struct selection *selection);

/* Starts a reader of one of the ends that were found, 0 or 1, with the options of the other reader, which must outlive
   it. It reports files that cannot be read, unless the other reader read them. */
void capture_ends_start(const struct capture_ends *ends, unsigned end, struct capture_reader *reader,
                        const struct capture_reader *options);

void capture_ends_clear(struct capture_ends *ends);

#endif
