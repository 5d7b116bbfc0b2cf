/* SPDX-License-Identifier: MIT */
#include "tools/impair/proxy.h"

#include <string.h>

#include "tools/cli/command_line.h"
#include "tools/impair/proxy_client.h"
#include "tools/impair/report.h"
#include "tools/live/report.h"
#include "tools/live/transport.h"

#define NS_PER_S 1e9
/* A flood leaves time for the others. */
#define DATAGRAMS_PER_CALL 256
/* Both sides repeat and confirm the end of a connection for about a second. */
#define CLOSED_NS UINT64_C(3000000000)
/* Source addresses can be forged: until a client has sent something after an answer, its place is its own for as long
   as one who repeats his handshake each second needs, and its lines are limited. */
#define SILENCE_NS UINT64_C(5000000000)
#define PLACE_NS UINT64_C(2000000000)
#define LINE_NS UINT64_C(200000000)
#define LINES_NS (20 * LINE_NS)         /* 20 lines at once */
#define REPEAT_NS UINT64_C(10000000000) /* of complaints, and of counts of what has no line */

struct impair_proxy {
    struct impair_options *options;
    struct net_socket *listener;
    struct event_loop *loop;
    struct impair_recording *record;
    char server[NET_ADDRESS_TEXT_BYTES];
    GHashTable *clients; /* by address */
    GQueue orders[2];    /* of clients, by is_confirmed, from the one that was silent the longest */
    struct impair_totals totals;
    uint64_t begun_ns, now_ns;
    uint64_t wake_ns; /* what the loop was told */
    uint64_t frames;
    uint64_t unreported;         /* clients without a line, since that was said */
    uint64_t lines_due_ns;       /* when all 20 lines may be written again */
    uint64_t unreported_said_ns; /* 0: never */
    uint64_t dead_said_ns, full_said_ns;
    bool is_server_dead; /* it was said */
    bool has_left;       /* some client */
    uint8_t bytes[LIVE_TRANSPORT_DATAGRAM_BYTES];
};

/* ---- clients ---- */

static guint hash_address(const void *key) {
    const uint8_t *bytes = key;
    guint hash = 0;
    for (size_t i = 0; i < sizeof(struct net_address); i++) {
        hash = hash * 33 + bytes[i];
    }
    return hash;
}

static gboolean equal_addresses(const void *a, const void *b) {
    return net_address_equal(a, b);
}

static void forget(struct impair_proxy *relay, struct impair_client *client, const char *reason) {
    if (client->is_reported) {
        impair_report_left(relay->options->json, client, reason, relay->now_ns);
    } else {
        relay->unreported++;
    }
    impair_totals_add(&relay->totals, client);
    g_queue_unlink(&relay->orders[client->is_confirmed], &client->link);
    g_hash_table_remove(relay->clients, &client->ends[0].peer);
    impair_client_free(client);
}

/* Whether something may be said again; if so it is said now. */
static bool is_due(const struct impair_proxy *relay, uint64_t *said_ns) {
    bool due = *said_ns == 0 || relay->now_ns - *said_ns >= REPEAT_NS;
    *said_ns = due ? relay->now_ns : *said_ns;
    return due;
}

static void report_connected(struct impair_proxy *relay, struct impair_client *client) {
    client->is_reported = true;
    impair_report_connected(relay->options->json, client);
}

/* Of a client that nobody answered yet. */
static void report_new(struct impair_proxy *relay, struct impair_client *client) {
    uint64_t due_ns = MAX(relay->lines_due_ns, relay->now_ns) + LINE_NS;
    if (due_ns <= relay->now_ns + LINES_NS) {
        relay->lines_due_ns = due_ns;
        report_connected(relay, client);
    }
}

/* A server that does not listen may be about to start; said once, until it is heard again. */
static void on_refused(void *user, enum net_socket_result result) {
    struct impair_proxy *relay = user;
    if (result == NET_SOCKET_UNREACHABLE && !relay->is_server_dead && is_due(relay, &relay->dead_said_ns)) {
        relay->is_server_dead = true;
        cli_error("nobody listens at %s (port unreachable); the link goes on", relay->server);
    }
}

static void on_server(void *user);

static struct impair_client *add_client(struct impair_proxy *relay, const struct net_address *address) {
    const struct impair_client_config config = {
        .options = relay->options,
        .number = (uint32_t)relay->totals.clients,
        .now_ns = relay->now_ns,
        .listener = relay->listener,
        .address = address,
        .server = relay->server,
        .record = relay->record,
        .refused = on_refused,
        .owner = relay,
    };
    struct impair_client *client = impair_client_new(&config);
    if (client != NULL) {
        relay->totals.clients++;
        client->watch = event_loop_watch_new(relay->loop, client->ends[1].socket, on_server, client);
        g_hash_table_insert(relay->clients, &client->ends[0].peer, client);
        g_queue_push_tail_link(&relay->orders[false], &client->link);
        report_new(relay, client);
    }
    return client;
}

