/* SPDX-License-Identifier: MIT */
/* The words of a script's line, cut off in place, and the mistake that a line holds. */
#ifndef UERUDP_TOOLS_SCRIPT_TOKEN_READER_H
#define UERUDP_TOOLS_SCRIPT_TOKEN_READER_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UE_MISTAKE_BYTES 300

/* What is wrong in a line, and where; zeroed: nothing. */
struct ue_mistake {
    const char *at; /* in the line; NULL: no mistake */
    char text[UE_MISTAKE_BYTES];
};

/* Notes a mistake, the first one stays; always false. */
bool ue_mistake_note(struct ue_mistake *mistake, const char *at, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Cuts the next word off a line; at the end of the line the empty word there, which is where something is missing. */
char *ue_word(char **line);
/* The same, which must be there: notes that `what` is missing. NULL then. */
char *ue_word_need(char **line, const char *what, struct ue_mistake *mistake);

bool ue_word_is(const char *word, const char *expected);
/* What follows `key` in a word; NULL when the word begins differently. */
char *ue_word_after(char *word, const char *key);

/* Each reads a whole word into *value; false with a mistake. */
bool ue_word_number(const char *word, uint64_t max, uint64_t *value, struct ue_mistake *mistake);
bool ue_word_seconds(const char *word, uint64_t *value_ns, struct ue_mistake *mistake);

/* "7", or "7-9", of which first is not behind last, and there are at most UE_WORD_RANGE_MAX. */
#define UE_WORD_RANGE_MAX 100000
bool ue_word_range(char *word, int64_t *first, int64_t *last, struct ue_mistake *mistake);

#endif
