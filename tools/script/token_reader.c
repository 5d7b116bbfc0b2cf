/* SPDX-License-Identifier: MIT */
#include "tools/script/token_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <uerudp/time_ns.h>

#include "tools/cli/command_line.h"

#define SECONDS_MAX 1e6 /* of virtual time: eleven days */
#define NUMBER_MAX (INT64_MAX / 2)

bool script_error_set(struct script_error *error, const char *at, const char *format, ...) {
    va_list list;
    if (error->at == NULL) {
        error->at = at;
        va_start(list, format);
        vsnprintf(error->text, sizeof error->text, format, list);
        va_end(list);
    }
    return false;
}

char *script_token_next(char **line) {
    char *token = *line + strspn(*line, " ");
    char *end = token + strcspn(token, " ");
    *line = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return token;
}

char *script_token_require(char **line, const char *what, struct script_error *error) {
    char *token = script_token_next(line);
    if (*token == '\0') {
        script_error_set(error, token, "%s is missing", what);
        return NULL;
    }
    return token;
}

bool script_token_is(const char *token, const char *expected) {
    return strcmp(token, expected) == 0;
}

char *script_token_after_prefix(char *token, const char *key) {
    size_t length = strlen(key);
    return strncmp(token, key, length) == 0 ? token + length : NULL;
}

bool script_token_parse_number(const char *token, uint64_t max, uint64_t *value, struct script_error *error) {
    return cli_parse_number(token, max, value) ||
           script_error_set(error, token, "\"%.40s\" is not a number up to %" G_GUINT64_FORMAT, token, max);
}

bool script_token_parse_seconds(const char *token, uint64_t *value_ns, struct script_error *error) {
    double seconds;
    if (!cli_parse_real(token, SECONDS_MAX, &seconds)) {
        return script_error_set(error, token, "\"%.40s\" is not a time in seconds", token);
    }
    *value_ns = (uint64_t)(seconds * UE_NS_PER_S + 0.5);
    return true;
}

bool script_token_parse_range(char *token, int64_t *first, int64_t *last, struct script_error *error) {
    uint64_t from;
    char *dash = strchr(token, '-');
    if (dash != NULL) {
        *dash = '\0';
    }
    if (!script_token_parse_number(token, NUMBER_MAX, &from, error)) {
        return false;
    }
    uint64_t to = from;
    if (dash != NULL && !script_token_parse_number(dash + 1, NUMBER_MAX, &to, error)) {
        return false;
    }
    if (to < from || to - from >= SCRIPT_TOKEN_RANGE_MAX) {
        return script_error_set(error, token, "the range must increase, by less than %d", SCRIPT_TOKEN_RANGE_MAX);
    }
    *first = (int64_t)from;
    *last = (int64_t)to;
    return true;
}
