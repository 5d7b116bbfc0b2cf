/* SPDX-License-Identifier: MIT */
/* The words of a script's line, cut off in place, and the mistake that a line holds. */
#ifndef UERUDP_TOOLS_SCRIPT_TOKEN_READER_H
#define UERUDP_TOOLS_SCRIPT_TOKEN_READER_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRIPT_ERROR_BYTES 300

/* What is wrong in a line, and where; zeroed: nothing. */
struct script_error {
    const char *at; /* in the line; NULL: no mistake */
    char text[SCRIPT_ERROR_BYTES];
};

/* Notes a mistake, the first one stays; always false. */
bool script_error_set(struct script_error *mistake, const char *at, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Cuts the next word off a line; at the end of the line the empty word there, which is where something is missing. */
char *script_token_next(char **line);
/* The same, which must be there: notes that `what` is missing. NULL then. */
char *script_token_require(char **line, const char *what, struct script_error *mistake);

bool script_token_is(const char *word, const char *expected);
/* What follows `key` in a word; NULL when the word begins differently. */
char *script_token_after_prefix(char *word, const char *key);

/* Each reads a whole word into *value; false with a mistake. */
bool script_token_parse_number(const char *word, uint64_t max, uint64_t *value, struct script_error *mistake);
bool script_token_parse_seconds(const char *word, uint64_t *value_ns, struct script_error *mistake);

/* "7", or "7-9", of which first is not behind last, and there are at most SCRIPT_TOKEN_RANGE_MAX. */
#define SCRIPT_TOKEN_RANGE_MAX 100000
bool script_token_parse_range(char *word, int64_t *first, int64_t *last, struct script_error *mistake);

#endif
