/* SPDX-License-Identifier: MIT */
#include "tools/live/send_queue.h"

#include "tools/live/byte_actors.h"

/* Packets that a receiver's order cache can sort (endpoint.md 9); a large message may exceed it. */
#define PACKETS_MAX 32

struct message {
    uint32_t channel;
    bool reliable;
    size_t bits;
    uint8_t bytes[];
};

void send_queue_init(struct send_queue *queue, struct ue_conn *conn, size_t limit_bytes) {
    *queue = (struct send_queue){.conn = conn, .limit_bytes = limit_bytes};
    g_queue_init(&queue->messages);
}

void send_queue_clear(struct send_queue *queue) {
    g_queue_clear_full(&queue->messages, g_free);
    queue->size_bytes = 0;
}

bool send_queue_push(struct send_queue *queue, uint32_t channel, bool reliable, bool is_call, struct ue_view data) {
    size_t size_bytes = ue_bits_bytes(data.bits) + (is_call ? BYTE_CALL_BYTES : 0);
    if (size_bytes > queue->limit_bytes - queue->size_bytes) {
        return false;
    }
    struct message *message = g_malloc0(sizeof *message + size_bytes);
    *message = (struct message){.channel = channel, .reliable = reliable, .bits = data.bits};
    if (is_call) {
        message->bits = byte_call_write(queue->conn, data, message->bytes);
    } else {
        ue_view_copy(data, message->bytes);
    }
    g_queue_push_tail(&queue->messages, message);
    queue->size_bytes += ue_bits_bytes(message->bits);
    return true;
}

/* Own packets that the peer has not reported yet. */
static uint64_t packets_in_flight(const struct ue_conn *conn) {
    const struct ue_counters *counters = ue_conn_counters(conn);
    uint64_t known = counters->out_packets_acked + counters->out_packets_lost;
    return counters->out_packets > known ? counters->out_packets - known : 0;
}

bool send_queue_has_room(const struct ue_conn *conn, uint32_t channel, size_t bits) {
    bool is_idle = ue_conn_unacked(conn, channel) == 0;
    return (is_idle || bits <= ue_conn_room_bits(conn, channel)) && packets_in_flight(conn) < PACKETS_MAX;
}

static bool may_leave(const struct send_queue *queue, const struct message *message) {
    return !message->reliable || send_queue_has_room(queue->conn, message->channel, message->bits);
}

static void send_one(struct send_queue *queue, uint64_t now_ns, const struct message *message) {
    const struct ue_outgoing bunch = {
        .channel = message->channel, .reliable = message->reliable, .data = {message->bytes, 0, message->bits}};
    queue->refused += ue_conn_send(queue->conn, now_ns, &bunch, NULL) != UE_OK;
}

void send_queue_send(struct send_queue *queue, uint64_t now_ns) {
    struct message *message;
    while ((message = g_queue_peek_head(&queue->messages)) != NULL && may_leave(queue, message)) {
        g_queue_pop_head(&queue->messages);
        queue->size_bytes -= ue_bits_bytes(message->bits);
        send_one(queue, now_ns, message);
        g_free(message);
    }
}

bool send_queue_is_empty(const struct send_queue *queue) {
    return g_queue_is_empty((GQueue *)&queue->messages);
}
