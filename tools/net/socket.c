/* SPDX-License-Identifier: MIT */
#include "tools/net/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/uio.h>

/* Holds what a thousand clients send in one tick; the system may grant less. */
#define BUFFER_BYTES (4 << 20)

struct net_socket {
    GSocket *gio;
    struct net_address local;
    struct net_address peer;
    bool has_peer;
    bool is_ipv6;
    bool is_dual;
    bool has_errors; /* the error queue may hold errors */
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

static bool from_gio(GSocketAddress *gio, struct net_address *address) {
    struct sockaddr_storage native = {0};
    return g_socket_address_to_native(gio, &native, sizeof native, NULL) && net_address_from_native(&native, address);
}

static GSocketAddress *to_gio(const struct net_address *address) {
    struct sockaddr_storage native;
    socklen_t size = net_address_to_native(address, false, &native);
    return g_socket_address_new_from_native(&native, size);
}

static bool read_local_address(struct net_socket *s, GError **error) {
    GSocketAddress *address = g_socket_get_local_address(s->gio, error);
    bool known = address != NULL && from_gio(address, &s->local);
    g_clear_object(&address);
    return known;
}

/* Takes ownership of gio. */
static struct net_socket *new_socket(GSocket *gio, GError **error) {
    struct net_socket *s = g_new0(struct net_socket, 1);
    s->gio = gio;
    s->is_ipv6 = g_socket_get_family(gio) == G_SOCKET_FAMILY_IPV6;
    if (!read_local_address(s, error)) {
        net_socket_free(s);
        return NULL;
    }
    return s;
}

void net_socket_free(struct net_socket *s) {
    if (s != NULL) {
        g_object_unref(s->gio);
        g_free(s);
    }
}

/* A server gets ICMP errors about unreachable clients only if it enables them (as the engine does); the peer is then
   read from the error queue of the socket. */
static void enable_errors(const struct net_socket *s) {
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
static void explain_port_in_use(GError **error, uint16_t port) {
    if (g_error_matches(*error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE)) {
        g_clear_error(error);
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE,
                    "port %u is in use by another program; --port 0 chooses a free port", port);
    }
}

static struct net_socket *listen_at(GSocketAddress *address, uint16_t port, GError **error) {
    GSocket *gio = new_gio(g_socket_address_get_family(address), error);
    if (gio == NULL) {
        return NULL;
    }
    if (!g_socket_bind(gio, address, FALSE, error)) {
        explain_port_in_use(error, port);
        g_object_unref(gio);
        return NULL;
    }
    struct net_socket *s = new_socket(gio, error);
    if (s != NULL) {
        enable_errors(s);
    }
    return s;
}

static struct net_socket *listen_at_any(bool is_ipv6, uint16_t port, GError **error) {
    const struct net_address any = {.is_ipv6 = is_ipv6, .port = port};
    g_autoptr(GSocketAddress) address = to_gio(&any);
    struct net_socket *s = listen_at(address, port, error);
    return s;
}

/* An IPv6 socket serves both families, but some machines have no IPv6. */
static struct net_socket *listen_everywhere(uint16_t port, GError **error) {
    struct net_socket *s = listen_at_any(true, port, error);
    if (s != NULL) {
        s->is_dual = g_socket_speaks_ipv4(s->gio);
    } else if (!g_error_matches(*error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE)) {
        g_clear_error(error);
        s = listen_at_any(false, port, error);
    }
    return s;
}

struct net_socket *net_socket_listen(const char *host, uint16_t port, GError **error) {
    if (host == NULL) {
        return listen_everywhere(port, error);
    }
    g_autoptr(GSocketConnectable) name = g_network_address_new(host, port);
    g_autoptr(GSocketAddressEnumerator) addresses = g_socket_connectable_enumerate(name);
    GSocketAddress *first = g_socket_address_enumerator_next(addresses, NULL, error);
    struct net_socket *s = first != NULL ? listen_at(first, port, error) : NULL;
    g_clear_object(&first);
    return s;
}

static struct net_socket *connect_to(GSocketAddress *address, GError **error) {
    GSocket *gio = new_gio(g_socket_address_get_family(address), error);
    if (gio == NULL) {
        return NULL;
    }
    if (!g_socket_connect(gio, address, NULL, error)) {
        g_object_unref(gio);
        return NULL;
    }
    struct net_socket *s = new_socket(gio, error);
    if (s != NULL) {
        s->has_peer = from_gio(address, &s->peer);
    }
    return s;
}

/* Connects to the first address that works; if none does, reports the error of the last one. */
static struct net_socket *connect_to_any(GSocketAddressEnumerator *addresses, GError **error) {
    struct net_socket *s = NULL;
    GSocketAddress *address;
    GError *problem = NULL;
    while (s == NULL &&
           (address = g_socket_address_enumerator_next(addresses, NULL, problem == NULL ? &problem : NULL)) != NULL) {
        g_clear_error(&problem);
        s = connect_to(address, &problem);
        g_object_unref(address);
    }
    if (s == NULL) {
        g_propagate_error(error, problem);
    }
    return s;
}

struct net_socket *net_socket_connect(const char *target, uint16_t default_port, GError **error) {
    GSocketConnectable *name = g_network_address_parse(target, default_port, error);
    if (name == NULL) {
        return NULL;
    }
    struct net_socket *s = NULL;
    if (g_network_address_get_port(G_NETWORK_ADDRESS(name)) == 0) {
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "%s: port 0 is not a valid destination", target);
    } else {
        g_autoptr(GSocketAddressEnumerator) addresses = g_socket_connectable_enumerate(name);
        s = connect_to_any(addresses, error);
    }
    g_object_unref(name);
    return s;
}

