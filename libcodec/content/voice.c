/* SPDX-License-Identifier: MIT */
/* The layout of voice packets. */
#include "libcodec/content/voice.h"

#include "libcodec/wire/layout_run.h"

static uint32_t signed_value(uint16_t raw) {
    return (uint32_t)(int16_t)raw;
}

UE_INLINE void voice_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_voice *m) {
    BEGIN(VOICE);
    TEXT(m->sender, VOICE_SENDER);
    if (x->profile.voice >= 2) {
        UINT_SHOWN(m->amplitude, VOICE_AMPLITUDE, 16, signed_value(m->amplitude));
    } else {
        ABSENT(m->amplitude, VOICE_AMPLITUDE, 0);
    }
    UINT(m->length_bytes, VOICE_LENGTH_BYTES, 16);
    UINT_IF(x->profile.voice >= 1, m->samples, VOICE_SAMPLES, 64);
    size_t bits = m->length_bytes <= UE_VOICE_BYTES_MAX ? m->length_bytes * 8u : 0;
    VIEW_OF(m->data, VOICE_DATA, bits);
    END(VOICE, m);
}

UE_DEFINE_CONTENT_RUN(ue_voice, voice_layout, struct ue_voice)
UE_DEFINE_CONTENT_CODEC(ue_voice, struct ue_voice)
