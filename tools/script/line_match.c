/* SPDX-License-Identifier: MIT */
#include "tools/script/line_match.h"

#include <string.h>

#include "tools/script/field_location.h"

#define GAP "..."
/* Half of the last digit that a transcript shows. */
#define ROUNDING_NS 50000

/* ---- reading ---- */

/* "*", "0.5" or "0.5-0.6" */
static bool read_time(struct script_expected_line *e, char *word, struct script_error *mistake) {
    e->any_time = script_token_is(word, "*");
    if (e->any_time) {
        return true;
    }
    char *dash = strchr(word, '-');
    if (dash != NULL) {
        *dash = '\0';
    }
    if (!script_token_parse_seconds(word, &e->first_ns, mistake)) {
        return false;
    }
    e->last_ns = e->first_ns;
    return dash == NULL || script_token_parse_seconds(dash + 1, &e->last_ns, mistake);
}

/* Whether a word is "group.name=..." or "group.name[1]=...", which no other word is. */
static bool is_field(const char *word) {
    size_t group = strspn(word, "abcdefghijklmnopqrstuvwxyz_");
    size_t name = word[group] == '.' ? strspn(word + group + 1, "abcdefghijklmnopqrstuvwxyz_.") : 0;
    const char *end = word + group + 1 + name;
    return group != 0 && name != 0 && (*end == '=' || *end == '[');
}

static bool read_field(struct script_expected_line *e, char *word, struct script_error *mistake) {
    struct script_expected_field wanted = {.at = word};
    char *equals = strchr(word, '=');
    if (equals == NULL) {
        return script_error_set(mistake, word, "%.60s has no value", word);
    }
    *equals = '\0';
    wanted.value = equals + 1;
    char *bracket = strchr(word, '[');
    uint64_t index = 0;
    if (bracket != NULL) {
        size_t length = strlen(bracket);
        *bracket = '\0';
        if (bracket[length - 1] != ']') {
            return script_error_set(mistake, bracket + 1, "] is missing");
        }
        bracket[length - 1] = '\0';
        if (!script_token_parse_number(bracket + 1, SCRIPT_PACKET_ITEMS_MAX, &index, mistake)) {
            return false;
        }
    }
    wanted.index = (size_t)index;
    wanted.field = ue_field_find(word);
    if (wanted.field == UE_F_NONE) {
        return script_error_set(mistake, word, "there is no field %.60s", word);
    }
    g_array_append_val(e->wanted, wanted);
    return true;
}

bool script_expected_line_parse(struct script_expected_line *e, char *line, struct script_error *mistake) {
    *e =
        (struct script_expected_line){.words = g_ptr_array_new(), .wanted = g_array_new(FALSE, FALSE, sizeof(struct script_expected_field))};
    char *word = script_token_next(&line);
    e->is_gap = script_token_is(word, GAP);
    if (!e->is_gap && !read_time(e, word, mistake)) {
        return false;
    }
    while (*(word = script_token_next(&line)) != '\0') {
        if (e->is_gap) {
            return script_error_set(mistake, word, "... for any lines stands alone; any time is *");
        }
        if (!is_field(word)) {
            g_ptr_array_add(e->words, word);
        } else if (!read_field(e, word, mistake)) {
            return false;
        }
    }
    return e->is_gap || e->words->len != 0 ||
           script_error_set(mistake, word, "what is expected is missing behind the time");
}

void script_expected_line_clear(struct script_expected_line *e) {
    g_ptr_array_free(e->words, TRUE);
    g_array_free(e->wanted, TRUE);
}

/* ---- comparing ---- */

/* A star stands for anything, but in front of a digit: "hist=0*7" are seven words. */
static bool is_star(const char *at) {
    return at[0] == '*' && !g_ascii_isdigit(at[1]);
}

/* Goes back to the last star when the text behind it does not fit. */
static bool match_word(const char *pattern, const char *word) {
    const char *star = NULL;
    const char *since = NULL;
    while (*word != '\0') {
        if (is_star(pattern)) {
            star = pattern++;
            since = word;
        } else if (*pattern == *word) {
            pattern++;
            word++;
        } else if (star != NULL) {
            pattern = star + 1;
            word = ++since;
        } else {
            return false;
        }
    }
    while (is_star(pattern)) {
        pattern++;
    }
    return *pattern == '\0';
}

