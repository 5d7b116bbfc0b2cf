/* SPDX-License-Identifier: MIT */
/* A program's end of the network: a socket, what is to happen to datagrams on their way out, and the record of what
   went over the wire. Times are nanoseconds of ue_loop_now_ns. */
#ifndef UERUDP_TOOLS_LIVE_TRANSPORT_H
#define UERUDP_TOOLS_LIVE_TRANSPORT_H

#include "tools/live/options.h"
#include "tools/net/socket.h"

/* Larger than any datagram. */
#define UE_PORT_DATAGRAM_BYTES 65536

struct ue_port;

/* Takes over the socket. NULL, with a message, when the record cannot be written. */
struct ue_port *ue_port_new(struct ue_socket *socket, const struct ue_live_options *options);
/* False, with a message, when the record is incomplete. NULL is ignored. */
bool ue_port_free(struct ue_port *port);

const struct ue_socket *ue_port_socket(const struct ue_port *port);

/* Called when a datagram could not leave, and, once there was such a case, for each that leaves (then result is DONE).
 */
typedef void ue_port_sent(void *user, const struct ue_net_address *to, enum ue_socket_result result);
void ue_port_set_sent(struct ue_port *port, ue_port_sent *sent, void *user);

/* Sees each datagram as it comes in, and as it is sent, before the impairment; may be NULL. */
typedef void ue_port_watch(void *user, const struct ue_net_address *peer, bool is_sent, const uint8_t *bytes,
                           size_t size_bytes);
void ue_port_set_watch(struct ue_port *port, ue_port_watch *watch, void *user);

/* Takes one waiting datagram or error; bytes: room for UE_PORT_DATAGRAM_BYTES. */
enum ue_socket_result ue_port_receive(struct ue_port *port, struct ue_net_address *from, uint8_t *bytes,
                                      size_t *size_bytes);

/* Sends now or, with an impairment, some time, twice or never. */
void ue_port_send(struct ue_port *port, uint64_t now_ns, const struct ue_net_address *to, const uint8_t *bytes,
                  size_t size_bytes);

/* Sends what was held back until now; returns when there is more to send, UINT64_MAX: nothing is held. */
uint64_t ue_port_run(struct ue_port *port, uint64_t now_ns);

struct ue_port_counters {
    uint64_t in_datagrams, in_bytes;
    uint64_t out_datagrams, out_bytes; /* that reached the socket */
    uint64_t lost;                     /* by the impairment */
    uint64_t too_long, unreachable, failed;
};

void ue_port_count(const struct ue_port *port, struct ue_port_counters *counters);

/* How long socket errors may last before they end a connection (endpoint.md 24.2). */
#define UE_GRACE_NS UINT64_C(5000000000)

/* One direction of one connection. A zeroed one has seen no error. */
struct ue_grace {
    uint64_t since_ns; /* 0: no error since the last success */
};

void ue_grace_note(struct ue_grace *grace, uint64_t now_ns, enum ue_socket_result result);
bool ue_grace_is_over(const struct ue_grace *grace, uint64_t now_ns);

#endif
