/* SPDX-License-Identifier: MIT */
#include <uerudp/saturation.h>

#include <uerudp/clock_jitter.h>
#include <uerudp/time_ns.h>

#define RATE_MIN 1800 /* servers allow at least this */
#define UPDATE_EVERY 16u
#define TICK_PERCENT 90u
#define SHORT_PERCENT 25u
/* What a tick is assumed to last at least, while few are known: that of the default NetServerMaxTickRate, 30. */
#define TICK_FIRST_NS (34 * UE_NS_PER_MS)
/* The longest tick, and the longest that packets are assumed to wait in the network. */
#define TICK_MAX_NS UE_NS_PER_S
/* Without clocks, packets that are closer than this are of one tick. */
#define TICK_MIN_NS (5 * UE_NS_PER_MS)
/* Clocks are whole milliseconds: the queue and the length of a span are each off by less than one. */
#define CLOCK_ERROR_NS (2 * UE_NS_PER_MS)
/* After a longer time in which packets are missing, their clock may have wrapped. */
#define CLOCK_SURE_NS (500 * UE_NS_PER_MS)
/* More is not computed with. */
#define LONG_NS (INT64_C(1000000) * UE_NS_PER_S)
#define UNKNOWN_NS INT64_C(-1)

/* ---- the tick ---- */

/* The gap that at least this share of the gaps does not exceed. */
static int64_t gap_at(const struct ue_saturation *side, unsigned percent) {
    uint64_t below = 0;
    for (int64_t ms = 0; ms + 1 < UE_SATURATION_GAPS; ms++) {
        below += side->gaps[ms];
        if (below * 100 >= (uint64_t)side->gap_count * percent) {
            return ms * UE_NS_PER_MS;
        }
    }
    return TICK_MAX_NS;
}

static void halve_gaps(struct ue_saturation *side) {
    side->gap_count = 0;
    for (unsigned i = 0; i < UE_SATURATION_GAPS; i++) {
        side->gaps[i] /= 2;
        side->gap_count += side->gaps[i];
    }
}

static void add_gap(struct ue_saturation *side, int64_t gap_ns) {
    int64_t ms = gap_ns / UE_NS_PER_MS + (gap_ns % UE_NS_PER_MS != 0);
    unsigned bucket = (unsigned)(ms < UE_SATURATION_GAPS ? ms : UE_SATURATION_GAPS - 1);
    if (side->gaps[bucket] == UINT16_MAX) {
        halve_gaps(side);
    }
    side->gaps[bucket]++;
    side->gap_count++;
    if (side->gap_count <= UPDATE_EVERY || side->gap_count % UPDATE_EVERY == 0) {
        side->long_tick_ns = gap_at(side, TICK_PERCENT);
        side->short_tick_ns = gap_at(side, SHORT_PERCENT);
    }
}

/* The longest tick that is likely. */
static int64_t tick_limit(const struct ue_saturation *side) {
    if (side->gap_count == 0) {
        return TICK_MAX_NS;
    }
    bool is_first = side->gap_count < UPDATE_EVERY && side->long_tick_ns < TICK_FIRST_NS;
    return is_first ? TICK_FIRST_NS : side->long_tick_ns;
}

/* ---- the budget ---- */

static int64_t bits_in(int32_t rate, int64_t span_ns) {
    return (int64_t)((double)rate * 8 * ((double)span_ns / 1e9));
}

static int64_t drain_ns(int32_t rate, int64_t bits) {
    return rate != 0 && bits > 0 ? (int64_t)((double)bits / ((double)rate * 8) * 1e9) : 0;
}

/* A sender keeps at most what two ticks allow (endpoint.md 30.2). */
static int64_t least_bits(const struct ue_saturation *side, int32_t rate, int64_t tick_ns) {
    return -2 * bits_in(rate, tick_ns) - bits_in(side->rate, CLOCK_ERROR_NS);
}

/* The bits in the queue, at least. The first bound follows the estimate of the tick, which is poor at the start. */
static int64_t queued_bits(const struct ue_saturation *side, bool *is_from_start) {
    int64_t since_start = side->since_start_bits + least_bits(side, side->first_rate, tick_limit(side));
    bool is_start = since_start > side->since_idle_bits;
    *is_from_start = is_start ? !side->is_first_known : !side->is_idle_known;
    return is_start ? since_start : side->since_idle_bits;
}

static void add_bits(struct ue_saturation *side, int64_t bits) {
    side->since_start_bits += bits;
    side->since_idle_bits += bits;
}

static void pass_time(struct ue_saturation *side, int64_t span_ns) {
    int64_t allowed = bits_in(side->rate, span_ns);
    side->since_idle_bits -= allowed;
    side->since_start_bits = side->since_start_bits > allowed ? side->since_start_bits - allowed : 0;
    side->counted_ns = ue_time_ns_add(side->counted_ns, span_ns);
}

