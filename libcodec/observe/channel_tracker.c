/* SPDX-License-Identifier: MIT */
#include <uerudp/partial.h>
#include <uerudp/seq.h>
#include <uerudp/time_ns.h>
#include "libcodec/observe/tracker_state.h"

/* Of the reliable bunches on which the opening of a channel depends, those before it and after it that are tested. */
#define OPENING_MAX 16

/* ---- channels ---- */

struct ue_tracked_channel *ue_channel_tracker_ensure(struct ue_tracker *tracker, uint32_t index) {
    return ue_channel_entries_ensure(&tracker->channels, &tracker->memory, index, sizeof(struct ue_tracked_channel));
}

/* The latest bunch that opens the channel; NULL when there is none, or it was evicted. */
static const struct ue_tracked_bunch *find_open_bunch(const struct ue_tracker_side *side,
                                                      const struct ue_channel_state *state, uint32_t channel) {
    bool is_near = state->has_open && state->open_back != UINT16_MAX;
    return is_near ? ue_reliable_tracker_find(side, channel, state->newest - state->open_back) : NULL;
}

static bool is_open(const struct ue_tracked_channel *channel) {
    return channel->states[0].has_opened || channel->states[1].has_opened;
}

/* Whether the latest unreliable fragment was in this packet or one of the `packets` before it. */
static bool has_fragment_within(const struct ue_tracker_step *p, const struct ue_channel_state *state,
                                uint32_t packets) {
    return state->has_fragment && (uint32_t)p->packet_id - state->fragment_packet <= packets;
}

/* ---- fragments ---- */

/* Unreliable fragments are in the same packet or in consecutive ones. If the previous packet was not captured, it may
   have held the missing fragment. */
static bool is_unreliable_discontinuous(struct ue_tracker_step *p, struct ue_channel_state *state,
                                        const struct ue_bunch *bunch) {
    if (!bunch->partial || p->is_late) {
        return false;
    }
    const struct ue_tracked_packet *before = ue_tracker_find_packet(&p->tracker->sides[p->in->side], p->packet_id - 1);
    bool continues = has_fragment_within(p, state, 1);
    bool is_error = !bunch->partial_initial && !continues && before != NULL && before->is_seen &&
                    !ue_tracker_may_be_unread(&p->tracker->sides[p->in->side], p->packet_id - 2);
    state->has_fragment = !bunch->partial_final && !is_error;
    state->fragment_packet = (uint32_t)p->packet_id;
    return is_error;
}

/* ---- bunches ---- */

static bool is_legacy(const struct ue_tracker_step *p) {
    return p->in->context->profile.packet == UE_PACKET_LEGACY;
}

/* The reliable bunches without which a channel is not open: from the first that may not have arrived, because a channel
   is delivered in order, to the last fragment of the message that opens it. */
static void add_opening(struct ue_tracker_step *p, const struct ue_channel_state *state,
                        const struct ue_tracked_bunch *open_bunch) {
    const struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    int64_t open_id = state->newest - state->open_back;
    int64_t unreleased_id = state->newest - state->released_back + 1;
    int64_t id = unreleased_id < open_id - OPENING_MAX ? open_id - OPENING_MAX : unreleased_id;
    bool is_last = false;
    for (id = id < open_id ? id : open_id; !is_last && id < open_id + OPENING_MAX; id++) {
        const struct ue_tracked_bunch *bunch = ue_reliable_tracker_find(side, open_bunch->channel, id);
        bool was_evicted = bunch == NULL && state->newest - id >= state->evicted_back;
        is_last = id >= open_id && (bunch == NULL || !bunch->is_partial || bunch->is_final);
        if (bunch != NULL && !ue_reliable_tracker_was_delivered(side, bunch)) {
            ue_packet_dependencies_add(p, ue_reliable_tracker_last_packet(side, bunch));
        } else if (bunch == NULL && id >= open_id && !was_evicted) {
            ue_packet_dependencies_add(p, UE_TRACKER_NO_ID); /* the fragment was not captured */
        }
    }
}

