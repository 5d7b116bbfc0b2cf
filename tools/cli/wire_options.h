/* SPDX-License-Identifier: MIT */
/* The options that say how to decode the wire: generation, settings, profiles, keys, server ports. */
#ifndef UERUDP_TOOLS_CLI_WIRE_OPTIONS_H
#define UERUDP_TOOLS_CLI_WIRE_OPTIONS_H

#include <uerudp/observer.h>

#include "libcodec/cipher/aes_decryption.h"
#include "tools/capture/capture_address.h"
#include "tools/cli/user_profile.h"

#define WIRE_OPTIONS_SERVER_PORT 7777

struct wire_options {
    struct ue_settings settings;
    const struct ue_profile *generation; /* NULL: detected */
    GPtrArray *profiles;                 /* struct user_profile; NULL: no file */
    uint8_t ports[65536 / 8];            /* one bit per server port */

    GPtrArray *setting_texts; /* "key=value" from the command line, applied in wire_options_resolve */
    const char *generation_name;
    struct ue_cipher *cipher;
    struct ue_decryptor decryptor;
};

void wire_options_init(struct wire_options *options);
void wire_options_clear(struct wire_options *options);

void wire_options_add(struct wire_options *options, GOptionContext *context);
/* Adds the options without the server ports, for subcommands that know which side is the server. */
void wire_options_add_without_ports(struct wire_options *options, GOptionContext *context);

/* Adds options for some settings, a list that ends with NULL, or for all, NULL. parse calls
   wire_setting_parse, which checks a value and sets it; on an error the message names what is accepted. */
void wire_settings_add(GOptionGroup *group, const char *const *keys, GOptionArgFunc parse);
bool wire_setting_parse(const char *option, const char *value, struct ue_settings *settings, GError **error);

/* Resolves names after parsing; false after a message if one does not exist. */
bool wire_options_resolve(struct wire_options *options);

/* Returns the stock generation or the user profile of that name; NULL if there is none. *settings gets the profile's
   settings; a stock generation leaves it unchanged. */
const struct ue_profile *wire_options_find_generation(const struct wire_options *options, const char *name,
                                                      struct ue_settings *settings);

bool wire_options_is_server(const struct wire_options *options, uint16_t port);

/* Whether one of two addresses is a server: by its port, or because a profile names it. */
bool wire_options_has_server(const struct wire_options *options, const struct ue_address *a,
                             const struct ue_address *b);

/* Chooses how to decode a new connection (struct ue_observer_options); user: struct wire_options. */
void wire_options_choose(void *user, const struct ue_address sides[2], unsigned sender,
                         struct ue_connection_settings *chosen);

#endif
