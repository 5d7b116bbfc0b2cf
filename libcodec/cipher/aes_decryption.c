/* SPDX-License-Identifier: MIT */
#include "libcodec/cipher/aes_decryption.h"

#include <gcrypt.h>
#include <stdlib.h>
#include <string.h>

#include <uerudp/datagram.h>
#include <uerudp/text.h>

#define PLAIN_BYTES_MAX 65536
#define AES_BLOCK_BYTES 16

struct ue_cipher {
    gcry_cipher_hd_t gcm;
    gcry_cipher_hd_t ecb;
    struct ue_keys *keys;
    size_t last; /* index of the key that decrypted the last packet without a session */
    uint8_t ciphertext[PLAIN_BYTES_MAX];
    uint8_t plain[PLAIN_BYTES_MAX];
    size_t plain_bytes;
    enum ue_handler handler;          /* of the plaintext */
    uint8_t key[UE_CIPHER_KEY_BYTES]; /* of the plaintext */
};

static bool initialise(void) {
    if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P) != 0) {
        return true;
    }
    if (gcry_check_version(NULL) == NULL) {
        return false;
    }
    gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return true;
}

struct ue_cipher *ue_cipher_new(void) {
    struct ue_cipher *cipher = initialise() ? calloc(1, sizeof *cipher) : NULL;
    if (cipher == NULL) {
        return NULL;
    }
    cipher->keys = ue_keys_new();
    if (cipher->keys == NULL || gcry_cipher_open(&cipher->gcm, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_GCM, 0) != 0 ||
        gcry_cipher_open(&cipher->ecb, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_ECB, 0) != 0) {
        ue_cipher_free(cipher);
        return NULL;
    }
    return cipher;
}

void ue_cipher_free(struct ue_cipher *cipher) {
    if (cipher == NULL) {
        return;
    }
    gcry_cipher_close(cipher->gcm);
    gcry_cipher_close(cipher->ecb);
    ue_keys_free(cipher->keys);
    free(cipher);
}

void ue_cipher_clear(struct ue_cipher *cipher) {
    ue_keys_clear(cipher->keys);
}

bool ue_cipher_add_key(struct ue_cipher *cipher, const char *hex) {
    const char *problem;
    return ue_keys_add_row(cipher->keys, &(struct ue_key_row){.key = hex}, "given key", &problem);
}

bool ue_cipher_add_row(struct ue_cipher *cipher, const struct ue_key_row *row, const char *origin,
                       const char **problem) {
    return ue_keys_add_row(cipher->keys, row, origin, problem);
}

bool ue_cipher_add(struct ue_cipher *cipher, const char *key_or_file, const char **problem) {
    return ue_cipher_add_key(cipher, key_or_file) || ue_keys_add_file(cipher->keys, key_or_file, problem);
}

static bool decrypt_gcm(struct ue_cipher *cipher, const uint8_t *key, const struct ue_ciphertext *ciphertext,
                        size_t bytes) {
    return gcry_cipher_setkey(cipher->gcm, key, UE_CIPHER_KEY_BYTES) == 0 &&
           gcry_cipher_setiv(cipher->gcm, ciphertext->iv, UE_AES_IV_BYTES) == 0 &&
           gcry_cipher_decrypt(cipher->gcm, cipher->plain, bytes, cipher->ciphertext, bytes) == 0 &&
           gcry_cipher_checktag(cipher->gcm, ciphertext->tag, UE_AES_TAG_BYTES) == 0;
}

static bool decrypt_ecb(struct ue_cipher *cipher, const uint8_t *key, size_t bytes) {
    size_t terminator;
    return bytes % AES_BLOCK_BYTES == 0 && gcry_cipher_setkey(cipher->ecb, key, UE_CIPHER_KEY_BYTES) == 0 &&
           gcry_cipher_decrypt(cipher->ecb, cipher->plain, bytes, cipher->ciphertext, bytes) == 0 &&
           ue_bits_last_set(cipher->plain, 0, bytes * 8, &terminator);
}

static bool decrypt_with(struct ue_cipher *cipher, const uint8_t *key, const struct ue_ciphertext *ciphertext,
                         size_t bytes) {
    switch (ciphertext->handler) {
    case UE_HANDLER_AESGCM:
    case UE_HANDLER_AESGCM_BYTES: return decrypt_gcm(cipher, key, ciphertext, bytes);
    case UE_HANDLER_AES_ECB: return decrypt_ecb(cipher, key, bytes);
    default: return false;
    }
}

