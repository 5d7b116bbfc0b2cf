/* SPDX-License-Identifier: MIT */
/* What is known of the connections of a capture, a bounded number of them. */
#ifndef UERUDP_TOOLS_INFO_CAPTURE_INFO_H
#define UERUDP_TOOLS_INFO_CAPTURE_INFO_H

#include "tools/info/connection_info.h"

/* Connections at a time. When there are more, those give way of which nothing but handshakes was seen, the oldest
   first; further ones are left out. */
#define UE_INFOS_MAX 1024

struct ue_infos;

/* findings_max: of each kind and connection. */
struct ue_infos *ue_infos_new(unsigned findings_max, bool with_cost);
void ue_infos_free(struct ue_infos *infos);

void ue_infos_feed(struct ue_infos *infos, const struct ue_seen *seen);

/* Makes the diagnoses and gives the connections, in the order of their first datagrams: an array of struct ue_info,
   owned by infos. Nothing may be fed afterwards. */
const GPtrArray *ue_infos_finish(struct ue_infos *infos);

#endif
