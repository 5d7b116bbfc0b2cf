/* SPDX-License-Identifier: MIT */
/* The fast path of decoding: packets of the modern layouts without handlers (is_common), in one function with one
   cursor. It instantiates the same layouts as the slow path, gives the same results, and falls back to the slow path
   for all other datagrams. */
#include "libcodec/wire/bunch_layout.h"
#include "libcodec/wire/common_context.h"
#include "libcodec/wire/datagram_slow.h"
#include "libcodec/wire/packet_layout.h"
#include "libcodec/wire/prefix_layout.h"

/* Finds the inner terminator. In canonical packets it is adjacent to the outer one. */
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

/* The state of another cursor after it has read. The fast cursor copies it, because the address of the fast cursor must
   not escape. */
struct cursor_state {
    size_t next;
    bool canonical;
    struct ue_fault fault;
};

UE_INLINE void set_state(struct ue_cursor *c, struct cursor_state cursor_state) {
    c->next = cursor_state.next;
    c->canonical &= cursor_state.canonical;
    c->fault = cursor_state.fault;
}

/* Decodes a packet header that the fast path rejected. */
static __attribute__((noinline)) struct cursor_state
read_header_slow(const struct ue_context *x, const uint8_t *bytes, size_t begin, size_t end, struct ue_packet *packet) {
    struct ue_cursor c;
    ue_cursor_init_read(&c, bytes, begin, end);
    ue_packet_run(UE_DECODE, &c, x, packet);
    return (struct cursor_state){ue_cursor_pos(&c), c.canonical, c.fault};
}

/* Decodes a bunch that the fast path rejected. */
static __attribute__((noinline)) struct cursor_state read_bunch_slow(const struct ue_context *x, const uint8_t *bytes,
                                                                     size_t size_bytes, size_t begin, size_t end,
                                                                     struct ue_bunch *bunch) {
    struct ue_cursor c;
    ue_cursor_init_read(&c, bytes, begin, end);
    c.size_bytes = size_bytes;
    ue_bunch_run(UE_DECODE, &c, x, bunch);
    return (struct cursor_state){ue_cursor_pos(&c), c.canonical, c.fault};
}

UE_INLINE void count_bunch(struct ue_bunch_counts *counts, const struct ue_bunch *bunch) {
    if (counts != NULL) {
        counts->all++;
        counts->reliable += bunch->reliable;
        counts->partial += bunch->partial;
        counts->open += bunch->open;
        counts->close += bunch->close;
    }
}

/* Decodes read_bunches_or_count into items, or, without keep, only counts them: then the compiler removes all stores
   but those of the counts. */
UE_INLINE size_t read_bunches_or_count(struct ue_cursor *c, const struct ue_context *x, const struct ue_context *shared,
                                       bool keep, struct ue_item *items, size_t capacity,
                                       struct ue_bunch_counts *counts) {
    size_t count = 0;
    for (; c->next < c->end; count++) {
        if (keep && UE_UNLIKELY(count == capacity)) {
            ue_cursor_fault(c, UE_E_FULL, UE_F_NONE, c->next);
            break;
        }
        size_t begin = c->next;
        struct ue_bunch discarded, rare;
        if (keep) {
            items[count].is_ack = false;
        }
        ue_cursor_fast_start(c);
        bunch_layout(UE_DECODE_FAST, c, x, keep ? &items[count].bunch : &discarded);
        if (UE_UNLIKELY(ue_cursor_fast_failed(c))) {
            set_state(c,
                      read_bunch_slow(shared, c->in, c->size_bytes, begin, c->end, keep ? &items[count].bunch : &rare));
            if (!ue_cursor_ok(c)) {
                break;
            }
            count_bunch(counts, &rare);
        } else {
            count_bunch(counts, &discarded);
        }
    }
    return count;
}

/* Reads the prefix. Returns false when the slow path must decode the datagram. */
UE_INLINE bool read_prefix(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes, struct ue_cursor *c,
                           struct ue_prefix *prefix) {
    size_t end;
    bool adjacent;
    if (!find_end(bytes, size_bytes, &end, &adjacent)) {
        return false;
    }
    ue_cursor_init_read(c, bytes, 0, end);
    c->size_bytes = size_bytes;
    c->canonical = adjacent;
    ue_cursor_fast_start(c);
    prefix_layout(UE_DECODE_FAST, c, x, prefix);
    return !prefix->is_handshake && c->next <= end;
}

enum depth { ONLY_HEADER, ALL, ALL_AND_KEEP };

UE_INLINE bool run(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes, struct ue_prefix *prefix,
                   struct ue_packet *packet, enum depth depth, struct ue_item *items, size_t capacity,
                   struct ue_bunch_counts *counts, struct ue_decode_result *result) {
    if (!context->is_common) {
        return false;
    }
    const struct ue_context common = ue_common_context(context);
    const struct ue_context *x = &common;
    struct ue_cursor c;
    if (!read_prefix(x, bytes, size_bytes, &c, prefix)) {
        return false;
    }
    size_t begin = c.next;
    packet_layout(UE_DECODE_FAST, &c, x, packet);
    if (UE_UNLIKELY(ue_cursor_fast_failed(&c))) {
        struct ue_packet rare;
        set_state(&c, read_header_slow(context, bytes, begin, c.end, &rare));
        *packet = rare;
    }
    size_t count = 0;
    if (depth != ONLY_HEADER && ue_cursor_ok(&c)) {
        count = read_bunches_or_count(&c, x, context, depth == ALL_AND_KEEP, items, capacity, counts);
    }
    *result = (struct ue_decode_result){
        .fault = c.fault,
        .canonical = c.canonical && ue_cursor_ok(&c),
        .seq = packet->seq,
        .ack = packet->ack,
        .acked_history_seq = packet->acked_history_seq,
        .has_frame_time = packet->has_frame_time,
        .item_count = count,
        .payload_end_bit = c.next,
    };
    return true;
}