/* The same with "..." and whole words. Sets how many words of each agree at most. */
static bool match_words(const GPtrArray *patterns, const GPtrArray *words, size_t *pattern_at, size_t *word_at) {
    size_t pattern = 0;
    size_t word = 0;
    size_t gap = SIZE_MAX;
    size_t since = 0;
    *pattern_at = *word_at = 0;
    while (word < words->len) {
        bool has = pattern < patterns->len;
        if (has && script_token_is(patterns->pdata[pattern], GAP)) {
            gap = pattern++;
            since = word;
        } else if (has && match_word(patterns->pdata[pattern], words->pdata[word])) {
            pattern++;
            word++;
        } else if (gap != SIZE_MAX) {
            pattern = gap + 1;
            word = ++since;
        } else {
            break;
        }
        if (pattern > *pattern_at) {
            *pattern_at = pattern;
            *word_at = word;
        }
    }
    while (word == words->len && pattern < patterns->len && script_token_is(patterns->pdata[pattern], GAP)) {
        pattern++;
    }
    return word == words->len && pattern == patterns->len;
}

static bool match_time(const struct script_expected_line *e, uint64_t clock_ns, uint64_t tolerance_ns) {
    uint64_t slack_ns = tolerance_ns + ROUNDING_NS;
    return e->any_time || (clock_ns + slack_ns >= e->first_ns && clock_ns <= e->last_ns + slack_ns);
}

void script_difference_clear(struct script_difference *difference) {
    g_free(difference->came_text);
    *difference = (struct script_difference){0};
}

static bool match_field(const struct script_expected_field *wanted, const struct script_testbed *stage, const struct script_line *line,
                        struct script_difference *difference) {
    struct script_field_location place;
    bool is_there = script_field_locate(stage, line, wanted->field, wanted->index, &place);
    bool good = is_there && match_word(wanted->value, place.value);
    if (!good) {
        difference->at = wanted->at;
        difference->expected = wanted->value;
        difference->came = difference->came_text = g_strdup(is_there ? place.value : "no such field");
        difference->field = wanted->field;
        difference->bit = place.bit;
    }
    script_field_location_clear(&place);
    return good;
}

static bool match_fields(const struct script_expected_line *e, const struct script_testbed *stage, const struct script_line *line,
                         struct script_difference *difference) {
    for (size_t i = 0; i < e->wanted->len; i++) {
        if (!match_field(&g_array_index(e->wanted, struct script_expected_field, i), stage, line, difference)) {
            return false;
        }
    }
    return true;
}

/* "": the end of the line. */
static const char *word_or_end(const GPtrArray *words, size_t at) {
    return at < words->len ? words->pdata[at] : "";
}

bool script_expected_line_match(const struct script_expected_line *e, const struct script_testbed *stage, const struct script_line *line,
                       uint64_t tolerance_ns, struct script_difference *difference) {
    GPtrArray *words = g_ptr_array_new();
    size_t expected_at;
    size_t came_at;
    *difference = (struct script_difference){.came_text = g_strdup(line->text)};
    char *rest = difference->came_text;
    const char *time = script_token_next(&rest);
    for (char *word = script_token_next(&rest); *word != '\0'; word = script_token_next(&rest)) {
        g_ptr_array_add(words, word);
    }
    bool good = true;
    if (!match_words(e->words, words, &expected_at, &came_at)) {
        good = false;
        difference->at = expected_at < e->words->len ? e->words->pdata[expected_at] : NULL;
        difference->expected = word_or_end(e->words, expected_at);
        difference->came = word_or_end(words, came_at);
        size_t at = came_at < words->len ? (size_t)(difference->came - difference->came_text) : strlen(line->text);
        script_field_at_offset(stage, line, at, &difference->field, &difference->bit);
    } else if (!match_time(e, line->time_ns, tolerance_ns)) {
        good = false;
        difference->expected = "another time";
        difference->came = time;
    } else {
        g_clear_pointer(&difference->came_text, g_free);
        good = match_fields(e, stage, line, difference);
    }
    g_ptr_array_free(words, TRUE);
    return good;
}
