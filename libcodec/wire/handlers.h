/* SPDX-License-Identifier: MIT */
/* Private to libcodec: runs the layout of packet handler components. */
#ifndef UERUDP_LIBCODEC_WIRE_HANDLERS_H
#define UERUDP_LIBCODEC_WIRE_HANDLERS_H

#include <uerudp/handlers.h>
#include "libcodec/wire/layout_words.h"

void ue_handlers_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_handlers *m);

/* Number of zero bits between the inner and the outer terminator: the byte-wise AES-GCM form pads its content to whole
   bytes. begin: first bit of the handlers; end: the bit after the inner terminator. */
size_t ue_handlers_padding(const struct ue_context *x, size_t begin, size_t end);

#endif
