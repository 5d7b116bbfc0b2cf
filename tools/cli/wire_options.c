/* SPDX-License-Identifier: MIT */
#include "tools/cli/wire_options.h"

#include <glib.h>
#include <string.h>

#include "tools/cli/command_line.h"
#include "tools/cli/suggestion.h"
#include "tools/observe/observed_address.h"

void wire_options_init(struct wire_options *options) {
    memset(options, 0, sizeof *options);
    options->setting_texts = g_ptr_array_new_with_free_func(g_free);
}

void wire_options_clear(struct wire_options *options) {
    g_ptr_array_unref(options->setting_texts);
    g_clear_pointer(&options->profiles, g_ptr_array_unref);
    ue_cipher_free(options->cipher);
}

static void set_error(GError **error, const char *option, const char *value, const char *what) {
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s=%s: %s", option, value, what);
}

/* ---- options ---- */

bool wire_setting_parse(const char *option, const char *value, struct ue_settings *settings, GError **error) {
    bool good = ue_settings_set(settings, option + 2, value) == UE_SETTING_OK;
    if (!good) {
        g_autofree char *accepted = suggestion_of_setting(option + 2);
        set_error(error, option, value, accepted);
    }
    return good;
}

/* Checks the value now; it is applied later, after a profile that may follow on the command line. */
static gboolean parse_setting(const char *option, const char *value, void *user, GError **error) {
    struct wire_options *options = user;
    struct ue_settings scratch = {0};
    g_ptr_array_add(options->setting_texts, g_strconcat(option + 2, "=", value, NULL));
    return wire_setting_parse(option, value, &scratch, error);
}

static gboolean parse_profiles(const char *option, const char *value, void *user, GError **error) {
    struct wire_options *options = user;
    g_clear_pointer(&options->profiles, g_ptr_array_unref);
    options->profiles = user_profiles_read(value);
    if (options->profiles == NULL) {
        set_error(error, option, value, "not a file with profiles");
    }
    return options->profiles != NULL;
}

static gboolean parse_key(const char *option, const char *value, void *user, GError **error) {
    struct wire_options *options = user;
    const char *problem = "libgcrypt cannot be used";
    if (options->cipher == NULL) {
        options->cipher = ue_cipher_new();
    }
    if (options->cipher == NULL || !ue_cipher_add(options->cipher, value, &problem)) {
        set_error(error, option, "...", problem); /* never log the key itself */
        return FALSE;
    }
    ue_cipher_decryptor(options->cipher, &options->decryptor);
    return TRUE;
}

static bool set_ports(struct wire_options *options, const char *range) {
    g_auto(GStrv) ends = g_strsplit(range, "-", 2);
    uint64_t first = 0;
    uint64_t last = 0;
    bool good = ends[0] != NULL && cli_parse_number(ends[0], UINT16_MAX, &first);
    last = first;
    good = good && (ends[1] == NULL || cli_parse_number(ends[1], UINT16_MAX, &last)) && 0 < first && first <= last;
    for (uint64_t port = first; good && port <= last; port++) {
        options->ports[port / 8] |= (uint8_t)(1u << port % 8);
    }
    return good;
}

static gboolean parse_ports(const char *option, const char *value, void *user, GError **error) {
    char **ranges = g_strsplit(value, ",", -1);
    bool good = ranges[0] != NULL;
    for (size_t i = 0; good && ranges[i] != NULL; i++) {
        good = set_ports(user, ranges[i]);
    }
    g_strfreev(ranges);
    if (!good) {
        set_error(error, option, value, "must be a list of ports and port ranges from 1 to 65535");
    }
    return good;
}

static void add_ports(GOptionGroup *group) {
    const GOptionEntry entries[] = {
        {"port", 0, 0, CLI_CALLBACK(parse_ports),
         "server ports, for example 7777 (default) or 7777,8000-8010; servers on other ports are detected by a "
         "handshake",
         "PORTS"},
        {0},
    };
    cli_add_entries(group, entries);
}

static void add_fixed(GOptionGroup *group, struct wire_options *options) {
    const GOptionEntry entries[] = {
        {"generation", 0, 0, G_OPTION_ARG_STRING, &options->generation_name,
         "auto (default), an engine release from 4.13 to 5.8, or a profile's name", "NAME"},
        {"profiles", 0, G_OPTION_FLAG_FILENAME, CLI_CALLBACK(parse_profiles),
         "INI file with profiles of modified generations: [NAME] base=4.18 ch_seq_bound=4096 server=ADDRESS:PORT",
         "FILE"},
        {"key", 0, 0, CLI_CALLBACK(parse_key), "AES key of 64 hex digits, or a key log (uerudp(1)); may be repeated",
         "KEY"},
        {0},
    };
    cli_add_entries(group, entries);
}

void wire_settings_add(GOptionGroup *group, const char *const *keys, GOptionArgFunc parse) {
    const struct ue_setting_row *row;
    for (size_t i = 0; (row = ue_setting_row(i)) != NULL; i++) {
        if (keys != NULL && !g_strv_contains(keys, row->key)) {
            continue;
        }
        g_autofree char *name = g_strdelimit(g_strdup(row->key), "_", '-');
        bool is_switch = strcmp(row->key, "internal_ack") == 0;
        const GOptionEntry entries[] = {
            {g_intern_string(name), 0, 0, CLI_CALLBACK(parse), row->description,
             is_switch       ? "SWITCH"
             : row->max == 0 ? "LIST"
                             : "NUMBER"},
            {0},
        };
        cli_add_entries(group, entries);
    }
}

