/* SPDX-License-Identifier: MIT */
#include "tools/endpoint/server/ddos.h"
#include <uerudp/time_ns.h>

#define MS_NS 1e6
#define SCALE_MIN 0.25
#define LOG_LINES 64

enum ue_status ue_ddos_init(struct ue_ddos *d, const struct ue_ddos_config *config) {
    if (config->severity_count > UE_DDOS_STATES_MAX) {
        return UE_E_RANGE;
    }
    for (uint32_t i = 0; i < config->severity_count; i++) {
        if (config->severities[i].cool_off_s > UE_DDOS_COOL_OFF_MAX_S) {
            return UE_E_RANGE;
        }
    }
    *d = (struct ue_ddos){.config = *config, .scale = 1};
    if (d->config.log_lines_per_frame == 0) {
        d->config.log_lines_per_frame = LOG_LINES;
    }
    return UE_OK;
}

static bool is_off(const struct ue_ddos *d) {
    return d->config.severity_count == 0;
}

static bool reaches(const struct ue_ddos *d, uint32_t count, int32_t quota) {
    return quota >= 0 && count >= quota * d->scale;
}

static bool lasts(const struct ue_ddos *d, uint64_t time_ns, int32_t quota_ms) {
    return quota_ms >= 0 && (double)time_ns >= quota_ms * MS_NS * d->scale;
}

static bool reaches_quota(const struct ue_ddos *d, uint32_t state, const struct ue_ddos_counts *counts) {
    const struct ue_ddos_severity *s = &d->config.severities[state];
    return reaches(d, counts->unknown, s->quota_packets) || reaches(d, counts->left, s->quota_left) ||
           reaches(d, counts->bad, s->quota_bad) || lasts(d, counts->longest_frame_ns, s->quota_time_ms);
}

/* ---- frames ---- */

/* A long frame has more packets in it and a short one fewer, without either being an attack. When hitches follow each
   other the attack may be their cause, and excuses nothing any more (endpoint.md 35.5). */
static double scale_of(const struct ue_ddos *d, uint64_t elapsed_ns) {
    bool is_excused = d->config.hitch_ns == 0 || d->hitches < d->config.hitch_tolerance;
    if (d->config.frame_ns == 0 || !is_excused) {
        return 1;
    }
    double scale = (double)elapsed_ns / (double)d->config.frame_ns;
    return scale < SCALE_MIN ? SCALE_MIN : scale;
}

static void push_second(struct ue_ddos *d) {
    d->history[d->history_next] = d->second;
    d->history_next = (d->history_next + 1) % UE_DDOS_COOL_OFF_MAX_S;
    d->history_count += d->history_count < UE_DDOS_COOL_OFF_MAX_S;
    d->second = (struct ue_ddos_counts){0};
}

static void close_seconds(struct ue_ddos *d, uint64_t now_ns) {
    uint64_t seconds = (now_ns - d->second_begin_ns) / UE_NS_PER_S;
    d->second_begin_ns += seconds * UE_NS_PER_S;
    for (uint64_t i = 0; i < seconds && i <= UE_DDOS_COOL_OFF_MAX_S; i++) {
        push_second(d);
    }
}

/* Seconds since the state's condition held according to the history: 1 = the second before this one, 0 = not in the
   time that it takes to cool off. */
static uint32_t held_ago(const struct ue_ddos *d, uint32_t state) {
    uint32_t reach = d->config.severities[state].cool_off_s;
    for (uint32_t ago = 1; ago <= reach && ago <= d->history_count; ago++) {
        uint32_t at = (d->history_next + UE_DDOS_COOL_OFF_MAX_S - ago) % UE_DDOS_COOL_OFF_MAX_S;
        if (reaches_quota(d, state - 1, &d->history[at])) {
            return ago;
        }
    }
    return 0;
}

