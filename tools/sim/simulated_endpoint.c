/* SPDX-License-Identifier: MIT */
#include "tools/sim/simulated_endpoint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/endpoint_traffic.h"
#include "tools/sim/voice_packet.h"

#define NETWORK_VERSION 1000
#define SALT_END 7

static void fill_random(uint8_t *bytes, size_t size, uint64_t seed) {
    struct sim_rng rng = {seed};
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)sim_rng_next(&rng);
    }
}

static void configure(struct sim_endpoint *endpoint) {
    const struct sim_scenario_side *side = &endpoint->scenario->sides[endpoint->role];
    fill_random(endpoint->seed, sizeof endpoint->seed,
                sim_rng_mix(endpoint->scenario->seed, SALT_END + (uint64_t)endpoint->role * 16));
    endpoint->config = (struct ue_conn_config){.profile = sim_scenario_profile(endpoint->scenario, endpoint->role),
                                               .settings = endpoint->scenario->settings,
                                               .role = endpoint->role,
                                               .driver = endpoint->scenario->driver,
                                               .seed = endpoint->seed,
                                               .memory_limit_bytes = SIM_MEMORY_BYTES,
                                               .no_order_cache = side->no_order_cache,
                                               .net_speed = side->net_speed,
                                               .want_frame_time = endpoint->scenario->frame_time,
                                               .compress = endpoint->scenario->compress,
                                               .report_packets = !endpoint->scenario->unchecked,
                                               .timeout_ns = endpoint->scenario->timeout_ns,
                                               .connect_timeout_ns = endpoint->scenario->timeout_ns,
                                               .options = side->options};
    endpoint->config.report_packets |= endpoint->scenario->game;
    endpoint->config.settings.reliable_buffer = side->reliable_buffer;
    if (endpoint->scenario->ending == SIM_ENDING_UPGRADE) {
        endpoint->config.network_version = NETWORK_VERSION + (uint32_t)endpoint->role;
    }
    if (endpoint->scenario->encrypt) {
        sim_scenario_key(endpoint->scenario, endpoint->key);
        endpoint->config.key = endpoint->key;
        if (endpoint->config.settings.handlers[0] == UE_HANDLER_NONE) {
            endpoint->config.settings.handlers[0] = UE_HANDLER_AESGCM;
        }
    }
}

static bool make_conn(struct sim_endpoint *endpoint) {
    struct ue_login_config login = {.map = "/Game/Maps/Sim",
                                    .game = "/Script/Sim.Game",
                                    .player = "Sim",
                                    .beacon_type = SIM_GAME_BEACON_TYPE,
                                    .beacon_guid = SIM_GAME_BEACON_GUID};
    login.unique_id = sim_scenario_has_voice(endpoint->scenario) ? sim_voice_sender(0) : NULL;
    login.decides = endpoint->scenario->ending == SIM_ENDING_FAILURE;
    if (endpoint->scenario->encrypt) {
        sim_scenario_token(endpoint->scenario, endpoint->token);
        login.encryption_token = endpoint->token;
    }
    endpoint->conn = ue_conn_new(NULL, &endpoint->config);
    if (endpoint->conn != NULL && endpoint->has_login) {
        endpoint->login = ue_login_new(endpoint->conn, &login);
    }
    return endpoint->conn != NULL && (endpoint->login != NULL || !endpoint->has_login);
}

/* A server with a handshake creates its connection when the client returns the cookie. */
static bool make_endpoint(struct sim_endpoint *endpoint) {
    if (endpoint->role == UE_ROLE_SERVER && endpoint->scenario->handshake) {
        struct ue_listener_config config = {
            .profile = endpoint->config.profile, .settings = endpoint->config.settings, .seed = endpoint->seed};
        endpoint->listener = ue_listener_new(NULL, &config, 0);
        return endpoint->listener != NULL;
    }
    return make_conn(endpoint);
}