/* The client that was silent the longest leaves its place, an unconfirmed one rather than another: whoever plays sends
   several times a second. False: nobody was silent for long enough. */
static bool make_room(struct impair_proxy *relay) {
    static const uint64_t silence_ns[] = {[false] = PLACE_NS, [true] = SILENCE_NS};
    for (size_t is_confirmed = false; is_confirmed <= true; is_confirmed++) {
        struct impair_client *client = g_queue_peek_head(&relay->orders[is_confirmed]);
        if (client != NULL && relay->now_ns - client->heard_ns >= silence_ns[is_confirmed]) {
            forget(relay, client, client->is_answered ? "idle" : "unanswered");
            return true;
        }
    }
    return false;
}

/* NULL: there is no room for one more. */
static struct impair_client *client_at(struct impair_proxy *relay, const struct net_address *address) {
    struct impair_client *client = g_hash_table_lookup(relay->clients, address);
    if (client != NULL) {
        return client;
    }
    bool has_room = g_hash_table_size(relay->clients) < (guint)relay->options->max_clients;
    client = has_room ? add_client(relay, address) : NULL;
    if (client == NULL && make_room(relay)) { /* perhaps the system has no more sockets */
        client = add_client(relay, address);
    }
    if (client == NULL) {
        relay->totals.refused++;
        if (is_due(relay, &relay->full_said_ns)) {
            cli_error("no room for one more client; those that are silent for %g s make some",
                        (double)SILENCE_NS / NS_PER_S);
        }
    }
    return client;
}

/* ---- datagrams ---- */

static void wake_by(struct impair_proxy *relay, uint64_t time_ns) {
    if (time_ns < relay->wake_ns) {
        relay->wake_ns = time_ns;
        event_loop_wake_at(relay->loop, time_ns);
    }
}

static void carry(struct impair_proxy *relay, struct impair_client *client, unsigned end, size_t size_bytes) {
    g_queue_unlink(&relay->orders[client->is_confirmed], &client->link);
    impair_client_receive(client, relay->options->rules, ++relay->frames, relay->now_ns, end, relay->bytes, size_bytes);
    g_queue_push_tail_link(&relay->orders[client->is_confirmed], &client->link);
    if (client->is_confirmed && !client->is_reported) {
        report_connected(relay, client);
    }
    wake_by(relay, impair_client_run(client, relay->now_ns));
}

static void on_client(void *user) {
    struct impair_proxy *relay = user;
    struct net_address from;
    size_t size_bytes;
    enum net_socket_result result = NET_SOCKET_DONE;
    for (int i = 0; i < DATAGRAMS_PER_CALL && result != NET_SOCKET_WOULD_BLOCK; i++) {
        result = net_socket_receive(relay->listener, &from, relay->bytes, sizeof relay->bytes, &size_bytes);
        relay->now_ns = event_loop_now_ns();
        struct impair_client *client = result == NET_SOCKET_DONE ? client_at(relay, &from) : NULL;
        if (client != NULL) {
            carry(relay, client, 0, size_bytes);
        }
    }
}

static void on_server(void *user) {
    struct impair_client *client = user;
    struct impair_proxy *relay = client->owner;
    struct net_address from;
    size_t size_bytes;
    enum net_socket_result result = NET_SOCKET_DONE;
    for (int i = 0; i < DATAGRAMS_PER_CALL && result != NET_SOCKET_WOULD_BLOCK; i++) {
        result = net_socket_receive(client->ends[1].socket, &from, relay->bytes, sizeof relay->bytes, &size_bytes);
        relay->now_ns = event_loop_now_ns();
        if (result == NET_SOCKET_DONE) {
            relay->is_server_dead = false;
            carry(relay, client, 1, size_bytes);
        }
        on_refused(relay, result);
    }
}

/* ---- time ---- */

static void on_wake(void *user) {
    struct impair_proxy *relay = user;
    uint64_t next_ns = UINT64_MAX;
    relay->now_ns = event_loop_now_ns();
    for (size_t i = 0; i < 2; i++) {
        for (GList *at = relay->orders[i].head; at != NULL; at = at->next) {
            uint64_t time_ns = impair_client_run(at->data, relay->now_ns);
            next_ns = MIN(next_ns, time_ns);
        }
    }
    relay->wake_ns = UINT64_MAX;
    wake_by(relay, next_ns);
}

static bool is_idle(const struct impair_proxy *relay, const struct impair_client *client) {
    return relay->now_ns - client->heard_ns > (uint64_t)(relay->options->idle_s * NS_PER_S);
}

