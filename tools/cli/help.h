/* SPDX-License-Identifier: MIT */
/* The text of --help in lines that a terminal shows. */
#ifndef UERUDP_TOOLS_CLI_HELP_H
#define UERUDP_TOOLS_CLI_HELP_H

#include <glib.h>
#include <stdbool.h>

/* Fills paragraphs and what is said of options to 110 columns; examples, which are indented, stay as they are. The
   caller frees. */
char *cli_wrap_help(const char *text);

#endif
