/* SPDX-License-Identifier: MIT */
/* Reports of the impairment proxy: clients that connect and leave, what was done to their datagrams, and totals at the
   end. */
#ifndef UERUDP_TOOLS_IMPAIR_PROXY_REPORT_H
#define UERUDP_TOOLS_IMPAIR_PROXY_REPORT_H

#include "tools/impair/proxy_client.h"

struct impair_totals {
    uint64_t clients;
    uint64_t unconfirmed;                 /* of the clients that left: sent nothing after an answer */
    uint64_t refused;                     /* datagrams of clients beyond the limit */
    struct impair_counters directions[2]; /* of the clients that left */
};

/* Adds a client that leaves. */
void impair_totals_add(struct impair_totals *totals, const struct impair_client *client);

void impair_report_connected(bool as_json, const struct impair_client *client);
/* Reports clients that came and left without a line. */
void impair_report_unreported(bool as_json, uint64_t clients);
/* reason: closed, unanswered, idle or end. */
void impair_report_left(bool as_json, const struct impair_client *client, const char *reason, uint64_t now_ns);
/* Shows what happened so far, on a terminal. totals: also of the clients that have not left. */
void impair_report_progress(const struct impair_totals *totals, uint64_t clients, uint64_t seconds);
void impair_report_summary(const struct impair_options *options, const struct impair_totals *totals);

#endif
