/* SPDX-License-Identifier: MIT */
/* One connection of a capture, each of its sides compared with the reference endpoint. */
#ifndef UERUDP_TOOLS_REPLAY_CONNECTION_CHECK_H
#define UERUDP_TOOLS_REPLAY_CONNECTION_CHECK_H

#include <uerudp/datagram_encryption.h>
#include "tools/input/capture_reader.h"
#include "tools/replay/side_check.h"

#define UE_CONVERSATION_NAME_BYTES (2 * UE_ADDRESS_TEXT_BYTES)

#define UE_CLEAR_BYTES 65536

/* What all conversations share. */
struct ue_conversations {
    struct ue_kept_budget budget;
    bool is_checked[2]; /* client, server */
    uint32_t ignored;   /* bit mask of departures that do not count */
    const struct ue_cipher *cipher;
    struct ue_seal *seal; /* of the key that opened something last; NULL: none yet */
    uint8_t key[UE_KEY_BYTES];
    uint8_t clear[UE_CLEAR_BYTES];
};

#define UE_COOKIES_MAX 8

/* What the newest handshake messages of one type brought: a client that tries again may answer any. */
struct ue_cookies {
    unsigned count; /* of all */
    struct ue_handshake messages[UE_COOKIES_MAX];
};

struct ue_conversation {
    struct ue_conversations *all;
    uint32_t stream;
    char texts[2][UE_ADDRESS_TEXT_BYTES]; /* client, server */
    char generation[16];
    struct ue_party sides[2];
    struct ue_party_start start;
    uint64_t datagrams, malformed;
    bool begins_in_the_middle; /* the first datagram is not the first of a handshake */
    struct ue_cookies challenges, responses;
    bool has_ack, has_other_responses;
};

struct ue_conversation *ue_conversation_new(struct ue_conversations *all, const struct ue_seen *seen);
void ue_conversation_free(struct ue_conversation *conversation);

/* One datagram, in capture order. */
void ue_conversation_feed(struct ue_conversation *conversation, const struct ue_seen *seen);

/* Nothing more will come: what still waited is compared. */
void ue_conversation_end(struct ue_conversation *conversation);

/* The first difference of both sides; NULL: there is none. */
const struct ue_difference *ue_conversation_difference(const struct ue_conversation *conversation);

/* Why a side was not compared to its end; NULL: it was. */
const char *ue_conversation_trouble(const struct ue_conversation *conversation, unsigned role);

#endif
