/* SPDX-License-Identifier: MIT */
/* The header of a bunch that is sent: channel, name, sequence, flags (FOutBunch; endpoint.md 23.8). */
#include "tools/endpoint/core/sender.h"

static uint8_t legacy_type(enum ue_channel_kind kind) {
    switch (kind) {
    case UE_KIND_CONTROL: return UE_CHANNEL_CONTROL;
    case UE_KIND_VOICE: return UE_CHANNEL_VOICE;
    case UE_KIND_ACTOR: return UE_CHANNEL_ACTOR;
    default: return UE_CHANNEL_FILE;
    }
}

/* The channel, as each of its bunches names it. */
static void name_channel(const struct ue_common *common, const struct ue_channel *channel, struct ue_bunch *bunch) {
    bool named = bunch->reliable || bunch->open;
    bunch->channel = channel->index;
    if (ue_is_legacy(common)) {
        bunch->ch_type = named ? legacy_type(channel->kind) : 0;
    } else if (named) {
        bool is_text = channel->name != NULL;
        bunch->has_name = true;
        bunch->name.hardcoded = !is_text;
        bunch->name.index = is_text ? 0 : channel->name_index;
        if (is_text) {
            bunch->name.text = *channel->name;
        }
    }
}

static uint32_t wire_ch_seq(const struct ue_common *common, int32_t ch_seq) {
    return ue_has_internal_ack(common) ? 0 : (uint32_t)ch_seq & (common->context.ch_seq_bound - 1);
}

/* endpoint.md 23.8. */
void ue_out_bunch_fill(const struct ue_common *common, const struct ue_channel *channel, const struct ue_out_rec *out,
                       bool reliable, struct ue_view data, struct ue_bunch *bunch) {
    *bunch = (struct ue_bunch){
        .control = out->open || out->close,
        .open = out->open,
        .close = out->close,
        .dormant = ue_is_legacy(common) && out->close && out->close_reason == UE_CHANNEL_DORMANCY,
        .paused = out->paused && common->context.profile.paused,
        .reliable = reliable,
        .has_exports = out->has_exports,
        .has_mapped = out->has_mapped,
        .partial = out->partial,
        .partial_initial = out->partial_initial,
        .partial_exports_final = out->partial_exports_final,
        .partial_final = out->partial_final,
        .close_reason = ue_is_legacy(common) ? 0 : out->close_reason,
        .ch_seq = reliable ? wire_ch_seq(common, out->ch_seq) : 0,
        .data = data,
    };
    name_channel(common, channel, bunch);
}

void ue_out_bunch_fill_reliable(const struct ue_common *common, const struct ue_channel *channel,
                                const struct ue_out_rec *out, struct ue_item *item) {
    item->is_ack = false;
    ue_out_bunch_fill(common, channel, out, true, (struct ue_view){out->data, 0, out->data_bits}, &item->bunch);
}
