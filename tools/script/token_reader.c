/* SPDX-License-Identifier: MIT */
#include "tools/script/token_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/cli/command_line.h"

#define SECONDS_MAX 1e6 /* of virtual time, eleven days */
#define NUMBER_MAX (INT64_MAX / 2)
#define NS_PER_S 1e9

bool script_error_set(struct script_error *mistake, const char *at, const char *format, ...) {
    va_list list;
    if (mistake->at == NULL) {
        mistake->at = at;
        va_start(list, format);
        vsnprintf(mistake->text, sizeof mistake->text, format, list);
        va_end(list);
    }
    return false;
}

char *script_token_next(char **line) {
    char *word = *line + strspn(*line, " ");
    char *end = word + strcspn(word, " ");
    *line = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return word;
}

char *script_token_require(char **line, const char *what, struct script_error *mistake) {
    char *word = script_token_next(line);
    if (*word == '\0') {
        script_error_set(mistake, word, "%s is missing", what);
        return NULL;
    }
    return word;
}

bool script_token_is(const char *word, const char *expected) {
    return strcmp(word, expected) == 0;
}

char *script_token_after_prefix(char *word, const char *key) {
    size_t length = strlen(key);
    return strncmp(word, key, length) == 0 ? word + length : NULL;
}

bool script_token_parse_number(const char *word, uint64_t max, uint64_t *value, struct script_error *mistake) {
    return cli_parse_number(word, max, value) ||
           script_error_set(mistake, word, "\"%.40s\" is not a number up to %" G_GUINT64_FORMAT, word, max);
}

bool script_token_parse_seconds(const char *word, uint64_t *value_ns, struct script_error *mistake) {
    double seconds;
    if (!cli_parse_real(word, SECONDS_MAX, &seconds)) {
        return script_error_set(mistake, word, "\"%.40s\" is not a time in seconds", word);
    }
    *value_ns = (uint64_t)(seconds * NS_PER_S + 0.5);
    return true;
}

bool script_token_parse_range(char *word, int64_t *first, int64_t *last, struct script_error *mistake) {
    uint64_t from;
    char *dash = strchr(word, '-');
    if (dash != NULL) {
        *dash = '\0';
    }
    if (!script_token_parse_number(word, NUMBER_MAX, &from, mistake)) {
        return false;
    }
    uint64_t to = from;
    if (dash != NULL && !script_token_parse_number(dash + 1, NUMBER_MAX, &to, mistake)) {
        return false;
    }
    if (to < from || to - from >= SCRIPT_TOKEN_RANGE_MAX) {
        return script_error_set(mistake, word, "the range must go upwards, by less than %d", SCRIPT_TOKEN_RANGE_MAX);
    }
    *first = (int64_t)from;
    *last = (int64_t)to;
    return true;
}
