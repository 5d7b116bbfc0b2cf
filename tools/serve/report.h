/* SPDX-License-Identifier: MIT */
/* What a server reports: clients that come, log in and leave, and at the end what it did and refused. */
#ifndef UERUDP_TOOLS_SERVE_REPORT_H
#define UERUDP_TOOLS_SERVE_REPORT_H

#include "tools/serve/refusals.h"
#include "tools/serve/session.h"

void ue_serve_report_connected(bool as_json, const struct ue_peer *peer);
void ue_serve_report_joined(bool as_json, const struct ue_peer *peer);
void ue_serve_report_left(bool as_json, const struct ue_peer *peer, enum ue_close_reason reason, uint64_t now_ns);
void ue_serve_report_summary(bool as_json, const struct ue_server *server, const struct serve_refusals *refusals,
                             const struct ue_pool *pool, const struct ue_port *port);

/* Addresses of peers are the bytes of struct ue_net_address: the core only compares them. */
struct ue_host ue_serve_address(const struct ue_net_address *address);
struct ue_net_address ue_serve_net_address(const struct ue_host *address);

#endif
