/* SPDX-License-Identifier: MIT */
/* An observer of clients, numbered from 1, of the server on host 0. */
#ifndef UERUDP_TESTS_OBSERVE_OBSERVER_FIXTURE_H
#define UERUDP_TESTS_OBSERVE_OBSERVER_FIXTURE_H

#include <uerudp/observer.h>
#include "tests/observe/detection_fixture.h"
#include "tests/support/counting_allocator.h"

#define RELEASE "5.1"

struct observer_fixture {
    struct ue_observer *observer;
    struct counting_allocator memory;
    uint64_t frame;
    int64_t now_ns;
    bool is_ours; /* of the next datagrams */
    struct ue_datagram_record record;
    uint64_t events;
    uint8_t bytes[PACKET_BYTES]; /* of the datagram fed last */
};

void observer_fixture_begin(struct observer_fixture *f, enum ue_observer_order order);

/* The observer is NULL if there is too little memory. */
void observer_fixture_begin_limited(struct observer_fixture *f, enum ue_observer_order order, size_t limit_bytes);

/* With other options, whose allocator is set here, and settings if they are NULL. */
void observer_fixture_begin_with(struct observer_fixture *f, const struct ue_observer_options *options,
                                 size_t limit_bytes);

/* Frees the observer, and requires that no memory is left. */
void observer_fixture_end(struct observer_fixture *f);

struct ue_address observer_fixture_address(unsigned host);

bool observer_fixture_feed(struct observer_fixture *f, unsigned from, unsigned to, const uint8_t *bytes,
                           size_t size_bytes);

/* Feeds the next packet of a side. */
bool observer_fixture_packet(struct observer_fixture *f, struct traffic *t, unsigned side, unsigned client);

/* Feeds a handshake message, from the side that sends this type. */
bool observer_fixture_handshake(struct observer_fixture *f, struct traffic *t, unsigned client,
                                enum ue_handshake_type type, const uint8_t *cookie);

/* The number of datagrams that are returned now. */
uint64_t observer_fixture_drain(struct observer_fixture *f);

/* Feeds a whole handshake. Returns the number of datagrams that were returned. */
uint64_t observer_fixture_connect(struct observer_fixture *f, struct traffic *t, unsigned client,
                                  const uint8_t *cookie);

/* Feeds a restart request, and the answer of a client that continues the connection with the cookie orig. */
void observer_fixture_restart(struct observer_fixture *f, struct traffic *t, unsigned client, const uint8_t *orig);

#endif
