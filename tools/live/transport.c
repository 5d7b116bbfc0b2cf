/* SPDX-License-Identifier: MIT */
#include "tools/live/transport.h"

#include <string.h>

#include "tools/cli/command_line.h"
#include "tools/live/capture_file.h"

#define ADDRESS_BYTES sizeof(struct net_address)

struct live_transport {
    struct net_socket *socket;
    struct live_capture *capture; /* NULL: none */
    struct sim_link *link;        /* NULL: datagrams leave at once; otherwise they carry their address through it */
    live_transport_sent_callback *sent;
    void *sent_user;
    live_transport_tap *tap;
    void *watch_user;
    bool had_error;
    struct live_transport_counters counters;
    uint8_t carried[ADDRESS_BYTES + LIVE_TRANSPORT_DATAGRAM_BYTES];
};

struct live_transport *live_transport_new(struct net_socket *socket, const struct live_options *options) {
    struct live_transport *transport = g_new0(struct live_transport, 1);
    transport->socket = socket;
    if (options->pcap != NULL && (transport->capture = live_capture_open(options->pcap, NULL)) == NULL) {
        live_transport_free(transport);
        return NULL;
    }
    if (options->is_impaired) {
        bool is_client = net_socket_peer(socket) != NULL;
        transport->link = sim_link_new(&options->impairment, 1, options->link_seed, is_client ? 0 : 1);
        if (transport->link == NULL) {
            cli_error("no memory");
            live_transport_free(transport);
            return NULL;
        }
    }
    return transport;
}

bool live_transport_free(struct live_transport *transport) {
    if (transport == NULL) {
        return true;
    }
    bool good = live_capture_close(transport->capture);
    sim_link_free(transport->link);
    net_socket_free(transport->socket);
    g_free(transport);
    return good;
}

const struct net_socket *live_transport_socket(const struct live_transport *transport) {
    return transport->socket;
}

void live_transport_set_sent_callback(struct live_transport *transport, live_transport_sent_callback *sent,
                                      void *user) {
    transport->sent = sent;
    transport->sent_user = user;
}

void live_transport_set_tap(struct live_transport *transport, live_transport_tap *tap, void *user) {
    transport->tap = tap;
    transport->watch_user = user;
}

static void show(struct live_transport *transport, const struct net_address *peer, bool is_sent, const uint8_t *bytes,
                 size_t size_bytes) {
    if (transport->tap != NULL) {
        transport->tap(transport->watch_user, peer, is_sent, bytes, size_bytes);
    }
}

enum net_socket_result live_transport_receive(struct live_transport *transport, struct net_address *from,
                                              uint8_t *bytes, size_t *size_bytes) {
    enum net_socket_result result =
        net_socket_receive(transport->socket, from, bytes, LIVE_TRANSPORT_DATAGRAM_BYTES, size_bytes);
    transport->counters.too_long += result == NET_SOCKET_TOO_LONG;
    transport->counters.unreachable += result == NET_SOCKET_UNREACHABLE;
    transport->counters.failed += result == NET_SOCKET_FAILED;
    if (result == NET_SOCKET_DONE) {
        transport->counters.in_datagrams++;
        transport->counters.in_bytes += *size_bytes;
        if (transport->capture != NULL) {
            live_capture_write_own_datagram(transport->capture, transport->socket, from, false, bytes, *size_bytes);
        }
        show(transport, from, false, bytes, *size_bytes);
    }
    return result;
}

static void send_now(struct live_transport *transport, const struct net_address *to, const uint8_t *bytes,
                     size_t size_bytes) {
    enum net_socket_result result = net_socket_send(transport->socket, to, bytes, size_bytes);
    if (result == NET_SOCKET_DONE) {
        transport->counters.out_datagrams++;
        transport->counters.out_bytes += size_bytes;
        if (transport->capture != NULL) {
            live_capture_write_own_datagram(transport->capture, transport->socket, to, true, bytes, size_bytes);
        }
    }
    transport->counters.too_long += result == NET_SOCKET_TOO_LONG;
    transport->counters.failed += result == NET_SOCKET_FAILED;
    transport->had_error |= result != NET_SOCKET_DONE;
    if (transport->had_error && transport->sent != NULL) {
        transport->sent(transport->sent_user, to, result);
    }
}

uint64_t live_transport_run(struct live_transport *transport, uint64_t now_ns) {
    const uint8_t *carried;
    size_t size_bytes;
    if (transport->link == NULL) {
        return UINT64_MAX;
    }
    while (sim_link_pop(transport->link, now_ns, &carried, &size_bytes)) {
        struct net_address to;
        memcpy(&to, carried, ADDRESS_BYTES);
        send_now(transport, &to, carried + ADDRESS_BYTES, size_bytes - ADDRESS_BYTES);
    }
    return sim_link_deadline(transport->link);
}

void live_transport_send(struct live_transport *transport, uint64_t now_ns, const struct net_address *to,
                         const uint8_t *bytes, size_t size_bytes) {
    show(transport, to, true, bytes, size_bytes);
    if (transport->link == NULL || size_bytes > LIVE_TRANSPORT_DATAGRAM_BYTES) {
        send_now(transport, to, bytes, size_bytes);
        return;
    }
    memcpy(transport->carried, to, ADDRESS_BYTES);
    memcpy(transport->carried + ADDRESS_BYTES, bytes, size_bytes);
    sim_link_send(transport->link, now_ns, transport->carried, ADDRESS_BYTES + size_bytes);
    live_transport_run(transport, now_ns);
}

void live_transport_get_counters(const struct live_transport *transport, struct live_transport_counters *counters) {
    *counters = transport->counters;
    counters->lost = transport->link != NULL ? sim_link_event_counts(transport->link)[SIM_DATAGRAM_LOST] : 0;
}

void live_error_timer_update(struct live_error_timer *timer, uint64_t now_ns, enum net_socket_result result) {
    if (result == NET_SOCKET_DONE) {
        timer->since_ns = 0;
    } else if (result != NET_SOCKET_WOULD_BLOCK && timer->since_ns == 0) {
        timer->since_ns = now_ns;
    }
}

/* endpoint.md 33.2. */
bool live_error_timer_is_expired(const struct live_error_timer *timer, uint64_t now_ns) {
    return timer->since_ns != 0 && now_ns - timer->since_ns > LIVE_ERROR_TIMEOUT_NS;
}
