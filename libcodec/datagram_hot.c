/* SPDX-License-Identifier: MIT */
/* The hot path of datagram.h. It instantiates the same layouts as the general one and gives the same results. */
#include "libcodec/bunch_layout.h"
#include "libcodec/packet_layout.h"
#include "libcodec/prefix_layout.h"

static bool applies(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes) {
    return size_bytes > 1 && bytes[size_bytes - 1] > 1 && x->profile.packet != UE_PACKET_LEGACY &&
           !x->settings.internal_ack && x->settings.terminators == 2 && x->settings.handlers[0] == UE_HANDLER_NONE;
}

/* Position of the inner terminator, directly below the outer one; false when there are zeros between them. */
static bool find_end(const uint8_t *bytes, size_t size_bytes, size_t *end) {
    unsigned outer = 31 - (unsigned)__builtin_clz(bytes[size_bytes - 1]);
    *end = (size_bytes - 1) * 8 + outer - 1;
    return (bytes[size_bytes - 1] >> (outer - 1) & 1) != 0;
}

UE_INLINE size_t bunches(struct ue_cursor *c, const struct ue_context *x, struct ue_datagram *d) {
    size_t count = 0;
    while (ue_cursor_left(c) != 0) {
        if (UE_UNLIKELY(count == d->item_capacity)) {
            ue_cursor_fault(c, UE_E_FULL, UE_F_NONE, ue_cursor_pos(c));
            break;
        }
        d->items[count].is_ack = false;
        bunch_layout(UE_DECODE, c, x, &d->items[count].bunch);
        count += ue_cursor_ok(c);
    }
    return count;
}

bool ue_datagram_decode_hot(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes,
                            struct ue_datagram *datagram, struct ue_verdict *verdict) {
    size_t end;
    if (!applies(x, bytes, size_bytes) || !find_end(bytes, size_bytes, &end)) {
        return false;
    }
    struct ue_cursor c;
    ue_cursor_read(&c, bytes, 0, end);
    c.size_bytes = size_bytes;
    prefix_layout(UE_DECODE, &c, x, &datagram->prefix);
    if (datagram->prefix.is_handshake || !ue_cursor_ok(&c)) {
        return false;
    }
    datagram->handlers.is_opaque = false;
    packet_layout(UE_DECODE, &c, x, &datagram->packet);
    datagram->item_count = bunches(&c, x, datagram);
    *verdict = (struct ue_verdict){
        .fault = c.fault,
        .canonical = c.canonical && ue_cursor_ok(&c),
        .seq = datagram->packet.seq,
        .ack = datagram->packet.ack,
        .acked_history_seq = datagram->packet.acked_history_seq,
        .has_frame_time = datagram->packet.has_frame_time,
        .item_count = datagram->item_count,
        .payload_end_bit = ue_cursor_pos(&c),
    };
    return true;
}
