/* SPDX-License-Identifier: MIT */
/* Many clients of one echo server in one process: each logs in, sends reliable messages and checks that they come back
   once, in order and unchanged. usage: load_clients PORT CLIENTS SECONDS. Prints one JSON line; exits 0 when nothing
   was lost. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <uerudp/time_ns.h>

#include "tools/cli/wire_options.h"
#include "tools/live/client.h"
#include "tools/net/event_loop.h"
#include "tools/sim/rng.h"

#define TICK_NS (UE_NS_PER_S / 30)
#define STARTS_PER_TICK 20
#define TICKS_BETWEEN_MESSAGES 10
#define WAITING_MAX 8 /* messages without an echo */
#define MESSAGE_BYTES_MAX 1200
#define DRAIN_NS (20 * UE_NS_PER_S) /* after the last message */
#define LEAVE_NS UE_NS_PER_S

struct player {
    struct live_client client;
    struct live_transport *port;
    uint64_t now_ns;
    uint32_t number;  /* of the client */
    uint32_t channel; /* 0: none yet */
    uint32_t sent;
    uint32_t echoed;
    bool is_wrong;
};

struct load {
    struct live_options options;
    struct player *players;
    uint32_t count;
    uint32_t started;
    uint32_t ticks;
};

static size_t make_message(const struct player *player, uint32_t number, uint8_t *bytes) {
    struct sim_rng rng = {sim_rng_mix(player->number, number)};
    size_t size = 1 + sim_rng_below(&rng, MESSAGE_BYTES_MAX);
    for (size_t i = 0; i < size; i += 8) {
        ue_bytes_store64(bytes + i, sim_rng_next(&rng));
    }
    return size;
}

static void check_echo(struct player *player, struct ue_view data) {
    uint8_t bytes[MESSAGE_BYTES_MAX + 8];
    size_t size = make_message(player, player->echoed++, bytes);
    bool good = player->echoed <= player->sent && ue_view_equal(data, (struct ue_view){bytes, 0, size * 8});
    player->is_wrong |= !good;
}

static void on_receive(void *user) {
    struct player *player = user;
    struct ue_event event;
    while (ue_conn_next_event(player->client.conn, &event)) {
        if (event.type == UE_EVENT_CHANNEL_OPENED && event.kind == UE_KIND_ACTOR && player->channel == 0) {
            player->channel = event.channel;
        } else if (event.type == UE_EVENT_BUNCH && event.channel == player->channel && !event.open) {
            check_echo(player, event.data);
        }
    }
}

static void send_messages(struct player *player) {
    uint8_t bytes[MESSAGE_BYTES_MAX + 8];
    size_t size = make_message(player, player->sent, bytes);
    const struct ue_outgoing bunch = {.channel = player->channel, .reliable = true, .data = {bytes, 0, size * 8}};
    if (ue_conn_send(player->client.conn, player->now_ns, &bunch, NULL) == UE_OK) {
        player->sent++;
    }
}

static void tick(struct load *load, struct player *player, uint64_t now_ns, bool sends) {
    bool is_due = (load->ticks + player->number) % TICKS_BETWEEN_MESSAGES == 0;
    player->now_ns = now_ns;
    live_client_receive(&player->client, now_ns, on_receive, player);
    ue_conn_end_receive(player->client.conn, now_ns);
    on_receive(player);
    if (sends && is_due && player->channel != 0 && player->sent - player->echoed < WAITING_MAX) {
        send_messages(player);
    }
    live_client_tick(&player->client, now_ns);
}

static bool start(struct load *load, const char *target) {
    static const struct ue_login_config login = {.player = "load", .platform = "NULL"};
    struct player *player = &load->players[load->started];
    struct net_socket *socket = net_socket_connect(target, WIRE_OPTIONS_SERVER_PORT, NULL);
    if (socket == NULL || (player->port = live_transport_new(socket, &load->options)) == NULL) {
        fprintf(stderr, "load_clients: no socket for client %" PRIu32 "\n", load->started);
        return false;
    }
    player->number = load->started++;
    return live_client_init(&player->client, player->port, &load->options, &login, event_loop_now_ns());
}

