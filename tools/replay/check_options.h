/* SPDX-License-Identifier: MIT */
/* Options of the mode check. */
#ifndef UERUDP_TOOLS_REPLAY_CHECK_OPTIONS_H
#define UERUDP_TOOLS_REPLAY_CHECK_OPTIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct replay_check_options {
    bool is_checked[2]; /* client, server */
    uint32_t ignored;   /* bit mask of enum ue_model_difference_type */
    bool is_given;      /* some option of these was used */
};

void replay_check_options_init(struct replay_check_options *checking);
void replay_check_options_add(struct replay_check_options *checking, GOptionContext *context);

/* The differences by name, a line each, for --help; the caller frees it. */
char *replay_check_options_help(void);

#endif
