/* SPDX-License-Identifier: MIT */
/* A send queue holds messages until their connection can send them. A reliable message that exceeds the channel's
   buffer closes the connection, as in the engine (endpoint.md 23), and packets beyond the acknowledgement history, or
   reordered by more than a receiver sorts, count as lost (endpoint.md 13, 9): a program that sends bulk data must
   wait. */
#ifndef UERUDP_TOOLS_LIVE_SEND_QUEUE_H
#define UERUDP_TOOLS_LIVE_SEND_QUEUE_H

#include <glib.h>

#include <uerudp/endpoint.h>

struct send_queue {
    struct ue_conn *conn;
    GQueue messages;   /* in sending order */
    size_t size_bytes; /* of all payloads in the queue */
    size_t limit_bytes;
    uint64_t refused; /* by the connection: the message is too large, or its channel is closed */
};

/* limit_bytes: of all payloads in the queue. */
void send_queue_init(struct send_queue *queue, struct ue_conn *conn, size_t limit_bytes);
void send_queue_clear(struct send_queue *queue);

/* Copies a message. is_call: it travels as a call of the channel's actor (byte_actors.h). False: the queue is full. */
bool send_queue_push(struct send_queue *queue, uint32_t channel, bool reliable, bool is_call, struct ue_view data);

/* Whether a reliable message of this size can leave now. True also for one that exceeds the channel's whole buffer: the
   connection refuses it. */
bool send_queue_has_room(const struct ue_conn *conn, uint32_t channel, size_t bits);

/* Sends what fits. What the connection refuses is dropped and counted. */
void send_queue_send(struct send_queue *queue, uint64_t now_ns);

bool send_queue_is_empty(const struct send_queue *queue);
#endif
