/* SPDX-License-Identifier: MIT */
/* Reports of a server: clients that connect, log in and leave, and at the end what it did and refused. */
#ifndef UERUDP_TOOLS_SERVE_SERVER_REPORT_H
#define UERUDP_TOOLS_SERVE_SERVER_REPORT_H

#include "tools/serve/refusals.h"
#include "tools/serve/session.h"

void serve_report_connected(bool as_json, const struct ue_peer *peer);
void serve_report_joined(bool as_json, const struct ue_peer *peer);
void serve_report_left(bool as_json, const struct ue_peer *peer, enum ue_close_reason reason, uint64_t now_ns);
/* Shows what happened so far, on a terminal. */
void serve_report_progress(const struct ue_server *server, const struct live_transport *transport, uint64_t seconds);
void serve_report_summary(bool as_json, const struct ue_server *server, const struct serve_refusals *refusals,
                          const struct live_transport *transport);

#endif
