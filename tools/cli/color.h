/* SPDX-License-Identifier: MIT */
/* Terminals: the option --color, and their width. */
#ifndef UERUDP_TOOLS_CLI_COLOR_H
#define UERUDP_TOOLS_CLI_COLOR_H

#include <stdbool.h>

/* A row of GOptionEntry; text: where the value of the option goes, a const char *. */
#define COLOR_OPTION(text)                                                                                             \
    {"color", 0,                                                                                                       \
     0,       G_OPTION_ARG_STRING,                                                                                     \
     text,    "colours: auto (default, on a terminal unless NO_COLOR is set), always or never",                        \
     "WHEN"}

/* The width of the terminal with this descriptor, in characters; 0: it is none, or has no known width. */
unsigned color_columns(int descriptor);

/* Sets *is_colored from the value of the option, NULL if it was not given; false after a message. */
bool color_resolve(const char *text, bool *is_colored);

#endif
