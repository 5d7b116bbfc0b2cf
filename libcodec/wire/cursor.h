/* SPDX-License-Identifier: MIT */
/* A position in a buffer that is read or written bit by bit. */
#ifndef UERUDP_LIBCODEC_WIRE_CURSOR_H
#define UERUDP_LIBCODEC_WIRE_CURSOR_H

#include <uerudp/profile.h>
#include <uerudp/status.h>
#include <uerudp/trace.h>

/* UE_DECODE_FAST decodes what is as it should be, see quick.h. */
enum ue_op { UE_DECODE, UE_ENCODE, UE_TRACE, UE_BUILD, UE_DECODE_FAST };

struct ue_cursor {
    const uint8_t *in;
    uint8_t *out;
    size_t size_bytes; /* of the buffer behind in or out */
    size_t end;        /* first bit that may not be used */
    size_t next;       /* the bit behind the word */
    uint64_t word;     /* reading: bits loaded and not yet taken; writing: 64 aligned bits, not stored yet */
    unsigned held;     /* bits of the word that are still to take or to fill: the position is next - held */
    unsigned fresh;    /* quick: so many bits of the word are from the buffer, at least; held is 0 */
    bool strange;      /* quick: something is not as it should be */
    bool canonical;
    struct ue_fault fault;
    const struct ue_trace *sink;
    const struct ue_field_source *source;
};

/* Member by member: compilers clear a structure of this size by a string instruction, which is slow to start. */
UE_INLINE void ue_cursor_clear(struct ue_cursor *c) {
    c->in = NULL;
    c->out = NULL;
    c->size_bytes = 0;
    c->end = 0;
    c->next = 0;
    c->word = 0;
    c->held = 0;
    c->fresh = 0;
    c->strange = false;
    c->canonical = true;
    c->fault = (struct ue_fault){0};
    c->sink = NULL;
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