/* ---- selection of the key ---- */

static bool matches_endpoint(const struct ue_key_endpoint *wanted, const struct ue_key_endpoint *end) {
    return (wanted->port == 0 || wanted->port == end->port) &&
           (wanted->address_bytes == 0 || (wanted->address_bytes == end->address_bytes &&
                                           memcmp(wanted->address, end->address, end->address_bytes) == 0));
}

/* The search for the key of one packet. */
struct decryption_attempt {
    struct ue_cipher *cipher;
    const struct ue_cipher_session *session; /* NULL: every key is for it */
    const struct ue_ciphertext *ciphertext;
    size_t bytes;
    size_t tried;
};

/* Without Hello, which may be compressed or missing in the capture, a key is tried if its tag confirms it, or if there
   is no other. */
static bool matches_token(const struct decryption_attempt *a, const struct ue_key *key) {
    if (key->token[0] == '\0' || strcmp(key->token, a->session->token) == 0) {
        return true;
    }
    return !a->session->has_token && (a->ciphertext->tag != NULL || ue_keys_count(a->cipher->keys) == 1);
}

static bool is_key_for(const struct decryption_attempt *a, const struct ue_key *key) {
    const struct ue_cipher_session *session = a->session;
    return session == NULL ||
           ((matches_endpoint(&key->end, &session->ends[0]) || matches_endpoint(&key->end, &session->ends[1])) &&
            matches_token(a, key));
}

static bool try_key(struct decryption_attempt *a, size_t index) {
    const struct ue_key *key = ue_keys_at(a->cipher->keys, index);
    if (!is_key_for(a, key)) {
        return false;
    }
    a->tried++;
    return decrypt_with(a->cipher, key->bytes, a->ciphertext, a->bytes);
}

/* Tries the key of the last packet first if a tag can confirm it. */
static bool find_key(struct decryption_attempt *a, size_t *index) {
    size_t count = ue_keys_count(a->cipher->keys);
    size_t last = *index;
    bool has_tag = a->ciphertext->tag != NULL && last < count;
    a->tried = 0;
    if (has_tag && try_key(a, last)) {
        return true;
    }
    for (*index = 0; *index < count; ++*index) {
        if ((!has_tag || *index != last) && try_key(a, *index)) {
            return true;
        }
    }
    return false;
}

static bool refresh(const struct decryption_attempt *a) {
    return (a->session == NULL || a->session->is_learning) && ue_keys_refresh(a->cipher->keys);
}

bool ue_cipher_decrypt(struct ue_cipher *cipher, struct ue_cipher_session *session,
                       const struct ue_ciphertext *ciphertext, struct ue_plaintext *plaintext) {
    size_t *last = session != NULL ? &session->last : &cipher->last;
    struct decryption_attempt a = {
        .cipher = cipher, .session = session, .ciphertext = ciphertext, .bytes = ciphertext->ciphertext.bits / 8};
    if (ciphertext->ciphertext.bits % 8 != 0 || a.bytes == 0 || a.bytes > PLAIN_BYTES_MAX) {
        return false;
    }
    ue_view_copy(ciphertext->ciphertext, cipher->ciphertext);
    size_t index = *last;
    bool found = find_key(&a, &index) || (refresh(&a) && find_key(&a, &index));
    if (session != NULL) {
        session->tried = a.tried;
    }
    if (found) {
        const struct ue_key *key = ue_keys_at(cipher->keys, index);
        *last = index;
        memcpy(cipher->key, key->bytes, sizeof cipher->key);
        cipher->plain_bytes = a.bytes;
        cipher->handler = ciphertext->handler;
        *plaintext = (struct ue_plaintext){cipher->plain, a.bytes, key->origin};
    }
    return found;
}

static bool make_iv(const struct ue_cipher *cipher, const uint8_t *plain, size_t size_bytes, uint8_t *iv) {
    uint8_t digest[32];
    gcry_buffer_t parts[] = {{.data = (void *)cipher->key, .len = sizeof cipher->key},
                             {.data = iv, .len = UE_AES_IV_BYTES},
                             {.data = (void *)plain, .len = size_bytes}};
    if (gcry_md_hash_buffers(GCRY_MD_SHA256, 0, digest, parts, sizeof parts / sizeof *parts) != 0) {
        return false;
    }
    memcpy(iv, digest, UE_AES_IV_BYTES);
    if (cipher->handler == UE_HANDLER_AESGCM_BYTES && iv[0] == 0) {
        iv[0] = 1; /* a zero byte would mark content that is not encrypted */
    }
    return true;
}

