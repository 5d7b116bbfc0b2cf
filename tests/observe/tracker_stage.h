/* SPDX-License-Identifier: MIT */
/* A tracker that processes hand-made datagrams, and a transcript of its events, one per line: "FRAME SIDE EVENT
   NUMBERS", c for the client, s for the server, times in ms. */
#ifndef UERUDP_TESTS_OBSERVE_TRACKER_STAGE_H
#define UERUDP_TESTS_OBSERVE_TRACKER_STAGE_H

#include <uerudp/packet_tracker.h>

#define STAGE_ITEMS_MAX 64
#define STAGE_TEXT_BYTES 65536

enum { CLIENT, SERVER };

struct track_stage {
    struct ue_context x[2]; /* of each side */
    struct ue_tracker *tracker;
    struct ue_tracker_callbacks listener; /* if set, receives the events instead of the transcript */
    struct ue_tracker_items reading;      /* of the latest */
    uint64_t frame;
    int64_t now_ns;
    bool has_acked[2];
    uint16_t acked[2];
    struct ue_allocator memory; /* that counts */
    size_t bytes_left;          /* that the allocator still provides */
    size_t blocks;              /* that are allocated */
    size_t length;
    char text[STAGE_TEXT_BYTES]; /* since the last check */

    struct ue_packet header; /* of the packet under construction */
    struct ue_item items[STAGE_ITEMS_MAX];
    size_t item_count;
};

/* Call stage_end at the end. bytes_max: memory that the allocator provides. */
void tracker_stage_begin(struct track_stage *stage, const char *release, size_t bytes_max);
void tracker_stage_end(struct track_stage *stage);

/* Feeds a packet of this side with the items added since the last packet; ack_id and history as in the header (newest
   packet in bit 0). Each datagram follows 10 ms after the last. */
void tracker_stage_packet(struct track_stage *stage, unsigned side, int64_t id, int64_t ack_id, uint32_t history);

/* Adds an item to the next packet. */
struct ue_bunch *tracker_stage_bunch(struct track_stage *stage, uint32_t channel);
struct ue_bunch *tracker_stage_reliable(struct track_stage *stage, uint32_t channel, uint32_t ch_seq);
void tracker_stage_ack(struct track_stage *stage, int64_t id);

/* Feeds a handshake message whose cookie holds the first sequences of server and client. */
void tracker_stage_handshake(struct track_stage *stage, unsigned side, enum ue_handshake_type type, bool restart,
                             uint16_t server_seq, uint16_t client_seq);

/* Feeds bytes without change. */
void tracker_stage_feed(struct track_stage *stage, unsigned side, const struct ue_packet_ids *links,
                        const uint8_t *bytes, size_t size_bytes);

/* Appends to the transcript. */
void __attribute__((format(printf, 2, 3))) stage_say(struct track_stage *stage, const char *format, ...);

/* Compares the transcript since the last check. */
#define stage_expect(stage, lines) tracker_stage_expect_at(stage, lines, __FILE__, __LINE__)
void tracker_stage_expect_at(struct track_stage *stage, const char *lines, const char *file, int line);

#endif
