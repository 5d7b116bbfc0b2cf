/* SPDX-License-Identifier: MIT */
/* One function per structure of a datagram. Each runs its layout for the given operation at the cursor. */
#ifndef UERUDP_LIBCODEC_WIRE_LAYOUTS_H
#define UERUDP_LIBCODEC_WIRE_LAYOUTS_H

#include <uerudp/datagram.h>
#include "libcodec/wire/layout_run.h"

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

/* Reports the control messages that a payload is made of, and as opaque what is behind a fault: the first is given. */
enum ue_status ue_messages_trace(const struct ue_context *x, struct ue_view payload, const struct ue_trace *sink,
                                 struct ue_fault *fault);

/* The general path: decodes any datagram; into and visitor may be NULL. */
enum ue_status ue_datagram_decode_slow(const struct ue_context *x, const uint8_t *bytes, size_t size_bytes,
                                      struct ue_datagram *into, const struct ue_visitor *visitor,
                                      struct ue_decode_result *verdict);
enum ue_status ue_datagram_decode_head_slow(const struct ue_context *context, const uint8_t *bytes, size_t size_bytes,
                                           struct ue_datagram *datagram, struct ue_item_range *rest, struct ue_fault *fault);
enum ue_status ue_item_decode_slow(const struct ue_context *context, const uint8_t *bytes, struct ue_item_range *rest,
                                  struct ue_item *item, struct ue_fault *fault);

#endif
