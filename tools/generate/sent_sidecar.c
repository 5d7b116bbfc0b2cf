/* SPDX-License-Identifier: MIT */
#include "tools/generate/sent_sidecar.h"

#include <inttypes.h>
#include <jansson.h>

#include "tools/print/json.h"
#include "tools/print/phrase.h"

#define REAL_DIGITS 9

static const char *const points[] = {"client", "server", "sender"};
static const char *const events[SIM_DATAGRAM_EVENT_COUNT] = {
    [SIM_DATAGRAM_LOST] = "lost",           [SIM_DATAGRAM_OVERFLOWED] = "overflowed",
    [SIM_DATAGRAM_CORRUPTED] = "corrupted", [SIM_DATAGRAM_DUPLICATED] = "duplicated",
    [SIM_DATAGRAM_HELD_BACK] = "put_aside", [SIM_DATAGRAM_ARRIVED] = "arrived"};

/* Writes an array element on its own line. */
static void put(FILE *file, bool *more, json_t *element) {
    fputs(*more ? ",\n" : "\n", file);
    json_dumpf(element, file, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
    json_decref(element);
    *more = true;
}

/* As text: some readers cannot hold 64 bits. */
static json_t *time_of(uint64_t time_ns) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, GENERATE_EPOCH_NS + (int64_t)time_ns);
    return json_string(text);
}

static json_t *both(uint64_t c2s, uint64_t s2c) {
    return json_pack("{s:I, s:I}", phrase_direction_key(0), (json_int_t)c2s, phrase_direction_key(1), (json_int_t)s2c);
}

/* ---- connections ---- */

/* Packets may be lost after the capture point, which the capture does not show. */
static json_t *lost(const struct run_log_figures *figures) {
    return figures->missing == 0 && figures->not_acked > 0 ? json_null() : json_integer((json_int_t)figures->missing);
}

static json_t *rtt(const struct run_log *run_log) {
    double p50, p90, p99;
    if (!run_log_rtt_ms(run_log, 50, &p50) || !run_log_rtt_ms(run_log, 90, &p90) ||
        !run_log_rtt_ms(run_log, 99, &p99)) {
        return json_null();
    }
    return json_pack("{s:f, s:f, s:f}", "p50", p50, "p90", p90, "p99", p99);
}

static json_t *address(const struct capture_address *address) {
    char text[CAPTURE_ADDRESS_TEXT_BYTES];
    return json_string(capture_address_format(address, text));
}

/* From the sender's state, for each channel. */
static json_t *reliable_peaks(const struct simulation *sim, enum ue_role side) {
    json_t *array = json_array();
    for (uint32_t channel = 0; channel <= UE_CHANNEL_MAX; channel++) {
        uint32_t bunches = sim_reliable_peak(sim, side, channel);
        if (bunches > 0) {
            json_array_append_new(
                array, json_pack("{s:I, s:I}", "channel", (json_int_t)channel, "bunches", (json_int_t)bunches));
        }
    }
    return array;
}

static json_t *connection_object(const struct generator *generator, uint32_t index) {
    const struct generator_connection *connection = &generator->connections[index];
    const struct run_log *run_log = connection->source.run_log;
    const struct simulation *sim = connection->source.sim;
    struct run_log_figures f[2];
    struct capture_address client, server;
    run_log_compute_figures(run_log, UE_ROLE_CLIENT, &f[0]);
    run_log_compute_figures(run_log, UE_ROLE_SERVER, &f[1]);
    generator_addresses(generator->config.scenario.driver, index, connection->place, &client, &server);
    return json_pack("{s:I, s:o, s:o, s:s, s:o, s:o, s:o, s:{s:o, s:o}, s:o, s:{s:o, s:o}, s:o, s:s}", "stream",
                     (json_int_t)connection->stream, "client", address(&client), "server", address(&server),
                     "generation", sim_scenario_profile(&connection->source.scenario, UE_ROLE_CLIENT)->name, "packets",
                     both(f[0].packets, f[1].packets), "bytes", both(f[0].bytes, f[1].bytes), "not_acked",
                     both(f[0].not_acked, f[1].not_acked), "lost", phrase_direction_key(0), lost(&f[0]),
                     phrase_direction_key(1), lost(&f[1]), "resends", both(f[0].resends, f[1].resends), "reliable_peak",
                     phrase_direction_key(0), reliable_peaks(sim, UE_ROLE_CLIENT), phrase_direction_key(1),
                     reliable_peaks(sim, UE_ROLE_SERVER), "rtt_ms", rtt(run_log), "closed_by",
                     run_log_closed_by(run_log));
}

/* ---- datagrams ---- */

static json_t *events_of(const struct datagram_outcome *outcome) {
    json_t *array = json_array();
    for (enum sim_datagram_event packet_report = SIM_DATAGRAM_LOST; packet_report < SIM_DATAGRAM_EVENT_COUNT;
         packet_report++) {
        if (datagram_outcome_has(outcome, packet_report)) {
            json_array_append_new(array, json_string(events[packet_report]));
        }
    }
    return array;
}

static json_t *arrivals(const struct datagram_outcome *outcome, uint64_t offset_ns) {
    json_t *array = json_array();
    for (uint32_t i = 0; i < outcome->arrived_count; i++) {
        json_array_append_new(array, time_of(outcome->arrived_ns[i] + offset_ns));
    }
    return array;
}

static json_t *number_or_null(bool is_known, uint64_t number) {
    return is_known ? json_integer((json_int_t)number) : json_null();
}

