/* SPDX-License-Identifier: MIT */
/* The one place that sends a close and closes (endpoint.md 32). What finds a reason to close records
   it by ue_want_close(); ue_carry_out_close() carries it out. */
#include "tools/endpoint/core/sender.h"

#define HELLO_WITH_CLOSE_REASON 3 /* profiles from 5.1 on: the message CloseReason exists */

/* Names of the reasons, separated by commas, as the message carries them. */
static size_t reason_text(enum ue_close_reason reason, enum ue_close_reason cause, char *text, size_t size_bytes) {
    const char *names[2] = {ue_close_reason_name(reason), ue_close_reason_name(cause)};
    size_t length = 0;
    for (size_t i = 0; i < 2; i++) {
        size_t name_bytes = strlen(names[i]);
        if (name_bytes == 0 || length + name_bytes + 1 > size_bytes) {
            continue;
        }
        if (length != 0) {
            text[length++] = ',';
        }
        memcpy(text + length, names[i], name_bytes);
        length += name_bytes;
    }
    return length;
}

/* endpoint.md 32.1, 32.4. */
void ue_send_close_reason(struct ue_sender *s, uint64_t now_ns, enum ue_close_reason reason,
                          enum ue_close_reason cause) {
    char text[128];
    size_t length = reason_text(reason, cause, text, sizeof text);
    struct ue_message message = {.type = UE_MESSAGE_CLOSE_REASON, .param_count = 1};
    message.params[UE_CLOSE_REASON_TEXT].text.units = (struct ue_view){(const uint8_t *)text, 0, length * 8};
    if (s->common->config.profile->hello >= HELLO_WITH_CLOSE_REASON && length != 0 &&
        !s->common->life.has_sent_reason) {
        s->common->life.has_sent_reason = true; /* the peer uses only the first */
        ue_control_send(s, now_ns, &message);
    }
}

static void send_failure(struct ue_sender *s, uint64_t now_ns) {
    static const char text[] = "Outgoing reliable buffer overflow";
    struct ue_message message = {.type = UE_MESSAGE_FAILURE, .param_count = 1};
    message.params[UE_FAILURE_TEXT].text.units = (struct ue_view){(const uint8_t *)text, 0, (sizeof text - 1) * 8};
    ue_control_send(s, now_ns, &message);
}

/* The reason and the close of channel 0; no wait for an answer (endpoint.md 32.1, 32.2). */
static void send_close(struct ue_sender *s, uint64_t now_ns, enum ue_close_reason reason, enum ue_close_reason cause) {
    struct ue_channel_entry *entry = ue_channel_entry_find(s->channels, 0);
    if (entry == NULL || entry->channel == NULL || entry->channel->closing || !ue_may_send(s->channels)) {
        return;
    }
    ue_send_close_reason(s, now_ns, reason, cause);
    if (reason == UE_CLOSE_RELIABLE_BUFFER_OVERFLOW) {
        send_failure(s, now_ns);
        ue_send_buffer_flush(s, now_ns);
    }
    const struct ue_outgoing close = {.channel = 0, .reliable = true, .close = true};
    if (ue_send_has_room(s->channels, entry, &close)) {
        ue_send(s, now_ns, entry, &close, NULL);
    }
}

/* endpoint.md 32.1. */
void ue_close_as_wanted(struct ue_sender *s, uint64_t now_ns) {
    struct ue_life *life = &s->common->life;
    if (life->state == UE_CONN_CLOSED || life->is_leaving) {
        return;
    }
    life->is_leaving = true; /* what is sent below may itself find a reason to close */
    if (ue_is_up(s->common)) {
        send_close(s, now_ns, life->close_wish.reason, life->close_wish.cause);
    }
    bool flushes = ue_is_up(s->common) && ue_may_send(s->channels) && !ue_send_buffer_is_empty(s);
    life->closed_ns = now_ns;
    ue_end(s->common, life->close_wish.reason); /* what was sent may have ended it */
    if (flushes) {
        ue_send_buffer_flush(s, now_ns);
    }
}
