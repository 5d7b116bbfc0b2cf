/* SPDX-License-Identifier: MIT */
#include "tools/live/relay.h"

#include <string.h>

#include "tools/cli.h"
#include "tools/live/port.h"
#include "tools/live/relay_client.h"
#include "tools/live/relay_report.h"
#include "tools/live/report.h"

#define NS_PER_S 1e9
/* A flood leaves time for the others. */
#define DATAGRAMS_PER_CALL 256
/* Both sides repeat and confirm the end of a connection for about a second. */
#define CLOSED_NS UINT64_C(3000000000)

struct ue_relay {
    struct ue_relay_options *options;
    struct ue_socket *listener;
    struct ue_loop *loop;
    struct ue_relay_record *record;
    char server[UE_NET_ADDRESS_TEXT_BYTES];
    GHashTable *clients; /* by address */
    GQueue order;        /* of clients, from the one that was silent the longest */
    struct ue_relay_totals totals;
    uint64_t begun_ns, now_ns;
    uint64_t wake_ns; /* what the loop was told */
    uint64_t frames;
    bool is_server_dead; /* it was said */
    bool is_full;        /* it was said */
    bool has_left;       /* some client */
    uint8_t bytes[UE_PORT_DATAGRAM_BYTES];
};

/* ---- clients ---- */

static guint hash_address(const void *key) {
    const uint8_t *bytes = key;
    guint hash = 0;
    for (size_t i = 0; i < sizeof(struct ue_net_address); i++) {
        hash = hash * 33 + bytes[i];
    }
    return hash;
}

static gboolean equal_addresses(const void *a, const void *b) {
    return ue_net_address_equal(a, b);
}

static void forget(struct ue_relay *relay, struct ue_relay_client *client, const char *reason) {
    ue_relay_report_left(relay->options->json, client, reason, relay->now_ns);
    ue_relay_totals_add(&relay->totals, client);
    g_queue_unlink(&relay->order, &client->link);
    g_hash_table_remove(relay->clients, &client->ends[0].peer);
    ue_relay_client_free(client);
    relay->has_left = true;
}

/* A server that does not listen may be about to start; said once, until it is heard again. */
static void on_refused(void *user, enum ue_socket_result result) {
    struct ue_relay *relay = user;
    if (result == UE_SOCKET_UNREACHABLE && !relay->is_server_dead) {
        relay->is_server_dead = true;
        ue_complain("nobody listens at %s (port unreachable); the link goes on", relay->server);
    }
}

static void on_server(void *user);

