/* SPDX-License-Identifier: MIT */
#include "tools/info/finding_list.h"

const char *ue_finding_name(enum ue_finding_kind kind) {
    static const char *const names[] = {
#define UE_FINDING(id, name) name,
#include "tools/info/findings.def"
#undef UE_FINDING
    };
    return names[kind];
}

const char *ue_severity_name(enum ue_severity severity) {
    static const char *const names[] = {"error", "warning", "note"};
    return names[severity];
}

/* Below 0: a is worse than b. */
static int compare(const struct ue_finding *a, const struct ue_finding *b) {
    if (a->severity != b->severity) {
        return a->severity < b->severity ? -1 : 1;
    }
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->weight != b->weight) {
        return a->weight > b->weight ? -1 : 1;
    }
    return 0; /* the earlier first, as they were found */
}

static void free_text(gpointer finding) {
    g_free(((struct ue_finding *)finding)->text);
}

static GArray *kind_array(struct ue_findings *findings, enum ue_finding_kind kind) {
    if (findings->kinds[kind] == NULL) {
        findings->kinds[kind] = g_array_new(FALSE, FALSE, sizeof(struct ue_finding));
        g_array_set_clear_func(findings->kinds[kind], free_text);
    }
    return findings->kinds[kind];
}

void ue_findings_add(struct ue_findings *findings, const struct ue_finding *finding, const char *format, ...) {
    GArray *array = kind_array(findings, finding->kind);
    findings->counts[finding->kind]++;
    guint place = array->len;
    while (place > 0 && compare(finding, &g_array_index(array, struct ue_finding, place - 1)) < 0) {
        place--;
    }
    if (place >= findings->per_kind_max) {
        return;
    }
    struct ue_finding kept = *finding;
    va_list arguments;
    va_start(arguments, format);
    kept.text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_array_insert_val(array, place, kept);
    if (array->len > findings->per_kind_max) {
        g_array_set_size(array, findings->per_kind_max);
    }
}

static gint compare_pointers(gconstpointer a, gconstpointer b) {
    return compare(*(const struct ue_finding *const *)a, *(const struct ue_finding *const *)b);
}

GPtrArray *ue_findings_sorted(const struct ue_findings *findings) {
    GPtrArray *sorted = g_ptr_array_new();
    for (unsigned kind = 0; kind < UE_FINDING_COUNT; kind++) {
        for (guint i = 0; findings->kinds[kind] != NULL && i < findings->kinds[kind]->len; i++) {
            g_ptr_array_add(sorted, &g_array_index(findings->kinds[kind], struct ue_finding, i));
        }
    }
    g_ptr_array_sort(sorted, compare_pointers);
    return sorted;
}

uint64_t ue_findings_more(const struct ue_findings *findings, enum ue_finding_kind kind) {
    return findings->counts[kind] - (findings->kinds[kind] != NULL ? findings->kinds[kind]->len : 0);
}

/* The worst of a kind is its first. */
bool ue_findings_has_error(const struct ue_findings *findings) {
    for (unsigned kind = 0; kind < UE_FINDING_COUNT; kind++) {
        const GArray *array = findings->kinds[kind];
        if (array != NULL && g_array_index(array, struct ue_finding, 0).severity == UE_SEVERITY_ERROR) {
            return true;
        }
    }
    return false;
}

void ue_findings_clear(struct ue_findings *findings) {
    for (unsigned kind = 0; kind < UE_FINDING_COUNT; kind++) {
        if (findings->kinds[kind] != NULL) {
            g_array_unref(findings->kinds[kind]);
        }
    }
}
