/* SPDX-License-Identifier: MIT */
/* Compares both sides of one connection of a capture with the reference model. */
#ifndef UERUDP_TOOLS_REPLAY_CONNECTION_COMPARISON_H
#define UERUDP_TOOLS_REPLAY_CONNECTION_COMPARISON_H

#include "tools/endpoint/core/datagram_encryption.h"
#include "tools/input/capture_reader.h"
#include "tools/replay/side_comparison.h"

#define REPLAY_CLEAR_BYTES 65536

/* Shared by all connections. */
struct replay_check_context {
    struct replay_packet_memory budget;
    bool is_checked[2]; /* [client, server] */
    uint32_t ignored;   /* bit mask of differences that do not count */
    const struct ue_cipher *cipher;
    struct ue_encryption *encryption; /* with the key that decrypted the newest datagram; NULL: none yet */
    uint8_t key[UE_KEY_BYTES];
    uint8_t clear[REPLAY_CLEAR_BYTES];
};

#define REPLAY_COOKIES_MAX 8

/* The newest handshake messages of one type: a client that repeats its handshake may answer any of them. */
struct replay_cookies {
    unsigned count; /* of all */
    struct ue_handshake messages[REPLAY_COOKIES_MAX];
};

struct replay_connection {
    struct replay_check_context *all;
    uint32_t stream;
    char texts[2][CAPTURE_ADDRESS_TEXT_BYTES]; /* [client, server] */
    char generation[16];
    struct replay_side sides[2];
    struct replay_side_start start;
    uint64_t datagrams, malformed;
    bool has_decrypted;        /* at least one datagram */
    bool begins_in_the_middle; /* the first datagram does not begin a handshake */
    struct replay_cookies challenges, responses;
    bool has_ack, has_other_responses;
};

struct replay_connection *replay_connection_new(struct replay_check_context *all, const struct input_datagram *seen);
void replay_connection_free(struct replay_connection *connection);

/* One datagram, in capture order. */
void replay_connection_receive(struct replay_connection *connection, const struct input_datagram *seen);

/* The capture has ended: compares what still waits. */
void replay_connection_end(struct replay_connection *connection);

/* The first difference of either side; NULL: none. */
const struct replay_difference *replay_connection_difference(const struct replay_connection *connection);

/* Why a side was not compared to the end; NULL: it was. */
const char *replay_connection_obstacle(const struct replay_connection *connection, unsigned role);

/* Whether at least one of its sides was compared. */
bool replay_connection_is_compared(const struct replay_connection *connection);

#endif
