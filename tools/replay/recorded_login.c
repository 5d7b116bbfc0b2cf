/* SPDX-License-Identifier: MIT */
/* Adds control messages to a recorded session. Those of the login are kept apart, because a live login sends its own
   in answer to the server. */
#include <uerudp/datagram.h>
#include "tools/print/text_buffer.h"
#include "tools/print/text_escape.h"
#include "tools/replay/recorded_session.h"

/* Whether the message belongs to the login or to the close, which both follow the live server. */
static bool is_of_login(uint8_t type) {
    switch (type) {
    case UE_MESSAGE_HELLO:
    case UE_MESSAGE_NETSPEED:
    case UE_MESSAGE_LOGIN:
    case UE_MESSAGE_JOIN:
    case UE_MESSAGE_BEACON_JOIN:
    case UE_MESSAGE_BEACON_NET_GUID_ACK:
    case UE_MESSAGE_CLOSE_REASON: return true;
    default: return false;
    }
}

static void set_close_reason(struct recorded_session *session, unsigned side, const struct ue_message *message) {
    struct text_buffer text = {0};
    text_escape_add_engine_text(&text, message->params[UE_CLOSE_REASON_TEXT].text, TEXT_ESCAPE_PLAIN);
    text_buffer_add_char(&text, '\0');
    g_strlcpy(session->close_reasons[side], text.text, RECORDED_SESSION_REASON_BYTES);
    text_buffer_free(&text);
}

static void set_login(struct recorded_session *session, uint64_t time_ns, const struct ue_message *message) {
    bool is_first = !recorded_session_has(session, message->type);
    session->has |= UINT64_C(1) << message->type;
    if (!is_first) {
        return; /* the login sends each message once */
    }
    switch (message->type) {
    case UE_MESSAGE_HELLO:
        session->hello = *message;
        session->network_version = (uint32_t)message->params[UE_HELLO_NETWORK_VERSION].number;
        session->network_features = (uint16_t)message->params[UE_HELLO_FEATURES].number;
        break;
    case UE_MESSAGE_LOGIN: session->login = *message; break;
    case UE_MESSAGE_BEACON_JOIN:
        session->beacon_join = *message;
        session->joined_ns = time_ns;
        break;
    case UE_MESSAGE_NETSPEED: session->net_speed = (int32_t)(uint32_t)message->params[UE_NETSPEED_RATE].number; break;
    case UE_MESSAGE_JOIN: session->joined_ns = time_ns; break;
    case UE_MESSAGE_CLOSE_REASON: set_close_reason(session, 0, message); break;
    default: break;
    }
}

static void add_line(struct recorded_session *session, const struct recorded_session_message *line) {
    struct recorded_session_message added = *line;
    added.exports = g_array_copy(line->exports);
    g_array_append_val(session->messages, added);
}

static void handle_client_message(struct recorded_session *session, const struct recorded_session_message *whole) {
    struct recorded_session_message line = *whole;
    struct ue_message message;
    struct ue_fault fault;
    for (size_t bit = 0, begin = 0; bit < whole->data.bits; begin = bit) {
        bool good = ue_message_decode(&session->context, whole->data, &bit, &message, &fault) == UE_OK;
        bit = good ? bit : whole->data.bits; /* what cannot be parsed is sent unchanged */
        line.data = (struct ue_view){whole->data.base, whole->data.bit + begin, bit - begin};
        if (good && is_of_login(message.type)) {
            set_login(session, whole->time_ns, &message);
        } else {
            add_line(session, &line);
        }
    }
}

static void handle_server_message(struct recorded_session *session, const struct recorded_session_message *whole) {
    struct ue_message message;
    struct ue_fault fault;
    for (size_t bit = 0; bit < whole->data.bits;) {
        if (ue_message_decode(&session->context, whole->data, &bit, &message, &fault) != UE_OK) {
            return;
        }
        if (message.type == UE_MESSAGE_WELCOME) {
            session->welcomed_ns = whole->time_ns;
        } else if (message.type == UE_MESSAGE_CLOSE_REASON) {
            set_close_reason(session, 1, &message);
        }
    }
}

void recorded_session_add_message(struct recorded_session *session, unsigned side,
                                  const struct recorded_session_message *whole) {
    struct session_channel *slot = recorded_session_channel(session, whole->slot);
    bool is_control = slot->kind == UE_KIND_CONTROL;
    slot->sent[side][whole->reliable]++;
    if (is_control && whole->close && session->closed_by < 0) {
        session->closed_by = (int)side;
    }
    if (is_control) {
        (side == 0 ? handle_client_message : handle_server_message)(session, whole);
    } else if (side == 0) {
        add_line(session, whole);
    }
}
