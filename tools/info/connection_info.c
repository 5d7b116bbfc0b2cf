/* SPDX-License-Identifier: MIT */
#include "tools/info/connection_info.h"

#include <uerudp/actor_class.h>
#include <uerudp/close_reason.h>
#include "tools/info/connection_end.h"
#include "tools/observe/address.h"

struct info_connection *info_connection_new(uint32_t stream, unsigned findings_max, bool with_cost,
                                            size_t *channels_left) {
    struct info_connection *info = g_new0(struct info_connection, 1);
    info->stream = stream;
    info->findings.per_kind_max = findings_max;
    info->channels.channels_left = channels_left;
    info->channels.rest.index = UINT32_MAX;
    info->detected = ue_findings_new(&observe_memory);
    info->timing = ue_findings_timing(info->detected);
    info->sides[0].totals = ue_findings_totals(info->detected, 0);
    info->sides[1].totals = ue_findings_totals(info->detected, 1);
    info->cost = with_cost ? g_new0(struct info_cost, 1) : NULL;
    return info;
}

void info_connection_free(struct info_connection *info) {
    info_login_clear(&info->login);
    ue_findings_free(info->detected);
    info_channels_clear(&info->channels);
    info_findings_clear(&info->findings);
    g_free(info->cost);
    g_free(info->interface);
    g_free(info);
}

/* ---- events ---- */

/* State while the tracker reports the events of a datagram. */
struct handling {
    struct info_connection *info;
    const struct input_datagram *captured;
};

static void on_close(struct info_connection *info, const struct ue_observed_event *event) {
    if (event->channel.bunch->channel == 0 && !info->is_closed) {
        info->is_closed = true;
        info->closed_by = event->side;
        info->closed_frame = event->frame;
        info->closed_ns = event->time_ns;
    }
}

/* Learns the actor of the channel that this message opens. */
static void on_message(struct handling *handling, const struct ue_observed_event *event) {
    struct ue_actor_guids opening;
    if (ue_actor_class_find(&handling->captured->context, &event->message.content, &opening)) {
        struct ue_guid_names names =
            ue_observer_names(handling->captured->observer, handling->captured->connection, event->frame);
        const char *path = names.path(names.user, opening.archetype != 0 ? opening.archetype : opening.guid);
        char class_path[UE_GUID_MAP_PATH_MAX + 1];
        if (path != NULL) {
            ue_actor_class_path(path, class_path, sizeof class_path);
        }
        info_channels_set_actor(&handling->info->channels, event->message.channel, path != NULL ? class_path : NULL);
    }
}

static void add_finding(void *user, const struct ue_finding *finding) {
    info_findings_add(user, finding);
}

static void handle_event(void *user, const struct ue_observed_event *event) {
    struct handling *handling = user;
    struct info_connection *info = handling->info;
    const struct ue_findings_callbacks callbacks = {add_finding, &info->findings};
    ue_findings_on_event(info->detected, &handling->captured->context, event, &callbacks);
    info_login_on_event(&info->login, event, &handling->captured->context);
    switch (event->type) {
    case UE_OBSERVED_MESSAGE: on_message(handling, event); break;
    case UE_OBSERVED_CHANNEL_CLOSED: on_close(info, event); /* fall through */
    case UE_OBSERVED_BUNCH:
    case UE_OBSERVED_CHANNEL_OPENED:
        info_channels_on_event(&info->channels, event, &handling->captured->context);
        break;
    default: break;
    }
}

/* ---- datagrams ---- */

/* Each datagram may narrow the range of generations. */
static void update_generation(struct info_connection *info, const struct input_datagram *captured) {
    const struct ue_detection *flow = &captured->connection->detection;
    const struct ue_detection_result *result = ue_detection_result_of(flow, &captured->observed->record.decode);
    bool is_known = info->generation != NULL && result->profile == info->result.profile &&
                    result->candidates == info->result.candidates && result->reason == info->result.reason;
    if (!is_known) {
        char text[UE_RANGE_CHARS];
        info->result = *result;
        info->profile = flow->custom != NULL ? flow->custom : ue_profile_at(result->profile);
        info->generation = info->profile->name;
        g_strlcpy(info->generations, ue_detection_generations(flow, result, text), sizeof info->generations);
        capture_summary_format_bounds(result, info->bounds);
        info->reason = ue_detection_reason_text((enum ue_detection_reason)result->reason);
    }
    info->reliable_limit = captured->context.reliable_limit;
}

