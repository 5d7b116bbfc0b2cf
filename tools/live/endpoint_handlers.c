/* SPDX-License-Identifier: MIT */
#include "tools/live/endpoint_handlers.h"

#include "tools/cli/command_line.h"
#include "tools/endpoint/core/datagram_encryption.h"

static bool can_be_created(const struct ue_conn_config *config) {
    struct ue_conn *conn = ue_conn_new(NULL, config);
    ue_conn_free(conn);
    return conn != NULL;
}

static bool has_handler(const struct ue_conn_config *config, enum ue_handler handler) {
    return ue_handler_index(&config->settings, handler) != UE_HANDLERS_MAX;
}

static bool is_once(const struct ue_conn_config *config, size_t index) {
    return ue_handler_index(&config->settings, config->settings.handlers[index]) == index;
}

/* Why an endpoint cannot use these handlers; NULL: it can, if packets have room for what they add. */
static const char *problem_of(const struct ue_conn_config *config) {
    const enum ue_handler *handlers = config->settings.handlers;
    size_t ciphers = 0;
    for (size_t i = 0; i < UE_HANDLERS_MAX && handlers[i] != UE_HANDLER_NONE; i++) {
        ciphers += ue_handler_encrypts(handlers[i]);
        if (!is_once(config, i)) {
            return "use each component once";
        }
    }
    return has_handler(config, UE_HANDLER_UNKNOWN)
               ? "unknown stands for a component of a capture, which an endpoint cannot have"
           : ciphers > 1 ? "use at most one of aesgcm, aesgcm-bytes, aes-ecb and dtls"
           : config->compress && has_handler(config, UE_HANDLER_AESGCM_BYTES)
               ? "aesgcm-bytes and --compress exclude each other"
               : NULL;
}

bool live_handlers_check(const struct ue_conn_config *config, bool encrypts) {
    if (encrypts && config->profile->hello == 0) {
        char releases[UE_RELEASES_CHARS];
        return cli_error("encryption: the login of %s has no encryption token",
                         ue_profile_releases(config->profile, releases));
    }
    if (encrypts && ue_handlers_cipher(&config->settings) == UE_HANDLER_NONE) {
        return cli_error("--handlers: encryption needs one of aesgcm, aesgcm-bytes, aes-ecb and dtls");
    }
    if (config->compress && !has_handler(config, UE_HANDLER_OODLE)) {
        return cli_error("--compress needs oodle among the --handlers");
    }
    const char *problem = problem_of(config);
    if (problem != NULL) {
        return cli_error("--handlers: %s", problem);
    }
    if (config->settings.handlers[0] == UE_HANDLER_NONE || can_be_created(config)) {
        return true;
    }
    struct ue_conn_config plain = *config;
    plain.settings.handlers[0] = UE_HANDLER_NONE;
    return can_be_created(&plain) ? cli_error("--handlers: packets have no room for what they add; see --max-packet")
                                  : cli_error("no connection can be created with these settings");
}
