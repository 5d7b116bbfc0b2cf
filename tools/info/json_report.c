/* SPDX-License-Identifier: MIT */
#include "tools/info/json_report.h"

#include <inttypes.h>
#include <uerudp/time_ns.h>

#include "tools/info/bandwidth_json.h"
#include "tools/info/both_ends_report.h"
#include "tools/info/json_values.h"
#include "tools/print/json.h"

/* ---- values ---- */

static json_t *real(double number) {
    return json_real(number);
}

static json_t *counts(uint64_t client, uint64_t server) {
    return info_counts((const uint64_t[]){client, server});
}

static json_t *text_or_null(const char *text) {
    return text != NULL && text[0] != '\0' ? json_string(text) : json_null();
}

static json_t *since_s(const struct info_connection *info, int64_t time_ns) {
    return info->course->implausible != 0 ? json_null() : real(phrase_seconds(time_ns - info->course->first_ns));
}

static json_t *moment(const struct info_connection *info, uint64_t frame, int64_t time_ns) {
    return frame == 0 ? json_null()
                      : json_pack("{s:o, s:o}", "frame", info_count(frame), "time_s", since_s(info, time_ns));
}

static json_t *percentiles(const struct ue_histogram *histogram, double unit) {
    if (histogram->count == 0) {
        return json_null();
    }
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o}", "p50", real((double)ue_histogram_percentile(histogram, 50) / unit), "p90",
        real((double)ue_histogram_percentile(histogram, 90) / unit), "p99",
        real((double)ue_histogram_percentile(histogram, 99) / unit), "min", real((double)histogram->min / unit), "max",
        real((double)histogram->max / unit), "samples", info_count(histogram->count));
}

/* ---- traffic ---- */

static json_t *lost(const struct info_connection *info, unsigned side) {
    uint64_t number;
    return info_connection_lost_packets(info, side, &number) ? info_count(number) : json_null();
}

static json_t *lost_is_least(const struct info_connection *info, unsigned side) {
    uint64_t number;
    return json_boolean(info_connection_lost_packets(info, side, &number) && info->sides[side].totals->unplaced != 0);
}

static json_t *reliable_peak(const struct info_side *side) {
    const struct ue_reliable_peak *peak = &side->totals->reliable_peak;
    uint32_t at_most = side->totals->reliable_peak_at_most;
    return json_pack("{s:o, s:o, s:o, s:o}", "at_least", info_count(peak->at_least), "at_most",
                     at_most != UE_OBSERVED_UNBOUNDED ? info_count(at_most) : json_null(), "channel",
                     info_count(peak->channel), "frame", peak->frame != 0 ? info_count(peak->frame) : json_null());
}

static void add_traffic(json_t *object, const struct info_connection *info) {
    const struct info_side *client = &info->sides[0], *server = &info->sides[1];
    const struct ue_tracker_counts *up = &client->totals->counts, *down = &server->totals->counts;
    json_object_set_new(object, "packets", counts(client->totals->datagrams, server->totals->datagrams));
    json_object_set_new(object, "bytes", counts(client->bytes, server->bytes));
    json_object_set_new(object, "empty", counts(client->totals->empty, server->totals->empty));
    json_object_set_new(object, "acked", counts(up->acked, down->acked));
    json_object_set_new(object, "not_acked", counts(up->nacked, down->nacked));
    json_object_set_new(object, "not_acked_unsure", counts(up->unsure, down->unsure));
    json_object_set_new(object, "lost", info_both(lost(info, 0), lost(info, 1)));
    json_object_set_new(object, "lost_at_least", info_both(lost_is_least(info, 0), lost_is_least(info, 1)));
    json_object_set_new(object, "lost_unsure", counts(up->missing_damaged, down->missing_damaged));
    json_object_set_new(object, "late", counts(up->late, down->late));
    json_object_set_new(object, "duplicates", counts(up->duplicates, down->duplicates));
    json_object_set_new(object, "malformed", counts(client->totals->malformed, server->totals->malformed));
    json_object_set_new(object, "opaque", counts(client->totals->opaque, server->totals->opaque));
    json_object_set_new(object, "unreadable", counts(client->totals->unreadable, server->totals->unreadable));
    json_object_set_new(object, "reliable", counts(up->reliable, down->reliable));
    json_object_set_new(object, "resends", counts(up->resends, down->resends));
    json_object_set_new(object, "spurious", counts(up->spurious, down->spurious));
    json_object_set_new(object, "reliable_limit",
                        info->reliable_limit != 0 ? info_count(info->reliable_limit) : json_null());
    json_object_set_new(object, "reliable_peak", info_both(reliable_peak(client), reliable_peak(server)));
    json_object_set_new(object, "peak_bytes_per_s",
                        info->course->implausible != 0
                            ? json_null()
                            : counts(client->totals->rate.network.peak_bytes, server->totals->rate.network.peak_bytes));
    json_object_set_new(object, "agreed_bytes_per_s",
                        info->course->requested_rate != 0 ? json_integer(info->course->requested_rate) : json_null());
}

