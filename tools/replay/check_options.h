/* SPDX-License-Identifier: MIT */
/* Options of `uerudp replay --check`. */
#ifndef UERUDP_TOOLS_REPLAY_CHECK_OPTIONS_H
#define UERUDP_TOOLS_REPLAY_CHECK_OPTIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct replay_check_options {
    bool is_checked[2]; /* [client, server] */
    uint32_t ignored;   /* bit mask of enum reference_model_difference_type */
    bool is_given;      /* one of these options was used */
};

void replay_check_options_init(struct replay_check_options *check_options);
void replay_check_options_add(struct replay_check_options *check_options, GOptionContext *context);

/* The types of differences, one line each, for --help. Free it with g_free. */
char *replay_check_options_help(void);

#endif
