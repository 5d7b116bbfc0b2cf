/* SPDX-License-Identifier: MIT */
#include "tools/sim/simulated_endpoint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/actor_world.h"
#include "tools/sim/endpoint_traffic.h"
#include "tools/sim/voice_packet.h"

#define POOL_BYTES (SIM_MEMORY_BYTES + (1u << 20))
#define NETWORK_VERSION 1000
#define SALT_END 7

static void fill_random(uint8_t *bytes, size_t size, uint64_t seed) {
    struct sim_rng rng = {seed};
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)sim_rng_next(&rng);
    }
}

static void configure(struct sim_endpoint *end) {
    const struct sim_scenario_side *side = &end->scenario->sides[end->role];
    fill_random(end->seed, sizeof end->seed, sim_rng_mix(end->scenario->seed, SALT_END + (uint64_t)end->role * 16));
    end->config = (struct ue_conn_config){.profile = sim_scenario_profile(end->scenario, end->role),
                                          .settings = end->scenario->settings,
                                          .role = end->role,
                                          .seed = end->seed,
                                          .memory_limit_bytes = SIM_MEMORY_BYTES,
                                          .no_order_cache = side->no_order_cache,
                                          .net_speed = side->net_speed,
                                          .report_packets = !end->scenario->unchecked,
                                          .timeout_ns = end->scenario->timeout_ns,
                                          .connect_timeout_ns = end->scenario->timeout_ns,
                                          .options = side->options};
    end->config.settings.reliable_buffer = side->reliable_buffer;
    if (end->scenario->ending == SIM_ENDING_UPGRADE) {
        end->config.network_version = NETWORK_VERSION + (uint32_t)end->role;
    }
    if (end->scenario->encrypt) {
        sim_secret_key(end->scenario->seed, end->key);
        end->config.key = end->key;
        if (end->config.settings.handlers[0] == UE_HANDLER_NONE) {
            end->config.settings.handlers[0] = UE_HANDLER_AESGCM;
        }
    }
}

static bool make_conn(struct sim_endpoint *end) {
    struct ue_login_config login = {.map = "/Game/Maps/Sim", .game = "/Script/Sim.Game", .player = "Sim"};
    login.decides = end->scenario->ending == SIM_ENDING_FAILURE;
    if (end->scenario->encrypt) {
        sim_secret_token(end->scenario->seed, end->token);
        login.encryption_token = end->token;
    }
    end->conn = ue_conn_new(end->pool, &end->config);
    return end->conn != NULL && (!end->has_login || ue_login_init(&end->login, end->conn, &login) == UE_OK);
}

/* A server that is to shake hands makes its connection when the cookie came back. */
static bool make_endpoint(struct sim_endpoint *end) {
    if (end->role == UE_ROLE_SERVER && end->scenario->handshake) {
        struct ue_listener_config config = {
            .profile = end->config.profile, .settings = end->config.settings, .seed = end->seed};
        end->listener = ue_listener_new(end->pool, &config, 0);
        return end->listener != NULL;
    }
    return make_conn(end);
}

bool sim_endpoint_init(struct sim_endpoint *end, const struct sim_scenario *scenario, enum ue_role role,
                 struct sim_checker *checker) {
    *end = (struct sim_endpoint){.scenario = scenario, .role = role, .checker = checker};
    end->has_login = scenario->login || scenario->encrypt;
    configure(end);
    uint32_t buffer = end->config.settings.reliable_buffer;
    end->buffer_bunches = buffer != 0 ? buffer : end->config.profile->reliable_buffer;
    uint64_t phase = sim_rng_mix(scenario->seed, SALT_END + 32 + (uint64_t)role);
    end->begin_ns = phase % sim_scenario_tick_ns(scenario, role);
    end->message = malloc(SIM_STREAM_BITS_MAX / 8);
    end->framed = malloc((SIM_STREAM_BITS_MAX + SIM_STREAM_BLOCK_BITS) / 8);
    end->region = malloc(POOL_BYTES);
    end->pool = end->region != NULL ? ue_pool_init(end->region, POOL_BYTES) : NULL;
    return end->message != NULL && end->framed != NULL && end->pool != NULL && make_endpoint(end);
}

