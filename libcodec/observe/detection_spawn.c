/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_spawn.h"

#include <uerudp/content.h>
#include "libcodec/observe/detection_evidence.h"

/* Number of agreeing spawns after which no further one is decoded. */
#define VOTES_MAX 3
/* Most actors spawn when a connection begins: this many datagrams are decoded, then one in 16. */
#define DATAGRAMS_EAGER 1024
#define STEP 16

struct spawn_pass {
    const struct ue_context *x;
    const struct ue_profile *older, *newer;
    int votes;
};

/* Whether the spawn data and content blocks end with the message. */
static bool matches(const struct spawn_pass *pass, const struct ue_profile *profile, const struct ue_bunch *bunch) {
    const struct ue_content content = {.kind = UE_CONTENT_ACTOR,
                                       .open = true,
                                       .close = bunch->close,
                                       .has_exports = bunch->has_exports,
                                       .has_mapped = bunch->has_mapped,
                                       .data = bunch->data};
    const struct ue_trace discard = {0};
    struct ue_context x = *pass->x;
    struct ue_fault fault;
    x.profile = *profile;
    x.settings.netver = (uint8_t)profile->netver;
    return ue_content_trace(&x, &content, NULL, &discard, &fault) == UE_OK;
}

static bool opens_actor(const struct ue_bunch *bunch) {
    return bunch->open && !bunch->partial && bunch->data.bits != 0 && bunch->has_name && bunch->name.hardcoded &&
           bunch->name.index == UE_NAME_ACTOR;
}

static void on_item(void *user, const struct ue_item *item) {
    struct spawn_pass *pass = user;
    if (!item->is_ack && opens_actor(&item->bunch)) {
        pass->votes += matches(pass, pass->newer, &item->bunch) - matches(pass, pass->older, &item->bunch);
    }
}

static bool have_same_format(unsigned row, unsigned other) {
    return ue_profile_same_wire((uint16_t)(1u << row | 1u << other));
}

/* The profiles with the packet format of this row, which is included. They are neighbours in the table, because no
   release returns to an earlier format. */
static uint16_t same_format_as(unsigned row) {
    uint16_t mask = (uint16_t)(1u << row);
    for (unsigned other = row; other > 0 && have_same_format(row, other - 1); other--) {
        mask |= (uint16_t)(1u << (other - 1));
    }
    for (unsigned other = row + 1; other < UE_PROFILE_COUNT && have_same_format(row, other); other++) {
        mask |= (uint16_t)(1u << other);
    }
    return mask;
}

/* Evaluated for each packet, so that profiles are compared only when the result has another one. */
static uint16_t same_format_as_result(struct ue_detection *detection) {
    if ((detection->spawn_profiles >> detection->result.profile & 1) == 0) {
        detection->spawn_profiles = same_format_as(detection->result.profile);
    }
    return detection->spawn_profiles;
}

static bool is_due(const struct ue_detection *detection) {
    bool is_decided = detection->spawn_votes >= VOTES_MAX || detection->spawn_votes <= -VOTES_MAX;
    return !is_decided && (detection->datagrams < DATAGRAMS_EAGER || detection->datagrams % STEP == 0);
}

void ue_detection_observe_spawns(struct ue_detection *detection, const struct ue_context *context, const uint8_t *bytes,
                                 size_t size_bytes) {
    if (!is_due(detection)) {
        return;
    }
    uint16_t profiles = same_format_as_result(detection);
    unsigned older = ue_profile_mask_oldest(profiles);
    unsigned newer = ue_profile_mask_oldest(profiles & (uint16_t)(profiles - 1));
    bool is_open = (profiles & (profiles - 1)) != 0 && detection->settings.netver == 0 &&
                   ue_profile_same_wire(detection->result.candidates);
    if (!is_open) {
        return;
    }
    struct spawn_pass pass = {context, ue_profile_at(older), ue_profile_at(newer), 0};
    const struct ue_visitor visitor = {.item = on_item, .user = &pass};
    struct ue_decode_result result;
    ue_datagram_decode(context, bytes, size_bytes, NULL, &visitor, &result);
    if (pass.votes == 0) {
        return;
    }
    detection->spawn_votes = (int8_t)(detection->spawn_votes + (pass.votes > 0 ? 1 : -1));
    if (detection->spawn_votes != 0) {
        unsigned row = detection->spawn_votes > 0 ? newer : older;
        ue_detection_choose(detection, row, detection->result.variant, (uint16_t)(1u << row),
                            UE_DETECTION_REASON_SPAWN);
    }
}
