/* SPDX-License-Identifier: MIT */
/* One connection of a capture, each of its sides compared with the reference endpoint. */
#ifndef UERUDP_TOOLS_REPLAY_CONNECTION_CHECK_H
#define UERUDP_TOOLS_REPLAY_CONNECTION_CHECK_H

#include <uerudp/datagram_encryption.h>
#include "tools/input/capture_reader.h"
#include "tools/replay/side_check.h"

#define REPLAY_CONNECTION_NAME_BYTES (2 * CAPTURE_ADDRESS_TEXT_BYTES)

#define REPLAY_CLEAR_BYTES 65536

/* What all conversations share. */
struct replay_check_context {
    struct replay_packet_memory budget;
    bool is_checked[2]; /* client, server */
    uint32_t ignored;   /* bit mask of departures that do not count */
    const struct ue_cipher *cipher;
    struct ue_encryption *seal; /* of the key that opened something last; NULL: none yet */
    uint8_t key[UE_KEY_BYTES];
    uint8_t clear[REPLAY_CLEAR_BYTES];
};

#define REPLAY_COOKIES_MAX 8

/* What the newest handshake messages of one type brought: a client that tries again may answer any. */
struct replay_cookies {
    unsigned count; /* of all */
    struct ue_handshake messages[REPLAY_COOKIES_MAX];
};

struct replay_connection {
    struct replay_check_context *all;
    uint32_t stream;
    char texts[2][CAPTURE_ADDRESS_TEXT_BYTES]; /* client, server */
    char generation[16];
    struct replay_side sides[2];
    struct replay_side_start start;
    uint64_t datagrams, malformed;
    bool begins_in_the_middle; /* the first datagram is not the first of a handshake */
    struct replay_cookies challenges, responses;
    bool has_ack, has_other_responses;
};

struct replay_connection *replay_connection_new(struct replay_check_context *all, const struct input_datagram *seen);
void replay_connection_free(struct replay_connection *conversation);

/* One datagram, in capture order. */
void replay_connection_receive(struct replay_connection *conversation, const struct input_datagram *seen);

/* Nothing more will come: what still waited is compared. */
void replay_connection_end(struct replay_connection *conversation);

/* The first difference of both sides; NULL: there is none. */
const struct replay_difference *replay_connection_difference(const struct replay_connection *conversation);

/* Why a side was not compared to its end; NULL: it was. */
const char *replay_connection_obstacle(const struct replay_connection *conversation, unsigned role);

#endif
