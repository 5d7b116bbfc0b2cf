/* SPDX-License-Identifier: MIT */
/* Whether an endpoint can have the packet handlers that the options name. */
#ifndef UERUDP_TOOLS_LIVE_ENDPOINT_HANDLERS_H
#define UERUDP_TOOLS_LIVE_ENDPOINT_HANDLERS_H

#include <uerudp/endpoint.h>

/* False, with a message: not these handlers, or not with this configuration, whose key may be missing: encrypts. */
bool live_handlers_check(const struct ue_conn_config *config, bool encrypts);

#endif
