/* SPDX-License-Identifier: MIT */
/* User profiles: named generations with settings of their own, based on a stock generation, read from an INI file. */
#ifndef UERUDP_TOOLS_CLI_USER_PROFILE_H
#define UERUDP_TOOLS_CLI_USER_PROFILE_H

#include <glib.h>

#include <uerudp/settings.h>
#include "tools/capture/capture_address.h"

struct user_profile {
    char *name;
    bool has_base; /* false: the generation is detected */
    struct ue_profile base;
    struct ue_settings settings;
    bool has_server;
    struct capture_address server;
};

/* Reads a file into an array of struct user_profile; NULL after a message. */
GPtrArray *user_profiles_read(const char *path);

/* NULL if there is none of that name; profiles may be NULL. */
const struct user_profile *user_profiles_find(const GPtrArray *profiles, const char *name);

#endif
