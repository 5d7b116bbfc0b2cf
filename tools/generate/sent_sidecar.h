/* SPDX-License-Identifier: MIT */
/* Writes FILE.sent.json: what was sent and what the network did, as one JSON object with a line for each connection,
   datagram and message. */
#ifndef UERUDP_TOOLS_GENERATE_SENT_SIDECAR_H
#define UERUDP_TOOLS_GENERATE_SENT_SIDECAR_H

#include <stdio.h>

#include "tools/generate/generator.h"

/* Call it after the last frame, for a generator with run logs. Errors stay in the file (ferror). */
void sent_sidecar_write(FILE *file, const struct generator *generator);

#endif
