/* SPDX-License-Identifier: MIT */
/* The options that say how to read the wire: generation, settings, profiles, keys, server ports. */
#ifndef UERUDP_TOOLS_CLI_WIRE_OPTIONS_H
#define UERUDP_TOOLS_CLI_WIRE_OPTIONS_H

#include "libcodec/cipher/cipher.h"
#include "tools/cli/user_profile.h"

#define WIRE_OPTIONS_SERVER_PORT 7777

struct wire_options {
    struct ue_settings settings;
    const struct ue_profile *generation; /* NULL: automatic */
    GPtrArray *profiles;                 /* struct user_profile; NULL: no file */
    uint8_t ports[65536 / 8];            /* bit per server port */

    GPtrArray *given; /* "key=value" as on the command line, applied when all is known */
    char *generation_name;
    struct ue_cipher *cipher;
    struct ue_decryptor decryptor;
};

void wire_options_init(struct wire_options *options);
void wire_options_clear(struct wire_options *options);

/* Adds the options to a command line. */
void wire_options_add(struct wire_options *options, GOptionContext *context);
/* Without the server ports: for those who know which side is the server. */
void wire_options_add_without_ports(struct wire_options *options, GOptionContext *context);

/* After parsing: resolves names; false, with a message, when they do not exist. */
bool wire_options_resolve(struct wire_options *options);

bool wire_options_is_server(const struct wire_options *options, const struct capture_address *address);

/* A stock generation or the user's profile of that name; NULL when there is neither. *settings gets what a profile
   says, and is left alone by a stock generation. */
const struct ue_profile *wire_options_find_generation(const struct wire_options *options, const char *name,
                                              struct ue_settings *settings);

/* The profile whose server is one of the two addresses, or NULL. */
const struct user_profile *wire_options_server_profile(const struct wire_options *options, const struct capture_address *a,
                                                     const struct capture_address *b);

#endif
