/* SPDX-License-Identifier: MIT */
#include "tools/info/finding_list.h"

#include "tools/print/text_buffer.h"

/* Negative: a is worse than b. */
static int compare(const struct ue_finding *a, const struct ue_finding *b) {
    enum ue_severity severities[] = {ue_finding_rows[a->id].severity, ue_finding_rows[b->id].severity};
    enum ue_finding_id kinds[] = {ue_finding_kind(a->id), ue_finding_kind(b->id)};
    if (severities[0] != severities[1]) {
        return severities[0] < severities[1] ? -1 : 1;
    }
    if (kinds[0] != kinds[1]) {
        return kinds[0] < kinds[1] ? -1 : 1;
    }
    if (a->weight != b->weight) {
        return a->weight > b->weight ? -1 : 1;
    }
    return 0; /* equal findings keep their order */
}

static void free_finding(gpointer finding) {
    g_free(((struct info_finding *)finding)->text);
    g_free(finding);
}

static GPtrArray *kind_array(struct info_findings *findings, enum ue_finding_id kind) {
    if (findings->kinds[kind] == NULL) {
        findings->kinds[kind] = g_ptr_array_new_with_free_func(free_finding);
    }
    return findings->kinds[kind];
}

char *info_escape(const char *text) {
    struct text_buffer shown = {0};
    text_buffer_add_utf8(&shown, text, TEXT_ESCAPE_PLAIN);
    text_buffer_add_char(&shown, '\0');
    char *copy = g_strdup(shown.text);
    text_buffer_free(&shown);
    return copy;
}

static char *sentence(const struct ue_finding *finding) {
    char text[UE_FINDING_TEXT_BYTES];
    ue_finding_text(finding, text, sizeof text);
    return info_escape(text);
}

void info_findings_add(void *user, const struct ue_finding *finding) {
    struct info_findings *findings = user;
    enum ue_finding_id kind = ue_finding_kind(finding->id);
    GPtrArray *array = kind_array(findings, kind);
    bool is_failure = info_fail_rules_match(findings->rules, finding);
    findings->counts[kind]++;
    findings->failures += is_failure;
    guint place = array->len;
    while (place > 0 && compare(finding, &info_findings_at(array, place - 1)->detected) < 0) {
        place--;
    }
    if (place >= findings->per_kind_max) {
        return;
    }
    if (array->len == findings->per_kind_max) {
        g_ptr_array_set_size(array, (gint)findings->per_kind_max - 1);
    }
    struct info_finding *kept = g_new(struct info_finding, 1);
    *kept = (struct info_finding){.detected = *finding, .text = sentence(finding), .is_failure = is_failure};
    kept->detected.text = kept->detected.other_text = NULL;
    g_ptr_array_insert(array, (gint)place, kept);
}

static gint compare_pointers(gconstpointer a, gconstpointer b) {
    const struct info_finding *const *one = a, *const *two = b;
    return compare(&(*one)->detected, &(*two)->detected);
}

GPtrArray *info_findings_sorted(const struct info_findings *findings) {
    GPtrArray *sorted = g_ptr_array_new();
    for (unsigned kind = 0; kind < UE_FINDING_COUNT; kind++) {
        for (guint i = 0; findings->kinds[kind] != NULL && i < findings->kinds[kind]->len; i++) {
            g_ptr_array_add(sorted, info_findings_at(findings->kinds[kind], i));
        }
    }
    g_ptr_array_sort(sorted, compare_pointers);
    return sorted;
}

void info_findings_limit(struct info_findings *findings, unsigned per_kind_max) {
    findings->per_kind_max = per_kind_max;
    for (unsigned kind = 0; kind < UE_FINDING_COUNT; kind++) {
        GPtrArray *array = findings->kinds[kind];
        if (array != NULL && array->len > per_kind_max) {
            g_ptr_array_set_size(array, (gint)per_kind_max);
        }
    }
}

uint64_t info_findings_more(const struct info_findings *findings, enum ue_finding_id kind) {
    return findings->counts[kind] - (findings->kinds[kind] != NULL ? findings->kinds[kind]->len : 0);
}

void info_findings_clear(struct info_findings *findings) {
    for (unsigned kind = 0; kind < UE_FINDING_COUNT; kind++) {
        g_clear_pointer(&findings->kinds[kind], g_ptr_array_unref);
    }
}
