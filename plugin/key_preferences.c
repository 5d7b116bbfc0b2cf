/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/key_preferences.h"

#define KEY_TITLE "AES key"
#define TABLE_TITLE "Keys by server and token"

static const char *key_text = "";

static void register_key(module_t *module, const char *description) {
    prefs_register_string_preference(module, "key", KEY_TITLE ", or file of keys", description, &key_text);
}

#ifdef UERUDP_HAS_CIPHER

#include <epan/uat.h>
#include <epan/wmem_scopes.h>
#include <wsutil/report_message.h>

#include "libcodec/cipher/aes_decryption.h"
#include "plugin/tree/label_text.h"
#include "plugin/uat_text_columns.h"

enum { COLUMN_ADDRESS, COLUMN_PORT, COLUMN_TOKEN, COLUMN_KEY, COLUMN_COUNT };

struct key_table_row {
    char *texts[COLUMN_COUNT];
};

static struct key_table_row *rows;
static unsigned row_count;
static struct ue_cipher *cipher; /* lives until Wireshark exits, because sessions point to it */

/* ---- the table ---- */

static void *copy_row(void *to, const void *from, size_t size _U_) {
    struct key_table_row *copy = to;
    *copy = *(const struct key_table_row *)from;
    uerudp_uat_text_copy(copy->texts, COLUMN_COUNT);
    return copy;
}

static void free_row(void *record) {
    uerudp_uat_text_free(((struct key_table_row *)record)->texts, COLUMN_COUNT);
}

static struct ue_key_row row_texts(const struct key_table_row *row) {
    return (struct ue_key_row){.address = row->texts[COLUMN_ADDRESS],
                               .port = row->texts[COLUMN_PORT],
                               .token = row->texts[COLUMN_TOKEN],
                               .key = row->texts[COLUMN_KEY]};
}

static uerudp_callback_bool update_row(void *record, char **error) {
    const struct ue_key_row texts = row_texts(record);
    const char *problem = NULL;
    struct ue_key ignored;
    bool valid = ue_key_parse(&texts, &ignored, &problem);
    *error = valid ? NULL : g_strdup_printf("Not a valid key: %s", problem);
    return valid;
}

static void add_row(unsigned row) {
    const struct ue_key_row texts = row_texts(&rows[row]);
    const char *problem = NULL;
    char origin[UE_KEY_ORIGIN_BYTES];
    snprintf(origin, sizeof origin, "row %u of the table", row + 1);
    if (!ue_cipher_add_row(cipher, &texts, origin, &problem)) {
        report_failure("Row %u of the table of keys: %s", row + 1, problem);
    }
}

void uerudp_decryption_apply_prefs(void) {
    const char *problem = NULL;
    if (cipher == NULL) {
        return;
    }
    ue_cipher_clear(cipher);
    if (*key_text != '\0' && !ue_cipher_add(cipher, key_text, &problem)) {
        report_failure("uerudp.key: %s", problem);
    }
    for (unsigned i = 0; i < row_count; i++) {
        add_row(i);
    }
}

void uerudp_decryption_register(module_t *module) {
    static uat_field_t columns[COLUMN_COUNT + 1];
    columns[COLUMN_ADDRESS] =
        uerudp_uat_text_column(COLUMN_ADDRESS, "address", "Address", "Address of the server or client; empty = any");
    columns[COLUMN_PORT] = uerudp_uat_text_column(COLUMN_PORT, "port", "Port", "UDP port at that address; empty = any");
    columns[COLUMN_TOKEN] =
        uerudp_uat_text_column(COLUMN_TOKEN, "token", "Token", "Encryption token in the Hello; empty = any");
    columns[COLUMN_KEY] = uerudp_uat_text_column(COLUMN_KEY, "key", "Key", "AES key, 64 hexadecimal digits");
    uat_t *table = uat_new("Unreal Engine keys", sizeof(struct key_table_row), "uerudp_keys", true, &rows, &row_count,
                           UAT_AFFECTS_DISSECTION, NULL, copy_row, update_row, free_row, uerudp_decryption_apply_prefs,
                           NULL, columns);
    cipher = ue_cipher_new();
    register_key(module, "AES key in hexadecimal, or the path of a key log");
    prefs_register_uat_preference(module, "keys", TABLE_TITLE, "AES keys by address, port and encryption token", table);
}

/* ---- sessions ---- */

const struct ue_decryption *uerudp_decryption(void) {
    static struct ue_decryption decryption;
    if (cipher == NULL) {
        return NULL;
    }
    ue_cipher_decryption(cipher, &decryption);
    return &decryption;
}

void uerudp_decryption_set_pass(const struct ue_decryptor *session, bool is_first) {
    if (session != NULL) {
        ((struct ue_cipher_session *)session)->is_learning = is_first;
    }
}

const uint8_t *uerudp_decryption_plaintext(size_t *bytes) {
    return ue_cipher_plain(cipher, bytes);
}

static const char *describe_token(const struct ue_cipher_session *session, wmem_allocator_t *pool) {
    if (!session->has_token) {
        return "no Hello with its encryption token was read";
    }
    return session->token[0] == '\0' ? "its Hello has no encryption token"
                                     : uerudp_label_text_mask_controls(
                                           wmem_strdup_printf(pool, "its encryption token is \"%s\"", session->token));
}

const char *uerudp_decryption_problem(const struct ue_decryptor *decryptor, bool has_decrypted, wmem_allocator_t *pool,
                                      bool *has_keys) {
    const struct ue_cipher_session *session = (const struct ue_cipher_session *)decryptor;
    *has_keys = session != NULL && session->tried != 0;
    if (cipher == NULL) {
        return "libgcrypt cannot be used";
    }
    if (session == NULL) {
        return "a key is used only for handlers that the preference \"" UERUDP_PREFS_HANDLERS "\" names";
    }
    const char *token = describe_token(session, pool);
    const char *reason = has_decrypted ? ", but other packets: it was changed on the way, or encrypted with another key"
                                       : ": it was encrypted with another key, or changed on the way";
    if (session->tried == 1) {
        return wmem_strdup_printf(pool, "the only key for this connection does not decrypt it%s; %s", reason, token);
    }
    if (*has_keys) {
        return wmem_strdup_printf(pool, "none of the %zu keys for this connection decrypts it%s; %s", session->tried,
                                  reason, token);
    }
    return wmem_strdup_printf(
        pool, "no key for this connection is in the preferences \"" KEY_TITLE "\" and \"" TABLE_TITLE "\"; %s", token);
}

#else

void uerudp_decryption_register(module_t *module) {
    register_key(module, "No effect: this plugin was built without libgcrypt");
}

void uerudp_decryption_apply_prefs(void) {}

const struct ue_decryption *uerudp_decryption(void) {
    return NULL;
}

void uerudp_decryption_set_pass(const struct ue_decryptor *session _U_, bool is_first _U_) {}

const uint8_t *uerudp_decryption_plaintext(size_t *bytes) {
    *bytes = 0;
    return NULL;
}

const char *uerudp_decryption_problem(const struct ue_decryptor *decryptor _U_, bool has_decrypted _U_,
                                      wmem_allocator_t *pool _U_, bool *has_keys) {
    *has_keys = false;
    return "this plugin was built without libgcrypt";
}

#endif
