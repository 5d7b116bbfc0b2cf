/* SPDX-License-Identifier: MIT */
/* A real server in the place of a stage's S, or a real client in that of C, over UDP and in real time. */
#ifndef UERUDP_TOOLS_SCRIPT_REMOTE_HOST_H
#define UERUDP_TOOLS_SCRIPT_REMOTE_HOST_H

#include "tools/script/testbed.h"

struct script_remote_host;

/* Whom to talk to: one of the two. */
struct script_remote_target {
    const char *host;   /* a server, HOST[:PORT] */
    const char *listen; /* a port, to which a client may come */
};

/* Whether there is anybody. */
static inline bool script_remote_target_is_set(const struct script_remote_target *target) {
    return target->host != NULL || target->listen != NULL;
}

/* Begins the stage with an end that has shaken hands with the target. The script's clock begins then, and the sequences
   that the handshake gave are shown as the script's. *remote: one that begins anew, or NULL for the first; to be freed
   in any case. False with a sentence in *problem, which the caller frees; the stage is to be ended. */
bool script_remote_host_start(struct script_remote_host **remote, struct script_testbed *stage, const struct script_testbed_config *config,
                     const struct script_remote_target *target, char **problem);

/* Says goodbye where the script has not. */
void script_remote_host_close(struct script_remote_host *remote, struct script_testbed *stage);
/* NULL is ignored. */
void script_remote_host_free(struct script_remote_host *remote);

#endif
