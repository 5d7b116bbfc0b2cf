/* SPDX-License-Identifier: MIT */
#include "tools/info/bandwidth_options.h"

#include <string.h>

#include "tools/cli/command_line.h"

#define ROWS_MAX 100000

static gboolean parse_order(const char *option, const char *value, void *user, GError **error) {
    static const char *const names[] = {"total", "peak", "updates"};
    (void)option;
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(value, names[i]) == 0) {
            ((struct info_bandwidth_options *)user)->order = (enum info_bandwidth_order)i;
            return TRUE;
        }
    }
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--by %s: must be total, peak or updates", value);
    return FALSE;
}

static gboolean parse_budget(const char *option, const char *value, void *user, GError **error) {
    (void)option;
    return info_budgets_add(&((struct info_bandwidth_options *)user)->budgets, value, error);
}

void info_bandwidth_add_options(struct info_bandwidth_options *options, GOptionContext *context) {
    const GOptionEntry entries[] = {
        {"bandwidth", 0, 0, G_OPTION_ARG_NONE, &options->is_wanted,
         "also count who used the bandwidth: by kind of bunch, class, actor and channel", NULL},
        {"top", 0, 0, G_OPTION_ARG_STRING, &options->top_text,
         "at most this number of classes, actors and channels, and the sum of all others; default 10 as text, else all",
         "NUMBER"},
        {"by", 0, 0, CLI_CALLBACK(parse_order),
         "their order: total (bits), peak (bits of the busiest second) or updates (updates per second); default total",
         "ORDER"},
        {"budget", 0, 0, CLI_CALLBACK(parse_budget),
         "exit with status 1 if one side of a connection, or a class of actors, sends more bytes in a second; may be "
         "repeated",
         "[CLASS=]BYTES"},
        {"csv", 0, 0, G_OPTION_ARG_NONE, &options->is_csv, "print only the bandwidth, as columns for spreadsheets",
         NULL},
        {0},
    };
    cli_add_options(context, "Bandwidth:", entries, options);
}

bool info_bandwidth_resolve(struct info_bandwidth_options *options, bool is_json) {
    uint64_t rows_max = 0;
    if (!cli_option_number("top", options->top_text, 1, ROWS_MAX, &rows_max)) {
        return false;
    }
    options->rows_max = (int)rows_max;
    if (options->is_csv && is_json) {
        return cli_error("--csv and --json exclude each other");
    }
    options->is_wanted |= options->is_csv || options->budgets.limits != NULL || options->rows_max != 0 ||
                          options->order != INFO_BANDWIDTH_BY_TOTAL;
    return true;
}

void info_bandwidth_clear_options(struct info_bandwidth_options *options) {
    info_budgets_clear(&options->budgets);
}