/* What made a state necessary is that the one below reached its quota (endpoint.md 35.3). */
static void step_down(struct ue_ddos *d) {
    uint32_t held = 0;
    do {
        d->state--;
        held = d->state > 0 ? held_ago(d, d->state) : 0;
    } while (d->state > 0 && held == 0);
    if (held > 0) {
        d->condition_ns = d->second_begin_ns - (held - 1) * UE_NS_PER_S;
    }
}

/* Measures the frame before this one, for the quotas of this one. */
static void measure(struct ue_ddos *d, uint64_t now_ns) {
    if (!d->has_frame) {
        d->has_frame = true;
        d->second_begin_ns = now_ns;
        return;
    }
    bool is_hitch = d->config.hitch_ns != 0 && now_ns - d->frame_end_ns > d->config.hitch_ns;
    d->hitches = is_hitch ? d->hitches + 1 : 0;
    d->scale = scale_of(d, now_ns - d->frame_begin_ns);
}

void ue_ddos_begin_frame(struct ue_ddos *d, uint64_t now_ns) {
    if (is_off(d)) {
        return;
    }
    measure(d, now_ns);
    d->frame_begin_ns = now_ns;
    d->frame_packets = 0;
    d->frame_lines = 0;
    d->is_dropping = false;
    close_seconds(d, now_ns);
    uint64_t cool_off_ns = d->config.severities[d->state].cool_off_s * UE_NS_PER_S;
    if (d->state > 0 && now_ns - d->condition_ns > cool_off_ns) {
        step_down(d);
    }
}

/* Lets the state follow the quotas: what this second counted, and how long this frame has taken
   (endpoint.md 35.2, 35.3). */
static void judge(struct ue_ddos *d, uint64_t now_ns) {
    struct ue_ddos_counts counts = d->second;
    counts.longest_frame_ns = now_ns - d->frame_begin_ns;
    if (counts.longest_frame_ns > d->second.longest_frame_ns) {
        d->second.longest_frame_ns = counts.longest_frame_ns;
    }
    bool is_last = d->state + 1 == d->config.severity_count;
    if (!is_last && reaches_quota(d, d->state, &counts)) {
        d->state++;
        d->escalations++;
        d->condition_ns = now_ns;
    } else if (d->state > 0 && reaches_quota(d, d->state - 1, &counts)) {
        d->condition_ns = now_ns;
    }
}

void ue_ddos_end_frame(struct ue_ddos *d, uint64_t now_ns) {
    if (is_off(d)) {
        return;
    }
    judge(d, now_ns);
    d->frame_end_ns = now_ns;
}

/* ---- packets ---- */

static bool is_over_limit(const struct ue_ddos *d, uint64_t now_ns) {
    const struct ue_ddos_severity *s = &d->config.severities[d->state];
    return reaches(d, d->frame_packets, s->limit_packets) || lasts(d, now_ns - d->frame_begin_ns, s->limit_time_ms);
}

/* endpoint.md 35.1, 35.4. */
bool ue_ddos_allow_unknown(struct ue_ddos *d, uint64_t now_ns, bool has_left) {
    if (is_off(d)) {
        return true;
    }
    d->second.unknown += !has_left;
    d->second.left += has_left;
    judge(d, now_ns);
    d->is_dropping = d->is_dropping || is_over_limit(d, now_ns);
    d->frame_packets += !has_left;
    d->second.dropped += d->is_dropping;
    return !d->is_dropping;
}

/* endpoint.md 35.4. */
bool ue_ddos_allow_connected(struct ue_ddos *d, uint64_t now_ns) {
    if (is_off(d)) {
        return true;
    }
    d->second.connected++;
    return !lasts(d, now_ns - d->frame_begin_ns, d->config.severities[d->state].limit_connected_ms);
}

void ue_ddos_count_bad(struct ue_ddos *d) {
    d->second.bad++;
}

void ue_ddos_count_error(struct ue_ddos *d) {
    d->second.errors++;
}

/* endpoint.md 35.6. */
bool ue_ddos_may_log(struct ue_ddos *d) {
    return is_off(d) || d->state == 0 || d->frame_lines++ < d->config.log_lines_per_frame;
}
