/* SPDX-License-Identifier: MIT */
/* Encrypting datagrams with AES-GCM: against fixed vectors, and against the independent decryptor of
   libcodec/cipher. */
#include <gcrypt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <uerudp/codec.h>
#include "tools/endpoint/core/datagram_encryption.h"
#include "libcodec/cipher/aes_decryption.h"
#include "tests/support/guarded.h"
#include "tests/support/rng.h"
#include "tests/support/within.h"

#define BUFFER_BYTES 2048

/* vectors/packet-handlers.json: aesgcm-bitform-clear and aesgcm-bitform-encrypted, which are the same packet. */
static const char key_text[] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
static const char clear_text[] = "00016af102000000fc1f0170c07f011440006a180030";
static const char encrypted_text[] =
    "82868a8e92969a9ea2a6aaae4e7bb350d94ce3ca33a269e0705f337299629a44162d0bfc768a1c3edf97006f"
    "83b10c5948ee06";

static struct ue_context init_context(const char *release, const struct ue_settings *settings) {
    struct ue_context x;
    ue_context_init(&x, ue_profile_find(release), settings);
    return x;
}

static struct ue_context vector_context(void) {
    struct ue_settings settings = {.handlers = {UE_HANDLER_AESGCM}};
    return init_context("4.25", &settings);
}

static struct ue_encryption *encryption_of(const char *hex) {
    uint8_t key[UE_CIPHER_KEY_BYTES];
    assert_int_equal(hex_read(hex, key, sizeof key), sizeof key);
    struct ue_encryption *encryption = ue_encryption_new(UE_HANDLER_AESGCM, key);
    assert_non_null(encryption);
    return encryption;
}

static void a_known_vector_decrypts(void **state) {
    uint8_t encrypted[64];
    uint8_t out[64];
    bool is_clear;
    struct ue_context x = vector_context();
    struct ue_encryption *encryption = encryption_of(key_text);
    size_t size = hex_read(encrypted_text, encrypted, sizeof encrypted);
    size_t decrypted = ue_encryption_decrypt(encryption, &x, encrypted, size, out, &is_clear);
    assert_hex(out, decrypted, clear_text);
    assert_false(is_clear);
    ue_encryption_free(encryption);
}

