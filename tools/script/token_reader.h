/* SPDX-License-Identifier: MIT */
/* The token reader splits a script's line in place; an error says what is wrong with the line. */
#ifndef UERUDP_TOOLS_SCRIPT_TOKEN_READER_H
#define UERUDP_TOOLS_SCRIPT_TOKEN_READER_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCRIPT_ERROR_BYTES 300

/* What is wrong in a line, and where; zeroed: nothing. */
struct script_error {
    const char *at; /* in the line; NULL: no error */
    char text[SCRIPT_ERROR_BYTES];
};

/* Sets the error unless one is set; always false. */
bool script_error_set(struct script_error *error, const char *at, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Cuts off the next token of a line; at the end of the line the empty token there, which is the place of whatever is
   missing. */
char *script_token_next(char **line);
/* The same for a token that must exist: NULL, with an error that `what` is missing, where it does not. */
char *script_token_require(char **line, const char *what, struct script_error *error);

bool script_token_is(const char *token, const char *expected);
/* What follows `key` in a token; NULL: the token begins differently. */
char *script_token_after_prefix(char *token, const char *key);

/* Parse a whole token into *value. False with an error. */
bool script_token_parse_number(const char *token, uint64_t max, uint64_t *value, struct script_error *error);
bool script_token_parse_seconds(const char *token, uint64_t *value_ns, struct script_error *error);

/* Parses "7", or "7-9" with first <= last; at most SCRIPT_TOKEN_RANGE_MAX numbers. */
#define SCRIPT_TOKEN_RANGE_MAX 100000
bool script_token_parse_range(char *token, int64_t *first, int64_t *last, struct script_error *error);

#endif
