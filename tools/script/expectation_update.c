/* SPDX-License-Identifier: MIT */
#include "tools/script/expectation_update.h"

#include <string.h>

#define ALL_LETTERS "ABCL"

/* What one letter has to say behind a command, and how much of it is written. */
struct voice {
    char letter;
    const GPtrArray *lines; /* NULL: the command is not for this letter */
    size_t written;
};

static void clear_record(void *record) {
    g_ptr_array_free(((struct script_command_output *)record)->lines, TRUE);
}

GArray *script_command_outputs_new(void) {
    GArray *records = g_array_new(FALSE, FALSE, sizeof(struct script_command_output));
    g_array_set_clear_func(records, clear_record);
    return records;
}

static const GPtrArray *lines_behind(const GArray *records, size_t line) {
    for (size_t i = 0; i < records->len; i++) {
        const struct script_command_output *record = &g_array_index(records, struct script_command_output, i);
        if (record->line == line) {
            return record->lines;
        }
    }
    return NULL;
}

static bool are_equal(const GPtrArray *a, const GPtrArray *b) {
    bool equal = (a == NULL) == (b == NULL) && (a == NULL || a->len == b->len);
    for (size_t i = 0; equal && a != NULL && i < a->len; i++) {
        equal = strcmp(a->pdata[i], b->pdata[i]) == 0;
    }
    return equal;
}

/* One voice for each letter; false when two generations of one letter do not agree. */
static bool collect(const GArray *takes, size_t line, struct voice *voices, size_t *count, char **problem) {
    *count = 0;
    for (size_t i = 0; i < takes->len; i++) {
        const struct script_generation_output *take = &g_array_index(takes, struct script_generation_output, i);
        const GPtrArray *lines = lines_behind(take->records, line);
        size_t at = 0;
        while (at < *count && voices[at].letter != take->generation->letter) {
            at++;
        }
        if (at == *count) {
            voices[(*count)++] = (struct voice){take->generation->letter, lines, 0};
        } else if (!are_equal(voices[at].lines, lines)) {
            *problem =
                g_strdup_printf("line %zu: what comes in %s is not what comes in another generation of the letter "
                                "%c, so that no @ can tell them apart",
                                line + 1, take->generation->name, take->generation->letter);
            return false;
        }
    }
    return true;
}

static const char *next_of(const struct voice *voice) {
    return voice->lines != NULL && voice->written < voice->lines->len ? voice->lines->pdata[voice->written] : NULL;
}

/* The line that is next for most, with the letters of those that say it. */
static bool write_next(GString *text, struct voice *voices, size_t count) {
    char letters[sizeof ALL_LETTERS] = "";
    const char *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        const char *line = next_of(&voices[i]);
        size_t agree = 0;
        for (size_t k = 0; line != NULL && k < count; k++) {
            const char *other = next_of(&voices[k]);
            agree += other != NULL && strcmp(other, line) == 0;
        }
        best = agree > most ? line : best;
        most = agree > most ? agree : most;
    }
    if (best == NULL) {
        return false;
    }
    for (size_t i = 0, used = 0; i < count; i++) {
        const char *line = next_of(&voices[i]);
        if (line != NULL && strcmp(line, best) == 0) {
            letters[used++] = voices[i].letter;
            voices[i].written++;
        }
    }
    if (most == count) {
        g_string_append_printf(text, "    %s\n", best);
    } else {
        g_string_append_printf(text, "@%s     %s\n", letters, best);
    }
    return true;
}

/* Whether a line is an expected one, which is left out. */
static bool is_expected(const char *line) {
    const char *at = line[0] == '@' ? line + 1 + strspn(line + 1, ALL_LETTERS) : line;
    at += line[0] == '@' && *at == ' ';
    const char *words = at + strspn(at, " ");
    return words != at && *words != '\0' && *words != '#';
}

bool script_file_update(const struct script_file *script, const GArray *takes, char **problem) {
    GString *text = g_string_new(NULL);
    GError *error = NULL;
    bool good = true;
    for (size_t i = 0; i < script->lines->len && good; i++) {
        struct voice voices[sizeof ALL_LETTERS];
        size_t count;
        const char *line = script->lines->pdata[i];
        if (!is_expected(line)) {
            g_string_append_printf(text, "%s\n", line);
        }
        good = collect(takes, i, voices, &count, problem);
        while (good && write_next(text, voices, count)) {
        }
    }
    if (good && !g_file_set_contents(script->name, text->str, (gssize)text->len, &error)) {
        *problem = g_strdup(error->message);
        g_error_free(error);
        good = false;
    }
    g_string_free(text, TRUE);
    return good;
}
