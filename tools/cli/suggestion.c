/* SPDX-License-Identifier: MIT */
#include "tools/cli/suggestion.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include <uerudp/field.h>
#include <uerudp/profile.h>
#include <uerudp/settings.h>

#define WORD_CHARS 40 /* longer words are near to nothing */
#define SHOWN_MAX 4   /* more names that are equally near are no suggestion */
#define CHARS_PER_ERROR 3
#define PREFIX_CHARS 3 /* the least that stands for the rest of a name */

/* Case does not matter, and '-' is '_'. */
static char fold(char character) {
    return character == '-' ? '_' : g_ascii_tolower(character);
}

static unsigned least(unsigned a, unsigned b, unsigned c) {
    return MIN(MIN(a, b), c);
}

/* The least number of characters to insert, delete, replace or swap with the next one. */
static unsigned edit_distance(const char *a, const char *b) {
    unsigned rows[3][WORD_CHARS + 1] = {{0}};
    size_t length = strlen(b);
    for (size_t j = 0; j <= length; j++) {
        rows[0][j] = (unsigned)j;
    }
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= length; j++) {
            bool differs = fold(a[i - 1]) != fold(b[j - 1]);
            row[j] = least(above[j] + 1, row[j - 1] + 1, above[j - 1] + differs);
            if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) && fold(a[i - 2]) == fold(b[j - 1])) {
                row[j] = MIN(row[j], second[j - 2] + 1);
            }
        }
    }
    return rows[strlen(a) % 3][length];
}

/* The distance to a name; a beginning of it, and the part after its last dot, are nearer than their length says. */
static unsigned distance(const char *word, const char *name) {
    const char *dot = strrchr(name, '.');
    if (strlen(name) > WORD_CHARS) {
        return UINT_MAX;
    }
    unsigned result = edit_distance(word, name);
    if (strlen(word) >= PREFIX_CHARS && g_ascii_strncasecmp(word, name, strlen(word)) == 0) {
        result = 1;
    }
    return dot != NULL ? MIN(result, edit_distance(word, dot + 1) + 1) : result;
}

static GPtrArray *nearest(const char *word, const GPtrArray *names) {
    GPtrArray *found = g_ptr_array_new();
    size_t length = strlen(word);
    unsigned best = length <= WORD_CHARS ? (unsigned)MAX(length / CHARS_PER_ERROR, 1) : 0;
    for (guint i = 0; length > 1 && i < names->len; i++) {
        char *name = g_ptr_array_index(names, i);
        unsigned current = length <= WORD_CHARS ? distance(word, name) : UINT_MAX;
        if (current < best) {
            g_ptr_array_set_size(found, 0);
            best = current;
        }
        if (current == best) {
            g_ptr_array_add(found, name);
        }
    }
    return found;
}

char *suggestion_text(const char *word, const GPtrArray *names, const char *otherwise) {
    g_autoptr(GPtrArray) found = nearest(word, names);
    GString *text = g_string_new(NULL);
    if (found->len == 0 || found->len > SHOWN_MAX) {
        g_string_append(text, otherwise);
    } else {
        for (guint i = 0; i < found->len; i++) {
            const char *before = i == 0 ? "; did you mean " : i + 1 == found->len ? " or " : ", ";
            g_string_append_printf(text, "%s%s", before, (const char *)g_ptr_array_index(found, i));
        }
        g_string_append_c(text, '?');
    }
    return g_string_free(text, FALSE);
}

void suggestion_add_fields(GPtrArray *names) {
    for (unsigned i = UE_F_NONE + 1; i < UE_F_ANALYSIS_FLAGS; i++) { /* the rows of the plugin are the last ones */
        g_ptr_array_add(names, (char *)ue_field_row((enum ue_field)i)->name);
    }
}

void suggestion_add_releases(GPtrArray *names) {
    for (unsigned number = 400; number < 600; number++) {
        char name[8];
        g_snprintf(name, sizeof name, "%u.%u", number / 100, number % 100);
        if (ue_profile_find(name) != NULL) {
            g_ptr_array_add(names, (char *)g_intern_string(name));
        }
    }
}

char *suggestion_of_release(const char *word) {
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    suggestion_add_releases(names);
    return suggestion_text(word, names, "");
}

static char *handler_names(void) {
    g_autoptr(GString) names = g_string_new("use names separated by commas:");
    const char *name;
    for (int i = UE_HANDLER_NONE + 1; (name = ue_handler_name((enum ue_handler)i)) != NULL; i++) {
        g_string_append_printf(names, "%s %s", i > UE_HANDLER_NONE + 1 ? "," : "", name);
    }
    return g_strdup(names->str);
}

char *suggestion_of_setting(const char *key) {
    g_autofree char *name = g_strdelimit(g_strdup(key), "-", '_');
    const struct ue_setting_row *row;
    size_t i = 0;
    while ((row = ue_setting_row(i)) != NULL && strcmp(row->key, name) != 0) {
        i++;
    }
    if (row == NULL || row->max == 0) {
        return handler_names();
    }
    if (strcmp(name, "guid_bits") == 0) {
        return g_strdup("use 128, or automatic");
    }
    if (strcmp(name, "ch_seq_bound") == 0) {
        return g_strdup_printf("use a power of two up to %" PRIu64 ", or automatic", row->max);
    }
    return g_strdup_printf(row->has_automatic ? "use a number from 1 to %" PRIu64 ", or automatic"
                                              : "use a number from 0 to %" PRIu64,
                           row->max);
}