bool ue_cipher_encrypt(struct ue_cipher *cipher, const uint8_t *plain, size_t size_bytes, uint8_t *iv, uint8_t *tag,
                       uint8_t *ciphertext) {
    if (size_bytes == 0 || size_bytes != cipher->plain_bytes) {
        return false;
    }
    if (cipher->handler == UE_HANDLER_AES_ECB) {
        return gcry_cipher_setkey(cipher->ecb, cipher->key, sizeof cipher->key) == 0 &&
               gcry_cipher_encrypt(cipher->ecb, ciphertext, size_bytes, plain, size_bytes) == 0;
    }
    return make_iv(cipher, plain, size_bytes, iv) &&
           gcry_cipher_setkey(cipher->gcm, cipher->key, sizeof cipher->key) == 0 &&
           gcry_cipher_setiv(cipher->gcm, iv, UE_AES_IV_BYTES) == 0 &&
           gcry_cipher_encrypt(cipher->gcm, ciphertext, size_bytes, plain, size_bytes) == 0 &&
           gcry_cipher_gettag(cipher->gcm, tag, UE_AES_TAG_BYTES) == 0;
}

static bool decrypt_any(void *user, const struct ue_ciphertext *ciphertext, struct ue_plaintext *plaintext) {
    return ue_cipher_decrypt(user, NULL, ciphertext, plaintext);
}

void ue_cipher_decryptor(struct ue_cipher *cipher, struct ue_decryptor *decryptor) {
    *decryptor = (struct ue_decryptor){decrypt_any, cipher};
}

const uint8_t *ue_cipher_key(const struct ue_cipher *cipher) {
    return cipher->plain_bytes != 0 ? cipher->key : NULL;
}

const uint8_t *ue_cipher_plain(const struct ue_cipher *cipher, size_t *bytes) {
    *bytes = cipher->plain_bytes;
    return cipher->plain;
}

/* ---- connections of an observer: their addresses and the token of Hello select the keys (protocol.md 12, 13) ---- */

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

static void read_message(const struct hello_search *hello_search, struct ue_view data) {
    struct ue_message message;
    struct ue_fault fault;
    size_t bit = 0;
    if (ue_message_decode(hello_search->context, data, &bit, &message, &fault) == UE_OK &&
        message.type == UE_MESSAGE_HELLO) {
        struct ue_cipher_session *session = hello_search->session;
        session->has_token = true;
        ue_text_to_utf8(message.params[UE_HELLO_ENCRYPTION_TOKEN].text, session->token, sizeof session->token);
    }
}

/* Appends a reliable fragment of the control channel if it is the next one. */
static void add_fragment(const struct hello_search *hello_search, const struct ue_bunch *bunch) {
    struct ue_hello_fragments *hello = &hello_search->session->hello;
    if (bunch->partial_initial) {
        hello->is_begun = true;
        hello->bits = 0;
    } else if (!hello->is_begun || bunch->ch_seq != hello->next_ch_seq) {
        return;
    }
    if (hello->bits + bunch->data.bits > sizeof hello->bytes * 8) {
        hello->is_begun = false;
        return;
    }
    ue_bits_copy(hello->bytes, hello->bits, bunch->data.base, bunch->data.bit, bunch->data.bits);
    hello->bits += bunch->data.bits;
    hello->next_ch_seq = (bunch->ch_seq + 1) % hello_search->context->ch_seq_bound;
    if (bunch->partial_final) {
        hello->is_begun = false;
        read_message(hello_search, (struct ue_view){hello->bytes, 0, hello->bits});
    }
}

static void on_item(void *user, const struct ue_item *item) {
    const struct hello_search *hello_search = user;
    const struct ue_bunch *bunch = &item->bunch;
    if (item->is_ack) {
        return;
    }
    if (ue_bunch_has_messages(hello_search->context, bunch)) {
        read_message(hello_search, bunch->data);
    } else if (bunch->channel == 0 && bunch->reliable && bunch->partial) {
        add_fragment(hello_search, bunch);
    }
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