void sim_endpoint_free(struct sim_endpoint *end) {
    if (end->conn != NULL) {
        ue_conn_free(end->conn);
    }
    if (end->listener != NULL) {
        ue_listener_free(end->listener);
    }
    free(end->region);
    free(end->framed);
    free(end->message);
}

/* ---- hearing ---- */

static void note(struct sim_endpoint *end, uint64_t now_ns, const struct ue_event *event) {
    uint64_t what = (uint64_t)event->type << 56 | (uint64_t)event->channel << 24 | (uint64_t)event->delivered << 16 |
                    (uint64_t)event->state << 8 | (uint64_t)event->reason;
    uint64_t numbers = sim_rng_mix((uint64_t)event->packet_id, (uint64_t)event->ch_seq);
    *end->transcript = sim_rng_mix(*end->transcript ^ now_ns, sim_rng_mix(what, numbers + event->data.bits));
}

/* Without a login: one message on the control channel, after which a server may speak. */
static void begin_service(struct sim_endpoint *end, uint64_t now_ns) {
    end->is_serving = true;
    ue_conn_admit(end->conn);
    if (end->role == UE_ROLE_CLIENT) {
        sim_endpoint_send_hello(end, now_ns);
    }
}

static void connected(struct sim_endpoint *end, uint64_t now_ns) {
    sim_checker_connect(end->checker, end->role, end->conn);
    if (!end->has_login && end->role == UE_ROLE_CLIENT) {
        begin_service(end, now_ns);
    }
}

static void hear_message(struct sim_endpoint *end, uint64_t now_ns, const struct ue_event *event) {
    delivery_checker_received(&end->checker->ledger, !end->role, now_ns, event, end->watch->delivered, end->watch->user);
}

static void refuse_frame(struct sim_endpoint *end, uint64_t now_ns, const struct ue_event *event, const char *what) {
    sim_failure_set(&end->checker->failure, now_ns, "side %d, channel %" PRIu32 ": %s", (int)end->role, event->channel,
                   what);
}

/* Takes what an opening tells from the front of its bunch; false: it is not what was said. */
static bool take_opening(struct sim_endpoint *end, const struct ue_event *event, bool is_notice, struct ue_view *data) {
    uint8_t bytes[SIM_WORLD_OPEN_BYTES] = {0};
    struct sim_bit_writer w = {.bytes = bytes};
    const struct sim_world_message place = {event->channel,
                                         end->checker->ledger.lanes[!end->role][event->channel].heard[1], is_notice};
    bool is_mapped = sim_world_write_open(&w, end->config.profile->netver, &place);
    return event->has_mapped == is_mapped && sim_bits_read_expected(data, &w);
}

static bool is_notice(const struct sim_endpoint *end, uint32_t channel) {
    const struct sim_stream *stream = sim_scenario_stream(end->scenario, UE_ROLE_SERVER, channel, true);
    return stream != NULL && stream->is_notice;
}

/* Every block of an actor's bunch is a message, but a notice has none. */
static void hear_actor(struct sim_endpoint *end, uint64_t now_ns, const struct ue_event *event) {
    const struct sim_block_context wire = {end->config.profile->netver, end->role == UE_ROLE_CLIENT};
    struct ue_event message = *event;
    struct ue_view data = event->data;
    bool is_all = is_notice(end, event->channel);
    bool is_first = true;
    if (event->open && !take_opening(end, event, is_all, &data)) {
        refuse_frame(end, now_ns, event, "not the actor that was opened");
        return;
    }
    do {
        struct sim_content_block block = {.value = data};
        if (!is_all && !sim_content_block_read(&data, wire, &block)) {
            refuse_frame(end, now_ns, event, "not a content block");
            return;
        }
        message.data = block.value;
        message.open = event->open && is_first;
        message.close = event->close && data.bits == 0;
        is_first = false;
        hear_message(end, now_ns, &message);
    } while (!is_all && data.bits > 0);
}

