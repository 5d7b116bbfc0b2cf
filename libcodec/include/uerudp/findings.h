/* SPDX-License-Identifier: MIT */
/* What is wrong with a connection, and how bad it is: one table of findings with thresholds, for the program and the
   plugin. How a finding is shown is their own. */
#ifndef UERUDP_FINDINGS_H
#define UERUDP_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include <uerudp/field.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ue_finding_id {
#define UE_FINDING(id, name, severity, threshold, unit, field) UE_FINDING_##id,
#include <uerudp/findings.def>
#undef UE_FINDING
    UE_FINDING_COUNT
};

/* For example UE_THRESHOLD_BUFFER_HIGH, in the unit of its row. */
enum ue_finding_threshold {
#define UE_FINDING(id, name, severity, threshold, unit, field) UE_THRESHOLD_##id = (threshold),
#include <uerudp/findings.def>
#undef UE_FINDING
};

/* An error ended or prevented the connection or violates the protocol; a warning is something that players notice, or
   makes other findings doubtful; a note is worth knowing. */
enum ue_severity { UE_SEVERITY_ERROR, UE_SEVERITY_WARNING, UE_SEVERITY_NOTE };

enum ue_threshold_unit { UE_THRESHOLD_IN_NONE, UE_THRESHOLD_IN_TIMES, UE_THRESHOLD_IN_PERCENT, UE_THRESHOLD_IN_MS };

/* A row of the table; all texts are static. */
struct ue_finding_row {
    const char *name; /* of the kind, as in JSON */
    enum ue_severity severity;
    enum ue_finding_threshold threshold;
    enum ue_threshold_unit unit;
    enum ue_field field; /* UE_F_NONE: no field selects the packets */
};

/* Indexed by enum ue_finding_id. */
extern const struct ue_finding_row ue_finding_rows[UE_FINDING_COUNT];

/* The first row of a finding's kind. */
enum ue_finding_id ue_finding_kind(enum ue_finding_id id);

/* "error", "warning", "note" */
const char *ue_severity_name(enum ue_severity severity);

/* The threshold of a finding whose unit is MS. */
static inline int64_t ue_finding_threshold_ns(enum ue_finding_id id) {
    return ue_finding_rows[id].threshold * INT64_C(1000000);
}

/* Whether a share of a whole reaches the threshold of a finding whose unit is PERCENT. */
bool ue_finding_is_share_reached(enum ue_finding_id id, uint64_t share, uint64_t whole);

#ifdef __cplusplus
}
#endif

#endif
