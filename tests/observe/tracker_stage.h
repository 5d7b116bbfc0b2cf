/* SPDX-License-Identifier: MIT */
/* A tracker that is fed datagrams made by hand, and the transcript of what it tells: a line for each event,
   "FRAME SIDE EVENT NUMBERS", c the client, s the server, times in ms. */
#ifndef UERUDP_TESTS_OBSERVE_TRACKER_STAGE_H
#define UERUDP_TESTS_OBSERVE_TRACKER_STAGE_H

#include <uerudp/packet_tracker.h>

#define STAGE_ITEMS_MAX 64
#define STAGE_TEXT_BYTES 65536

enum { CLIENT, SERVER };

struct track_stage {
    struct ue_context x[2]; /* in which each side writes */
    struct ue_tracker *track;
    struct ue_tracker_callbacks listener;   /* hears the events in place of the transcript, where a test sets it */
    struct ue_tracker_items reading; /* of the latest */
    uint64_t frame;
    int64_t now_ns;
    bool has_acked[2];
    uint16_t acked[2];
    struct ue_allocator memory; /* that counts */
    size_t bytes_left;             /* that may still be asked for */
    size_t blocks;                 /* that are held */
    size_t length;
    char text[STAGE_TEXT_BYTES]; /* since the last check */

    struct ue_packet header; /* of the packet that is being made */
    struct ue_item items[STAGE_ITEMS_MAX];
    size_t item_count;
};

/* Ends with stage_end. bytes_max: memory there is. */
void stage_begin(struct track_stage *stage, const char *release, size_t bytes_max);
void stage_end(struct track_stage *stage);

/* Feeds a packet of this side with the items added since the last; ack_id and history as in the header (newest
   verdict in bit 0). Each datagram comes 10 ms after the last. */
void stage_packet(struct track_stage *stage, unsigned side, int64_t id, int64_t ack_id, uint32_t history);

/* Adds an item to the next packet. */
struct ue_bunch *stage_bunch(struct track_stage *stage, uint32_t channel);
struct ue_bunch *stage_reliable(struct track_stage *stage, uint32_t channel, uint32_t ch_seq);
void stage_ack(struct track_stage *stage, int64_t id);

/* A handshake message whose cookie begins the server at one sequence and the client at another. */
void stage_handshake(struct track_stage *stage, unsigned side, enum ue_handshake_type type, bool restart,
                     uint16_t server_seq, uint16_t client_seq);

/* Feeds bytes as they are. */
void stage_feed(struct track_stage *stage, unsigned side, const struct ue_packet_ids *links, const uint8_t *bytes,
                size_t size_bytes);

/* Adds to the transcript. */
void __attribute__((format(printf, 2, 3))) stage_say(struct track_stage *stage, const char *format, ...);

/* The transcript since the last check must be this. */
#define stage_expect(stage, lines) stage_expect_at(stage, lines, __FILE__, __LINE__)
void stage_expect_at(struct track_stage *stage, const char *lines, const char *file, int line);

#endif