bool sim_endpoint_init(struct sim_endpoint *endpoint, const struct sim_scenario *scenario, enum ue_role role,
                       struct sim_checker *checker) {
    *endpoint = (struct sim_endpoint){.scenario = scenario, .role = role, .checker = checker};
    endpoint->has_login = scenario->login || scenario->encrypt;
    configure(endpoint);
    uint32_t buffer = endpoint->config.settings.reliable_buffer;
    endpoint->buffer_bunches = buffer != 0 ? buffer : endpoint->config.profile->reliable_buffer;
    uint64_t phase = sim_rng_mix(scenario->seed, SALT_END + 32 + (uint64_t)role);
    endpoint->start_ns = phase % sim_scenario_tick_ns(scenario, role);
    endpoint->message = malloc(SIM_STREAM_BITS_MAX / 8);
    endpoint->voice_bytes = malloc((SIM_STREAM_VOICE_BITS_MAX + SIM_VOICE_FRONT_BITS) / 8);
    return endpoint->message != NULL && endpoint->voice_bytes != NULL && make_endpoint(endpoint);
}

void sim_endpoint_free(struct sim_endpoint *endpoint) {
    sim_game_free(endpoint->game);
    ue_login_free(endpoint->login);
    ue_conn_free(endpoint->conn);
    ue_listener_free(endpoint->listener);
    free(endpoint->voice_bytes);
    free(endpoint->message);
}

/* ---- events ---- */

static void hash_event(struct sim_endpoint *endpoint, uint64_t now_ns, const struct ue_event *event) {
    uint64_t what = (uint64_t)event->type << 56 | (uint64_t)event->channel << 24 | (uint64_t)event->delivered << 16 |
                    (uint64_t)event->state << 8 | (uint64_t)event->reason;
    uint64_t numbers = sim_rng_mix((uint64_t)event->packet_id, (uint64_t)event->ch_seq);
    *endpoint->transcript = sim_rng_mix(*endpoint->transcript ^ now_ns, sim_rng_mix(what, numbers + event->data.bits));
}

/* Without a login the client sends one message on the control channel; the server sends data after it. Of a replay
   only the recorder, which is the server, sends. */
static void start_traffic(struct sim_endpoint *endpoint, uint64_t now_ns) {
    bool is_demo = endpoint->scenario->driver == UE_DRIVER_DEMO;
    endpoint->may_send_streams = true;
    ue_conn_admit(endpoint->conn);
    if (endpoint->role == UE_ROLE_CLIENT && !is_demo) {
        sim_endpoint_send_hello(endpoint, now_ns);
    }
}

static void connected(struct sim_endpoint *endpoint, uint64_t now_ns) {
    sim_checker_connect(endpoint->checker, endpoint->role, endpoint->conn);
    if (endpoint->scenario->game && endpoint->game == NULL) {
        const struct sim_game_config config = sim_scenario_game(endpoint->scenario, endpoint->role);
        endpoint->game = sim_game_new(endpoint->conn, &config, endpoint->watch->game, endpoint->watch->user);
        if (endpoint->game == NULL) {
            sim_failure_set(&endpoint->checker->failure, now_ns, "no memory for the game");
        }
    }
    if (!endpoint->has_login && (endpoint->role == UE_ROLE_CLIENT || endpoint->scenario->driver == UE_DRIVER_DEMO)) {
        start_traffic(endpoint, now_ns);
    }
}

static void receive_message(struct sim_endpoint *endpoint, uint64_t now_ns, const struct ue_event *event) {
    delivery_checker_received(&endpoint->checker->delivery, !endpoint->role, now_ns, event, endpoint->watch->delivered,
                              endpoint->watch->user);
}

static void report_mismatch(struct sim_endpoint *endpoint, uint64_t now_ns, const struct ue_event *event,
                            const char *what) {
    sim_failure_set(&endpoint->checker->failure, now_ns, "side %d, channel %" PRIu32 ": %s", (int)endpoint->role,
                    event->channel, what);
}

static void receive_voice(struct sim_endpoint *endpoint, uint64_t now_ns, const struct ue_event *event) {
    struct ue_event message = *event;
    struct ue_view data = event->data;
    while (data.bits > 0) {
        if (!sim_voice_read(&data, endpoint->config.profile, &message.data)) {
            report_mismatch(endpoint, now_ns, event, "not a voice packet");
            return;
        }
        receive_message(endpoint, now_ns, &message);
        message.open = false;
    }
}

