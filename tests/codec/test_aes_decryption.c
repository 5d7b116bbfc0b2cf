/* SPDX-License-Identifier: MIT */
/* Decryption: the tests encrypt packets with libgcrypt; the library decrypts and traces them. */
#include <gcrypt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "libcodec/cipher/aes_decryption.h"
#include <uerudp/codec.h>

static const char key_text[] = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";
static const char wrong_text[] = "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

struct cipher_trace {
    bool opened;
    uint64_t seq;
    uint64_t rate;
    size_t terminators;
};

static void on_begin(void *user, enum ue_group group, size_t bit) {
    ((struct cipher_trace *)user)->opened |= group == UE_GROUP_OPENED;
}

static void on_field(void *user, const struct ue_record *record) {
    struct cipher_trace *seen = user;
    seen->seq = record->field == UE_F_PACKET_SEQ ? record->number : seen->seq;
    seen->rate = record->field == UE_F_CONTROL_NETSPEED_RATE ? record->number : seen->rate;
    seen->terminators += record->field == UE_F_TERMINATOR;
}

/* Makes a packet with one Netspeed message. Returns its length in bits after the prefix bit, with the inner
   terminator. */
static size_t inner_packet(uint8_t *bytes, size_t size) {
    static const uint8_t netspeed[] = {4, 0xa0, 0x86, 0x01, 0x00};
    struct ue_item item = {.bunch = {.reliable = true, .has_name = true, .ch_seq = 5}};
    item.bunch.name = (struct ue_name){.hardcoded = true, .index = UE_NAME_CONTROL};
    item.bunch.data = (struct ue_view){netspeed, 0, sizeof netspeed * 8};
    struct ue_datagram datagram = {.items = &item, .item_capacity = 1, .item_count = 1};
    datagram.packet.seq = 4242;
    datagram.packet.history_words = 1;
    struct ue_context x;
    struct ue_fault fault;
    size_t written = 0;
    ue_context_init(&x, ue_profile_find("4.25"), NULL);
    assert_int_equal(ue_datagram_encode(&x, &datagram, bytes, size, &written, &fault), UE_OK);
    size_t outer = 0;
    assert_true(ue_bits_last_set(bytes, 0, written * 8, &outer));
    return outer - 1; /* without the prefix bit and the outer terminator */
}

static void encrypt(enum gcry_cipher_modes mode, const uint8_t *iv, uint8_t *bytes, size_t size, uint8_t *tag) {
    uint8_t key[UE_CIPHER_KEY_BYTES];
    gcry_cipher_hd_t handle;
    for (size_t i = 0; i < sizeof key; i++) {
        key[i] = (uint8_t)i;
    }
    assert_int_equal(gcry_cipher_open(&handle, GCRY_CIPHER_AES256, mode, 0), 0);
    assert_int_equal(gcry_cipher_setkey(handle, key, sizeof key), 0);
    if (iv != NULL) {
        assert_int_equal(gcry_cipher_setiv(handle, iv, UE_AES_IV_BYTES), 0);
    }
    assert_int_equal(gcry_cipher_encrypt(handle, bytes, size, NULL, 0), 0);
    if (tag != NULL) {
        assert_int_equal(gcry_cipher_gettag(handle, tag, UE_AES_TAG_BYTES), 0);
    }
    gcry_cipher_close(handle);
}

/* Encrypts the packet with the handler and returns the datagram's size. */
static size_t sealed_datagram(enum ue_handler handler, uint8_t *out, size_t size) {
    uint8_t packet[128] = {0};
    uint8_t plain[128] = {0};
    size_t bits = inner_packet(packet, sizeof packet);
    ue_bits_copy(plain, 0, packet, 1, bits);
    if (handler != UE_HANDLER_AESGCM_BYTES) {
        plain[bits / 8] |= (uint8_t)(1u << (bits % 8)); /* the component's own terminator */
        bits++;
    }
    size_t bytes = ue_bits_bytes(bits);
    struct ue_datagram datagram = {0};
    struct ue_handler_bits *component = &datagram.handlers.components[0];
    component->encrypted = true;
    if (handler == UE_HANDLER_AES_ECB) {
        bytes = (bytes + 15) / 16 * 16;
        encrypt(GCRY_CIPHER_MODE_ECB, NULL, plain, bytes, NULL);
    } else {
        memset(component->iv, 7, sizeof component->iv);
        encrypt(GCRY_CIPHER_MODE_GCM, component->iv, plain, bytes, component->tag);
    }
    datagram.handlers.is_opaque = true;
    datagram.handlers.opaque = (struct ue_view){plain, 0, bytes * 8};
    struct ue_settings settings = {.handlers = {handler}};
    struct ue_context x;
    struct ue_fault fault;
    size_t written = 0;
    ue_context_init(&x, ue_profile_find("4.25"), &settings);
    assert_int_equal(ue_datagram_encode(&x, &datagram, out, size, &written, &fault), UE_OK);
    return written;
}

static struct ue_decode_result trace(enum ue_handler handler, struct ue_cipher *cipher, const uint8_t *bytes,
                                     size_t size, struct cipher_trace *seen) {
    struct ue_decryptor decryptor;
    ue_cipher_decryptor(cipher, &decryptor);
    struct ue_settings settings = {.handlers = {handler}, .decryptor = &decryptor};
    struct ue_context x;
    struct ue_decode_result result;
    struct ue_trace trace = {on_begin, on_field, NULL, seen};
    ue_context_init(&x, ue_profile_find("4.25"), &settings);
    *seen = (struct cipher_trace){0};
    ue_datagram_trace(&x, bytes, size, NULL, &trace, &result);
    return result;
}

