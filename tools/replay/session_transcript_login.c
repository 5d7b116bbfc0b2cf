/* SPDX-License-Identifier: MIT */
/* Messages of a tale: those of the login are set aside, since the live login says them in answer to the server. */
#include <uerudp/datagram.h>
#include "tools/print/text_buffer.h"
#include "tools/replay/session_transcript.h"

/* Whether the message belongs to the login, or to the end, which both follow what the live server does. */
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

static void note_close_reason(struct session_transcript *tale, unsigned side, const struct ue_message *message) {
    struct text_buffer text = {0};
    text_buffer_add_engine_text(&text, message->params[UE_CLOSE_REASON_TEXT].text, TEXT_ESCAPE_PLAIN);
    text_buffer_add_char(&text, '\0');
    g_strlcpy(tale->close_reasons[side], text.text, SESSION_TRANSCRIPT_REASON_BYTES);
    text_buffer_free(&text);
}

static void note_login(struct session_transcript *tale, uint64_t time_ns, const struct ue_message *message) {
    bool is_first = !session_transcript_has(tale, message->type);
    tale->has |= UINT64_C(1) << message->type;
    if (!is_first) {
        return; /* the login says everything once */
    }
    switch (message->type) {
    case UE_MESSAGE_HELLO:
        tale->hello = *message;
        tale->network_version = (uint32_t)message->params[UE_HELLO_NETWORK_VERSION].number;
        tale->network_features = (uint16_t)message->params[UE_HELLO_FEATURES].number;
        break;
    case UE_MESSAGE_LOGIN: tale->login = *message; break;
    case UE_MESSAGE_BEACON_JOIN:
        tale->beacon_join = *message;
        tale->joined_ns = time_ns;
        break;
    case UE_MESSAGE_NETSPEED: tale->net_speed = (int32_t)(uint32_t)message->params[UE_NETSPEED_RATE].number; break;
    case UE_MESSAGE_JOIN: tale->joined_ns = time_ns; break;
    case UE_MESSAGE_CLOSE_REASON: note_close_reason(tale, 0, message); break;
    default: break;
    }
}

static void add_line(struct session_transcript *tale, const struct session_transcript_message *line) {
    struct session_transcript_message added = *line;
    added.exports = g_array_copy(line->exports);
    g_array_append_val(tale->lines, added);
}

static void take_of_client(struct session_transcript *tale, const struct session_transcript_message *whole) {
    struct session_transcript_message line = *whole;
    struct ue_message message;
    struct ue_fault fault;
    for (size_t bit = 0, begin = 0; bit < whole->data.bits; begin = bit) {
        bool good = ue_message_decode(&tale->context, whole->data, &bit, &message, &fault) == UE_OK;
        bit = good ? bit : whole->data.bits; /* what cannot be read is said as it is */
        line.data = (struct ue_view){whole->data.base, whole->data.bit + begin, bit - begin};
        if (good && is_of_login(message.type)) {
            note_login(tale, whole->time_ns, &message);
        } else {
            add_line(tale, &line);
        }
    }
}

static void take_of_server(struct session_transcript *tale, const struct session_transcript_message *whole) {
    struct ue_message message;
    struct ue_fault fault;
    for (size_t bit = 0; bit < whole->data.bits;) {
        if (ue_message_decode(&tale->context, whole->data, &bit, &message, &fault) != UE_OK) {
            return;
        }
        if (message.type == UE_MESSAGE_WELCOME) {
            tale->welcomed_ns = whole->time_ns;
        } else if (message.type == UE_MESSAGE_CLOSE_REASON) {
            note_close_reason(tale, 1, &message);
        }
    }
}

void session_transcript_add_message(struct session_transcript *tale, unsigned side, const struct session_transcript_message *whole) {
    struct session_channel *life = session_transcript_channel(tale, whole->life);
    bool is_control = life->kind == UE_KIND_CONTROL;
    life->said[side][whole->reliable]++;
    if (is_control && whole->close && tale->closed_by < 0) {
        tale->closed_by = (int)side;
    }
    if (is_control) {
        (side == 0 ? take_of_client : take_of_server)(tale, whole);
    } else if (side == 0) {
        add_line(tale, whole);
    }
}
