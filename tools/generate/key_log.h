/* SPDX-License-Identifier: MIT */
/* Writes FILE.keys: the keys of encrypted connections, in the form that the option --key and Wireshark read
   (uerudp/keys.h). */
#ifndef UERUDP_TOOLS_GENERATE_KEY_LOG_H
#define UERUDP_TOOLS_GENERATE_KEY_LOG_H

#include <stdio.h>

#include "tools/generate/generator.h"

/* One line for each connection. */
void generate_key_log_write(FILE *file, const struct generator *generator);

#endif
