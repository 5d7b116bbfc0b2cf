/* SPDX-License-Identifier: MIT */
#include "libcodec/cipher/connection_keys.h"

#include <stdlib.h>
#include <string.h>

#include <uerudp/datagram.h>
#include <uerudp/text.h>

static bool decrypt_for(void *user, const struct ue_ciphertext *ciphertext, struct ue_plaintext *plaintext) {
    return ue_cipher_decrypt(((struct ue_cipher_session *)user)->cipher, user, ciphertext, plaintext);
}

static struct ue_key_endpoint endpoint_of(const struct ue_address *address) {
    struct ue_key_endpoint endpoint = {.port = address->port};
    if (address->size_bytes == 4 || address->size_bytes == 16) {
        endpoint.address_bytes = address->size_bytes;
        memcpy(endpoint.address, address->bytes, sizeof endpoint.address);
    }
    return endpoint;
}

static bool is_needed(const struct ue_settings *settings) {
    bool found = false;
    for (size_t i = 0; i < UE_HANDLERS_MAX; i++) {
        enum ue_handler handler = settings->handlers[i];
        found |= handler == UE_HANDLER_AESGCM || handler == UE_HANDLER_AESGCM_BYTES || handler == UE_HANDLER_AES_ECB;
    }
    return found;
}

static struct ue_decryptor *begin(void *user, const struct ue_address sides[2], const struct ue_settings *settings) {
    struct ue_cipher_session *session = is_needed(settings) ? malloc(sizeof *session) : NULL;
    if (session == NULL) {
        return NULL;
    }
    *session = (struct ue_cipher_session){.decryptor = {decrypt_for, session},
                                          .cipher = user,
                                          .ends = {endpoint_of(&sides[0]), endpoint_of(&sides[1])},
                                          .is_learning = true};
    return &session->decryptor;
}

static void end(void *user, struct ue_decryptor *session) {
    (void)user;
    free(session);
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
static void learn(void *user, struct ue_decryptor *decryptor, const struct ue_detection *detection,
                  const struct ue_decode_state *state, const uint8_t *bytes, size_t size_bytes) {
    struct ue_cipher_session *session = (struct ue_cipher_session *)decryptor;
    struct ue_context context;
    struct ue_decode_result result;
    (void)user;
    if (!session->is_learning || session->has_token) {
        return;
    }
    ue_detection_context(detection, state, &context);
    if (context.direction != UE_SERVER_TO_CLIENT) {
        struct hello_search hello_search = {session, &context};
        const struct ue_visitor visitor = {.item = on_item, .user = &hello_search};
        ue_datagram_decode(&context, bytes, size_bytes, NULL, &visitor, &result);
    }
}

/* On its new addresses the client sends no Hello. */
static void adopt(void *user, struct ue_decryptor *decryptor, const struct ue_decryptor *earlier) {
    struct ue_cipher_session *session = (struct ue_cipher_session *)decryptor;
    const struct ue_cipher_session *from = (const struct ue_cipher_session *)earlier;
    (void)user;
    if (!session->has_token) {
        session->has_token = from->has_token;
        memcpy(session->token, from->token, sizeof session->token);
    }
}

void ue_cipher_decryption(struct ue_cipher *cipher, struct ue_decryption *decryption) {
    *decryption = (struct ue_decryption){begin, end, adopt, learn, cipher};
}
