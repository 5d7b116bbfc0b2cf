/* SPDX-License-Identifier: MIT */
#include "tests/support/recordings.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *recordings_shared(void) {
    const char *folder = getenv("UERUDP_SHARED");
    return folder != NULL && *folder != '\0' ? folder : UERUDP_SHARED;
}

bool recording_path(char path[RECORDING_PATH_BYTES], const char *name, const char *suffix) {
    snprintf(path, RECORDING_PATH_BYTES, "captures/recordings/%s%s", name, suffix);
    if (access(path, R_OK) == 0) {
        return true;
    }
    snprintf(path, RECORDING_PATH_BYTES, "%s/realdata/%s%s", recordings_shared(), name, suffix);
    return recordings_have_shared(NULL);
}

bool recordings_have_shared(const char *what) {
    bool is_there = access(recordings_shared(), R_OK) == 0;
    if (!is_there && what != NULL) {
        printf("skipped: %s needs the folder UERUDP_SHARED\n", what);
    }
    return is_there;
}
