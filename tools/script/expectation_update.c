/* SPDX-License-Identifier: MIT */
#include "tools/script/expectation_update.h"

#include <string.h>

#define ALL_LETTERS "ABCL"

/* The output for one letter after a command, and how much of it is written. */
struct letter_output {
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

/* One entry for each letter. False: two generations of one letter differ. */
static bool collect(const GArray *outputs, size_t line, struct letter_output *letter_outputs, size_t *count,
                    char **problem) {
    *count = 0;
    for (size_t i = 0; i < outputs->len; i++) {
        const struct script_generation_output *take = &g_array_index(outputs, struct script_generation_output, i);
        const GPtrArray *lines = lines_behind(take->records, line);
        size_t at = 0;
        while (at < *count && letter_outputs[at].letter != take->generation->letter) {
            at++;
        }
        if (at == *count) {
            letter_outputs[(*count)++] = (struct letter_output){take->generation->letter, lines, 0};
        } else if (!are_equal(letter_outputs[at].lines, lines)) {
            *problem = g_strdup_printf("line %zu: the output of %s differs from that of another generation of the "
                                       "letter %c, so @ cannot separate them",
                                       line + 1, take->generation->name, take->generation->letter);
            return false;
        }
    }
    return true;
}

static const char *next_of(const struct letter_output *letter_output) {
    return letter_output->lines != NULL && letter_output->written < letter_output->lines->len
               ? letter_output->lines->pdata[letter_output->written]
               : NULL;
}

/* Writes the line that is next for most letters, with these letters. */
static bool write_next(GString *text, struct letter_output *letter_outputs, size_t count) {
    char letters[sizeof ALL_LETTERS] = "";
    const char *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        const char *line = next_of(&letter_outputs[i]);
        size_t agree = 0;
        for (size_t k = 0; line != NULL && k < count; k++) {
            const char *other = next_of(&letter_outputs[k]);
            agree += other != NULL && strcmp(other, line) == 0;
        }
        best = agree > most ? line : best;
        most = agree > most ? agree : most;
    }
    if (best == NULL) {
        return false;
    }
    for (size_t i = 0, used = 0; i < count; i++) {
        const char *line = next_of(&letter_outputs[i]);
        if (line != NULL && strcmp(line, best) == 0) {
            letters[used++] = letter_outputs[i].letter;
            letter_outputs[i].written++;
        }
    }
    if (most == count) {
        g_string_append_printf(text, "    %s\n", best);
    } else {
        g_string_append_printf(text, "@%s     %s\n", letters, best);
    }
    return true;
}

/* Whether a line is an expected one, which is replaced. */
static bool is_expected(const char *line) {
    const char *at = line[0] == '@' ? line + 1 + strspn(line + 1, ALL_LETTERS) : line;
    at += line[0] == '@' && *at == ' ';
    const char *tokens = at + strspn(at, " ");
    return tokens != at && *tokens != '\0' && *tokens != '#';
}

bool script_file_update(const struct script_file *script, const GArray *outputs, char **problem) {
    g_autoptr(GString) text = g_string_new(NULL);
    GError *error = NULL;
    bool good = true;
    for (size_t i = 0; i < script->lines->len && good; i++) {
        struct letter_output letter_outputs[sizeof ALL_LETTERS];
        size_t count;
        const char *line = script->lines->pdata[i];
        if (!is_expected(line)) {
            g_string_append_printf(text, "%s\n", line);
        }
        good = collect(outputs, i, letter_outputs, &count, problem);
        while (good && write_next(text, letter_outputs, count)) {
        }
    }
    if (good && !g_file_set_contents(script->name, text->str, (gssize)text->len, &error)) {
        *problem = g_strdup(error->message);
        g_error_free(error);
        good = false;
    }
    return good;
}
