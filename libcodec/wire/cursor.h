/* SPDX-License-Identifier: MIT */
/* A position in a buffer that is read or written bit by bit, with a sticky fault. */
#ifndef UERUDP_LIBCODEC_WIRE_CURSOR_H
#define UERUDP_LIBCODEC_WIRE_CURSOR_H

#include <uerudp/profile.h>
#include <uerudp/status.h>
#include <uerudp/trace.h>

/* Operations of a layout. UE_DECODE_FAST decodes valid structures of the common form, see cursor_fast.h. */
enum ue_op { UE_DECODE, UE_ENCODE, UE_TRACE, UE_BUILD, UE_DECODE_FAST };

struct ue_cursor {
    const uint8_t *in;
    uint8_t *out;
    size_t size_bytes;    /* size of the buffer in or out */
    size_t end;           /* first bit that may not be used */
    size_t next;          /* the bit after the word */
    uint64_t word;        /* reading: bits loaded and not consumed; writing: 64 aligned bits, not stored yet */
    unsigned held;        /* bits of the word that are not consumed or not filled: the position is next - held */
    unsigned valid_bits;  /* fast path: lower bound of the bits of the word that are loaded; held is 0 */
    bool needs_slow_path; /* fast path: the structure is invalid or of a rare form */
    bool canonical;
    struct ue_fault fault;
    const struct ue_trace *trace;
    const struct ue_field_source *source;
};

/* Member by member: compilers clear a structure of this size with a string instruction, which starts slowly. */
UE_INLINE void ue_cursor_clear(struct ue_cursor *c) {
    c->in = NULL;
    c->out = NULL;
    c->size_bytes = 0;
    c->end = 0;
    c->next = 0;
    c->word = 0;
    c->held = 0;
    c->valid_bits = 0;
    c->needs_slow_path = false;
    c->canonical = true;
    c->fault = (struct ue_fault){0};
    c->trace = NULL;
    c->source = NULL;
}

UE_INLINE void ue_cursor_init_read(struct ue_cursor *c, const uint8_t *in, size_t bit, size_t end) {
    ue_cursor_clear(c);
    c->in = in;
    c->size_bytes = ue_bits_bytes(end);
    c->next = bit;
    c->end = end;
}

UE_INLINE size_t ue_cursor_pos(const struct ue_cursor *c) {
    return c->next - c->held;
}

UE_INLINE void ue_cursor_seek(struct ue_cursor *c, size_t bit) {
    c->next = bit;
    c->held = 0;
}

#endif
