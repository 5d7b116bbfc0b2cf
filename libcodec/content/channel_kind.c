/* SPDX-License-Identifier: MIT */
#include <uerudp/bunch.h>
#include <uerudp/content.h>

#include <string.h>

const char *ue_content_kind_name(enum ue_content_kind kind) {
    static const char *const names[UE_CONTENT_KIND_COUNT] = {
        [UE_CONTENT_CONTROL] = "Control",
        [UE_CONTENT_ACTOR] = "Actor",
        [UE_CONTENT_VOICE] = "Voice",
        [UE_CONTENT_DATA_STREAM] = "DataStream",
    };
    return names[kind];
}

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

/* Not inline: engines name channels by index, which needs no registers for a text. */
static __attribute__((noinline)) enum ue_content_kind kind_of_text(const struct ue_name *name) {
    bool has_suffix = name->number != 0; /* Actor_4 is another name than Actor */
    for (enum ue_content_kind kind = UE_CONTENT_UNKNOWN + 1; !has_suffix && kind < UE_CONTENT_KIND_COUNT; kind++) {
        if (text_is(&name->text, ue_content_kind_name(kind))) {
            return kind;
        }
    }
    return UE_CONTENT_UNKNOWN;
}

bool ue_content_named_kind(const struct ue_context *context, const struct ue_bunch *bunch, enum ue_content_kind *kind) {
    const struct ue_name *name = &bunch->name;
    if (bunch->has_name) {
        *kind = name->hardcoded ? kind_of_index(name->index) : kind_of_text(name);
        return true;
    }
    *kind = kind_of_type(bunch->ch_type);
    return context->profile.packet == UE_PACKET_LEGACY && bunch->ch_type != 0;
}
