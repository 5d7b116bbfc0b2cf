/* SPDX-License-Identifier: MIT */
#include "tools/replay/check_options.h"

#include "tools/cli/command_line.h"

#include <string.h>

#include "tools/replay/reference_model.h"

void replay_check_options_init(struct replay_check_options *check_options) {
    *check_options = (struct replay_check_options){.is_checked = {true, true}};
}

static gboolean set_side(const char *option, const char *value, void *user, GError **error) {
    struct replay_check_options *check_options = user;
    bool is_both = strcmp(value, "both") == 0;
    check_options->is_checked[0] = is_both || strcmp(value, "client") == 0;
    check_options->is_checked[1] = is_both || strcmp(value, "server") == 0;
    check_options->is_given = true;
    if (!check_options->is_checked[0] && !check_options->is_checked[1]) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s=%s: neither client, server nor both", option,
                    value);
        return FALSE;
    }
    return TRUE;
}

static uint32_t mask_of(const char *name) {
    for (int type = 0; type < REFERENCE_MODEL_DIFFERENCE_COUNT; type++) {
        if (strcmp(reference_model_difference_name(type), name) == 0) {
            return UINT32_C(1) << type;
        }
    }
    return 0;
}

static gboolean add_ignored(const char *option, const char *value, void *user, GError **error) {
    struct replay_check_options *check_options = user;
    g_auto(GStrv) names = g_strsplit(value, ",", -1);
    bool good = names[0] != NULL;
    for (size_t i = 0; good && names[i] != NULL; i++) {
        uint32_t mask = mask_of(names[i]);
        check_options->ignored |= mask;
        good = mask != 0;
    }
    if (!good) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "%s=%s: not a list of differences", option, value);
    }
    check_options->is_given = true;
    return good;
}

void replay_check_options_add(struct replay_check_options *check_options, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"side", 0, 0, CLI_CALLBACK(set_side), "sides to compare: client, server or both; default both",
         "client|server|both"},
        {"ignore", 0, 0, CLI_CALLBACK(add_ignored), "differences that do not count, see below", "NAME[,NAME...]"},
        {0},
    };
    cli_add_options(context, "With --check:", entries, check_options);
}

char *replay_check_options_help(void) {
    GString *text = g_string_new(NULL);
    for (int type = 0; type < REFERENCE_MODEL_DIFFERENCE_COUNT; type++) {
        g_string_append_printf(text, "  %-11s %s\n", reference_model_difference_name(type),
                               reference_model_difference_text(type));
    }
    return g_string_free(text, FALSE);
}
