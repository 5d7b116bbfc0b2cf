/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_replay.h"

#include <string.h>

#include "libcodec/observe/detection_evidence.h"

/* Datagrams, all of which must end with their last bunch. */
#define DATAGRAMS_MIN 16
/* Different sizes among them: datagrams of another protocol with the same head and size agree or fail together. */
#define SIZES_MIN 6
/* At most one datagram in this number may match a generation's packets. */
#define CHANCE_SHARE 4

#define SIZE_CLASSES 64

static bool may_be_replay(const struct ue_detection *detection, unsigned side) {
    const struct ue_settings *settings = &detection->settings;
    const struct ue_detection_replay *replay = &detection->replay;
    bool is_plain = settings->magic_bits == 0 && settings->skip_bytes == 0 && settings->extra_bits == 0 &&
                    settings->handlers[0] == UE_HANDLER_NONE && !settings->internal_ack;
    bool is_first = detection->datagrams == 1;
    return is_plain && !detection->is_given && !detection->has_ids_evidence && !detection->is_released &&
           (is_first || (replay->rows != 0 && replay->side == side && replay->datagrams + 1u == detection->datagrams));
}

static bool is_found(const struct ue_detection *detection) {
    const struct ue_detection_replay *replay = &detection->replay;
    if (replay->datagrams < DATAGRAMS_MIN || __builtin_popcountll(replay->sizes) < SIZES_MIN) {
        return false;
    }
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        for (unsigned variant = 0; variant < UE_DETECTION_VARIANT_COUNT; variant++) {
            if (detection->fits[row][variant] * CHANCE_SHARE > detection->trials) {
                return false;
            }
        }
    }
    return true;
}

static void become_replay(struct ue_detection *detection, unsigned side) {
    const struct ue_detection_replay *replay = &detection->replay;
    ue_detection_restart(detection);
    detection->settings.internal_ack = true;
    detection->resolved.profile.name = NULL; /* the settings changed */
    detection->trials = replay->datagrams;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        bool fits = (replay->rows >> row & 1) != 0;
        detection->fits[row][0] = detection->bunch_fits[row][0] = fits ? replay->datagrams : 0;
        detection->server_votes[row] = (int8_t)(side != 0 ? 1 : -1);
    }
    /* The packet ids of the datagrams before this one. */
    memset(detection->sides, 0, sizeof detection->sides);
    detection->sides[side] = (struct ue_detection_side){.has_id = true, .last_id = (int64_t)replay->datagrams - 2};
    ue_detection_decide(detection);
}

bool ue_detection_observe_replay(struct ue_detection *detection, unsigned side, const uint8_t *bytes,
                                 size_t size_bytes) {
    struct ue_detection_replay *replay = &detection->replay;
    if (!may_be_replay(detection, side)) {
        replay->rows = 0;
        return false;
    }
    struct ue_settings settings = detection->settings;
    settings.internal_ack = true;
    uint16_t possible = detection->datagrams == 1 ? UE_PROFILE_ALL : replay->rows;
    replay->rows = 0;
    for (unsigned row = 0; row < UE_PROFILE_COUNT; row++) {
        struct ue_context x;
        struct ue_packet_match match;
        if ((possible >> row & 1) == 0) {
            continue;
        }
        ue_context_init(&x, ue_profile_at(row), &settings);
        ue_profile_match_packet(&x, bytes, size_bytes, &match);
        if (match.fits && match.has_bunches) {
            replay->rows |= (uint16_t)(1u << row);
        }
    }
    replay->side = (uint8_t)side;
    replay->datagrams++;
    replay->sizes |= UINT64_C(1) << size_bytes % SIZE_CLASSES;
    if (replay->rows == 0 || !is_found(detection)) {
        return false;
    }
    become_replay(detection, side);
    return true;
}
