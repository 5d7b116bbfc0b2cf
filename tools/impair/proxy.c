/* SPDX-License-Identifier: MIT */
#include "tools/impair/proxy.h"

#include <string.h>
#include <uerudp/time_ns.h>

#include "tools/cli/command_line.h"
#include "tools/impair/proxy_client.h"
#include "tools/impair/proxy_report.h"
#include "tools/live/endpoint_report.h"
#include "tools/live/transport.h"

/* leaves time for other sockets during a flood */
#define DATAGRAMS_PER_CALL 256
/* Source addresses can be forged: the lines about clients that are not confirmed are limited. */
#define LINE_NS UINT64_C(200000000)
#define LINES_NS (20 * LINE_NS)         /* 20 lines at once */
#define REPEAT_NS UINT64_C(10000000000) /* of error messages, and of the count of clients without a line */

struct impair_proxy {
    struct impair_options *options;
    struct net_socket *listener;
    struct event_loop *loop;
    struct impair_recording *recording;
    char server[NET_ADDRESS_TEXT_BYTES];
    GHashTable *clients; /* by address */
    GQueue orders[2];    /* of clients, by is_confirmed; first the one that was silent longest */
    struct impair_totals totals;
    uint64_t begun_ns, now_ns;
    uint64_t wake_ns; /* the time that is set in the loop */
    uint64_t frames;
    uint64_t unreported;         /* clients without a line since the last count */
    uint64_t lines_due_ns;       /* when 20 lines may be written again */
    uint64_t unreported_line_ns; /* 0: never */
    uint64_t dead_line_ns, full_line_ns;
    bool is_server_dead; /* was reported */
    bool has_left;       /* a client has left */
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

static void forget(struct impair_proxy *proxy, struct impair_client *client, const char *reason) {
    if (client->is_reported) {
        impair_report_left(proxy->options->json, client, reason, proxy->now_ns);
    } else {
        proxy->unreported++;
    }
    impair_totals_add(&proxy->totals, client);
    g_queue_unlink(&proxy->orders[client->is_confirmed], &client->link);
    g_hash_table_remove(proxy->clients, &client->endpoints[0].peer);
    impair_client_free(client);
}

/* Whether a line may be repeated now; true sets *line_ns to now. */
static bool is_due(const struct impair_proxy *proxy, uint64_t *line_ns) {
    bool due = *line_ns == 0 || proxy->now_ns - *line_ns >= REPEAT_NS;
    *line_ns = due ? proxy->now_ns : *line_ns;
    return due;
}

static void report_connected(struct impair_proxy *proxy, struct impair_client *client) {
    client->is_reported = true;
    impair_report_connected(proxy->options->json, client);
}

/* Reports a client that the server has not answered yet, unless too many lines were written. */
static void report_new(struct impair_proxy *proxy, struct impair_client *client) {
    uint64_t due_ns = MAX(proxy->lines_due_ns, proxy->now_ns) + LINE_NS;
    if (due_ns <= proxy->now_ns + LINES_NS) {
        proxy->lines_due_ns = due_ns;
        report_connected(proxy, client);
    }
}

/* A server that does not listen may be about to start: reported once, until the server answers. */
static void on_refused(void *user, enum net_socket_result result) {
    struct impair_proxy *proxy = user;
    if (result == NET_SOCKET_UNREACHABLE && !proxy->is_server_dead && is_due(proxy, &proxy->dead_line_ns)) {
        proxy->is_server_dead = true;
        cli_error("no program listens at %s (port unreachable); the link continues", proxy->server);
    }
}

static void on_server(void *user);

static struct impair_client *add_client(struct impair_proxy *proxy, const struct net_address *address) {
    const struct impair_client_config config = {
        .options = proxy->options,
        .number = (uint32_t)proxy->totals.clients,
        .now_ns = proxy->now_ns,
        .listener = proxy->listener,
        .address = address,
        .server = proxy->server,
        .recording = proxy->recording,
        .refused = on_refused,
        .owner = proxy,
    };
    struct impair_client *client = impair_client_new(&config);
    if (client != NULL) {
        proxy->totals.clients++;
        client->watch = event_loop_watch_new(proxy->loop, client->endpoints[1].socket, on_server, client);
        g_hash_table_insert(proxy->clients, &client->endpoints[0].peer, client);
        g_queue_push_tail_link(&proxy->orders[false], &client->link);
        report_new(proxy, client);
    }
    return client;
}

/* Removes the client that was silent longest, an unconfirmed one first: a client in a game sends several times a
   second. False: none was silent long enough. */
static bool remove_silent_client(struct impair_proxy *proxy) {
    for (size_t is_confirmed = false; is_confirmed <= true; is_confirmed++) {
        struct impair_client *client = g_queue_peek_head(&proxy->orders[is_confirmed]);
        if (client != NULL && impair_client_is_replaceable(client, proxy->now_ns)) {
            forget(proxy, client, client->is_answered ? "idle" : "unanswered");
            return true;
        }
    }
    return false;
}

/* NULL: the limit of clients is reached, or there is no socket. */
static struct impair_client *client_at(struct impair_proxy *proxy, const struct net_address *address) {
    struct impair_client *client = g_hash_table_lookup(proxy->clients, address);
    if (client != NULL) {
        return client;
    }
    bool has_room = g_hash_table_size(proxy->clients) < (guint)proxy->options->max_clients;
    client = has_room ? add_client(proxy, address) : NULL;
    if (client == NULL && remove_silent_client(proxy)) { /* the system may have no more sockets */
        client = add_client(proxy, address);
    }
    if (client == NULL) {
        proxy->totals.refused++;
        if (is_due(proxy, &proxy->full_line_ns)) {
            cli_error("no place for another client; a client that is silent for %g s is removed, or for %g s if it has "
                      "sent nothing after the server's first reply",
                      (double)IMPAIR_CLIENT_SILENCE_NS / UE_NS_PER_S,
                      (double)IMPAIR_CLIENT_UNCONFIRMED_NS / UE_NS_PER_S);
        }
    }
    return client;
}

/* ---- datagrams ---- */

static void wake_by(struct impair_proxy *proxy, uint64_t time_ns) {
    if (time_ns < proxy->wake_ns) {
        proxy->wake_ns = time_ns;
        event_loop_wake_at(proxy->loop, time_ns);
    }
}

static void carry(struct impair_proxy *proxy, struct impair_client *client, unsigned end, size_t size_bytes) {
    g_queue_unlink(&proxy->orders[client->is_confirmed], &client->link);
    impair_client_receive(client, proxy->options->rules, ++proxy->frames, proxy->now_ns, end, proxy->bytes, size_bytes);
    g_queue_push_tail_link(&proxy->orders[client->is_confirmed], &client->link);
    if (client->is_confirmed && !client->is_reported) {
        report_connected(proxy, client);
    }
    wake_by(proxy, impair_client_run(client, proxy->now_ns));
}

static void on_client(void *user) {
    struct impair_proxy *proxy = user;
    struct net_address from;
    size_t size_bytes;
    enum net_socket_result result = NET_SOCKET_DONE;
    for (int i = 0; i < DATAGRAMS_PER_CALL && result != NET_SOCKET_WOULD_BLOCK; i++) {
        result = net_socket_receive(proxy->listener, &from, proxy->bytes, sizeof proxy->bytes, &size_bytes);
        proxy->now_ns = event_loop_now_ns();
        struct impair_client *client = result == NET_SOCKET_DONE ? client_at(proxy, &from) : NULL;
        if (client != NULL) {
            carry(proxy, client, 0, size_bytes);
        }
    }
}

static void on_server(void *user) {
    struct impair_client *client = user;
    struct impair_proxy *proxy = client->owner;
    struct net_address from;
    size_t size_bytes;
    enum net_socket_result result = NET_SOCKET_DONE;
    for (int i = 0; i < DATAGRAMS_PER_CALL && result != NET_SOCKET_WOULD_BLOCK; i++) {
        result = net_socket_receive(client->endpoints[1].socket, &from, proxy->bytes, sizeof proxy->bytes, &size_bytes);
        proxy->now_ns = event_loop_now_ns();
        if (result == NET_SOCKET_DONE) {
            proxy->is_server_dead = false;
            carry(proxy, client, 1, size_bytes);
        }
        on_refused(proxy, result);
    }
}

/* ---- time ---- */

static void on_wake(void *user) {
    struct impair_proxy *proxy = user;
    uint64_t next_ns = UINT64_MAX;
    proxy->now_ns = event_loop_now_ns();
    for (size_t i = 0; i < 2; i++) {
        for (GList *at = proxy->orders[i].head; at != NULL; at = at->next) {
            uint64_t time_ns = impair_client_run(at->data, proxy->now_ns);
            next_ns = MIN(next_ns, time_ns);
        }
    }
    proxy->wake_ns = UINT64_MAX;
    wake_by(proxy, next_ns);
}

static bool is_time_over(const struct impair_proxy *proxy) {
    return (double)(proxy->now_ns - proxy->begun_ns) >= proxy->options->duration_s * UE_NS_PER_S;
}

static void tick_clients(struct impair_proxy *proxy, const GQueue *clients) {
    uint64_t idle_ns = (uint64_t)(proxy->options->idle_s * UE_NS_PER_S);
    for (GList *at = clients->head, *next; at != NULL; at = next) {
        struct impair_client *client = at->data;
        const char *reason = impair_client_end_reason(client, idle_ns, proxy->now_ns);
        next = at->next;
        impair_direction_tick(client->directions[0], proxy->now_ns);
        impair_direction_tick(client->directions[1], proxy->now_ns);
        if (reason != NULL) {
            proxy->has_left |= client->is_confirmed || impair_client_is_idle(client, idle_ns, proxy->now_ns);
            forget(proxy, client, reason);
        }
    }
}

static void report_unreported(struct impair_proxy *proxy) {
    if (proxy->unreported != 0) {
        impair_report_unreported(proxy->options->json, proxy->unreported);
        proxy->unreported = 0;
    }
}

static void show_progress(struct impair_proxy *proxy) {
    struct impair_totals totals = proxy->totals;
    for (size_t i = 0; i < 2; i++) {
        for (GList *at = proxy->orders[i].head; at != NULL; at = at->next) {
            impair_totals_add(&totals, at->data);
        }
    }
    impair_report_progress(&totals, g_hash_table_size(proxy->clients), (proxy->now_ns - proxy->begun_ns) / UE_NS_PER_S);
}

static void on_tick(void *user) {
    struct impair_proxy *proxy = user;
    proxy->now_ns = event_loop_now_ns();
    tick_clients(proxy, &proxy->orders[false]);
    tick_clients(proxy, &proxy->orders[true]);
    if (proxy->unreported != 0 && is_due(proxy, &proxy->unreported_line_ns)) {
        report_unreported(proxy);
    }
    on_wake(proxy);
    if (live_report_progress_is_due()) {
        show_progress(proxy);
    }
    if ((proxy->options->once && proxy->has_left) || is_time_over(proxy)) {
        event_loop_quit(proxy->loop);
    }
}

static void on_stop(void *user) {
    struct impair_proxy *proxy = user;
    event_loop_quit(proxy->loop);
}

/* ---- start and end ---- */

static bool listens_to_itself(const struct net_socket *listener, const struct net_address *server) {
    const struct net_address local = net_socket_local_for(listener, server);
    return net_address_equal(&local, server);
}

/* The name is resolved once: all clients get the same server. */
static bool find_server(struct impair_proxy *proxy, const char *target, GError **error) {
    struct net_socket *probe = net_socket_connect(target, WIRE_OPTIONS_SERVER_PORT, error);
    if (probe == NULL) {
        return false;
    }
    const struct net_address server = *net_socket_peer(probe);
    net_socket_free(probe);
    net_address_format(&server, proxy->server);
    if (listens_to_itself(proxy->listener, &server)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "the link itself listens at %s", proxy->server);
        return false;
    }
    return true;
}

