/* SPDX-License-Identifier: MIT */
/* Private to libcodec: runs the layouts of network ids, references to objects and exports of objects. They support no
 * UE_BUILD. */
#ifndef UERUDP_LIBCODEC_CONTENT_OBJECT_H
#define UERUDP_LIBCODEC_CONTENT_OBJECT_H

#include <uerudp/object.h>
#include "libcodec/wire/layout_words.h"

void ue_guid_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field,
                 struct ue_guid *m);
void ue_reference_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field,
                      struct ue_object *m);
void ue_export_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_object *m);

#endif
