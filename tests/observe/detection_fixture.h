/* SPDX-License-Identifier: MIT */
/* Traffic of two engines, and the detection that observes it. */
#ifndef UERUDP_TESTS_OBSERVE_DETECTION_FIXTURE_H
#define UERUDP_TESTS_OBSERVE_DETECTION_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <uerudp/detection.h>
#include "tests/support/rng.h"

#define PACKET_BYTES 1500
#define STOCK (&(const struct ue_settings){0})
#define SERVER 1u
#define CLIENT 0u

struct traffic_side {
    struct ue_context x;
    uint16_t seq;
    uint32_t ch_seq;
};

struct traffic {
    struct rng rng;
    struct ue_settings settings;
    const struct ue_profile *profile;
    struct traffic_side sides[2];
    bool partials;
};

extern const uint8_t cookie_a[UE_COOKIE_BYTES];
extern const uint8_t cookie_b[UE_COOKIE_BYTES];
extern const uint8_t no_cookie[UE_COOKIE_BYTES];

void traffic_init(struct traffic *t, const char *release, const struct ue_settings *settings, uint64_t seed);

/* A packet header with the next sequence of a side. */
void traffic_header(struct traffic *t, unsigned side, struct ue_packet *p);

/* Makes the next packet of a side. Returns its size in bytes. */
size_t traffic_packet(struct traffic *t, unsigned side, uint8_t *bytes);

/* Makes a handshake message. orig: the earlier cookie of a restart, or NULL. */
size_t traffic_handshake(struct traffic *t, enum ue_handshake_type type, double seconds, const uint8_t *cookie,
                         const uint8_t *orig, uint8_t *bytes);

/* Makes the server's answer to packets from an unknown address, in the oldest version that it accepts. */
size_t traffic_restart_request(struct traffic *t, uint8_t *bytes);

struct ue_decode_state traffic_feed(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size);
struct ue_decode_state traffic_feed_packet(struct ue_detection *detection, struct traffic *t, unsigned side);

/* Sends Initial, Challenge, Response and Ack; both sides begin with the sequences of the cookie. */
void traffic_connect(struct ue_detection *detection, struct traffic *t, const uint8_t *cookie);

bool is_candidate(const struct ue_detection_result *result, const char *release);

#endif
