/* SPDX-License-Identifier: MIT */
/* The bandwidth budget of a sender (QueuedBits, endpoint.md 30), rebuilt from the times and sizes of its packets. */
#include <uerudp/saturation.h>
#include <uerudp/datagram.h>
#include <uerudp/time_ns.h>

#define RATE_MIN 1800 /* servers allow at least this */
#define BUCKET_NS INT64_C(1000000)
#define PERCENT 25 /* of the gaps between packets: a sender skips ticks, but never sends twice in one with a gap */
#define UPDATE_EVERY 16u

/* ---- the tick ---- */

/* The gap that at least PERCENT of the gaps do not exceed. */
static int64_t tick_of(const struct ue_saturation *side) {
    uint64_t below = 0;
    for (uint32_t bucket = 1; bucket < UE_SATURATION_GAPS; bucket++) {
        below += side->gaps[bucket];
        if (below * 100 >= (uint64_t)side->gap_count * PERCENT) {
            return side->gap_count != 0 ? bucket * BUCKET_NS + BUCKET_NS / 2 : 0;
        }
    }
    return 0;
}

/* Packets of one tick follow each other closely. */
static void add_gap(struct ue_saturation *side, int64_t gap_ns) {
    int64_t bucket = gap_ns / BUCKET_NS;
    if (bucket < 1 || bucket >= UE_SATURATION_GAPS) {
        return;
    }
    side->gaps[bucket]++;
    side->gap_count++;
    if (side->gap_count < UPDATE_EVERY || side->gap_count % UPDATE_EVERY == 0) {
        side->tick_ns = tick_of(side);
    }
}

/* ---- the budget ---- */

static int64_t bits_in(const struct ue_saturation *side, int64_t span_ns) {
    return (int64_t)((double)side->rate * 8 * ((double)span_ns / 1e9));
}

static int64_t time_for(const struct ue_saturation *side, int64_t bits) {
    return (int64_t)((double)bits / ((double)side->rate * 8) * 1e9);
}

int64_t ue_saturation_span_ns(const struct ue_saturation_span *span) {
    int64_t length_ns = ue_time_ns_since(span->end_ns, span->begin_ns);
    return span->frame != 0 && length_ns > 0 ? length_ns : 0;
}

static void end_span(struct ue_saturation *side) {
    int64_t length_ns = ue_saturation_span_ns(&side->latest);
    if (side->latest.frame == 0) {
        return;
    }
    side->total_ns = ue_time_ns_add(side->total_ns, length_ns);
    if (side->longest.frame == 0 || length_ns > ue_saturation_span_ns(&side->longest)) {
        side->longest = side->latest;
    }
}

/* The queue is not empty at the next tick. */
static void add_to_span(struct ue_saturation *side, int64_t time_ns, uint64_t frame) {
    int64_t end_ns = ue_time_ns_add(time_ns, time_for(side, side->queued_bits));
    if (side->latest.frame == 0 || time_ns > side->latest.end_ns) {
        end_span(side);
        side->latest = (struct ue_saturation_span){time_ns, end_ns, frame};
        side->spans++;
    }
    side->latest.end_ns = end_ns > side->latest.end_ns ? end_ns : side->latest.end_ns;
}

void ue_saturation_set_rate(struct ue_saturation *side, int32_t bytes_per_s) {
    side->rate = bytes_per_s <= 0 ? 0 : bytes_per_s < RATE_MIN ? RATE_MIN : bytes_per_s;
}

void ue_saturation_add(struct ue_saturation *side, int64_t time_ns, uint64_t frame, uint64_t length_bytes) {
    int64_t gap_ns = side->has_sent ? ue_time_ns_since(time_ns, side->sent_ns) : 0;
    gap_ns = gap_ns > 0 ? gap_ns : 0;
    add_gap(side, gap_ns);
    side->sent_ns = time_ns;
    side->has_sent = true;
    if (side->rate == 0) {
        return;
    }
    int64_t tick_bits = bits_in(side, side->tick_ns), left = side->queued_bits - bits_in(side, gap_ns);
    left = left > -2 * tick_bits ? left : -2 * tick_bits;
    side->queued_bits = left + 8 * ((int64_t)length_bytes + UE_IPV4_UDP_BYTES);
    side->packets++;
    if (side->queued_bits > side->peak_bits) {
        side->peak_bits = side->queued_bits;
        side->peak_frame = frame;
    }
    if (side->queued_bits > tick_bits) {
        add_to_span(side, time_ns, frame);
    }
}

void ue_saturation_finish(struct ue_saturation *side, int64_t end_ns) {
    side->latest.end_ns = side->latest.end_ns < end_ns ? side->latest.end_ns : end_ns;
    end_span(side);
}

int64_t ue_saturation_drain_ns(const struct ue_saturation *side, int64_t bits) {
    return side->rate != 0 && bits > 0 ? time_for(side, bits) : 0;
}
