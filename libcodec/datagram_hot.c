/* SPDX-License-Identifier: MIT */
/* The hot path of datagram.h. It instantiates the same layouts as the general one and gives the same results. */
#include "libcodec/bunch_layout.h"
#include "libcodec/packet_layout.h"
#include "libcodec/prefix_layout.h"

/* What the layouts ask of an ordinary context: a copy that nothing written meanwhile can be an alias of, and
   in which the compiler sees what need not be asked. */
UE_INLINE struct ue_context narrow(const struct ue_context *x) {
    enum ue_packet_layout packet = x->profile.packet;
    if (packet == UE_PACKET_LEGACY) {
        __builtin_unreachable();
    }
    return (struct ue_context){
        .profile = {.packet = packet, .channel = UE_CHANNEL_PACKED, .paused = true,
                    .custom_exports = x->profile.custom_exports},
        .settings = {.magic_bits = x->settings.magic_bits, .skip_bytes = x->settings.skip_bytes,
                     .extra_bits = x->settings.extra_bits},
        .direction = x->direction,
        .ids = x->ids,
        .data_length = x->data_length,
        .ch_seq = x->ch_seq,
    };
}

/* Position of the inner terminator: directly below the outer one, if a sender wrote it. */
UE_INLINE bool find_end(const uint8_t *bytes, size_t size_bytes, size_t *end, bool *adjacent) {
    if (size_bytes < 2 || bytes[size_bytes - 1] == 0) {
        return false;
    }
    uint32_t tail = (uint32_t)bytes[size_bytes - 1] << 8 | bytes[size_bytes - 2];
    unsigned inner = 30 - (unsigned)__builtin_clz(tail);
    *end = (size_bytes - 2) * 8 + inner;
    *adjacent = (tail >> inner & 1) != 0;
    return *adjacent || ue_bits_last_set(bytes, 0, *end, end);
}

/* Reads a bunch that is not as it should be. The hot cursor's address must not be given away. */
static __attribute__((noinline)) struct ue_cursor read_carefully(const struct ue_context *x, const uint8_t *bytes,
                                                                 size_t begin, size_t end, struct ue_bunch *bunch) {
    struct ue_cursor c;
    ue_cursor_read(&c, bytes, begin, end);
    ue_bunch_run(UE_DECODE, &c, x, bunch);
    return c;
}

UE_INLINE size_t bunches(struct ue_cursor *c, const struct ue_context *x, const struct ue_context *shared,
                         struct ue_item *items, size_t capacity) {
    struct ue_item *item = items;
    for (; c->next < c->end; item++) {
        if (UE_UNLIKELY(item == items + capacity)) {
            ue_cursor_fault(c, UE_E_FULL, UE_F_NONE, c->next);
            break;
        }
        size_t begin = c->next;
        item->is_ack = false;
        ue_quick_start(c);
        bunch_layout(UE_QUICK, c, x, &item->bunch);
        if (UE_UNLIKELY(ue_quick_failed(c))) {
            struct ue_cursor again = read_carefully(shared, c->in, begin, c->end, &item->bunch);
            c->canonical &= again.canonical;
            c->next = ue_cursor_pos(&again);
            c->end = again.end;
            c->fault = again.fault;
            if (!ue_cursor_ok(c)) {
                break;
            }
        }
    }
    return (size_t)(item - items);
}

bool ue_datagram_decode_hot(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                            struct ue_datagram *datagram, struct ue_verdict *verdict) {
    size_t end;
    bool adjacent;
    if (!context->is_ordinary || !find_end(bytes, size_bytes, &end, &adjacent)) {
        return false;
    }
    const struct ue_context narrowed = narrow(context);
    const struct ue_context *x = &narrowed;
    struct ue_cursor c;
    ue_cursor_read(&c, bytes, 0, end);
    c.size_bytes = size_bytes;
    c.canonical = adjacent;
    ue_quick_start(&c);
    prefix_layout(UE_QUICK, &c, x, &datagram->prefix);
    if (datagram->prefix.is_handshake) {
        return false;
    }
    packet_layout(UE_QUICK, &c, x, &datagram->packet);
    if (ue_quick_failed(&c)) {
        return false;
    }
    datagram->handlers.is_opaque = false;
    datagram->item_count = bunches(&c, x, context, datagram->items, datagram->item_capacity);
    *verdict = (struct ue_verdict){
        .fault = c.fault,
        .canonical = c.canonical && ue_cursor_ok(&c),
        .seq = datagram->packet.seq,
        .ack = datagram->packet.ack,
        .acked_history_seq = datagram->packet.acked_history_seq,
        .has_frame_time = datagram->packet.has_frame_time,
        .item_count = datagram->item_count,
        .payload_end_bit = c.next,
    };
    return true;
}
