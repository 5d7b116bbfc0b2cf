/* SPDX-License-Identifier: MIT */
/* The fast path of decoding, for goal C2 of tests/bench/goals.json: packets with is_common, in one function with one
   cursor. It instantiates the same layouts as the slow path, gives the same results, and leaves all other datagrams to
   the slow path. Gain: 529 instead of 1,076 instructions for the headers of a packet of one bunch, 4,800 instead of
   7,177 for 20 bunches. */
#include "libcodec/wire/common_context.h"
#include "libcodec/wire/datagram.h"
#include "libcodec/wire/datagram_layout.h"

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

/* Decodes the head. Returns false when the slow path must decode the datagram. */
UE_INLINE bool read_head(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes, struct ue_cursor *c,
                         struct ue_datagram *datagram) {
    struct ue_head head = {.datagram = datagram, .framing = UE_FRAMING_DATAGRAM};
    if (size_bytes < 2 || bytes[size_bytes - 1] == 0) {
        return false;
    }
    ue_cursor_init_read(c, bytes, 0, size_bytes * 8);
    ue_cursor_fast_start(c);
    head_layout(UE_DECODE_FAST, c, x, &head);
    return !ue_cursor_fast_failed(c);
}

/* Decodes bunches into the datagram's items, or, without `keeps`, without storing them: then the compiler removes most
   stores. */
UE_INLINE size_t read_bunches(struct ue_cursor *c, const struct ue_context *x, const struct ue_context *shared,
                              struct ue_datagram *d, bool keeps, const struct ue_visitor *visitor) {
    struct ue_item *items = d->items;
    size_t capacity = d->item_capacity;
    size_t count = 0;
    for (; c->next < c->end; count++) {
        if (keeps && UE_UNLIKELY(count == capacity)) {
            ue_cursor_fault(c, UE_E_FULL, UE_F_NONE, c->next);
            break;
        }
        size_t begin = c->next;
        struct ue_item scratch, rare;
        struct ue_item *item = keeps ? &items[count] : &scratch;
        item->is_ack = false;
        ue_cursor_fast_start(c);
        bunch_layout(UE_DECODE_FAST, c, x, &item->bunch);
        if (UE_UNLIKELY(ue_cursor_fast_failed(c))) {
            item = keeps ? item : &rare;
            item->is_ack = false;
            set_state(c, read_bunch_slow(shared, c->in, c->size_bytes, begin, c->end, &item->bunch));
            if (!ue_cursor_ok(c)) {
                break;
            }
        }
        if (visitor != NULL) {
            visitor->item(visitor->user, item);
        }
    }
    return count;
}

UE_INLINE bool run(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes, struct ue_datagram *d,
                   bool keeps, const struct ue_visitor *visitor, struct ue_decode_result *result) {
    if (!context->is_common) {
        return false;
    }
    const struct ue_context x = ue_common_context(context);
    struct ue_cursor c;
    if (!read_head(&x, bytes, size_bytes, &c, d)) {
        return false;
    }
    if (visitor != NULL && visitor->packet != NULL) {
        visitor->packet(visitor->user, &d->packet);
    }
    size_t count = read_bunches(&c, &x, context, d, keeps, visitor);
    *result = (struct ue_decode_result){
        .fault = c.fault,
        .canonical = c.canonical && ue_cursor_ok(&c),
        .seq = d->packet.seq,
        .ack = d->packet.ack,
        .acked_history_seq = d->packet.acked_history_seq,
        .has_frame_time = d->packet.has_frame_time,
        .item_count = count,
        .payload_end_bit = c.next,
    };
    return true;
}

static __attribute__((noinline)) enum ue_status visit(const struct ue_context *context, const uint8_t *bytes,
                                                      size_t size_bytes, struct ue_datagram *datagram,
                                                      const struct ue_visitor *visitor,
                                                      struct ue_decode_result *result) {
    struct ue_datagram scratch;
    bool is_done = datagram != NULL  ? false
                   : visitor != NULL ? run(context, bytes, size_bytes, &scratch, false, visitor, result)
                                     : run(context, bytes, size_bytes, &scratch, false, NULL, result);
    return is_done ? result->fault.status
                   : ue_datagram_decode_slow(context, bytes, size_bytes, datagram, visitor, result);
}

enum ue_status ue_datagram_decode(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                  struct ue_datagram *datagram, const struct ue_visitor *visitor,
                                  struct ue_decode_result *result) {
    if (datagram == NULL || visitor != NULL) {
        return visit(context, bytes, size_bytes, datagram, visitor, result);
    }
    if (!run(context, bytes, size_bytes, datagram, true, NULL, result)) {
        return ue_datagram_decode_slow(context, bytes, size_bytes, datagram, NULL, result);
    }
    datagram->item_count = result->item_count;
    return result->fault.status;
}

static bool begin(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                  struct ue_datagram *datagram, struct ue_item_range *range) {
    if (!context->is_common) {
        return false;
    }
    const struct ue_context x = ue_common_context(context);
    struct ue_cursor c;
    if (!read_head(&x, bytes, size_bytes, &c, datagram)) {
        return false;
    }
    *range = (struct ue_item_range){c.next, c.end};
    return true;
}

enum ue_status ue_datagram_begin(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                 struct ue_datagram *datagram, struct ue_item_range *range, struct ue_fault *fault) {
    datagram->item_count = 0;
    if (!begin(context, bytes, size_bytes, datagram, range)) {
        return ue_datagram_begin_slow(context, bytes, size_bytes, datagram, range, fault);
    }
    *fault = (struct ue_fault){0};
    return UE_OK;
}

/* Decodes bunches up to the first that needs the slow path. */
static size_t next_bunches(const struct ue_context *context, const uint8_t *bytes, struct ue_item_range *range,
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

size_t ue_datagram_next(const struct ue_context *context, const uint8_t *bytes, struct ue_item_range *range,
                        struct ue_item *items, size_t capacity, struct ue_fault *fault) {
    size_t count = 0;
    *fault = (struct ue_fault){0};
    while (fault->status == UE_OK && count < capacity && range->bit < range->end_bit) {
        size_t fast = next_bunches(context, bytes, range, &items[count], capacity - count);
        count += fast;
        if (fast == 0) {
            count += ue_item_decode_slow(context, bytes, range, &items[count], fault) == UE_OK;
        }
    }
    return count;
}
