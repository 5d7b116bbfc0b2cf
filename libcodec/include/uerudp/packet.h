/* SPDX-License-Identifier: MIT */
/* Packet headers (protocol.md 6 to 8). Modern headers (from 4.22) carry an ack and an ack history; legacy headers carry
   a packet id, and acks are items between the bunches. */
#ifndef UERUDP_PACKET_H
#define UERUDP_PACKET_H

#include <uerudp/bits.h>

#define UE_HISTORY_WORDS_MAX 8

/* Members that the layout of the generation lacks are zero. */
struct ue_packet {
    uint16_t seq; /* the packet id in the legacy layout */
    uint16_t ack;
    uint8_t history_words; /* 1 to 8 */
    bool history_flush;    /* word count nibble 15; eight words follow */
    uint32_t history[UE_HISTORY_WORDS_MAX];
    uint16_t acked_history_seq;
    struct ue_view extra; /* settings.extra_bits */
    bool has_info;
    uint16_t jitter_ms;
    bool has_frame_time;
    uint8_t frame_time_ms; /* server to client only */
    uint8_t remote_kbps;
};

/* One ack of the legacy layout. */
struct ue_ack {
    uint16_t ack_id;
    bool has_frame_time;
    uint8_t frame_time_ms;
    uint32_t remote_kbps;
};

#endif
