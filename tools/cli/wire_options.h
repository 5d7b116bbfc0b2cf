/* SPDX-License-Identifier: MIT */
/* The options that say how to decode the wire: generation, settings, profiles, keys, server ports. */
#ifndef UERUDP_TOOLS_CLI_WIRE_OPTIONS_H
#define UERUDP_TOOLS_CLI_WIRE_OPTIONS_H

#include <uerudp/detection.h>

#include "libcodec/cipher/cipher.h"
#include "libcodec/cipher/cipher_session.h"
#include "tools/capture/address.h"
#include "tools/cli/user_profile.h"

#define WIRE_OPTIONS_SERVER_PORT 7777

struct wire_options {
    struct ue_settings settings;
    const struct ue_profile *generation; /* NULL: detected */
    GPtrArray *profiles;                 /* struct user_profile; NULL: no file */
    uint8_t ports[65536 / 8];            /* one bit per server port */

    GPtrArray *setting_texts; /* "key=value" from the command line, applied in wire_options_resolve */
    char *generation_name;
    struct ue_cipher *cipher;
    struct ue_decryptor decryptor;
};

void wire_options_init(struct wire_options *options);
void wire_options_clear(struct wire_options *options);

void wire_options_add(struct wire_options *options, GOptionContext *context);
/* Adds the options without the server ports, for subcommands that know which side is the server. */
void wire_options_add_without_ports(struct wire_options *options, GOptionContext *context);

/* Resolves names after parsing; false after a message if one does not exist. */
bool wire_options_resolve(struct wire_options *options);

bool wire_options_is_server(const struct wire_options *options, const struct capture_address *address);

/* Returns the stock generation or the user profile of that name; NULL if there is none. *settings gets the profile's
   settings; a stock generation leaves it unchanged. */
const struct ue_profile *wire_options_find_generation(const struct wire_options *options, const char *name,
                                                      struct ue_settings *settings);

/* The profile whose server is one of the two addresses; NULL: none. */
const struct user_profile *wire_options_server_profile(const struct wire_options *options,
                                                       const struct capture_address *a,
                                                       const struct capture_address *b);

/* Returns a session that decrypts the connection from now on, to be freed with g_free; NULL if nothing is encrypted or
   there is no cipher. */
struct ue_cipher_session *wire_options_new_session(struct ue_cipher *cipher, const struct capture_address sides[2],
                                                   struct ue_detection *detection);

#endif
