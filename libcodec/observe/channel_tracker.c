/* SPDX-License-Identifier: MIT */
#include <uerudp/partial.h>
#include <uerudp/seq.h>
#include <uerudp/time_ns.h>
#include "libcodec/base/prefetch.h"
#include "libcodec/observe/tracker_state.h"

/* ---- channels ---- */

struct ue_tracked_channel *ue_channel_tracker_ensure(struct ue_tracker *track, uint32_t index) {
    return ue_channel_pages_ensure(&track->channels, &track->budget, index, sizeof(struct ue_tracked_channel));
}

/* The latest bunch that opens the channel; NULL: there was none, or it is forgotten. */
static const struct ue_tracked_bunch *find_opening(const struct ue_tracker_side *side, const struct ue_channel_state *lane,
                                                    uint32_t channel) {
    bool is_near = lane->has_opening && lane->opening_back != UINT16_MAX;
    return is_near ? ue_reliable_tracker_find(side, channel, lane->newest - lane->opening_back) : NULL;
}

static bool is_open(const struct ue_tracked_channel *channel) {
    return channel->lanes[0].has_opened || channel->lanes[1].has_opened;
}

/* The latest unreliable part came in this packet, or at most so many before it. */
static bool has_part_within(const struct ue_tracker_step *p, const struct ue_channel_state *lane, uint32_t packets) {
    return lane->has_part && (uint32_t)p->packet_id - lane->part_packet <= packets;
}

/* ---- parts ---- */

/* Whether the later of two neighbours does not fit behind the earlier one, as far as both were seen. */
static bool breaks_chain(const struct ue_tracked_bunch *earlier, const struct ue_tracked_bunch *later) {
    if (earlier == NULL || later == NULL || !later->is_partial) {
        return false;
    }
    bool is_unfinished = earlier->is_partial && !earlier->is_final;
    return later->is_initial == is_unfinished;
}

/* Unreliable parts share a packet or stand in neighbouring ones. Where the packet before was not seen, it may have held
   the part that is missed. */
static bool breaks_unreliable(struct ue_tracker_step *p, struct ue_channel_state *lane, const struct ue_bunch *bunch) {
    if (!bunch->partial || p->is_late) {
        return false;
    }
    const struct ue_tracked_packet *before = ue_tracker_find_packet(&p->track->sides[p->in->side], p->packet_id - 1);
    bool continues = has_part_within(p, lane, 1);
    bool is_error = !bunch->partial_initial && !continues && before != NULL && before->is_seen;
    lane->has_part = !bunch->partial_final && !is_error;
    lane->part_packet = (uint32_t)p->packet_id;
    return is_error;
}

/* ---- bunches ---- */

static bool is_legacy(const struct ue_tracker_step *p) {
    return p->in->context->profile.packet == UE_PACKET_LEGACY;
}

/* Receivers refuse the packets of unreliable bunches whose channel was not opened, or that continue nothing
   (endpoint.md 17.1). */
static void note_needs(struct ue_tracker_step *p, const struct ue_channel_state *lane, const struct ue_bunch *bunch) {
    const struct ue_tracker_side *side = &p->track->sides[p->in->side];
    const struct ue_tracked_bunch *opening = find_opening(side, lane, bunch->channel);
    if (opening != NULL && !ue_reliable_tracker_was_delivered(side, opening)) {
        ue_legacy_acks_add_dependency(p, ue_reliable_tracker_last_packet(side, opening));
    }
    if (bunch->partial && !bunch->partial_initial && !has_part_within(p, lane, 0)) {
        ue_legacy_acks_add_dependency(p, p->packet_id - 1);
    }
}

/* Where the sequence of a channel begins: every channel at the same number, which the handshake tells
   (protocol.md 5.7). */
static void begin_lane(const struct ue_tracker_step *p, struct ue_channel_state *lane, uint32_t ch_seq) {
    const struct ue_tracker_side *side = &p->track->sides[p->in->side];
    int64_t first = side->first_seq & (p->in->context->ch_seq_bound - 1);
    lane->newest = side->has_first ? first : (int64_t)ch_seq - 1;
    lane->has_newest = true;
}

static uint16_t further16(uint16_t back, int64_t step) {
    return step < UINT16_MAX - back ? (uint16_t)(back + step) : UINT16_MAX;
}

/* A newest that is so many further. */
static void advance(struct ue_channel_state *lane, int64_t step) {
    lane->newest += step;
    lane->first_back = step < UINT32_MAX - lane->first_back ? lane->first_back + (uint32_t)step : UINT32_MAX;
    lane->released_back = further16(lane->released_back, step);
    lane->opening_back = further16(lane->opening_back, step);
    lane->forgotten_back = further16(lane->forgotten_back, step);
    if (lane->released_back > UE_TRACKER_CHANNEL_SPAN_MAX) {
        lane->first_back = lane->released_back = UE_TRACKER_CHANNEL_SPAN_MAX;
    }
}