/* Whether its sender learnt that a packet was delivered; null: it did not learn it. */
static json_t *delivered(const struct run_log *run_log, enum ue_role from, int64_t packet_id) {
    bool is_delivered;
    return run_log_is_reported(run_log, from, packet_id, &is_delivered) ? json_boolean(is_delivered) : json_null();
}

static json_t *datagram_object(const struct generator_connection *connection, enum ue_role from,
                               const struct datagram_outcome *outcome) {
    uint64_t offset_ns = connection->source.offset_ns;
    return json_pack("{s:o, s:I, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o}", "frame",
                     number_or_null(outcome->frame != 0, outcome->frame), "stream", (json_int_t)connection->stream,
                     "dir", phrase_direction_key(from), "time", time_of(outcome->sent_ns + offset_ns), "length",
                     (json_int_t)outcome->size_bytes, "packet_id",
                     number_or_null(outcome->packet_id >= 0, (uint64_t)outcome->packet_id), "fate", events_of(outcome),
                     "arrived", arrivals(outcome, offset_ns), "delivered",
                     delivered(connection->source.run_log, from, outcome->packet_id), "queued_bits",
                     outcome->has_queued_bits ? json_integer(outcome->queued_bits) : json_null());
}

/* Datagrams of both directions, in the order in which they left. */
static void put_datagrams(FILE *file, bool *more, const struct generator_connection *connection) {
    const struct datagram_outcome_ring *outcomes = connection->source.outcomes;
    uint64_t next[2] = {0, 0};
    while (next[0] < outcomes[0].next || next[1] < outcomes[1].next) {
        bool from_server = next[0] == outcomes[0].next ||
                           (next[1] < outcomes[1].next && datagram_outcome_ring_at(&outcomes[1], next[1])->sent_ns <
                                                              datagram_outcome_ring_at(&outcomes[0], next[0])->sent_ns);
        enum ue_role from = from_server ? UE_ROLE_SERVER : UE_ROLE_CLIENT;
        put(file, more, datagram_object(connection, from, datagram_outcome_ring_at(&outcomes[from], next[from]++)));
    }
}

/* ---- messages ---- */

static json_t *message_object(const struct generator_connection *connection, const struct run_log_message *message) {
    const struct sim_message *sent = &message->sent;
    uint64_t offset_ns = connection->source.offset_ns;
    json_t *delivered = message->is_delivered ? time_of(message->delivered_ns + offset_ns) : json_null();
    json_t *object = json_pack(
        "{s:I, s:s, s:I, s:b, s:I, s:I, s:o, s:o, s:[I, I]}", "stream", (json_int_t)connection->stream, "from",
        phrase_side(sent->from), "channel", (json_int_t)sent->channel, "reliable", sent->reliable, "number",
        (json_int_t)sent->number, "bits", (json_int_t)sent->bits, "sent", time_of(sent->now_ns + offset_ns),
        "delivered", delivered, "packets", (json_int_t)sent->packets.first, (json_int_t)sent->packets.last);
    if (sent->sender != NULL) {
        json_object_set_new(object, "sender", json_string(sent->sender));
    }
    return object;
}

static void put_messages(FILE *file, bool *more, const struct generator_connection *connection) {
    const GArray *messages = run_log_messages(connection->source.run_log);
    for (guint i = 0; i < messages->len; i++) {
        put(file, more, message_object(connection, &g_array_index(messages, struct run_log_message, i)));
    }
}

/* ---- file ---- */

static void put_head(FILE *file, const struct generator *generator) {
    const struct sim_scenario *scenario = &generator->config.scenario;
    g_autofree char *name = g_strescape(scenario->name, NULL);
    fprintf(file,
            "{\"schema\":%d,\"scenario\":\"%s\",\"seed\":%" PRIu64 ",\"generation\":\"%s\",\"capture_point\":\"%s\",\n",
            PRINT_JSON_SCHEMA, name, scenario->seed, sim_scenario_profile(scenario, UE_ROLE_CLIENT)->name,
            points[generator->config.point]);
}

static void put_game(FILE *file, const struct generator *generator) {
    const struct generator_connection *first = &generator->connections[0];
    bool more = false;
    fputs("\n],\n\"classes\":[", file);
    game_sidecar_write_classes(file, &first->source.contexts[UE_ROLE_SERVER]);
    fputs("\n],\n\"game\":[", file);
    for (uint32_t i = 0; i < generator->config.connections; i++) {
        const struct generator_connection *connection = &generator->connections[i];
        game_sidecar_write(file, &more, connection->source.game_sidecar, connection->stream,
                           connection->source.offset_ns);
    }
}

void sent_sidecar_write(FILE *file, const struct generator *generator) {
    uint32_t count = generator->config.connections;
    bool more = false;
    put_head(file, generator);
    fputs("\"connections\":[", file);
    for (uint32_t i = 0; i < count; i++) {
        put(file, &more, connection_object(generator, i));
    }
    fputs("\n],\n\"datagrams\":[", file);
    more = false;
    for (uint32_t i = 0; i < count; i++) {
        put_datagrams(file, &more, &generator->connections[i]);
    }
    fputs("\n],\n\"messages\":[", file);
    more = false;
    for (uint32_t i = 0; i < count; i++) {
        put_messages(file, &more, &generator->connections[i]);
    }
    if (generator->config.scenario.game) {
        put_game(file, generator);
    }
    fputs("\n]}\n", file);
}
