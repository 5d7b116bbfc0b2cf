/* SPDX-License-Identifier: MIT */
/* Which of several capture files are of the same capture point: those without a common packet, like the files of a
   capture that was rotated. */
#ifndef UERUDP_TOOLS_BOTH_ENDS_CAPTURE_GROUPS_H
#define UERUDP_TOOLS_BOTH_ENDS_CAPTURE_GROUPS_H

#include <glib.h>
#include <stdbool.h>

/* Fills the group of each file: 0, that of the first file; or 1, of files that have packets of a file of group 0.
   Returns false if there is only one group, the files cannot be read twice, or a file has packets of files of both
   groups. */
bool capture_groups_find(char **paths, int path_count, unsigned *groups);

#endif
