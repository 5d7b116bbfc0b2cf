/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tests/bench/endpoint/pair.h"

#define RELEASE "5.1"
#define WINDOW 256
#define REORDER_WAIT_NS UINT64_C(20000000)
#define SPARSE_REPEAT_TICKS 2
#define BUDGET 30000        /* bytes per second */
#define NET_SPEED 100000000 /* the budget is not what is measured */

struct pair {
    struct rival_host host;
    struct ue_conn *conns[2];
    bool is_open[2]; /* PAIR_CHANNEL */
};

static void handle_events(struct pair *pair, enum rival_side at) {
    struct ue_event event;
    while (ue_conn_next_event(pair->conns[at], &event)) {
        if (event.type == UE_EVENT_CHANNEL_OPENED && event.channel == PAIR_CHANNEL) {
            pair->is_open[at] = true;
        } else if (event.type == UE_EVENT_BUNCH && event.channel == PAIR_CHANNEL && !event.open) {
            pair->host.deliver(pair->host.user, !at, event.data.base, event.data.bits / 8); /* begins at bit 0 */
        }
    }
}

static void emit_datagrams(struct pair *pair, enum rival_side from, bool directly, uint64_t now_ns) {
    struct ue_bytes datagram;
    while (ue_conn_next_datagram(pair->conns[from], &datagram)) {
        if (directly) {
            ue_conn_receive(pair->conns[!from], now_ns, datagram.bytes, datagram.size_bytes);
        } else {
            pair->host.emit(pair->host.user, from, datagram.bytes, datagram.size_bytes);
        }
    }
}

static bool send_bunch(struct pair *pair, enum rival_side from, uint64_t now_ns, uint32_t channel, bool reliable,
                       const uint8_t *bytes, size_t size_bytes) {
    struct ue_outgoing bunch = {.channel = channel, .reliable = reliable, .data = {bytes, 0, size_bytes * 8}};
    return ue_conn_send(pair->conns[from], now_ns, &bunch, NULL) == UE_OK;
}

/* Both ends tick on a perfect network until each has processed what the other sent. */
static void exchange(struct pair *pair, uint64_t now_ns) {
    for (uint64_t tick = 8; tick > 0; tick--) {
        for (enum rival_side side = RIVAL_CLIENT; side <= RIVAL_SERVER; side++) {
            uint64_t then_ns = now_ns - tick * UINT64_C(50000000);
            ue_conn_end_receive(pair->conns[side], then_ns);
            handle_events(pair, side);
            ue_conn_tick(pair->conns[side], then_ns);
            emit_datagrams(pair, side, true, then_ns);
        }
    }
}

static bool open_channels(struct pair *pair, uint64_t now_ns, uint32_t count) {
    static const uint8_t opening = 0;
    uint32_t opened;
    for (uint32_t i = 0; i < count; i++) {
        if (ue_conn_open(pair->conns[RIVAL_SERVER], UE_KIND_ACTOR, PAIR_CHANNEL + i, &opened) != UE_OK ||
            !send_bunch(pair, RIVAL_SERVER, now_ns, PAIR_CHANNEL + i, true, &opening, 1)) {
            return false;
        }
    }
    return true;
}

static bool connect(struct pair *pair, uint64_t now_ns, uint32_t channels) {
    static const uint8_t hello[] = {0, 1, 0, 0, 0, 0};
    uint64_t then_ns = now_ns - UINT64_C(1000000000);
    ue_conn_adopt(pair->conns[RIVAL_CLIENT], then_ns, 500, 100);
    ue_conn_adopt(pair->conns[RIVAL_SERVER], then_ns, 100, 500);
    ue_conn_admit(pair->conns[RIVAL_CLIENT]);
    ue_conn_admit(pair->conns[RIVAL_SERVER]);
    if (!send_bunch(pair, RIVAL_CLIENT, then_ns, 0, true, hello, sizeof hello)) {
        return false;
    }
    exchange(pair, now_ns - UINT64_C(500000000));
    if (!open_channels(pair, now_ns - UINT64_C(500000000), channels != 0 ? channels : 1)) {
        return false;
    }
    exchange(pair, now_ns);
    return pair->is_open[RIVAL_CLIENT];
}

static void destroy(void *user) {
    struct pair *pair = user;
    for (size_t i = 0; i < 2; i++) {
        if (pair->conns[i] != NULL) {
            ue_conn_free(pair->conns[i]);
        }
    }
    free(pair);
}

