/* SPDX-License-Identifier: MIT */
/* A real server in the place of a stage's S, or a real client in that of C, over UDP and in real time. */
#ifndef UERUDP_TOOLS_SCRIPT_REMOTE_HOST_H
#define UERUDP_TOOLS_SCRIPT_REMOTE_HOST_H

#include "tools/script/testbed.h"

struct ue_remote;

/* Whom to talk to: one of the two. */
struct ue_remote_target {
    const char *host;   /* a server, HOST[:PORT] */
    const char *listen; /* a port, to which a client may come */
};

/* Whether there is anybody. */
static inline bool ue_remote_is_wanted(const struct ue_remote_target *target) {
    return target->host != NULL || target->listen != NULL;
}

/* Begins the stage with an end that has shaken hands with the target. The script's clock begins then, and the sequences
   that the handshake gave are shown as the script's. *remote: one that begins anew, or NULL for the first; to be freed
   in any case. False with a sentence in *problem, which the caller frees; the stage is to be ended. */
bool ue_remote_begin(struct ue_remote **remote, struct ue_stage *stage, const struct ue_stage_config *config,
                     const struct ue_remote_target *target, char **problem);

/* Says goodbye where the script has not. */
void ue_remote_leave(struct ue_remote *remote, struct ue_stage *stage);
/* NULL is ignored. */
void ue_remote_free(struct ue_remote *remote);

#endif
