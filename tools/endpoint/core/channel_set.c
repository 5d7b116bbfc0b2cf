/* SPDX-License-Identifier: MIT */
/* Channels of a connection: kinds, opening, cleaning up. */
#include "tools/endpoint/core/connection.h"

#define VOICE_INDEX 1
#define NAME_BITS_MAX 104  /* of a text: each bunch repeats it, within MAX_BUNCH_HEADER_BITS */
#define FIRST_FREE_INDEX 2 /* 0 is Control's and 1 is Voice's */

struct ue_channel *ue_conn_channel(const struct ue_conn *c, uint32_t index) {
    const struct ue_lane *lane = ue_lane_find(&c->lanes, index);
    return lane != NULL ? lane->channel : NULL;
}

uint32_t ue_conn_room_parts(const struct ue_conn *c, const struct ue_lane *lane, bool closes) {
    if (ue_conn_has_internal_ack(c)) {
        return UINT32_MAX;
    }
    uint32_t limit = c->limits.reliable + closes;
    uint32_t used = lane->channel->out_count + ue_lane_debts(lane) + 1;
    limit = limit < c->out_context.ch_seq_bound / 2 ? limit : c->out_context.ch_seq_bound / 2; /* else it looks old */
    return used < limit ? limit - used : 0;
}

static uint32_t name_of(enum ue_channel_kind kind) {
    switch (kind) {
    case UE_KIND_CONTROL: return UE_NAME_CONTROL;
    case UE_KIND_ACTOR: return UE_NAME_ACTOR;
    case UE_KIND_VOICE: return UE_NAME_VOICE;
    default: return UE_NAME_DATA_STREAM;
    }
}

static bool kind_of_type(uint8_t type, enum ue_channel_kind *kind) {
    switch (type) {
    case UE_CHANNEL_CONTROL: *kind = UE_KIND_CONTROL; return true;
    case UE_CHANNEL_ACTOR: *kind = UE_KIND_ACTOR; return true;
    case UE_CHANNEL_VOICE: *kind = UE_KIND_VOICE; return true;
    case UE_CHANNEL_FILE: *kind = UE_KIND_OTHER; return true;
    default: return false;
    }
}

static bool kind_of_name(const struct ue_conn *c, const struct ue_name *name, enum ue_channel_kind *kind) {
    *kind = UE_KIND_OTHER;
    if (!name->hardcoded) {
        return c->config.any_channel && name->text.units.bits <= NAME_BITS_MAX;
    }
    switch (name->index) {
    case UE_NAME_CONTROL: *kind = UE_KIND_CONTROL; return true;
    case UE_NAME_ACTOR: *kind = UE_KIND_ACTOR; return true;
    case UE_NAME_VOICE: *kind = UE_KIND_VOICE; return true;
    case UE_NAME_DATA_STREAM: return true;
    default: return c->config.any_channel;
    }
}

bool ue_conn_kind_of(const struct ue_conn *c, const struct ue_bunch *bunch, enum ue_channel_kind *kind) {
    if (ue_conn_is_legacy(c)) {
        return kind_of_type(bunch->ch_type, kind);
    }
    return bunch->has_name && kind_of_name(c, &bunch->name, kind);
}

bool ue_conn_same_kind(const struct ue_conn *c, const struct ue_channel *channel, const struct ue_bunch *bunch) {
    enum ue_channel_kind kind;
    if (bunch->name.hardcoded && bunch->name.index == channel->name_index) {
        return true;
    }
    bool is_named = ue_conn_is_legacy(c) ? bunch->reliable || bunch->open : bunch->has_name;
    if (!is_named) {
        return true;
    }
    if (!ue_conn_kind_of(c, bunch, &kind) || kind != channel->kind) {
        return false;
    }
    return !bunch->has_name || kind != UE_KIND_OTHER ||
           (bunch->name.hardcoded ? bunch->name.index == channel->name_index
                                  : ue_view_equal(bunch->name.text.units, channel->name.units));
}

static bool copy_name(struct ue_conn *c, struct ue_channel *channel, const struct ue_name *name) {
    channel->name_index = name->index;
    if (name->hardcoded) {
        return true;
    }
    uint8_t *copy = ue_share_alloc(&c->share, ue_bits_bytes(name->text.units.bits) + 1);
    if (copy == NULL) {
        return false;
    }
    ue_view_copy(name->text.units, copy);
    channel->name = (struct ue_text){{copy, 0, name->text.units.bits}, name->text.wide};
    return true;
}

