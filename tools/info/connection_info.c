/* SPDX-License-Identifier: MIT */
#include "tools/info/connection_info.h"

#include <uerudp/actor_class.h>
#include <uerudp/time_ns.h>
#include "tools/input/input_findings.h"
#include "tools/observe/observed_address.h"

struct info_connection *info_connection_new(uint32_t stream, const struct info_options *options,
                                            size_t *channels_left) {
    struct info_connection *info = g_new0(struct info_connection, 1);
    info->stream = stream;
    info->findings.per_kind_max = options->findings_max;
    info->findings.rules = options->rules;
    info->channels.channels_left = channels_left;
    info->channels.rest.index = UINT32_MAX;
    info->detected = ue_findings_new(&observe_memory);
    info->course = ue_findings_course(info->detected);
    info->timing = ue_findings_timing(info->detected);
    info->sides[0].totals = ue_findings_totals(info->detected, 0);
    info->sides[1].totals = ue_findings_totals(info->detected, 1);
    info->cost = options->with_cost ? g_new0(struct info_cost, 1) : NULL;
    info->bandwidth = options->bandwidth.is_wanted
                          ? ue_bandwidth_new(&observe_memory,
                                             options->bandwidth.bin_ns != 0 ? options->bandwidth.bin_ns : UE_NS_PER_S)
                          : NULL;
    info->options = options;
    return info;
}

void info_connection_free(struct info_connection *info) {
    ue_findings_free(info->detected);
    info_channels_clear(&info->channels);
    info_talkers_clear(&info->talkers);
    info_findings_clear(&info->findings);
    g_free(info->cost);
    ue_bandwidth_free(info->bandwidth);
    g_free(info->interface);
    g_free(info);
}

/* ---- events ---- */

/* State while the tracker reports the events of a datagram. */
struct handling {
    struct info_connection *info;
    const struct input_datagram *captured;
};

