/* SPDX-License-Identifier: MIT */
/* Why Wireshark loads our plugin or does not, in sentences that say what to do. */
#ifndef UERUDP_TOOLS_DOCTOR_LOAD_DIAGNOSIS_H
#define UERUDP_TOOLS_DOCTOR_LOAD_DIAGNOSIS_H

#include "tools/doctor/plugin_files.h"

struct ue_finding {
    const char *id; /* for programs: "wrong-series" */
    char *text;     /* what is wrong, in sentences */
    char *advice;   /* what to do; may be empty */
};

struct ue_diagnosis {
    bool loads; /* Wireshark loads it; of several files the one asked about */
    bool is_root;
    bool can_capture;
    GPtrArray *findings; /* struct ue_finding, the worst first; some stand even where it loads */
};

/* given: the file asked about, or NULL. */
void ue_diagnosis_make(struct ue_diagnosis *diagnosis, const struct ue_wireshark *wireshark, const GPtrArray *copies,
                       const char *given);
void ue_diagnosis_clear(struct ue_diagnosis *diagnosis);

#endif
