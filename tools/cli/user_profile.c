/* SPDX-License-Identifier: MIT */
#include "tools/cli/user_profile.h"

#include "tools/cli/command_line.h"

static void free_profile(void *user) {
    struct user_profile *profile = user;
    g_free(profile->name);
    g_free(profile);
}

/* Names are used in JSON, in file names and on command lines. */
static bool name_is_plain(const char *name) {
    for (const char *at = name; *at != '\0'; at++) {
        if (!g_ascii_isalnum(*at) && strchr("._-", *at) == NULL) {
            return false;
        }
    }
    return *name != '\0' && strcmp(name, "auto") != 0 && ue_profile_find(name) == NULL;
}

static bool set_base(struct user_profile *profile, const char *release) {
    const struct ue_profile *stock = ue_profile_find(release);
    profile->has_base = stock != NULL;
    if (stock != NULL) {
        profile->base = *stock;
        profile->base.name = profile->name;
    }
    return stock != NULL || strcmp(release, "auto") == 0;
}

/* The error in a key or its value; NULL: none. */
static const char *set_key(struct user_profile *profile, const char *key, const char *value) {
    if (strcmp(key, "base") == 0) {
        return set_base(profile, value) ? NULL : "must be auto or an engine release from 4.13 to 5.8";
    }
    if (strcmp(key, "server") == 0) {
        profile->has_server = capture_address_parse(value, &profile->server);
        bool is_usable = profile->has_server && profile->server.port != 0;
        return is_usable ? NULL : "must be an address with a port";
    }
    switch (ue_settings_set(&profile->settings, key, value)) {
    case UE_SETTING_OK: return NULL;
    case UE_SETTING_UNKNOWN: return "is not a setting";
    case UE_SETTING_BAD_VALUE: break;
    }
    return "has an invalid value";
}

static struct user_profile *read_profile(const char *path, GKeyFile *file, const char *name) {
    if (!name_is_plain(name)) {
        cli_error("%s: [%s]: the name of a profile must consist of letters, digits, '.', '_' and '-', and must not be "
                  "an engine release",
                  path, name);
        return NULL;
    }
    struct user_profile *profile = g_new0(struct user_profile, 1);
    g_auto(GStrv) keys = g_key_file_get_keys(file, name, NULL, NULL);
    const char *wrong = NULL;
    profile->name = g_strdup(name);
    for (size_t i = 0; keys[i] != NULL && wrong == NULL; i++) {
        g_autofree char *value = g_key_file_get_value(file, name, keys[i], NULL);
        wrong = set_key(profile, keys[i], value);
        if (wrong != NULL) {
            cli_error("%s: [%s]: %s=%s %s", path, name, keys[i], value, wrong);
        }
    }
    if (wrong != NULL) {
        free_profile(profile);
        return NULL;
    }
    return profile;
}

static GPtrArray *read_all(const char *path, GKeyFile *file) {
    GPtrArray *profiles = g_ptr_array_new_with_free_func(free_profile);
    g_auto(GStrv) names = g_key_file_get_groups(file, NULL);
    bool good = true;
    for (size_t i = 0; names[i] != NULL && good; i++) {
        struct user_profile *profile = read_profile(path, file, names[i]);
        good = profile != NULL;
        if (good) {
            g_ptr_array_add(profiles, profile);
        }
    }
    if (!good) {
        g_ptr_array_unref(profiles);
        return NULL;
    }
    return profiles;
}

GPtrArray *user_profiles_read(const char *path) {
    g_autoptr(GKeyFile) file = g_key_file_new();
    GError *error = NULL;
    GPtrArray *profiles = NULL;
    if (g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &error)) {
        profiles = read_all(path, file);
    } else {
        cli_error("%s: %s", path, error->message);
        g_error_free(error);
    }
    return profiles;
}

const struct user_profile *user_profiles_find(const GPtrArray *profiles, const char *name) {
    for (size_t i = 0; profiles != NULL && i < profiles->len; i++) {
        const struct user_profile *profile = profiles->pdata[i];
        if (strcmp(profile->name, name) == 0) {
            return profile;
        }
    }
    return NULL;
}
