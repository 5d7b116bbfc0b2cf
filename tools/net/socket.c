/* SPDX-License-Identifier: MIT */
#include "tools/net/socket.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* A tick's worth of a thousand clients; the system may grant less. */
#define BUFFER_BYTES (4 << 20)

struct ue_socket {
    GSocket *gio;
    struct ue_net_address local;
    struct ue_net_address peer;
    bool has_peer;
    bool is_ipv6;
    bool is_dual;
};

/* ---- creation ---- */

static GSocket *new_gio(GSocketFamily family, GError **error) {
    GSocket *gio = g_socket_new(family, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, error);
    if (gio != NULL) {
        g_socket_set_blocking(gio, FALSE);
        g_socket_set_option(gio, SOL_SOCKET, SO_RCVBUF, BUFFER_BYTES, NULL);
        g_socket_set_option(gio, SOL_SOCKET, SO_SNDBUF, BUFFER_BYTES, NULL);
    }
    return gio;
}

static bool learn_local(struct ue_socket *s, GError **error) {
    GSocketAddress *address = g_socket_get_local_address(s->gio, error);
    bool known = address != NULL && ue_net_address_from_gio(address, &s->local);
    g_clear_object(&address);
    return known;
}

/* Takes over gio. */
static struct ue_socket *new_socket(GSocket *gio, GError **error) {
    struct ue_socket *s = g_new0(struct ue_socket, 1);
    s->gio = gio;
    s->is_ipv6 = g_socket_get_family(gio) == G_SOCKET_FAMILY_IPV6;
    if (!learn_local(s, error)) {
        ue_socket_free(s);
        return NULL;
    }
    return s;
}

void ue_socket_free(struct ue_socket *s) {
    if (s != NULL) {
        g_object_unref(s->gio);
        g_free(s);
    }
}

/* A server hears of clients that are gone only when it asks for it (as the engine does); the peer is then read from the
   socket's error queue. */
static void want_errors(const struct ue_socket *s) {
#ifdef IP_RECVERR
    g_socket_set_option(s->gio, IPPROTO_IP, IP_RECVERR, 1, NULL);
    if (s->is_ipv6) {
        g_socket_set_option(s->gio, IPPROTO_IPV6, IPV6_RECVERR, 1, NULL);
    }
#else
    (void)s;
#endif
}

/* GIO's message names neither the port nor a remedy. */
static void explain_taken(GError **error, uint16_t port) {
    if (g_error_matches(*error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE)) {
        g_clear_error(error);
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE,
                    "port %u is taken by another program; --port 0 finds a free one", port);
    }
}

static struct ue_socket *listen_at(GSocketAddress *address, uint16_t port, GError **error) {
    GSocket *gio = new_gio(g_socket_address_get_family(address), error);
    if (gio == NULL) {
        return NULL;
    }
    if (!g_socket_bind(gio, address, FALSE, error)) {
        explain_taken(error, port);
        g_object_unref(gio);
        return NULL;
    }
    struct ue_socket *s = new_socket(gio, error);
    if (s != NULL) {
        want_errors(s);
    }
    return s;
}

/* IPv6 sockets take both, but some machines have none. */
static struct ue_socket *listen_everywhere(uint16_t port, GError **error) {
    static const struct ue_net_address any6 = {.is_ipv6 = 1};
    static const struct ue_net_address any4 = {0};
    struct ue_net_address address = any6;
    address.port = port;
    GSocketAddress *wanted = ue_net_address_to_gio(&address, true);
    struct ue_socket *s = listen_at(wanted, port, error);
    g_object_unref(wanted);
    if (s != NULL) {
        s->is_dual = g_socket_speaks_ipv4(s->gio);
    } else if (!g_error_matches(*error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE)) {
        g_clear_error(error);
        address = any4;
        address.port = port;
        wanted = ue_net_address_to_gio(&address, false);
        s = listen_at(wanted, port, error);
        g_object_unref(wanted);
    }
    return s;
}

struct ue_socket *ue_socket_listen(const char *host, uint16_t port, GError **error) {
    if (host == NULL) {
        return listen_everywhere(port, error);
    }
    GSocketConnectable *name = g_network_address_new(host, port);
    GSocketAddressEnumerator *addresses = g_socket_connectable_enumerate(name);
    GSocketAddress *first = g_socket_address_enumerator_next(addresses, NULL, error);
    struct ue_socket *s = first != NULL ? listen_at(first, port, error) : NULL;
    g_clear_object(&first);
    g_object_unref(addresses);
    g_object_unref(name);
    return s;
}

static struct ue_socket *connect_to(GSocketAddress *address, GError **error) {
    GSocket *gio = new_gio(g_socket_address_get_family(address), error);
    if (gio == NULL) {
        return NULL;
    }
    if (!g_socket_connect(gio, address, NULL, error)) {
        g_object_unref(gio);
        return NULL;
    }
    struct ue_socket *s = new_socket(gio, error);
    if (s != NULL) {
        s->has_peer = ue_net_address_from_gio(address, &s->peer);
    }
    return s;
}

