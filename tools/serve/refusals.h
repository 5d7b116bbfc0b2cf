/* SPDX-License-Identifier: MIT */
/* Reports of refused handshakes: one for each address and reason, with a limit per second. */
#ifndef UERUDP_TOOLS_SERVE_REFUSALS_H
#define UERUDP_TOOLS_SERVE_REFUSALS_H

#include <glib.h>

#include <uerudp/server.h>

struct serve_refusals {
    GHashTable *reported; /* address and reason */
    uint64_t second_ns;   /* when the current second began */
    uint32_t in_second;   /* lines in this second */
    uint64_t withheld;    /* refusals without a line, because of the limit */
    bool as_json;
};

void serve_refusals_init(struct serve_refusals *refusals, bool as_json);
void serve_refusals_clear(struct serve_refusals *refusals);

/* Reports a refusal unless this address and reason was reported before; NONE is ignored. */
void serve_refusals_report(struct serve_refusals *refusals, uint64_t now_ns, const struct ue_host *client,
                           const struct ue_refusal *refusal);

#endif
