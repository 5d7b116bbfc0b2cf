/* SPDX-License-Identifier: MIT */
/* FILE.expected.json: what uerudp decode --json prints of a capture. */
#ifndef UERUDP_TOOLS_GENERATE_DECODE_SIDECAR_H
#define UERUDP_TOOLS_GENERATE_DECODE_SIDECAR_H

#include <stdbool.h>

#include <uerudp/profile.h>

/* Reads the capture with these settings and writes its decode; false, with a message, when either fails. */
bool decode_sidecar_write(const char *capture, const struct ue_settings *settings, const char *path);

#endif
