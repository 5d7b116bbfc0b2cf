/* SPDX-License-Identifier: MIT */
/* A tracker that processes hand-made datagrams, and a transcript of its events, one per line: "FRAME SIDE EVENT
   NUMBERS", c for the client, s for the server, times in ms. */
#ifndef UERUDP_TESTS_OBSERVE_TRACKER_FIXTURE_H
#define UERUDP_TESTS_OBSERVE_TRACKER_FIXTURE_H

#include <uerudp/packet_tracker.h>
#include "tests/support/counting_allocator.h"

#define TRACKER_FIXTURE_ITEMS_MAX 64
#define TRACKER_FIXTURE_TEXT_BYTES 65536

enum { CLIENT, SERVER };

struct tracker_fixture {
    struct ue_context x[2]; /* of each side */
    struct ue_tracker *tracker;
    uint32_t point;                        /* capture point of the next datagrams */
    struct ue_observer_callbacks listener; /* if set, receives the events instead of the transcript */
    struct ue_observed_items reading;      /* of the latest */
    uint64_t frame;
    int64_t now_ns;
    bool has_acked[2];
    uint16_t acked[2];
    struct counting_allocator memory;
    size_t length;
    char text[TRACKER_FIXTURE_TEXT_BYTES]; /* since the last check */

    size_t captured_bytes; /* of the next datagram, if it is cut; 0: it is whole */

    struct ue_packet header; /* of the packet under construction */
    struct ue_item items[TRACKER_FIXTURE_ITEMS_MAX];
    size_t item_count;
};

/* Call tracker_fixture_free at the end. bytes_max: memory that the allocator provides. */
void tracker_fixture_init(struct tracker_fixture *fixture, const char *release, size_t bytes_max);
void tracker_fixture_free(struct tracker_fixture *fixture);

/* Feeds a packet of this side with the items added since the last packet; ack_id and history as in the header (newest
   packet in bit 0). Each datagram follows 10 ms after the last. */
void tracker_fixture_packet(struct tracker_fixture *fixture, unsigned side, int64_t id, int64_t ack_id,
                            uint32_t history);

/* Adds an item to the next packet. */
struct ue_bunch *tracker_fixture_bunch(struct tracker_fixture *fixture, uint32_t channel);
struct ue_bunch *tracker_fixture_reliable(struct tracker_fixture *fixture, uint32_t channel, uint32_t ch_seq);
void tracker_fixture_ack(struct tracker_fixture *fixture, int64_t id);

/* Feeds a handshake message whose cookie holds the first sequences of server and client. */
void tracker_fixture_handshake(struct tracker_fixture *fixture, unsigned side, enum ue_handshake_type type,
                               bool restart, uint16_t server_seq, uint16_t client_seq);

/* Feeds bytes without change. */
void tracker_fixture_feed(struct tracker_fixture *fixture, unsigned side, const struct ue_packet_ids *packet_ids,
                          const uint8_t *bytes, size_t size_bytes);

/* Appends to the transcript. */
void __attribute__((format(printf, 2, 3))) tracker_fixture_print(struct tracker_fixture *fixture, const char *format,
                                                                 ...);

/* Compares the transcript since the last check. */
#define tracker_fixture_expect(fixture, lines) tracker_fixture_expect_at(fixture, lines, __FILE__, __LINE__)
void tracker_fixture_expect_at(struct tracker_fixture *fixture, const char *lines, const char *file, int line);

/* The fixture that the tests of a group share: for cmocka's setup, with release 5.1 or 4.18, and teardown. */
extern struct tracker_fixture shared_fixture;
int tracker_fixture_set_up(void **state);
int tracker_fixture_set_up_legacy(void **state);
int tracker_fixture_tear_down(void **state);
const struct ue_tracker_counts *shared_fixture_counts(unsigned side);

#endif
