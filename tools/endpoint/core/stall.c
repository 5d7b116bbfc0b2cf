/* SPDX-License-Identifier: MIT */
/* Early bunches and partial bunches without their next part must not wait for ever for a hostile peer (embedding.md
   7). The engine waits as long as the connection lasts. */
#include "tools/endpoint/core/connection.h"

#define LOOKS_NS UINT64_C(1000000000)

static bool is_part_missing(const struct ue_channel *channel) {
    return channel->partial != NULL && !channel->partial->complete;
}

/* Changes with each bunch for which something waited. */
static int64_t progress_of(const struct ue_lane *lane) {
    const struct ue_channel *channel = lane->channel;
    bool is_unreliable = is_part_missing(channel) && !channel->partial->reliable;
    return is_unreliable ? channel->partial->ch_seq : lane->in_reliable;
}

static bool is_stalled(const struct ue_conn *c, uint64_t now_ns, const struct ue_lane *lane) {
    struct ue_channel *channel = lane->channel;
    bool waits = channel->in_first != NULL || is_part_missing(channel);
    int64_t progress = progress_of(lane);
    if (!waits || progress != channel->progress || channel->progress_ns == 0) {
        channel->progress = progress;
        channel->progress_ns = now_ns;
    }
    return now_ns - channel->progress_ns > c->config.stall_timeout_ns;
}

/* Unreliable parts are never sent again; a reliable bunch cannot be skipped. */
static void give_up(struct ue_conn *c, struct ue_channel *channel) {
    if (channel->in_first == NULL && is_part_missing(channel) && !channel->partial->reliable) {
        ue_assemble_drop(&c->share, channel);
        return;
    }
    ue_event_fault(c, UE_CLOSE_RECEIVED_NEXT_BUNCH_FAIL, NULL, channel->index);
    ue_conn_want_close(c, UE_CLOSE_CONNECTION_TIMEOUT, UE_CLOSE_RECEIVED_NEXT_BUNCH_FAIL);
}

void ue_stall_tick(struct ue_conn *c, uint64_t now_ns) {
    if (c->config.stall_timeout_ns == 0 || now_ns - c->last_stall_look_ns < LOOKS_NS) {
        return;
    }
    c->last_stall_look_ns = now_ns;
    for (uint32_t i = 0; i < c->lanes.capacity && !ue_conn_is_ending(c); i++) {
        struct ue_lane *lane = c->lanes.slots[i];
        if (lane != NULL && lane->channel != NULL && is_stalled(c, now_ns, lane)) {
            give_up(c, lane->channel);
        }
    }
}
