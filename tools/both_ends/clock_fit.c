/* SPDX-License-Identifier: MIT */
#include "tools/both_ends/clock_fit.h"

#include <math.h>
#include <string.h>

#include <uerudp/time_ns.h>

#define PARTS_MAX 64
#define PART_SAMPLES 16 /* of each direction, on average */
#define PART_SAMPLES_MIN 4

/* The drift differs from 0 if it exceeds its standard error by this factor, of at least this number of parts. */
#define DRIFT_ERRORS 5.0
#define DRIFT_PARTS_MIN 8

/* Of Newton's method for a bound of the drift. Each step moves the drift towards the bound, which it never passes. */
#define STEPS_MAX 40

/* Differences below this are the resolution of the times. */
#define SAME_POINT_NS 1000.0

/* What clocks and captures may be inaccurate by, where delays are nearly 0. */
#define INACCURACY_NS 100000.0

/* A part of the time that the samples cover. */
struct clock_part {
    size_t counts[2];
    double sums[2]; /* of ahead */
    double extremes[2],
        extreme_time[2]; /* the least ahead of samples[0], the greatest of samples[1], and their times */
};

/* Samples relative to an origin, which keeps them exact as double. */
struct clock_parts {
    int64_t begin_ns, span_ns, origin_ahead_ns;
    unsigned count;
    struct clock_part parts[PARTS_MAX];
};

/* ---- parts ---- */

static void find_span(struct clock_parts *parts, const struct clock_sample *const samples[2], const size_t counts[2]) {
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    for (unsigned way = 0; way < 2; way++) {
        for (size_t i = 0; i < counts[way]; i++) {
            int64_t time_ns = samples[way][i].time_ns;
            begin_ns = time_ns < begin_ns ? time_ns : begin_ns;
            end_ns = time_ns > end_ns ? time_ns : end_ns;
        }
    }
    parts->begin_ns = begin_ns;
    parts->span_ns = ue_time_ns_since(end_ns, begin_ns);
}

static double time_in(const struct clock_parts *parts, const struct clock_sample *sample) {
    return (double)ue_time_ns_since(sample->time_ns, parts->begin_ns);
}

static double ahead_in(const struct clock_parts *parts, const struct clock_sample *sample) {
    return (double)ue_time_ns_since(sample->ahead_ns, parts->origin_ahead_ns);
}

static struct clock_part *part_of(struct clock_parts *parts, const struct clock_sample *sample) {
    double place = time_in(parts, sample) * parts->count / ((double)parts->span_ns + 1);
    unsigned index = place > 0 ? (unsigned)place : 0;
    return &parts->parts[index < parts->count ? index : parts->count - 1];
}

static void add(struct clock_parts *parts, unsigned way, const struct clock_sample *sample) {
    struct clock_part *part = part_of(parts, sample);
    double ahead = ahead_in(parts, sample), sign = way == 0 ? 1 : -1;
    if (part->counts[way]++ == 0 || sign * ahead < sign * part->extremes[way]) {
        part->extremes[way] = ahead;
        part->extreme_time[way] = time_in(parts, sample);
    }
    part->sums[way] += ahead;
}

static void divide(struct clock_parts *parts, const struct clock_sample *const samples[2], const size_t counts[2]) {
    size_t fewer = counts[0] < counts[1] ? counts[0] : counts[1];
    size_t count = fewer / PART_SAMPLES;
    memset(parts, 0, sizeof *parts);
    parts->count = count < 1 ? 1 : count > PARTS_MAX ? PARTS_MAX : (unsigned)count;
    parts->origin_ahead_ns = counts[0] != 0 ? samples[0][0].ahead_ns : samples[1][0].ahead_ns;
    find_span(parts, samples, counts);
    for (unsigned way = 0; way < 2; way++) {
        for (size_t i = 0; i < counts[way]; i++) {
            add(parts, way, &samples[way][i]);
        }
    }
}

/* 2^63 is the least double above INT64_MAX. */
static int64_t saturated_ns(double ns) {
    return ns >= 0x1p63 ? INT64_MAX : ns <= -0x1p63 ? INT64_MIN : (int64_t)ns;
}

/* ---- order ---- */

