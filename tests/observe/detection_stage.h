/* SPDX-License-Identifier: MIT */
/* A conversation of two engines, and the detection that observes it. */
#ifndef UERUDP_TESTS_OBSERVE_DETECTION_STAGE_H
#define UERUDP_TESTS_OBSERVE_DETECTION_STAGE_H

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

struct speaker {
    struct ue_context x;
    uint16_t seq;
    uint32_t ch_seq;
};

struct talk {
    struct rng rng;
    struct ue_settings settings;
    const struct ue_profile *profile;
    struct speaker sides[2];
    bool partials;
};

extern const uint8_t cookie_a[UE_COOKIE_BYTES];
extern const uint8_t cookie_b[UE_COOKIE_BYTES];
extern const uint8_t no_cookie[UE_COOKIE_BYTES];

void talk_begin(struct talk *t, const char *release, const struct ue_settings *settings, uint64_t seed);

/* A packet header with the next sequence of a side. */
void talk_header(struct talk *t, unsigned side, struct ue_packet *p);

/* Makes the next packet of a side. Returns its size in bytes. */
size_t talk_packet(struct talk *t, unsigned side, uint8_t *bytes);

/* Makes a handshake message. orig: the earlier cookie of a restart, or NULL. */
size_t talk_handshake(struct talk *t, enum ue_handshake_type type, double seconds, const uint8_t *cookie,
                      const uint8_t *orig, uint8_t *bytes);

/* Makes the server's answer to packets from an unknown address, in the oldest version that it accepts. */
size_t talk_restart_request(struct talk *t, uint8_t *bytes);

struct ue_decode_state feed(struct ue_detection *detection, unsigned side, const uint8_t *bytes, size_t size);
struct ue_decode_state feed_packet(struct ue_detection *detection, struct talk *t, unsigned side);

/* Sends Initial, Challenge, Response and Ack; both sides begin with the sequences of the cookie. */
void talk_shake_hands(struct ue_detection *detection, struct talk *t, const uint8_t *cookie);

bool is_candidate(const struct ue_detection_result *choice, const char *release);

#endif
