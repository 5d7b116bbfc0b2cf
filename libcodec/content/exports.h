/* SPDX-License-Identifier: MIT */
/* Private to libcodec: runs the layouts of exports and of the must-be-mapped list. They support no UE_BUILD. */
#ifndef UERUDP_LIBCODEC_CONTENT_EXPORTS_H
#define UERUDP_LIBCODEC_CONTENT_EXPORTS_H

#include <uerudp/exports.h>
#include "libcodec/wire/layout_words.h"

void ue_exports_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_exports *m);
void ue_field_export_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_field_export *m);
void ue_mapped_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_mapped *m);

#endif
