/* SPDX-License-Identifier: MIT */
#include "tools/live/endpoint_handlers.h"

#include "tools/cli/command_line.h"

static bool has_any(const struct ue_settings *settings, unsigned wanted) {
    for (size_t i = 0; i < UE_HANDLERS_MAX; i++) {
        if ((wanted >> settings->handlers[i] & 1) != 0) {
            return true;
        }
    }
    return false;
}

bool live_handlers_check(const struct ue_conn_config *config, bool encrypts) {
    const unsigned ciphers =
        1u << UE_HANDLER_AESGCM | 1u << UE_HANDLER_AESGCM_BYTES | 1u << UE_HANDLER_AES_ECB | 1u << UE_HANDLER_DTLS;
    if (encrypts && config->profile->hello == 0) {
        return cli_error("encryption: the login of %s has no encryption token", config->profile->name);
    }
    if (encrypts && !has_any(&config->settings, ciphers)) {
        return cli_error("--handlers: encryption needs one of aesgcm, aesgcm-bytes, aes-ecb and dtls");
    }
    if (config->compress && !has_any(&config->settings, 1u << UE_HANDLER_OODLE)) {
        return cli_error("--compress needs oodle among the --handlers");
    }
    if (config->settings.handlers[0] == UE_HANDLER_NONE) {
        return true;
    }
    struct ue_conn *conn = ue_conn_new(NULL, config);
    if (conn == NULL) {
        cli_error("--handlers: use each component once, at most one of aesgcm, aesgcm-bytes, aes-ecb and dtls, "
                  "aesgcm-bytes not with --compress, and packets that have room for them");
    }
    ue_conn_free(conn);
    return conn != NULL;
}
