/* SPDX-License-Identifier: MIT */
#include "tools/doctor/plugin_files.h"

#include <string.h>

static void free_copy(void *data) {
    struct ue_copy *copy = data;
    g_free(copy->path);
    g_free(copy);
}

static bool is_known(const GPtrArray *copies, const char *path) {
    for (guint i = 0; i < copies->len; i++) {
        if (strcmp(((const struct ue_copy *)copies->pdata[i])->path, path) == 0) {
            return true;
        }
    }
    return false;
}

static void add(GPtrArray *copies, const char *path, enum ue_place place) {
    if (!g_file_test(path, G_FILE_TEST_EXISTS) || is_known(copies, path)) {
        return;
    }
    struct ue_copy *copy = g_new0(struct ue_copy, 1);
    copy->path = g_strdup(path);
    copy->place = place;
    copy->result = ue_elf_read(path, &copy->elf);
    g_ptr_array_add(copies, copy);
}

static void add_in(GPtrArray *copies, const char *folder, const char *below, enum ue_place place) {
    char *path = g_build_filename(folder, below, UE_PLUGIN_FILE, NULL);
    add(copies, path, place);
    g_free(path);
}

/* In the folders of all series. */
static void add_misplaced(GPtrArray *copies, const char *root) {
    GDir *dir = g_dir_open(root, 0, NULL);
    const char *name;
    add_in(copies, root, "", UE_PLACE_WRONG);
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        char *folder = g_build_filename(root, name, NULL);
        add_in(copies, folder, "", UE_PLACE_WRONG);
        add_in(copies, folder, "epan", UE_PLACE_WRONG);
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

static void add_place(GPtrArray *copies, const char *folder, enum ue_place place) {
    if (folder != NULL) {
        add_in(copies, folder, "epan", place);
    }
}

GPtrArray *ue_copies_find(const struct ue_wireshark *wireshark, const char *given) {
    GPtrArray *copies = g_ptr_array_new_with_free_func(free_copy);
    const char *variable = g_getenv("WIRESHARK_PLUGIN_DIR");
    add_place(copies, wireshark->global, UE_PLACE_GLOBAL);
    add_place(copies, wireshark->personal, UE_PLACE_PERSONAL);
    add_beside(copies, wireshark->global);
    add_beside(copies, wireshark->personal);
    if (variable != NULL) {
        add_misplaced(copies, variable);
    }
    if (given != NULL) {
        add(copies, given, UE_PLACE_WRONG);
    }
    return copies;
}
