/* SPDX-License-Identifier: MIT */
#include "tools/live/live_game.h"

#include <glib.h>

#include "tools/cli/command_line.h"
#include "tools/sim/game.h"
#include "tools/sim/message_payload.h"
#include "tools/sim/voice_packet.h"

/* an unreliable message begins with its number (message_payload.h) */
#define NUMBER_BITS 32

/* The voice channel of one side. The server opens it; each side's talkers talk in spurts, and what the other side's
   talkers said is compared with the scenario. */
struct voice_channel {
    const struct sim_scenario *scenario;
    enum ue_role role;
    struct ue_conn *conn;
    bool is_open;
    uint64_t ticks;
    uint64_t number; /* of the next packet */
    uint64_t sent, received, wrong;
    uint64_t left_out; /* while the connection exceeds its bandwidth */
    uint8_t *value;    /* room for the largest value */
    uint8_t *packet;   /* and for its packet */
};

struct live_game {
    const struct sim_scenario *scenario;
    struct sim_game *actors;
    struct voice_channel voice;
};

/* ---- voice ---- */

static void voice_init(struct voice_channel *voice, const struct sim_scenario *scenario, enum ue_role role,
                       struct ue_conn *conn) {
    *voice = (struct voice_channel){.scenario = scenario, .role = role, .conn = conn};
    voice->value = g_malloc(SIM_STREAM_VOICE_BITS_MAX / 8);
    voice->packet = g_malloc((SIM_STREAM_VOICE_BITS_MAX + SIM_VOICE_FRONT_BITS) / 8);
}

static void voice_clear(struct voice_channel *voice) {
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

/* is_quiet: nobody talks. */
static void voice_tick(struct voice_channel *voice, uint64_t now_ns, bool is_quiet) {
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

/* False: a bunch of the voice channel is not the scenario's. */
static bool voice_event(struct voice_channel *voice, const struct ue_event *event) {
    if (event->channel != SIM_SCENARIO_CHANNEL_VOICE) {
        return true;
    }
    voice->is_open |= event->type == UE_EVENT_CHANNEL_OPENED && event->kind == UE_KIND_VOICE;
    return event->type != UE_EVENT_BUNCH || event->kind != UE_KIND_VOICE || listen(voice, event);
}

/* ---- the game ---- */

/* A replay is recorded into a file, and has no peer. */
static bool is_playable(const struct sim_scenario *scenario) {
    return scenario->game && scenario->driver != UE_DRIVER_DEMO;
}

static char *playable_names(void) {
    GString *names = g_string_new(NULL);
    const struct sim_scenario *scenario;
    for (size_t i = 0; (scenario = sim_scenario_at(i)) != NULL; i++) {
        if (is_playable(scenario)) {
            g_string_append_printf(names, "%s%s", names->len != 0 ? ", " : "", scenario->name);
        }
    }
    return g_string_free(names, FALSE);
}

const struct sim_scenario *live_game_find(const char *name) {
    const struct sim_scenario *scenario = sim_scenario_find(name);
    if (scenario != NULL && is_playable(scenario)) {
        return scenario;
    }
    g_autofree char *names = playable_names();
    cli_error("--scenario=%s: %s; use one of %s", name,
              scenario == NULL                     ? "no such scenario"
              : scenario->driver == UE_DRIVER_DEMO ? "a replay is recorded into a file, not played with a peer"
                                                   : "its messages are for measurements of the simulator, not a game",
              names);
    return NULL;
}

struct live_game *live_game_new(const struct sim_scenario *scenario, enum ue_role role, struct ue_conn *conn) {
    const struct sim_game_config config = sim_scenario_game(scenario, role);
    struct sim_game *actors = sim_game_new(conn, &config, NULL, NULL);
    if (actors == NULL) {
        return NULL;
    }
    struct live_game *game = g_new0(struct live_game, 1);
    game->scenario = scenario;
    game->actors = actors;
    voice_init(&game->voice, scenario, role, conn);
    return game;
}

void live_game_free(struct live_game *game) {
    if (game != NULL) {
        sim_game_free(game->actors);
        voice_clear(&game->voice);
        g_free(game);
    }
}

const char *live_game_event(struct live_game *game, uint64_t now_ns, const struct ue_event *event) {
    const char *problem = sim_game_event(game->actors, now_ns, event);
    return voice_event(&game->voice, event) || problem != NULL ? problem : "not the voice of the scenario";
}

void live_game_tick(struct live_game *game, uint64_t now_ns, bool is_quiet) {
    voice_tick(&game->voice, now_ns, is_quiet);
    sim_game_tick(game->actors, now_ns, is_quiet);
}

static uint64_t received(const struct live_game *game, const struct sim_game_counts *counts) {
    return counts->calls_received[0] + counts->calls_received[1] + counts->values_received + game->voice.received;
}

bool live_game_has_received(const struct live_game *game) {
    const struct sim_game_counts counts = sim_game_counts(game->actors);
    return received(game, &counts) != 0;
}

json_t *live_game_result(const struct sim_scenario *scenario, const struct live_game *game) {
    static const struct live_game none;
    struct sim_game_counts counts = {0};
    if (game != NULL) {
        counts = sim_game_counts(game->actors);
    } else {
        game = &none;
    }
    uint64_t sent = counts.calls_sent[0] + counts.calls_sent[1] + counts.values_sent + game->voice.sent;
    uint64_t wrong = counts.faults + game->voice.wrong;
    return json_pack("{s:s, s:I, s:I, s:I, s:I}", "scenario", scenario->name, "sent", (json_int_t)sent, "received",
                     (json_int_t)received(game, &counts), "wrong", (json_int_t)wrong, "left_out",
                     (json_int_t)game->voice.left_out);
}
