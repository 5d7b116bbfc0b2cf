/* SPDX-License-Identifier: MIT */
#include "tools/impair/proxy_client.h"

#include <string.h>

#include "tools/sim/rng.h"

/* Both sides retransmit and confirm the end of a connection for about a second. */
#define CLOSED_NS UINT64_C(3000000000)

static bool open_endpoints(struct impair_client *client, const struct impair_client_config *config) {
    struct impair_endpoint *near = &client->endpoints[0];
    struct impair_endpoint *far = &client->endpoints[1];
    *near = (struct impair_endpoint){IMPAIR_SIDE_CLIENT, config->listener, *config->address,
                                     net_socket_local_for(config->listener, config->address)};
    far->socket = net_socket_connect(config->server, 0, NULL);
    if (far->socket == NULL) {
        return false;
    }
    far->side = IMPAIR_SIDE_SERVER;
    far->peer = *net_socket_peer(far->socket);
    far->local = *net_socket_local(far->socket);
    return true;
}

static void ignore(void *user, enum net_socket_result result) {
    (void)user;
    (void)result;
}

static struct impair_direction *open_direction(struct impair_client *client, const struct impair_client_config *config,
                                               unsigned direction) {
    struct impair_direction_config settings = {
        .seed = sim_rng_mix(config->options->seed, config->number),
        .direction = direction,
        .in = &client->endpoints[direction],
        .out = &client->endpoints[!direction],
        .recording = config->recording,
        .refused = direction == 0 ? config->refused : ignore,
        .user = config->owner,
    };
    memcpy(settings.stages, config->options->stages[direction], sizeof settings.stages);
    return impair_direction_new(&settings);
}

struct impair_client *impair_client_new(const struct impair_client_config *config) {
    struct impair_client *client = g_new0(struct impair_client, 1);
    client->link.data = client;
    client->owner = config->owner;
    client->begun_ns = client->last_received_ns = config->now_ns;
    client->number = config->number;
    client->sides = observe_two_sides_new(&config->options->wire.settings, config->options->wire.generation);
    datagram_facts_init(&client->facts);
    client->facts.begun_ns = (int64_t)config->now_ns;
    bool good = open_endpoints(client, config);
    for (unsigned direction = 0; good && direction < 2; direction++) {
        client->directions[direction] = open_direction(client, config, direction);
        good = client->directions[direction] != NULL;
    }
    if (!good) {
        impair_client_free(client);
        return NULL;
    }
    return client;
}

void impair_client_free(struct impair_client *client) {
    impair_direction_free(client->directions[0]);
    impair_direction_free(client->directions[1]);
    event_loop_watch_free(client->watch);
    observe_two_sides_free(client->sides);
    datagram_facts_clear(&client->facts);
    net_socket_free(client->endpoints[1].socket);
    g_free(client);
}

/* ---- datagrams ---- */

static void on_event(void *user, const struct ue_observed_event *event) {
    struct impair_client *client = user;
    client->is_closed |= event->type == UE_OBSERVED_CHANNEL_CLOSED && event->channel.bunch->channel == 0;
    datagram_facts_on_event(&client->facts, event);
}

/* A new handshake begins another connection. */
static void begin_if_new(struct impair_client *client, const struct ue_observed_connection *connection) {
    if (client->connection != connection) {
        client->connection = connection;
        client->is_closed = false;
    }
}

/* Decodes the datagram with what is known by now. */
static void read_facts(struct impair_client *client, uint64_t frame, int64_t time_ns, unsigned side,
                       const uint8_t *bytes, size_t size_bytes) {
    const struct ue_observed_datagram *observed =
        observe_two_sides_feed(client->sides, frame, time_ns, side, bytes, size_bytes);
    struct ue_tracker_datagram datagram = {
        .frame = frame, .time_ns = time_ns, .side = side, .bytes = bytes, .size_bytes = size_bytes};
    if (observed != NULL) {
        begin_if_new(client, observed->record.connection);
        client->context = observed->context;
        datagram.packet_ids = &observed->record.decode.packet_ids;
        datagram.context = observed->is_foreign ? NULL : &client->context;
    }
    datagram_facts_read(&client->facts, client->number, &datagram);
    if (observed != NULL) {
        observe_two_sides_track(client->sides, observed, on_event, client);
    }
}

void impair_client_receive(struct impair_client *client, struct rules *rules, uint64_t frame, uint64_t now_ns,
                           unsigned end, const uint8_t *bytes, size_t size_bytes) {
    struct rules_outcome outcome;
    g_autoptr(GString) names = g_string_new(NULL);
    read_facts(client, frame, (int64_t)now_ns, end, bytes, size_bytes);
    rules_apply(rules, &client->facts, &outcome, names);
    client->last_received_ns = now_ns;
    client->is_confirmed |= end == 0 && client->is_answered;
    client->is_answered |= end == 1;
    impair_direction_receive(client->directions[end], now_ns, bytes, size_bytes, &outcome, names->str);
}

uint64_t impair_client_run(struct impair_client *client, uint64_t now_ns) {
    uint64_t up_ns = impair_direction_run(client->directions[0], now_ns);
    uint64_t down_ns = impair_direction_run(client->directions[1], now_ns);
    return MIN(up_ns, down_ns);
}

/* Whether something proves that the traffic is of this protocol. */
static bool is_certain(const struct ue_observed_connection *connection) {
    const struct ue_detection_result *result = &connection->detection.result;
    return connection->has_handshake || (result->reason != UE_DETECTION_REASON_NONE && !ue_detection_is_guess(result));
}

const char *impair_client_generation(const struct impair_client *client, char text[UE_RANGE_CHARS]) {
    const struct ue_observed_connection *connection = client->connection;
    bool is_known = connection != NULL && is_certain(connection);
    return is_known ? ue_detection_generations(&connection->detection, &connection->detection.result, text) : NULL;
}

/* ---- the end ---- */

bool impair_client_is_idle(const struct impair_client *client, uint64_t idle_ns, uint64_t now_ns) {
    return now_ns - client->last_received_ns > idle_ns;
}

bool impair_client_is_replaceable(const struct impair_client *client, uint64_t now_ns) {
    return now_ns - client->last_received_ns >=
           (client->is_confirmed ? IMPAIR_CLIENT_SILENCE_NS : IMPAIR_CLIENT_UNCONFIRMED_NS);
}

const char *impair_client_end_reason(struct impair_client *client, uint64_t idle_ns, uint64_t now_ns) {
    uint64_t silent_ns = now_ns - client->last_received_ns;
    if (impair_client_is_idle(client, idle_ns, now_ns)) {
        return "idle";
    }
    if (!client->is_confirmed && silent_ns > IMPAIR_CLIENT_SILENCE_NS &&
        impair_client_run(client, now_ns) == UINT64_MAX) {
        return client->is_answered ? "idle" : "unanswered";
    }
    return silent_ns > CLOSED_NS && client->is_closed ? "closed" : NULL;
}
