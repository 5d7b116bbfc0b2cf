/* SPDX-License-Identifier: MIT */
/* Private to libcodec: runs the layout of handshake messages. */
#ifndef UERUDP_LIBCODEC_WIRE_HANDSHAKE_H
#define UERUDP_LIBCODEC_WIRE_HANDSHAKE_H

#include <uerudp/handshake.h>
#include "libcodec/wire/layout_words.h"

void ue_handshake_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_handshake *m);

#endif