enum clock_order clock_order_of(const struct clock_sample *const samples[2], const size_t counts[2]) {
    struct clock_parts parts;
    unsigned votes[3] = {0}; /* greater of side 0, of side 1, equal */
    if (counts[0] == 0 || counts[1] == 0) {
        return CLOCK_ORDER_UNKNOWN;
    }
    divide(&parts, samples, counts);
    for (unsigned i = 0; i < parts.count; i++) {
        const struct clock_part *part = &parts.parts[i];
        if (part->counts[0] != 0 && part->counts[1] != 0) {
            double by = part->sums[0] / (double)part->counts[0] - part->sums[1] / (double)part->counts[1];
            votes[by > SAME_POINT_NS ? 0 : by < -SAME_POINT_NS ? 1 : 2]++;
        }
    }
    if (votes[2] > votes[0] + votes[1]) {
        return CLOCK_ORDER_SAME;
    }
    if (votes[0] == votes[1]) {
        return CLOCK_ORDER_UNKNOWN;
    }
    return votes[0] > votes[1] ? CLOCK_ORDER_FIRST : CLOCK_ORDER_SECOND;
}

/* ---- the line ---- */

struct line {
    unsigned points;
    double slope, slope_error;
};

static bool is_point(const struct clock_part *part) {
    return part->counts[0] >= PART_SAMPLES_MIN && part->counts[1] >= PART_SAMPLES_MIN;
}

static double point_time(const struct clock_part *part) {
    return (part->extreme_time[0] + part->extreme_time[1]) / 2;
}

static double point_offset(const struct clock_part *part) {
    return (part->extremes[0] + part->extremes[1]) / 2;
}

/* Least squares through the offset of each part. */
static struct line fit_line(const struct clock_parts *parts) {
    struct line line = {0};
    double mean_time = 0, mean_offset = 0, squares = 0, products = 0, rest = 0;
    for (unsigned i = 0; i < parts->count; i++) {
        if (is_point(&parts->parts[i])) {
            line.points++;
            mean_time += point_time(&parts->parts[i]);
            mean_offset += point_offset(&parts->parts[i]);
        }
    }
    mean_time /= line.points != 0 ? line.points : 1;
    mean_offset /= line.points != 0 ? line.points : 1;
    for (unsigned i = 0; i < parts->count; i++) {
        if (is_point(&parts->parts[i])) {
            double time = point_time(&parts->parts[i]) - mean_time;
            squares += time * time;
            products += time * (point_offset(&parts->parts[i]) - mean_offset);
        }
    }
    line.slope = squares > 0 ? products / squares : 0;
    for (unsigned i = 0; i < parts->count; i++) {
        if (is_point(&parts->parts[i])) {
            double off =
                point_offset(&parts->parts[i]) - mean_offset - line.slope * (point_time(&parts->parts[i]) - mean_time);
            rest += off * off;
        }
    }
    line.slope_error = line.points > 2 && squares > 0 ? sqrt(rest / (line.points - 2) / squares) : 0;
    return line;
}

/* The least ahead of samples[0] and the greatest of samples[1], less the drift, and their times. */
struct extremes {
    double ahead[2], time[2];
};

static struct extremes find_extremes(const struct clock_parts *parts, const struct clock_sample *const samples[2],
                                     const size_t counts[2], double drift) {
    struct extremes extremes = {0};
    for (unsigned way = 0; way < 2; way++) {
        double sign = way == 0 ? 1 : -1;
        for (size_t i = 0; i < counts[way]; i++) {
            double time = time_in(parts, &samples[way][i]);
            double ahead = ahead_in(parts, &samples[way][i]) - drift * time;
            if (i == 0 || sign * ahead < sign * extremes.ahead[way]) {
                extremes.ahead[way] = ahead;
                extremes.time[way] = time;
            }
        }
    }
    return extremes;
}

/* The least round trip: with this drift, a delay is negative if it is negative. */
static double round_trip(const struct extremes *extremes) {
    return extremes->ahead[0] - extremes->ahead[1];
}

static bool is_possible(const struct clock_parts *parts, const struct clock_sample *const samples[2],
                        const size_t counts[2], double drift) {
    struct extremes extremes = find_extremes(parts, samples, counts, drift);
    return round_trip(&extremes) >= -INACCURACY_NS;
}

