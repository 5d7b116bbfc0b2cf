/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/info_marks.h"

#include <uerudp/time_ns.h>
#include "plugin/fields.h"
#include "plugin/first_pass/finding_results.h"
#include "plugin/taps/tap.h"

#define DURATION_CHARS 32

G_STATIC_ASSERT(UERUDP_ANALYSIS_ACK_OF_UNSENT == 1u << (UE_F_ANALYSIS_ACK_OF_UNSENT - UE_F_ANALYSIS_LOST));

/* The number of packets that a flag stands for; 0: it has none. */
static uint32_t count_of(const struct uerudp_analysis_results *results, enum ue_field flag) {
    uint32_t count = 0;
    for (size_t i = 0; i < results->count && (flag == UE_F_ANALYSIS_LOST || flag == UE_F_ANALYSIS_NAK); i++) {
        const struct uerudp_analysis_result *result = &results->results[i];
        if (flag == UE_F_ANALYSIS_LOST && result->type == UERUDP_RESULT_MISSING) {
            count = result->number;
        } else if (flag == UE_F_ANALYSIS_NAK) {
            count += result->type == UERUDP_RESULT_NAK && !result->is_set;
        }
    }
    return count;
}

const char *uerudp_info_marks_of_flags(const struct uerudp_analysis_results *results, wmem_allocator_t *pool,
                                       const char *before_first, const char *before, const char *after) {
    uint32_t flags = uerudp_analysis_results_all_flags(results);
    wmem_strbuf_t *names = flags != 0 ? wmem_strbuf_new(pool, NULL) : NULL;
    for (enum ue_field field = UE_F_ANALYSIS_LOST; flags != 0; field++, flags >>= 1) {
        if ((flags & 1) == 0) {
            continue;
        }
        uint32_t count = count_of(results, field);
        wmem_strbuf_append(names, wmem_strbuf_get_len(names) == 0 ? before_first : before);
        wmem_strbuf_append(names, ue_field_row(field)->label);
        if (count != 0) {
            wmem_strbuf_append_printf(names, " %u", count);
        }
        wmem_strbuf_append(names, after);
    }
    return names != NULL ? wmem_strbuf_get_str(names) : "";
}

/* Whether a result has a mark of its own, besides its flag. */
static bool has_mark(const struct uerudp_analysis_result *result) {
    return result->type == UERUDP_RESULT_NACKED_IN || result->type == UERUDP_RESULT_OTHER_VIEW ||
           (result->type == UERUDP_RESULT_FINDING &&
            uerudp_finding_results_span(uerudp_finding_results_at(result->number)) >= 0);
}

static void add_mark(wmem_strbuf_t *marks, const struct uerudp_analysis_result *result) {
    if (result->type == UERUDP_RESULT_NACKED_IN) {
        wmem_strbuf_append(marks, "[Reported lost] ");
    } else if (result->type == UERUDP_RESULT_OTHER_VIEW) {
        wmem_strbuf_append_printf(marks, "[Same as frame %u] ", result->frame);
    } else {
        const struct uerudp_finding_result *finding = uerudp_finding_results_at(result->number);
        char span[DURATION_CHARS];
        ue_duration_text(finding->span_ns, span, sizeof span);
        wmem_strbuf_append_printf(marks, "[%s %s] ", ue_field_row(ue_finding_rows[finding->id].field)->label, span);
    }
}

const char *uerudp_info_marks(const struct uerudp_analysis_results *results, wmem_allocator_t *pool) {
    wmem_strbuf_t *marks = NULL;
    for (size_t i = 0; i < results->count; i++) {
        if (has_mark(&results->results[i])) {
            marks = marks != NULL ? marks : wmem_strbuf_new(pool, NULL);
            add_mark(marks, &results->results[i]);
        }
    }
    const char *flags = uerudp_info_marks_of_flags(results, pool, "[", "[", "] ");
    return marks == NULL ? flags : wmem_strdup_printf(pool, "%s%s", wmem_strbuf_get_str(marks), flags);
}
