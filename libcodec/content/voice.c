/* SPDX-License-Identifier: MIT */
/* The layout of voice packets, and the talkers that send them. */
#include "libcodec/content/voice.h"

#include <uerudp/time_ns.h>
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

static bool is_voice(const struct ue_context *context, struct ue_view message) {
    struct ue_fault fault;
    struct ue_voice voice;
    size_t bit = 0;
    while (bit < message.bits && ue_voice_decode(context, message, &bit, &voice, &fault) == UE_OK) {
    }
    return bit == message.bits;
}

void ue_voice_visit(const struct ue_context *context, struct ue_view message,
                    void (*on_voice)(void *user, const struct ue_voice *voice), void *user) {
    struct ue_fault fault;
    struct ue_voice voice;
    if (!is_voice(context, message)) {
        return;
    }
    for (size_t bit = 0; bit < message.bits && ue_voice_decode(context, message, &bit, &voice, &fault) == UE_OK;) {
        on_voice(user, &voice);
    }
}

void ue_talker_name(const struct ue_voice *voice, char sender[UE_TALKER_NAME_BYTES]) {
    ue_text_to_utf8(voice->sender, sender, UE_TALKER_NAME_BYTES);
}

void ue_talker_add(struct ue_talker *talker, const struct ue_voice *voice, int64_t time_ns) {
    int64_t pause_ns = ue_time_ns_since(time_ns, talker->last_ns);
    if (talker->packets == 0 || pause_ns >= UE_TALKER_PAUSE_NS) {
        talker->spurts++;
    } else if (pause_ns > 0) {
        talker->talked_ns += pause_ns;
    }
    talker->last_ns = time_ns;
    talker->packets++;
    talker->bytes += voice->data.bits / 8;
}