static bool is_done(const struct load *load) {
    for (uint32_t i = 0; i < load->started; i++) {
        const struct player *player = &load->players[i];
        if (player->channel == 0 || player->echoed != player->sent) {
            return false;
        }
    }
    return load->started == load->count;
}

static void sleep_until(uint64_t time_ns) {
    const struct timespec until = {(time_t)(time_ns / UE_NS_PER_S), (long)(time_ns % UE_NS_PER_S)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Runs until until_ns; with wait_for_echoes it returns earlier, as soon as no echo is missing. */
static void run(struct load *load, uint64_t until_ns, bool sends, bool wait_for_echoes) {
    uint64_t next_ns = event_loop_now_ns();
    while (next_ns < until_ns && !(wait_for_echoes && is_done(load))) {
        sleep_until(next_ns);
        uint64_t now_ns = event_loop_now_ns();
        for (uint32_t i = 0; i < load->started; i++) {
            tick(load, &load->players[i], now_ns, sends);
        }
        load->ticks++;
        next_ns = next_ns + TICK_NS > now_ns ? next_ns + TICK_NS : now_ns;
    }
}

static bool start_all(struct load *load, const char *target) {
    while (load->started < load->count) {
        for (uint32_t i = 0; i < STARTS_PER_TICK && load->started < load->count; i++) {
            if (!start(load, target)) {
                return false;
            }
        }
        run(load, event_loop_now_ns() + TICK_NS, true, false);
    }
    return true;
}

static bool report(const struct load *load) {
    uint64_t sent = 0, echoed = 0, joined = 0, wrong = 0;
    for (uint32_t i = 0; i < load->started; i++) {
        const struct player *player = &load->players[i];
        sent += player->sent;
        echoed += player->echoed;
        joined += player->channel != 0;
        wrong += player->is_wrong;
    }
    printf("{\"clients\":%" PRIu32 ",\"joined\":%" PRIu64 ",\"sent\":%" PRIu64 ",\"echoed\":%" PRIu64
           ",\"wrong\":%" PRIu64 ",\"ticks\":%" PRIu32 "}\n",
           load->count, joined, sent, echoed, wrong, load->ticks);
    return joined == load->count && sent == echoed && sent != 0 && wrong == 0;
}

static void leave(struct load *load) {
    uint64_t now_ns = event_loop_now_ns();
    for (uint32_t i = 0; i < load->started; i++) {
        ue_conn_close(load->players[i].client.conn, now_ns, UE_CLOSE_DISCONNECT);
    }
    run(load, now_ns + LEAVE_NS, false, false);
    for (uint32_t i = 0; i < load->started; i++) {
        live_client_clear(&load->players[i].client);
        live_transport_free(load->players[i].port);
    }
}

static void allow_sockets(uint32_t count) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < count + 64) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fputs("usage: load_clients PORT CLIENTS SECONDS\n", stderr);
        return 2;
    }
    struct load load = {.count = (uint32_t)strtoul(argv[2], NULL, 10)};
    char *target = g_strconcat("127.0.0.1:", argv[1], NULL);
    load.players = g_new0(struct player, load.count);
    live_options_init(&load.options);
    allow_sockets(load.count);
    bool good = live_options_resolve(&load.options) && start_all(&load, target);
    if (good) {
        run(&load, event_loop_now_ns() + strtoull(argv[3], NULL, 10) * UE_NS_PER_S, true, false);
        run(&load, event_loop_now_ns() + DRAIN_NS, false, true);
    }
    good = report(&load) && good;
    leave(&load);
    g_free(load.players);
    g_free(target);
    return good ? 0 : 1;
}