static GOptionGroup *add_group(struct wire_options *options, GOptionContext *context) {
    GOptionGroup *group =
        g_option_group_new("wire", "Decoding:", "Show the options that control decoding", options, NULL);
    add_fixed(group, options);
    wire_settings_add(group, NULL, parse_setting);
    g_option_context_add_group(context, group);
    return group;
}

void wire_options_add(struct wire_options *options, GOptionContext *context) {
    add_ports(add_group(options, context));
}

void wire_options_add_without_ports(struct wire_options *options, GOptionContext *context) {
    add_group(options, context);
}

/* ---- resolution ---- */

const struct ue_profile *wire_options_find_generation(const struct wire_options *options, const char *name,
                                                      struct ue_settings *settings) {
    const struct user_profile *user = user_profiles_find(options->profiles, name);
    if (user == NULL) {
        return ue_profile_find(name);
    }
    *settings = user->settings;
    return user->has_base ? &user->base : NULL;
}

static void report_unknown_generation(const struct wire_options *options, const char *name) {
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_ptr_array_add(names, (char *)"auto");
    suggestion_add_releases(names);
    for (guint i = 0; options->profiles != NULL && i < options->profiles->len; i++) {
        g_ptr_array_add(names, ((const struct user_profile *)options->profiles->pdata[i])->name);
    }
    g_autofree char *hint = suggestion_text(name, names, "");
    cli_error("--generation=%s: must be auto, an engine release from 4.13 to 5.8, or a profile of --profiles%s", name,
              hint);
}

static bool resolve_generation(struct wire_options *options) {
    const char *name = options->generation_name;
    if (name == NULL || strcmp(name, "auto") == 0) {
        return true;
    }
    options->generation = wire_options_find_generation(options, name, &options->settings);
    if (options->generation == NULL && user_profiles_find(options->profiles, name) == NULL) {
        report_unknown_generation(options, name);
        return false;
    }
    return true;
}

static void apply_setting_texts(const struct wire_options *options, struct ue_settings *settings) {
    for (size_t i = 0; i < options->setting_texts->len; i++) {
        g_auto(GStrv) pair = g_strsplit(options->setting_texts->pdata[i], "=", 2);
        ue_settings_set(settings, pair[0], pair[1]);
    }
    if (options->cipher != NULL) {
        settings->decryptor = &options->decryptor;
    }
}

/* Whether a setting enables packet encryption. */
static bool has_handlers(const struct wire_options *options) {
    bool found = options->settings.handlers[0] != UE_HANDLER_NONE;
    for (size_t i = 0; options->profiles != NULL && i < options->profiles->len; i++) {
        const struct user_profile *profile = options->profiles->pdata[i];
        found = found || profile->settings.handlers[0] != UE_HANDLER_NONE;
    }
    return found;
}

bool wire_options_resolve(struct wire_options *options) {
    static const uint8_t no_ports[sizeof options->ports];
    if (memcmp(options->ports, no_ports, sizeof no_ports) == 0) {
        options->ports[WIRE_OPTIONS_SERVER_PORT / 8] |= 1u << WIRE_OPTIONS_SERVER_PORT % 8;
    }
    if (!resolve_generation(options)) {
        return false;
    }
    apply_setting_texts(options, &options->settings);
    for (size_t i = 0; options->profiles != NULL && i < options->profiles->len; i++) {
        struct user_profile *profile = options->profiles->pdata[i];
        apply_setting_texts(options, &profile->settings);
    }
    if (options->cipher != NULL && !has_handlers(options)) {
        return cli_error("--key has no effect without --handlers, for example --handlers=aesgcm");
    }
    return true;
}

bool wire_options_is_server(const struct wire_options *options, uint16_t port) {
    return (options->ports[port / 8] >> port % 8 & 1) != 0;
}

static bool is_server(const struct user_profile *profile, const struct ue_address *address) {
    const struct ue_address server = observe_address_of(&profile->server);
    return observe_address_equal(&server, address);
}

/* The profile whose server is one of two addresses; NULL: none. */
static const struct user_profile *server_profile(const struct wire_options *options, const struct ue_address *a,
                                                 const struct ue_address *b) {
    for (size_t i = 0; options->profiles != NULL && i < options->profiles->len; i++) {
        const struct user_profile *profile = options->profiles->pdata[i];
        if (profile->has_server && (is_server(profile, a) || is_server(profile, b))) {
            return profile;
        }
    }
    return NULL;
}

bool wire_options_has_server(const struct wire_options *options, const struct ue_address *a,
                             const struct ue_address *b) {
    return wire_options_is_server(options, a->port) || wire_options_is_server(options, b->port) ||
           server_profile(options, a, b) != NULL;
}

void wire_options_choose(void *user, const struct ue_address sides[2], unsigned sender,
                         struct ue_connection_settings *chosen) {
    const struct wire_options *options = user;
    const struct user_profile *profile = server_profile(options, &sides[0], &sides[1]);
    bool is_zero = wire_options_is_server(options, sides[0].port);
    bool is_one = wire_options_is_server(options, sides[1].port);
    (void)sender;
    chosen->generation = options->generation;
    chosen->server_side = is_zero == is_one ? -1 : is_one;
    if (profile != NULL) {
        chosen->server_side = is_server(profile, &sides[1]);
    }
    if (profile != NULL && options->generation_name == NULL) {
        chosen->generation = profile->has_base ? &profile->base : NULL;
        chosen->settings = &profile->settings;
    }
}
