/* SPDX-License-Identifier: MIT */
/* The hot path of datagram.h: an ordinary packet of the modern layouts, without handlers, in one function with one
   cursor. It instantiates the same layouts as the general path, to which it leaves the rest, and gives the same
   results. */
#include "libcodec/wire/bunch_layout.h"
#include "libcodec/wire/common_context.h"
#include "libcodec/wire/packet_layout.h"
#include "libcodec/wire/prefix_layout.h"

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

/* How reading ended; what the hot cursor, whose address must not be given away, takes over. */
struct outcome {
    size_t next;
    bool canonical;
    struct ue_fault fault;
};

UE_INLINE void take_over(struct ue_cursor *c, struct outcome outcome) {
    c->next = outcome.next;
    c->canonical &= outcome.canonical;
    c->fault = outcome.fault;
}

/* Reads again a packet header that is cut short. */
static __attribute__((noinline)) struct outcome read_header_carefully(const struct ue_context *x, const uint8_t *bytes,
                                                                      size_t begin, size_t end,
                                                                      struct ue_packet *packet) {
    struct ue_cursor c;
    ue_cursor_init_read(&c, bytes, begin, end);
    ue_packet_run(UE_DECODE, &c, x, packet);
    return (struct outcome){ue_cursor_pos(&c), c.canonical, c.fault};
}