/* Whether the bunch that opened a channel, if it was not captured, can be in a packet whose report is not known
   yet. From 4.22 on one from before the capture, or from a gap in it, is reported within the reach of a history: if it
   was lost, it is retransmitted. */
static bool may_be_unopened(const struct ue_tracker_step *p) {
    const struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    int64_t last_id = p->packet_id - UE_HISTORY_REACH;
    bool may_be_unread = side->has_unread && side->unreadable_id > last_id; /* it may be beyond a cut */
    return is_legacy(p) || side->earliest_id > last_id || may_be_unread ||
           (side->counts.missing != 0 && side->recent_id > last_id);
}

/* Whether a receiver opens a channel for this bunch (endpoint.md 16.11): an unreliable one, for itself alone. */
static bool opens(const struct ue_bunch *bunch) {
    return bunch->open && (bunch->reliable || bunch->close || bunch->partial);
}

/* The packets without which the receiver refuses this bunch; a reliable one waits for a reliable opening. */
static void add_dependencies(struct ue_tracker_step *p, const struct ue_tracked_channel *channel,
                             const struct ue_bunch *bunch) {
    const struct ue_channel_state *state = &channel->states[p->in->side];
    const struct ue_tracked_bunch *open_bunch =
        is_open(channel) ? find_open_bunch(&p->tracker->sides[p->in->side], state, bunch->channel) : NULL;
    bool was_opened_unreliably = is_legacy(p) && state->has_opened && !state->has_open;
    /* the opening was not captured, or may have been lost */
    bool may_lack = !opens(bunch) && (!is_open(channel) || was_opened_unreliably) && may_be_unopened(p);
    if (may_lack && bunch->reliable) {
        ue_packet_dependencies_add_opening(p);
    } else if (may_lack) {
        ue_packet_dependencies_add(p, UE_TRACKER_NO_ID);
    } else if (!bunch->reliable && open_bunch != NULL) {
        add_opening(p, state, open_bunch);
    }
    if (!bunch->reliable && bunch->partial && !bunch->partial_initial && !has_fragment_within(p, state, 0)) {
        ue_packet_dependencies_add(p, p->packet_id - 1);
    }
}

/* Initialises the sequence of a channel. Every channel begins at the same number, from the handshake
   (protocol.md 5.7). */
static void init_state(const struct ue_tracker_step *p, struct ue_channel_state *state, uint32_t ch_seq) {
    const struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    int64_t first = side->first_seq & (p->in->context->ch_seq_bound - 1);
    state->newest = side->has_first ? first : (int64_t)ch_seq - 1;
    state->has_newest = true;
}

static uint16_t further16(uint16_t back, int64_t step) {
    return step < UINT16_MAX - back ? (uint16_t)(back + step) : UINT16_MAX;
}

static uint32_t further_unreleased(uint32_t back, int64_t step) {
    return step < UE_TRACKER_CHANNEL_SPAN_MAX - back ? back + (uint32_t)step : UE_TRACKER_CHANNEL_SPAN_MAX;
}

/* Advances the newest id by `step`. */
static void advance(struct ue_channel_state *state, int64_t step) {
    state->newest += step;
    state->first_back = step < UINT32_MAX - state->first_back ? state->first_back + (uint32_t)step : UINT32_MAX;
    state->maybe_released_back = further_unreleased(state->maybe_released_back, step) & UE_CHANNEL_BACK_MASK;
    state->released_back = further_unreleased(state->released_back, step) & UE_CHANNEL_BACK_MASK;
    state->open_back = further16(state->open_back, step);
    state->evicted_back = further16(state->evicted_back, step);
    if (state->maybe_released_back == UE_TRACKER_CHANNEL_SPAN_MAX) {
        state->first_back = UE_TRACKER_CHANNEL_SPAN_MAX;
    }
}

