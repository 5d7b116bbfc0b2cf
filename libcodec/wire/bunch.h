/* SPDX-License-Identifier: MIT */
/* The layout of bunches. */
#ifndef UERUDP_LIBCODEC_WIRE_BUNCH_H
#define UERUDP_LIBCODEC_WIRE_BUNCH_H

#include <uerudp/bunch.h>
#include "libcodec/wire/layout_words.h"

#define CLOSE_REASONS 15
#define CHANNEL_TYPE_BITS 3

UE_INLINE void open_close_bits(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_bunch *m) {
    bool legacy = x->profile.packet == UE_PACKET_LEGACY;
    FLAG(m->control, BUNCH_CONTROL);
    FLAG_IF(m->control, m->open, BUNCH_OPEN);
    FLAG_IF(m->control, m->close, BUNCH_CLOSE);
    FLAG_IF(m->close && legacy, m->dormant, BUNCH_DORMANT);
    ENUM_IF(m->close && !legacy, m->close_reason, BUNCH_CLOSE_REASON, CLOSE_REASONS);
}

UE_INLINE void partial_bits(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_bunch *m) {
    FLAG_IF(m->partial, m->partial_initial, BUNCH_PARTIAL_INITIAL);
    FLAG_IF(m->partial && x->profile.custom_exports, m->partial_exports_final, BUNCH_PARTIAL_EXPORTS_FINAL);
    FLAG_IF(m->partial, m->partial_final, BUNCH_PARTIAL_FINAL);
}

UE_INLINE bool is_text_name(bool named, bool hardcoded) {
    return named && !hardcoded;
}

UE_INLINE void channel_name(enum ue_op op, struct ue_cursor *c, bool named, struct ue_name *m) {
    FLAG_IF(named, m->hardcoded, BUNCH_NAME_HARDCODED);
    PACKED_IF(m->hardcoded, m->index, BUNCH_NAME_INDEX);
    bool is_text = is_text_name(named, m->hardcoded);
    TEXT_IF(is_text, m->text, BUNCH_NAME_TEXT);
    UINT_IF(is_text, m->number, BUNCH_NAME_NUMBER, 32);
}

UE_INLINE bool is_named(bool reliable, bool open) {
    return reliable || open;
}

UE_INLINE void channel_kind(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_bunch *m) {
    bool named = is_named(m->reliable, m->open);
    bool legacy = x->profile.packet == UE_PACKET_LEGACY;
    UINT_IF(named && legacy, m->ch_type, BUNCH_CH_TYPE, CHANNEL_TYPE_BITS);
    ABSENT(m->has_name, BUNCH_NAME_HARDCODED, named && !legacy);
    channel_name(op, c, m->has_name, &m->name);
}

UE_INLINE void bunch_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_bunch *m) {
    BEGIN(BUNCH);
    size_t at = ue_cursor_pos(c);
    FLAG_IF(x->profile.packet == UE_PACKET_LEGACY, m->legacy_bit, LEGACY_IS_ACK);
    REQUIRE(!m->legacy_bit || x->settings.internal_ack, UE_E_CONFLICT, LEGACY_IS_ACK);
    open_close_bits(op, c, x, m);
    FLAG_IF(x->profile.paused, m->paused, BUNCH_PAUSED);
    FLAG(m->reliable, BUNCH_RELIABLE);
    if (x->profile.channel == UE_CHANNEL_BOUNDED) {
        BELOW(m->channel, BUNCH_CHANNEL, ue_bound_of(x->profile.channel_bound));
    } else {
        PACKED(m->channel, BUNCH_CHANNEL);
    }
    FLAG(m->has_exports, BUNCH_HAS_EXPORTS);
    FLAG(m->has_mapped, BUNCH_HAS_MAPPED);
    FLAG(m->partial, BUNCH_PARTIAL);
    BELOW_IF(m->reliable && !x->settings.internal_ack, m->ch_seq, BUNCH_CH_SEQ, x->ch_seq);
    partial_bits(op, c, x, m);
    channel_kind(op, c, x, m);
    GENERATED_NAME(BUNCH_CHANNEL_NAME, at, ue_bunch_channel_name(x, m),
                   m->has_name && !m->name.hardcoded ? &m->name.text : NULL);
    VIEW_BELOW(m->data, BUNCH_DATA_BITS, BUNCH_DATA, x->data_length);
    END(BUNCH, m);
}

void ue_bunch_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_bunch *m);

#endif
