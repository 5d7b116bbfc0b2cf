/* SPDX-License-Identifier: MIT */
#include "libcodec/cipher/cipher_session.h"

#include <uerudp/datagram.h>
#include <uerudp/text.h>

static bool decrypt_for(void *user, const struct ue_ciphertext *ciphertext, struct ue_plaintext *plaintext) {
    return ue_cipher_decrypt(((struct ue_cipher_session *)user)->cipher, user, ciphertext, plaintext);
}

void ue_cipher_session_init(struct ue_cipher_session *session, struct ue_cipher *cipher,
                            const struct ue_key_endpoint ends[2]) {
    *session = (struct ue_cipher_session){.cipher = cipher, .is_learning = true};
    session->decryptor = (struct ue_decryptor){decrypt_for, session};
    memcpy(session->ends, ends, sizeof session->ends);
}

bool ue_cipher_session_is_needed(const struct ue_settings *settings) {
    bool found = false;
    for (size_t i = 0; i < UE_HANDLERS_MAX; i++) {
        enum ue_handler handler = settings->handlers[i];
        found |= handler == UE_HANDLER_AESGCM || handler == UE_HANDLER_AESGCM_BYTES || handler == UE_HANDLER_AES_ECB;
    }
    return found;
}

struct hello_search {
    struct ue_cipher_session *session;
    const struct ue_context *context;
};

static void on_item(void *user, const struct ue_item *item) {
    const struct hello_search *hello_search = user;
    struct ue_message message;
    struct ue_fault fault;
    size_t bit = 0;
    if (item->is_ack || !ue_bunch_has_messages(hello_search->context, &item->bunch) ||
        ue_message_decode(hello_search->context, item->bunch.data, &bit, &message, &fault) != UE_OK ||
        message.type != UE_MESSAGE_HELLO) {
        return;
    }
    struct ue_cipher_session *session = hello_search->session;
    session->has_token = true;
    ue_text_to_utf8(message.params[UE_HELLO_ENCRYPTION_TOKEN].text, session->token, sizeof session->token);
}

/* Hello precedes encryption, and its retransmissions are equal. */
void ue_cipher_session_learn(struct ue_cipher_session *session, const struct ue_context *context, const uint8_t *bytes,
                             size_t size_bytes) {
    struct hello_search hello_search = {session, context};
    const struct ue_visitor visitor = {.item = on_item, .user = &hello_search};
    struct ue_decode_result result;
    if (session->is_learning && !session->has_token && context->direction != UE_SERVER_TO_CLIENT) {
        ue_datagram_check(context, bytes, size_bytes, &visitor, &result);
    }
}

void ue_cipher_session_adopt(struct ue_cipher_session *session, const struct ue_cipher_session *earlier) {
    if (session != NULL && earlier != NULL && !session->has_token) {
        session->has_token = earlier->has_token;
        memcpy(session->token, earlier->token, sizeof session->token);
    }
}