static void hear_voice(struct sim_endpoint *end, uint64_t now_ns, const struct ue_event *event) {
    struct ue_event message = *event;
    struct ue_view data = event->data;
    while (data.bits > 0) {
        if (!sim_voice_read(&data, end->config.profile, &message.data)) {
            refuse_frame(end, now_ns, event, "not a voice packet");
            return;
        }
        hear_message(end, now_ns, &message);
        message.open = false;
    }
}

static void hear_exports(struct sim_endpoint *end, uint64_t now_ns, const struct ue_event *event) {
    uint8_t bytes[SIM_WORLD_EXPORT_BYTES];
    struct sim_bit_writer w = {.bytes = bytes};
    const struct sim_world_message place = {event->channel, 0, is_notice(end, event->channel)};
    sim_world_write_exports(&w, &place);
    if (sim_endpoint_is_checked(end) && !ue_view_equal(event->data, (struct ue_view){bytes, 0, w.bits})) {
        refuse_frame(end, now_ns, event, "not what was exported");
    }
}

static void hear_bunch(struct sim_endpoint *end, uint64_t now_ns, const struct ue_event *event) {
    if (event->channel != 0 && sim_endpoint_is_checked(end)) {
        if (sim_scenario_is_actor_channel(end->scenario, event->channel)) {
            hear_actor(end, now_ns, event);
        } else if (sim_scenario_is_voice_channel(end->scenario, event->channel)) {
            hear_voice(end, now_ns, event);
        } else {
            hear_message(end, now_ns, event);
        }
    } else if (event->channel == 0 && end->role == UE_ROLE_SERVER && !end->has_login && !end->is_serving) {
        begin_service(end, now_ns);
    }
}

static void set_channel(struct sim_endpoint *end, uint32_t channel, enum sim_channel_state state) {
    if (channel < SIM_SCENARIO_CHANNELS_MAX) {
        end->channels[channel] = (uint8_t)state;
        end->has_opened &= state != SIM_CHANNEL_FREE;
    }
}

static void hear_state(struct sim_endpoint *end, uint64_t now_ns, const struct ue_event *event) {
    if (event->state == UE_CONN_PENDING && end->role == UE_ROLE_CLIENT && !end->is_serving) {
        connected(end, now_ns);
    } else if (event->state == UE_CONN_CLOSED && end->watch->closed != NULL) {
        end->watch->closed(end->watch->user, end->role, event->reason);
    }
}

static void hear_verdict(struct sim_endpoint *end, uint64_t now_ns, const struct ue_event *event) {
    if (!end->scenario->unchecked) {
        sim_checker_ack(end->checker, end->role, now_ns, event);
    }
    if (end->watch->verdict != NULL) {
        end->watch->verdict(end->watch->user, end->role, event->packet_id, event->delivered);
    }
}

/* Damaged and encrypted datagrams are faults that must be survived, and ends have their reasons. */
static void hear_fault(struct sim_endpoint *end, uint64_t now_ns, const struct ue_event *event) {
    const struct sim_scenario *scenario = end->scenario;
    if (!scenario->hostile && !scenario->encrypt && scenario->ending == SIM_ENDING_QUIET) {
        sim_failure_set(&end->checker->failure, now_ns, "side %d met a fault: %s, %s", (int)end->role,
                       ue_status_text(event->fault.status), ue_close_reason_name(event->reason));
    }
}