enum ue_status ue_datagram_decode(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                  struct ue_datagram *datagram, struct ue_decode_result *result) {
    if (!run(context, bytes, size_bytes, &datagram->prefix, &datagram->packet, ALL_AND_KEEP, datagram->items,
             datagram->item_capacity, NULL, result)) {
        return ue_datagram_decode_slow(context, bytes, size_bytes, datagram, NULL, result);
    }
    datagram->handlers.is_opaque = false;
    datagram->item_count = result->item_count;
    return result->fault.status;
}

enum ue_status ue_datagram_check(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                 const struct ue_visitor *visitor, struct ue_decode_result *result) {
    struct ue_prefix prefix;
    struct ue_packet packet;
    if (visitor != NULL || !run(context, bytes, size_bytes, &prefix, &packet, ALL, NULL, 0, NULL, result)) {
        return ue_datagram_decode_slow(context, bytes, size_bytes, NULL, visitor, result);
    }
    return result->fault.status;
}

static void count_item(void *user, const struct ue_item *item) {
    if (!item->is_ack) {
        count_bunch(user, &item->bunch);
    }
}

void ue_items_count(const struct ue_item *items, size_t count, struct ue_bunch_counts *counts) {
    *counts = (struct ue_bunch_counts){0};
    for (size_t i = 0; i < count; i++) {
        count_item(counts, &items[i]);
    }
}

enum ue_status ue_datagram_count(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                 struct ue_bunch_counts *counts, struct ue_decode_result *result) {
    struct ue_prefix prefix;
    struct ue_packet packet;
    const struct ue_visitor visitor = {.item = count_item, .user = counts};
    *counts = (struct ue_bunch_counts){0};
    if (!run(context, bytes, size_bytes, &prefix, &packet, ALL, NULL, 0, counts, result)) {
        return ue_datagram_decode_slow(context, bytes, size_bytes, NULL, &visitor, result);
    }
    return result->fault.status;
}

enum ue_status ue_datagram_check_header(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                        struct ue_decode_result *result) {
    struct ue_prefix prefix;
    struct ue_packet packet;
    if (!run(context, bytes, size_bytes, &prefix, &packet, ONLY_HEADER, NULL, 0, NULL, result)) {
        return ue_datagram_decode_slow(context, bytes, size_bytes, NULL, NULL, result);
    }
    return result->fault.status;
}

static bool read_head(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                      struct ue_prefix *prefix, struct ue_packet *packet, struct ue_item_range *range) {
    if (!context->is_common) {
        return false;
    }
    const struct ue_context x = ue_common_context(context);
    struct ue_cursor c;
    if (!read_prefix(&x, bytes, size_bytes, &c, prefix)) {
        return false;
    }
    packet_layout(UE_DECODE_FAST, &c, &x, packet);
    *range = (struct ue_item_range){c.next, c.end};
    return !ue_cursor_fast_failed(&c);
}

enum ue_status ue_datagram_decode_head(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                       struct ue_datagram *datagram, struct ue_item_range *range,
                                       struct ue_fault *fault) {
    datagram->handlers.is_opaque = false;
    datagram->item_count = 0;
    if (!read_head(context, bytes, size_bytes, &datagram->prefix, &datagram->packet, range)) {
        return ue_datagram_decode_head_slow(context, bytes, size_bytes, datagram, range, fault);
    }
    *fault = (struct ue_fault){0};
    return UE_OK;
}

/* Decodes read_bunches_or_count up to the first that needs the slow path. */
static size_t read_bunches(const struct ue_context *context, const uint8_t *bytes, struct ue_item_range *range,
                           struct ue_item *items, size_t capacity) {
    if (!context->is_common) {
        return 0;
    }
    const struct ue_context x = ue_common_context(context);
    size_t count = 0;
    struct ue_cursor c;
    ue_cursor_init_read(&c, bytes, range->bit, range->end_bit);
    for (; count < capacity && c.next < c.end; count++) {
        ue_cursor_fast_start(&c);
        items[count].is_ack = false;
        bunch_layout(UE_DECODE_FAST, &c, &x, &items[count].bunch);
        if (ue_cursor_fast_failed(&c)) {
            break;
        }
        range->bit = c.next;
    }
    return count;
}

enum ue_status ue_item_decode(const struct ue_context *context, const uint8_t *bytes, struct ue_item_range *range,
                              struct ue_item *item, struct ue_fault *fault) {
    if (read_bunches(context, bytes, range, item, 1) == 0) {
        return ue_item_decode_slow(context, bytes, range, item, fault);
    }
    *fault = (struct ue_fault){0};
    return UE_OK;
}

size_t ue_items_decode(const struct ue_context *context, const uint8_t *bytes, struct ue_item_range *range,
                       struct ue_item *items, size_t capacity, struct ue_fault *fault) {
    size_t count = 0;
    *fault = (struct ue_fault){0};
    while (fault->status == UE_OK && count < capacity && range->bit < range->end_bit) {
        size_t fast = read_bunches(context, bytes, range, &items[count], capacity - count);
        count += fast;
        if (fast == 0) {
            count += ue_item_decode_slow(context, bytes, range, &items[count], fault) == UE_OK;
        }
    }
    return count;
}