static void note_first(const struct ue_tracker_step *p, struct ue_tracked_bunch *entry, bool is_newest,
                       struct ue_tracker_event *event) {
    const struct ue_tracker_side *side = &p->track->sides[p->in->side];
    const struct ue_bunch *bunch = event->bunch;
    int64_t id = event->reliable_id;
    struct ue_tracked_transmissions *copies = ue_reliable_tracker_transmissions(side, entry);
    copies->first_frame = p->in->frame;
    copies->first_packet = p->packet_id;
    entry->is_partial = bunch->partial;
    entry->is_initial = bunch->partial_initial;
    entry->is_final = bunch->partial_final;
    if (bunch->partial) {
        event->is_partial_error |= breaks_chain(ue_reliable_tracker_find(side, bunch->channel, id - 1), entry);
    }
    if (!is_newest) {
        event->is_partial_error |= breaks_chain(entry, ue_reliable_tracker_find(side, bunch->channel, id + 1));
    }
}

static void note_copy(struct ue_tracker_step *p, struct ue_tracked_bunch *entry, struct ue_tracker_event *event) {
    const struct ue_tracker_side *side = &p->track->sides[p->in->side];
    const struct ue_tracked_transmissions *copies = ue_reliable_tracker_transmissions(side, entry);
    int64_t last_packet = ue_reliable_tracker_last_packet(side, entry);
    if (is_legacy(p) && last_packet < p->packet_id) {
        ue_legacy_acks_mark_retransmitted(p, last_packet);
    }
    entry->was_delivered = ue_reliable_tracker_was_delivered(side, entry);
    entry->is_resent = true;
    event->first_frame = copies->first_frame;
    event->other_frame = copies->last_frame;
    event->other_item = copies->last_item;
    event->is_spurious = entry->was_delivered;
}

/* Which copy of a reliable bunch this is. */
static void take_copy(struct ue_tracker_step *p, const struct ue_channel_state *lane, bool is_newest,
                      struct ue_tracker_event *event) {
    struct ue_tracker_side *side = &p->track->sides[p->in->side];
    uint32_t channel = event->bunch->channel;
    int64_t id = event->reliable_id;
    struct ue_tracked_bunch *entry = is_newest ? NULL : ue_reliable_tracker_find(side, channel, id);
    bool is_first = entry == NULL;
    int64_t back = lane->newest - id;
    bool is_forgotten = is_first && back < lane->first_back && back >= lane->released_back;
    if (is_first && !is_forgotten) {
        entry = ue_reliable_tracker_add(p->track, side, channel, id);
    }
    if (entry == NULL) {
        event->copy = is_newest ? 1 : 2; /* a copy of one that is forgotten */
        return;
    }
    if (is_first) {
        note_first(p, entry, is_newest, event);
    } else {
        note_copy(p, entry, event);
    }
    struct ue_tracked_transmissions *copies = ue_reliable_tracker_transmissions(side, entry);
    event->copy = ++copies->count;
    copies->last_frame = p->in->frame;
    copies->last_item = event->item;
    entry->last_packet = (uint32_t)p->packet_id;
}

/* The newest is known for as long as the channel is, however long ago it gave way. */
static bool breaks_newest(const struct ue_channel_state *lane, const struct ue_bunch *bunch, int64_t step) {
    bool is_neighbour = step == 1 && lane->first_back != 0;
    return is_neighbour && bunch->partial && bunch->partial_initial == lane->is_unfinished;
}

/* What the sequence of a reliable bunch tells. */
static void take_reliable(struct ue_tracker_step *p, struct ue_channel_state *lane, struct ue_tracker_event *event) {
    const struct ue_context *x = p->in->context;
    if (!lane->has_newest) {
        begin_lane(p, lane, event->bunch->ch_seq);
    }
    int64_t id = ue_seq_expand(event->bunch->ch_seq, lane->newest, x->ch_seq_bound);
    int64_t step = id - lane->newest;
    event->reliable_id = id;
    event->is_gap = step > 1;
    event->is_jump = step > x->reliable_buffer;
    event->is_partial_error |= breaks_newest(lane, event->bunch, step);
    if (step > 0) {
        advance(lane, step);
        lane->is_unfinished = ue_partial_is_unfinished(event->bunch);
        lane->opening_back = event->bunch->open ? 0 : lane->opening_back;
        lane->has_opening |= event->bunch->open;
    }
    if (lane->released_back > step) { /* else nothing before it waits */
        ue_reliable_tracker_release(&p->track->sides[p->in->side], lane, event->bunch->channel);
    }
    take_copy(p, lane, step > 0, event);
    int64_t in_flight = id - (lane->newest - lane->released_back);
    event->reliable_in_flight = in_flight > 0 ? (uint32_t)in_flight : 0;
}

static void count_bunch(struct ue_tracker_counts *counts, const struct ue_tracker_event *event) {
    if (event->bunch->reliable) {
        counts->reliable += event->copy == 1;
        counts->resends += event->copy > 1;
        counts->spurious += event->is_spurious;
    }
}