/* ---- times ---- */

static json_t *jitter(const struct ue_side_jitter *jitter) {
    return jitter->samples == 0 ? json_null() : real(phrase_milliseconds(jitter->clock.average_ns));
}

static json_t *jitter_max(const struct ue_side_jitter *jitter) {
    return jitter->samples == 0 ? json_null() : real(phrase_milliseconds(jitter->max_ns));
}

static void add_times(json_t *object, const struct info_connection *info) {
    const struct ue_timing *timing = info->timing;
    int64_t handshake_ns = ue_timing_handshake_ns(timing);
    json_object_set_new(object, "rtt_ms", percentiles(&timing->rtt, 1e6));
    json_object_set_new(object, "half_ms",
                        info_both(percentiles(&timing->halves[0], 1e6), percentiles(&timing->halves[1], 1e6)));
    json_object_set_new(object, "handshake_rtt_ms",
                        handshake_ns >= 0 ? real(phrase_milliseconds(handshake_ns)) : json_null());
    json_object_set_new(object, "jitter_ms", info_both(jitter(&timing->jitter[0]), jitter(&timing->jitter[1])));
    json_object_set_new(object, "jitter_max_ms",
                        info_both(jitter_max(&timing->jitter[0]), jitter_max(&timing->jitter[1])));
    json_object_set_new(object, "server_frame_time_ms", percentiles(&timing->frame_time_ms, 1));
}

/* What acknowledgements took beyond the fastest one. */
static json_t *ack_delay(const struct ue_histogram *half) {
    if (half->count == 0) {
        return json_null();
    }
    json_t *object = json_object();
    static const struct {
        const char *key;
        unsigned percent;
    } rows[] = {{"p50", 50}, {"p90", 90}, {"p99", 99}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        json_object_set_new(object, rows[i].key,
                            real((double)(ue_histogram_percentile(half, rows[i].percent) - half->min) / UE_NS_PER_MS));
    }
    return object;
}

static json_t *longest_interval(const struct info_connection *info, unsigned side) {
    const struct ue_send_pace *pace = &info->timing->pace[side];
    return pace->interval_ms.count == 0 ? json_null() : moment(info, pace->longest_frame, pace->longest_ns);
}

static void add_pace(json_t *object, const struct info_connection *info) {
    const struct ue_timing *timing = info->timing;
    json_object_set_new(object, "ack_delay_ms",
                        info_both(ack_delay(&timing->halves[0]), ack_delay(&timing->halves[1])));
    json_object_set_new(
        object, "send_interval_ms",
        info_both(percentiles(&timing->pace[0].interval_ms, 1), percentiles(&timing->pace[1].interval_ms, 1)));
    json_object_set_new(object, "longest_send_interval",
                        info_both(longest_interval(info, 0), longest_interval(info, 1)));
}

