/* SPDX-License-Identifier: MIT */
/* Queries the installed Wireshark through tshark: its version, its plugin folders, and which plugin file it loads. */
#ifndef UERUDP_TOOLS_DOCTOR_WIRESHARK_H
#define UERUDP_TOOLS_DOCTOR_WIRESHARK_H

#include <glib.h>
#include <stdbool.h>

/* The plugin's file name in any folder. */
#define DOCTOR_PLUGIN_FILE "uerudp.so"

struct doctor_wireshark {
    char *path;    /* of tshark; NULL: not found */
    char *version; /* "4.0.17"; NULL: unknown */
    int major, minor;
    char *personal, *global; /* plugin folders of this series; NULL: unknown */
    char *programs;          /* folder of dumpcap */
    char *loaded;            /* the plugin file; NULL: not loaded */
    char *loaded_version;
    char *refusal; /* why the plugin was not loaded, as the system says it; NULL: unknown */
};

/* program: a name to find in PATH, or a path. */
void doctor_wireshark_query(struct doctor_wireshark *wireshark, const char *program);
void doctor_wireshark_clear(struct doctor_wireshark *wireshark);

#endif