static struct ue_relay_client *add_client(struct ue_relay *relay, const struct ue_net_address *address) {
    const struct ue_relay_client_config config = {
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
    struct ue_relay_client *client = ue_relay_client_new(&config);
    if (client != NULL) {
        relay->totals.clients++;
        client->watch = ue_loop_watch(relay->loop, client->ends[1].socket, on_server, client);
        g_hash_table_insert(relay->clients, &client->ends[0].peer, client);
        g_queue_push_tail_link(&relay->order, &client->link);
        ue_relay_report_connected(relay->options->json, client);
    }
    return client;
}

/* NULL: there is no room for one more. */
static struct ue_relay_client *client_at(struct ue_relay *relay, const struct ue_net_address *address) {
    struct ue_relay_client *client = g_hash_table_lookup(relay->clients, address);
    if (client == NULL && g_hash_table_size(relay->clients) < (guint)relay->options->max_clients) {
        client = add_client(relay, address);
    }
    if (client == NULL) {
        relay->totals.refused++;
        if (!relay->is_full) {
            relay->is_full = true;
            ue_complain("no room for one more client; those that are silent for %g s make some",
                        relay->options->idle_s);
        }
    }
    return client;
}

/* ---- datagrams ---- */

static void wake_by(struct ue_relay *relay, uint64_t time_ns) {
    if (time_ns < relay->wake_ns) {
        relay->wake_ns = time_ns;
        ue_loop_wake_at(relay->loop, time_ns);
    }
}

static void carry(struct ue_relay *relay, struct ue_relay_client *client, unsigned end, size_t size_bytes) {
    g_queue_unlink(&relay->order, &client->link);
    g_queue_push_tail_link(&relay->order, &client->link);
    ue_relay_client_take(client, relay->options->rules, ++relay->frames, relay->now_ns, end, relay->bytes, size_bytes);
    wake_by(relay, ue_relay_client_run(client, relay->now_ns));
}

static void on_client(void *user) {
    struct ue_relay *relay = user;
    struct ue_net_address from;
    size_t size_bytes;
    enum ue_socket_result result = UE_SOCKET_DONE;
    for (int i = 0; i < DATAGRAMS_PER_CALL && result != UE_SOCKET_WOULD_BLOCK; i++) {
        result = ue_socket_receive(relay->listener, &from, relay->bytes, sizeof relay->bytes, &size_bytes);
        relay->now_ns = ue_loop_now_ns();
        struct ue_relay_client *client = result == UE_SOCKET_DONE ? client_at(relay, &from) : NULL;
        if (client != NULL) {
            carry(relay, client, 0, size_bytes);
        }
    }
}

static void on_server(void *user) {
    struct ue_relay_client *client = user;
    struct ue_relay *relay = client->owner;
    struct ue_net_address from;
    size_t size_bytes;
    enum ue_socket_result result = UE_SOCKET_DONE;
    for (int i = 0; i < DATAGRAMS_PER_CALL && result != UE_SOCKET_WOULD_BLOCK; i++) {
        result = ue_socket_receive(client->ends[1].socket, &from, relay->bytes, sizeof relay->bytes, &size_bytes);
        relay->now_ns = ue_loop_now_ns();
        if (result == UE_SOCKET_DONE) {
            relay->is_server_dead = false;
            carry(relay, client, 1, size_bytes);
        }
        on_refused(relay, result);
    }
}

/* ---- time ---- */

static void on_wake(void *user) {
    struct ue_relay *relay = user;
    uint64_t next_ns = UINT64_MAX;
    relay->now_ns = ue_loop_now_ns();
    for (GList *at = relay->order.head; at != NULL; at = at->next) {
        uint64_t time_ns = ue_relay_client_run(at->data, relay->now_ns);
        next_ns = MIN(next_ns, time_ns);
    }
    relay->wake_ns = UINT64_MAX;
    wake_by(relay, next_ns);
}

static const char *reason_to_forget(const struct ue_relay *relay, const struct ue_relay_client *client) {
    uint64_t silent_ns = relay->now_ns - client->heard_ns;
    if (silent_ns > (uint64_t)(relay->options->idle_s * NS_PER_S)) {
        return "idle";
    }
    return silent_ns > CLOSED_NS && ue_relay_insight_is_closed(client->insight) ? "closed" : NULL;
}

static bool is_time_over(const struct ue_relay *relay) {
    return (double)(relay->now_ns - relay->begun_ns) >= relay->options->duration_s * NS_PER_S;
}

static void on_tick(void *user) {
    struct ue_relay *relay = user;
    relay->now_ns = ue_loop_now_ns();
    for (GList *at = relay->order.head, *next; at != NULL; at = next) {
        struct ue_relay_client *client = at->data;
        const char *reason = reason_to_forget(relay, client);
        next = at->next;
        ue_relay_lane_tick(client->lanes[0], relay->now_ns);
        ue_relay_lane_tick(client->lanes[1], relay->now_ns);
        if (reason != NULL) {
            forget(relay, client, reason);
            relay->is_full = false;
        }
    }
    on_wake(relay);
    if ((relay->options->once && relay->has_left) || is_time_over(relay)) {
        ue_loop_quit(relay->loop);
    }
}

static void on_stop(void *user) {
    struct ue_relay *relay = user;
    ue_loop_quit(relay->loop);
}

/* ---- life ---- */

static bool listens_to_itself(const struct ue_socket *listener, const struct ue_net_address *server) {
    const struct ue_net_address local = ue_socket_local_for(listener, server);
    return ue_net_address_equal(&local, server);
}

/* The name is looked up once: clients that come later find the same server. */
static bool find_server(struct ue_relay *relay, const char *target, GError **error) {
    struct ue_socket *probe = ue_socket_connect(target, UE_SERVER_PORT, error);
    if (probe == NULL) {
        return false;
    }
    const struct ue_net_address server = *ue_socket_peer(probe);
    ue_socket_free(probe);
    ue_net_address_format(&server, relay->server);
    if (listens_to_itself(relay->listener, &server)) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s is where the link itself listens", relay->server);
        return false;
    }
    return true;
}

static bool open_sockets(struct ue_relay *relay, uint16_t port, const char *target) {
    GError *error = NULL;
    relay->listener = ue_socket_listen(relay->options->bind, port, &error);
    if (relay->listener != NULL && find_server(relay, target, &error)) {
        return true;
    }
    ue_complain("%s", error->message);
    g_error_free(error);
    return false;
}

struct ue_relay *ue_relay_new(struct ue_relay_options *options, uint16_t port, const char *target) {
    struct ue_relay *relay = g_new0(struct ue_relay, 1);
    const struct ue_loop_hooks hooks = {
        .user = relay, .receive = on_client, .tick = on_tick, .wake = on_wake, .stop = on_stop};
    relay->options = options;
    relay->wake_ns = UINT64_MAX;
    relay->clients = g_hash_table_new(hash_address, equal_addresses);
    relay->begun_ns = relay->now_ns = ue_loop_now_ns();
    if (!open_sockets(relay, port, target) || (relay->record = ue_relay_record_open(&options->paths)) == NULL) {
        ue_relay_free(relay);
        return NULL;
    }
    relay->loop = ue_loop_new(&hooks, relay->listener, options->ticks_per_second);
    return relay;
}

void ue_relay_run(struct ue_relay *relay) {
    ue_report_ready(relay->options->json, relay->listener);
    ue_loop_run(relay->loop);
    relay->now_ns = ue_loop_now_ns();
    while (relay->order.head != NULL) {
        forget(relay, relay->order.head->data, "end");
    }
    ue_relay_report_summary(relay->options, &relay->totals);
}

bool ue_relay_free(struct ue_relay *relay) {
    if (relay == NULL) {
        return true;
    }
    if (relay->loop != NULL) {
        ue_loop_free(relay->loop);
    }
    bool good = ue_relay_record_close(relay->record);
    ue_socket_free(relay->listener);
    g_hash_table_destroy(relay->clients);
    g_free(relay);
    return good;
}
