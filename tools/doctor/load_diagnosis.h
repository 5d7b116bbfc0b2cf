/* SPDX-License-Identifier: MIT */
/* Why Wireshark loads our plugin or does not, in sentences that say what to do. */
#ifndef UERUDP_TOOLS_DOCTOR_LOAD_DIAGNOSIS_H
#define UERUDP_TOOLS_DOCTOR_LOAD_DIAGNOSIS_H

#include "tools/doctor/plugin_files.h"

struct doctor_finding {
    const char *id; /* for programs: "wrong-series" */
    char *text;     /* what is wrong, in sentences */
    char *advice;   /* what to do; may be empty */
};

struct doctor_diagnosis {
    bool loads; /* Wireshark loads it; of several files the one asked about */
    bool is_root;
    bool can_capture;
    GPtrArray *findings; /* struct doctor_finding, the worst first; some stand even where it loads */
};

/* given: the file asked about, or NULL. */
void doctor_diagnosis_make(struct doctor_diagnosis *diagnosis, const struct doctor_wireshark *wireshark, const GPtrArray *copies,
                       const char *given);
void doctor_diagnosis_clear(struct doctor_diagnosis *diagnosis);

#endif
