/* SPDX-License-Identifier: MIT */
#include "libcodec/history.h"
#include "libcodec/ns.h"
#include "libcodec/seq.h"
#include "libcodec/track_state.h"

#include <string.h>

/* ---- channels ---- */

/* NULL: no memory, or an index that no engine uses. */
static struct ue_track_channel *find_channel(struct ue_track *track, uint32_t index) {
    const size_t page_bytes = UE_TRACK_PAGE_CHANNELS * sizeof(struct ue_track_channel);
    if (index >= UE_TRACK_PAGES * UE_TRACK_PAGE_CHANNELS) {
        return NULL;
    }
    struct ue_track_channel **page = &track->pages[index / UE_TRACK_PAGE_CHANNELS];
    if (*page == NULL) {
        *page = ue_track_resize(track, NULL, 0, page_bytes);
        if (*page == NULL) {
            return NULL;
        }
        memset(*page, 0, page_bytes);
    }
    return &(*page)[index % UE_TRACK_PAGE_CHANNELS];
}

void ue_track_free_channels(struct ue_track *track) {
    for (size_t i = 0; i < UE_TRACK_PAGES; i++) {
        struct ue_track_channel *page = track->pages[i];
        for (size_t j = 0; page != NULL && j < UE_TRACK_PAGE_CHANNELS; j++) {
            track->memory.resize(track->memory.user, page[j].lanes[0].reliable.entries, 0);
            track->memory.resize(track->memory.user, page[j].lanes[1].reliable.entries, 0);
        }
        if (page != NULL) {
            track->memory.resize(track->memory.user, page, 0);
        }
    }
}

/* ---- reliable bunches ---- */

static const struct ue_track_reliable *find_reliable(const struct ue_track_lane *lane, int64_t id) {
    const struct ue_track_reliable *bunch = ue_track_window_place(&lane->reliable, sizeof *bunch, id);
    return bunch != NULL && bunch->id == id ? bunch : NULL;
}

static bool packet_is_delivered(const struct ue_track_side *side, int64_t id) {
    const struct ue_track_packet *packet = ue_track_find_packet(side, id);
    return packet != NULL && packet->was_acked;
}

static bool was_delivered(const struct ue_track_side *side, const struct ue_track_reliable *bunch) {
    return bunch->was_delivered || packet_is_delivered(side, bunch->last_packet) ||
           packet_is_delivered(side, bunch->first_packet);
}

/* Its packet is forgotten: had that not been delivered, the bunch would have been sent again long ago. */
static bool is_long_ago(const struct ue_track_side *side, const struct ue_track_reliable *bunch) {
    return bunch->last_packet <= side->newest_id - UE_TRACK_PACKETS_MAX;
}

/* The sender gives bunches up from the front only, when they are delivered (spec 6.6). */
static void release(const struct ue_track_side *side, struct ue_track_lane *lane) {
    const struct ue_track_reliable *bunch;
    if (lane->released < lane->newest - UE_TRACK_RELIABLE_MAX) {
        lane->released = lane->newest - UE_TRACK_RELIABLE_MAX;
    }
    while ((bunch = find_reliable(lane, lane->released + 1)) != NULL &&
           (was_delivered(side, bunch) || is_long_ago(side, bunch))) {
        lane->released++;
    }
}

/* Whether copies of a bunch need no longer be expected, by all that senders do. */
static bool is_settled(const struct ue_track_side *side, const struct ue_track_lane *lane,
                       const struct ue_track_reliable *bunch) {
    return bunch->id == UE_TRACK_NO_ID ||
           (bunch->id <= lane->released && bunch->last_packet < side->newest_id - UE_HISTORY_REACH);
}

/* The entry of a bunch, made where there is none; NULL: a newer one has its place, or there is no memory. The window
   grows only as far as the sender's buffer and the copies under way ask for. */
