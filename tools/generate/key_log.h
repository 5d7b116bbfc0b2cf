/* SPDX-License-Identifier: MIT */
/* FILE.keys: the keys of encrypted connections, as the option --key and Wireshark read them (libcodec/cipher/keys.h).
 */
#ifndef UERUDP_TOOLS_GENERATE_KEY_LOG_H
#define UERUDP_TOOLS_GENERATE_KEY_LOG_H

#include <stdio.h>

#include "tools/generate/generator.h"

/* A line for each connection. */
void generate_key_log_write(FILE *file, const struct generator *generator);

#endif
