/* SPDX-License-Identifier: MIT */
/* All of one connection. The sources at the top know it: those with the calls of endpoint.h, and those that receive and
   tick. All others get the part that they need. */
#ifndef UERUDP_TOOLS_ENDPOINT_CORE_CONNECTION_H
#define UERUDP_TOOLS_ENDPOINT_CORE_CONNECTION_H

#include "tools/endpoint/core/receiver.h"
#include "tools/endpoint/handshake/client_handshake.h"
#include <uerudp/server.h>

/* The handshake of either role (endpoint.md 2, 3). */
struct ue_conn_handshake {
    struct ue_accepted accepted; /* server */
    struct ue_client_handshake client;
    bool answers; /* server: the client may have missed the Ack */
};

struct ue_conn_clock {
    uint64_t last_tick_ns;
    uint64_t last_stall_look_ns;
    bool has_ticked;
};

/* What every packet and tick touches lies together, because with many connections each cache line is a miss (row E13 of
   the benchmarks): common and handshake, and their parts, begin with the members that are rarely used, the channels,
   the receiver and the sender end with them. */
struct ue_conn {
    struct ue_common common;
    struct ue_conn_handshake handshake;
    struct ue_conn_clock clock;
    struct ue_channel_table channels;
    struct ue_receiver receiver;
    struct ue_sender sender;
};

/* Each public call begins with it: frees the outputs that the program has read. */
static inline void ue_conn_begin_input(struct ue_conn *c) {
    ue_output_queue_begin_input(&c->sender.datagrams);
    ue_output_queue_begin_input(&c->common.events);
}
static inline bool ue_conn_is_client_restarting(const struct ue_conn *c) {
    return !ue_is_server(&c->common) && c->handshake.client.restarting;
}

/* incoming_packet.c */
/* Handles a datagram that is not encrypted. Returns whether it was a packet that counts as delivered. */
bool ue_receive_datagram(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes);

/* connection.c */
/* The sequences of both sides are known (endpoint.md 10): in is the peer's first, out the own. */
void ue_conn_init_sequences(struct ue_conn *c, uint64_t now_ns, uint16_t in, uint16_t out);
void ue_conn_receive_handshake(struct ue_conn *c, uint64_t now_ns, const uint8_t *bytes, size_t size_bytes);
/* Queues the messages that a client's handshake wants to send. */
void ue_conn_send_handshake(struct ue_conn *c);

/* application_calls.c */
/* ue_conn_send for a message on channel 0. */
enum ue_status ue_conn_send_message(struct ue_conn *c, uint64_t now_ns, const struct ue_message *message);

/* config_defaults.c: replaces what is 0 by its default. */
void ue_conn_config_fill_defaults(struct ue_conn_config *config);

#endif
