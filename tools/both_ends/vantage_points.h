/* SPDX-License-Identifier: MIT */
/* Which files of a subcommand, or interfaces of a file, are the two capture points to compare; the user can say it with
   --vantage. */
#ifndef UERUDP_TOOLS_BOTH_ENDS_VANTAGE_POINTS_H
#define UERUDP_TOOLS_BOTH_ENDS_VANTAGE_POINTS_H

#include "tools/both_ends/both_ends.h"

/* Fill the first two members; the rest starts zeroed. */
struct vantage_points {
    const char *vantage; /* as on the command line; NULL: not given */
    bool with_paths;     /* see struct both_ends_options */
    bool are_two;        /* else the next members are not set */
    struct end_source sources[2];
    int client_end; /* index of the source that is the client's end, as the user says; -1: the user does not say it */
    GPtrArray *paths[2];
    struct both_ends *found; /* NULL: there is one capture */
};

#define VANTAGE_POINTS_OPTION(points)                                                                                  \
    {"vantage",                                                                                                        \
     0,                                                                                                                \
     0,                                                                                                                \
     G_OPTION_ARG_STRING,                                                                                              \
     &(points)->vantage,                                                                                               \
     "compare both ends: at which end each file, or each interface of one file, was captured: client, server, "        \
     "or - to leave it out; default by the times of common packets",                                                   \
     "END,END..."}

/* Of several files, before they are read with this reader. Without --vantage, files without a common packet are of one
   capture point. Returns false after a message about --vantage. */
bool vantage_points_of_files(struct vantage_points *points, const struct capture_reader *reader,
                             const struct selection *selection, char **paths, int path_count);

/* Of the interfaces of a file that was read, which are known only then; nothing if its files are ends already. */
bool vantage_points_of_interfaces(struct vantage_points *points, const struct capture_reader *reader,
                                  const struct selection *selection);

/* Starts a reader of one of the points that were found, 0 or 1, with the options of the other reader, which must
   outlive it. It reports files that cannot be read, unless the other reader read them. */
void vantage_points_start(const struct vantage_points *points, unsigned end, struct capture_reader *reader,
                          const struct capture_reader *options);

void vantage_points_clear(struct vantage_points *points);

#endif
