/* SPDX-License-Identifier: MIT */
#include "tools/connect/mode.h"

#include <stdarg.h>

#include "tools/live/byte_actors.h"

#define BACKLOG_BYTES (256u << 10)

void connect_mode_attach(struct connect_mode *mode, struct ue_conn *conn, bool sends_calls) {
    mode->conn = conn;
    mode->sends_calls = sends_calls;
    send_queue_init(&mode->queue, conn, BACKLOG_BYTES);
}

bool connect_mode_push(struct connect_mode *mode, uint32_t channel, bool reliable, struct ue_view data) {
    return send_queue_push(&mode->queue, channel, reliable, mode->sends_calls, data);
}

void connect_mode_begin(struct connect_mode *mode, uint64_t now_ns) {
    mode->start_ns = now_ns;
    mode->last_received_ns = now_ns;
}

void connect_mode_free(struct connect_mode *mode) {
    if (mode != NULL) {
        send_queue_clear(&mode->queue);
        if (mode->kind->clear != NULL) {
            mode->kind->clear(mode);
        }
        g_free(mode);
    }
}

size_t connect_mode_message_bytes_max(const struct connect_mode *mode, uint32_t channel) {
    size_t room_bytes = ue_conn_room_bits(mode->conn, channel) / 8;
    size_t call_bytes = mode->sends_calls ? BYTE_CALL_BYTES : 0;
    return room_bytes > call_bytes ? room_bytes - call_bytes : 0;
}

uint32_t connect_mode_channel_index(const struct connect_mode *mode, uint32_t channel) {
    for (uint32_t i = 0; i < mode->channel_count; i++) {
        if (mode->channels[i] == channel) {
            return i;
        }
    }
    return CONNECT_MODE_NO_CHANNEL;
}

void connect_mode_add_channel(struct connect_mode *mode, uint32_t channel) {
    bool is_new = connect_mode_channel_index(mode, channel) == CONNECT_MODE_NO_CHANNEL;
    if (is_new && mode->channel_count < CONNECT_MODE_CHANNELS_MAX) {
        mode->channels[mode->channel_count++] = channel;
    }
}

/* A server may open channels and send before the client learns that it has joined. */
void connect_mode_receive(struct connect_mode *mode, uint64_t now_ns, const struct ue_event *event) {
    bool is_message = event->type == UE_EVENT_BUNCH && event->channel != 0 && !event->open;
    if (event->type == UE_EVENT_CHANNEL_OPENED && event->kind == UE_KIND_ACTOR) {
        connect_mode_add_channel(mode, event->channel);
    }
    if (mode->kind->handle_event != NULL) {
        mode->kind->handle_event(mode, now_ns, event);
    } else if (is_message && mode->state == CONNECT_MODE_RUNNING) {
        struct ue_event message = *event;
        if (mode->sends_calls && !byte_call_read(mode->conn, event->data, &message.data)) {
            return; /* values of the actor, which the server sends again if their packet is lost */
        }
        mode->last_received_ns = now_ns;
        mode->kind->receive(mode, now_ns, &message);
    }
}

void connect_mode_tick(struct connect_mode *mode, uint64_t now_ns) {
    if (mode->state == CONNECT_MODE_RUNNING) {
        mode->kind->tick(mode, now_ns);
        send_queue_send(&mode->queue, now_ns);
        if (mode->queue.refused != 0) {
            connect_mode_fail(mode, "a message is too large, or its channel is closed");
        }
    }
}

void connect_mode_fail(struct connect_mode *mode, const char *format, ...) {
    va_list arguments;
    if (mode->state == CONNECT_MODE_FAILED) {
        return; /* the first problem is the cause of later ones */
    }
    va_start(arguments, format);
    g_vsnprintf(mode->problem, sizeof mode->problem, format, arguments);
    va_end(arguments);
    mode->state = CONNECT_MODE_FAILED;
}