static void hear(struct sim_endpoint *end, uint64_t now_ns, const struct ue_event *event) {
    if (!end->scenario->unchecked) {
        note(end, now_ns, event);
    }
    switch (event->type) {
    case UE_EVENT_STATE: hear_state(end, now_ns, event); break;
    case UE_EVENT_CHANNEL_OPENED: set_channel(end, event->channel, SIM_CHANNEL_OPEN); break;
    case UE_EVENT_CHANNEL_CLOSED: set_channel(end, event->channel, SIM_CHANNEL_FREE); break;
    case UE_EVENT_BUNCH: hear_bunch(end, now_ns, event); break;
    case UE_EVENT_PACKET: hear_verdict(end, now_ns, event); break;
    case UE_EVENT_EXPORTS: hear_exports(end, now_ns, event); break;
    case UE_EVENT_FAULT: hear_fault(end, now_ns, event); break;
    }
}

static void take_events(struct sim_endpoint *end, uint64_t now_ns) {
    struct ue_event event;
    while (ue_conn_next_event(end->conn, &event)) {
        hear(end, now_ns, &event);
    }
}

static void send_datagrams(struct sim_endpoint *end, uint64_t now_ns) {
    struct ue_bytes datagram;
    bool is_lost = end->role == UE_ROLE_SERVER && end->peer_address != *end->client_address;
    sim_link_set_address(end->out, end->role == UE_ROLE_SERVER ? end->peer_address : *end->client_address);
    while (ue_conn_next_datagram(end->conn, &datagram)) {
        if (is_lost) {
            sim_link_send_lost(end->out, now_ns, datagram.bytes, datagram.size_bytes);
        } else {
            sim_link_send(end->out, now_ns, datagram.bytes, datagram.size_bytes);
        }
    }
}

/* ---- before the connection ---- */

static void accept(struct sim_endpoint *end, uint64_t now_ns, uint32_t address, const struct ue_accepted *accepted) {
    if (end->conn != NULL && accepted->restarted) {
        end->peer_address = address;
        ue_conn_rebind(end->conn, now_ns, accepted);
        return;
    }
    if (end->conn != NULL) {
        return; /* a copy of what it was made for */
    }
    if (!make_conn(end)) {
        sim_failure_set(&end->checker->failure, now_ns, "no connection for the client");
        return;
    }
    ue_conn_accept(end->conn, now_ns, accepted);
    connected(end, now_ns);
}

static void listen_to(struct sim_endpoint *end, uint64_t now_ns, uint32_t address, const uint8_t *bytes, size_t size_bytes) {
    static const struct ue_host hosts[] = {{.size_bytes = 14, .text = "127.0.0.1:4000"},
                                           {.size_bytes = 14, .text = "127.0.0.1:4001"}};
    uint8_t reply[UE_LISTENER_REPLY_BYTES];
    size_t reply_bytes = 0;
    struct ue_accepted accepted;
    enum ue_listener_result result = ue_listener_receive(end->listener, now_ns, &hosts[address], true, bytes,
                                                         size_bytes, reply, &reply_bytes, &accepted);
    if (reply_bytes != 0) { /* the oldest layout has no Ack */
        sim_link_set_address(end->out, address);
        sim_link_send(end->out, now_ns, reply, reply_bytes);
    }
    if (result == UE_LISTENER_ACCEPT) {
        accept(end, now_ns, address, &accepted);
    }
}

void sim_endpoint_start(struct sim_endpoint *end) {
    if (end->conn == NULL) {
        return;
    }
    if (end->scenario->handshake) {
        ue_conn_connect(end->conn, end->begin_ns);
        return;
    }
    ue_conn_adopt(end->conn, end->begin_ns, end->scenario->sides[!end->role].first_seq,
                  end->scenario->sides[end->role].first_seq);
    connected(end, end->begin_ns);
}

/* ---- ticks ---- */

uint64_t sim_endpoint_next_ns(const struct sim_endpoint *end) {
    return end->begin_ns + end->ticks * sim_scenario_tick_ns(end->scenario, end->role);
}