static void receive_bunch(struct sim_endpoint *endpoint, uint64_t now_ns, const struct ue_event *event) {
    if (event->channel != 0 && sim_endpoint_is_checked(endpoint)) {
        if (sim_scenario_is_voice_channel(endpoint->scenario, event->channel)) {
            receive_voice(endpoint, now_ns, event);
        } else if (endpoint->game == NULL) {
            receive_message(endpoint, now_ns, event);
        }
    } else if (event->channel == 0 && endpoint->role == UE_ROLE_SERVER && !endpoint->has_login &&
               !endpoint->may_send_streams) {
        start_traffic(endpoint, now_ns);
    }
}

static void set_channel(struct sim_endpoint *endpoint, uint32_t channel, enum sim_channel_state state) {
    if (channel < SIM_SCENARIO_CHANNELS_MAX) {
        endpoint->channels[channel] = (uint8_t)state;
        endpoint->has_opened &= state != SIM_CHANNEL_FREE;
    }
}

static void handle_state(struct sim_endpoint *endpoint, uint64_t now_ns, const struct ue_event *event) {
    if (event->state == UE_CONN_PENDING && endpoint->role == UE_ROLE_CLIENT && !endpoint->may_send_streams) {
        connected(endpoint, now_ns);
    } else if (event->state == UE_CONN_CLOSED && endpoint->watch->closed != NULL) {
        endpoint->watch->closed(endpoint->watch->user, endpoint->role, event->reason);
    }
}

static void handle_packet(struct sim_endpoint *endpoint, uint64_t now_ns, const struct ue_event *event) {
    if (!endpoint->scenario->unchecked) {
        sim_checker_ack(endpoint->checker, endpoint->role, now_ns, event);
    }
    if (endpoint->watch->reported != NULL) {
        endpoint->watch->reported(endpoint->watch->user, endpoint->role, event->packet_id, event->delivered);
    }
}

/* Damaged and encrypted datagrams cause faults that an endpoint must survive; so does the end of a connection. */
static void handle_fault(struct sim_endpoint *endpoint, uint64_t now_ns, const struct ue_event *event) {
    const struct sim_scenario *scenario = endpoint->scenario;
    if (!scenario->hostile && !scenario->encrypt && scenario->ending == SIM_ENDING_QUIET) {
        sim_failure_set(&endpoint->checker->failure, now_ns, "side %d received a fault: %s, %s", (int)endpoint->role,
                        ue_status_text(event->fault.status), ue_close_reason_name(event->reason));
    }
}

static void pass_to_game(struct sim_endpoint *endpoint, uint64_t now_ns, const struct ue_event *event) {
    const char *problem = sim_game_event(endpoint->game, now_ns, event);
    if (problem != NULL && sim_endpoint_is_checked(endpoint)) {
        sim_failure_set(&endpoint->checker->failure, now_ns, "side %d: %s", (int)endpoint->role, problem);
    }
}

static void handle_event(struct sim_endpoint *endpoint, uint64_t now_ns, const struct ue_event *event) {
    if (endpoint->game != NULL) {
        pass_to_game(endpoint, now_ns, event);
    }
    if (!endpoint->scenario->unchecked) {
        hash_event(endpoint, now_ns, event);
    }
    switch (event->type) {
    case UE_EVENT_STATE: handle_state(endpoint, now_ns, event); break;
    case UE_EVENT_CHANNEL_OPENED: set_channel(endpoint, event->channel, SIM_CHANNEL_OPEN); break;
    case UE_EVENT_CHANNEL_CLOSED: set_channel(endpoint, event->channel, SIM_CHANNEL_FREE); break;
    case UE_EVENT_BUNCH: receive_bunch(endpoint, now_ns, event); break;
    case UE_EVENT_PACKET: handle_packet(endpoint, now_ns, event); break;
    case UE_EVENT_EXPORTS: break; /* of the game */
    case UE_EVENT_FAULT: handle_fault(endpoint, now_ns, event); break;
    }
}

static void handle_events(struct sim_endpoint *endpoint, uint64_t now_ns) {
    struct ue_event event;
    while (ue_conn_next_event(endpoint->conn, &event)) {
        handle_event(endpoint, now_ns, &event);
    }
}

