/* SPDX-License-Identifier: MIT */
/* The findings of a connection: sentences with frame numbers, the worst first, a bounded number of each kind. */
#ifndef UERUDP_TOOLS_INFO_FINDING_LIST_H
#define UERUDP_TOOLS_INFO_FINDING_LIST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include <uerudp/findings.h>

/* A finding that is kept to be printed. */
struct info_finding {
    enum ue_finding_id id;
    int64_t weight;
    unsigned frame_count;
    uint64_t frames[UE_FINDING_FRAMES_MAX];
    char *text; /* a sentence without its final period */
};

/* Fill per_kind_max; the rest starts zeroed. */
struct info_findings {
    unsigned per_kind_max;
    uint64_t counts[UE_FINDING_COUNT]; /* by kind */
    GArray *kinds[UE_FINDING_COUNT];   /* by kind: struct info_finding, the worst first; NULL: none */
};

/* How many of a kind are shown, unless the user chooses. */
#define INFO_FINDINGS_DEFAULT 5

/* Adds a finding to user, a struct info_findings, unless enough worse findings of its kind exist. */
void info_findings_add(void *user, const struct ue_finding *finding);

/* Returns all findings, the worst first, as pointers that live as long as the list; the caller unrefs the array. */
GPtrArray *info_findings_sorted(const struct info_findings *findings);

/* Findings of this kind that were not kept. */
uint64_t info_findings_more(const struct info_findings *findings, enum ue_finding_id kind);

bool info_findings_has_error(const struct info_findings *findings);

void info_findings_clear(struct info_findings *findings);

#endif
