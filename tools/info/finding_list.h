/* SPDX-License-Identifier: MIT */
/* What a diagnosis says of a connection: sentences with frames, the worst first, a bounded number of each kind. */
#ifndef UERUDP_TOOLS_INFO_FINDING_LIST_H
#define UERUDP_TOOLS_INFO_FINDING_LIST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum ue_finding_kind {
#define UE_FINDING(id, name) UE_FINDING_##id,
#include "tools/info/findings.def"
#undef UE_FINDING
    UE_FINDING_COUNT
};

/* The first order of findings: something failed or is broken; players feel it; worth knowing. */
enum ue_severity { UE_SEVERITY_ERROR, UE_SEVERITY_WARNING, UE_SEVERITY_NOTE };

#define UE_FINDING_FRAMES 8

struct ue_finding {
    enum ue_finding_kind kind;
    enum ue_severity severity;
    double weight; /* among findings of its kind: greater is worse */
    unsigned frame_count;
    uint64_t frames[UE_FINDING_FRAMES];
    char *text; /* a sentence without final period */
};

/* Fill per_kind_max; the rest starts zeroed. */
struct ue_findings {
    unsigned per_kind_max;
    uint64_t counts[UE_FINDING_COUNT];
    GArray *kinds[UE_FINDING_COUNT]; /* struct ue_finding, the worst first; NULL: none */
};

const char *ue_finding_name(enum ue_finding_kind kind);
const char *ue_severity_name(enum ue_severity severity);

/* Takes a finding, whose text is made of format, unless there are enough of this kind that are worse. */
void ue_findings_add(struct ue_findings *findings, const struct ue_finding *finding, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* All findings, the worst first: pointers that live as long as the findings. The caller unrefs the array. */
GPtrArray *ue_findings_sorted(const struct ue_findings *findings);

/* How many of this kind there were beyond those kept. */
uint64_t ue_findings_more(const struct ue_findings *findings, enum ue_finding_kind kind);

bool ue_findings_has_error(const struct ue_findings *findings);

void ue_findings_clear(struct ue_findings *findings);

#endif
