/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/decryption.h"

static const char *key_text = "";

static void register_key(module_t *module, const char *description) {
    prefs_register_string_preference(module, "key", "Key", description, &key_text);
}

#ifdef UE_HAS_CIPHER

#include <epan/uat.h>
#include <epan/wmem_scopes.h>
#include <wsutil/report_message.h>

#include "libcodec/cipher/cipher_session.h"
#include "plugin/tree/label_text.h"
#include "plugin/uat_text.h"

enum { COLUMN_ADDRESS, COLUMN_PORT, COLUMN_TOKEN, COLUMN_KEY, COLUMN_COUNT };

struct key_row {
    char *texts[COLUMN_COUNT];
};

static struct key_row *rows;
static unsigned row_count;
static struct ue_cipher *cipher; /* stays, whatever its keys are: sessions refer to it */

/* ---- the table ---- */

static void *copy_row(void *to, const void *from, size_t size _U_) {
    struct key_row *copy = to;
    *copy = *(const struct key_row *)from;
    ue_texts_copy(copy->texts, COLUMN_COUNT);
    return copy;
}

static void free_row(void *record) {
    ue_texts_free(((struct key_row *)record)->texts, COLUMN_COUNT);
}

static struct ue_key_row texts_of(const struct key_row *row) {
    return (struct ue_key_row){.address = row->texts[COLUMN_ADDRESS],
                               .port = row->texts[COLUMN_PORT],
                               .token = row->texts[COLUMN_TOKEN],
                               .key = row->texts[COLUMN_KEY]};
}

static ue_callback_bool update_row(void *record, char **error) {
    const struct ue_key_row texts = texts_of(record);
    const char *problem = NULL;
    struct ue_key ignored;
    bool valid = ue_key_parse(&texts, &ignored, &problem);
    *error = valid ? NULL : g_strdup_printf("This is no key: %s", problem);
    return valid;
}

static void add_row(unsigned row) {
    const struct ue_key_row texts = texts_of(&rows[row]);
    const char *problem = NULL;
    char origin[UE_KEY_ORIGIN_BYTES];
    snprintf(origin, sizeof origin, "row %u of the table", row + 1);
    if (!ue_cipher_add_row(cipher, &texts, origin, &problem)) {
        report_failure("Row %u of the table of keys: %s", row + 1, problem);
    }
}

void ue_key_apply(void) {
    const char *problem = NULL;
    if (cipher == NULL) {
        return;
    }
    ue_cipher_forget(cipher);
    if (*key_text != '\0' && !ue_cipher_add(cipher, key_text, &problem)) {
        report_failure("uerudp.key: %s", problem);
    }
    for (unsigned i = 0; i < row_count; i++) {
        add_row(i);
    }
}

void ue_key_register(module_t *module) {
    static uat_field_t columns[COLUMN_COUNT + 1];
    columns[COLUMN_ADDRESS] = ue_texts_column(COLUMN_ADDRESS, "address", "Address", "Of server or client; empty = any");
    columns[COLUMN_PORT] = ue_texts_column(COLUMN_PORT, "port", "Port", "UDP port at that address; empty = any");
    columns[COLUMN_TOKEN] = ue_texts_column(COLUMN_TOKEN, "token", "Token", "Encryption token of Hello; empty = any");
    columns[COLUMN_KEY] = ue_texts_column(COLUMN_KEY, "key", "Key", "AES key, 64 hexadecimal digits");
    uat_t *table = uat_new("Unreal Engine keys", sizeof(struct key_row), "uerudp_keys", true, &rows, &row_count,
                           UAT_AFFECTS_DISSECTION, NULL, copy_row, update_row, free_row, ue_key_apply, NULL, columns);
    cipher = ue_cipher_new();
    register_key(module, "AES key in hexadecimal, or the name of a key log");
    prefs_register_uat_preference(module, "keys", "Keys", "AES keys by address, port and encryption token", table);
}

/* ---- sessions ---- */

static struct ue_key_end end_of(const address *address, uint32_t port) {
    struct ue_key_end end = {.port = (uint16_t)port};
    if (address->len == 4 || address->len == 16) {
        end.address_bytes = (uint8_t)address->len;
        memcpy(end.address, address->data, end.address_bytes);
    }
    return end;
}

struct ue_session *ue_key_session(const packet_info *pinfo, struct ue_flow *flow) {
    if (cipher == NULL || !ue_session_is_wanted(&flow->settings)) {
        return NULL;
    }
    const struct ue_key_end ends[2] = {end_of(&pinfo->src, pinfo->srcport), end_of(&pinfo->dst, pinfo->destport)};
    struct ue_session *session = wmem_new(wmem_file_scope(), struct ue_session);
    ue_session_init(session, cipher, ends);
    flow->settings.opener = &session->opener;
    return session;
}

void ue_key_adopt(struct ue_session *session, const struct ue_session *earlier) {
    ue_session_adopt(session, earlier);
}

void ue_key_learn(struct ue_session *session, const struct ue_flow *flow, const struct ue_frame *frame,
                  const uint8_t *bytes, size_t size_bytes) {
    struct ue_context context;
    if (session != NULL && !session->has_token) {
        ue_flow_context(flow, frame, &context);
        ue_session_learn(session, &context, bytes, size_bytes);
    }
}

void ue_key_set_pass(struct ue_session *session, bool is_first) {
    if (session != NULL) {
        session->is_learning = is_first;
    }
}

const uint8_t *ue_key_plain(size_t *bytes) {
    return ue_cipher_plain(cipher, bytes);
}

static const char *token_in_words(const struct ue_session *session, wmem_allocator_t *pool) {
    if (!session->has_token) {
        return "its Hello with the token was not captured";
    }
    return session->token[0] == '\0'
               ? "its Hello has no token"
               : ue_words_visible(wmem_strdup_printf(pool, "its token is \"%s\"", session->token));
}

const char *ue_key_problem(const struct ue_session *session, wmem_allocator_t *pool, bool *has_keys) {
    *has_keys = session != NULL && session->tried != 0;
    if (session == NULL) {
        return "libgcrypt is not usable";
    }
    const char *token = token_in_words(session, pool);
    if (session->tried == 1) {
        return wmem_strdup_printf(pool, "the only key for this connection does not open it; %s", token);
    }
    if (*has_keys) {
        return wmem_strdup_printf(pool, "none of the %zu keys for this connection opens it; %s", session->tried, token);
    }
    return wmem_strdup_printf(pool, "no key for this connection in the preferences key and Keys; %s", token);
}

#else

void ue_key_register(module_t *module) {
    register_key(module, "Without use: this plugin was built without libgcrypt");
}

void ue_key_apply(void) {}

struct ue_session *ue_key_session(const packet_info *pinfo _U_, struct ue_flow *flow _U_) {
    return NULL;
}

void ue_key_adopt(struct ue_session *session _U_, const struct ue_session *earlier _U_) {}

void ue_key_learn(struct ue_session *session _U_, const struct ue_flow *flow _U_, const struct ue_frame *frame _U_,
                  const uint8_t *bytes _U_, size_t size_bytes _U_) {}

void ue_key_set_pass(struct ue_session *session _U_, bool is_first _U_) {}

const uint8_t *ue_key_plain(size_t *bytes) {
    *bytes = 0;
    return NULL;
}

const char *ue_key_problem(const struct ue_session *session _U_, wmem_allocator_t *pool _U_, bool *has_keys) {
    *has_keys = false;
    return "this plugin was built without libgcrypt";
}

#endif
