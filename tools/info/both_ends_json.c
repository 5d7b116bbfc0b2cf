/* SPDX-License-Identifier: MIT */
#include "tools/info/both_ends_report.h"

#include "tools/info/json_values.h"
#include <uerudp/time_ns.h>

#define PPM 1e6

static json_t *milliseconds(double span_ns) {
    return json_real(span_ns / UE_NS_PER_MS);
}

static json_t *id_or_null(int64_t packet_id) {
    return packet_id < 0 ? json_null() : json_integer(packet_id);
}

static json_t *delays(const struct one_way *way) {
    if (way->delays_ns->len == 0) {
        return json_null();
    }
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o}", "p50", milliseconds((double)one_way_delay_ns(way, 50)), "p90",
        milliseconds((double)one_way_delay_ns(way, 90)), "p99", milliseconds((double)one_way_delay_ns(way, 99)), "min",
        milliseconds((double)one_way_delay_ns(way, 0)), "max", milliseconds((double)one_way_delay_ns(way, 100)));
}

static json_t *losses(const struct info_connection *info, const struct one_way *way) {
    json_t *array = json_array();
    for (guint i = 0; i < way->losses->len; i++) {
        const struct one_way_loss *loss = &g_array_index(way->losses, struct one_way_loss, i);
        bool is_known = info->course->implausible == 0 && !loss->is_own_clock;
        json_array_append_new(
            array,
            json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "count", info_count(loss->count), "first_frame",
                      info_count(loss->first_frame), "last_frame", info_count(loss->last_frame), "first_packet_id",
                      id_or_null(loss->first_id), "last_packet_id", id_or_null(loss->last_id), "time_s",
                      is_known ? json_real(phrase_seconds(loss->time_ns - info->course->first_ns)) : json_null()));
    }
    return array;
}

static json_t *way_object(const struct info_connection *info, unsigned role) {
    const struct one_way *way = &info->both_ends->ways[role];
    const struct one_way_counts *counts = &way->counts;
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "sent", info_count(counts->sent),
                  "sent_bytes", info_count(counts->sent_bytes), "arrived", info_count(counts->arrived), "arrived_bytes",
                  info_count(counts->arrived_bytes), "lost", info_count(counts->lost), "changed",
                  info_count(counts->changed), "only_acknowledged", info_count(counts->not_captured), "not_accepted",
                  info_count(counts->dropped), "not_accepted_late", info_count(counts->dropped_late), "arrived_again",
                  info_count(counts->copies), "not_seen_leaving", info_count(counts->unsent), "not_comparable",
                  info_count(counts->outside), "out_of_order", info_count(counts->reordered));
    json_object_set_new(object, "out_of_order_by_ms",
                        counts->reordered != 0 ? milliseconds((double)way->reordered_by_ns) : json_null());
    json_object_set_new(object, "delay_ms", delays(way));
    json_object_set_new(object, "jitter_ms", counts->arrived > 1 ? milliseconds(way->jitter_ns) : json_null());
    json_object_set_new(object, "losses", losses(info, way));
    return object;
}

static json_t *drift_bound(const struct clock_fit *fit, double drift) {
    return clock_fit_bounds_drift(fit) ? json_real(drift * PPM) : json_null();
}

static json_t *clock_object(const struct clock_fit *fit) {
    if (fit->result != CLOCK_FIT_KNOWN) {
        return json_null();
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "offset_ms", milliseconds((double)fit->offset_ns), "offset_bound_ms",
                     milliseconds((double)fit->bound_ns), "drift_ppm",
                     fit->has_drift ? json_real(fit->drift * PPM) : json_null(), "least_drift_ppm",
                     drift_bound(fit, fit->least_drift), "most_drift_ppm", drift_bound(fit, fit->most_drift));
}

json_t *info_both_ends_to_json(const struct info_connection *info) {
    const struct both_ends_connection *connection = info->both_ends;
    json_t *captures = json_pack("[s, s]", info->ends->captures[0]->name, info->ends->captures[1]->name);
    json_t *object = json_pack("{s:o, s:o, s:o}", "captures", captures, "client_end",
                               connection->has_ends ? json_integer(connection->client_end) : json_null(), "clock",
                               connection->has_ends ? clock_object(&connection->fit) : json_null());
    for (unsigned role = 0; role < 2; role++) {
        json_object_set_new(object, phrase_direction_key(role),
                            connection->has_ends ? way_object(info, role) : json_null());
    }
    return object;
}
