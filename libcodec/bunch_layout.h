/* SPDX-License-Identifier: MIT */
/* PRIVATE: the layout of bunches. */
#ifndef UE_BUNCH_LAYOUT_H
#define UE_BUNCH_LAYOUT_H

#include "libcodec/layouts.h"

#define CLOSE_REASON_BOUND 15
#define CHANNEL_TYPE_BITS 3

UE_INLINE void open_close(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_bunch *m) {
    FLAG(m->control, BUNCH_CONTROL);
    if (m->control) {
        FLAG(m->open, BUNCH_OPEN);
        FLAG(m->close, BUNCH_CLOSE);
    } else {
        ABSENT(m->open, BUNCH_OPEN, false);
        ABSENT(m->close, BUNCH_CLOSE, false);
    }
    bool legacy = x->profile.packet == UE_PACKET_LEGACY;
    if (m->close && legacy) {
        FLAG(m->dormant, BUNCH_DORMANT);
    } else {
        ABSENT(m->dormant, BUNCH_DORMANT, false);
    }
    if (m->close && !legacy) {
        BELOW(m->close_reason, BUNCH_CLOSE_REASON, CLOSE_REASON_BOUND);
    } else {
        ABSENT(m->close_reason, BUNCH_CLOSE_REASON, 0);
    }
}

UE_INLINE void partial_bits(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_bunch *m) {
    if (!m->partial) {
        ABSENT(m->partial_initial, BUNCH_PARTIAL_INITIAL, false);
        ABSENT(m->partial_exports_final, BUNCH_PARTIAL_EXPORTS_FINAL, false);
        ABSENT(m->partial_final, BUNCH_PARTIAL_FINAL, false);
        return;
    }
    FLAG(m->partial_initial, BUNCH_PARTIAL_INITIAL);
    if (x->profile.custom_exports) {
        FLAG(m->partial_exports_final, BUNCH_PARTIAL_EXPORTS_FINAL);
    } else {
        ABSENT(m->partial_exports_final, BUNCH_PARTIAL_EXPORTS_FINAL, false);
    }
    FLAG(m->partial_final, BUNCH_PARTIAL_FINAL);
}

UE_INLINE void no_name(enum ue_op op, struct ue_cursor *c, struct ue_bunch *m) {
    ABSENT(m->name.hardcoded, BUNCH_NAME_HARDCODED, false);
    ABSENT(m->name.index, BUNCH_NAME_INDEX, 0);
    ABSENT_VIEW(m->name.text.units, BUNCH_NAME_TEXT);
    ABSENT(m->name.text.wide, BUNCH_NAME_TEXT, false);
    ABSENT(m->name.number, BUNCH_NAME_NUMBER, 0);
}

UE_INLINE void name(enum ue_op op, struct ue_cursor *c, struct ue_name *m) {
    FLAG(m->hardcoded, BUNCH_NAME_HARDCODED);
    if (m->hardcoded) {
        PACKED(m->index, BUNCH_NAME_INDEX);
        ABSENT_VIEW(m->text.units, BUNCH_NAME_TEXT);
        ABSENT(m->text.wide, BUNCH_NAME_TEXT, false);
        ABSENT(m->number, BUNCH_NAME_NUMBER, 0);
    } else {
        ABSENT(m->index, BUNCH_NAME_INDEX, 0);
        TEXT(m->text, BUNCH_NAME_TEXT);
        UINT(m->number, BUNCH_NAME_NUMBER, 32);
    }
}

UE_INLINE void channel_kind(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_bunch *m) {
    bool named = m->reliable || m->open;
    bool legacy = x->profile.packet == UE_PACKET_LEGACY;
    if (named && legacy) {
        UINT(m->ch_type, BUNCH_CH_TYPE, CHANNEL_TYPE_BITS);
    } else {
        ABSENT(m->ch_type, BUNCH_CH_TYPE, 0);
    }
    ABSENT(m->has_name, BUNCH_NAME_HARDCODED, named && !legacy);
    if (m->has_name) {
        name(op, c, &m->name);
    } else {
        no_name(op, c, m);
    }
}

UE_INLINE void data(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_bunch *m) {
    REQUIRE(op != UE_ENCODE || m->data.bits < x->data_bound, UE_E_RANGE, BUNCH_DATA_BITS);
    uint32_t bits = op == UE_ENCODE ? (uint32_t)m->data.bits : 0;
    BELOW(bits, BUNCH_DATA_BITS, x->data_bound);
    VIEW(m->data, BUNCH_DATA, bits);
    if (op == UE_BUILD) {
        REQUIRE(bits <= m->data.bits, UE_E_CONFLICT, BUNCH_DATA_BITS);
        m->data.bits = bits; /* the source speaks in whole bytes */
    }
}

UE_INLINE void bunch_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_bunch *m) {
    BEGIN(BUNCH);
    size_t at = ue_cursor_pos(c);
    if (x->profile.packet == UE_PACKET_LEGACY) {
        FLAG(m->legacy_bit, LEGACY_IS_ACK);
        REQUIRE(!m->legacy_bit || x->settings.internal_ack, UE_E_CONFLICT, LEGACY_IS_ACK);
    } else {
        ABSENT(m->legacy_bit, LEGACY_IS_ACK, false);
    }
    open_close(op, c, x, m);
    if (x->profile.paused) {
        FLAG(m->paused, BUNCH_PAUSED);
    } else {
        ABSENT(m->paused, BUNCH_PAUSED, false);
    }
    FLAG(m->reliable, BUNCH_RELIABLE);
    if (x->profile.channel == UE_CHANNEL_BOUNDED) {
        BELOW(m->channel, BUNCH_CHANNEL, x->profile.channel_bound);
    } else {
        PACKED(m->channel, BUNCH_CHANNEL);
    }
    FLAG(m->has_exports, BUNCH_HAS_EXPORTS);
    FLAG(m->has_mapped, BUNCH_HAS_MAPPED);
    FLAG(m->partial, BUNCH_PARTIAL);
    if (m->reliable && !x->settings.internal_ack) {
        BELOW(m->ch_seq, BUNCH_CH_SEQ, x->ch_seq_bound);
    } else {
        ABSENT(m->ch_seq, BUNCH_CH_SEQ, 0);
    }
    partial_bits(op, c, x, m);
    channel_kind(op, c, x, m);
    if (op == UE_TRACE) {
        const char *known = ue_bunch_channel_name(x, m);
        if (known != NULL) {
            ue_cursor_report_string(c, UE_F_BUNCH_CHANNEL_NAME, at, ue_cursor_pos(c) - at, known);
        } else if (m->has_name && !m->name.hardcoded) {
            ue_cursor_report_text_generated(c, UE_F_BUNCH_CHANNEL_NAME, at, m->name.text);
        }
    }
    data(op, c, x, m);
    END(BUNCH);
}

#endif
