/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/uat_text_columns.h"

#include <ws_attributes.h>

static void set_text(void *record, const char *text, unsigned length, const void *column, const void *unused _U_) {
    char **member = &((char **)record)[GPOINTER_TO_UINT(column)];
    g_free(*member);
    *member = g_strndup(text, length);
}

static void get_text(void *record, char **text, unsigned *length, const void *column, const void *unused _U_) {
    const char *member = ((char **)record)[GPOINTER_TO_UINT(column)];
    *text = g_strdup(member != NULL ? member : "");
    *length = (unsigned)strlen(*text);
}

/* Wireshark reads the column number from any of the three callback data, depending on the caller. */
uat_field_t uerudp_uat_text_column(unsigned place, const char *name, const char *title, const char *description) {
    const void *column = GUINT_TO_POINTER(place);
    return (uat_field_t){name, title,       PT_TXTMOD_STRING, {NULL, set_text, get_text}, {column, column, column},
                         NULL, description, FLDFILL};
}

void uerudp_uat_text_copy(char **texts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        texts[i] = g_strdup(texts[i]);
    }
}

void uerudp_uat_text_free(char **texts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        g_free(texts[i]);
    }
}