struct ue_socket *ue_socket_connect(const char *target, uint16_t default_port, GError **error) {
    GSocketConnectable *name = g_network_address_parse(target, default_port, error);
    if (name == NULL) {
        return NULL;
    }
    GSocketAddressEnumerator *addresses = g_socket_connectable_enumerate(name);
    GSocketAddress *address;
    struct ue_socket *s = NULL;
    GError *last = NULL;
    while (s == NULL) {
        GError *problem = NULL;
        address = g_socket_address_enumerator_next(addresses, NULL, &problem);
        if (address == NULL && problem == NULL) {
            break; /* none is left: the last problem stands */
        }
        s = address != NULL ? connect_to(address, &problem) : NULL;
        bool is_end = address == NULL;
        g_clear_object(&address);
        g_clear_error(&last);
        last = problem;
        if (is_end) {
            break;
        }
    }
    if (s == NULL && last != NULL) {
        g_propagate_error(error, g_steal_pointer(&last));
    } else if (s == NULL) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_HOST_NOT_FOUND, "%s has no address", target);
    }
    g_clear_error(&last);
    g_object_unref(addresses);
    g_object_unref(name);
    return s;
}

/* ---- queries ---- */

const struct ue_net_address *ue_socket_local(const struct ue_socket *s) {
    return &s->local;
}

const struct ue_net_address *ue_socket_peer(const struct ue_socket *s) {
    return s->has_peer ? &s->peer : NULL;
}

bool ue_socket_is_dual(const struct ue_socket *s) {
    return s->is_dual;
}

GSocket *ue_socket_gio(const struct ue_socket *s) {
    return s->gio;
}

bool ue_socket_route(const struct ue_net_address *peer, struct ue_net_address *local) {
    GSocketAddress *address = ue_net_address_to_gio(peer, false);
    struct ue_socket *s = connect_to(address, NULL);
    g_object_unref(address);
    if (s != NULL) {
        *local = s->local;
        ue_socket_free(s);
    }
    return s != NULL;
}

/* ---- datagrams ---- */

static enum ue_socket_result classify(GError *error) {
    enum ue_socket_result result = UE_SOCKET_FAILED;
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK)) {
        result = UE_SOCKET_WOULD_BLOCK;
    } else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CONNECTION_REFUSED) ||
               g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED)) {
        result = UE_SOCKET_UNREACHABLE;
    } else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE)) {
        result = UE_SOCKET_TOO_LONG;
    }
    g_error_free(error);
    return result;
}

/* flags: of the system's recvmsg, and what it says on return. */
static gssize receive(struct ue_socket *s, struct ue_net_address *from, uint8_t *bytes, size_t capacity_bytes,
                      int *flags, GError **error) {
    GInputVector vector = {bytes, capacity_bytes};
    GSocketAddress *address = NULL;
    gssize size =
        g_socket_receive_message(s->gio, s->has_peer ? NULL : &address, &vector, 1, NULL, NULL, flags, NULL, error);
    if (s->has_peer) {
        *from = s->peer;
    } else if (address == NULL || !ue_net_address_from_gio(address, from)) {
        memset(from, 0, sizeof *from);
    }
    g_clear_object(&address);
    return size;
}

/* Whom a datagram sent earlier did not reach; the socket keeps a queue of them. */
static enum ue_socket_result receive_error(struct ue_socket *s, struct ue_net_address *from) {
#ifdef MSG_ERRQUEUE
    uint8_t rest[1];
    int flags = MSG_ERRQUEUE;
    GError *error = NULL;
    if (receive(s, from, rest, sizeof rest, &flags, &error) >= 0) {
        return UE_SOCKET_UNREACHABLE;
    }
    g_error_free(error);
#endif
    return UE_SOCKET_WOULD_BLOCK;
}

enum ue_socket_result ue_socket_receive(struct ue_socket *s, struct ue_net_address *from, uint8_t *bytes,
                                        size_t capacity_bytes, size_t *size_bytes) {
    int flags = 0;
    GError *error = NULL;
    gssize size = receive(s, from, bytes, capacity_bytes, &flags, &error);
    if (size >= 0) {
        *size_bytes = (size_t)size;
        return (flags & MSG_TRUNC) != 0 ? UE_SOCKET_TOO_LONG : UE_SOCKET_DONE;
    }
    *size_bytes = 0;
    enum ue_socket_result result = classify(error);
    return s->has_peer || result == UE_SOCKET_FAILED ? result : receive_error(s, from);
}

static gssize send_once(struct ue_socket *s, const struct ue_net_address *to, const uint8_t *bytes, size_t size_bytes,
                        GError **error) {
    if (s->has_peer) {
        return g_socket_send(s->gio, (const char *)bytes, size_bytes, NULL, error);
    }
    GSocketAddress *address = ue_net_address_to_gio(to, s->is_ipv6);
    gssize sent = g_socket_send_to(s->gio, address, (const char *)bytes, size_bytes, NULL, error);
    g_object_unref(address);
    return sent;
}

enum ue_socket_result ue_socket_send(struct ue_socket *s, const struct ue_net_address *to, const uint8_t *bytes,
                                     size_t size_bytes) {
    GError *error = NULL;
    if (send_once(s, to, bytes, size_bytes, &error) >= 0) {
        return UE_SOCKET_DONE;
    }
    enum ue_socket_result result = classify(error);
    if (result != UE_SOCKET_UNREACHABLE || s->has_peer) {
        return result;
    }
    error = NULL; /* a listening socket reports what an earlier datagram met, perhaps at another peer */
    return send_once(s, to, bytes, size_bytes, &error) >= 0 ? UE_SOCKET_DONE : classify(error);
}
