/* SPDX-License-Identifier: MIT */
/* Writes FILE.expected.jsonl: the output of `uerudp decode --json` for a capture. */
#ifndef UERUDP_TOOLS_GENERATE_DECODE_SIDECAR_H
#define UERUDP_TOOLS_GENERATE_DECODE_SIDECAR_H

#include <stdbool.h>

#include <uerudp/profile.h>

/* Decodes the capture with these settings. False, with a message: reading or writing failed. */
bool decode_sidecar_write(const char *capture, const struct ue_settings *settings, const char *path);

#endif
