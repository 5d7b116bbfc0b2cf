/* SPDX-License-Identifier: MIT */
#include "tools/doctor/wireshark.h"

#include <string.h>

/* The lines of both outputs of a program; NULL: it cannot be run. */
static char **run_program(const struct doctor_wireshark *wireshark, const char *option, const char *report) {
    char *argv[] = {wireshark->path, (char *)option, (char *)report, NULL};
    g_autofree char *output = NULL;
    g_autofree char *errors = NULL;
    char **lines = NULL;
    if (g_spawn_sync(NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &output, &errors, NULL, NULL)) {
        g_autofree char *all = g_strconcat(output, "\n", errors, NULL);
        lines = g_strsplit(all, "\n", -1);
    }
    return lines;
}

/* "TShark (Wireshark) 4.0.17 (Git v4.0.17 ...)." or "TShark (Wireshark) 4.4.18." */
static void parse_version(struct doctor_wireshark *wireshark, const char *line) {
    const char *at = strstr(line, "TShark ");
    at = at != NULL ? strpbrk(at, "0123456789") : NULL;
    if (wireshark->version == NULL && at != NULL) {
        char *version = g_strndup(at, strspn(at, "0123456789."));
        size_t size = strlen(version);
        if (version[size - 1] == '.') {
            version[size - 1] = '\0';
        }
        g_auto(GStrv) numbers = g_strsplit(version, ".", 3);
        if (numbers[1] != NULL) {
            wireshark->version = g_strdup(version);
            wireshark->major = (int)g_ascii_strtoll(numbers[0], NULL, 10);
            wireshark->minor = (int)g_ascii_strtoll(numbers[1], NULL, 10);
        }
        g_free(version);
    }
}

static void parse_folder(const char *line, const char *name, char **folder) {
    if (*folder == NULL && g_str_has_prefix(line, name)) {
        *folder = g_strstrip(g_strdup(line + strlen(name)));
    }
}

static void parse_folders(struct doctor_wireshark *wireshark, const char *line) {
    parse_folder(line, "Personal Plugins:", &wireshark->personal);
    parse_folder(line, "Global Plugins:", &wireshark->global);
    parse_folder(line, "Program:", &wireshark->programs);
}

/* "uerudp.so 0.1.0 dissector /folder/uerudp.so", separated by at least a tab; or an error with the file name. */
static void parse_plugin(struct doctor_wireshark *wireshark, const char *line) {
    g_auto(GStrv) columns = g_strsplit(line, "\t", -1);
    if (g_strv_length(columns) >= 4 && strcmp(g_strstrip(columns[0]), DOCTOR_PLUGIN_FILE) == 0) {
        g_free(wireshark->loaded);
        g_free(wireshark->loaded_version);
        wireshark->loaded_version = g_strdup(g_strstrip(columns[1]));
        wireshark->loaded = g_strdup(g_strstrip(columns[3]));
    } else if (wireshark->refusal == NULL && strstr(line, "'" DOCTOR_PLUGIN_FILE "'") != NULL) {
        const char *from = strstr(line, "Couldn't");
        wireshark->refusal = g_strdup(from != NULL ? from : line);
    }
}

static void ask_all(struct doctor_wireshark *wireshark, const char *option, const char *report,
                    void (*take)(struct doctor_wireshark *wireshark, const char *line)) {
    g_auto(GStrv) lines = run_program(wireshark, option, report);
    for (size_t i = 0; lines != NULL && lines[i] != NULL; i++) {
        take(wireshark, lines[i]);
    }
}

void doctor_wireshark_query(struct doctor_wireshark *wireshark, const char *program) {
    *wireshark = (struct doctor_wireshark){.path = g_find_program_in_path(program)};
    if (wireshark->path != NULL) {
        ask_all(wireshark, "--version", NULL, parse_version);
        ask_all(wireshark, "-G", "folders", parse_folders);
        ask_all(wireshark, "-G", "plugins", parse_plugin);
    }
}

void doctor_wireshark_clear(struct doctor_wireshark *wireshark) {
    g_free(wireshark->path);
    g_free(wireshark->version);
    g_free(wireshark->personal);
    g_free(wireshark->global);
    g_free(wireshark->programs);
    g_free(wireshark->loaded);
    g_free(wireshark->loaded_version);
    g_free(wireshark->refusal);
}