/* ---- waits ---- */

/* Where no wait is known, because the capture does not show whether bunches waited, the longest has no place. */
static json_t *wait_object(const struct info_connection *info, unsigned side, uint32_t channel,
                           const struct ue_channel_waits *waits) {
    const struct ue_channel_wait *longest = &waits->longest;
    json_t *object =
        json_pack("{s:s, s:o, s:b, s:o, s:o, s:o, s:n, s:n, s:n}", "direction", phrase_direction_key(side), "channel",
                  info_count(channel), "at_least", waits->is_at_least, "bunches", info_count(waits->bunches),
                  "total_ms", real((double)waits->total_ns / UE_NS_PER_MS), "longest_ms",
                  real((double)longest->span_ns / UE_NS_PER_MS), "time_s", "ch_seq", "frames");
    if (waits->bunches != 0) {
        json_object_set_new(object, "time_s", since_s(info, longest->begin_ns));
        json_object_set_new(object, "ch_seq", info_count(longest->ch_seq));
        json_object_set_new(object, "frames",
                            json_pack("[o, o]", info_count(longest->first_frame), info_count(longest->frame)));
    }
    return object;
}

static json_t *waits_array(const struct info_connection *info) {
    size_t number;
    const struct ue_channel_order *orders = ue_findings_channel_orders(info->detected, &number);
    json_t *array = json_array();
    for (size_t i = 0; i < number; i++) {
        for (unsigned side = 0; side < 2; side++) {
            const struct ue_channel_waits *waits = &orders[i].waits[side];
            if (info_waits_are_possible(waits)) {
                json_array_append_new(array, wait_object(info, side, orders[i].channel, waits));
            }
        }
    }
    return array;
}

/* ---- handshake and login ---- */

static json_t *step_object(const struct info_connection *info, const struct ue_login_step *step) {
    json_t *object = json_pack("{s:o, s:o, s:s, s:s, s:s, s:o}", "frame", info_count(step->frame), "time_s",
                               since_s(info, step->time_ns), "from", phrase_side(step->side), "kind",
                               step->is_handshake ? "handshake" : "message", "name", ue_login_step_name(step), "count",
                               info_count(step->count));
    if (step->text[0] != '\0') {
        json_object_set_new(object, "text", json_string(step->text));
    }
    if (step->answer_ns >= 0) {
        json_object_set_new(object, "after_ms", real(phrase_milliseconds(step->answer_ns)));
    }
    if (step->epoch != 0) {
        json_object_set_new(object, "restarts", info_count(step->epoch));
    }
    return object;
}

static json_t *login_array(const struct info_connection *info) {
    json_t *array = json_array();
    size_t steps;
    const struct ue_login_step *login = ue_findings_login(info->detected, &steps);
    for (size_t i = 0; i < steps; i++) {
        json_array_append_new(array, step_object(info, &login[i]));
    }
    return array;
}

/* ---- channels ---- */

static json_t *channel_object(const struct info_connection *info, const struct info_channel *channel) {
    const struct info_channel_traffic *flows = channel->flows;
    bool is_rest = channel->index == UINT32_MAX;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "channel",
                     is_rest ? json_null() : info_count(channel->index), "name", text_or_null(channel->name), "actor",
                     text_or_null(channel->actor), "opens", info_count(channel->opens), "opened",
                     moment(info, channel->opened_frame, channel->opened_ns), "closes", info_count(channel->closes),
                     "closed", moment(info, channel->closed_frame, channel->closed_ns), "close_reason",
                     text_or_null(info_channel_close_reason(channel)), "bunches",
                     counts(flows[0].bunches, flows[1].bunches), "bits", counts(flows[0].bits, flows[1].bits),
                     "reliable", counts(flows[0].reliable, flows[1].reliable), "resends",
                     counts(flows[0].resends, flows[1].resends));
}

