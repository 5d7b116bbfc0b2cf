/* SPDX-License-Identifier: MIT */
/* Messages that wait until their connection has room. A reliable message that finds the channel's buffer full would
   close the connection, as in the engine (endpoint.md 19.2), and packets beyond the acknowledgement history, or
   reordered further than a receiver sorts, count as lost (endpoint.md 15.5, 16.3): a program that sends in bulk has to
   hold back. */
#ifndef UERUDP_TOOLS_LIVE_SEND_QUEUE_H
#define UERUDP_TOOLS_LIVE_SEND_QUEUE_H

#include <glib.h>

#include <uerudp/endpoint.h>

struct send_queue {
    struct ue_conn *conn;
    GQueue messages;   /* in the order in which they leave */
    size_t size_bytes; /* waiting */
    size_t limit_bytes;
    bool wraps;       /* messages travel as calls of the channel's actor (actor_message.h) */
    uint64_t refused; /* by the connection: too large, or the channel is gone */
};

/* limit_bytes: of payloads that wait. */
void send_queue_init(struct send_queue *backlog, struct ue_conn *conn, bool wraps, size_t limit_bytes);
void send_queue_clear(struct send_queue *backlog);

/* Copies a message. False: too much waits already. */
bool send_queue_push(struct send_queue *backlog, uint32_t channel, bool reliable, struct ue_view data);

/* Whether a reliable message of so many bits can leave now. One that is larger than the channel's whole buffer is the
   connection's to refuse. */
bool send_queue_has_room(const struct ue_conn *conn, uint32_t channel, size_t bits);

/* Sends what there is room for. What the connection refuses is dropped. */
void send_queue_send(struct send_queue *backlog, uint64_t now_ns);

bool send_queue_is_empty(const struct send_queue *backlog);
#endif