/* The bunch `back` ids before the newest opens the channel. It can be captured after later ones. */
static void set_open(struct ue_channel_state *state, int64_t back) {
    if (!state->has_open || back < state->open_back) {
        state->open_back = back < UINT16_MAX ? (uint16_t)back : UINT16_MAX;
        state->has_open = true;
    }
}

/* Checks the partial flags against the newest bunch, which the channel state remembers even after its eviction. */
static bool contradicts_newest(const struct ue_channel_state *state, const struct ue_bunch *bunch, int64_t step) {
    bool is_neighbour = step == 1 && state->first_back != 0;
    return is_neighbour && bunch->partial && bunch->partial_initial == state->is_unfinished;
}

/* Of the fragments of a message only the first has the open bit. Fragments that were captured out of order are not
   found. */
static bool is_opening(const struct ue_channel_state *state, const struct ue_bunch *bunch, int64_t step) {
    bool continues = step == 1 && state->is_unfinished && bunch->partial && !bunch->partial_initial;
    return bunch->open || (continues && state->is_opening);
}

/* Whether bunches after the newest of a channel may be in packets that could not be read. */
static bool may_be_unread(const struct ue_tracker_step *p, const struct ue_channel_state *state, uint32_t channel) {
    const struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    if (!side->has_unread) {
        return false;
    }
    const struct ue_tracked_bunch *newest = ue_reliable_tracker_find(side, channel, state->newest);
    return newest == NULL || ue_tracker_may_be_unread(side, ue_reliable_tracker_first_packet(side, newest) - 1);
}

/* Whether packets after the newest bunch of a channel are missing: with them bunches may have left the buffer. */
static bool may_be_missing(const struct ue_tracker_step *p, const struct ue_channel_state *state, uint32_t channel) {
    const struct ue_tracker_side *side = &p->tracker->sides[p->in->side];
    if (side->counts.missing == 0) {
        return false;
    }
    const struct ue_tracked_bunch *newest = ue_reliable_tracker_find(side, channel, state->newest);
    return newest == NULL || ue_reliable_tracker_first_packet(side, newest) < side->recent_id;
}

/* Whether a bunch belongs to the sequence of its channel: the bunch before it was captured, too, or it is a
   retransmission. The sequence of another one may be damaged. */
static bool is_in_sequence(const struct ue_tracker_step *p, const struct ue_observed_bunch *event) {
    return event->copy > 1 || ue_reliable_tracker_find(&p->tracker->sides[p->in->side], event->decoded->channel,
                                                       event->reliable_id - 1) != NULL;
}

/* Processes the channel sequence of a reliable bunch. */
static void handle_reliable(struct ue_tracker_step *p, struct ue_channel_state *state,
                            struct ue_observed_bunch *event) {
    const struct ue_context *x = p->in->context;
    const uint32_t limit = x->reliable_limit != 0 ? x->reliable_limit : UE_RELIABLE_BUFFER_MAX;
    if (!state->has_newest) {
        init_state(p, state, event->decoded->ch_seq);
    }
    int64_t id = ue_seq_expand(event->decoded->ch_seq, state->newest, x->ch_seq_bound);
    int64_t step = id - state->newest;
    event->reliable_id = id;
    event->is_gap = step > 1 && !may_be_unread(p, state, event->decoded->channel);
    event->missing = event->is_gap ? (uint32_t)(step - 1) : 0;
    event->is_jump = event->is_gap && step > limit && !may_be_missing(p, state, event->decoded->channel);
    event->is_partial_error |= contradicts_newest(state, event->decoded, step);
    event->is_opening = is_opening(state, event->decoded, step);
    if (step > 0) {
        advance(state, step);
        state->is_opening = event->is_opening;
        state->is_unfinished = ue_partial_is_unfinished(event->decoded);
    }
    if (event->decoded->open) {
        set_open(state, step < 0 ? -step : 0);
    }
    ue_reliable_tracker_handle_transmission(p, state, step > 0, event);
    if (state->released_back > step) { /* else no earlier bunch is unreleased */
        ue_reliable_tracker_release(p->tracker, &p->tracker->sides[p->in->side], state, event->decoded->channel,
                                    step > 0);
    }
    event->in_flight = ue_reliable_tracker_in_flight(state, id);
    if (event->in_flight.at_least > limit || !is_in_sequence(p, event)) {
        event->in_flight.at_least = 1; /* above the limit the sender would have closed the connection */
    }
}