static json_t *channels_array(const struct info_connection *info) {
    json_t *array = json_array();
    g_autoptr(GPtrArray) sorted = info_channels_sorted(&info->channels, INFO_CHANNELS_BY_INDEX);
    for (guint i = 0; i < sorted->len; i++) {
        json_array_append_new(array, channel_object(info, g_ptr_array_index(sorted, i)));
    }
    return array;
}

/* ---- findings ---- */

/* The text of a value that is an index. */
static const char *value_name(const struct ue_finding *finding, enum ue_finding_value_id id) {
    int64_t value = finding->values[id].at_least;
    switch (id) {
    case UE_VALUE_FIELD: return ue_field_row((enum ue_field)value)->name;
    case UE_VALUE_STATUS: return ue_status_text((enum ue_status)value);
    default: return NULL;
    }
}

static json_t *finding_number(int64_t value, double unit_ns) {
    return unit_ns > 0 ? real((double)value / unit_ns) : json_integer(value);
}

/* Values by the keys of JSON, and how they are written: as a number in a unit, or as a text. A number that is a lower
   bound has a second key. TYPE is left out, because the sentence alone shows whether it is one of the handshake. */
static const struct {
    enum ue_finding_value_id id;
    const char *key;
    double unit_ns;       /* 0: a number without unit */
    const char *most_key; /* NULL: always exact */
} written_values[] = {
    {UE_VALUE_COUNT, "count", 0, "count_at_most"},
    {UE_VALUE_OF, "of", 0, NULL},
    {UE_VALUE_OTHERS, "others", 0, "others_at_most"},
    {UE_VALUE_OTHERS_OF, "others_of", 0, NULL},
    {UE_VALUE_SPAN, "duration_ms", UE_NS_PER_MS, "duration_at_most_ms"},
    {UE_VALUE_LEAST, "least_ms", UE_NS_PER_MS, NULL},
    {UE_VALUE_CHANNEL, "channel", 0, NULL},
    {UE_VALUE_FIRST_SEQ, "first_ch_seq", 0, NULL},
    {UE_VALUE_LAST_SEQ, "last_ch_seq", 0, NULL},
    {UE_VALUE_FIRST_ID, "first_packet_id", 0, NULL},
    {UE_VALUE_LAST_ID, "last_packet_id", 0, NULL},
    {UE_VALUE_CLIENT_ID, "client_id", 0, NULL},
    {UE_VALUE_HANDSHAKE_CLIENT_ID, "handshake_client_id", 0, NULL},
    {UE_VALUE_BYTES, "bytes", 0, NULL},
    {UE_VALUE_FIELD, "field", 0, NULL},
    {UE_VALUE_BIT, "bit", 0, NULL},
    {UE_VALUE_STATUS, "status", 0, NULL},
    {UE_VALUE_MAYBE_REFUSED, "maybe_refused", 0, NULL},
};

static void add_values(json_t *object, const struct ue_finding *finding) {
    for (size_t i = 0; i < G_N_ELEMENTS(written_values); i++) {
        if (ue_finding_has_value(finding->id, written_values[i].id)) {
            const struct ue_finding_value *value = &finding->values[written_values[i].id];
            const char *name = value_name(finding, written_values[i].id);
            bool is_unknown = written_values[i].id == UE_VALUE_SPAN    ? !ue_finding_is_span_known(finding)
                              : written_values[i].id == UE_VALUE_LEAST ? value->at_most < 0
                                                                       : false;
            json_object_set_new(object, written_values[i].key,
                                is_unknown     ? json_null()
                                : name != NULL ? json_string(name)
                                               : finding_number(value->at_least, written_values[i].unit_ns));
            if (written_values[i].most_key != NULL && value->at_most > value->at_least) {
                json_object_set_new(object, written_values[i].most_key,
                                    value->at_most == INT64_MAX
                                        ? json_null()
                                        : finding_number(value->at_most, written_values[i].unit_ns));
            }
        }
    }
}

