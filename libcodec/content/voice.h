/* SPDX-License-Identifier: MIT */
/* Private to libcodec: runs the layout of voice packets. It supports no UE_BUILD. */
#ifndef UERUDP_LIBCODEC_CONTENT_VOICE_H
#define UERUDP_LIBCODEC_CONTENT_VOICE_H

#include <uerudp/voice.h>
#include "libcodec/wire/layout_words.h"

void ue_voice_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_voice *m);

#endif
