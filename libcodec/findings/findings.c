/* SPDX-License-Identifier: MIT */
#include "libcodec/findings/findings_state.h"

#include <string.h>

const struct ue_finding_row ue_finding_rows[UE_FINDING_COUNT] = {
#define UE_FINDING(id, name, severity, threshold, unit, field, sentence)                                               \
    [UE_FINDING_##                                                                                                     \
        id] = {name, UE_SEVERITY_##severity, UE_THRESHOLD_##id, UE_THRESHOLD_IN_##unit, UE_F_##field, sentence},
#include <uerudp/findings.def>
#undef UE_FINDING
};

struct ue_finding ue_finding_of_count(enum ue_finding_id id, unsigned side, uint64_t count, uint64_t frame) {
    return (struct ue_finding){.id = id,
                               .side = side,
                               .weight = (int64_t)count,
                               .frame_count = frame != 0,
                               .frames = {frame},
                               .values = {[UE_VALUE_COUNT] = UE_EXACTLY(count)}};
}

struct ue_finding ue_finding_of_span(enum ue_finding_id id, unsigned side, int64_t span_ns, uint64_t first_frame,
                                     uint64_t last_frame) {
    return (struct ue_finding){.id = id,
                               .side = side,
                               .weight = span_ns,
                               .frame_count = 0u + (first_frame != 0) + (last_frame != 0),
                               .frames = {first_frame, last_frame},
                               .values = {[UE_VALUE_SPAN] = UE_EXACTLY(span_ns)}};
}

struct ue_finding ue_finding_of_fault(unsigned side, const struct ue_fault *fault, uint64_t frame) {
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_MALFORMED, side, 0, frame);
    ue_finding_set(&finding, UE_VALUE_FIELD, fault->field);
    ue_finding_set(&finding, UE_VALUE_BIT, (int64_t)fault->bit);
    ue_finding_set(&finding, UE_VALUE_STATUS, fault->status);
    return finding;
}

struct ue_finding ue_finding_of_bounded_span(enum ue_finding_id id, unsigned side, struct ue_finding_value span_ns,
                                             uint64_t first_frame, uint64_t last_frame) {
    struct ue_finding finding = ue_finding_of_span(id, side, span_ns.at_least, first_frame, last_frame);
    finding.values[UE_VALUE_SPAN] = span_ns;
    return finding;
}

enum ue_finding_id ue_finding_kind(enum ue_finding_id id) {
    while (id > 0 && strcmp(ue_finding_rows[id - 1].name, ue_finding_rows[id].name) == 0) {
        id--;
    }
    return id;
}

const char *ue_finding_title(enum ue_finding_id id) {
    static const struct {
        const char *name, *title;
    } kinds[] = {
#define UE_FINDING_KIND(name, title) {name, title},
#include <uerudp/findings.def>
#undef UE_FINDING_KIND
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, ue_finding_rows[id].name) == 0) {
            return kinds[i].title;
        }
    }
    return NULL;
}

const char *ue_severity_name(enum ue_severity severity) {
    static const char *const names[] = {"error", "warning", "note"};
    return names[severity];
}

/* Compares without a product of the share, which could overflow. */
bool ue_finding_is_share_reached(enum ue_finding_id id, uint64_t share, uint64_t whole) {
    uint64_t percent = ue_finding_rows[id].threshold;
    return share >= whole / 100 * percent + (whole % 100 * percent + 99) / 100;
}

uint32_t ue_findings_missing_before(const struct ue_findings *findings, const struct ue_observed_event *event) {
    uint32_t limit = findings->reliable_limit != 0 ? findings->reliable_limit : UE_RELIABLE_BUFFER_MAX;
    bool is_possible = event->bunch.is_gap && event->bunch.missing < limit;
    return is_possible && findings->gaps.after_loss[event->side].frame != 0 ? event->bunch.missing : 0;
}

/* With a clock that proved wrong, no time is known. */
void ue_findings_report(const struct ue_findings *findings, const struct ue_finding *finding) {
    struct ue_finding reported = *finding;
    reported.has_time &= findings->course.implausible == 0;
    findings->callbacks->finding(findings->callbacks->user, &reported);
}
