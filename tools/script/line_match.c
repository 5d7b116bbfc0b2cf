/* SPDX-License-Identifier: MIT */
#include "tools/script/line_match.h"

#include <string.h>

#include "tools/script/field_location.h"

#define GAP "..."
/* half of the last digit that a transcript shows */
#define ROUNDING_NS 50000

/* ---- parsing ---- */

/* Parses "*", "0.5" or "0.5-0.6". */
static bool read_time(struct script_expected_line *e, char *token, struct script_error *error) {
    e->any_time = script_token_is(token, "*");
    if (e->any_time) {
        return true;
    }
    char *dash = strchr(token, '-');
    if (dash != NULL) {
        *dash = '\0';
    }
    if (!script_token_parse_seconds(token, &e->first_ns, error)) {
        return false;
    }
    e->last_ns = e->first_ns;
    return dash == NULL || script_token_parse_seconds(dash + 1, &e->last_ns, error);
}

/* Whether a token has the form "group.name=..." or "group.name[1]=..."; no other token does. */
static bool is_field(const char *token) {
    size_t group = strspn(token, "abcdefghijklmnopqrstuvwxyz_");
    size_t name = token[group] == '.' ? strspn(token + group + 1, "abcdefghijklmnopqrstuvwxyz_.") : 0;
    const char *end = token + group + 1 + name;
    return group != 0 && name != 0 && (*end == '=' || *end == '[');
}

static bool read_field(struct script_expected_line *e, char *token, struct script_error *error) {
    struct script_expected_field wanted = {.at = token};
    char *equals = strchr(token, '=');
    if (equals == NULL) {
        return script_error_set(error, token, "%.60s has no value", token);
    }
    *equals = '\0';
    wanted.value = equals + 1;
    char *bracket = strchr(token, '[');
    uint64_t index = 0;
    if (bracket != NULL) {
        size_t length = strlen(bracket);
        *bracket = '\0';
        if (bracket[length - 1] != ']') {
            return script_error_set(error, bracket + 1, "] is missing");
        }
        bracket[length - 1] = '\0';
        if (!script_token_parse_number(bracket + 1, SCRIPT_PACKET_ITEMS_MAX, &index, error)) {
            return false;
        }
    }
    wanted.index = (size_t)index;
    wanted.field = ue_field_find(token);
    if (wanted.field == UE_F_NONE) {
        return script_error_set(error, token, "no such field: %.60s", token);
    }
    g_array_append_val(e->wanted, wanted);
    return true;
}

bool script_expected_line_parse(struct script_expected_line *e, char *line, struct script_error *error) {
    *e = (struct script_expected_line){.tokens = g_ptr_array_new(),
                                       .wanted = g_array_new(FALSE, FALSE, sizeof(struct script_expected_field))};
    char *token = script_token_next(&line);
    e->is_gap = script_token_is(token, GAP);
    if (!e->is_gap && !read_time(e, token, error)) {
        return false;
    }
    while (*(token = script_token_next(&line)) != '\0') {
        if (e->is_gap) {
            return script_error_set(error, token, "... matches any lines and must be alone; for any time use *");
        }
        if (!is_field(token)) {
            g_ptr_array_add(e->tokens, token);
        } else if (!read_field(e, token, error)) {
            return false;
        }
    }
    return e->is_gap || e->tokens->len != 0 || script_error_set(error, token, "nothing follows the time");
}

void script_expected_line_clear(struct script_expected_line *e) {
    g_ptr_array_free(e->tokens, TRUE);
    g_array_free(e->wanted, TRUE);
}

/* ---- matching ---- */

/* A star matches anything, except before a digit: "hist=0*7" is seven words. */
static bool is_star(const char *at) {
    return at[0] == '*' && !g_ascii_isdigit(at[1]);
}

/* Goes back to the last star when the text after it does not match. */
static bool match_token(const char *pattern, const char *token) {
    const char *star = NULL;
    const char *since = NULL;
    while (*token != '\0') {
        if (is_star(pattern)) {
            star = pattern++;
            since = token;
        } else if (*pattern == *token) {
            pattern++;
            token++;
        } else if (star != NULL) {
            pattern = star + 1;
            token = ++since;
        } else {
            return false;
        }
    }
    while (is_star(pattern)) {
        pattern++;
    }
    return *pattern == '\0';
}

