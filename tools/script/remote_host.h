/* SPDX-License-Identifier: MIT */
/* A remote host: a real server instead of the testbed's S, or a real client instead of C, over UDP and in real time. */
#ifndef UERUDP_TOOLS_SCRIPT_REMOTE_HOST_H
#define UERUDP_TOOLS_SCRIPT_REMOTE_HOST_H

#include "tools/script/testbed.h"

struct script_remote_host;

/* The remote host; one of the two is set. */
struct script_remote_target {
    const char *host;   /* a server, HOST[:PORT] */
    const char *listen; /* a port on which a client may connect */
};

/* Whether there is anybody. */
static inline bool script_remote_target_is_set(const struct script_remote_target *target) {
    return target->host != NULL || target->listen != NULL;
}

/* Starts the testbed with an endpoint that has done the handshake with the target. The script's clock starts then, and
   the sequences of the handshake appear as the script's. *remote: NULL for the first start, or a host that is used
   again; free it in any case. False with a sentence in *problem, which the caller frees; stop the testbed even then. */
bool script_remote_host_start(struct script_remote_host **remote, struct script_testbed *testbed,
                              const struct script_testbed_config *config, const struct script_remote_target *target,
                              char **problem);

/* Closes the connection unless the script did. */
void script_remote_host_close(struct script_remote_host *remote, struct script_testbed *testbed);
/* NULL is ignored. */
void script_remote_host_free(struct script_remote_host *remote);

#endif