static void send_datagrams(struct sim_endpoint *endpoint, uint64_t now_ns) {
    struct ue_bytes datagram;
    bool is_lost = endpoint->role == UE_ROLE_SERVER && endpoint->peer_address != *endpoint->client_address;
    sim_link_set_address(endpoint->out,
                         endpoint->role == UE_ROLE_SERVER ? endpoint->peer_address : *endpoint->client_address);
    while (ue_conn_next_datagram(endpoint->conn, &datagram)) {
        if (is_lost) {
            sim_link_send_lost(endpoint->out, now_ns, datagram.bytes, datagram.size_bytes);
        } else {
            sim_link_send(endpoint->out, now_ns, datagram.bytes, datagram.size_bytes);
        }
    }
}

/* ---- before the connection ---- */

static void accept(struct sim_endpoint *endpoint, uint64_t now_ns, uint32_t address,
                   const struct ue_accepted *accepted) {
    if (endpoint->conn != NULL && accepted->restarted) {
        endpoint->peer_address = address;
        ue_conn_rebind(endpoint->conn, now_ns, accepted);
        return;
    }
    if (endpoint->conn != NULL) {
        return; /* a duplicate of the Response that created the connection */
    }
    if (!make_conn(endpoint)) {
        sim_failure_set(&endpoint->checker->failure, now_ns, "cannot create a connection for the client");
        return;
    }
    ue_conn_accept(endpoint->conn, now_ns, accepted);
    connected(endpoint, now_ns);
}

static void receive_handshake(struct sim_endpoint *endpoint, uint64_t now_ns, uint32_t address, const uint8_t *bytes,
                              size_t size_bytes) {
    static const struct ue_host hosts[] = {{.size_bytes = 14, .text = "127.0.0.1:4000"},
                                           {.size_bytes = 14, .text = "127.0.0.1:4001"}};
    uint8_t reply[UE_LISTENER_REPLY_BYTES];
    size_t reply_bytes = 0;
    struct ue_accepted accepted;
    enum ue_listener_result result = ue_listener_receive(endpoint->listener, now_ns, &hosts[address], true, bytes,
                                                         size_bytes, reply, &reply_bytes, &accepted);
    if (reply_bytes != 0) { /* layout A0 has no Ack */
        sim_link_set_address(endpoint->out, address);
        sim_link_send(endpoint->out, now_ns, reply, reply_bytes);
    }
    if (result == UE_LISTENER_ACCEPT) {
        accept(endpoint, now_ns, address, &accepted);
    }
}

void sim_endpoint_start(struct sim_endpoint *endpoint) {
    if (endpoint->conn == NULL) {
        return;
    }
    if (endpoint->scenario->handshake) {
        ue_conn_connect(endpoint->conn, endpoint->start_ns);
        return;
    }
    ue_conn_adopt(endpoint->conn, endpoint->start_ns, endpoint->scenario->sides[!endpoint->role].first_seq,
                  endpoint->scenario->sides[endpoint->role].first_seq);
    connected(endpoint, endpoint->start_ns);
}

/* ---- ticks ---- */

uint64_t sim_endpoint_next_ns(const struct sim_endpoint *endpoint) {
    return endpoint->start_ns + endpoint->ticks * sim_scenario_tick_ns(endpoint->scenario, endpoint->role);
}

static void read_datagrams(struct sim_endpoint *endpoint, uint64_t now_ns) {
    const uint8_t *bytes;
    size_t size_bytes;
    while (sim_link_pop(endpoint->in, now_ns, &bytes, &size_bytes)) {
        uint32_t address = sim_link_popped_address(endpoint->in);
        bool has_no_connection =
            endpoint->conn == NULL || (endpoint->role == UE_ROLE_SERVER && address != endpoint->peer_address);
        if (has_no_connection) {
            receive_handshake(endpoint, now_ns, address, bytes, size_bytes);
        } else {
            ue_conn_receive(endpoint->conn, now_ns, bytes, size_bytes);
            handle_events(endpoint, now_ns);
            send_datagrams(endpoint, now_ns);
        }
    }
}