/* ---- queries ---- */

const struct net_address *net_socket_local(const struct net_socket *s) {
    return &s->local;
}

const struct net_address *net_socket_peer(const struct net_socket *s) {
    return s->has_peer ? &s->peer : NULL;
}

bool net_socket_is_dual(const struct net_socket *s) {
    return s->is_dual;
}

GSocket *net_socket_gio(const struct net_socket *s) {
    return s->gio;
}

static bool is_any(const struct net_address *address) {
    static const uint8_t zeros[sizeof address->bytes];
    return memcmp(address->bytes, zeros, sizeof zeros) == 0;
}

/* A socket connected to the peer, which sends nothing, gives the local address of the route. */
struct net_address net_socket_local_for(const struct net_socket *s, const struct net_address *peer) {
    struct net_address local = s->local;
    if (!is_any(&local)) {
        return local;
    }
    g_autoptr(GSocketAddress) address = to_gio(peer);
    struct net_socket *probe = connect_to(address, NULL);
    if (probe != NULL) {
        local = probe->local;
        net_socket_free(probe);
    }
    local.port = s->local.port;
    local.is_ipv6 = peer->is_ipv6;
    return local;
}

/* ---- datagrams ---- */

static enum net_socket_result classify(struct net_socket *s) {
    switch (errno) {
    case EAGAIN:
    case ENOBUFS: return NET_SOCKET_WOULD_BLOCK;
    case EMSGSIZE: return NET_SOCKET_TOO_LONG;
    case ECONNREFUSED:
    case ECONNRESET:
    case EHOSTUNREACH: s->has_errors = true; return NET_SOCKET_UNREACHABLE;
    default: return NET_SOCKET_FAILED;
    }
}

/* Reads for which peer an earlier datagram failed; a listening socket has a queue of such errors. */
static enum net_socket_result receive_error(struct net_socket *s, struct net_address *from) {
#ifdef MSG_ERRQUEUE
    struct sockaddr_storage native = {0};
    uint8_t rest[1];
    struct iovec part = {rest, sizeof rest};
    struct msghdr message = {.msg_name = &native, .msg_namelen = sizeof native, .msg_iov = &part, .msg_iovlen = 1};
    if (recvmsg(g_socket_get_fd(s->gio), &message, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0 &&
        net_address_from_native(&native, from)) {
        return NET_SOCKET_UNREACHABLE;
    }
#else
    (void)from;
#endif
    s->has_errors = false;
    return NET_SOCKET_WOULD_BLOCK;
}

enum net_socket_result net_socket_receive(struct net_socket *s, struct net_address *from, uint8_t *bytes,
                                          size_t capacity_bytes, size_t *size_bytes) {
    struct sockaddr_storage native = {0};
    socklen_t native_bytes = sizeof native;
    ssize_t size = recvfrom(g_socket_get_fd(s->gio), bytes, capacity_bytes, MSG_DONTWAIT | MSG_TRUNC,
                            (struct sockaddr *)&native, &native_bytes);
    *size_bytes = 0;
    *from = s->peer;
    if (size >= 0) {
        bool is_whole = (size_t)size <= capacity_bytes;
        *size_bytes = is_whole ? (size_t)size : 0;
        return is_whole && (s->has_peer || net_address_from_native(&native, from)) ? NET_SOCKET_DONE
                                                                                   : NET_SOCKET_TOO_LONG;
    }
    enum net_socket_result result = classify(s);
    return s->has_peer || !s->has_errors ? result : receive_error(s, from);
}

static bool send_once(struct net_socket *s, const struct net_address *to, const uint8_t *bytes, size_t size_bytes) {
    struct sockaddr_storage native;
    socklen_t native_bytes = s->has_peer ? 0 : net_address_to_native(to, s->is_ipv6, &native);
    return sendto(g_socket_get_fd(s->gio), bytes, size_bytes, MSG_DONTWAIT | MSG_NOSIGNAL,
                  s->has_peer ? NULL : (const struct sockaddr *)&native, native_bytes) >= 0;
}

enum net_socket_result net_socket_send(struct net_socket *s, const struct net_address *to, const uint8_t *bytes,
                                       size_t size_bytes) {
    if (send_once(s, to, bytes, size_bytes)) {
        return NET_SOCKET_DONE;
    }
    enum net_socket_result result = classify(s);
    if (result != NET_SOCKET_UNREACHABLE || s->has_peer) {
        return result;
    }
    /* a listening socket reports the error of an earlier datagram, perhaps to another peer */
    return send_once(s, to, bytes, size_bytes) ? NET_SOCKET_DONE : classify(s);
}