static void update_addresses(struct info_connection *info, const struct input_datagram *captured) {
    for (unsigned i = 0; i < 2; i++) {
        unsigned role = captured->observed->record.decode.side == i ? captured->role : !captured->role;
        char *address = info->sides[role].address;
        const char *now = captured->texts->addresses[i];
        if (strcmp(address, now) == 0) {
            continue;
        }
        bool is_swap = strcmp(info->sides[!role].address, now) == 0; /* the roles of the sides are now known */
        if (address[0] != '\0' && role == 0 && !is_swap) {
            g_strlcat(info->former, info->former[0] != '\0' ? ", " : "", sizeof info->former);
            g_strlcat(info->former, address, sizeof info->former);
        }
        g_strlcpy(address, now, sizeof info->sides[role].address);
    }
}

static void count(struct info_connection *info, const struct ue_observed_datagram *observed) {
    struct info_side *side = &info->sides[observed->role];
    side->bytes += observed->length_bytes;
    info_rate_add(&side->rate, observed->time_ns - info->first_ns, observed->length_bytes, info->login.rate);
}

static void begin_or_go_on(struct info_connection *info, const struct input_datagram *captured) {
    if (info->first_frame == 0) {
        info->first_frame = captured->observed->frame;
        info->first_ns = info->last_ns = captured->observed->time_ns;
        info->interface = captured->interface != NULL ? g_utf8_make_valid(captured->interface, -1) : NULL;
    }
    info->last_frame = captured->observed->frame;
    info->last_ns = MAX(info->last_ns, captured->observed->time_ns);
}

static void add_cost(struct info_connection *info, const struct input_datagram *captured) {
    const struct ue_observed_datagram *observed = captured->observed;
    struct info_cost_datagram datagram = {.context = &captured->context,
                                          .bytes = captured->bytes,
                                          .size_bytes = captured->size_bytes,
                                          .captured_bytes = observed->captured_bytes,
                                          .length_bytes = observed->length_bytes,
                                          .side = captured->role,
                                          .is_ipv6 = captured->connection->sides[0].size_bytes > 4};
    info_cost_add(info->cost, &datagram, &info->channels);
}

void info_connection_on_datagram(struct info_connection *info, const struct input_datagram *captured) {
    struct handling handling = {info, captured};
    const struct ue_observer_callbacks callbacks = {.event = handle_event, .user = &handling, .wants_messages = true};
    const struct ue_findings_callbacks findings = {add_finding, &info->findings};
    update_generation(info, captured);
    update_addresses(info, captured);
    begin_or_go_on(info, captured);
    count(info, captured->observed);
    ue_findings_on_datagram(info->detected, captured->observed, &captured->result, &findings);
    if (ue_observer_track(captured->observer, captured->observed, &callbacks)) {
        const struct ue_tracker *tracker = ue_observer_tracker(captured->connection);
        ue_findings_on_counts(info->detected, 0, ue_tracker_counts(tracker, 0));
        ue_findings_on_counts(info->detected, 1, ue_tracker_counts(tracker, 1));
    }
    if (info->cost != NULL) {
        add_cost(info, captured);
    }
}

/* Clears the times measured before and while the clock did not advance. */
static void clear_times(struct info_connection *info) {
    ue_findings_forget_times(info->detected);
    info->sides[0].rate = info->sides[1].rate = (struct info_rate){0};
    for (guint i = 0; info->login.steps != NULL && i < info->login.steps->len; i++) {
        g_array_index(info->login.steps, struct info_login_step, i).span_ns = -1;
    }
}

static void report_findings(struct info_connection *info) {
    info_login_report(info);
    info_connection_end_report(info);
    for (unsigned side = 0; side < 2; side++) {
        info_rate_report(&info->sides[side].rate, side, info->login.rate, &info->findings);
    }
    if (info->implausible != 0) {
        const struct ue_finding times =
            ue_finding_of_count(UE_FINDING_TIMES, 0, info->implausible, info->implausible_frame);
        info_findings_add(&info->findings, &times);
    }
}

void info_connection_finish(struct info_connection *info) {
    if (info->implausible != 0) {
        clear_times(info);
    }
    for (unsigned side = 0; side < 2; side++) {
        info_rate_finish(&info->sides[side].rate, info->login.rate);
    }
    const struct ue_stream_end end = {.last_ns = info->last_ns, .is_closed = info->is_closed};
    ue_findings_finish(info->detected, &end, &(const struct ue_findings_callbacks){add_finding, &info->findings});
    report_findings(info);
}

bool info_connection_lost_packets(const struct info_connection *info, unsigned side, uint64_t *lost) {
    *lost = info->sides[side].totals->counts.missing;
    return *lost != 0 || info->sides[side].totals->counts.nacked == 0;
}
