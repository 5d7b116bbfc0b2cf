/* SPDX-License-Identifier: MIT */
#include "tools/live/scenario_traffic.h"

#include "tools/sim/message_payload.h"

/* Unreliable messages begin with their number (payload.h). */
#define UNRELIABLE_NUMBER_BITS 32

/* Of the messages of one channel. */
struct numbers {
    uint64_t sent[2];  /* by reliability */
    uint64_t received; /* reliable ones */
};

struct ue_streams {
    const struct ue_scenario *scenario;
    enum ue_role role;
    uint64_t ticks;
    uint64_t begun[UE_SCENARIO_STREAMS_MAX]; /* messages of each stream so far */
    uint64_t sent, received, wrong, left_out;
    uint32_t channel_count;
    struct numbers *numbers; /* by channel, from UE_SCENARIO_CHANNEL_FIRST */
    uint8_t *payload;        /* room for the largest */
};

/* Voice has a channel of its own, which programs that play scenarios do not open. */
static bool is_played(const struct ue_stream *stream) {
    return stream->every_ticks != 0 && !stream->is_voice;
}

uint32_t ue_streams_channels(const struct ue_scenario *scenario) {
    uint32_t end = UE_SCENARIO_CHANNEL_FIRST + 1;
    for (size_t i = 0; i < UE_SCENARIO_STREAMS_MAX; i++) {
        const struct ue_stream *stream = &scenario->streams[i];
        if (!is_played(stream)) {
            continue;
        }
        uint32_t last = stream->channel + (stream->channels != 0 ? stream->channels : 1);
        end = last > end ? last : end;
    }
    return end - UE_SCENARIO_CHANNEL_FIRST;
}

struct ue_streams *ue_streams_new(const struct ue_scenario *scenario, enum ue_role role) {
    struct ue_streams *streams = g_new0(struct ue_streams, 1);
    streams->scenario = scenario;
    streams->role = role;
    streams->channel_count = ue_streams_channels(scenario);
    streams->numbers = g_new0(struct numbers, streams->channel_count);
    streams->payload = g_malloc(UE_STREAM_BITS_MAX / 8);
    return streams;
}

void ue_streams_free(struct ue_streams *streams) {
    if (streams != NULL) {
        g_free(streams->numbers);
        g_free(streams->payload);
        g_free(streams);
    }
}

/* ---- sending ---- */

static uint32_t fill(struct ue_streams *streams, const struct ue_stream *stream, enum ue_role from, uint32_t channel,
                     uint64_t number) {
    const struct ue_payload payload = {streams->scenario->seed, from, channel, stream->reliable, number};
    uint32_t bits = ue_payload_bits(&payload, stream);
    ue_payload_fill(&payload, bits, streams->payload);
    return bits;
}

static void send_one(struct ue_streams *streams, struct ue_backlog *backlog, size_t i) {
    const struct ue_stream *stream = &streams->scenario->streams[i];
    uint32_t channel = stream->channel + (uint32_t)(stream->channels != 0 ? streams->begun[i] % stream->channels : 0);
    struct numbers *numbers = &streams->numbers[channel - UE_SCENARIO_CHANNEL_FIRST];
    uint64_t number = numbers->sent[stream->reliable];
    uint32_t bits = fill(streams, stream, streams->role, channel, number);
    bool may = stream->reliable || ue_conn_is_ready(backlog->conn);
    if (!may || !ue_backlog_put(backlog, channel, stream->reliable, (struct ue_view){streams->payload, 0, bits})) {
        streams->left_out++;
        return;
    }
    numbers->sent[stream->reliable]++;
    streams->begun[i]++;
    streams->sent++;
}

void ue_streams_work(struct ue_streams *streams, struct ue_backlog *backlog, uint32_t channel_count) {
    if (channel_count < streams->channel_count) {
        return; /* not all channels are open */
    }
    for (size_t i = 0; i < UE_SCENARIO_STREAMS_MAX; i++) {
        const struct ue_stream *stream = &streams->scenario->streams[i];
        bool due = stream->from == streams->role && is_played(stream) && streams->ticks % stream->every_ticks == 0;
        uint32_t burst = stream->burst != 0 ? stream->burst : 1;
        for (uint32_t k = 0; due && k < burst && (stream->total == 0 || streams->begun[i] < stream->total); k++) {
            send_one(streams, backlog, i);
        }
    }
    streams->ticks++;
}

/* ---- receiving ---- */

/* A large message that was meant to be unreliable may travel reliably (endpoint.md 19.2). */
static const struct ue_stream *stream_of(const struct ue_streams *streams, enum ue_role from,
                                         const struct ue_event *bunch) {
    const struct ue_stream *stream = ue_scenario_stream(streams->scenario, from, bunch->channel, bunch->reliable);
    return stream != NULL ? stream : ue_scenario_stream(streams->scenario, from, bunch->channel, false);
}

static bool is_expected(struct ue_streams *streams, const struct ue_event *bunch) {
    enum ue_role from = streams->role == UE_ROLE_SERVER ? UE_ROLE_CLIENT : UE_ROLE_SERVER;
    const struct ue_stream *stream = stream_of(streams, from, bunch);
    uint32_t place = bunch->channel - UE_SCENARIO_CHANNEL_FIRST;
    if (stream == NULL || place >= streams->channel_count || bunch->data.bits < stream->min_bits) {
        return false;
    }
    uint64_t number =
        stream->reliable ? streams->numbers[place].received++ : ue_view_load(bunch->data, 0, UNRELIABLE_NUMBER_BITS);
    uint32_t bits = fill(streams, stream, from, bunch->channel, number);
    return ue_view_equal(bunch->data, (struct ue_view){streams->payload, 0, bits});
}

bool ue_streams_take(struct ue_streams *streams, const struct ue_event *bunch) {
    bool good = is_expected(streams, bunch);
    streams->received++;
    streams->wrong += !good;
    return good;
}

json_t *ue_streams_result(const struct ue_streams *streams) {
    return json_pack("{s:s, s:I, s:I, s:I, s:I}", "scenario", streams->scenario->name, "sent",
                     (json_int_t)streams->sent, "received", (json_int_t)streams->received, "wrong",
                     (json_int_t)streams->wrong, "left_out", (json_int_t)streams->left_out);
}

char *ue_streams_names(void) {
    GString *names = g_string_new(NULL);
    const struct ue_scenario *scenario;
    for (size_t i = 0; (scenario = ue_scenario_at(i)) != NULL; i++) {
        g_string_append_printf(names, "%s%s", i != 0 ? ", " : "", scenario->name);
    }
    return g_string_free(names, FALSE);
}
