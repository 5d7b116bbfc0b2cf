/* SPDX-License-Identifier: MIT */
/* Lists of numbers and ranges as users write them: "3", "100-110", "7,9-12,100-". */
#ifndef UERUDP_TOOLS_RULES_NUMBER_RANGES_H
#define UERUDP_TOOLS_RULES_NUMBER_RANGES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* For messages. */
#define NUMBER_RANGES_FORM "numbers and ranges such as 3,100-110"

/* Adds a list to *ranges, which is created if it is NULL; free it with g_array_unref. Returns false if the text is not
   such a list; what is before the fault may have been added then. */
bool number_ranges_add(GArray **ranges, const char *text);

/* ranges NULL: every number. */
bool number_ranges_contain(const GArray *ranges, uint64_t number);

#endif