static const char *reason_to_forget(const struct impair_proxy *relay, struct impair_client *client) {
    uint64_t silent_ns = relay->now_ns - client->heard_ns;
    if (is_idle(relay, client)) {
        return "idle";
    }
    if (!client->is_confirmed && silent_ns > SILENCE_NS &&
        impair_client_run(client, relay->now_ns) == UINT64_MAX) {
        return client->is_answered ? "idle" : "unanswered";
    }
    return silent_ns > CLOSED_NS && impair_observer_is_closed(client->insight) ? "closed" : NULL;
}

static bool is_time_over(const struct impair_proxy *relay) {
    return (double)(relay->now_ns - relay->begun_ns) >= relay->options->duration_s * NS_PER_S;
}

static void tick_clients(struct impair_proxy *relay, const GQueue *clients) {
    for (GList *at = clients->head, *next; at != NULL; at = next) {
        struct impair_client *client = at->data;
        const char *reason = reason_to_forget(relay, client);
        next = at->next;
        impair_direction_tick(client->lanes[0], relay->now_ns);
        impair_direction_tick(client->lanes[1], relay->now_ns);
        if (reason != NULL) {
            relay->has_left |= client->is_confirmed || is_idle(relay, client);
            forget(relay, client, reason);
        }
    }
}

static void report_unreported(struct impair_proxy *relay) {
    if (relay->unreported != 0) {
        impair_report_unreported(relay->options->json, relay->unreported);
        relay->unreported = 0;
    }
}

static void on_tick(void *user) {
    struct impair_proxy *relay = user;
    relay->now_ns = event_loop_now_ns();
    tick_clients(relay, &relay->orders[false]);
    tick_clients(relay, &relay->orders[true]);
    if (relay->unreported != 0 && is_due(relay, &relay->unreported_said_ns)) {
        report_unreported(relay);
    }
    on_wake(relay);
    if ((relay->options->once && relay->has_left) || is_time_over(relay)) {
        event_loop_quit(relay->loop);
    }
}

static void on_stop(void *user) {
    struct impair_proxy *relay = user;
    event_loop_quit(relay->loop);
}

/* ---- life ---- */

static bool listens_to_itself(const struct net_socket *listener, const struct net_address *server) {
    const struct net_address local = net_socket_local_for(listener, server);
    return net_address_equal(&local, server);
}

/* The name is looked up once: clients that come later find the same server. */
static bool find_server(struct impair_proxy *relay, const char *target, GError **error) {
    struct net_socket *probe = net_socket_connect(target, WIRE_OPTIONS_SERVER_PORT, error);
    if (probe == NULL) {
        return false;
    }
    const struct net_address server = *net_socket_peer(probe);
    net_socket_free(probe);
    net_address_format(&server, relay->server);
    if (listens_to_itself(relay->listener, &server)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s is where the link itself listens", relay->server);
        return false;
    }
    return true;
}

static bool open_sockets(struct impair_proxy *relay, uint16_t port, const char *target) {
    GError *error = NULL;
    relay->listener = net_socket_listen(relay->options->bind, port, &error);
    if (relay->listener != NULL && find_server(relay, target, &error)) {
        return true;
    }
    cli_error("%s", error->message);
    g_error_free(error);
    return false;
}

struct impair_proxy *impair_proxy_new(struct impair_options *options, uint16_t port, const char *target) {
    struct impair_proxy *relay = g_new0(struct impair_proxy, 1);
    const struct event_loop_callbacks hooks = {
        .user = relay, .receive = on_client, .tick = on_tick, .wake = on_wake, .stop = on_stop};
    relay->options = options;
    relay->wake_ns = UINT64_MAX;
    relay->clients = g_hash_table_new(hash_address, equal_addresses);
    relay->begun_ns = relay->now_ns = event_loop_now_ns();
    if (!open_sockets(relay, port, target) || (relay->record = impair_recording_open(&options->paths)) == NULL) {
        impair_proxy_free(relay);
        return NULL;
    }
    relay->loop = event_loop_new(&hooks, relay->listener, options->ticks_per_second);
    return relay;
}

void impair_proxy_run(struct impair_proxy *relay) {
    live_report_start(relay->options->json);
    live_report_listening(relay->options->json, relay->listener);
    event_loop_run(relay->loop);
    relay->now_ns = event_loop_now_ns();
    for (size_t i = 0; i < 2; i++) {
        while (relay->orders[i].head != NULL) {
            forget(relay, relay->orders[i].head->data, "end");
        }
    }
    report_unreported(relay);
    impair_report_summary(relay->options, &relay->totals);
}

bool impair_proxy_free(struct impair_proxy *relay) {
    if (relay == NULL) {
        return true;
    }
    if (relay->loop != NULL) {
        event_loop_free(relay->loop);
    }
    bool good = impair_recording_close(relay->record);
    good = live_report_stop() && good;
    net_socket_free(relay->listener);
    g_hash_table_destroy(relay->clients);
    g_free(relay);
    return good;
}