void *pair_create(const struct rival_host *host, uint64_t seed, uint64_t now_ns, const struct pair_config *config) {
    struct pair *pair = calloc(1, sizeof *pair);
    uint8_t bytes[UE_SEED_BYTES] = {0};
    memcpy(bytes, &seed, sizeof seed);
    if (pair == NULL) {
        return NULL;
    }
    pair->host = *host;
    struct ue_conn_config ends = {.profile = ue_profile_find(config->release),
                                  .seed = bytes,
                                  .net_speed = config->net_speed != 0 ? config->net_speed : NET_SPEED};
    for (enum rival_side side = RIVAL_CLIENT; side <= RIVAL_SERVER; side++) {
        ends.options = config->options[side];
        ends.role = side == RIVAL_CLIENT ? UE_ROLE_CLIENT : UE_ROLE_SERVER;
        pair->conns[side] = ue_conn_new(NULL, &ends);
    }
    if (pair->conns[0] == NULL || pair->conns[1] == NULL || !connect(pair, now_ns, config->channels)) {
        destroy(pair);
        return NULL;
    }
    return pair;
}

struct ue_conn *pair_conn(void *pair, enum rival_side side) {
    return ((struct pair *)pair)->conns[side];
}

static void *create_plain(const struct rival_host *host, uint64_t seed, uint64_t now_ns) {
    return pair_create(host, seed, now_ns, &(struct pair_config){.release = RELEASE});
}

static void *create_repeat(const struct rival_host *host, uint64_t seed, uint64_t now_ns) {
    return pair_create(host, seed, now_ns,
                       &(struct pair_config){.release = RELEASE, .options[RIVAL_SERVER] = {.repeat_reliable = true}});
}

static void *create_repeating(const struct rival_host *host, uint64_t seed, uint64_t now_ns, uint32_t net_speed) {
    return pair_create(host, seed, now_ns,
                       &(struct pair_config){.release = RELEASE,
                                             .net_speed = net_speed,
                                             .options[RIVAL_SERVER] = {.tail_probe = true,
                                                                       .quiet = true,
                                                                       .repeat_reliable = true,
                                                                       .repeat_ticks = SPARSE_REPEAT_TICKS}});
}

static void *create_sparse(const struct rival_host *host, uint64_t seed, uint64_t now_ns) {
    return create_repeating(host, seed, now_ns, NET_SPEED);
}

static void *create_budget(const struct rival_host *host, uint64_t seed, uint64_t now_ns) {
    return create_repeating(host, seed, now_ns, BUDGET);
}

static void *create_waiting(const struct rival_host *host, uint64_t seed, uint64_t now_ns) {
    return pair_create(
        host, seed, now_ns,
        &(struct pair_config){.release = RELEASE, .options[RIVAL_CLIENT] = {.reorder_wait_ns = REORDER_WAIT_NS}});
}

static bool send_message(void *user, enum rival_side from, uint64_t now_ns, bool reliable, const uint8_t *message,
                         size_t size_bytes) {
    struct pair *pair = user;
    if (reliable && ue_conn_unacked(pair->conns[from], PAIR_CHANNEL) >= WINDOW - 2) {
        return false;
    }
    return send_bunch(pair, from, now_ns, PAIR_CHANNEL, reliable, message, size_bytes);
}

static void receive(void *user, enum rival_side at, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes) {
    struct pair *pair = user;
    ue_conn_receive(pair->conns[at], now_ns, bytes, size_bytes);
    handle_events(pair, at);
}

static void end_receive(void *user, enum rival_side at, uint64_t now_ns) {
    struct pair *pair = user;
    ue_conn_end_receive(pair->conns[at], now_ns);
    handle_events(pair, at);
}

static void tick(void *user, enum rival_side at, uint64_t now_ns) {
    struct pair *pair = user;
    ue_conn_tick(pair->conns[at], now_ns);
    handle_events(pair, at);
    emit_datagrams(pair, at, false, now_ns);
}

const struct rival rival_ue = {"uerudp", create_plain, destroy, send_message, receive, end_receive, tick};
const struct rival rival_ue_repeat = {"uerudp-repeat", create_repeat, destroy, send_message,
                                      receive,         end_receive,   tick};
const struct rival rival_ue_sparse = {"uerudp-sparse", create_sparse, destroy, send_message,
                                      receive,         end_receive,   tick};
const struct rival rival_ue_budget = {"uerudp-budget", create_budget, destroy, send_message,
                                      receive,         end_receive,   tick};
const struct rival rival_ue_waiting = {"uerudp-waiting", create_waiting, destroy, send_message,
                                       receive,          end_receive,    tick};
