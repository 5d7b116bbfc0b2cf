/* SPDX-License-Identifier: MIT */
/* Wraps the text of --help for a terminal. */
#ifndef UERUDP_TOOLS_CLI_HELP_H
#define UERUDP_TOOLS_CLI_HELP_H

#include <glib.h>
#include <stdbool.h>

/* Wraps paragraphs and option descriptions at 110 columns; indented examples stay. The caller frees the result. */
char *cli_wrap_help(const char *text);

#endif