/* The actor of a channel index that several actors used is not known. */
static const char *actor_of(const struct info_connection *info, const struct ue_finding *finding) {
    const struct info_channel *channel =
        info_channels_find(&info->channels, (uint32_t)finding->values[UE_VALUE_CHANNEL].at_least);
    bool is_known = ue_finding_has_value(finding->id, UE_VALUE_CHANNEL) && channel != NULL && channel->opens <= 1;
    return is_known ? channel->actor : NULL;
}

static json_t *finding_object(const struct info_connection *info, const struct info_finding *finding) {
    const struct ue_finding detected = info_finding_detected(finding);
    g_autofree char *sentence = info_detected_sentence(&detected);
    json_t *frames = json_array();
    for (unsigned i = 0; i < detected.frame_count; i++) {
        json_array_append_new(frames, info_count(detected.frames[i]));
    }
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:o}", "kind", ue_finding_rows[detected.id].name, "severity",
                  ue_severity_name(ue_finding_rows[detected.id].severity), "text", sentence, "frames", frames);
    if (detected.has_time) {
        char time[24];
        g_snprintf(time, sizeof time, "%" PRId64, detected.time_ns);
        json_object_set_new(object, "time", json_string(time));
        json_object_set_new(object, "time_s", since_s(info, detected.time_ns));
    }
    if (ue_finding_has_side(detected.id)) {
        json_object_set_new(object, "direction", json_string(phrase_direction_key(detected.side)));
    }
    add_values(object, &detected);
    if (info->is_compared) {
        json_object_set_new(
            object, "in_both_captures",
            finding->match == INFO_NOT_COMPARED ? json_null() : json_boolean(finding->match == INFO_IN_BOTH_CAPTURES));
    }
    const char *actor = actor_of(info, &detected);
    if (actor != NULL) {
        json_object_set_new(object, "actor", json_string(actor));
    }
    return object;
}

static void add_findings(json_t *object, const struct info_connection *info) {
    json_t *array = json_array(), *more = json_object();
    g_autoptr(GPtrArray) sorted = info_findings_sorted(&info->findings);
    for (guint i = 0; i < sorted->len; i++) {
        json_array_append_new(array, finding_object(info, g_ptr_array_index(sorted, i)));
    }
    for (int kind = 0; kind < UE_FINDING_COUNT; kind++) {
        uint64_t left = info_findings_more(&info->findings, (enum ue_finding_id)kind);
        if (left != 0) {
            json_object_set_new(more, ue_finding_rows[kind].name, info_count(left));
        }
    }
    json_object_set_new(object, "findings", array);
    json_object_set_new(object, "findings_more", more);
}

/* ---- voice ---- */

/* Only of connections with voice. */
static void add_talkers(json_t *object, const struct info_connection *info) {
    const GArray *rows = info->talkers.rows;
    json_t *array = rows != NULL ? json_array() : NULL;
    for (guint i = 0; rows != NULL && i < rows->len; i++) {
        const struct info_talker *talker = &g_array_index(rows, struct info_talker, i);
        json_array_append_new(
            array, json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "sender", json_string(talker->counts.sender),
                             "from", phrase_side(talker->side), "packets", info_count(talker->counts.packets), "bytes",
                             info_count(talker->counts.bytes), "spurts", info_count(talker->counts.spurts), "talked_s",
                             info->course->implausible != 0 ? json_null()
                                                            : json_real(phrase_seconds(talker->counts.talked_ns)),
                             "first", moment(info, talker->first_frame, talker->first_ns)));
    }
    if (array != NULL) {
        json_object_set_new(object, "talkers", array);
        json_object_set_new(object, "talkers_more", info_count(info->talkers.more));
    }
}

/* ---- bits ---- */

