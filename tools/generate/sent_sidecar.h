/* SPDX-License-Identifier: MIT */
/* FILE.sent.json: what a generator meant and what the network did, as one JSON object with a line for each of its
   connections, datagrams and messages. */
#ifndef UERUDP_TOOLS_GENERATE_SENT_SIDECAR_H
#define UERUDP_TOOLS_GENERATE_SENT_SIDECAR_H

#include <stdio.h>

#include "tools/generate/generator.h"

/* After the last frame, of a generator with truth. Errors stay in the file (ferror). */
void sent_sidecar_write(FILE *file, const struct generator *generator);

#endif
