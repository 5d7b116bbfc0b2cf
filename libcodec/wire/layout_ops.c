/* SPDX-License-Identifier: MIT */
#include "libcodec/wire/layout_ops.h"

static void report(struct ue_cursor *c, const struct ue_record *record) {
    if (ue_cursor_ok(c) && c->trace != NULL && c->trace->field != NULL) {
        c->trace->field(c->trace->user, record);
    }
}

void ue_cursor_report(struct ue_cursor *c, enum ue_field field, size_t bit, uint64_t number, bool coded) {
    report(c, &(struct ue_record){
                  .field = field, .coded = coded, .bit = bit, .bits = ue_cursor_pos(c) - bit, .number = number});
}

void ue_cursor_report_text(struct ue_cursor *c, enum ue_field field, size_t bit, struct ue_text text, bool coded) {
    report(c, &(struct ue_record){
                  .field = field, .coded = coded, .bit = bit, .bits = ue_cursor_pos(c) - bit, .text = text});
}

void ue_cursor_report_generated(struct ue_cursor *c, enum ue_field field, size_t bit, size_t bits, uint64_t number) {
    report(c, &(struct ue_record){.field = field, .generated = true, .bit = bit, .bits = bits, .number = number});
}

void ue_cursor_report_text_generated(struct ue_cursor *c, enum ue_field field, size_t bit, struct ue_text text) {
    report(c, &(struct ue_record){
                  .field = field, .generated = true, .bit = bit, .bits = ue_cursor_pos(c) - bit, .text = text});
}

void ue_cursor_report_string(struct ue_cursor *c, enum ue_field field, size_t bit, size_t bits, const char *string) {
    report(c, &(struct ue_record){.field = field, .generated = true, .bit = bit, .bits = bits, .string = string});
}

void ue_cursor_begin_group(struct ue_cursor *c, enum ue_group group) {
    if (c->trace != NULL && c->trace->begin != NULL) {
        c->trace->begin(c->trace->user, group, ue_cursor_pos(c));
    }
}

void ue_cursor_end_group(struct ue_cursor *c, enum ue_group group, const void *structure) {
    if (c->trace != NULL && c->trace->end != NULL) {
        c->trace->end(c->trace->user, group, ue_cursor_pos(c), structure);
    }
}

uint64_t ue_cursor_build_number(struct ue_cursor *c, enum ue_field field, uint64_t default_number, unsigned bits) {
    struct ue_record record = {.field = field, .bits = bits, .number = default_number};
    c->source->field(c->source->user, &record);
    if (record.number > ue_bits_mask(bits)) {
        ue_cursor_fault(c, UE_E_RANGE, field, ue_cursor_pos(c));
        return 0;
    }
    return record.number;
}

struct ue_text ue_cursor_build_text(struct ue_cursor *c, enum ue_field field) {
    struct ue_record record = {.field = field};
    c->source->field(c->source->user, &record);
    return record.text;
}

bool ue_cursor_build_more(struct ue_cursor *c, enum ue_field field) {
    return c->source->more(c->source->user, field);
}

void ue_layout_bytes(enum ue_op op, struct ue_cursor *c, enum ue_field field, size_t bytes, uint8_t *member) {
    size_t at = ue_cursor_pos(c);
    struct ue_view view = {member, 0, bytes * 8};
    switch (op) {
    case UE_ENCODE: ue_cursor_write_view(c, view, field); return;
    case UE_BUILD: view = ue_cursor_build_text(c, field).units; break;
    case UE_DECODE_FAST:
    case UE_DECODE:
    case UE_TRACE: view = ue_cursor_read_view(c, bytes * 8, field); break;
    }
    memset(member, 0, bytes);
    if (view.bits > bytes * 8) {
        ue_cursor_fault(c, UE_E_RANGE, field, at);
        return;
    }
    ue_view_copy(view, member);
    if (op == UE_TRACE) {
        ue_cursor_report_text(c, field, at, (struct ue_text){view, false}, false);
    }
}

void ue_layout_rest(enum ue_op op, struct ue_cursor *c, enum ue_field field, struct ue_view *member) {
    switch (op) {
    case UE_ENCODE: ue_cursor_write_view(c, *member, field); break;
    case UE_BUILD: *member = ue_cursor_build_text(c, field).units; break;
    case UE_DECODE_FAST:
    case UE_DECODE:
    case UE_TRACE: ue_layout_view(op, c, field, ue_cursor_left(c), UE_OK, member); break;
    }
}

