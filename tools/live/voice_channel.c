/* SPDX-License-Identifier: MIT */
#include "tools/live/voice_channel.h"

#include <glib.h>

#include "tools/sim/message_payload.h"
#include "tools/sim/voice_packet.h"

/* an unreliable message begins with its number (message_payload.h) */
#define NUMBER_BITS 32

void voice_channel_init(struct voice_channel *voice, const struct sim_scenario *scenario, enum ue_role role,
                        struct ue_conn *conn) {
    *voice = (struct voice_channel){.scenario = scenario, .role = role, .conn = conn};
    voice->value = g_malloc(SIM_STREAM_VOICE_BITS_MAX / 8);
    voice->packet = g_malloc((SIM_STREAM_VOICE_BITS_MAX + SIM_VOICE_FRONT_BITS) / 8);
}

void voice_channel_clear(struct voice_channel *voice) {
    g_free(voice->value);
    g_free(voice->packet);
}

/* Writes what a side says; the first packet of the server opens the channel, and is no part of a stream. */
static struct ue_view write_value(struct voice_channel *voice, enum ue_role from, const struct sim_stream *stream,
                                  uint64_t number) {
    const struct sim_payload payload = {voice->scenario->seed, from, SIM_SCENARIO_CHANNEL_VOICE, stream == NULL,
                                        number};
    uint32_t bits = stream != NULL ? sim_payload_bits(&payload, stream) : SIM_PAYLOAD_OPEN_BITS;
    sim_payload_write(&payload, bits, voice->value);
    return (struct ue_view){voice->value, 0, bits};
}

/* ---- talking ---- */

static bool say(struct voice_channel *voice, uint64_t now_ns, uint32_t talker, const struct sim_stream *stream) {
    struct sim_bit_writer w = {.bytes = voice->packet};
    sim_voice_write(&w, &ue_conn_context(voice->conn)->profile, talker,
                    write_value(voice, voice->role, stream, voice->number));
    const struct ue_outgoing bunch = {
        .channel = SIM_SCENARIO_CHANNEL_VOICE, .reliable = stream == NULL, .data = {w.bytes, 0, w.bits}};
    bool is_said = ue_conn_send(voice->conn, now_ns, &bunch, NULL) == UE_OK;
    voice->sent += is_said;
    return is_said;
}

static void talk(struct voice_channel *voice, uint64_t now_ns, const struct sim_stream *stream) {
    uint32_t first = sim_scenario_first_talker(voice->scenario, voice->role);
    uint32_t count = stream->talkers != 0 ? stream->talkers : 1;
    for (uint32_t talker = first; talker < first + count; talker++) {
        if (!sim_voice_is_talking(talker, now_ns)) {
            continue;
        }
        if (ue_conn_is_ready(voice->conn) && say(voice, now_ns, talker, stream)) {
            voice->number++;
        } else {
            voice->left_out++;
        }
    }
}

static void open_channel(struct voice_channel *voice, uint64_t now_ns) {
    uint32_t channel;
    voice->is_open = ue_conn_open(voice->conn, UE_KIND_VOICE, SIM_SCENARIO_CHANNEL_VOICE, &channel) == UE_OK &&
                     say(voice, now_ns, sim_scenario_first_talker(voice->scenario, voice->role), NULL);
}

void voice_channel_tick(struct voice_channel *voice, uint64_t now_ns, bool is_quiet) {
    if (is_quiet || !sim_scenario_has_voice(voice->scenario)) {
        return;
    }
    if (voice->role == UE_ROLE_SERVER && !voice->is_open) {
        open_channel(voice, now_ns);
    }
    for (size_t i = 0; voice->is_open && i < SIM_SCENARIO_STREAMS_MAX; i++) {
        const struct sim_stream *stream = &voice->scenario->streams[i];
        if (stream->every_ticks != 0 && stream->from == voice->role && voice->ticks % stream->every_ticks == 0) {
            talk(voice, now_ns, stream);
        }
    }
    voice->ticks++;
}

/* ---- listening ---- */

static bool is_expected(struct voice_channel *voice, struct ue_view value, bool is_first) {
    enum ue_role from = !voice->role;
    const struct sim_stream *stream =
        is_first ? NULL : sim_scenario_stream(voice->scenario, from, SIM_SCENARIO_CHANNEL_VOICE, false);
    if (!is_first && (stream == NULL || value.bits < NUMBER_BITS)) {
        return false;
    }
    uint64_t number = is_first ? 0 : ue_view_load(value, 0, NUMBER_BITS);
    return ue_view_equal(value, write_value(voice, from, stream, number));
}

/* A bunch may have several packets; the first bunch of the channel begins with the one that opens it. */
static bool listen(struct voice_channel *voice, const struct ue_event *bunch) {
    struct ue_view data = bunch->data;
    struct ue_view value;
    bool is_first = bunch->open;
    bool good = true;
    while (good && data.bits > 0) {
        good = sim_voice_read(&data, &ue_conn_context(voice->conn)->profile, &value) &&
               is_expected(voice, value, is_first);
        is_first = false;
        voice->received++;
    }
    voice->wrong += !good;
    return good;
}

bool voice_channel_event(struct voice_channel *voice, const struct ue_event *event) {
    if (event->channel != SIM_SCENARIO_CHANNEL_VOICE) {
        return true;
    }
    voice->is_open |= event->type == UE_EVENT_CHANNEL_OPENED && event->kind == UE_KIND_VOICE;
    return event->type != UE_EVENT_BUNCH || event->kind != UE_KIND_VOICE || listen(voice, event);
}
