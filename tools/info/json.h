/* SPDX-License-Identifier: MIT */
/* What is known of a connection as a JSON object (docs/uerudp-info.1). */
#ifndef UE_INFO_JSON_H
#define UE_INFO_JSON_H

#include <jansson.h>

#include "tools/info/info.h"

/* The caller gives the result back by json_decref. */
json_t *ue_info_to_json(const struct ue_info *info);

#endif