static void check_handler(enum ue_handler handler, size_t terminators) {
    uint8_t bytes[256];
    struct cipher_trace seen;
    struct ue_cipher *cipher = ue_cipher_new();
    assert_non_null(cipher);
    size_t size = sealed_datagram(handler, bytes, sizeof bytes);

    struct ue_decode_result result = trace(handler, cipher, bytes, size, &seen);
    assert_true(result.is_opaque && !result.is_opened && !seen.opened);
    assert_null(ue_cipher_key(cipher));

    if (handler != UE_HANDLER_AES_ECB) { /* the tag detects a wrong key, but ECB has no tag */
        assert_true(ue_cipher_add_key(cipher, wrong_text));
        assert_false(trace(handler, cipher, bytes, size, &seen).is_opened);
    }
    assert_true(ue_cipher_add_key(cipher, key_text));
    result = trace(handler, cipher, bytes, size, &seen);
    assert_int_equal(result.fault.status, UE_OK);
    assert_true(result.is_opened && seen.opened);
    assert_int_equal(seen.seq, 4242);
    assert_int_equal(seen.rate, 100000);
    assert_int_equal(seen.terminators, terminators);
    for (size_t i = 0; i < UE_CIPHER_KEY_BYTES; i++) {
        assert_int_equal(ue_cipher_key(cipher)[i], i); /* as key_text says */
    }
    ue_cipher_free(cipher);
}

static void opens_gcm(void **state) {
    check_handler(UE_HANDLER_AESGCM, 3);
}

static void opens_gcm_bytes(void **state) {
    check_handler(UE_HANDLER_AESGCM_BYTES, 2);
}

static void opens_ecb(void **state) {
    check_handler(UE_HANDLER_AES_ECB, 3);
}

/* Replaced content decrypts again, and has another initialisation vector. */
static void check_closing(enum ue_handler handler) {
    uint8_t bytes[256], plain[256], iv[UE_AES_IV_BYTES], tag[UE_AES_TAG_BYTES], ciphertext[256], again[256];
    bool has_iv = handler != UE_HANDLER_AES_ECB;
    struct cipher_trace seen;
    struct ue_plaintext opened;
    struct ue_cipher *cipher = ue_cipher_new();
    size_t size = sealed_datagram(handler, bytes, sizeof bytes), plain_bytes;
    assert_false(ue_cipher_encrypt(cipher, plain, 16, iv, tag, ciphertext));
    assert_true(ue_cipher_add_key(cipher, key_text));
    assert_true(trace(handler, cipher, bytes, size, &seen).is_opened);
    memcpy(plain, ue_cipher_plain(cipher, &plain_bytes), sizeof plain < plain_bytes ? sizeof plain : plain_bytes);
    assert_false(ue_cipher_encrypt(cipher, plain, plain_bytes - 1, iv, tag, ciphertext));
    for (unsigned i = 0; i < 1000; i++) {
        const uint8_t old[UE_AES_IV_BYTES] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
        plain[0] = (uint8_t)i;
        plain[1] = (uint8_t)(i >> 8);
        memcpy(iv, old, sizeof iv);
        assert_true(ue_cipher_encrypt(cipher, plain, plain_bytes, iv, tag, ciphertext));
        assert_int_equal(memcmp(iv, old, sizeof iv) != 0, has_iv);
        assert_true(handler != UE_HANDLER_AESGCM_BYTES || iv[0] != 0);
        const struct ue_ciphertext encrypted = {
            handler, has_iv ? iv : NULL, has_iv ? tag : NULL, {ciphertext, 0, plain_bytes * 8}};
        assert_true(ue_cipher_decrypt(cipher, NULL, &encrypted, &opened));
        assert_memory_equal(opened.plain, plain, plain_bytes);
        memcpy(iv, old, sizeof iv);
        assert_true(ue_cipher_encrypt(cipher, plain, plain_bytes, iv, tag, again));
        assert_memory_equal(again, ciphertext, plain_bytes);
    }
    ue_cipher_free(cipher);
}

static void closes(void **state) {
    check_closing(UE_HANDLER_AESGCM);
    check_closing(UE_HANDLER_AESGCM_BYTES);
    check_closing(UE_HANDLER_AES_ECB);
}

static void reads_key_files(void **state) {
    char path[] = "/tmp/uerudp_keys_XXXXXX";
    const char *problem = NULL;
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    FILE *file = fdopen(descriptor, "w");
    fprintf(file, "# session keys\n\n%s\n%s\r\n", wrong_text, key_text);
    fclose(file);
    struct ue_cipher *cipher = ue_cipher_new();
    assert_true(ue_cipher_add(cipher, path, &problem));
    assert_true(ue_cipher_add(cipher, key_text, &problem));
    file = fopen(path, "w");
    fputs("not a key\n", file);
    fclose(file);
    assert_false(ue_cipher_add(cipher, path, &problem));
    assert_non_null(problem);
    remove(path);
    assert_false(ue_cipher_add(cipher, path, &problem));
    assert_false(ue_cipher_add_key(cipher, "00"));
    ue_cipher_free(cipher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_gcm), cmocka_unit_test(opens_gcm_bytes), cmocka_unit_test(opens_ecb),
        cmocka_unit_test(closes),    cmocka_unit_test(reads_key_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
