/* SPDX-License-Identifier: MIT */
#include <uerudp/inspect.h>

#include "tools/endpoint/core/connection.h"

enum ue_status ue_conn_assume_open(struct ue_conn *c, enum ue_channel_kind kind, uint32_t channel, uint32_t name_index,
                                   bool is_opener) {
    struct ue_lane *lane = ue_lane_need(&c->lanes, channel);
    if (lane == NULL) {
        return UE_E_FULL;
    }
    struct ue_channel *made = lane->channel != NULL ? lane->channel : ue_channel_new(&c->lanes, lane, kind);
    if (made == NULL) {
        return UE_E_FULL;
    }
    made->name_index = name_index;
    made->opened_locally = is_opener;
    made->open_sent = is_opener;
    made->open_acked = true;
    made->has_opened = true;
    return UE_OK;
}

void ue_conn_assume_heard(struct ue_conn *c) {
    struct ue_lane *lane = ue_lane_find(&c->lanes, 0);
    lane->in_reliable += (int32_t)c->in_context.ch_seq_bound; /* on the wire the same number */
}
