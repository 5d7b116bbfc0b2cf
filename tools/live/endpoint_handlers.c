/* SPDX-License-Identifier: MIT */
#include "tools/live/endpoint_handlers.h"

#include "tools/cli/command_line.h"
#include "tools/endpoint/core/datagram_encryption.h"

static bool can_be_created(const struct ue_conn_config *config) {
    struct ue_conn *conn = ue_conn_new(NULL, config);
    ue_conn_free(conn);
    return conn != NULL;
}

bool live_handlers_check(const struct ue_conn_config *config, bool encrypts) {
    if (encrypts && config->profile->hello == 0) {
        return cli_error("encryption: the login of %s has no encryption token", config->profile->name);
    }
    if (encrypts && ue_handlers_cipher(&config->settings) == UE_HANDLER_NONE) {
        return cli_error("--handlers: encryption needs one of aesgcm, aesgcm-bytes, aes-ecb and dtls");
    }
    if (config->compress && ue_handler_index(&config->settings, UE_HANDLER_OODLE) == UE_HANDLERS_MAX) {
        return cli_error("--compress needs oodle among the --handlers");
    }
    if (config->settings.handlers[0] == UE_HANDLER_NONE) {
        return true;
    }
    if (can_be_created(config)) {
        return true;
    }
    struct ue_conn_config plain = *config;
    plain.settings.handlers[0] = UE_HANDLER_NONE;
    return can_be_created(&plain)
               ? cli_error(
                     "--handlers: use each component once, at most one of aesgcm, aesgcm-bytes, aes-ecb and dtls, "
                     "aesgcm-bytes not with --compress, and packets that have room for them")
               : cli_error("no connection can be created with these settings");
}
