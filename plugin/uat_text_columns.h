/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helpers for user tables (UAT) whose columns are all text. A record begins with the array `char *texts[]`; each
   element is NULL or owned by the record. */
#ifndef UERUDP_PLUGIN_UAT_TEXT_COLUMNS_H
#define UERUDP_PLUGIN_UAT_TEXT_COLUMNS_H

#include "plugin/compat.h"

#include <epan/uat.h>

/* A column that edits texts[place]. */
uat_field_t uerudp_uat_text_column(unsigned place, const char *name, const char *title, const char *description);

/* Replaces the texts of a bitwise copied record with copies of its own. */
void uerudp_uat_text_copy(char **texts, size_t count);
void uerudp_uat_text_free(char **texts, size_t count);

#endif
