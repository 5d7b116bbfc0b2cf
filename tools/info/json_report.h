/* SPDX-License-Identifier: MIT */
/* A connection as a JSON object (docs/uerudp-info.1). */
#ifndef UERUDP_TOOLS_INFO_JSON_REPORT_H
#define UERUDP_TOOLS_INFO_JSON_REPORT_H

#include <jansson.h>

#include "tools/info/connection_info.h"

/* The caller frees the result with json_decref. */
json_t *info_to_json(const struct info_connection *info);

#endif
