/* SPDX-License-Identifier: MIT */
#include "tools/live/transport.h"

#include <string.h>

#include "tools/cli/command_line.h"
#include "tools/live/capture_file.h"

#define ADDRESS_BYTES sizeof(struct net_address)

struct live_transport {
    struct net_socket *socket;
    struct live_capture *record; /* NULL: none */
    struct sim_link *link;          /* NULL: datagrams leave at once; otherwise they carry their address in front */
    live_transport_sent_callback *sent;
    void *sent_user;
    live_transport_tap *watch;
    void *watch_user;
    bool had_error;
    struct live_transport_counters counters;
    uint8_t carried[ADDRESS_BYTES + LIVE_TRANSPORT_DATAGRAM_BYTES];
};

struct live_transport *live_transport_new(struct net_socket *socket, const struct live_options *options) {
    struct live_transport *port = g_new0(struct live_transport, 1);
    port->socket = socket;
    if (options->pcap != NULL && (port->record = live_capture_open(options->pcap, NULL)) == NULL) {
        live_transport_free(port);
        return NULL;
    }
    if (options->is_impaired) {
        bool is_client = net_socket_peer(socket) != NULL;
        port->link = sim_link_new(&options->impairment, 1, options->link_seed, is_client ? 0 : 1);
        if (port->link == NULL) {
            cli_error("no memory");
            live_transport_free(port);
            return NULL;
        }
    }
    return port;
}

bool live_transport_free(struct live_transport *port) {
    if (port == NULL) {
        return true;
    }
    bool good = live_capture_close(port->record);
    sim_link_free(port->link);
    net_socket_free(port->socket);
    g_free(port);
    return good;
}

const struct net_socket *live_transport_socket(const struct live_transport *port) {
    return port->socket;
}

void live_transport_set_sent_callback(struct live_transport *port, live_transport_sent_callback *sent, void *user) {
    port->sent = sent;
    port->sent_user = user;
}

void live_transport_set_tap(struct live_transport *port, live_transport_tap *watch, void *user) {
    port->watch = watch;
    port->watch_user = user;
}

static void show(struct live_transport *port, const struct net_address *peer, bool is_sent, const uint8_t *bytes,
                 size_t size_bytes) {
    if (port->watch != NULL) {
        port->watch(port->watch_user, peer, is_sent, bytes, size_bytes);
    }
}

enum net_socket_result live_transport_receive(struct live_transport *port, struct net_address *from, uint8_t *bytes,
                                      size_t *size_bytes) {
    enum net_socket_result result = net_socket_receive(port->socket, from, bytes, LIVE_TRANSPORT_DATAGRAM_BYTES, size_bytes);
    port->counters.too_long += result == NET_SOCKET_TOO_LONG;
    port->counters.unreachable += result == NET_SOCKET_UNREACHABLE;
    port->counters.failed += result == NET_SOCKET_FAILED;
    if (result == NET_SOCKET_DONE) {
        port->counters.in_datagrams++;
        port->counters.in_bytes += *size_bytes;
        if (port->record != NULL) {
            live_capture_write_own_datagram(port->record, port->socket, from, false, bytes, *size_bytes);
        }
        show(port, from, false, bytes, *size_bytes);
    }
    return result;
}

static void send_now(struct live_transport *port, const struct net_address *to, const uint8_t *bytes, size_t size_bytes) {
    enum net_socket_result result = net_socket_send(port->socket, to, bytes, size_bytes);
    if (result == NET_SOCKET_DONE) {
        port->counters.out_datagrams++;
        port->counters.out_bytes += size_bytes;
        if (port->record != NULL) {
            live_capture_write_own_datagram(port->record, port->socket, to, true, bytes, size_bytes);
        }
    }
    port->counters.too_long += result == NET_SOCKET_TOO_LONG;
    port->counters.failed += result == NET_SOCKET_FAILED;
    port->had_error |= result != NET_SOCKET_DONE;
    if (port->had_error && port->sent != NULL) {
        port->sent(port->sent_user, to, result);
    }
}

uint64_t live_transport_run(struct live_transport *port, uint64_t now_ns) {
    const uint8_t *carried;
    size_t size_bytes;
    if (port->link == NULL) {
        return UINT64_MAX;
    }
    while (sim_link_pop(port->link, now_ns, &carried, &size_bytes)) {
        struct net_address to;
        memcpy(&to, carried, ADDRESS_BYTES);
        send_now(port, &to, carried + ADDRESS_BYTES, size_bytes - ADDRESS_BYTES);
    }
    return sim_link_deadline(port->link);
}

void live_transport_send(struct live_transport *port, uint64_t now_ns, const struct net_address *to, const uint8_t *bytes,
                  size_t size_bytes) {
    show(port, to, true, bytes, size_bytes);
    if (port->link == NULL || size_bytes > LIVE_TRANSPORT_DATAGRAM_BYTES) {
        send_now(port, to, bytes, size_bytes);
        return;
    }
    memcpy(port->carried, to, ADDRESS_BYTES);
    memcpy(port->carried + ADDRESS_BYTES, bytes, size_bytes);
    sim_link_send(port->link, now_ns, port->carried, ADDRESS_BYTES + size_bytes);
    live_transport_run(port, now_ns);
}

void live_transport_get_counters(const struct live_transport *port, struct live_transport_counters *counters) {
    *counters = port->counters;
    counters->lost = port->link != NULL ? sim_link_event_counts(port->link)[SIM_DATAGRAM_LOST] : 0;
}

void live_error_timer_update(struct live_error_timer *grace, uint64_t now_ns, enum net_socket_result result) {
    if (result == NET_SOCKET_DONE) {
        grace->since_ns = 0;
    } else if (result != NET_SOCKET_WOULD_BLOCK && grace->since_ns == 0) {
        grace->since_ns = now_ns;
    }
}

bool live_error_timer_is_expired(const struct live_error_timer *grace, uint64_t now_ns) {
    return grace->since_ns != 0 && now_ns - grace->since_ns > LIVE_ERROR_TIMEOUT_NS;
}
