/* SPDX-License-Identifier: MIT */
/* A real server in the place of a stage's S, over UDP and in real time. */
#ifndef UE_SCRIPT_HOST_H
#define UE_SCRIPT_HOST_H

#include "tools/script/stage.h"

struct ue_host;

/* Begins the stage with a client that has shaken hands with target, HOST[:PORT]. The script's clock begins then, and
   the sequences that the host chose are shown as the script's. *host: one that begins anew, or NULL for the first; to
   be freed in any case. False with a sentence in *problem, which the caller frees; the stage is to be ended. */
bool ue_host_begin(struct ue_host **host, struct ue_stage *stage, const struct ue_stage_config *config,
                   const char *target, char **problem);

/* Says goodbye where the script has not. */
void ue_host_leave(struct ue_host *host, struct ue_stage *stage);
/* NULL is ignored. */
void ue_host_free(struct ue_host *host);

#endif
