/* SPDX-License-Identifier: MIT */
/* The tables of a connection: traffic, times, channels, and what the bits went to. */
#ifndef UE_INFO_TEXT_FIGURES_H
#define UE_INFO_TEXT_FIGURES_H

#include "tools/info/info.h"
#include "tools/print/out.h"

void ue_info_print_figures(struct ue_out *out, const struct ue_info *info);

#endif