/* Opening and closing; channel may be NULL. */
static void tell_life(struct ue_tracker_step *p, struct ue_tracked_channel *channel, const struct ue_bunch *bunch) {
    struct ue_tracker_event event = {.packet_id = p->packet_id, .bunch = bunch};
    if (bunch->open) {
        event.type = UE_TRACKER_CHANNEL_OPENED;
        ue_tracker_emit(p, &event);
    }
    if (bunch->open && channel != NULL) {
        channel->lanes[p->in->side].has_opened = true;
        channel->opened_ns = p->in->time_ns;
    }
    if (bunch->close) {
        bool is_known = channel != NULL && is_open(channel);
        event.type = UE_TRACKER_CHANNEL_CLOSED;
        event.close_reason = bunch->dormant ? 1 : bunch->close_reason;
        event.span_ns = !is_known                             ? -1
                        : p->in->time_ns > channel->opened_ns ? ue_time_ns_since(p->in->time_ns, channel->opened_ns)
                                                              : 0;
        ue_tracker_emit(p, &event);
    }
    if (bunch->close && channel != NULL) {
        channel->lanes[0].has_opened = channel->lanes[1].has_opened = false;
    }
}

/* ---- ahead ---- */

static const struct ue_channel_state *find_lane(const struct ue_tracker_step *p, uint32_t index) {
    const struct ue_tracked_channel *channel = ue_channel_pages_find(&p->track->channels, index, sizeof *channel);
    return channel != NULL ? &channel->lanes[p->in->side] : NULL;
}

static void expect_lane(const struct ue_tracker_step *p, uint32_t index) {
    ue_prefetch(find_lane(p, index));
}

/* The id of the bunch that is released next; false: none waits. */
static bool waits_on(const struct ue_tracker_step *p, uint32_t channel, int64_t *id) {
    const struct ue_channel_state *lane = find_lane(p, channel);
    bool waits = lane != NULL && lane->released_back != 0;
    *id = waits ? lane->newest - lane->released_back + 1 : 0;
    return waits;
}

/* A chain is known by the low bits of an id, which are those of the wire. */
void ue_channel_tracker_prefetch_channel(const struct ue_tracker_step *p, const struct ue_bunch *bunch) {
    if (bunch->reliable || bunch->partial) {
        expect_lane(p, bunch->channel);
    }
    if (bunch->reliable) {
        ue_reliable_tracker_prefetch_chain(&p->track->sides[p->in->side], bunch->channel, bunch->ch_seq);
    }
}

void ue_channel_tracker_prefetch_bunches(const struct ue_tracker_step *p, const struct ue_bunch *bunch, uint32_t before) {
    const struct ue_tracker_side *side = &p->track->sides[p->in->side];
    const struct ue_tracked_bunch *leaving = ue_reliable_tracker_next_evicted(side, before);
    int64_t id;
    if (waits_on(p, bunch->channel, &id)) {
        ue_reliable_tracker_prefetch_bunch(side, bunch->channel, id);
    }
    ue_reliable_tracker_prefetch_bunch(side, bunch->channel, bunch->ch_seq); /* whatever shares its chain */
    ue_prefetch(leaving);
}

void ue_channel_tracker_prefetch_packets(const struct ue_tracker_step *p, const struct ue_bunch *bunch, uint32_t before) {
    const struct ue_tracker_side *side = &p->track->sides[p->in->side];
    const struct ue_tracked_bunch *leaving = ue_reliable_tracker_next_evicted(side, before);
    int64_t id;
    const struct ue_tracked_bunch *first =
        waits_on(p, bunch->channel, &id) ? ue_reliable_tracker_find(side, bunch->channel, id) : NULL;
    if (first != NULL) {
        ue_reliable_tracker_prefetch_packet(side, first);
    }
    if (leaving != NULL) {
        ue_reliable_tracker_prefetch_packet(side, leaving);
        ue_reliable_tracker_prefetch_chain(side, leaving->channel, leaving->id);
        expect_lane(p, leaving->channel);
    }
}

/* ---- one bunch ---- */

void ue_channel_tracker_handle_bunch(struct ue_tracker_step *p, const struct ue_bunch *bunch) {
    struct ue_tracker_counts *counts = &p->track->sides[p->in->side].counts;
    struct ue_tracked_channel *channel = ue_channel_tracker_ensure(p->track, bunch->channel);
    struct ue_tracker_event event = {.type = UE_TRACKER_BUNCH,
                                   .packet_id = p->packet_id,
                                   .bunch = bunch,
                                   .item = p->item,
                                   .reliable_id = bunch->reliable ? (int64_t)bunch->ch_seq : -1,
                                   .copy = bunch->reliable,
                                   .is_partial_error = bunch->partial && ue_partial_check(bunch) != UE_PARTIAL_VALID};
    struct ue_channel_state *lane = channel != NULL ? &channel->lanes[p->in->side] : NULL;
    if (lane == NULL) {
        counts->untracked++;
    } else if (bunch->reliable) {
        take_reliable(p, lane, &event);
    } else {
        if (is_legacy(p)) {
            note_needs(p, lane, bunch);
        }
        event.is_partial_error |= breaks_unreliable(p, lane, bunch);
    }
    count_bunch(counts, &event);
    ue_tracker_emit(p, &event);
    if (event.copy <= 1 && (bunch->open || bunch->close)) {
        tell_life(p, channel, bunch);
    }
}
