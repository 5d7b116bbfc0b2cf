/* SPDX-License-Identifier: MIT */
/* Private to libcodec: runs the layouts of values and properties whose class is known. They support no UE_BUILD. */
#ifndef UERUDP_LIBCODEC_CONTENT_CLASS_LAYOUT_H
#define UERUDP_LIBCODEC_CONTENT_CLASS_LAYOUT_H

#include <uerudp/class_layout.h>
#include "libcodec/wire/layout_words.h"

void ue_value_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_value *m);
void ue_live_properties_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x,
                            struct ue_live_properties *m);
void ue_live_property_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_live_property *m);
void ue_parameter_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_parameter *m);

#endif
