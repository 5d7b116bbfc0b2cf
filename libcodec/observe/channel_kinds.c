/* SPDX-License-Identifier: MIT */
#include <uerudp/bunch.h>
#include "libcodec/observe/reassembly_state.h"

#include <string.h>

static enum ue_content_kind kind_of_type(uint8_t type) {
    switch (type) {
    case UE_CHANNEL_CONTROL: return UE_CONTENT_CONTROL;
    case UE_CHANNEL_ACTOR: return UE_CONTENT_ACTOR;
    case UE_CHANNEL_VOICE: return UE_CONTENT_VOICE;
    default: return UE_CONTENT_UNKNOWN;
    }
}

static enum ue_content_kind kind_of_index(uint32_t index) {
    switch (index) {
    case UE_NAME_CONTROL: return UE_CONTENT_CONTROL;
    case UE_NAME_ACTOR: return UE_CONTENT_ACTOR;
    case UE_NAME_VOICE: return UE_CONTENT_VOICE;
    case UE_NAME_DATA_STREAM: return UE_CONTENT_DATA_STREAM;
    default: return UE_CONTENT_UNKNOWN;
    }
}

static bool text_is(const struct ue_text *text, const char *name) {
    size_t length = strlen(name);
    unsigned unit_bits = text->wide ? 16 : 8;
    if (text->units.bits != length * unit_bits) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (ue_view_load(text->units, i * unit_bits, unit_bits) != (uint8_t)name[i]) {
            return false;
        }
    }
    return true;
}

static enum ue_content_kind kind_of_text(const struct ue_text *text) {
    for (enum ue_content_kind kind = UE_CONTENT_UNKNOWN + 1; kind < UE_CONTENT_KIND_COUNT; kind++) {
        if (text_is(text, ue_content_kind_name(kind))) {
            return kind;
        }
    }
    return UE_CONTENT_UNKNOWN;
}

static void learn(struct ue_reassembly *reassembly, uint32_t index, enum ue_content_kind kind) {
    struct ue_reassembly_channel *channel = ue_reassembly_ensure_channel(reassembly, index);
    if (channel != NULL) {
        channel->kind = (uint8_t)kind & 7u;
        channel->has_kind = true;
    }
}

void ue_reassembly_learn_kind(struct ue_reassembly *reassembly, const struct ue_context *context,
                              const struct ue_bunch *bunch) {
    const struct ue_name *name = &bunch->name;
    if (bunch->has_name) {
        learn(reassembly, bunch->channel, name->hardcoded ? kind_of_index(name->index) : kind_of_text(&name->text));
    } else if (context->profile.packet == UE_PACKET_LEGACY && bunch->ch_type != 0) {
        learn(reassembly, bunch->channel, kind_of_type(bunch->ch_type));
    }
}

/* When no bunch names the kind: channel 0 is always control, and channel 1 is voice in games that use it
   (protocol.md 11.1). */
enum ue_content_kind ue_reassembly_channel_kind(const struct ue_reassembly *reassembly, uint32_t channel,
                                                bool *is_guessed) {
    const struct ue_reassembly_channel *known = ue_reassembly_find_channel(reassembly, channel);
    *is_guessed = known == NULL || !known->has_kind;
    if (!*is_guessed) {
        return (enum ue_content_kind)known->kind;
    }
    return channel == 0 ? UE_CONTENT_CONTROL : channel == 1 ? UE_CONTENT_VOICE : UE_CONTENT_ACTOR;
}
