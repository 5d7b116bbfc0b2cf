/* SPDX-License-Identifier: MIT */
/* Options of the mode check. */
#ifndef UERUDP_TOOLS_REPLAY_CHECK_OPTIONS_H
#define UERUDP_TOOLS_REPLAY_CHECK_OPTIONS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct ue_checking {
    bool is_checked[2]; /* client, server */
    uint32_t ignored;   /* bit mask of enum ue_departure_type */
    bool is_given;      /* some option of these was used */
};

void ue_checking_init(struct ue_checking *checking);
void ue_checking_add(struct ue_checking *checking, GOptionContext *context);

/* The differences by name, a line each, for --help; the caller frees it. */
char *ue_checking_help(void);

#endif
