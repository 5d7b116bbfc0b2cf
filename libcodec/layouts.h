/* SPDX-License-Identifier: MIT */
/* PRIVATE: one function per wire structure. Each runs its layout for the given operation at the cursor. */
#ifndef UE_LAYOUTS_H
#define UE_LAYOUTS_H

#include "libcodec/actor.h"
#include "libcodec/block.h"
#include "libcodec/datagram.h"
#include "libcodec/exports.h"
#include "libcodec/voice.h"
#include "libcodec/wire.h"

void ue_prefix_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_prefix *m);
void ue_handshake_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_handshake *m);
void ue_handlers_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_handlers *m);
/* Zeros between the inner terminator, which ends at bit `end`, and the outer one: the byte-wise AES-GCM form makes what
   is behind it whole bytes. The handlers begin at bit `begin`. */
size_t ue_handlers_padding(const struct ue_context *x, size_t begin, size_t end);

void ue_packet_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_packet *m);
void ue_ack_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_ack *m);
void ue_bunch_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_bunch *m);
void ue_message_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_message *m);

/* Inside of whole messages; these are not built. */
void ue_guid_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field,
                 struct ue_guid *m);
void ue_reference_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field field,
                      struct ue_object *m);
void ue_export_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_object *m);
void ue_exports_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_exports *m);
void ue_field_export_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_field_export *m);
void ue_mapped_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_mapped *m);
/* A vector whose records are those of the location, the scale or the velocity: first is that of its presence. */
void ue_vector_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, enum ue_field first,
                   struct ue_vector *m);
void ue_actor_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_actor *m);
void ue_block_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_block *m);
void ue_property_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_property *m);
void ue_call_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_call *m);
void ue_voice_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_voice *m);

/* Reports what can be known of a block's payload, which stands at the cursor's sink already as a run of bits. */
void ue_payload_trace(struct ue_cursor *c, const struct ue_context *x, const struct ue_block *block);

/* Reports the control messages that a payload is made of, and as opaque what is behind a fault: the first is given. */
enum ue_status ue_messages_trace(const struct ue_context *x, struct ue_view payload, const struct ue_sink *sink,
                                 struct ue_fault *fault);

/* The general path: decodes any datagram; into and visitor may be NULL. */
enum ue_status ue_datagram_decode_any(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes,
                                      struct ue_datagram *into, const struct ue_visitor *visitor,
                                      struct ue_verdict *verdict);
enum ue_status ue_datagram_decode_head_any(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                           struct ue_datagram *datagram, struct ue_rest *rest, struct ue_fault *fault);
enum ue_status ue_item_decode_any(const struct ue_context *context, const uint8_t *bytes, struct ue_rest *rest,
                                  struct ue_item *item, struct ue_fault *fault);

/* Defines name_run from a layout. Each operation is a function of its own with its own copy of the cursor: only then do
   the cursor's members live in registers while decoding and encoding, for tracing gives its address away. */
#define UE_INSTANCE(name, layout, type, op)                                                                            \
    static __attribute__((noinline)) void name##_##op(struct ue_cursor *c, const struct ue_context *x, type *m) {      \
        struct ue_cursor local = *c;                                                                                   \
        layout(op, &local, x, m);                                                                                      \
        ue_cursor_return(c, &local);                                                                                   \
    }

#define UE_RUN_INSIDE(name, layout, type)                                                                              \
    UE_INSTANCE(name, layout, type, UE_DECODE)                                                                         \
    UE_INSTANCE(name, layout, type, UE_ENCODE)                                                                         \
    UE_INSTANCE(name, layout, type, UE_TRACE)                                                                          \
    void name##_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, type *m) {                         \
        switch (op) {                                                                                                  \
        case UE_DECODE: name##_UE_DECODE(c, x, m); break;                                                              \
        case UE_ENCODE: name##_UE_ENCODE(c, x, m); break;                                                              \
        case UE_TRACE: name##_UE_TRACE(c, x, m); break;                                                                \
        case UE_BUILD:                                                                                                 \
        case UE_QUICK: break;                                                                                          \
        }                                                                                                              \
    }

/* Defines name_decode and name_encode, for structures inside of messages. Encoding only reads what it is given. */
#define UE_CODEC(name, type)                                                                                           \
    enum ue_status name##_decode(const struct ue_context *context, struct ue_view data, size_t *bit, type *m,          \
                                 struct ue_fault *fault) {                                                             \
        struct ue_cursor c;                                                                                            \
        ue_cursor_read(&c, data.base, data.bit + *bit, data.bit + data.bits);                                          \
        name##_run(UE_DECODE, &c, context, m);                                                                         \
        *bit = ue_cursor_pos(&c) - data.bit;                                                                           \
        *fault = c.fault;                                                                                              \
        return c.fault.status;                                                                                         \
    }                                                                                                                  \
    enum ue_status name##_encode(const struct ue_context *context, const type *m, uint8_t *bytes, size_t size_bytes,   \
                                 size_t *bit, struct ue_fault *fault) {                                                \
        struct ue_cursor c;                                                                                            \
        ue_cursor_write(&c, bytes, size_bytes, *bit);                                                                  \
        name##_run(UE_ENCODE, &c, context, (type *)m);                                                                 \
        ue_cursor_flush(&c);                                                                                           \
        *bit = ue_cursor_pos(&c);                                                                                      \
        *fault = c.fault;                                                                                              \
        return c.fault.status;                                                                                         \
    }

#define UE_RUN(name, layout, type)                                                                                     \
    UE_INSTANCE(name, layout, type, UE_DECODE)                                                                         \
    UE_INSTANCE(name, layout, type, UE_ENCODE)                                                                         \
    UE_INSTANCE(name, layout, type, UE_TRACE)                                                                          \
    UE_INSTANCE(name, layout, type, UE_BUILD)                                                                          \
    void name##_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, type *m) {                         \
        switch (op) {                                                                                                  \
        case UE_DECODE: name##_UE_DECODE(c, x, m); break;                                                              \
        case UE_ENCODE: name##_UE_ENCODE(c, x, m); break;                                                              \
        case UE_TRACE: name##_UE_TRACE(c, x, m); break;                                                                \
        case UE_BUILD: name##_UE_BUILD(c, x, m); break;                                                                \
        case UE_QUICK: break;                                                                                          \
        }                                                                                                              \
    }

#endif
