/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the analysis of a datagram found, in a few words: marks before the line of the info column, and the names of its
   flags. */
#ifndef UERUDP_PLUGIN_TREE_INFO_MARKS_H
#define UERUDP_PLUGIN_TREE_INFO_MARKS_H

#include "plugin/compat.h"

#include <epan/wmem_scopes.h>

#include "plugin/first_pass/analysis_results.h"

/* "[Reported lost] [Reliable stall 812 ms] [Lost 3] ", to be put before the line of the info column; empty without
   findings. In pool, like the names. */
const char *uerudp_info_marks(const struct uerudp_analysis_results *results, wmem_allocator_t *pool);

/* The names of all flags, each after `before` (the first after before_first) and before `after`: ": Lost 3, NAK". */
const char *uerudp_info_marks_of_flags(const struct uerudp_analysis_results *results, wmem_allocator_t *pool,
                                       const char *before_first, const char *before, const char *after);

#endif
