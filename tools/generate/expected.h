/* SPDX-License-Identifier: MIT */
/* FILE.expected.json: what uerudp decode --json prints of a capture. */
#ifndef UE_GENERATE_EXPECTED_H
#define UE_GENERATE_EXPECTED_H

#include <stdbool.h>

#include "libcodec/profile.h"

/* Reads the capture with these settings and writes its decode; false, with a message, when either fails. */
bool ue_expected_write(const char *capture, const struct ue_settings *settings, const char *path);

#endif
