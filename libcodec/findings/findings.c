/* SPDX-License-Identifier: MIT */
#include <uerudp/findings.h>

#include <string.h>

const struct ue_finding_row ue_finding_rows[UE_FINDING_COUNT] = {
#define UE_FINDING(id, name, severity, threshold, unit, field)                                                         \
    [UE_FINDING_##id] = {name, UE_SEVERITY_##severity, UE_THRESHOLD_##id, UE_THRESHOLD_IN_##unit, UE_F_##field},
#include <uerudp/findings.def>
#undef UE_FINDING
};

enum ue_finding_id ue_finding_kind(enum ue_finding_id id) {
    while (id > 0 && strcmp(ue_finding_rows[id - 1].name, ue_finding_rows[id].name) == 0) {
        id--;
    }
    return id;
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
