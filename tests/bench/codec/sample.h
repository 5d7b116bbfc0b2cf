/* SPDX-License-Identifier: MIT */
/* One packet of the workload in plain members: the generator's fields, which `limit` and `naive` read and write. */
#ifndef UERUDP_TESTS_BENCH_CODEC_SAMPLE_H
#define UERUDP_TESTS_BENCH_CODEC_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_BUNCHES_MAX 20
#define SAMPLE_WORDS_MAX 8
#define SAMPLE_BYTES_MAX 1024
/* Space after a buffer in which `limit` may load and store whole vectors. */
#define SAMPLE_SLACK_BYTES 64
/* Room for all payloads of a packet, each starting at a byte and followed by slack. */
#define SAMPLE_PAYLOADS_BYTES (SAMPLE_BYTES_MAX + SAMPLE_BUNCHES_MAX * SAMPLE_SLACK_BYTES)

/* Members that are neighbours on the wire are neighbours here, for the sake of `limit`. */
struct sample_bunch {
    bool control;
    bool open;
    bool close;
    uint8_t close_reason;
    bool has_exports;
    bool has_mapped;
    bool partial;
    bool has_name;
    bool paused;
    bool reliable;
    bool partial_initial;
    bool partial_final;
    uint16_t ch_seq;
    uint16_t name_index;
    uint32_t channel;
    uint32_t data_bits;
    uint32_t data_bit;     /* where the payload starts in the packet */
    uint32_t payload_byte; /* where it starts in the payload buffer */
};

struct sample {
    uint8_t session_id;
    uint8_t client_id;
    uint8_t history_words;
    bool has_info;
    bool has_frame_time;
    uint8_t frame_time_ms;
    uint16_t jitter_ms;
    uint16_t seq;
    uint16_t ack;
    uint32_t history[SAMPLE_WORDS_MAX];
    uint32_t bunch_count;
    struct sample_bunch bunches[SAMPLE_BUNCHES_MAX];
};

/* Where the payload after one that starts at this byte starts. */
static inline uint32_t sample_next_payload(uint32_t byte, uint32_t data_bits) {
    return byte + (data_bits + 7) / 8 + SAMPLE_SLACK_BYTES / 2;
}

#endif
