/* SPDX-License-Identifier: MIT */
#include "libcodec/observe/detection_spawn.h"

#include <uerudp/content.h>
#include "libcodec/observe/detection_evidence.h"

/* Spawns that agree before no further one is read. */
#define VOTES_MAX 3
/* Actors spawn above all when a connection begins: this many datagrams are read, then one in 16. */
#define DATAGRAMS_EAGER 1024
#define STEP 16

struct spawn_walk {
    const struct ue_context *x;
    const struct ue_profile *older, *newer;
    int votes;
};

/* Whether the message ends exactly where its spawn data and content blocks do. */
static bool fits(const struct spawn_walk *walk, const struct ue_profile *profile, const struct ue_bunch *bunch) {
    const struct ue_content content = {.kind = UE_CONTENT_ACTOR,
                                       .open = true,
                                       .close = bunch->close,
                                       .has_exports = bunch->has_exports,
                                       .has_mapped = bunch->has_mapped,
                                       .data = bunch->data};
    const struct ue_trace nobody = {0};
    struct ue_context x = *walk->x;
    struct ue_fault fault;
    x.profile = *profile;
    x.settings.netver = (uint8_t)profile->netver;
    return ue_content_trace(&x, &content, NULL, &nobody, &fault) == UE_OK;
}

static bool opens_actor(const struct ue_bunch *bunch) {
    return bunch->open && !bunch->partial && bunch->data.bits != 0 && bunch->has_name && bunch->name.hardcoded &&
           bunch->name.index == UE_NAME_ACTOR;
}

static void visit(void *user, const struct ue_item *item) {
    struct spawn_walk *walk = user;
    if (!item->is_ack && opens_actor(&item->bunch)) {
        walk->votes += fits(walk, walk->newer, &item->bunch) - fits(walk, walk->older, &item->bunch);
    }
}

/* The profiles whose packets are those of the chosen one, itself included. */
static uint16_t twins_of(unsigned row) {
    uint16_t mask = (uint16_t)(1u << row);
    for (unsigned other = 0; other < UE_PROFILE_COUNT; other++) {
        uint16_t both = (uint16_t)(1u << row | 1u << other);
        mask |= ue_profile_same_wire(both) ? both : 0;
    }
    return mask;
}

static bool is_watched(const struct ue_detection *flow) {
    bool is_decided = flow->spawn_votes >= VOTES_MAX || flow->spawn_votes <= -VOTES_MAX;
    return !is_decided && (flow->datagrams < DATAGRAMS_EAGER || flow->datagrams % STEP == 0);
}

void ue_detection_observe_spawns(struct ue_detection *flow, const struct ue_context *context, const uint8_t *bytes,
                          size_t size_bytes) {
    if (!is_watched(flow)) {
        return;
    }
    uint16_t twins = twins_of(flow->choice.profile);
    unsigned older = ue_profile_mask_oldest(twins);
    unsigned newer = ue_profile_mask_oldest(twins & (uint16_t)(twins - 1));
    bool is_open =
        (twins & (twins - 1)) != 0 && flow->settings.netver == 0 && ue_profile_same_wire(flow->choice.candidates);
    if (!is_open) {
        return;
    }
    struct spawn_walk walk = {context, ue_profile_at(older), ue_profile_at(newer), 0};
    const struct ue_visitor visitor = {.item = visit, .user = &walk};
    struct ue_decode_result verdict;
    ue_datagram_check(context, bytes, size_bytes, &visitor, &verdict);
    if (walk.votes == 0) {
        return;
    }
    flow->spawn_votes = (int8_t)(flow->spawn_votes + (walk.votes > 0 ? 1 : -1));
    if (flow->spawn_votes != 0) {
        unsigned row = flow->spawn_votes > 0 ? newer : older;
        ue_detection_choose(flow, row, flow->choice.variant, (uint16_t)(1u << row), UE_DETECTION_REASON_SPAWN);
    }
}
