/* SPDX-License-Identifier: MIT */
/* What a simulated game intended, for FILE.sent.json: actors, every value and call that was sent, and the values that
   the client must have in the end. */
#ifndef UERUDP_TOOLS_GENERATE_GAME_SIDECAR_H
#define UERUDP_TOOLS_GENERATE_GAME_SIDECAR_H

#include <stdio.h>

#include "tools/sim/sim.h"

struct game_sidecar;

struct game_sidecar *game_sidecar_new(void);
void game_sidecar_free(struct game_sidecar *log);

/* An event of the game (sim_callbacks). */
void game_sidecar_add(struct game_sidecar *log, const struct sim_game_event *event);

/* The layouts of the game's classes, as elements of a JSON array; the indices of functions are those of the context. */
void game_sidecar_write_classes(FILE *file, const struct ue_context *context);
/* The events of a stream whose times begin at offset_ns, each after a comma where *more. */
void game_sidecar_write(FILE *file, bool *more, const struct game_sidecar *log, uint32_t stream, uint64_t offset_ns);

#endif
