/* SPDX-License-Identifier: MIT */
/* What the installed Wireshark says of itself: its version, where it looks for plugins, and which of ours it loads. It
   is asked through tshark, which answers without a window. */
#ifndef UERUDP_TOOLS_DOCTOR_WIRESHARK_H
#define UERUDP_TOOLS_DOCTOR_WIRESHARK_H

#include <glib.h>
#include <stdbool.h>

/* The plugin's file, in any folder. */
#define DOCTOR_PLUGIN_FILE "uerudp.so"

struct doctor_wireshark {
    char *path;    /* of tshark; NULL: there is none */
    char *version; /* "4.0.17"; NULL: it did not say */
    int major, minor;
    char *personal, *global; /* folders of plugins of this series; NULL: it did not say */
    char *programs;          /* folder of dumpcap */
    char *loaded;            /* our plugin's file; NULL: it was not loaded */
    char *loaded_version;
    char *refusal; /* why it could not load ours, in the words of the system; NULL: it did not say */
};

/* program: a name to be looked for in PATH, or a path. */
void doctor_wireshark_query(struct doctor_wireshark *wireshark, const char *program);
void doctor_wireshark_clear(struct doctor_wireshark *wireshark);

#endif
