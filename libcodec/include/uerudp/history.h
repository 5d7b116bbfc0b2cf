/* SPDX-License-Identifier: MIT */
/* The ack history of modern packet headers: one bit for each of the newest 256 packets, set when it was delivered
   (protocol.md 6). */
#ifndef UERUDP_HISTORY_H
#define UERUDP_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include <uerudp/packet.h>
#include <uerudp/seq.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UE_HISTORY_REACH (UE_HISTORY_WORDS_MAX * 32)

/* Whether the history reports packet (newest - age) as delivered. Bit `age`, counted from the least significant bit of
   words[0], holds the report. Packets older than the words cover count as not delivered. */
static inline bool ue_history_delivered(const uint32_t *words, uint32_t word_count, uint32_t age) {
    return age / 32 < word_count && (words[age / 32] >> (age % 32) & 1) != 0;
}

/* Distance from the ack of a packet header to the newest packet that its history covers. It is above 0 only when a 5.8
   sender resets its history (flush mark): the history then begins at an older packet, and the packets between it and
   the ack count as not delivered (endpoint.md 14). */
static inline uint32_t ue_history_skipped(const struct ue_packet *packet) {
    uint32_t skipped = ((uint32_t)packet->ack - packet->acked_history_seq) & (UE_PACKET_SEQ_MAX - 1);
    return packet->history_flush ? skipped : 0;
}

/* Index of the history bit that reports packet (ack - age). UE_HISTORY_REACH when the header has no such bit, which
   means not delivered. */
static inline uint32_t ue_history_bit(const struct ue_packet *packet, uint32_t age) {
    uint32_t skipped = ue_history_skipped(packet);
    bool is_sent = age >= skipped && age - skipped < packet->history_words * 32u;
    return is_sent ? age - skipped : UE_HISTORY_REACH;
}

/* A larger skip is taken to be damaged. */
#define UE_HISTORY_SKIPPED_MAX 1023

/* Number of packets, up to its ack, that a packet header reports. */
static inline uint32_t ue_history_reach(const struct ue_packet *packet) {
    uint32_t skipped = ue_history_skipped(packet);
    return UE_HISTORY_REACH + (skipped <= UE_HISTORY_SKIPPED_MAX ? skipped : 0);
}

/* Whether a packet header says by itself whether packet (ack - age) was delivered. An older one that was not delivered
   counts as reported by earlier headers. */
static inline bool ue_history_covers(const struct ue_packet *packet, uint32_t age) {
    uint32_t skipped = ue_history_skipped(packet);
    return ue_history_bit(packet, age) < UE_HISTORY_REACH || (skipped <= UE_HISTORY_SKIPPED_MAX && age < skipped);
}

/* Whether a packet header reports packet (ack - age) as delivered. */
static inline bool ue_history_reports(const struct ue_packet *packet, uint32_t age) {
    return ue_history_delivered(packet->history, packet->history_words, ue_history_bit(packet, age));
}

/* Number of history words (1 to 8) that a sender writes. distance: from the newest packet whose ack the peer is known
   to have received to the newest ack. */
static inline uint32_t ue_history_words(uint32_t distance) {
    uint32_t words = distance / 32 + (distance % 32 != 0);
    return words < 1 ? 1 : words > UE_HISTORY_WORDS_MAX ? UE_HISTORY_WORDS_MAX : words;
}

#ifdef __cplusplus
}
#endif

#endif
