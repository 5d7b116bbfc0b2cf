/* SPDX-License-Identifier: MIT */
/* Finds the plugin's files: in the folders that Wireshark reads, and in folders beside them, where users put them by
   mistake. */
#ifndef UERUDP_TOOLS_DOCTOR_PLUGIN_FILES_H
#define UERUDP_TOOLS_DOCTOR_PLUGIN_FILES_H

#include "tools/doctor/elf.h"
#include "tools/doctor/wireshark.h"

enum doctor_folder_kind {
    DOCTOR_FOLDER_PERSONAL, /* read by Wireshark, unless root runs it */
    DOCTOR_FOLDER_GLOBAL,
    DOCTOR_FOLDER_WRONG, /* not read by Wireshark */
};

struct doctor_plugin_file {
    char *path;
    enum doctor_folder_kind place;
    enum doctor_elf_result result;
    struct doctor_elf elf;
};

/* Returns all files as struct doctor_plugin_file: in the order in which Wireshark reads them, then those in wrong
   folders. given: a further file, or NULL. Free with g_ptr_array_unref. */
GPtrArray *doctor_plugin_files_find(const struct doctor_wireshark *wireshark, const char *given);

#endif