static void a_changed_bit_or_key_is_detected(void **state) {
    uint8_t encrypted[64];
    uint8_t out[64];
    bool is_clear;
    struct ue_context x = vector_context();
    struct ue_encryption *encryption = encryption_of(key_text);
    size_t size = hex_read(encrypted_text, encrypted, sizeof encrypted);
    for (size_t bit = 2; bit < size * 8; bit++) { /* after the handshake bit and the flag */
        encrypted[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_equal(ue_encryption_decrypt(encryption, &x, encrypted, size, out, &is_clear), 0);
        assert_false(is_clear);
        encrypted[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t cut = 1; cut < size; cut++) {
        assert_int_equal(ue_encryption_decrypt(encryption, &x, encrypted, size - cut, out, &is_clear), 0);
    }
    ue_encryption_free(encryption);
    encryption = encryption_of("ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
    assert_int_equal(ue_encryption_decrypt(encryption, &x, encrypted, size, out, &is_clear), 0);
    ue_encryption_free(encryption);
}

/* A sender that has the key can send contents without a terminator: none, or a zero byte. */
static void decrypted_contents_need_a_terminator(void **state) {
    struct ue_settings settings = {.handlers = {UE_HANDLER_AESGCM}, .magic_bits = 13, .magic = 0x1fff};
    struct ue_context x =
        init_context("4.25", &settings); /* the magic header has 1 bits that could be taken for a terminator */
    struct ue_encryption *encryption = encryption_of(key_text);
    for (size_t bytes = 0; bytes < 3; bytes++) {
        uint8_t key[UE_CIPHER_KEY_BYTES];
        uint8_t plain[2] = {0, bytes == 2}; /* the last one has a terminator */
        uint8_t encrypted[64];
        uint8_t out[64];
        bool is_clear;
        struct ue_datagram d = {.prefix.magic = 0x1fff,
                                .handlers = {.is_opaque = true, .components = {{.encrypted = true, .iv = {1}}}}};
        struct ue_handler_bits *gcm = &d.handlers.components[0];
        gcry_cipher_hd_t handle;
        hex_read(key_text, key, sizeof key);
        gcry_cipher_open(&handle, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_GCM, 0);
        gcry_cipher_setkey(handle, key, sizeof key);
        gcry_cipher_setiv(handle, gcm->iv, sizeof gcm->iv);
        gcry_cipher_encrypt(handle, plain, bytes, NULL, 0);
        assert_int_equal(gcry_cipher_gettag(handle, gcm->tag, sizeof gcm->tag), 0);
        gcry_cipher_close(handle);
        d.handlers.opaque = (struct ue_view){plain, 0, bytes * 8};
        struct ue_fault fault;
        size_t size = 0;
        assert_int_equal(ue_datagram_encode(&x, &d, encrypted, sizeof encrypted, &size, &fault), UE_OK);
        assert_int_equal(ue_encryption_decrypt(encryption, &x, encrypted, size, out, &is_clear) != 0, bytes == 2);
        assert_false(is_clear);
    }
    ue_encryption_free(encryption);
}

static void clear_datagrams_are_returned_unchanged(void **state) {
    static const char *const texts[] = {clear_text, "0500000000006000f2e0d68bdd86eb2ad70993e7104492e09b21d2300d"};
    struct ue_context x = vector_context();
    struct ue_encryption *encryption = encryption_of(key_text);
    for (size_t i = 0; i < 2; i++) {
        uint8_t bytes[64];
        uint8_t out[64];
        bool is_clear;
        size_t size = hex_read(texts[i], bytes, sizeof bytes);
        assert_int_equal(ue_encryption_decrypt(encryption, &x, bytes, size, out, &is_clear), size);
        assert_memory_equal(bytes, out, size);
        assert_true(is_clear);
    }
    ue_encryption_free(encryption);
}

static void only_packets_are_encrypted(void **state) {
    static const char *const texts[] = {"",
                                        "00",
                                        "01",
                                        "02", /* empty, no terminator, no prefix, no flag */
                                        "0500000000006000f2e0d68bdd86eb2ad70993e7104492e09b21d2300d",
                                        encrypted_text};
    struct ue_context x = vector_context();
    struct ue_encryption *encryption = encryption_of(key_text);
    struct ue_random random;
    ue_random_init(&random, NULL);
    uint8_t bytes[64];
    uint8_t out[64 + UE_ENCRYPTION_OVERHEAD_BYTES];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t size = hex_read(texts[i], bytes, sizeof bytes);
        assert_int_equal(ue_encryption_encrypt(encryption, &x, &random, bytes, size, out), 0);
    }
    size_t size = hex_read(clear_text, bytes, sizeof bytes);
    assert_int_not_equal(ue_encryption_encrypt(encryption, &x, &random, bytes, size, out), 0);
    x.settings.handlers[0] = UE_HANDLER_NONE;
    assert_int_equal(ue_encryption_encrypt(encryption, &x, &random, bytes, size, out), 0);
    ue_encryption_free(encryption);
}

/* Encodes a packet with a bunch of data_bytes bytes. */
static size_t packet_of(const struct ue_context *x, size_t data_bytes, uint8_t *bytes) {
    static const uint8_t data[BUFFER_BYTES] = {0x5a, 0x11};
    struct ue_item item = {.bunch = {.reliable = true, .has_name = true, .channel = 3, .ch_seq = 5}};
    item.bunch.name = (struct ue_name){.hardcoded = true, .index = UE_NAME_ACTOR};
    item.bunch.data = (struct ue_view){data, 0, data_bytes * 8};
    struct ue_datagram datagram = {.items = &item, .item_capacity = 1, .item_count = 1};
    datagram.prefix.session_id = x->ids ? 2 : 0;
    datagram.prefix.magic = x->settings.magic;
    datagram.packet.seq = 4242;
    datagram.packet.history_words = 1;
    struct ue_fault fault;
    size_t written = 0;
    assert_int_equal(ue_datagram_encode(x, &datagram, bytes, BUFFER_BYTES, &written, &fault), UE_OK);
    return written;
}

/* The decryptor of libcodec/cipher has its own code; the codec reads the decrypted packet. */
static void assert_codec_decrypts(struct ue_context x, const uint8_t *encrypted, size_t size) {
    struct ue_cipher *cipher = ue_cipher_new();
    struct ue_decryptor decryptor;
    struct ue_decode_result result;
    assert_true(ue_cipher_add_key(cipher, key_text));
    ue_cipher_decryptor(cipher, &decryptor);
    x.settings.decryptor = &decryptor;
    assert_int_equal(ue_datagram_decode(&x, encrypted, size, NULL, NULL, &result), UE_OK);
    assert_true(result.is_opened && result.canonical);
    assert_int_equal(result.seq, 4242);
    assert_int_equal(result.item_count, 1);
    ue_cipher_free(cipher);
}

static void assert_packet_decrypts(struct ue_encryption *encryption, struct ue_random *random,
                                   const struct ue_context *x, size_t data_bytes) {
    static uint8_t clear[BUFFER_BYTES];
    static uint8_t encrypted[BUFFER_BYTES];
    static uint8_t again[BUFFER_BYTES];
    size_t size = packet_of(x, data_bytes, clear);
    struct guarded in = guarded_new(size);
    struct guarded out = guarded_new(size + UE_ENCRYPTION_OVERHEAD_BYTES);
    uint8_t *out_end = guarded_end(&out, size + UE_ENCRYPTION_OVERHEAD_BYTES);
    size_t encrypted_size = ue_encryption_encrypt(encryption, x, random, guarded_put(&in, clear, size), size, out_end);
    assert_true(
        is_within(encrypted_size, size + UE_AES_IV_BYTES + UE_AES_TAG_BYTES, size + UE_ENCRYPTION_OVERHEAD_BYTES));
    memcpy(encrypted, out_end, encrypted_size);
    assert_codec_decrypts(*x, encrypted, encrypted_size);
    bool is_clear;
    assert_int_equal(ue_encryption_decrypt(encryption, x, encrypted, encrypted_size, again, &is_clear), size);
    assert_memory_equal(again, clear, size);
    guarded_free(&in);
    guarded_free(&out);
}

/* Every bit length of the last byte, and lengths on both sides of a chunk boundary. */
static void packets_of_any_length_decrypt(void **state) {
    static const struct {
        const char *release;
        struct ue_settings settings;
    } rows[] = {
        {"4.25", {.handlers = {UE_HANDLER_AESGCM}}},
        {"4.25", {.handlers = {UE_HANDLER_AESGCM, UE_HANDLER_OODLE}, .magic_bits = 4, .magic = 7}},
        {"4.25", {.handlers = {UE_HANDLER_AESGCM}, .magic_bits = 13, .magic = 0x0123}},
        {"5.1", {.handlers = {UE_HANDLER_AESGCM}}},
        {"5.5", {.handlers = {UE_HANDLER_AESGCM}, .magic_bits = 32, .magic = 0x500c7696}},
    };
    struct ue_encryption *encryption = encryption_of(key_text);
    struct ue_random random;
    ue_random_init(&random, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ue_context x = init_context(rows[i].release, &rows[i].settings);
        for (size_t data_bytes = 0; data_bytes < 40; data_bytes++) {
            assert_packet_decrypts(encryption, &random, &x, data_bytes);
            assert_packet_decrypts(encryption, &random, &x, 470 + data_bytes);
        }
        assert_packet_decrypts(encryption, &random, &x, 1000);
    }
    ue_encryption_free(encryption);
}

/* Random bits instead of packets, so that some contents fill chunks exactly. */
static void contents_of_any_bit_length_decrypt(void **state) {
    struct ue_context x = vector_context();
    struct ue_encryption *encryption = encryption_of(key_text);
    struct ue_random random;
    struct rng rng = rng_seeded("contents_of_any_bit_length_decrypt");
    ue_random_init(&random, NULL);
    for (size_t content = 0; content < 9000; content += content < 4080 ? 17 : 1) {
        uint8_t clear[BUFFER_BYTES] = {0};
        uint8_t encrypted[BUFFER_BYTES];
        uint8_t again[BUFFER_BYTES];
        uint8_t random_bytes[BUFFER_BYTES];
        bool is_clear;
        rng_fill(&rng, random_bytes, sizeof random_bytes);
        ue_bits_copy(clear, 2, random_bytes, 0, content);
        clear[(content + 2) / 8] |= (uint8_t)(1u << (content + 2) % 8);
        size_t size = (content + 2) / 8 + 1;
        size_t encrypted_size = ue_encryption_encrypt(encryption, &x, &random, clear, size, encrypted);
        assert_int_not_equal(encrypted_size, 0);
        assert_int_equal(ue_encryption_decrypt(encryption, &x, encrypted, encrypted_size, again, &is_clear), size);
        assert_memory_equal(clear, again, size);
    }
    ue_encryption_free(encryption);
}

/* Whether the decryptor of libcodec/cipher reads it; it knows no DTLS. */
static bool codec_reads(struct ue_context x, const uint8_t *encrypted, size_t size) {
    struct ue_cipher *cipher = ue_cipher_new();
    struct ue_decryptor decryptor;
    struct ue_decode_result result;
    ue_cipher_add_key(cipher, key_text);
    ue_cipher_decryptor(cipher, &decryptor);
    x.settings.decryptor = &decryptor;
    ue_datagram_decode(&x, encrypted, size, NULL, NULL, &result);
    ue_cipher_free(cipher);
    return result.fault.status == UE_OK && result.is_opened && result.canonical && result.seq == 4242;
}

static void assert_form_decrypts(struct ue_encryption *encryption, struct ue_random *random, const struct ue_context *x,
                                 bool is_dtls, size_t data_bytes) {
    uint8_t clear[BUFFER_BYTES];
    uint8_t encrypted[BUFFER_BYTES];
    uint8_t again[BUFFER_BYTES];
    bool is_clear;
    size_t size = packet_of(x, data_bytes, clear);
    size_t encrypted_size = ue_encryption_encrypt(encryption, x, random, clear, size, encrypted);
    assert_true(is_within(encrypted_size, size, size + UE_ENCRYPTION_OVERHEAD_BYTES));
    assert_int_equal(codec_reads(*x, encrypted, encrypted_size), !is_dtls);
    assert_int_equal(ue_encryption_decrypt(encryption, x, encrypted, encrypted_size, again, &is_clear), size);
    assert_memory_equal(again, clear, size);
    assert_false(is_clear);
    assert_int_equal(ue_encryption_decrypt(encryption, x, clear, size, again, &is_clear), size);
    assert_true(is_clear);
}

/* Every component that encrypts, alone, inside and outside of others. */
static void every_form_decrypts(void **state) {
    static const enum ue_handler forms[] = {UE_HANDLER_AESGCM, UE_HANDLER_AESGCM_BYTES, UE_HANDLER_AES_ECB,
                                            UE_HANDLER_DTLS};
    static const enum ue_handler others[] = {UE_HANDLER_NONE, UE_HANDLER_OODLE, UE_HANDLER_RELIABILITY};
    uint8_t key[UE_CIPHER_KEY_BYTES];
    struct ue_random random;
    ue_random_init(&random, NULL);
    hex_read(key_text, key, sizeof key);
    for (size_t i = 0; i < 24; i++) {
        enum ue_handler form = forms[i % 4];
        struct ue_settings settings = {.magic_bits = i < 12 ? 0 : 13, .magic = i < 12 ? 0 : 0x0123};
        enum ue_handler other = others[i / 4 % 3];
        bool is_outermost = i < 12 || other == UE_HANDLER_NONE;
        settings.handlers[is_outermost ? 0 : 1] = form;
        settings.handlers[is_outermost ? 1 : 0] = other;
        struct ue_context x = init_context(i % 3 == 0 ? "5.5" : "4.25", &settings);
        struct ue_encryption *encryption = ue_encryption_new(form, key);
        for (size_t data_bytes = 0; data_bytes < 40; data_bytes++) {
            assert_form_decrypts(encryption, &random, &x, form == UE_HANDLER_DTLS, data_bytes);
            assert_form_decrypts(encryption, &random, &x, form == UE_HANDLER_DTLS, 480 + data_bytes);
        }
        ue_encryption_free(encryption);
    }
}

/* AES-ECB has no tag. */
static void changed_bits_are_detected_in_every_form_with_a_tag(void **state) {
    static const enum ue_handler forms[] = {UE_HANDLER_AESGCM_BYTES, UE_HANDLER_DTLS};
    uint8_t key[UE_CIPHER_KEY_BYTES];
    struct ue_random random;
    ue_random_init(&random, NULL);
    hex_read(key_text, key, sizeof key);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct ue_settings settings = {.handlers = {forms[i]}};
        struct ue_context x = init_context("4.25", &settings);
        struct ue_encryption *encryption = ue_encryption_new(forms[i], key);
        uint8_t clear[BUFFER_BYTES];
        uint8_t encrypted[BUFFER_BYTES];
        uint8_t out[BUFFER_BYTES];
        bool is_clear;
        size_t size = packet_of(&x, 30, clear);
        size = ue_encryption_encrypt(encryption, &x, &random, clear, size, encrypted);
        size_t first =
            forms[i] == UE_HANDLER_DTLS ? 3 + 3 * 8 : 10; /* a handshake, a clear packet, the record's type */
        for (size_t bit = first; bit < size * 8; bit++) {
            encrypted[bit / 8] ^= (uint8_t)(1u << bit % 8);
            size_t decrypted = ue_encryption_decrypt(encryption, &x, encrypted, size, out, &is_clear);
            bool is_length = forms[i] == UE_HANDLER_DTLS && bit >= 3 + 11 * 8 && bit < 3 + 13 * 8;
            assert_true(decrypted == 0 || is_length); /* the datagram's own length counts */
            encrypted[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        ue_encryption_free(encryption);
    }
}

static void encrypting_twice_gives_different_bytes(void **state) {
    struct ue_context x = vector_context();
    struct ue_encryption *encryption = encryption_of(key_text);
    struct ue_random random;
    ue_random_init(&random, NULL);
    uint8_t clear[64];
    uint8_t encrypted[2][64 + UE_ENCRYPTION_OVERHEAD_BYTES];
    struct ue_datagram read[2] = {0};
    size_t size = hex_read(clear_text, clear, sizeof clear);
    for (size_t i = 0; i < 2; i++) {
        struct ue_decode_result result;
        size_t encrypted_size = ue_encryption_encrypt(encryption, &x, &random, clear, size, encrypted[i]);
        assert_int_equal(ue_datagram_decode(&x, encrypted[i], encrypted_size, &read[i], NULL, &result), UE_OK);
        assert_true(result.is_opaque && result.canonical);
    }
    const struct ue_handler_bits *a = &read[0].handlers.components[0];
    const struct ue_handler_bits *b = &read[1].handlers.components[0];
    assert_memory_not_equal(a->iv, b->iv, sizeof a->iv);
    assert_memory_not_equal(a->tag, b->tag, sizeof a->tag);
    assert_false(ue_view_equal(read[0].handlers.opaque, read[1].handlers.opaque));
    ue_encryption_free(encryption);
}

static void random_datagrams_never_decrypt(void **state) {
    struct ue_context x = vector_context();
    struct ue_encryption *encryption = encryption_of(key_text);
    struct rng rng = rng_seeded("random_datagrams_never_decrypt");
    struct guarded in = guarded_new(128);
    struct guarded out = guarded_new(128);
    for (size_t i = 0; i < 20000; i++) {
        uint8_t random_bytes[128];
        bool is_clear;
        size_t size = rng_below(&rng, sizeof random_bytes);
        rng_fill(&rng, random_bytes, sizeof random_bytes);
        size_t decrypted = ue_encryption_decrypt(encryption, &x, guarded_put(&in, random_bytes, size), size,
                                                 guarded_end(&out, size), &is_clear);
        assert_int_equal(decrypted, is_clear ? size : 0);
    }
    guarded_free(&in);
    guarded_free(&out);
    ue_encryption_free(encryption);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_known_vector_decrypts),
        cmocka_unit_test(a_changed_bit_or_key_is_detected),
        cmocka_unit_test(decrypted_contents_need_a_terminator),
        cmocka_unit_test(clear_datagrams_are_returned_unchanged),
        cmocka_unit_test(only_packets_are_encrypted),
        cmocka_unit_test(packets_of_any_length_decrypt),
        cmocka_unit_test(contents_of_any_bit_length_decrypt),
        cmocka_unit_test(every_form_decrypts),
        cmocka_unit_test(changed_bits_are_detected_in_every_form_with_a_tag),
        cmocka_unit_test(encrypting_twice_gives_different_bytes),
        cmocka_unit_test(random_datagrams_never_decrypt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
