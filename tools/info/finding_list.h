/* SPDX-License-Identifier: MIT */
/* The findings of a connection: sentences with frame numbers, the worst first, a bounded number of each kind. */
#ifndef UERUDP_TOOLS_INFO_FINDING_LIST_H
#define UERUDP_TOOLS_INFO_FINDING_LIST_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include <uerudp/findings.h>
#include "tools/info/fail_rules.h"

/* Which of the captures of both ends have a finding. */
enum info_capture_match { INFO_IN_ONE_CAPTURE, INFO_IN_BOTH_CAPTURES, INFO_NOT_COMPARED };

/* A finding that is kept to be printed, without the values that it lacks, since a connection keeps many. */
struct info_finding {
    enum ue_finding_id id; /* likewise the next four: see struct ue_finding */
    unsigned side;
    bool has_time;
    int64_t time_ns;
    int64_t weight;
    bool is_failure;               /* matches a rule of the user */
    enum info_capture_match match; /* valid if the connection is compared with the other end's */
    char *text, *other_text;       /* of messages; NULL: none */
    uint32_t frame_count;
    uint32_t value_ids; /* bit n: the numbers have value n; else it is 0 */
    uint32_t bounded;   /* bit n: the numbers have its at_least and its at_most; else these are equal */
    int64_t numbers[];  /* the frames, then the values */
};

struct info_finding_kind {
    uint64_t count;
    GPtrArray *kept; /* struct info_finding, the worst first */
};

/* Fill per_kind_max and rules; the rest starts zeroed. */
struct info_findings {
    unsigned per_kind_max;
    const struct info_fail_rules *rules; /* NULL: findings of severity error are failures */
    uint64_t failures;
    uint64_t in_one_capture; /* findings of kinds that were compared with the other end's, also those not kept */
    uint64_t not_compared;   /* findings of kinds of which a capture has too many */
    GArray *kinds;           /* struct info_finding_kind: those that were found; NULL: none */
    uint8_t places[UE_FINDING_COUNT]; /* by kind: its place in kinds, plus 1; 0: none */
};

/* How many of a kind are shown, unless the user chooses. */
#define INFO_FINDINGS_DEFAULT 5

/* Adds a finding to user, a struct info_findings, unless enough worse findings of its kind exist. */
void info_findings_add(void *user, const struct ue_finding *finding);

/* Removes a finding that is kept, by its place in the array of its kind. */
void info_findings_remove(struct info_findings *findings, enum ue_finding_id kind, guint place);

/* Returns what was detected; its texts live as long as the finding that is kept. */
struct ue_finding info_finding_detected(const struct info_finding *kept);

/* Returns a sentence without its final period, of a finding that is kept or detected. Free with g_free. */
char *info_finding_sentence(const struct info_finding *kept);
char *info_detected_sentence(const struct ue_finding *detected);

/* How many of a kind were found; those that are kept, the worst first, NULL: none was found. */
uint64_t info_findings_count(const struct info_findings *findings, enum ue_finding_id kind);
GPtrArray *info_findings_kept(const struct info_findings *findings, enum ue_finding_id kind);

static inline struct info_finding *info_findings_at(const GPtrArray *kind, guint place) {
    return g_ptr_array_index(kind, place);
}

/* Returns all findings, the worst first, as pointers that live as long as the list; the caller unrefs the array. */
GPtrArray *info_findings_sorted(const struct info_findings *findings);

/* The worst finding; NULL: none. */
const struct info_finding *info_findings_worst(const struct info_findings *findings);

/* Compares connections by their worst findings. Negative: a's is worse. */
int info_findings_compare(const struct info_findings *a, const struct info_findings *b);

/* Keeps at most this number of each kind, the worst. */
void info_findings_limit(struct info_findings *findings, unsigned per_kind_max);

/* Findings of this kind that were not kept. */
uint64_t info_findings_more(const struct info_findings *findings, enum ue_finding_id kind);

/* Returns a text of a capture or a file name with its control characters escaped, for a terminal. Free with g_free. */
char *info_escape(const char *text);

void info_findings_clear(struct info_findings *findings);

#endif
