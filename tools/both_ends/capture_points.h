/* SPDX-License-Identifier: MIT */
/* Which files, or interfaces of a file, are the two capture points to compare; the user can say it with --vantage. */
#ifndef UERUDP_TOOLS_BOTH_ENDS_CAPTURE_POINTS_H
#define UERUDP_TOOLS_BOTH_ENDS_CAPTURE_POINTS_H

#include "tools/both_ends/end_capture.h"

struct capture_points {
    bool are_two; /* else the next members are not set */
    struct end_source sources[2];
    int client_end; /* index of the source that is the client's end, as the user says; -1: the user does not say it */
    GPtrArray *paths[2];
};

/* Of several files. vantage: a word for each file, "client,server"; NULL: files without a common packet are of one
   capture point. Returns false after a message about vantage. Clear the points also then. */
bool capture_points_of_files(struct capture_points *points, const char *vantage, char **paths, int path_count);

/* Of the interfaces of a file. vantage: a word for each interface; NULL: there are two. */
bool capture_points_of_interfaces(struct capture_points *points, const char *vantage, char **path,
                                  uint32_t interface_count);

void capture_points_clear(struct capture_points *points);

#endif
