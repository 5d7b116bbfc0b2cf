/* SPDX-License-Identifier: MIT */
/* The ack history of modern packets: which of the newest 256 sequences were delivered (protocol.md 6). */
#ifndef UERUDP_HISTORY_H
#define UERUDP_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include <uerudp/packet.h>
#include <uerudp/seq.h>

#define UE_HISTORY_REACH (UE_HISTORY_WORDS_MAX * 32)

/* Whether the sequence `age` behind the newest was delivered, by the words a packet carries: bit `age` counted from the
   least significant bit of words[0] speaks of newest - age. Ages that the words do not reach count as not delivered. */
static inline bool ue_history_delivered(const uint32_t *words, uint32_t word_count, uint32_t age) {
    return age / 32 < word_count && (words[age / 32] >> (age % 32) & 1) != 0;
}

/* Packets behind the ack at which the history of a packet header begins. A 5.8 sender that resets its history (flush
   mark) lets it begin at the newest packet that it still has a verdict on, and counts those after it as not delivered
   (endpoint.md 15.6). */
static inline uint32_t ue_history_skipped(const struct ue_packet *packet) {
    uint32_t skipped = ((uint32_t)packet->ack - packet->acked_history_seq) & (UE_PACKET_SEQ_MAX - 1);
    return packet->history_flush ? skipped : 0;
}

/* The history bit of a packet header that speaks of the packet `age` behind its ack; UE_HISTORY_REACH: none does, which
   means not delivered. */
static inline uint32_t ue_history_bit(const struct ue_packet *packet, uint32_t age) {
    uint32_t skipped = ue_history_skipped(packet);
    bool is_sent = age >= skipped && age - skipped < packet->history_words * 32u;
    return is_sent ? age - skipped : UE_HISTORY_REACH;
}

/* Skips further than this are not believed. */
#define UE_HISTORY_SKIPPED_MAX 1023

/* How many packets up to its ack a packet header speaks of. */
static inline uint32_t ue_history_reach(const struct ue_packet *packet) {
    uint32_t skipped = ue_history_skipped(packet);
    return UE_HISTORY_REACH + (skipped <= UE_HISTORY_SKIPPED_MAX ? skipped : 0);
}

/* Whether a packet header reports the packet `age` behind its ack as delivered. */
static inline bool ue_history_reports(const struct ue_packet *packet, uint32_t age) {
    return ue_history_delivered(packet->history, packet->history_words, ue_history_bit(packet, age));
}

/* Words a sender includes when its newest acknowledgement is `distance` ahead of what the peer is known to have
   received: 1 to 8. */
static inline uint32_t ue_history_words(uint32_t distance) {
    uint32_t words = distance / 32 + (distance % 32 != 0);
    return words < 1 ? 1 : words > UE_HISTORY_WORDS_MAX ? UE_HISTORY_WORDS_MAX : words;
}

#endif
