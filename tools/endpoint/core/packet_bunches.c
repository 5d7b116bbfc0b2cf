/* SPDX-License-Identifier: MIT */
/* The bunches of one packet (endpoint.md 16, 17). */
#include "tools/endpoint/core/receiver.h"

#include <uerudp/seq.h>

#define ITEMS_AT_ONCE 4    /* decoded before the first of them is handled */
#define NAME_BITS_MAX 104  /* of a text: each bunch repeats it, within MAX_BUNCH_HEADER_BITS */
#define NAME_INDEX_MAX 410 /* MAX_NETWORKED_HARDCODED_NAME: names beyond it travel as text */

static struct ue_bunch_outcome close_for(struct ue_common *common, enum ue_close_reason reason, uint32_t channel) {
    ue_want_close_for_fault(common, reason, NULL, channel);
    return (struct ue_bunch_outcome){true, true};
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

static bool kind_of_name(const struct ue_common *common, const struct ue_name *name, enum ue_channel_kind *kind) {
    *kind = UE_KIND_OTHER;
    if (!name->hardcoded) {
        return common->config.any_channel && name->text.units.bits <= NAME_BITS_MAX;
    }
    switch (name->index) {
    case UE_NAME_CONTROL: *kind = UE_KIND_CONTROL; return true;
    case UE_NAME_ACTOR: *kind = UE_KIND_ACTOR; return true;
    case UE_NAME_VOICE: *kind = UE_KIND_VOICE; return true;
    case UE_NAME_DATA_STREAM: return true;
    default: return common->config.any_channel;
    }
}

bool ue_channel_kind_of(const struct ue_common *common, const struct ue_bunch *bunch, enum ue_channel_kind *kind) {
    if (ue_is_legacy(common)) {
        return kind_of_type(bunch->ch_type, kind);
    }
    return bunch->has_name && kind_of_name(common, &bunch->name, kind);
}

static struct ue_view text_of(const struct ue_channel *channel) {
    return channel->name != NULL ? channel->name->units : (struct ue_view){0};
}

/* endpoint.md 16.4. */
static bool is_same_kind(const struct ue_common *common, const struct ue_channel *channel,
                         const struct ue_bunch *bunch) {
    enum ue_channel_kind kind;
    if (bunch->name.hardcoded && bunch->name.index == channel->name_index) {
        return true;
    }
    bool is_named = ue_is_legacy(common) ? bunch->reliable || bunch->open : bunch->has_name;
    if (!is_named) {
        return true;
    }
    if (!ue_channel_kind_of(common, bunch, &kind) || kind != channel->kind) {
        return false;
    }
    return !bunch->has_name || kind != UE_KIND_OTHER ||
           (bunch->name.hardcoded ? bunch->name.index == channel->name_index
                                  : ue_view_equal(bunch->name.text.units, text_of(channel)));
}

static bool copy_name(struct ue_common *common, struct ue_channel *channel, const struct ue_name *name) {
    channel->name_index = name->index;
    if (name->hardcoded || name->text.units.bits == 0) {
        return true;
    }
    struct ue_text *copy = ue_share_alloc(&common->share, sizeof *copy + ue_bits_bytes(name->text.units.bits));
    if (copy == NULL) {
        return false;
    }
    uint8_t *bytes = (uint8_t *)(copy + 1);
    ue_view_copy(name->text.units, bytes);
    *copy = (struct ue_text){{bytes, 0, name->text.units.bits}, name->text.wide};
    channel->name = copy;
    return true;
}

/* endpoint.md 16.15. */
static struct ue_channel *channel_of_peer(struct ue_channel_table *channels, const struct ue_bunch *bunch,
                                          enum ue_channel_kind kind) {
    struct ue_channel *channel = ue_channel_create(channels, bunch->channel, kind);
    if (channel == NULL) {
        return NULL;
    }
    if (bunch->has_name && !copy_name(channels->common, channel, &bunch->name)) {
        ue_channel_free(channels, ue_channel_entry_find(channels, bunch->channel));
        return NULL;
    }
    channel->open_sent = true;
    return channel;
}

static bool is_control(const struct ue_common *common, const struct ue_bunch *bunch) {
    enum ue_channel_kind kind;
    return bunch->channel == 0 && ue_channel_kind_of(common, bunch, &kind) && kind == UE_KIND_CONTROL;
}

/* Whether bunches for a channel that is not there may come at all now; UE_CLOSE_NONE: yes
   (endpoint.md 16.7, 16.8, 16.9). */
static enum ue_close_reason premature(const struct ue_channel_table *channels, const struct ue_bunch *bunch) {
    if (ue_has_internal_ack(channels->common) || channels->common->config.no_login) {
        return UE_CLOSE_NONE;
    }
    if (!is_control(channels->common, bunch)) {
        if (ue_channel_find(channels, 0) == NULL) {
            return UE_CLOSE_BUNCH_PREMATURE_CONTROL_CHANNEL;
        }
        if (ue_is_server(channels->common) && !channels->common->life.is_admitted) {
            return UE_CLOSE_BUNCH_PREMATURE_CHANNEL;
        }
    }
    return bunch->channel == 0 && bunch->close ? UE_CLOSE_BUNCH_PREMATURE_CONTROL_CLOSE : UE_CLOSE_NONE;
}

/* endpoint.md 16.14, 20.5, 20.7, 20.8. */
static bool may_be_opened_by_peer(const struct ue_common *common, enum ue_channel_kind kind) {
    if (ue_has_internal_ack(common) || common->config.no_login || common->config.any_opener) {
        return true;
    }
    switch (kind) {
    case UE_KIND_CONTROL: return ue_is_server(common);
    case UE_KIND_ACTOR: return !ue_is_server(common);
    default: return true;
    }
}

/* A bunch for a channel that is not there. *created: the channel, when there is one now
   (endpoint.md 16.11, 16.12, 16.13, 16.14, 16.15, 20.1). */
static struct ue_bunch_outcome create(struct ue_channel_table *channels, const struct ue_bunch *bunch,
                                      struct ue_channel **created) {
    enum ue_channel_kind kind;
    *created = NULL;
    if (!bunch->reliable && !(bunch->open && (bunch->close || bunch->partial))) {
        channels->common->statistics.counters.in_bunches_refused++;
        return UE_BUNCH_REFUSED;
    }
    if (!ue_channel_kind_of(channels->common, bunch, &kind)) {
        return close_for(channels->common, UE_CLOSE_UNKNOWN_CHANNEL_TYPE, bunch->channel);
    }
    if (!may_be_opened_by_peer(channels->common, kind)) {
        channels->common->statistics.counters.in_bunches_ignored++;
        return UE_BUNCH_ACCEPTED;
    }
    *created = channel_of_peer(channels, bunch, kind);
    if (*created == NULL) {
        channels->common->statistics.counters.in_bunches_refused++;
        return UE_BUNCH_REFUSED;
    }
    return UE_BUNCH_ACCEPTED;
}

/* The full number of a reliable bunch; unreliable parts are numbered by their packet (endpoint.md 16.2). */
static int64_t full_ch_seq(const struct ue_receiver *r, const struct ue_bunch *bunch, int32_t in_reliable) {
    if (!bunch->reliable) {
        return bunch->partial ? r->in_packet_id : 0;
    }
    return ue_has_internal_ack(r->common) ? (int64_t)in_reliable + 1
                                          : ue_seq_expand(bunch->ch_seq, in_reliable, r->common->context.ch_seq_bound);
}

/* endpoint.md 16.6, 19.6. */
static enum ue_close_reason refused_flags(const struct ue_common *common, const struct ue_bunch *bunch) {
    if (!ue_is_server(common)) {
        return UE_CLOSE_NONE;
    }
    return bunch->has_exports  ? UE_CLOSE_BUNCH_SERVER_EXPORTS
           : bunch->has_mapped ? UE_CLOSE_CLIENT_HAS_MUST_BE_MAPPED_GUIDS
                               : UE_CLOSE_NONE;
}

/* What is wrong with a header, whatever data follow; UE_CLOSE_NONE: nothing (endpoint.md 16.1, 16.3, 16.4). */
static enum ue_close_reason refused_header(const struct ue_common *common, const struct ue_channel *channel,
                                           const struct ue_bunch *bunch) {
    if (bunch->channel >= common->config.max_channels) {
        return UE_CLOSE_BUNCH_BAD_CHANNEL_INDEX;
    }
    if (bunch->has_name && bunch->name.hardcoded && bunch->name.index > NAME_INDEX_MAX && !common->config.any_channel) {
        return UE_CLOSE_BUNCH_CHANNEL_NAME_FAIL;
    }
    bool is_wrong = channel != NULL && !is_same_kind(common, channel, bunch);
    return is_wrong ? UE_CLOSE_BUNCH_WRONG_CHANNEL_TYPE : UE_CLOSE_NONE;
}

/* endpoint.md 16.1, 16.2, 16.3, 16.4, 16.6, 16.7, 16.8, 16.9, 16.10, 16.16. */
static struct ue_bunch_outcome receive_bunch(struct ue_receiver *r, uint64_t now_ns, const struct ue_bunch *bunch) {
    struct ue_channel_entry *entry = ue_channel_entry_find(r->channels, bunch->channel);
    struct ue_channel *channel = entry != NULL ? entry->channel : NULL;
    enum ue_close_reason reason = refused_header(r->common, channel, bunch);
    if (reason == UE_CLOSE_NONE) {
        reason = refused_flags(r->common, bunch);
    }
    if (reason == UE_CLOSE_NONE && channel == NULL) {
        reason = premature(r->channels, bunch);
    }
    if (reason != UE_CLOSE_NONE) {
        return close_for(r->common, reason, bunch->channel);
    }
    int32_t in_reliable = entry != NULL ? entry->in_reliable : r->channels->in_first;
    int64_t ch_seq = full_ch_seq(r, bunch, in_reliable);
    if (bunch->reliable && ch_seq <= in_reliable) {
        r->common->statistics.counters.in_bunches_ignored++;
        return UE_BUNCH_ACCEPTED;
    }
    if (channel == NULL) {
        struct ue_bunch_outcome outcome = create(r->channels, bunch, &channel);
        if (channel == NULL) {
            return outcome;
        }
        entry = ue_channel_entry_find(r->channels, bunch->channel);
    }
    return ue_receive_raw_bunch(r, now_ns, entry, bunch, ch_seq);
}

/* endpoint.md 16.1, 16.3, 16.5. */
static enum ue_close_reason close_for_bunch_fault(const struct ue_fault *fault) {
    switch (fault->field) {
    case UE_F_BUNCH_NAME_HARDCODED:
    case UE_F_BUNCH_NAME_INDEX:
    case UE_F_BUNCH_NAME_TEXT:
    case UE_F_BUNCH_NAME_NUMBER: return UE_CLOSE_BUNCH_CHANNEL_NAME_FAIL;
    case UE_F_BUNCH_CHANNEL:
        return fault->status == UE_E_RANGE ? UE_CLOSE_BUNCH_BAD_CHANNEL_INDEX : UE_CLOSE_BUNCH_HEADER_OVERFLOW;
    case UE_F_BUNCH_DATA: return UE_CLOSE_BUNCH_DATA_OVERFLOW;
    default: return UE_CLOSE_BUNCH_HEADER_OVERFLOW;
    }
}

/* Of a bunch that is cut off: what was read of its header counts first (endpoint.md 16.1, 16.3, 16.4). */
static enum ue_close_reason refused_cut(const struct ue_channel_table *channels, const struct ue_bunch *bunch,
                                        const struct ue_fault *fault) {
    if (fault->field == UE_F_BUNCH_DATA) {
        return refused_header(channels->common, ue_channel_find(channels, bunch->channel), bunch);
    }
    return bunch->channel >= channels->common->config.max_channels ? UE_CLOSE_BUNCH_BAD_CHANNEL_INDEX : UE_CLOSE_NONE;
}

/* No more bunches of the packet may be handled. */
static bool is_over(const struct ue_receiver *r, const struct ue_bunch_outcome *all) {
    return all->is_over || ue_is_ending(r->common);
}

/* Handles the items until is_over. Returns how many it handled. */
static size_t receive_items(struct ue_receiver *r, uint64_t now_ns, const struct ue_item *items, size_t count,
                            struct ue_bunch_outcome *all, uint32_t *bunches) {
    size_t i = 0;
    for (; i < count && !is_over(r, all); i++) {
        if (items[i].is_ack) {
            ue_receive_legacy_ack(r->sender, now_ns, &items[i].ack);
            continue;
        }
        ++*bunches;
        r->common->statistics.counters.in_bunches++;
        struct ue_bunch_outcome outcome = receive_bunch(r, now_ns, &items[i].bunch);
        all->is_refused |= outcome.is_refused;
        all->is_over = outcome.is_over;
    }
    return i;
}

/* endpoint.md 8.9, 16.5. */
bool ue_dispatch(struct ue_receiver *r, uint64_t now_ns, const uint8_t *bytes, struct ue_item_range rest,
                 uint32_t *bunches) {
    struct ue_bunch_outcome all = UE_BUNCH_ACCEPTED;
    *bunches = 0;
    while (rest.bit < rest.end_bit && !is_over(r, &all)) {
        struct ue_item items[ITEMS_AT_ONCE];
        struct ue_fault fault;
        ue_turn_context(r->common);
        size_t count = ue_datagram_next(&r->common->context, bytes, &rest, items, ITEMS_AT_ONCE, &fault);
        ue_turn_context(r->common);
        if (receive_items(r, now_ns, items, count, &all, bunches) < count) {
            return true;
        }
        if (fault.status != UE_OK && !is_over(r, &all)) {
            enum ue_close_reason reason = refused_cut(r->channels, &items[count].bunch, &fault);
            reason = reason != UE_CLOSE_NONE ? reason : close_for_bunch_fault(&fault);
            ue_want_close_for_fault(r->common, reason, &fault, 0);
            return true;
        }
    }
    return all.is_refused || rest.bit < rest.end_bit;
}
