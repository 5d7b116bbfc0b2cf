/* SPDX-License-Identifier: MIT */
#include "libcodec/wire/packet_layout.h"

UE_DEFINE_RUN(ue_packet, packet_layout, struct ue_packet)

UE_INLINE void ack_layout(enum ue_op op, struct ue_cursor *c, const struct ue_context *x, struct ue_ack *m) {
    BEGIN(ACK);
    bool is_ack = true;
    FLAG(is_ack, LEGACY_IS_ACK);
    REQUIRE(is_ack, UE_E_CONFLICT, LEGACY_IS_ACK);
    UINT(m->ack_id, LEGACY_ACK_ID, UE_PACKET_SEQ_BITS);
    FLAG(m->has_frame_time, LEGACY_HAS_FRAME_TIME);
    if (m->has_frame_time && x->direction == UE_SERVER_TO_CLIENT) {
        UINT(m->frame_time_ms, LEGACY_FRAME_TIME_MS, 8);
    } else {
        ABSENT(m->frame_time_ms, LEGACY_FRAME_TIME_MS, 0);
    }
    PACKED(m->remote_kbps, LEGACY_REMOTE_KBPS);
    END(ACK);
}

UE_DEFINE_RUN(ue_ack, ack_layout, struct ue_ack)