static void count_bunch(struct ue_tracker_counts *counts, const struct ue_observed_bunch *event) {
    if (event->decoded->reliable) {
        counts->reliable += event->copy == 1;
        counts->resends += event->copy > 1;
        counts->spurious += event->is_spurious;
    }
}

/* Emits CHANNEL_OPENED and CHANNEL_CLOSED; channel may be NULL. */
static void emit_open_close(struct ue_tracker_step *p, struct ue_tracked_channel *channel,
                            const struct ue_bunch *bunch) {
    struct ue_observed_event event = {.channel.bunch = bunch};
    if (bunch->open) {
        event.type = UE_OBSERVED_CHANNEL_OPENED;
        ue_tracker_emit(p, &event);
    }
    if (bunch->open && channel != NULL) {
        channel->states[p->in->side].has_opened = true;
        channel->states[p->in->side].has_open &= bunch->reliable;
        channel->opened_ns = p->in->time_ns;
    }
    if (bunch->close) {
        bool is_known = channel != NULL && is_open(channel);
        event.type = UE_OBSERVED_CHANNEL_CLOSED;
        event.channel.close_reason = bunch->dormant ? 1 : bunch->close_reason;
        event.channel.open_ns = !is_known ? -1
                                : p->in->time_ns > channel->opened_ns
                                    ? ue_time_ns_since(p->in->time_ns, channel->opened_ns)
                                    : 0;
        ue_tracker_emit(p, &event);
    }
    if (bunch->close && channel != NULL) {
        channel->states[0].has_opened = channel->states[1].has_opened = false;
    }
}

/* ---- one bunch ---- */

void ue_channel_tracker_handle_bunch(struct ue_tracker_step *p, const struct ue_bunch *bunch) {
    struct ue_tracker_counts *counts = &p->tracker->sides[p->in->side].counts;
    struct ue_tracked_channel *channel = ue_channel_tracker_ensure(p->tracker, bunch->channel);
    struct ue_observed_event event;
    event.type = UE_OBSERVED_BUNCH;
    event.bunch =
        (struct ue_observed_bunch){.decoded = bunch,
                                   .item = p->item,
                                   .is_cut = p->is_bunch_cut,
                                   .reliable_id = bunch->reliable ? (int64_t)bunch->ch_seq : -1,
                                   .copy = bunch->reliable,
                                   .is_opening = bunch->open,
                                   .is_partial_error = bunch->partial && ue_partial_check(bunch) != UE_PARTIAL_VALID};
    struct ue_channel_state *state = channel != NULL ? &channel->states[p->in->side] : NULL;
    if (state != NULL && (is_legacy(p) || !bunch->reliable) && !p->in->context->settings.internal_ack) {
        add_dependencies(p, channel, bunch);
    }
    if (state == NULL) {
        counts->untracked++;
    } else if (p->in->context->settings.internal_ack) {
        event.bunch.reliable_id = bunch->reliable ? state->newest++ : -1; /* each bunch is there once, in order */
    } else if (bunch->reliable) {
        handle_reliable(p, state, &event.bunch);
    } else {
        event.bunch.is_partial_error |= is_unreliable_discontinuous(p, state, bunch);
    }
    count_bunch(counts, &event.bunch);
    ue_tracker_emit(p, &event);
    if (event.bunch.copy <= 1 && (bunch->open || bunch->close)) {
        emit_open_close(p, channel, bunch);
    }
}