/* Learns the actor of the channel that this message opens, or who talks. */
static void on_message(struct handling *handling, const struct ue_observed_event *event) {
    struct ue_actor_guids opening;
    if (event->message.content.kind == UE_CONTENT_VOICE) {
        info_talkers_on_message(&handling->info->talkers, event, &handling->captured->context);
    } else if (ue_actor_class_find(&handling->captured->context, &event->message.content, &opening)) {
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

static void handle_event(void *user, const struct ue_observed_event *event) {
    struct handling *handling = user;
    struct info_connection *info = handling->info;
    if (info->bandwidth != NULL) {
        ue_bandwidth_on_event(info->bandwidth, handling->captured->observer, handling->captured->observed, event);
    }
    switch (event->type) {
    case UE_OBSERVED_MESSAGE: on_message(handling, event); break;
    case UE_OBSERVED_CHANNEL_CLOSED:
    case UE_OBSERVED_BUNCH:
    case UE_OBSERVED_CHANNEL_OPENED:
        info_channels_on_event(&info->channels, event, &handling->captured->context);
        break;
    default: break;
    }
    if (info->listener != NULL) {
        info->listener->on_event(info->listener->user, event);
    }
}

static void handle_finding(void *user, const struct ue_finding *finding) {
    struct info_connection *info = user;
    info_findings_add(&info->findings, finding);
    if (info->listener != NULL) {
        info->listener->on_finding(info->listener->user, finding);
    }
}

static void handle_wait(void *user, const struct ue_channel_wait *wait) {
    const struct info_connection *info = user;
    if (info->listener != NULL) {
        info->listener->on_wait(info->listener->user, wait);
    }
}

static void handle_round_trip(void *user, int64_t acked_ns, int64_t rtt_ns) {
    const struct info_connection *info = user;
    if (info->listener != NULL) {
        info->listener->on_round_trip(info->listener->user, acked_ns, rtt_ns);
    }
}

static struct ue_findings_callbacks callbacks_of(struct info_connection *info) {
    return (struct ue_findings_callbacks){
        .finding = handle_finding, .user = info, .wait = handle_wait, .round_trip = handle_round_trip};
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
    info->ch_seq_bound = captured->context.ch_seq_bound;
    info->reliable_limit = captured->context.reliable_limit;
    info->is_server_known = flow->server_side >= 0;
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

static void begin_or_go_on(struct info_connection *info, const struct input_datagram *captured) {
    if (info->first_frame == 0) {
        info->first_frame = captured->observed->frame;
        info->interface = captured->interface != NULL ? g_utf8_make_valid(captured->interface, -1) : NULL;
    }
    info->last_frame = captured->observed->frame;
    info->sides[captured->observed->role].bytes += captured->observed->length_bytes;
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
    const struct ue_findings_callbacks findings = callbacks_of(info);
    update_generation(info, captured);
    update_addresses(info, captured);
    begin_or_go_on(info, captured);
    input_findings_on_datagram(info->detected, captured, handle_event, &handling, &findings);
    if (info->cost != NULL) {
        add_cost(info, captured);
    }
    if (info->bandwidth != NULL) {
        for (unsigned side = 0; side < 2; side++) {
            ue_bandwidth_set_saturation(info->bandwidth, side, &ue_findings_saturation(info->detected, side)->latest);
        }
        ue_bandwidth_on_datagram(info->bandwidth, captured->observed);
    }
}

/* Loss that is no finding by itself, but reaches the limit of the user. */
static void add_loss(struct info_connection *info, unsigned side) {
    struct ue_finding loss;
    bool is_reported = ue_findings_loss(info->detected, side, &loss),
         is_any = loss.values[UE_VALUE_COUNT].at_least != 0;
    if (is_any && !is_reported && info_fail_rules_reach(info->findings.rules, &loss)) {
        handle_finding(info, &loss);
    }
}

void info_connection_finish(struct info_connection *info, int64_t end_ns) {
    const struct ue_findings_callbacks findings = callbacks_of(info);
    ue_findings_finish(info->detected, end_ns, &findings);
    add_loss(info, 0);
    add_loss(info, 1);
    if (info->bandwidth != NULL) {
        ue_bandwidth_finish(info->bandwidth);
    }
}

enum info_end info_connection_end(const struct info_connection *info) {
    if (ue_findings_has_timed_out(info->detected)) {
        return INFO_END_TIMEOUT;
    }
    if (info->course->is_closed) {
        return info->course->closed_by == 0 ? INFO_END_CLIENT : INFO_END_SERVER;
    }
    return INFO_END_NONE;
}

const char *info_end_name(enum info_end end) {
    static const char *const names[] = {"none", "client", "server", "timeout"};
    return names[end];
}

bool info_connection_lost_packets(const struct info_connection *info, unsigned side, uint64_t *lost) {
    const struct ue_side_totals *totals = info->sides[side].totals;
    *lost = totals->counts.missing;
    return *lost != 0 || (totals->counts.nacked == 0 && totals->unplaced == 0);
}

bool info_connection_beacon(const struct info_connection *info, struct info_beacon *beacon) {
    static const uint8_t order[] = {UE_MESSAGE_BEACON_WELCOME, UE_MESSAGE_BEACON_JOIN, UE_MESSAGE_BEACON_ASSIGN_GUID,
                                    UE_MESSAGE_BEACON_NET_GUID_ACK};
    *beacon = (struct info_beacon){.type = ""};
    for (size_t i = 0; i < G_N_ELEMENTS(order); i++) {
        const struct ue_login_step *step = ue_findings_login_step(info->detected, false, order[i]);
        beacon->last = step != NULL ? step : beacon->last;
        bool has_type =
            step != NULL && order[i] != UE_MESSAGE_BEACON_WELCOME && order[i] != UE_MESSAGE_BEACON_ASSIGN_GUID;
        beacon->type = has_type ? step->text : beacon->type;
        beacon->joined = order[i] == UE_MESSAGE_BEACON_NET_GUID_ACK ? step : NULL;
    }
    return beacon->last != NULL;
}
