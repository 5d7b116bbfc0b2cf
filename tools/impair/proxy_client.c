/* SPDX-License-Identifier: MIT */
#include "tools/impair/proxy_client.h"

#include <string.h>

#include "tools/sim/rng.h"

static bool open_ends(struct impair_client *client, const struct impair_client_config *config) {
    struct impair_endpoint *near = &client->ends[0];
    struct impair_endpoint *far = &client->ends[1];
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

static struct impair_direction *open_lane(struct impair_client *client, const struct impair_client_config *config,
                                       unsigned direction) {
    struct impair_direction_config lane = {
        .seed = sim_rng_mix(config->options->seed, config->number),
        .direction = direction,
        .in = &client->ends[direction],
        .out = &client->ends[!direction],
        .record = config->record,
        .refused = direction == 0 ? config->refused : ignore,
        .user = config->owner,
    };
    memcpy(lane.stages, config->options->stages[direction], sizeof lane.stages);
    return impair_direction_new(&lane);
}

struct impair_client *impair_client_new(const struct impair_client_config *config) {
    struct impair_client *client = g_new0(struct impair_client, 1);
    client->link.data = client;
    client->owner = config->owner;
    client->begun_ns = client->heard_ns = config->now_ns;
    client->insight = impair_observer_new(&config->options->wire, config->number, (int64_t)config->now_ns);
    bool good = open_ends(client, config);
    for (unsigned direction = 0; good && direction < 2; direction++) {
        client->lanes[direction] = open_lane(client, config, direction);
        good = client->lanes[direction] != NULL;
    }
    if (!good) {
        impair_client_free(client);
        return NULL;
    }
    return client;
}

void impair_client_free(struct impair_client *client) {
    impair_direction_free(client->lanes[0]);
    impair_direction_free(client->lanes[1]);
    event_loop_watch_free(client->watch);
    impair_observer_free(client->insight);
    net_socket_free(client->ends[1].socket);
    g_free(client);
}

/* Which rules acted, as far as their counts tell: each in words of its own, separated by "; ". */
static char *judge(struct rules *rules, const struct datagram_facts *facts, struct rules_outcome *outcome) {
    size_t count = rules_count(rules);
    uint64_t *before = g_newa(uint64_t, count + 1);
    GString *words = g_string_new(NULL);
    for (size_t i = 0; i < count; i++) {
        before[i] = rules_acted(rules, i);
    }
    rules_apply(rules, facts, outcome);
    for (size_t i = 0; i < count; i++) {
        if (rules_acted(rules, i) != before[i]) {
            g_string_append_printf(words, "%srule: %s", words->len != 0 ? "; " : "", rules_text(rules, i));
        }
    }
    return g_string_free(words, FALSE);
}

void impair_client_receive(struct impair_client *client, struct rules *rules, uint64_t frame, uint64_t now_ns,
                          unsigned end, const uint8_t *bytes, size_t size_bytes) {
    struct rules_outcome outcome = {0};
    const struct datagram_facts *facts =
        impair_observer_read(client->insight, frame, (int64_t)now_ns, end, bytes, size_bytes);
    char *words = judge(rules, facts, &outcome);
    client->heard_ns = now_ns;
    client->is_confirmed |= end == 0 && client->is_answered;
    client->is_answered |= end == 1;
    impair_direction_receive(client->lanes[end], now_ns, bytes, size_bytes, &outcome, words);
    g_free(words);
}

uint64_t impair_client_run(struct impair_client *client, uint64_t now_ns) {
    uint64_t up_ns = impair_direction_run(client->lanes[0], now_ns);
    uint64_t down_ns = impair_direction_run(client->lanes[1], now_ns);
    return MIN(up_ns, down_ns);
}
