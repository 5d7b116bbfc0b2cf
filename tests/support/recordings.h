/* SPDX-License-Identifier: MIT */
/* Recordings of other implementations: those of this tree (captures/foreign) always, and those of the folder
   UERUDP_SHARED where it is there. tests/support/recordings.py is the same in Python. */
#ifndef UERUDP_TESTS_SUPPORT_RECORDINGS_H
#define UERUDP_TESTS_SUPPORT_RECORDINGS_H

#include <stdbool.h>
#include <stddef.h>

#define RECORDING_PATH_BYTES 4096

/* Path of NAMESUFFIX, for example "utcp-clean" ".pcap". False when only the folder has it and is not there; a file that
   is missing beside the folder fails the test when it is opened. */
bool recording_path(char path[RECORDING_PATH_BYTES], const char *name, const char *suffix);

/* Path of the folder, which may not be there. */
const char *recordings_shared(void);

/* Whether the folder is there. Where it is not, prints that what, unless NULL, is skipped: tests/run counts these
   lines. main() of a test in which everything needs the folder then returns 77, a single test calls skip(). */
bool recordings_have_shared(const char *what);

#endif
