/* SPDX-License-Identifier: MIT */
/* What is known of connections, for people: the answer first, then the figures. */
#ifndef UE_INFO_TEXT_H
#define UE_INFO_TEXT_H

#include "tools/info/info.h"
#include "tools/print/out.h"

/* All connections (struct ue_info): when there are several, first a table with a line for each, the worst first. */
void ue_info_print_text(struct ue_out *out, const GPtrArray *infos);

#endif
