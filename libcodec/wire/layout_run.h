/* SPDX-License-Identifier: MIT */
/* Defines the functions that run a layout, one for each operation. */
#ifndef UERUDP_LIBCODEC_WIRE_LAYOUT_RUN_H
#define UERUDP_LIBCODEC_WIRE_LAYOUT_RUN_H

#include "libcodec/wire/layout_words.h"

/* Define name_run from a layout. Each operation is a function of its own with its own copy of the cursor; otherwise
   tracing, which passes the cursor's address, would keep its members out of registers in decoding and encoding, too. */
#define UE_DEFINE_OP(name, layout, type, op)                                                                           \
    static __attribute__((noinline)) void name##_##op(struct ue_cursor *c, const struct ue_context *x, type *m) {      \
        struct ue_cursor local = *c;                                                                                   \
        layout(op, &local, x, m);                                                                                      \
        ue_cursor_copy_back(c, &local);                                                                                \
    }

#define UE_DEFINE_CONTENT_RUN(name, layout, type)                                                                      \
    UE_DEFINE_OP(name, layout, type, UE_DECODE)                                                                        \
    UE_DEFINE_OP(name, layout, type, UE_ENCODE)                                                                        \
    UE_DEFINE_OP(name, layout, type, UE_TRACE)                                                                         \
    void name##_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, type *m) {                         \
        switch (op) {                                                                                                  \
        case UE_DECODE: name##_UE_DECODE(c, x, m); break;                                                              \
        case UE_ENCODE: name##_UE_ENCODE(c, x, m); break;                                                              \
        case UE_TRACE: name##_UE_TRACE(c, x, m); break;                                                                \
        case UE_BUILD:                                                                                                 \
        case UE_DECODE_FAST: break;                                                                                    \
        }                                                                                                              \
    }

/* Defines name_decode and name_encode for a structure inside messages. Encoding only reads the structure. */
#define UE_DEFINE_CONTENT_CODEC(name, type)                                                                            \
    enum ue_status name##_decode(const struct ue_context *context, struct ue_view data, size_t *bit, type *m,          \
                                 struct ue_fault *fault) {                                                             \
        struct ue_cursor c;                                                                                            \
        ue_cursor_init_read(&c, data.base, data.bit + *bit, data.bit + data.bits);                                     \
        name##_run(UE_DECODE, &c, context, m);                                                                         \
        *bit = ue_cursor_pos(&c) - data.bit;                                                                           \
        *fault = c.fault;                                                                                              \
        return c.fault.status;                                                                                         \
    }                                                                                                                  \
    enum ue_status name##_encode(const struct ue_context *context, const type *m, uint8_t *bytes, size_t size_bytes,   \
                                 size_t *bit, struct ue_fault *fault) {                                                \
        struct ue_cursor c;                                                                                            \
        ue_cursor_init_write(&c, bytes, size_bytes, *bit);                                                             \
        name##_run(UE_ENCODE, &c, context, (type *)m);                                                                 \
        ue_cursor_flush(&c);                                                                                           \
        *bit = ue_cursor_pos(&c);                                                                                      \
        *fault = c.fault;                                                                                              \
        return c.fault.status;                                                                                         \
    }

#define UE_DEFINE_RUN(name, layout, type)                                                                              \
    UE_DEFINE_OP(name, layout, type, UE_DECODE)                                                                        \
    UE_DEFINE_OP(name, layout, type, UE_ENCODE)                                                                        \
    UE_DEFINE_OP(name, layout, type, UE_TRACE)                                                                         \
    UE_DEFINE_OP(name, layout, type, UE_BUILD)                                                                         \
    void name##_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, type *m) {                         \
        switch (op) {                                                                                                  \
        case UE_DECODE: name##_UE_DECODE(c, x, m); break;                                                              \
        case UE_ENCODE: name##_UE_ENCODE(c, x, m); break;                                                              \
        case UE_TRACE: name##_UE_TRACE(c, x, m); break;                                                                \
        case UE_BUILD: name##_UE_BUILD(c, x, m); break;                                                                \
        case UE_DECODE_FAST: break;                                                                                    \
        }                                                                                                              \
    }

#endif
