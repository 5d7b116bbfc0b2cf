/* SPDX-License-Identifier: MIT */
#include <uerudp/voice.h>

#include "libcodec/content/content_layouts.h"

UE_INLINE void amplitude(enum ue_op op, struct ue_cursor *c, struct ue_voice *m) {
    size_t at = ue_cursor_pos(c);
    if (op == UE_TRACE) {
        m->amplitude = (uint16_t)ue_cursor_read_bits(c, 16, UE_F_VOICE_AMPLITUDE);
        ue_cursor_report(c, UE_F_VOICE_AMPLITUDE, at, (uint32_t)(int16_t)m->amplitude, true);
    } else {
        UINT(m->amplitude, VOICE_AMPLITUDE, 16);
    }
}

UE_INLINE void voice_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_voice *m) {
    BEGIN(VOICE);
    TEXT(m->sender, VOICE_SENDER);
    if (x->profile.voice >= 2) {
        amplitude(op, c, m);
    } else {
        ABSENT(m->amplitude, VOICE_AMPLITUDE, 0);
    }
    UINT(m->length_bytes, VOICE_LENGTH_BYTES, 16);
    UINT_IF(x->profile.voice >= 1, m->samples, VOICE_SAMPLES, 64);
    size_t bits = m->length_bytes <= UE_VOICE_BYTES_MAX ? m->length_bytes * 8u : 0;
    REQUIRE(op != UE_ENCODE || m->data.bits == bits, UE_E_CONFLICT, VOICE_DATA);
    VIEW(m->data, VOICE_DATA, bits);
    END(VOICE);
}

UE_DEFINE_CONTENT_RUN(ue_voice, voice_layout, struct ue_voice)
UE_DEFINE_CONTENT_CODEC(ue_voice, struct ue_voice)
