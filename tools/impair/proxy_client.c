/* SPDX-License-Identifier: MIT */
#include "tools/impair/proxy_client.h"

#include <string.h>

#include "tools/sim/rng.h"

static bool open_ends(struct ue_relay_client *client, const struct ue_relay_client_config *config) {
    struct ue_relay_end *near = &client->ends[0];
    struct ue_relay_end *far = &client->ends[1];
    *near = (struct ue_relay_end){UE_RELAY_CLIENT_SIDE, config->listener, *config->address,
                                  ue_socket_local_for(config->listener, config->address)};
    far->socket = ue_socket_connect(config->server, 0, NULL);
    if (far->socket == NULL) {
        return false;
    }
    far->side = UE_RELAY_SERVER_SIDE;
    far->peer = *ue_socket_peer(far->socket);
    far->local = *ue_socket_local(far->socket);
    return true;
}

static void ignore(void *user, enum ue_socket_result result) {
    (void)user;
    (void)result;
}

static struct ue_relay_lane *open_lane(struct ue_relay_client *client, const struct ue_relay_client_config *config,
                                       unsigned direction) {
    struct ue_relay_lane_config lane = {
        .seed = ue_rng_mix(config->options->seed, config->number),
        .direction = direction,
        .in = &client->ends[direction],
        .out = &client->ends[!direction],
        .record = config->record,
        .refused = direction == 0 ? config->refused : ignore,
        .user = config->owner,
    };
    memcpy(lane.stages, config->options->stages[direction], sizeof lane.stages);
    return ue_relay_lane_new(&lane);
}

struct ue_relay_client *ue_relay_client_new(const struct ue_relay_client_config *config) {
    struct ue_relay_client *client = g_new0(struct ue_relay_client, 1);
    client->link.data = client;
    client->owner = config->owner;
    client->begun_ns = client->heard_ns = config->now_ns;
    client->insight = ue_relay_insight_new(&config->options->wire, config->number, (int64_t)config->now_ns);
    bool good = open_ends(client, config);
    for (unsigned direction = 0; good && direction < 2; direction++) {
        client->lanes[direction] = open_lane(client, config, direction);
        good = client->lanes[direction] != NULL;
    }
    if (!good) {
        ue_relay_client_free(client);
        return NULL;
    }
    return client;
}

void ue_relay_client_free(struct ue_relay_client *client) {
    ue_relay_lane_free(client->lanes[0]);
    ue_relay_lane_free(client->lanes[1]);
    ue_watch_free(client->watch);
    ue_relay_insight_free(client->insight);
    ue_socket_free(client->ends[1].socket);
    g_free(client);
}

/* Which rules acted, as far as their counts tell: each in words of its own, separated by "; ". */
static char *judge(struct ue_rules *rules, const struct ue_facts *facts, struct ue_outcome *outcome) {
    size_t count = ue_rules_count(rules);
    uint64_t *before = g_newa(uint64_t, count + 1);
    GString *words = g_string_new(NULL);
    for (size_t i = 0; i < count; i++) {
        before[i] = ue_rules_acted(rules, i);
    }
    ue_rules_judge(rules, facts, outcome);
    for (size_t i = 0; i < count; i++) {
        if (ue_rules_acted(rules, i) != before[i]) {
            g_string_append_printf(words, "%srule: %s", words->len != 0 ? "; " : "", ue_rules_text(rules, i));
        }
    }
    return g_string_free(words, FALSE);
}

void ue_relay_client_take(struct ue_relay_client *client, struct ue_rules *rules, uint64_t frame, uint64_t now_ns,
                          unsigned end, const uint8_t *bytes, size_t size_bytes) {
    struct ue_outcome outcome = {0};
    const struct ue_facts *facts =
        ue_relay_insight_read(client->insight, frame, (int64_t)now_ns, end, bytes, size_bytes);
    char *words = judge(rules, facts, &outcome);
    client->heard_ns = now_ns;
    client->is_confirmed |= end == 0 && client->is_answered;
    client->is_answered |= end == 1;
    ue_relay_lane_enter(client->lanes[end], now_ns, bytes, size_bytes, &outcome, words);
    g_free(words);
}

uint64_t ue_relay_client_run(struct ue_relay_client *client, uint64_t now_ns) {
    uint64_t up_ns = ue_relay_lane_run(client->lanes[0], now_ns);
    uint64_t down_ns = ue_relay_lane_run(client->lanes[1], now_ns);
    return MIN(up_ns, down_ns);
}