static json_t *cost_object(const struct info_cost *cost) {
    json_t *array = json_array();
    GArray *parts = info_cost_parts(cost);
    for (guint i = 0; i < parts->len; i++) {
        const struct info_cost_part *part = &g_array_index(parts, struct info_cost_part, i);
        json_array_append_new(array, json_pack("{s:s, s:s, s:o, s:o}", "group", part->group, "name", part->name, "c2s",
                                               info_count(part->bits[0]), "s2c", info_count(part->bits[1])));
    }
    g_array_unref(parts);
    return json_pack("{s:o, s:o, s:o}", "total", counts(cost->total[0], cost->total[1]), "ip_udp",
                     counts(cost->overhead[0], cost->overhead[1]), "parts", array);
}

/* ---- the connection ---- */

static json_t *close_object(const struct info_connection *info) {
    if (!info->course->is_closed) {
        return json_null();
    }
    return json_pack("{s:s, s:o, s:o, s:o}", "by", phrase_side(info->course->closed_by), "frame",
                     info_count(info->course->closed_frame), "time_s", since_s(info, info->course->closed_ns), "reason",
                     text_or_null(ue_findings_close_text(info->detected)));
}

static json_t *heading_object(const struct info_connection *info) {
    char start[24];
    g_snprintf(start, sizeof start, "%" PRId64, info->course->first_ns);
    return json_pack("{s:i, s:o, s:s, s:s, s:b, s:o, s:s?, s:s, s:s, s:s?, s:o, s:{s:o, s:o}}", "schema",
                     PRINT_JSON_SCHEMA, "stream", info_count(info->stream), "client", info->sides[0].address, "server",
                     info->sides[1].address, "server_known", info->is_server_known, "client_before",
                     text_or_null(info->former), "interface", info->interface, "generation", info->generation,
                     "generation_reason", info->reason, "start", info->course->implausible != 0 ? NULL : start,
                     "duration_s", since_s(info, info->course->last_ns), "frames", "first",
                     info_count(info->first_frame), "last", info_count(info->last_frame));
}

static void add_beacon(json_t *object, const struct info_connection *info) {
    struct info_beacon beacon;
    if (!info_connection_beacon(info, &beacon)) {
        return;
    }
    json_t *joined = beacon.joined != NULL ? moment(info, beacon.joined->frame, beacon.joined->time_ns) : json_null();
    json_object_set_new(object, "beacon", json_pack("{s:o, s:o}", "type", text_or_null(beacon.type), "joined", joined));
}

json_t *info_to_json(const struct info_connection *info) {
    json_t *object = heading_object(info);
    add_traffic(object, info);
    add_times(object, info);
    add_pace(object, info);
    json_object_set_new(object, "waits", waits_array(info));
    if (info->course->is_replay) {
        json_object_set_new(object, "internal_ack", json_true());
    }
    add_beacon(object, info);
    json_object_set_new(object, "story", login_array(info));
    json_object_set_new(object, "channels", channels_array(info));
    add_talkers(object, info);
    json_object_set_new(object, "closed_by", json_string(info_end_name(info_connection_end(info))));
    json_object_set_new(object, "close", close_object(info));
    add_findings(object, info);
    if (info->cost != NULL) {
        json_object_set_new(object, "bits", cost_object(info->cost));
    }
    if (info->both_ends != NULL) {
        json_object_set_new(object, "both_ends", info_both_ends_to_json(info));
    }
    if (info->other_end != NULL) {
        json_object_set_new(object, "other_end", info_to_json(info->other_end));
    }
    if (info->bandwidth != NULL && info->options->bandwidth.budgets.limits != NULL) {
        json_object_set_new(object, "budget", info_budget_to_json(info));
    }
    if (info->bandwidth != NULL && !info->options->bandwidth.is_apart) {
        json_object_set_new(object, "bandwidth",
                            info_bandwidth_to_json(info->bandwidth, &info->options->bandwidth, info->detected));
    }
    return object;
}
