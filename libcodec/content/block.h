/* SPDX-License-Identifier: MIT */
/* Private to libcodec: runs the layouts of content blocks and of what their payloads contain. They support no UE_BUILD.
 */
#ifndef UERUDP_LIBCODEC_CONTENT_BLOCK_H
#define UERUDP_LIBCODEC_CONTENT_BLOCK_H

#include <uerudp/block.h>
#include <uerudp/class_layout.h>
#include "libcodec/wire/layout_words.h"

void ue_block_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_block *m);
void ue_property_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_property *m);
void ue_call_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_call *m);
void ue_value_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_value *m);
void ue_live_properties_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x,
                            struct ue_live_properties *m);
void ue_live_property_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_live_property *m);
void ue_parameter_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_parameter *m);

/* Reports the fields inside a block's payload, as far as they can be decoded. The layout of the block has already
   reported the payload as a run of bits. */
void ue_payload_trace(struct ue_cursor *outer, const struct ue_context *x, const struct ue_block *block);

#endif