void ue_layout_counted(enum ue_op op, struct ue_cursor *c, enum ue_field field, unsigned count_bits,
                       unsigned element_bits, struct ue_view *member) {
    size_t at = ue_cursor_pos(c);
    uint64_t count = member->bits / element_bits;
    switch (op) {
    case UE_BUILD: *member = ue_cursor_build_text(c, field).units; return;
    case UE_ENCODE:
        if (member->bits % element_bits != 0 || count > ue_bits_mask(count_bits)) {
            ue_cursor_fault_encode(c, UE_E_RANGE, field);
            return;
        }
        ue_cursor_write_bits(c, count, count_bits, field);
        ue_cursor_write_view(c, *member, field);
        return;
    case UE_DECODE_FAST:
    case UE_DECODE:
    case UE_TRACE: break;
    }
    count = ue_cursor_read_bits(c, count_bits, field);
    *member = ue_cursor_read_view(c, (size_t)count * element_bits, field);
    if (op == UE_TRACE) {
        ue_cursor_report_text(c, field, at, (struct ue_text){*member, false}, true);
    }
}

static bool find_last_set(const struct ue_cursor *c, enum ue_padding padding, size_t *at) {
    size_t begin = ue_cursor_pos(c);
    size_t last = c->end - 1;
    if (c->end > begin && padding != UE_PADDING_BYTE && (c->in[last >> 3] >> (last & 7) & 1) != 0) {
        *at = last;
        return true;
    }
    if (padding == UE_PADDING_BYTE && c->end > begin + 8) {
        begin = c->end - 8;
    }
    return ue_bits_last_set(c->in, begin, c->end, at);
}

size_t ue_layout_find_terminator(struct ue_cursor *c, enum ue_padding padding, size_t *at) {
    size_t end = c->end;
    *at = end; /* after a fault, too, because the zeros that the layout expects depend on it */
    if (!ue_cursor_ok(c)) {
        return 0;
    }
    if (!find_last_set(c, padding, at)) {
        ue_cursor_fault(c, UE_E_TERMINATOR, UE_F_TERMINATOR, end);
        return 0;
    }
    c->end = *at;
    ue_cursor_seek(c, ue_cursor_pos(c));
    return end - *at - 1;
}

#define NUMBER_BITS 64

void ue_layout_wide(enum ue_op op, struct ue_cursor *c, enum ue_field field, size_t bits, uint64_t *number,
                    struct ue_view *rest) {
    size_t at = ue_cursor_pos(c);
    if (op == UE_ENCODE) {
        ue_cursor_write_bits(c, *number, NUMBER_BITS, field);
        ue_layout_view(op, c, field, bits - NUMBER_BITS, UE_E_RANGE, rest);
        return;
    }
    struct ue_view view = op == UE_BUILD ? ue_cursor_build_text(c, field).units : ue_cursor_read_view(c, bits, field);
    bool whole = view.bits == bits;
    *number = whole ? ue_view_load(view, 0, NUMBER_BITS) : 0;
    *rest = whole ? (struct ue_view){view.base, view.bit + NUMBER_BITS, bits - NUMBER_BITS} : (struct ue_view){0};
    if (op == UE_TRACE) {
        ue_cursor_report(c, field, at, *number, true);
    }
}

/* Whether a view is exactly `count` elements. */
static bool elements_fit(const struct ue_context *x, enum ue_field field, size_t count, ue_layout_element *element,
                         const struct ue_view *view) {
    struct ue_cursor c;
    ue_cursor_init_read(&c, view->base, view->bit, view->bit + view->bits);
    for (size_t i = 0; i < count && ue_cursor_ok(&c); i++) {
        element(UE_DECODE, &c, x, field);
    }
    return ue_cursor_ok(&c) && ue_cursor_left(&c) == 0;
}

void ue_layout_elements(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field,
                        size_t count, ue_layout_element *element, struct ue_view *member) {
    size_t at = ue_cursor_pos(c);
    if (op == UE_ENCODE) {
        if (!elements_fit(x, field, count, element, member)) {
            ue_cursor_fault_encode(c, UE_E_CONFLICT, field);
        }
        ue_cursor_write_view(c, *member, field);
        return;
    }
    for (size_t i = 0; i < count && ue_cursor_ok(c); i++) {
        element(op, c, x, field);
    }
    *member = (struct ue_view){c->in, at, ue_cursor_pos(c) - at};
}