/* Reads again a bunch that is not as it should be. */
static __attribute__((noinline)) struct outcome read_carefully(const struct ue_context *x, const uint8_t *bytes,
                                                               size_t size_bytes, size_t begin, size_t end,
                                                               struct ue_bunch *bunch) {
    struct ue_cursor c;
    ue_cursor_init_read(&c, bytes, begin, end);
    c.size_bytes = size_bytes;
    ue_bunch_run(UE_DECODE, &c, x, bunch);
    return (struct outcome){ue_cursor_pos(&c), c.canonical, c.fault};
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

/* Reads bunches into items, or, when these are not kept, into nothing: to the compiler all stores are dead then, but
   those of what is counted. */
UE_INLINE size_t bunches(struct ue_cursor *c, const struct ue_context *x, const struct ue_context *shared, bool keep,
                         struct ue_item *items, size_t capacity, struct ue_bunch_counts *counts) {
    size_t count = 0;
    for (; c->next < c->end; count++) {
        if (keep && UE_UNLIKELY(count == capacity)) {
            ue_cursor_fault(c, UE_E_FULL, UE_F_NONE, c->next);
            break;
        }
        size_t begin = c->next;
        struct ue_bunch nowhere, rare;
        if (keep) {
            items[count].is_ack = false;
        }
        ue_cursor_fast_start(c);
        bunch_layout(UE_DECODE_FAST, c, x, keep ? &items[count].bunch : &nowhere);
        if (UE_UNLIKELY(ue_cursor_fast_failed(c))) {
            take_over(c,
                      read_carefully(shared, c->in, c->size_bytes, begin, c->end, keep ? &items[count].bunch : &rare));
            if (!ue_cursor_ok(c)) {
                break;
            }
            count_bunch(counts, &rare);
        } else {
            count_bunch(counts, &nowhere);
        }
    }
    return count;
}

/* Reads the prefix. False: not an ordinary packet after all. */
UE_INLINE bool begin_packet(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes, struct ue_cursor *c,
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
                   struct ue_bunch_counts *counts, struct ue_decode_result *verdict) {
    if (!context->is_common) {
        return false;
    }
    const struct ue_context narrowed = ue_common_context(context);
    const struct ue_context *x = &narrowed;
    struct ue_cursor c;
    if (!begin_packet(x, bytes, size_bytes, &c, prefix)) {
        return false;
    }
    size_t begin = c.next;
    packet_layout(UE_DECODE_FAST, &c, x, packet);
    if (UE_UNLIKELY(ue_cursor_fast_failed(&c))) {
        struct ue_packet rare;
        take_over(&c, read_header_carefully(context, bytes, begin, c.end, &rare));
        *packet = rare;
    }
    size_t count = 0;
    if (depth != ONLY_HEADER && ue_cursor_ok(&c)) {
        count = bunches(&c, x, context, depth == ALL_AND_KEEP, items, capacity, counts);
    }
    *verdict = (struct ue_decode_result){
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
                                  struct ue_datagram *datagram, struct ue_decode_result *verdict) {
    if (!run(context, bytes, size_bytes, &datagram->prefix, &datagram->packet, ALL_AND_KEEP, datagram->items,
             datagram->item_capacity, NULL, verdict)) {
        return ue_datagram_decode_slow(context, bytes, size_bytes, datagram, NULL, verdict);
    }
    datagram->handlers.is_opaque = false;
    datagram->item_count = verdict->item_count;
    return verdict->fault.status;
}

enum ue_status ue_datagram_check(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                 const struct ue_visitor *visitor, struct ue_decode_result *verdict) {
    struct ue_prefix prefix;
    struct ue_packet packet;
    if (visitor != NULL || !run(context, bytes, size_bytes, &prefix, &packet, ALL, NULL, 0, NULL, verdict)) {
        return ue_datagram_decode_slow(context, bytes, size_bytes, NULL, visitor, verdict);
    }
    return verdict->fault.status;
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
                                 struct ue_bunch_counts *counts, struct ue_decode_result *verdict) {
    struct ue_prefix prefix;
    struct ue_packet packet;
    const struct ue_visitor visitor = {.item = count_item, .user = counts};
    *counts = (struct ue_bunch_counts){0};
    if (!run(context, bytes, size_bytes, &prefix, &packet, ALL, NULL, 0, counts, verdict)) {
        return ue_datagram_decode_slow(context, bytes, size_bytes, NULL, &visitor, verdict);
    }
    return verdict->fault.status;
}

enum ue_status ue_datagram_check_header(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                        struct ue_decode_result *verdict) {
    struct ue_prefix prefix;
    struct ue_packet packet;
    if (!run(context, bytes, size_bytes, &prefix, &packet, ONLY_HEADER, NULL, 0, NULL, verdict)) {
        return ue_datagram_decode_slow(context, bytes, size_bytes, NULL, NULL, verdict);
    }
    return verdict->fault.status;
}

static bool read_head(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                      struct ue_prefix *prefix, struct ue_packet *packet, struct ue_item_range *rest) {
    if (!context->is_common) {
        return false;
    }
    const struct ue_context x = ue_common_context(context);
    struct ue_cursor c;
    if (!begin_packet(&x, bytes, size_bytes, &c, prefix)) {
        return false;
    }
    packet_layout(UE_DECODE_FAST, &c, &x, packet);
    *rest = (struct ue_item_range){c.next, c.end};
    return !ue_cursor_fast_failed(&c);
}

enum ue_status ue_datagram_decode_head(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                       struct ue_datagram *datagram, struct ue_item_range *rest, struct ue_fault *fault) {
    datagram->handlers.is_opaque = false;
    datagram->item_count = 0;
    if (!read_head(context, bytes, size_bytes, &datagram->prefix, &datagram->packet, rest)) {
        return ue_datagram_decode_head_slow(context, bytes, size_bytes, datagram, rest, fault);
    }
    *fault = (struct ue_fault){0};
    return UE_OK;
}

/* Up to the first that is not as most are. */
static size_t read_bunches(const struct ue_context *context, const uint8_t *bytes, struct ue_item_range *rest,
                           struct ue_item *items, size_t capacity) {
    if (!context->is_common) {
        return 0;
    }
    const struct ue_context x = ue_common_context(context);
    size_t count = 0;
    struct ue_cursor c;
    ue_cursor_init_read(&c, bytes, rest->bit, rest->end_bit);
    for (; count < capacity && c.next < c.end; count++) {
        ue_cursor_fast_start(&c);
        items[count].is_ack = false;
        bunch_layout(UE_DECODE_FAST, &c, &x, &items[count].bunch);
        if (ue_cursor_fast_failed(&c)) {
            break;
        }
        rest->bit = c.next;
    }
    return count;
}

enum ue_status ue_item_decode(const struct ue_context *context, const uint8_t *bytes, struct ue_item_range *rest,
                              struct ue_item *item, struct ue_fault *fault) {
    if (read_bunches(context, bytes, rest, item, 1) == 0) {
        return ue_item_decode_slow(context, bytes, rest, item, fault);
    }
    *fault = (struct ue_fault){0};
    return UE_OK;
}

size_t ue_items_decode(const struct ue_context *context, const uint8_t *bytes, struct ue_item_range *rest,
                       struct ue_item *items, size_t capacity, struct ue_fault *fault) {
    size_t count = 0;
    *fault = (struct ue_fault){0};
    while (fault->status == UE_OK && count < capacity && rest->bit < rest->end_bit) {
        size_t quick = read_bunches(context, bytes, rest, &items[count], capacity - count);
        count += quick;
        if (quick == 0) {
            count += ue_item_decode_slow(context, bytes, rest, &items[count], fault) == UE_OK;
        }
    }
    return count;
}