static void read_datagrams(struct sim_endpoint *end, uint64_t now_ns) {
    const uint8_t *bytes;
    size_t size_bytes;
    while (sim_link_pop(end->in, now_ns, &bytes, &size_bytes)) {
        uint32_t address = sim_link_popped_address(end->in);
        bool is_stranger = end->conn == NULL || (end->role == UE_ROLE_SERVER && address != end->peer_address);
        if (is_stranger) {
            listen_to(end, now_ns, address, bytes, size_bytes);
        } else {
            ue_conn_receive(end->conn, now_ns, bytes, size_bytes);
            take_events(end, now_ns);
            send_datagrams(end, now_ns);
        }
    }
}

/* A client joins as a game does, says the rest when the server lets it. */
static void tick_login(struct sim_endpoint *end, uint64_t now_ns) {
    ue_login_tick(&end->login, now_ns);
    take_events(end, now_ns);
    enum ue_login_state state = end->login.state;
    end->is_serving = state == UE_LOGIN_DONE || (end->role == UE_ROLE_CLIENT && state == UE_LOGIN_JOINING);
    if (state == UE_LOGIN_ASKED && end->role == UE_ROLE_SERVER) {
        ue_login_refuse(&end->login, now_ns, "Server full.");
    }
    if (state == UE_LOGIN_FAILED && !end->scenario->hostile && end->scenario->ending == SIM_ENDING_QUIET) {
        sim_failure_set(&end->checker->failure, now_ns, "side %d: login failed: %s", (int)end->role, end->login.failure);
    }
}

void sim_endpoint_tick(struct sim_endpoint *end, uint64_t now_ns) {
    end->ticks++;
    sim_link_tick(end->in, now_ns, 2);
    read_datagrams(end, now_ns);
    if (end->conn == NULL) {
        return;
    }
    ue_conn_end_receive(end->conn, now_ns);
    take_events(end, now_ns);
    if (end->has_login) {
        tick_login(end, now_ns);
    }
    if (end->is_serving && end->role == UE_ROLE_SERVER && !end->is_silent && !end->has_opened) {
        sim_endpoint_open_channels(end, now_ns);
    }
    if (end->is_serving && !end->is_silent) {
        sim_endpoint_send_streams(end, now_ns);
    }
    ue_conn_tick(end->conn, now_ns);
    take_events(end, now_ns);
    send_datagrams(end, now_ns);
    sim_link_tick(end->out, now_ns, 0);
    if (!end->scenario->unchecked) {
        sim_checker_tick(end->checker, end->role, now_ns, end->conn);
    }
}

void sim_endpoint_close(struct sim_endpoint *end, uint64_t now_ns) {
    ue_conn_close(end->conn, now_ns, end->role == UE_ROLE_CLIENT ? UE_CLOSE_DISCONNECT : UE_CLOSE_HOST_CLOSED);
    take_events(end, now_ns);
}

bool sim_endpoint_is_closed(const struct sim_endpoint *end) {
    return end->conn != NULL && ue_conn_state(end->conn) == UE_CONN_CLOSED;
}

bool sim_endpoint_is_acked(const struct sim_endpoint *end) {
    if (end->conn == NULL) {
        return true;
    }
    if (ue_conn_unacked(end->conn, 0) != 0) {
        return false;
    }
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        const struct sim_stream *stream = &end->scenario->streams[i];
        uint32_t count = stream->every_ticks == 0 ? 0 : stream->channels != 0 ? stream->channels : 1;
        for (uint32_t channel = stream->channel; channel < stream->channel + count; channel++) {
            if (ue_conn_unacked(end->conn, channel) != 0) {
                return false;
            }
        }
    }
    return true;
}

bool sim_endpoint_is_done(const struct sim_endpoint *end) {
    for (size_t i = 0; i < SIM_SCENARIO_STREAMS_MAX; i++) {
        const struct sim_stream *stream = &end->scenario->streams[i];
        if (stream->every_ticks != 0 && stream->from == end->role &&
            (stream->total == 0 || end->streams[i].said < stream->total)) {
            return false;
        }
    }
    return true;
}
