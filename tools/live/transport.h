/* SPDX-License-Identifier: MIT */
/* A program's end of the network: a socket, what is to happen to datagrams on their way out, and the record of what
   went over the wire. Times are nanoseconds of event_loop_now_ns. */
#ifndef UERUDP_TOOLS_LIVE_TRANSPORT_H
#define UERUDP_TOOLS_LIVE_TRANSPORT_H

#include "tools/live/options.h"
#include "tools/net/socket.h"

/* Larger than any datagram. */
#define LIVE_TRANSPORT_DATAGRAM_BYTES 65536

struct live_transport;

/* Takes over the socket. NULL, with a message, when the record cannot be written. */
struct live_transport *live_transport_new(struct net_socket *socket, const struct live_options *options);
/* False, with a message, when the record is incomplete. NULL is ignored. */
bool live_transport_free(struct live_transport *port);

const struct net_socket *live_transport_socket(const struct live_transport *port);

/* Called when a datagram could not leave, and, once there was such a case, for each that leaves (then result is DONE).
 */
typedef void live_transport_sent_callback(void *user, const struct net_address *to, enum net_socket_result result);
void live_transport_set_sent_callback(struct live_transport *port, live_transport_sent_callback *sent, void *user);

/* Sees each datagram as it comes in, and as it is sent, before the impairment; may be NULL. */
typedef void live_transport_tap(void *user, const struct net_address *peer, bool is_sent, const uint8_t *bytes,
                           size_t size_bytes);
void live_transport_set_tap(struct live_transport *port, live_transport_tap *watch, void *user);

/* Takes one waiting datagram or error; bytes: room for LIVE_TRANSPORT_DATAGRAM_BYTES. */
enum net_socket_result live_transport_receive(struct live_transport *port, struct net_address *from, uint8_t *bytes,
                                      size_t *size_bytes);

/* Sends now or, with an impairment, some time, twice or never. */
void live_transport_send(struct live_transport *port, uint64_t now_ns, const struct net_address *to, const uint8_t *bytes,
                  size_t size_bytes);

/* Sends what was held back until now; returns when there is more to send, UINT64_MAX: nothing is held. */
uint64_t live_transport_run(struct live_transport *port, uint64_t now_ns);

struct live_transport_counters {
    uint64_t in_datagrams, in_bytes;
    uint64_t out_datagrams, out_bytes; /* that reached the socket */
    uint64_t lost;                     /* by the impairment */
    uint64_t too_long, unreachable, failed;
};

void live_transport_get_counters(const struct live_transport *port, struct live_transport_counters *counters);

/* How long socket errors may last before they end a connection (endpoint.md 24.2). */
#define LIVE_ERROR_TIMEOUT_NS UINT64_C(5000000000)

/* One direction of one connection. A zeroed one has seen no error. */
struct live_error_timer {
    uint64_t since_ns; /* 0: no error since the last success */
};

void live_error_timer_update(struct live_error_timer *grace, uint64_t now_ns, enum net_socket_result result);
bool live_error_timer_is_expired(const struct live_error_timer *grace, uint64_t now_ns);

#endif
