/* SPDX-License-Identifier: MIT */
#include "tools/cli/help.h"

#include <string.h>

#define COLUMNS 110

/* The column at which an option's description starts; 0: the line describes no option. */
static size_t hang_of(const char *line) {
    if (!g_str_has_prefix(line, "  -")) {
        return 0;
    }
    const char *gap = strstr(line + strlen("  "), "  ");
    return gap != NULL ? (size_t)(gap - line) + strspn(gap, " ") : 0;
}

/* The number of bytes of a text that fit in this number of columns. */
static size_t fitting(const char *text, size_t columns) {
    if ((size_t)g_utf8_strlen(text, -1) <= columns) {
        return strlen(text);
    }
    const char *end = g_utf8_offset_to_pointer(text, (glong)columns);
    const char *space = g_strrstr_len(text, end - text + 1, " ");
    space = space != NULL ? space : strchr(text, ' ');
    return space != NULL ? (size_t)(space - text) : strlen(text);
}

/* Appends words from this column on, and indents further lines to it. */
static void fill(GString *out, const char *words, size_t column) {
    while (*words != '\0') {
        size_t length = fitting(words, COLUMNS - column);
        g_string_append_len(out, words, (gssize)length);
        g_string_append_c(out, '\n');
        words += length + strspn(words + length, " ");
        g_string_append_printf(out, "%*s", *words != '\0' ? (int)column : 0, "");
    }
}

static bool is_prose(const char *line) {
    return line != NULL && line[0] != '\0' && line[0] != ' ';
}

/* Appends the lines of one paragraph; returns their number. */
static size_t fill_paragraph(GString *out, char **lines) {
    g_autoptr(GString) paragraph = g_string_new(lines[0]);
    size_t count = 1;
    for (; is_prose(lines[count]); count++) {
        g_string_append_printf(paragraph, " %s", lines[count]);
    }
    fill(out, paragraph->str, 0);
    return count;
}

static void add_other(GString *out, const char *line) {
    size_t hang = hang_of(line);
    if (hang != 0) {
        g_string_append_len(out, line, (gssize)hang);
        fill(out, line + hang, hang);
    } else {
        g_string_append_printf(out, "%s\n", line);
    }
}

char *cli_wrap_help(const char *text) {
    GString *out = g_string_new(NULL);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (size_t i = 0; lines[i] != NULL;) {
        if (is_prose(lines[i])) {
            i += fill_paragraph(out, lines + i);
        } else if (lines[i + 1] != NULL || lines[i][0] != '\0') {
            add_other(out, lines[i++]);
        } else {
            i++;
        }
    }
    return g_string_free(out, FALSE);
}
