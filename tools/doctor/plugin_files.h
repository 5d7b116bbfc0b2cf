/* SPDX-License-Identifier: MIT */
/* Where files of our plugin lie: in the folders that Wireshark reads, and in those beside them, where people put them
   by mistake. */
#ifndef UERUDP_TOOLS_DOCTOR_PLUGIN_FILES_H
#define UERUDP_TOOLS_DOCTOR_PLUGIN_FILES_H

#include "tools/doctor/elf.h"
#include "tools/doctor/wireshark.h"

enum ue_place {
    UE_PLACE_PERSONAL, /* Wireshark looks here, unless root runs it */
    UE_PLACE_GLOBAL,
    UE_PLACE_WRONG, /* elsewhere */
};

struct ue_copy {
    char *path;
    enum ue_place place;
    enum ue_elf_result result;
    struct ue_elf elf;
};

/* All copies, as struct ue_copy: first in the order in which Wireshark looks, then those in wrong places. given: one
   more file, or NULL. Free with g_ptr_array_unref. */
GPtrArray *ue_copies_find(const struct ue_wireshark *wireshark, const char *given);

#endif
