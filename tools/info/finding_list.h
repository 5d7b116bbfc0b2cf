/* SPDX-License-Identifier: MIT */
/* The findings of a connection: sentences with frame numbers, the worst first, a bounded number of each kind. */
#ifndef UERUDP_TOOLS_INFO_FINDING_LIST_H
#define UERUDP_TOOLS_INFO_FINDING_LIST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum info_finding_kind {
#define INFO_FINDING(id, name) INFO_FINDING_##id,
#include "tools/info/findings.def"
#undef INFO_FINDING
    INFO_FINDING_COUNT
};

/* Findings are ordered by severity first. An error ended or prevented the connection or violates the protocol; a
   warning is something that players notice; a note is worth knowing. findings.def has the order within a severity. */
enum info_severity { INFO_SEVERITY_ERROR, INFO_SEVERITY_WARNING, INFO_SEVERITY_NOTE };

#define INFO_FINDING_FRAMES 8

struct info_finding {
    enum info_finding_kind kind;
    enum info_severity severity;
    double weight; /* among findings of the same kind: greater is worse */
    unsigned frame_count;
    uint64_t frames[INFO_FINDING_FRAMES];
    char *text; /* a sentence without its final period */
};

/* A finding of kind id with a severity and a weight, and one with the number of a frame. */
#define INFO_FINDING_OF(id, level, how_much)                                                                           \
    {.kind = INFO_FINDING_##id, .severity = INFO_SEVERITY_##level, .weight = (double)(how_much)}
#define INFO_FINDING_AT(id, level, how_much, frame)                                                                    \
    {                                                                                                                  \
        .kind = INFO_FINDING_##id, .severity = INFO_SEVERITY_##level, .weight = (double)(how_much), .frame_count = 1,  \
        .frames = {                                                                                                    \
            frame                                                                                                      \
        }                                                                                                              \
    }

/* Fill per_kind_max; the rest starts zeroed. */
struct info_findings {
    unsigned per_kind_max;
    uint64_t counts[INFO_FINDING_COUNT];
    GArray *kinds[INFO_FINDING_COUNT]; /* struct info_finding, the worst first; NULL: none */
};

const char *info_finding_name(enum info_finding_kind kind);
const char *info_severity_name(enum info_severity severity);

/* Adds a finding with a formatted text, unless enough worse findings of its kind exist. */
void info_findings_add(struct info_findings *findings, const struct info_finding *finding, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* Returns all findings, the worst first, as pointers that live as long as the list; the caller unrefs the array. */
GPtrArray *info_findings_sorted(const struct info_findings *findings);

/* Findings of this kind that were not kept. */
uint64_t info_findings_more(const struct info_findings *findings, enum info_finding_kind kind);

bool info_findings_has_error(const struct info_findings *findings);

void info_findings_clear(struct info_findings *findings);

#endif
