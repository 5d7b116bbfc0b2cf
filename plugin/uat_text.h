/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables that users edit, all of whose columns are texts. A record begins with an array of its texts, `char *texts[]`,
   which are NULL or owned by it. */
#ifndef UERUDP_PLUGIN_UAT_TEXT_H
#define UERUDP_PLUGIN_UAT_TEXT_H

#include "plugin/compat.h"

#include <epan/uat.h>

/* One column, the text with this place. */
uat_field_t uerudp_uat_text_column(unsigned place, const char *name, const char *title, const char *description);

/* For a record that was copied as it is: gives it texts of its own. */
void uerudp_uat_text_copy(char **texts, size_t count);
void uerudp_uat_text_free(char **texts, size_t count);

#endif
