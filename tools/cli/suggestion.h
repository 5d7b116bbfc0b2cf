/* SPDX-License-Identifier: MIT */
/* "did you mean": the known names that are nearest to a word which is none of them. */
#ifndef UERUDP_TOOLS_CLI_SUGGESTION_H
#define UERUDP_TOOLS_CLI_SUGGESTION_H

#include <glib.h>

/* Returns "; did you mean A?" or "; did you mean A, B or C?", or `otherwise` if no name or too many are near, to be
   freed with g_free. names: const char *. */
char *suggestion_text(const char *word, const GPtrArray *names, const char *otherwise);

/* Adds the names of all fields that a datagram can have. */
void suggestion_add_fields(GPtrArray *names);

/* Adds the names of all engine releases. */
void suggestion_add_releases(GPtrArray *names);

/* As suggestion_text, among the engine releases; "" if none is near. */
char *suggestion_of_release(const char *word);

/* What a wire setting accepts, such as "use a number from 0 to 32", to be freed with g_free. key: of a row; dashes are
   equal to underscores. */
char *suggestion_of_setting(const char *key);

#endif