static int64_t mean_ahead(const struct clock_parts *parts) {
    double sum = 0, count = 0;
    for (unsigned i = 0; i < parts->count; i++) {
        sum += parts->parts[i].sums[0] + parts->parts[i].sums[1];
        count += (double)(parts->parts[i].counts[0] + parts->parts[i].counts[1]);
    }
    return ue_time_ns_add(parts->origin_ahead_ns, saturated_ns(sum / count));
}

/* The greatest possible drift (sign 1), or the least (sign -1). The least round trip is a concave function of the
   drift, so that its tangents lead there from outside (Newton's method). */
static double bound_drift(const struct clock_parts *parts, const struct clock_sample *const samples[2],
                          const size_t counts[2], double sign) {
    double drift = sign * CLOCK_FIT_DRIFT_MAX;
    for (int i = 0; i < STEPS_MAX; i++) {
        struct extremes extremes = find_extremes(parts, samples, counts, drift);
        double above = round_trip(&extremes) + INACCURACY_NS, slope = extremes.time[1] - extremes.time[0];
        if (above >= 0 || sign * slope >= 0) {
            break;
        }
        drift -= above / slope;
    }
    return drift;
}

/* Chooses the drift: that of the line, if it is a clock's and more than chance; else none, unless only a drift leaves
   all delays positive. */
static void choose_drift(struct clock_fit *fit, const struct clock_parts *parts,
                         const struct clock_sample *const samples[2], const size_t counts[2]) {
    struct line line = fit_line(parts);
    bool is_clock = line.slope >= fit->least_drift && line.slope <= fit->most_drift;
    fit->is_drift_measured = line.points >= DRIFT_PARTS_MIN;
    if (fit->is_drift_measured && is_clock && fabs(line.slope) > DRIFT_ERRORS * line.slope_error) {
        fit->drift = line.slope;
    } else if (!is_possible(parts, samples, counts, 0)) {
        fit->drift = (fit->least_drift + fit->most_drift) / 2;
        fit->is_drift_measured = false;
    }
    fit->has_drift = fit->drift != 0;
}

/* The offset at the reference, where all times begin, is the greatest with the least drift. */
static void choose_offset(struct clock_fit *fit, const struct clock_parts *parts,
                          const struct clock_sample *const samples[2], const size_t counts[2]) {
    struct extremes extremes = find_extremes(parts, samples, counts, fit->drift);
    double offset = (extremes.ahead[0] + extremes.ahead[1]) / 2;
    double most = find_extremes(parts, samples, counts, fit->least_drift).ahead[0] + INACCURACY_NS / 2;
    double least = find_extremes(parts, samples, counts, fit->most_drift).ahead[1] - INACCURACY_NS / 2;
    fit->offset_ns = ue_time_ns_add(parts->origin_ahead_ns, saturated_ns(offset));
    fit->bound_ns = saturated_ns(ceil(fmax(most - offset, offset - least)));
}

struct clock_fit clock_fit_of(const struct clock_sample *const samples[2], const size_t counts[2]) {
    struct clock_fit fit = {.result = CLOCK_FIT_ONE_WAY};
    struct clock_parts parts;
    if (counts[0] + counts[1] == 0) {
        return fit;
    }
    divide(&parts, samples, counts);
    fit.reference_ns = parts.begin_ns;
    fit.offset_ns = mean_ahead(&parts);
    if (counts[0] == 0 || counts[1] == 0) {
        return fit;
    }
    fit.least_drift = bound_drift(&parts, samples, counts, -1);
    fit.most_drift = bound_drift(&parts, samples, counts, 1);
    if (!is_possible(&parts, samples, counts, (fit.least_drift + fit.most_drift) / 2)) {
        fit.result = CLOCK_FIT_NOT_LINEAR;
        return fit;
    }
    fit.result = CLOCK_FIT_KNOWN;
    choose_drift(&fit, &parts, samples, counts);
    choose_offset(&fit, &parts, samples, counts);
    return fit;
}

int64_t clock_fit_offset_ns(const struct clock_fit *fit, int64_t time_ns) {
    return ue_time_ns_add(fit->offset_ns,
                          saturated_ns(fit->drift * (double)ue_time_ns_since(time_ns, fit->reference_ns)));
}

int64_t clock_fit_to_first_ns(const struct clock_fit *fit, int64_t time_ns) {
    return ue_time_ns_since(time_ns, clock_fit_offset_ns(fit, ue_time_ns_since(time_ns, fit->offset_ns)));
}