/* A channel on an index with missing numbers has bunches to send from the beginning. */
static struct ue_channel *new_channel(struct ue_conn *c, uint32_t index, enum ue_channel_kind kind) {
    struct ue_lane *lane = ue_lane_need(&c->lanes, index);
    struct ue_channel *channel = lane != NULL ? ue_channel_new(&c->lanes, lane, kind) : NULL;
    if (channel != NULL) {
        channel->name_index = name_of(kind);
        channel->has_unsent = lane->owed_from != 0;
        c->has_unsent |= channel->has_unsent;
    }
    return channel;
}

struct ue_channel *ue_conn_channel_from(struct ue_conn *c, const struct ue_bunch *bunch, enum ue_channel_kind kind) {
    struct ue_channel *channel = new_channel(c, bunch->channel, kind);
    if (channel == NULL) {
        return NULL;
    }
    if (bunch->has_name && !copy_name(c, channel, &bunch->name)) {
        ue_channel_free(&c->lanes, ue_lane_find(&c->lanes, bunch->channel));
        return NULL;
    }
    channel->open_sent = true;
    return channel;
}

bool ue_conn_may_open(const struct ue_conn *c, enum ue_channel_kind kind) {
    if (ue_conn_has_internal_ack(c) || c->config.no_login) {
        return true;
    }
    switch (kind) {
    case UE_KIND_CONTROL: return !ue_conn_is_server(c);
    case UE_KIND_ACTOR: return ue_conn_is_server(c);
    default: return true;
    }
}

static int64_t free_index(const struct ue_conn *c, enum ue_channel_kind kind) {
    int64_t index = kind == UE_KIND_CONTROL ? 0 : kind == UE_KIND_VOICE ? VOICE_INDEX : FIRST_FREE_INDEX;
    while (kind != UE_KIND_CONTROL && kind != UE_KIND_VOICE && index < c->config.max_channels &&
           ue_conn_channel(c, (uint32_t)index) != NULL) {
        index++;
    }
    return index;
}

enum ue_status ue_conn_open(struct ue_conn *c, enum ue_channel_kind kind, int64_t index, uint32_t *opened) {
    ue_conn_settle(c);
    index = index >= 0 ? index : free_index(c, kind);
    if (!ue_conn_is_up(c) || !ue_conn_may_open(c, kind) || (kind == UE_KIND_CONTROL) != (index == 0)) {
        return UE_E_CONFLICT;
    }
    if (index >= c->config.max_channels) {
        return UE_E_FULL;
    }
    if (ue_conn_channel(c, (uint32_t)index) != NULL) {
        return UE_E_CONFLICT;
    }
    struct ue_channel *channel = new_channel(c, (uint32_t)index, kind);
    if (channel == NULL) {
        return UE_E_FULL;
    }
    channel->opened_locally = true;
    channel->has_opened = true;
    *opened = (uint32_t)index;
    return UE_OK;
}

void ue_conn_clean_up(struct ue_conn *c, struct ue_channel *channel) {
    struct ue_event event = {.type = UE_EVENT_CHANNEL_CLOSED,
                             .channel = channel->index,
                             .kind = channel->kind,
                             .close_reason = channel->close_reason};
    bool ends_connection = channel->index == 0 && !channel->closing;
    if (channel->has_opened) {
        ue_event_put(c, &event);
    }
    ue_channel_free(&c->lanes, ue_lane_find(&c->lanes, channel->index));
    if (ends_connection) {
        ue_conn_want_close(c, UE_CLOSE_CONTROL_CHANNEL_CLOSE, UE_CLOSE_NONE);
    }
}

void ue_conn_bury(struct ue_conn *c) {
    if (!c->has_dying) {
        return;
    }
    c->has_dying = false;
    for (uint32_t i = 0; i < c->lanes.capacity; i++) {
        struct ue_channel *channel = c->lanes.slots[i] != NULL ? c->lanes.slots[i]->channel : NULL;
        if (channel != NULL && channel->is_dying) {
            ue_conn_clean_up(c, channel);
        }
    }
}