/* The same for "..." and whole tokens. Sets the greatest number of tokens of each list that agree. */
static bool match_tokens(const GPtrArray *patterns, const GPtrArray *tokens, size_t *pattern_at, size_t *token_at) {
    size_t pattern = 0;
    size_t token = 0;
    size_t gap = SIZE_MAX;
    size_t since = 0;
    *pattern_at = *token_at = 0;
    while (token < tokens->len) {
        bool has = pattern < patterns->len;
        if (has && script_token_is(patterns->pdata[pattern], GAP)) {
            gap = pattern++;
            since = token;
        } else if (has && match_token(patterns->pdata[pattern], tokens->pdata[token])) {
            pattern++;
            token++;
        } else if (gap != SIZE_MAX) {
            pattern = gap + 1;
            token = ++since;
        } else {
            break;
        }
        if (pattern > *pattern_at) {
            *pattern_at = pattern;
            *token_at = token;
        }
    }
    while (token == tokens->len && pattern < patterns->len && script_token_is(patterns->pdata[pattern], GAP)) {
        pattern++;
    }
    return token == tokens->len && pattern == patterns->len;
}

static bool match_time(const struct script_expected_line *e, uint64_t clock_ns, uint64_t tolerance_ns) {
    uint64_t slack_ns = tolerance_ns + ROUNDING_NS;
    return e->any_time || (clock_ns + slack_ns >= e->first_ns && clock_ns <= e->last_ns + slack_ns);
}

void script_difference_clear(struct script_difference *difference) {
    g_free(difference->came_text);
    *difference = (struct script_difference){0};
}

static bool match_field(const struct script_expected_field *wanted, const struct script_testbed *testbed,
                        const struct script_line *line, struct script_difference *difference) {
    struct script_field_location location;
    bool is_there = script_field_locate(testbed, line, wanted->field, wanted->index, &location);
    bool good = is_there && match_token(wanted->value, location.value);
    if (!good) {
        difference->at = wanted->at;
        difference->expected = wanted->value;
        difference->came = difference->came_text = g_strdup(is_there ? location.value : "no such field");
        difference->field = wanted->field;
        difference->bit = location.bit;
    }
    script_field_location_clear(&location);
    return good;
}

static bool match_fields(const struct script_expected_line *e, const struct script_testbed *testbed,
                         const struct script_line *line, struct script_difference *difference) {
    for (size_t i = 0; i < e->wanted->len; i++) {
        if (!match_field(&g_array_index(e->wanted, struct script_expected_field, i), testbed, line, difference)) {
            return false;
        }
    }
    return true;
}

/* "": the end of the line. */
static const char *token_or_end(const GPtrArray *tokens, size_t at) {
    return at < tokens->len ? tokens->pdata[at] : "";
}

bool script_expected_line_match(const struct script_expected_line *e, const struct script_testbed *testbed,
                                const struct script_line *line, uint64_t tolerance_ns,
                                struct script_difference *difference) {
    g_autoptr(GPtrArray) tokens = g_ptr_array_new();
    size_t expected_at;
    size_t came_at;
    *difference = (struct script_difference){.came_text = g_strdup(line->text)};
    char *rest = difference->came_text;
    const char *time = script_token_next(&rest);
    for (char *token = script_token_next(&rest); *token != '\0'; token = script_token_next(&rest)) {
        g_ptr_array_add(tokens, token);
    }
    bool good = true;
    if (!match_tokens(e->tokens, tokens, &expected_at, &came_at)) {
        good = false;
        difference->at = expected_at < e->tokens->len ? e->tokens->pdata[expected_at] : NULL;
        difference->expected = token_or_end(e->tokens, expected_at);
        difference->came = token_or_end(tokens, came_at);
        size_t at = came_at < tokens->len ? (size_t)(difference->came - difference->came_text) : strlen(line->text);
        script_field_at_offset(testbed, line, at, &difference->field, &difference->bit);
    } else if (!match_time(e, line->time_ns, tolerance_ns)) {
        good = false;
        difference->expected = "a different time";
        difference->came = time;
    } else {
        g_clear_pointer(&difference->came_text, g_free);
        good = match_fields(e, testbed, line, difference);
    }
    return good;
}
