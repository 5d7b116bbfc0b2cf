/* SPDX-License-Identifier: MIT */
/* PRIVATE: one function per wire structure. Each runs its layout for the given operation at the cursor. */
#ifndef UE_LAYOUTS_H
#define UE_LAYOUTS_H

#include "libcodec/datagram.h"
#include "libcodec/wire.h"

void ue_prefix_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_prefix *m);
void ue_handshake_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_handshake *m);
void ue_handlers_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_handlers *m);
void ue_packet_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_packet *m);
void ue_ack_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_ack *m);
void ue_bunch_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_bunch *m);
void ue_message_run(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_message *m);

/* Instantiates a layout for the four operations. The cursor is copied so that its members can live in registers. */
#define UE_RUN(layout, op, c, x, m)                                                                                    \
    do {                                                                                                               \
        struct ue_cursor local = *(c);                                                                                 \
        switch (op) {                                                                                                  \
        case UE_DECODE: layout(UE_DECODE, &local, (x), (m)); break;                                                    \
        case UE_ENCODE: layout(UE_ENCODE, &local, (x), (m)); break;                                                    \
        case UE_TRACE: layout(UE_TRACE, &local, (x), (m)); break;                                                      \
        case UE_BUILD: layout(UE_BUILD, &local, (x), (m)); break;                                                      \
        }                                                                                                              \
        *(c) = local;                                                                                                  \
    } while (0)

#endif
