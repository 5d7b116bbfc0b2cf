/* SPDX-License-Identifier: MIT */
/* The network side of a live program: a socket, the impairment of outgoing datagrams, and a capture of everything on
   the wire. Times are nanoseconds of event_loop_now_ns. */
#ifndef UERUDP_TOOLS_LIVE_TRANSPORT_H
#define UERUDP_TOOLS_LIVE_TRANSPORT_H

#include "tools/live/endpoint_options.h"
#include "tools/net/socket.h"

/* Larger than any datagram. */
#define LIVE_TRANSPORT_DATAGRAM_BYTES 65536

struct live_transport;

/* Takes ownership of the socket. NULL, with a message: the capture cannot be written. */
struct live_transport *live_transport_new(struct net_socket *socket, const struct live_options *options);
/* False, with a message: the capture is incomplete. NULL is ignored. */
bool live_transport_free(struct live_transport *transport);

const struct net_socket *live_transport_socket(const struct live_transport *transport);

/* Called when a datagram could not be sent and, after the first such case, for each one that is (result is DONE). */
typedef void live_transport_sent_callback(void *user, const struct net_address *to, enum net_socket_result result);
void live_transport_set_sent_callback(struct live_transport *transport, live_transport_sent_callback *sent, void *user);

/* Called for each datagram that is received, and for each that is sent, before the impairment. */
typedef void live_transport_tap(void *user, const struct net_address *peer, bool is_sent, const uint8_t *bytes,
                                size_t size_bytes);
void live_transport_set_tap(struct live_transport *transport, live_transport_tap *tap, void *user);

/* Reads one waiting datagram or error; bytes: room for LIVE_TRANSPORT_DATAGRAM_BYTES. */
enum net_socket_result live_transport_receive(struct live_transport *transport, struct net_address *from,
                                              uint8_t *bytes, size_t *size_bytes);

/* Sends now or, with an impairment, later, twice or never. */
void live_transport_send(struct live_transport *transport, uint64_t now_ns, const struct net_address *to,
                         const uint8_t *bytes, size_t size_bytes);

/* Sends the delayed datagrams that are due. Returns when the next one is due; UINT64_MAX: none. */
uint64_t live_transport_run(struct live_transport *transport, uint64_t now_ns);

struct live_transport_counters {
    uint64_t in_datagrams, in_bytes;
    uint64_t out_datagrams, out_bytes; /* that reached the socket */
    uint64_t lost;                     /* by the impairment */
    uint64_t too_long, unreachable, failed;
};

void live_transport_get_counters(const struct live_transport *transport, struct live_transport_counters *counters);

/* How long socket errors may last before they end a connection (endpoint.md 33). */
#define LIVE_ERROR_TIMEOUT_NS UINT64_C(5000000000)

/* The errors of one direction of a connection. Zeroed: no error yet. */
struct live_error_timer {
    uint64_t since_ns; /* 0: no error since the last success */
};

void live_error_timer_update(struct live_error_timer *timer, uint64_t now_ns, enum net_socket_result result);
bool live_error_timer_is_expired(const struct live_error_timer *timer, uint64_t now_ns);

#endif
