/* SPDX-License-Identifier: MIT */
#include "tools/live/transport.h"

#include <string.h>

#include "tools/cli/command_line.h"
#include "tools/live/capture_file.h"

#define ADDRESS_BYTES sizeof(struct ue_net_address)

struct ue_port {
    struct ue_socket *socket;
    struct ue_record_file *record; /* NULL: none */
    struct ue_link *link;          /* NULL: datagrams leave at once; otherwise they carry their address in front */
    ue_port_sent *sent;
    void *sent_user;
    ue_port_watch *watch;
    void *watch_user;
    bool had_error;
    struct ue_port_counters counters;
    uint8_t carried[ADDRESS_BYTES + UE_PORT_DATAGRAM_BYTES];
};

struct ue_port *ue_port_new(struct ue_socket *socket, const struct ue_live_options *options) {
    struct ue_port *port = g_new0(struct ue_port, 1);
    port->socket = socket;
    if (options->pcap != NULL && (port->record = ue_record_open(options->pcap, NULL)) == NULL) {
        ue_port_free(port);
        return NULL;
    }
    if (options->is_impaired) {
        bool is_client = ue_socket_peer(socket) != NULL;
        port->link = ue_link_new(&options->impairment, 1, options->link_seed, is_client ? 0 : 1);
        if (port->link == NULL) {
            ue_complain("no memory");
            ue_port_free(port);
            return NULL;
        }
    }
    return port;
}

bool ue_port_free(struct ue_port *port) {
    if (port == NULL) {
        return true;
    }
    bool good = ue_record_close(port->record);
    ue_link_free(port->link);
    ue_socket_free(port->socket);
    g_free(port);
    return good;
}

const struct ue_socket *ue_port_socket(const struct ue_port *port) {
    return port->socket;
}

void ue_port_set_sent(struct ue_port *port, ue_port_sent *sent, void *user) {
    port->sent = sent;
    port->sent_user = user;
}

void ue_port_set_watch(struct ue_port *port, ue_port_watch *watch, void *user) {
    port->watch = watch;
    port->watch_user = user;
}

static void show(struct ue_port *port, const struct ue_net_address *peer, bool is_sent, const uint8_t *bytes,
                 size_t size_bytes) {
    if (port->watch != NULL) {
        port->watch(port->watch_user, peer, is_sent, bytes, size_bytes);
    }
}

enum ue_socket_result ue_port_receive(struct ue_port *port, struct ue_net_address *from, uint8_t *bytes,
                                      size_t *size_bytes) {
    enum ue_socket_result result = ue_socket_receive(port->socket, from, bytes, UE_PORT_DATAGRAM_BYTES, size_bytes);
    port->counters.too_long += result == UE_SOCKET_TOO_LONG;
    port->counters.unreachable += result == UE_SOCKET_UNREACHABLE;
    port->counters.failed += result == UE_SOCKET_FAILED;
    if (result == UE_SOCKET_DONE) {
        port->counters.in_datagrams++;
        port->counters.in_bytes += *size_bytes;
        if (port->record != NULL) {
            ue_record_datagram(port->record, port->socket, from, false, bytes, *size_bytes);
        }
        show(port, from, false, bytes, *size_bytes);
    }
    return result;
}

static void send_now(struct ue_port *port, const struct ue_net_address *to, const uint8_t *bytes, size_t size_bytes) {
    enum ue_socket_result result = ue_socket_send(port->socket, to, bytes, size_bytes);
    if (result == UE_SOCKET_DONE) {
        port->counters.out_datagrams++;
        port->counters.out_bytes += size_bytes;
        if (port->record != NULL) {
            ue_record_datagram(port->record, port->socket, to, true, bytes, size_bytes);
        }
    }
    port->counters.too_long += result == UE_SOCKET_TOO_LONG;
    port->counters.failed += result == UE_SOCKET_FAILED;
    port->had_error |= result != UE_SOCKET_DONE;
    if (port->had_error && port->sent != NULL) {
        port->sent(port->sent_user, to, result);
    }
}

uint64_t ue_port_run(struct ue_port *port, uint64_t now_ns) {
    const uint8_t *carried;
    size_t size_bytes;
    if (port->link == NULL) {
        return UINT64_MAX;
    }
    while (ue_link_take(port->link, now_ns, &carried, &size_bytes)) {
        struct ue_net_address to;
        memcpy(&to, carried, ADDRESS_BYTES);
        send_now(port, &to, carried + ADDRESS_BYTES, size_bytes - ADDRESS_BYTES);
    }
    return ue_link_deadline(port->link);
}

void ue_port_send(struct ue_port *port, uint64_t now_ns, const struct ue_net_address *to, const uint8_t *bytes,
                  size_t size_bytes) {
    show(port, to, true, bytes, size_bytes);
    if (port->link == NULL || size_bytes > UE_PORT_DATAGRAM_BYTES) {
        send_now(port, to, bytes, size_bytes);
        return;
    }
    memcpy(port->carried, to, ADDRESS_BYTES);
    memcpy(port->carried + ADDRESS_BYTES, bytes, size_bytes);
    ue_link_send(port->link, now_ns, port->carried, ADDRESS_BYTES + size_bytes);
    ue_port_run(port, now_ns);
}

void ue_port_count(const struct ue_port *port, struct ue_port_counters *counters) {
    *counters = port->counters;
    counters->lost = port->link != NULL ? ue_link_counts(port->link)[UE_FATE_LOST] : 0;
}

void ue_grace_note(struct ue_grace *grace, uint64_t now_ns, enum ue_socket_result result) {
    if (result == UE_SOCKET_DONE) {
        grace->since_ns = 0;
    } else if (result != UE_SOCKET_WOULD_BLOCK && grace->since_ns == 0) {
        grace->since_ns = now_ns;
    }
}

bool ue_grace_is_over(const struct ue_grace *grace, uint64_t now_ns) {
    return grace->since_ns != 0 && now_ns - grace->since_ns > UE_GRACE_NS;
}
