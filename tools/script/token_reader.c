/* SPDX-License-Identifier: MIT */
#include "tools/script/token_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/cli/command_line.h"

#define SECONDS_MAX 1e6 /* of virtual time, eleven days */
#define NUMBER_MAX (INT64_MAX / 2)
#define NS_PER_S 1e9

bool ue_mistake_note(struct ue_mistake *mistake, const char *at, const char *format, ...) {
    va_list list;
    if (mistake->at == NULL) {
        mistake->at = at;
        va_start(list, format);
        vsnprintf(mistake->text, sizeof mistake->text, format, list);
        va_end(list);
    }
    return false;
}

char *ue_word(char **line) {
    char *word = *line + strspn(*line, " ");
    char *end = word + strcspn(word, " ");
    *line = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return word;
}

char *ue_word_need(char **line, const char *what, struct ue_mistake *mistake) {
    char *word = ue_word(line);
    if (*word == '\0') {
        ue_mistake_note(mistake, word, "%s is missing", what);
        return NULL;
    }
    return word;
}

bool ue_word_is(const char *word, const char *expected) {
    return strcmp(word, expected) == 0;
}

char *ue_word_after(char *word, const char *key) {
    size_t length = strlen(key);
    return strncmp(word, key, length) == 0 ? word + length : NULL;
}

bool ue_word_number(const char *word, uint64_t max, uint64_t *value, struct ue_mistake *mistake) {
    return ue_cli_number(word, max, value) ||
           ue_mistake_note(mistake, word, "\"%.40s\" is not a number up to %" G_GUINT64_FORMAT, word, max);
}

bool ue_word_seconds(const char *word, uint64_t *value_ns, struct ue_mistake *mistake) {
    double seconds;
    if (!ue_cli_real(word, SECONDS_MAX, &seconds)) {
        return ue_mistake_note(mistake, word, "\"%.40s\" is not a time in seconds", word);
    }
    *value_ns = (uint64_t)(seconds * NS_PER_S + 0.5);
    return true;
}

bool ue_word_range(char *word, int64_t *first, int64_t *last, struct ue_mistake *mistake) {
    uint64_t from;
    char *dash = strchr(word, '-');
    if (dash != NULL) {
        *dash = '\0';
    }
    if (!ue_word_number(word, NUMBER_MAX, &from, mistake)) {
        return false;
    }
    uint64_t to = from;
    if (dash != NULL && !ue_word_number(dash + 1, NUMBER_MAX, &to, mistake)) {
        return false;
    }
    if (to < from || to - from >= UE_WORD_RANGE_MAX) {
        return ue_mistake_note(mistake, word, "the range must go upwards, by less than %d", UE_WORD_RANGE_MAX);
    }
    *first = (int64_t)from;
    *last = (int64_t)to;
    return true;
}