/* tick_ns: bound of the ticks that end in the span. */
static void pass_ticks(struct ue_saturation *side, int64_t span_ns, int64_t tick_ns) {
    int64_t least = least_bits(side, side->rate, tick_ns);
    pass_time(side, span_ns);
    if (side->since_idle_bits <= least) {
        side->since_idle_bits = least;
        side->is_idle_known = side->is_rate_known;
    }
}

/* ---- spans ---- */

static void end_span(struct ue_saturation *side) {
    side->total_ns = ue_time_ns_add(side->total_ns, side->latest.length_ns);
    if (side->longest.frame == 0 || side->latest.length_ns > side->longest.length_ns) {
        side->longest = side->latest;
    }
}

static void set_end(struct ue_saturation *side, int64_t end_ns) {
    side->latest_end_ns = end_ns;
    side->latest.length_ns = end_ns - side->latest_begin_ns;
}

static void add_to_span(struct ue_saturation *side, int64_t bits) {
    int64_t end_ns = ue_time_ns_add(side->counted_ns, drain_ns(side->rate, bits));
    if (side->latest.frame == 0 || side->counted_ns > side->latest_end_ns) {
        end_span(side);
        side->latest = (struct ue_saturation_span){side->sent_ns, 0, side->frame, side->rate};
        side->latest_begin_ns = side->latest_end_ns = side->counted_ns;
        side->spans++;
    }
    set_end(side, end_ns > side->latest_end_ns ? end_ns : side->latest_end_ns);
}

/* next_ns: what the end of the tick allows for, at most. */
static void end_tick(struct ue_saturation *side, int64_t next_ns) {
    bool is_from_start;
    int64_t bits = queued_bits(side, &is_from_start), limit_ns = tick_limit(side);
    side->tick_ns = side->tick_ns != 0 && side->tick_ns < limit_ns ? side->tick_ns : limit_ns;
    if (bits > side->peak_bits) {
        side->peak_bits = bits;
        side->peak_frame = side->frame;
        side->peak_rate = side->rate;
    }
    if (bits > bits_in(side->rate, next_ns)) {
        side->is_from_start |= is_from_start;
        add_to_span(side, bits);
    }
}

/* It is not known when the next tick began: as if the sender was idle until then. */
static void end_tick_in_pause(struct ue_saturation *side, int64_t captured_gap_ns) {
    end_tick(side, tick_limit(side));
    side->since_start_bits = 0;
    side->since_idle_bits = least_bits(side, side->rate, TICK_MAX_NS);
    pass_ticks(side, captured_gap_ns > TICK_MAX_NS ? captured_gap_ns : TICK_MAX_NS, tick_limit(side));
}

/* ---- packets with clocks ---- */

static int64_t clock_gap(const struct ue_saturation *side, const struct ue_saturation_packet *packet) {
    bool is_known = side->has_clock && packet->clock_ms < UE_CLOCK_JITTER_UNUSABLE_MS;
    int64_t captured_ns = ue_time_ns_since(packet->time_ns, side->tick_begin_ns);
    bool may_wrap = !side->is_whole && (captured_ns < 0 || captured_ns >= CLOCK_SURE_NS);
    return is_known && !may_wrap ? (packet->clock_ms - side->clock_ms + 1000) % 1000 * UE_NS_PER_MS : UNKNOWN_NS;
}

/* captured_gap_ns: between the capture times of the ticks. */
static void end_tick_by_clock(struct ue_saturation *side, int64_t gap_ns, int64_t captured_gap_ns) {
    if (gap_ns >= 0) {
        if (side->is_whole) {
            add_gap(side, gap_ns);
        }
        int64_t tick_ns = gap_ns < tick_limit(side) ? gap_ns : tick_limit(side);
        end_tick(side, tick_ns);
        add_bits(side, side->later_bits);
        pass_ticks(side, gap_ns, tick_ns);
    } else {
        end_tick_in_pause(side, captured_gap_ns);
    }
}

static void begin_tick_by_clock(struct ue_saturation *side, const struct ue_saturation_packet *packet,
                                int64_t captured_gap_ns) {
    if (side->is_counting) {
        end_tick_by_clock(side, clock_gap(side, packet), captured_gap_ns);
    }
    side->later_bits = 0;
    side->has_clock = packet->clock_ms < UE_CLOCK_JITTER_UNUSABLE_MS;
    side->clock_ms = packet->clock_ms;
}

/* ---- packets without clocks ---- */