static bool open_sockets(struct impair_proxy *proxy, uint16_t port, const char *target) {
    GError *error = NULL;
    proxy->listener = net_socket_listen(proxy->options->bind, port, &error);
    if (proxy->listener != NULL && find_server(proxy, target, &error)) {
        return true;
    }
    return cli_error_free(error);
}

struct impair_proxy *impair_proxy_new(struct impair_options *options, uint16_t port, const char *target) {
    struct impair_proxy *proxy = g_new0(struct impair_proxy, 1);
    const struct event_loop_callbacks hooks = {
        .user = proxy, .receive = on_client, .tick = on_tick, .wake = on_wake, .stop = on_stop};
    proxy->options = options;
    proxy->wake_ns = UINT64_MAX;
    proxy->clients = g_hash_table_new(hash_address, equal_addresses);
    proxy->begun_ns = proxy->now_ns = event_loop_now_ns();
    if (!open_sockets(proxy, port, target) || (proxy->recording = impair_recording_open(&options->paths)) == NULL) {
        impair_proxy_free(proxy);
        return NULL;
    }
    proxy->loop = event_loop_new(&hooks, proxy->listener, options->ticks_per_second);
    return proxy;
}

void impair_proxy_run(struct impair_proxy *proxy) {
    live_report_start(proxy->options->json);
    live_report_listening(proxy->options->json, proxy->listener);
    event_loop_run(proxy->loop);
    proxy->now_ns = event_loop_now_ns();
    for (size_t i = 0; i < 2; i++) {
        while (proxy->orders[i].head != NULL) {
            forget(proxy, proxy->orders[i].head->data, "end");
        }
    }
    report_unreported(proxy);
    impair_report_summary(proxy->options, &proxy->totals);
}

bool impair_proxy_free(struct impair_proxy *proxy) {
    if (proxy == NULL) {
        return true;
    }
    g_clear_pointer(&proxy->loop, event_loop_free);
    bool good = impair_recording_close(proxy->recording);
    good = live_report_stop() && good;
    net_socket_free(proxy->listener);
    g_hash_table_destroy(proxy->clients);
    g_free(proxy);
    return good;
}
