/* SPDX-License-Identifier: MIT */
/* Who used the bandwidth of a connection, as JSON. */
#ifndef UERUDP_TOOLS_INFO_BANDWIDTH_JSON_H
#define UERUDP_TOOLS_INFO_BANDWIDTH_JSON_H

#include <jansson.h>

#include <uerudp/bandwidth.h>
#include <uerudp/findings.h>
#include "tools/info/bandwidth_options.h"

/* findings: of the connection, finished. */
json_t *info_bandwidth_to_json(const struct ue_bandwidth *bandwidth, const struct info_bandwidth_options *options,
                               const struct ue_findings *findings);

#endif
