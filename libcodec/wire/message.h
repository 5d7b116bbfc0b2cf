/* SPDX-License-Identifier: MIT */
/* Private to libcodec: runs the layout of control messages. */
#ifndef UERUDP_LIBCODEC_WIRE_MESSAGE_H
#define UERUDP_LIBCODEC_WIRE_MESSAGE_H

#include <uerudp/message.h>
#include "libcodec/wire/layout_words.h"

void ue_message_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_message *m);

/* Reports the control messages of a payload. What follows a fault is reported as opaque. */
enum ue_status ue_messages_trace(const struct ue_context *x, struct ue_view payload, const struct ue_trace *trace,
                                 struct ue_fault *fault);

#endif
