/* SPDX-License-Identifier: MIT */
#include "tools/doctor/plugin_files.h"

#include <string.h>

static void free_copy(void *data) {
    struct doctor_plugin_file *file = data;
    g_free(file->path);
    g_free(file);
}

static bool is_known(const GPtrArray *files, const char *path) {
    for (guint i = 0; i < files->len; i++) {
        if (strcmp(((const struct doctor_plugin_file *)files->pdata[i])->path, path) == 0) {
            return true;
        }
    }
    return false;
}

static void add(GPtrArray *files, const char *path, enum doctor_folder_kind place) {
    if (!g_file_test(path, G_FILE_TEST_EXISTS) || is_known(files, path)) {
        return;
    }
    struct doctor_plugin_file *file = g_new0(struct doctor_plugin_file, 1);
    file->path = g_strdup(path);
    file->place = place;
    file->result = doctor_elf_read(path, &file->elf);
    g_ptr_array_add(files, file);
}

static void add_in(GPtrArray *files, const char *folder, const char *below, enum doctor_folder_kind place) {
    g_autofree char *path = g_build_filename(folder, below, DOCTOR_PLUGIN_FILE, NULL);
    add(files, path, place);
}

/* Looks in the folders of all Wireshark series. */
static void add_misplaced(GPtrArray *files, const char *root) {
    GDir *dir = g_dir_open(root, 0, NULL);
    const char *name;
    add_in(files, root, "", DOCTOR_FOLDER_WRONG);
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *folder = g_build_filename(root, name, NULL);
        add_in(files, folder, "", DOCTOR_FOLDER_WRONG);
        add_in(files, folder, "epan", DOCTOR_FOLDER_WRONG);
    }
    g_clear_pointer(&dir, g_dir_close);
}

static void add_beside(GPtrArray *files, const char *folder) {
    if (folder != NULL) {
        g_autofree char *root = g_path_get_dirname(folder);
        add_misplaced(files, root);
    }
}

static void add_place(GPtrArray *files, const char *folder, enum doctor_folder_kind place) {
    if (folder != NULL) {
        add_in(files, folder, "epan", place);
    }
}

GPtrArray *doctor_plugin_files_find(const struct doctor_wireshark *wireshark, const char *given) {
    GPtrArray *files = g_ptr_array_new_with_free_func(free_copy);
    const char *variable = g_getenv("WIRESHARK_PLUGIN_DIR");
    add_place(files, wireshark->global, DOCTOR_FOLDER_GLOBAL);
    add_place(files, wireshark->personal, DOCTOR_FOLDER_PERSONAL);
    add_beside(files, wireshark->global);
    add_beside(files, wireshark->personal);
    if (variable != NULL) {
        add_misplaced(files, variable);
    }
    if (given != NULL) {
        add(files, given, DOCTOR_FOLDER_WRONG);
    }
    return files;
}
