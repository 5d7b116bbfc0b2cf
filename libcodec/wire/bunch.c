/* SPDX-License-Identifier: MIT */
#include "libcodec/wire/bunch.h"
#include "libcodec/wire/layout_run.h"

UE_DEFINE_RUN(ue_bunch, bunch_layout, struct ue_bunch)

enum ue_status ue_bunch_decode(const struct ue_context *context, const uint8_t *bytes, size_t end_bit, size_t *bit,
                               struct ue_bunch *bunch, struct ue_fault *fault) {
    struct ue_cursor c;
    ue_cursor_init_read(&c, bytes, *bit, end_bit);
    ue_bunch_run(UE_DECODE, &c, context, bunch);
    *bit = ue_cursor_pos(&c);
    *fault = c.fault;
    return c.fault.status;
}

enum ue_status ue_bunch_encode(const struct ue_context *context, const struct ue_bunch *bunch, uint8_t *bytes,
                               size_t size_bytes, size_t *bit, struct ue_fault *fault) {
    struct ue_cursor c;
    ue_cursor_init_write(&c, bytes, size_bytes, *bit);
    ue_bunch_run(UE_ENCODE, &c, context, (struct ue_bunch *)bunch); /* encoding only reads it */
    ue_cursor_flush(&c);
    *bit = ue_cursor_pos(&c);
    *fault = c.fault;
    return c.fault.status;
}

static const char *legacy_channel_name(uint8_t type) {
    switch (type) {
    case UE_CHANNEL_CONTROL: return "Control";
    case UE_CHANNEL_ACTOR: return "Actor";
    case UE_CHANNEL_FILE: return "File";
    case UE_CHANNEL_VOICE: return "Voice";
    default: return NULL;
    }
}

static const char *indexed_channel_name(uint32_t index) {
    switch (index) {
    case UE_NAME_ACTOR: return "Actor";
    case UE_NAME_CONTROL: return "Control";
    case UE_NAME_VOICE: return "Voice";
    case UE_NAME_DATA_STREAM: return "DataStream";
    default: return NULL;
    }
}

const char *ue_bunch_channel_name(const struct ue_context *context, const struct ue_bunch *bunch) {
    if (bunch->has_name) {
        return bunch->name.hardcoded ? indexed_channel_name(bunch->name.index) : NULL;
    }
    if (context->profile.packet == UE_PACKET_LEGACY && bunch->ch_type != 0) {
        return legacy_channel_name(bunch->ch_type);
    }
    return bunch->channel == 0 && !context->settings.internal_ack ? "Control" : NULL;
}