/* A long gap may be a packet that waited in the network; packets that then come close may be of several ticks. */
static int64_t sent_gap(struct ue_saturation *side, int64_t gap_ns) {
    int64_t more_ns = gap_ns - side->short_tick_ns;
    if (more_ns >= 0) {
        side->held_ns = side->held_ns + more_ns < TICK_MAX_NS ? side->held_ns + more_ns : TICK_MAX_NS;
        return gap_ns;
    }
    more_ns = -more_ns < side->held_ns ? -more_ns : side->held_ns;
    side->held_ns -= more_ns;
    return gap_ns + more_ns;
}

static void begin_tick_by_time(struct ue_saturation *side, int64_t gap_ns) {
    if (!side->is_counting) {
        return;
    }
    if (gap_ns < 0) { /* the clock of the capture was set back */
        end_tick_in_pause(side, 0);
        return;
    }
    if (side->is_whole) {
        add_gap(side, gap_ns);
    }
    end_tick(side, tick_limit(side));
    pass_ticks(side, sent_gap(side, gap_ns), tick_limit(side));
}

/* ---- calls ---- */

/* What is left of the latest span leaves at the new rate. */
static void change_rate(struct ue_saturation *side, int32_t rate) {
    if (side->latest_end_ns > side->counted_ns) {
        int64_t bits = bits_in(side->rate, side->latest_end_ns - side->counted_ns);
        set_end(side, ue_time_ns_add(side->counted_ns, drain_ns(rate, bits)));
    }
    side->rate = rate;
}

void ue_saturation_set_rate(struct ue_saturation *side, int32_t bytes_per_s, bool is_known) {
    change_rate(side, bytes_per_s < RATE_MIN ? RATE_MIN : bytes_per_s);
    side->is_rate_known = is_known;
    if (!side->is_counting) {
        side->is_counting = true;
        side->is_first_known = side->is_idle_known = is_known;
        side->first_rate = side->rate;
        side->since_start_bits = 0;
        side->since_idle_bits = least_bits(side, side->rate, TICK_MAX_NS);
    }
    side->first_rate = side->rate > side->first_rate ? side->rate : side->first_rate;
}

void ue_saturation_stop(struct ue_saturation *side) {
    if (side->latest_end_ns > side->counted_ns) {
        set_end(side, side->counted_ns);
    }
    end_span(side);
    side->latest = (struct ue_saturation_span){0};
    side->is_counting = side->has_sent = side->has_clock = side->is_whole = false;
    side->held_ns = 0;
}

/* Whether a packet begins a tick; false also if its tick is not known. */
static bool begins_tick(const struct ue_saturation *side, const struct ue_saturation_packet *packet, int64_t gap_ns) {
    bool is_in_tick = side->has_sent && gap_ns > -TICK_MIN_NS && gap_ns < TICK_MIN_NS;
    return side->has_clocks ? packet->has_info : !is_in_tick;
}

static void begin_tick(struct ue_saturation *side, const struct ue_saturation_packet *packet, int64_t gap_ns) {
    if (side->has_clocks) {
        begin_tick_by_clock(side, packet, gap_ns);
    } else if (side->has_sent) {
        begin_tick_by_time(side, gap_ns);
    }
    side->tick_begin_ns = packet->time_ns;
    side->has_sent = side->is_whole = true;
}

void ue_saturation_add(struct ue_saturation *side, const struct ue_saturation_packet *packet) {
    int64_t gap_ns = side->has_sent ? ue_time_ns_since(packet->time_ns, side->tick_begin_ns) : 0;
    gap_ns = gap_ns < LONG_NS ? gap_ns : LONG_NS;
    int64_t bits = side->is_counting ? 8 * (int64_t)packet->bytes : 0;
    side->is_whole = side->is_whole && packet->packet_id == side->last_id + 1;
    side->last_id = packet->packet_id;
    side->has_clocks |= packet->has_info;
    side->packets += side->is_counting;
    if (begins_tick(side, packet, gap_ns)) {
        begin_tick(side, packet, gap_ns);
    } else if (side->has_clocks && !side->is_whole) {
        side->later_bits += bits;
        return;
    } else if (!side->has_clocks && side->is_counting) {
        pass_time(side, sent_gap(side, 0));
    }
    side->sent_ns = packet->time_ns;
    side->frame = packet->frame;
    add_bits(side, bits);
}

void ue_saturation_finish(struct ue_saturation *side, int64_t end_ns) {
    if (side->is_counting && side->has_sent) {
        end_tick(side, tick_limit(side));
    }
    int64_t left_ns = ue_time_ns_since(end_ns, side->latest.begin_ns);
    left_ns = left_ns > 0 ? left_ns : 0;
    side->latest.length_ns = side->latest.length_ns < left_ns ? side->latest.length_ns : left_ns;
    end_span(side);
}

int64_t ue_saturation_peak_ns(const struct ue_saturation *side) {
    return drain_ns(side->peak_rate, side->peak_bits);
}