static struct ue_track_reliable *remember(struct ue_track *track, struct ue_track_side *side,
                                          struct ue_track_lane *lane, int64_t id) {
    struct ue_track_window *window = &lane->reliable;
    struct ue_track_reliable *bunch = ue_track_window_place(window, sizeof *bunch, id);
    while (
        (bunch == NULL || id - lane->released > window->count || (bunch->id < id && !is_settled(side, lane, bunch))) &&
        ue_track_window_grow(track, window, sizeof *bunch, UE_TRACK_RELIABLE_MAX)) {
        bunch = ue_track_window_place(window, sizeof *bunch, id);
    }
    if (bunch == NULL || bunch->id > id) {
        side->counts.untracked++;
        return NULL;
    }
    if (bunch->id != id) {
        *bunch = (struct ue_track_reliable){.id = id};
    }
    return bunch;
}

/* ---- parts ---- */

/* Lengths and exports that no receiver takes (spec 4.9, rows 3a, 4a, 4b). */
static bool part_is_malformed(const struct ue_bunch *bunch) {
    bool is_ragged = bunch->data.bits % 8 != 0 && !bunch->has_exports && !bunch->partial_exports_final;
    bool is_last = bunch->partial_final;
    return bunch->partial && ((is_ragged && (bunch->partial_initial || !is_last)) ||
                              (bunch->has_exports && is_last && !bunch->partial_initial));
}

/* Whether the later of two neighbours does not fit behind the earlier one, as far as both were seen. */
static bool breaks_chain(const struct ue_track_reliable *earlier, const struct ue_track_reliable *later) {
    if (earlier == NULL || later == NULL || !later->is_partial) {
        return false;
    }
    bool is_unfinished = earlier->is_partial && !earlier->is_final;
    return later->is_initial == is_unfinished;
}

/* Unreliable parts share a packet or stand in neighbouring ones. Where the packet before was not seen, it may have held
   the part that is missed. */
static bool breaks_unreliable(struct ue_track_pass *p, struct ue_track_lane *lane, const struct ue_bunch *bunch) {
    if (!bunch->partial || p->is_late) {
        return false;
    }
    const struct ue_track_packet *before = ue_track_find_packet(&p->track->sides[p->in->side], p->packet_id - 1);
    bool continues = lane->has_part && p->packet_id - lane->part_packet <= 1;
    bool is_error = !bunch->partial_initial && !continues && before != NULL && before->is_seen;
    lane->has_part = !bunch->partial_final && !is_error;
    lane->part_packet = p->packet_id;
    return is_error;
}

/* ---- bunches ---- */

/* Where the sequence of a channel begins: every channel at the same number, which the handshake tells (spec 4.6). */
static void begin_lane(const struct ue_track_pass *p, struct ue_track_lane *lane, uint32_t ch_seq) {
    const struct ue_track_side *side = &p->track->sides[p->in->side];
    int64_t first = side->first_seq & (p->in->context->ch_seq_bound - 1);
    lane->newest = side->has_first ? first : (int64_t)ch_seq - 1;
    lane->released = lane->newest;
    lane->has_newest = true;
}

static uint32_t reliable_buffer(const struct ue_context *x) {
    return x->settings.reliable_buffer != 0 ? x->settings.reliable_buffer : x->profile.reliable_buffer;
}

static void note_first(const struct ue_track_pass *p, struct ue_track_lane *lane, struct ue_track_reliable *entry,
                       struct ue_track_event *event) {
    const struct ue_bunch *bunch = event->bunch;
    entry->first_frame = p->in->frame;
    entry->first_packet = p->packet_id;
    entry->is_partial = bunch->partial;
    entry->is_initial = bunch->partial_initial;
    entry->is_final = bunch->partial_final;
    event->is_partial_error |= breaks_chain(find_reliable(lane, entry->id - 1), entry) ||
                               breaks_chain(entry, find_reliable(lane, entry->id + 1));
}

static void note_copy(const struct ue_track_side *side, struct ue_track_reliable *entry, struct ue_track_event *event) {
    entry->was_delivered = was_delivered(side, entry);
    event->first_frame = entry->first_frame;
    event->other_frame = entry->last_frame;
    event->is_spurious = entry->was_delivered;
}

