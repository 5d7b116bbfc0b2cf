/* SPDX-License-Identifier: MIT */
/* Who used the bandwidth of a connection, as JSON. */
#ifndef UERUDP_TOOLS_INFO_BANDWIDTH_JSON_H
#define UERUDP_TOOLS_INFO_BANDWIDTH_JSON_H

#include <jansson.h>

#include <uerudp/bandwidth.h>
#include "tools/info/bandwidth_options.h"

/* has_times: the times of the capture are plausible, so that rates can be printed. */
json_t *info_bandwidth_to_json(const struct ue_bandwidth *bandwidth, const struct info_bandwidth_options *options,
                               bool has_times);

#endif