/* A client joins as a game client does, and sends its streams once the server lets it join. */
static void tick_login(struct sim_endpoint *endpoint, uint64_t now_ns) {
    ue_login_tick(endpoint->login, now_ns);
    handle_events(endpoint, now_ns);
    const struct ue_login_status *login = ue_login_status(endpoint->login);
    enum ue_login_state state = login->state;
    endpoint->may_send_streams =
        state == UE_LOGIN_DONE || (endpoint->role == UE_ROLE_CLIENT && state == UE_LOGIN_JOINING);
    if (state == UE_LOGIN_ASKED && endpoint->role == UE_ROLE_SERVER) {
        ue_login_refuse(endpoint->login, now_ns, "Server full.");
    }
    if (state == UE_LOGIN_FAILED && !endpoint->scenario->hostile && endpoint->scenario->ending == SIM_ENDING_QUIET) {
        sim_failure_set(&endpoint->checker->failure, now_ns, "side %d: login failed: %s", (int)endpoint->role,
                        login->failure);
    }
}

/* Whether a long frame, which began with an earlier tick, goes on. */
static bool is_in_long_frame(const struct sim_endpoint *endpoint) {
    const struct sim_scenario_side *side = &endpoint->scenario->sides[endpoint->role];
    uint64_t since = side->long_frame_every != 0 ? endpoint->ticks % side->long_frame_every : 0;
    return endpoint->ticks > since && since != 0 && since < side->long_frame_ticks;
}

void sim_endpoint_tick(struct sim_endpoint *endpoint, uint64_t now_ns) {
    endpoint->ticks++;
    if (is_in_long_frame(endpoint)) {
        return;
    }
    sim_link_tick(endpoint->in, now_ns, 2);
    read_datagrams(endpoint, now_ns);
    if (endpoint->conn == NULL) {
        return;
    }
    ue_conn_end_receive(endpoint->conn, now_ns);
    handle_events(endpoint, now_ns);
    if (endpoint->has_login) {
        tick_login(endpoint, now_ns);
    }
    if (endpoint->may_send_streams && endpoint->role == UE_ROLE_SERVER && !endpoint->is_silent &&
        !endpoint->has_opened) {
        sim_endpoint_open_channels(endpoint, now_ns);
    }
    if (endpoint->may_send_streams && !endpoint->is_silent) {
        sim_endpoint_send_streams(endpoint, now_ns);
    }
    if (endpoint->may_send_streams && endpoint->game != NULL && !sim_endpoint_is_closed(endpoint)) {
        sim_game_tick(endpoint->game, now_ns, endpoint->is_silent);
    }
    ue_conn_tick(endpoint->conn, now_ns);
    handle_events(endpoint, now_ns);
    send_datagrams(endpoint, now_ns);
    sim_link_tick(endpoint->out, now_ns, 0);
    if (!endpoint->scenario->unchecked) {
        sim_checker_tick(endpoint->checker, endpoint->role, now_ns, endpoint->conn);
    }
}

void sim_endpoint_close(struct sim_endpoint *endpoint, uint64_t now_ns) {
    ue_conn_close(endpoint->conn, now_ns,
                  endpoint->role == UE_ROLE_CLIENT ? UE_CLOSE_DISCONNECT : UE_CLOSE_HOST_CLOSED);
    handle_events(endpoint, now_ns);
}

bool sim_endpoint_is_closed(const struct sim_endpoint *endpoint) {
    return endpoint->conn != NULL && ue_conn_state(endpoint->conn) == UE_CONN_CLOSED;
}

bool sim_endpoint_is_acked(const struct sim_endpoint *endpoint) {
    if (endpoint->conn == NULL) {
        return true;
    }
    if (ue_conn_unacked(endpoint->conn, 0) != 0 || (endpoint->game != NULL && !sim_game_is_acked(endpoint->conn))) {
        return false;
    }
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        const struct sim_stream *stream = &endpoint->scenario->streams[i];
        uint32_t count = stream->every_ticks == 0 ? 0 : stream->channels != 0 ? stream->channels : 1;
        for (uint32_t channel = stream->channel; channel < stream->channel + count; channel++) {
            if (ue_conn_unacked(endpoint->conn, channel) != 0) {
                return false;
            }
        }
    }
    return true;
}

bool sim_endpoint_is_done(const struct sim_endpoint *endpoint) {
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        const struct sim_stream *stream = &endpoint->scenario->streams[i];
        if (stream->every_ticks != 0 && stream->from == endpoint->role &&
            (stream->total == 0 || endpoint->streams[i].sent < stream->total)) {
            return false;
        }
    }
    return !endpoint->scenario->game;
}
