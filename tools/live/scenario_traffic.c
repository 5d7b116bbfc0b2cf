/* SPDX-License-Identifier: MIT */
#include "tools/live/scenario_traffic.h"

#include "tools/sim/message_payload.h"

/* an unreliable message begins with its number (message_payload.h) */
#define UNRELIABLE_NUMBER_BITS 32

/* The messages of one channel. */
struct numbers {
    uint64_t sent[2];  /* [reliable] */
    uint64_t received; /* reliable messages */
};

struct scenario_traffic {
    const struct sim_scenario *scenario;
    enum ue_role role;
    uint64_t ticks;
    uint64_t sent_count[SIM_SCENARIO_STREAMS_MAX]; /* messages of each stream so far */
    uint64_t sent, received, wrong, left_out;
    uint32_t channel_count;
    struct numbers *numbers; /* by channel, from SIM_SCENARIO_CHANNEL_FIRST */
    uint8_t *payload;        /* room for the largest message */
};

/* Voice uses a channel of its own, which live programs do not open. */
static bool is_played(const struct sim_stream *stream) {
    return stream->every_ticks != 0 && !stream->is_voice;
}

uint32_t scenario_traffic_channel_count(const struct sim_scenario *scenario) {
    uint32_t end = SIM_SCENARIO_CHANNEL_FIRST + 1;
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        const struct sim_stream *stream = &scenario->streams[i];
        if (!is_played(stream)) {
            continue;
        }
        uint32_t last = stream->channel + (stream->channels != 0 ? stream->channels : 1);
        end = last > end ? last : end;
    }
    return end - SIM_SCENARIO_CHANNEL_FIRST;
}

struct scenario_traffic *scenario_traffic_new(const struct sim_scenario *scenario, enum ue_role role) {
    struct scenario_traffic *traffic = g_new0(struct scenario_traffic, 1);
    traffic->scenario = scenario;
    traffic->role = role;
    traffic->channel_count = scenario_traffic_channel_count(scenario);
    traffic->numbers = g_new0(struct numbers, traffic->channel_count);
    traffic->payload = g_malloc(SIM_STREAM_BITS_MAX / 8);
    return traffic;
}

void scenario_traffic_free(struct scenario_traffic *traffic) {
    if (traffic != NULL) {
        g_free(traffic->numbers);
        g_free(traffic->payload);
        g_free(traffic);
    }
}

/* ---- sending ---- */

static uint32_t fill(struct scenario_traffic *traffic, const struct sim_stream *stream, enum ue_role from,
                     uint32_t channel, uint64_t number) {
    const struct sim_payload payload = {traffic->scenario->seed, from, channel, stream->reliable, number};
    uint32_t bits = sim_payload_bits(&payload, stream);
    sim_payload_write(&payload, bits, traffic->payload);
    return bits;
}

static void send_one(struct scenario_traffic *traffic, struct send_queue *queue, size_t i) {
    const struct sim_stream *stream = &traffic->scenario->streams[i];
    uint32_t channel =
        stream->channel + (uint32_t)(stream->channels != 0 ? traffic->sent_count[i] % stream->channels : 0);
    struct numbers *numbers = &traffic->numbers[channel - SIM_SCENARIO_CHANNEL_FIRST];
    uint64_t number = numbers->sent[stream->reliable];
    uint32_t bits = fill(traffic, stream, traffic->role, channel, number);
    bool may = stream->reliable || ue_conn_is_ready(queue->conn);
    if (!may || !send_queue_push(queue, channel, stream->reliable, (struct ue_view){traffic->payload, 0, bits})) {
        traffic->left_out++;
        return;
    }
    numbers->sent[stream->reliable]++;
    traffic->sent_count[i]++;
    traffic->sent++;
}

void scenario_traffic_tick(struct scenario_traffic *traffic, struct send_queue *queue, uint32_t channel_count) {
    if (channel_count < traffic->channel_count) {
        return; /* not all channels are open */
    }
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        const struct sim_stream *stream = &traffic->scenario->streams[i];
        bool due = stream->from == traffic->role && is_played(stream) && traffic->ticks % stream->every_ticks == 0;
        uint32_t burst = stream->burst != 0 ? stream->burst : 1;
        for (uint32_t k = 0; due && k < burst && (stream->total == 0 || traffic->sent_count[i] < stream->total); k++) {
            send_one(traffic, queue, i);
        }
    }
    traffic->ticks++;
}

/* ---- receiving ---- */

/* The stream of a message; a large unreliable message may travel reliably (endpoint.md 23). */
static const struct sim_stream *stream_of(const struct scenario_traffic *traffic, enum ue_role from,
                                          const struct ue_event *bunch) {
    const struct sim_stream *stream = sim_scenario_stream(traffic->scenario, from, bunch->channel, bunch->reliable);
    return stream != NULL ? stream : sim_scenario_stream(traffic->scenario, from, bunch->channel, false);
}

static bool is_expected(struct scenario_traffic *traffic, const struct ue_event *bunch) {
    enum ue_role from = traffic->role == UE_ROLE_SERVER ? UE_ROLE_CLIENT : UE_ROLE_SERVER;
    const struct sim_stream *stream = stream_of(traffic, from, bunch);
    uint32_t place = bunch->channel - SIM_SCENARIO_CHANNEL_FIRST;
    if (stream == NULL || place >= traffic->channel_count || bunch->data.bits < stream->min_bits) {
        return false;
    }
    uint64_t number =
        stream->reliable ? traffic->numbers[place].received++ : ue_view_load(bunch->data, 0, UNRELIABLE_NUMBER_BITS);
    uint32_t bits = fill(traffic, stream, from, bunch->channel, number);
    return ue_view_equal(bunch->data, (struct ue_view){traffic->payload, 0, bits});
}

bool scenario_traffic_receive(struct scenario_traffic *traffic, const struct ue_event *bunch) {
    bool good = is_expected(traffic, bunch);
    traffic->received++;
    traffic->wrong += !good;
    return good;
}

static json_t *result_of(const struct sim_scenario *scenario, uint64_t sent, uint64_t received, uint64_t wrong,
                         uint64_t left_out) {
    return json_pack("{s:s, s:I, s:I, s:I, s:I}", "scenario", scenario->name, "sent", (json_int_t)sent, "received",
                     (json_int_t)received, "wrong", (json_int_t)wrong, "left_out", (json_int_t)left_out);
}

json_t *scenario_traffic_result(const struct scenario_traffic *traffic) {
    return result_of(traffic->scenario, traffic->sent, traffic->received, traffic->wrong, traffic->left_out);
}

json_t *scenario_traffic_game_result(const struct sim_scenario *scenario, const struct sim_game *game) {
    struct sim_game_counts counts = {0};
    if (game != NULL) {
        counts = sim_game_counts(game);
    }
    return result_of(scenario, counts.calls_sent[0] + counts.calls_sent[1] + counts.values_sent,
                     counts.calls_received[0] + counts.calls_received[1] + counts.values_received, counts.faults, 0);
}

char *scenario_traffic_scenario_names(void) {
    GString *names = g_string_new(NULL);
    const struct sim_scenario *scenario;
    for (size_t i = 0; (scenario = sim_scenario_at(i)) != NULL; i++) {
        g_string_append_printf(names, "%s%s", i != 0 ? ", " : "", scenario->name);
    }
    return g_string_free(names, FALSE);
}
