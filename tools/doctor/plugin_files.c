/* SPDX-License-Identifier: MIT */
#include "tools/doctor/plugin_files.h"

#include <string.h>

static void free_copy(void *data) {
    struct doctor_plugin_file *copy = data;
    g_free(copy->path);
    g_free(copy);
}

static bool is_known(const GPtrArray *copies, const char *path) {
    for (guint i = 0; i < copies->len; i++) {
        if (strcmp(((const struct doctor_plugin_file *)copies->pdata[i])->path, path) == 0) {
            return true;
        }
    }
    return false;
}

static void add(GPtrArray *copies, const char *path, enum doctor_folder_kind place) {
    if (!g_file_test(path, G_FILE_TEST_EXISTS) || is_known(copies, path)) {
        return;
    }
    struct doctor_plugin_file *copy = g_new0(struct doctor_plugin_file, 1);
    copy->path = g_strdup(path);
    copy->place = place;
    copy->result = doctor_elf_read(path, &copy->elf);
    g_ptr_array_add(copies, copy);
}

static void add_in(GPtrArray *copies, const char *folder, const char *below, enum doctor_folder_kind place) {
    char *path = g_build_filename(folder, below, DOCTOR_PLUGIN_FILE, NULL);
    add(copies, path, place);
    g_free(path);
}

/* In the folders of all series. */
static void add_misplaced(GPtrArray *copies, const char *root) {
    GDir *dir = g_dir_open(root, 0, NULL);
    const char *name;
    add_in(copies, root, "", DOCTOR_FOLDER_WRONG);
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        char *folder = g_build_filename(root, name, NULL);
        add_in(copies, folder, "", DOCTOR_FOLDER_WRONG);
        add_in(copies, folder, "epan", DOCTOR_FOLDER_WRONG);
        g_free(folder);
    }
    if (dir != NULL) {
        g_dir_close(dir);
    }
}

static void add_beside(GPtrArray *copies, const char *folder) {
    if (folder != NULL) {
        char *root = g_path_get_dirname(folder);
        add_misplaced(copies, root);
        g_free(root);
    }
}

static void add_place(GPtrArray *copies, const char *folder, enum doctor_folder_kind place) {
    if (folder != NULL) {
        add_in(copies, folder, "epan", place);
    }
}

GPtrArray *doctor_plugin_files_find(const struct doctor_wireshark *wireshark, const char *given) {
    GPtrArray *copies = g_ptr_array_new_with_free_func(free_copy);
    const char *variable = g_getenv("WIRESHARK_PLUGIN_DIR");
    add_place(copies, wireshark->global, DOCTOR_FOLDER_GLOBAL);
    add_place(copies, wireshark->personal, DOCTOR_FOLDER_PERSONAL);
    add_beside(copies, wireshark->global);
    add_beside(copies, wireshark->personal);
    if (variable != NULL) {
        add_misplaced(copies, variable);
    }
    if (given != NULL) {
        add(copies, given, DOCTOR_FOLDER_WRONG);
    }
    return copies;
}
