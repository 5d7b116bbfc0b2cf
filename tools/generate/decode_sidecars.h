/* SPDX-License-Identifier: MIT */
/* Writes the files beside a generated capture that its reader needs: FILE.expected.jsonl, the output of `uerudp decode
   --json`, and FILE.keys, the keys of encrypted connections. */
#ifndef UERUDP_TOOLS_GENERATE_DECODE_SIDECARS_H
#define UERUDP_TOOLS_GENERATE_DECODE_SIDECARS_H

#include <stdbool.h>
#include <stdio.h>

#include <uerudp/profile.h>
#include "tools/generate/generator.h"

/* Decodes the capture with these settings. False, with a message: reading or writing failed. */
bool generate_expected_write(const char *capture, const struct ue_settings *settings, const char *path);

/* One line for each connection, as the option --key and Wireshark read it (libcodec/cipher/key_log_file.h). */
void generate_keys_write(FILE *file, const struct generator *generator);

#endif
