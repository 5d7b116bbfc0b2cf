/* SPDX-License-Identifier: MIT */
/* Where files of our plugin lie: in the folders that Wireshark reads, and in those beside them, where people put them
   by mistake. */
#ifndef UERUDP_TOOLS_DOCTOR_PLUGIN_FILES_H
#define UERUDP_TOOLS_DOCTOR_PLUGIN_FILES_H

#include "tools/doctor/elf.h"
#include "tools/doctor/wireshark.h"

enum doctor_folder_kind {
    DOCTOR_FOLDER_PERSONAL, /* Wireshark looks here, unless root runs it */
    DOCTOR_FOLDER_GLOBAL,
    DOCTOR_FOLDER_WRONG, /* elsewhere */
};

struct doctor_plugin_file {
    char *path;
    enum doctor_folder_kind place;
    enum doctor_elf_result result;
    struct doctor_elf elf;
};

/* All copies, as struct doctor_plugin_file: first in the order in which Wireshark looks, then those in wrong places. given: one
   more file, or NULL. Free with g_ptr_array_unref. */
GPtrArray *doctor_plugin_files_find(const struct doctor_wireshark *wireshark, const char *given);

#endif
