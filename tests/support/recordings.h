/* SPDX-License-Identifier: MIT */
/* Recordings of other implementations: those in captures/recordings always, and those in the folder UERUDP_SHARED if it
   exists. tests/support/python/recordings.py is the Python counterpart. */
#ifndef UERUDP_TESTS_SUPPORT_RECORDINGS_H
#define UERUDP_TESTS_SUPPORT_RECORDINGS_H

#include <stdbool.h>
#include <stddef.h>

#define RECORDING_PATH_BYTES 4096

/* Writes the path of NAMESUFFIX, for example "utcp-clean" ".pcap". Returns false if the recording can only be in
   UERUDP_SHARED and that folder does not exist. A missing file in an existing folder fails the test when it is
   opened. */
bool recording_path(char path[RECORDING_PATH_BYTES], const char *name, const char *suffix);

/* Path of the folder UERUDP_SHARED, which may not exist. */
const char *recordings_shared(void);

/* Whether the folder UERUDP_SHARED exists. If not, prints that `what`, unless NULL, is skipped; tests/run counts these
   lines. If all of a test program needs the folder, its main() then returns 77; a single test calls skip(). */
bool recordings_have_shared(const char *what);

#endif
