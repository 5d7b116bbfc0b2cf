/* SPDX-License-Identifier: MIT */
/* Diagnoses whether Wireshark loads the plugin, in sentences that say what to do. */
#ifndef UERUDP_TOOLS_DOCTOR_LOAD_DIAGNOSIS_H
#define UERUDP_TOOLS_DOCTOR_LOAD_DIAGNOSIS_H

#include "tools/doctor/plugin_files.h"

struct doctor_finding {
    const char *id; /* for scripts: "wrong-series" */
    char *text;     /* the problem, in sentences */
    char *advice;   /* what to do; may be empty */
};

struct doctor_diagnosis {
    bool loads; /* Wireshark loads the plugin; if a file was given, this file */
    bool is_root;
    bool can_capture;
    GPtrArray *findings; /* struct doctor_finding, the worst first; may exist even if the plugin loads */
};

/* given: the file that the user asks about, or NULL. */
void doctor_diagnosis_make(struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark,
                           const GPtrArray *files, const char *given);
void doctor_diagnosis_clear(struct doctor_diagnosis *diagnosis);

#endif