/* What the sequence of a reliable bunch tells, and which copy of it this is. */
static void take_reliable(struct ue_track_pass *p, struct ue_track_lane *lane, struct ue_track_event *event) {
    struct ue_track_side *side = &p->track->sides[p->in->side];
    const struct ue_context *x = p->in->context;
    if (!lane->has_newest) {
        begin_lane(p, lane, event->bunch->ch_seq);
    }
    int64_t id = ue_seq_expand(event->bunch->ch_seq, lane->newest, x->ch_seq_bound);
    int64_t step = id - lane->newest;
    event->reliable_id = id;
    event->is_gap = step > 1;
    event->is_jump = step > reliable_buffer(x);
    lane->newest = step > 0 ? id : lane->newest;
    release(side, lane);
    struct ue_track_reliable *entry = remember(p->track, side, lane, id);
    if (entry == NULL) {
        event->copy = step > 0 ? 1 : 2; /* a copy of one that is forgotten */
    } else if (entry->copies++ == 0) {
        note_first(p, lane, entry, event);
    } else {
        note_copy(side, entry, event);
    }
    if (entry != NULL) {
        event->copy = entry->copies;
        entry->last_frame = p->in->frame;
        entry->last_packet = p->packet_id;
    }
    event->reliable_in_flight = id > lane->released ? (uint32_t)(id - lane->released) : 0;
}

static void count_bunch(struct ue_track_counts *counts, const struct ue_track_event *event) {
    if (event->bunch->reliable) {
        counts->reliable += event->copy == 1;
        counts->resends += event->copy > 1;
        counts->spurious += event->is_spurious;
    }
}

/* Opening and closing; channel may be NULL. */
static void tell_life(struct ue_track_pass *p, struct ue_track_channel *channel, const struct ue_bunch *bunch) {
    struct ue_track_event event = {.packet_id = p->packet_id, .bunch = bunch};
    if (bunch->open) {
        event.type = UE_TRACK_OPENED;
        ue_track_tell(p, &event);
    }
    if (bunch->open && channel != NULL) {
        channel->is_open = true;
        channel->opened_ns = p->in->time_ns;
    }
    if (bunch->close) {
        bool is_known = channel != NULL && channel->is_open;
        event.type = UE_TRACK_CLOSED;
        event.close_reason = bunch->dormant ? 1 : bunch->close_reason;
        event.span_ns = !is_known                             ? -1
                        : p->in->time_ns > channel->opened_ns ? ue_ns_since(p->in->time_ns, channel->opened_ns)
                                                              : 0;
        ue_track_tell(p, &event);
    }
    if (bunch->close && channel != NULL) {
        channel->is_open = false;
    }
}

void ue_track_take_bunch(struct ue_track_pass *p, const struct ue_bunch *bunch) {
    struct ue_track_counts *counts = &p->track->sides[p->in->side].counts;
    struct ue_track_channel *channel = find_channel(p->track, bunch->channel);
    struct ue_track_event event = {.type = UE_TRACK_BUNCH,
                                   .packet_id = p->packet_id,
                                   .bunch = bunch,
                                   .item = p->item,
                                   .reliable_id = bunch->reliable ? (int64_t)bunch->ch_seq : -1,
                                   .copy = bunch->reliable,
                                   .is_partial_error = part_is_malformed(bunch)};
    struct ue_track_lane *lane = channel != NULL ? &channel->lanes[p->in->side] : NULL;
    if (lane == NULL) {
        counts->untracked++;
    } else if (bunch->reliable) {
        take_reliable(p, lane, &event);
    } else {
        event.is_partial_error |= breaks_unreliable(p, lane, bunch);
    }
    count_bunch(counts, &event);
    ue_track_tell(p, &event);
    if (event.copy <= 1) {
        tell_life(p, channel, bunch);
    }
}
