/* SPDX-License-Identifier: MIT */
/* Reports of handshakes that a server refused: one for each address and reason, and not more than a log can bear. */
#ifndef UERUDP_TOOLS_SERVE_REFUSALS_H
#define UERUDP_TOOLS_SERVE_REFUSALS_H

#include <glib.h>

#include <uerudp/server.h>

struct serve_refusals {
    GHashTable *reported; /* address and reason */
    uint64_t second_ns;   /* when the current second of the limit began */
    uint32_t in_second;   /* lines in it */
    uint64_t withheld;    /* refusals of which no line speaks, because there were too many */
    bool as_json;
};

void serve_refusals_init(struct serve_refusals *refusals, bool as_json);
void serve_refusals_clear(struct serve_refusals *refusals);

/* Reports a refusal unless there was a report of this address and reason; NONE is ignored. */
void serve_refusals_report(struct serve_refusals *refusals, uint64_t now_ns, const struct ue_host *client,
                           const struct ue_refusal *refusal);

#endif
