/* SPDX-License-Identifier: MIT */
#include "tools/info/finding_list.h"

#include <string.h>

#include "tools/print/text_buffer.h"
#include "tools/print/text_escape.h"

/* Negative: a finding of this id and weight is worse than b. */
static int compare(enum ue_finding_id id, int64_t weight, const struct info_finding *b) {
    enum ue_severity severities[] = {ue_finding_rows[id].severity, ue_finding_rows[b->id].severity};
    enum ue_finding_id kinds[] = {ue_finding_kind(id), ue_finding_kind(b->id)};
    if (severities[0] != severities[1]) {
        return severities[0] < severities[1] ? -1 : 1;
    }
    if (kinds[0] != kinds[1]) {
        return kinds[0] < kinds[1] ? -1 : 1;
    }
    if (weight != b->weight) {
        return weight > b->weight ? -1 : 1;
    }
    return 0; /* equal findings keep their order */
}

/* ---- one finding ---- */

static struct info_finding *new_finding(const struct ue_finding *finding) {
    int64_t numbers[UE_FINDING_FRAMES_MAX + 2 * UE_VALUE_ID_COUNT];
    size_t count = 0;
    uint32_t value_ids = 0, bounded = 0;
    for (; count < finding->frame_count; count++) {
        numbers[count] = (int64_t)finding->frames[count];
    }
    for (unsigned id = 0; id < UE_VALUE_ID_COUNT; id++) {
        const struct ue_finding_value *value = &finding->values[id];
        if (value->at_least != 0 || value->at_most != 0) {
            value_ids |= 1u << id;
            numbers[count++] = value->at_least;
        }
        if (value->at_least != value->at_most) {
            bounded |= 1u << id;
            numbers[count++] = value->at_most;
        }
    }
    struct info_finding *kept = g_malloc(sizeof *kept + count * sizeof numbers[0]);
    *kept = (struct info_finding){.id = finding->id,
                                  .side = finding->side,
                                  .has_time = finding->has_time,
                                  .time_ns = finding->time_ns,
                                  .weight = finding->weight,
                                  .text = g_strdup(finding->text),
                                  .other_text = g_strdup(finding->other_text),
                                  .frame_count = finding->frame_count,
                                  .value_ids = value_ids,
                                  .bounded = bounded};
    memcpy(kept->numbers, numbers, count * sizeof numbers[0]);
    return kept;
}

static void free_finding(gpointer user) {
    struct info_finding *finding = user;
    g_free(finding->text);
    g_free(finding->other_text);
    g_free(finding);
}

struct ue_finding info_finding_detected(const struct info_finding *kept) {
    struct ue_finding finding = {.id = kept->id,
                                 .side = kept->side,
                                 .weight = kept->weight,
                                 .has_time = kept->has_time,
                                 .time_ns = kept->time_ns,
                                 .frame_count = kept->frame_count,
                                 .text = kept->text,
                                 .other_text = kept->other_text};
    const int64_t *number = kept->numbers;
    for (unsigned i = 0; i < kept->frame_count; i++) {
        finding.frames[i] = (uint64_t)*number++;
    }
    for (unsigned id = 0; id < UE_VALUE_ID_COUNT; id++) {
        if ((kept->value_ids >> id & 1) != 0) {
            bool is_bounded = (kept->bounded >> id & 1) != 0;
            finding.values[id] = (struct ue_finding_value){number[0], number[is_bounded]};
            number += 1 + is_bounded;
        }
    }
    return finding;
}

char *info_escape(const char *text) {
    struct text_buffer shown = {0};
    text_escape_add_utf8(&shown, text, TEXT_ESCAPE_PLAIN);
    text_buffer_add_char(&shown, '\0');
    char *copy = g_strdup(shown.text);
    text_buffer_free(&shown);
    return copy;
}

char *info_detected_sentence(const struct ue_finding *detected) {
    char text[UE_FINDING_TEXT_BYTES];
    ue_finding_text(detected, text, sizeof text);
    return info_escape(text);
}

char *info_finding_sentence(const struct info_finding *kept) {
    const struct ue_finding detected = info_finding_detected(kept);
    return info_detected_sentence(&detected);
}

/* ---- the findings of a connection ---- */

_Static_assert(UE_FINDING_COUNT < UINT8_MAX, "the number of a kind fits a place");

static struct info_finding_kind *find_kind(const struct info_findings *findings, enum ue_finding_id kind) {
    guint place = findings->places[kind];
    return place != 0 ? &g_array_index(findings->kinds, struct info_finding_kind, place - 1) : NULL;
}

/* The pointer is valid until a kind is added. */
static struct info_finding_kind *ensure_kind(struct info_findings *findings, enum ue_finding_id kind) {
    if (findings->places[kind] == 0) {
        struct info_finding_kind added = {.kept = g_ptr_array_new_with_free_func(free_finding)};
        if (findings->kinds == NULL) {
            findings->kinds = g_array_new(FALSE, FALSE, sizeof added);
        }
        g_array_append_val(findings->kinds, added);
        findings->places[kind] = (uint8_t)findings->kinds->len;
    }
    return find_kind(findings, kind);
}

uint64_t info_findings_count(const struct info_findings *findings, enum ue_finding_id kind) {
    const struct info_finding_kind *found = find_kind(findings, kind);
    return found != NULL ? found->count : 0;
}

GPtrArray *info_findings_kept(const struct info_findings *findings, enum ue_finding_id kind) {
    const struct info_finding_kind *found = find_kind(findings, kind);
    return found != NULL ? found->kept : NULL;
}

void info_findings_add(void *user, const struct ue_finding *finding) {
    struct info_findings *findings = user;
    enum ue_finding_id kind = ue_finding_kind(finding->id);
    struct info_finding_kind *found = ensure_kind(findings, kind);
    GPtrArray *array = found->kept;
    bool is_failure = info_fail_rules_match(findings->rules, finding);
    found->count++;
    findings->failures += is_failure;
    guint place = array->len;
    while (place > 0 && compare(finding->id, finding->weight, info_findings_at(array, place - 1)) < 0) {
        place--;
    }
    if (place >= findings->per_kind_max) {
        return;
    }
    if (array->len == findings->per_kind_max) {
        g_ptr_array_set_size(array, (gint)findings->per_kind_max - 1);
    }
    struct info_finding *kept = new_finding(finding);
    kept->is_failure = is_failure;
    g_ptr_array_insert(array, (gint)place, kept);
}

void info_findings_remove(struct info_findings *findings, enum ue_finding_id kind, guint place) {
    struct info_finding_kind *found = find_kind(findings, kind);
    findings->failures -= info_findings_at(found->kept, place)->is_failure;
    found->count--;
    g_ptr_array_remove_index(found->kept, place);
}

static gint compare_pointers(gconstpointer a, gconstpointer b) {
    const struct info_finding *const *one = a, *const *two = b;
    return compare((*one)->id, (*one)->weight, *two);
}

GPtrArray *info_findings_sorted(const struct info_findings *findings) {
    GPtrArray *sorted = g_ptr_array_new();
    for (unsigned kind = 0; kind < UE_FINDING_COUNT; kind++) {
        const GPtrArray *array = info_findings_kept(findings, kind);
        for (guint i = 0; array != NULL && i < array->len; i++) {
            g_ptr_array_add(sorted, info_findings_at(array, i));
        }
    }
    g_ptr_array_sort(sorted, compare_pointers);
    return sorted;
}

void info_findings_limit(struct info_findings *findings, unsigned per_kind_max) {
    findings->per_kind_max = per_kind_max;
    for (unsigned kind = 0; kind < UE_FINDING_COUNT; kind++) {
        GPtrArray *array = info_findings_kept(findings, kind);
        if (array != NULL && array->len > per_kind_max) {
            g_ptr_array_set_size(array, (gint)per_kind_max);
        }
    }
}

const struct info_finding *info_findings_worst(const struct info_findings *findings) {
    const struct info_finding *worst = NULL;
    for (unsigned kind = 0; kind < UE_FINDING_COUNT; kind++) {
        const GPtrArray *array = info_findings_kept(findings, kind);
        const struct info_finding *first = array != NULL && array->len != 0 ? info_findings_at(array, 0) : NULL;
        if (first != NULL && (worst == NULL || compare(first->id, first->weight, worst) < 0)) {
            worst = first;
        }
    }
    return worst;
}

int info_findings_compare(const struct info_findings *a, const struct info_findings *b) {
    const struct info_finding *one = info_findings_worst(a), *two = info_findings_worst(b);
    if (one == NULL || two == NULL) {
        return (one == NULL) - (two == NULL);
    }
    return compare(one->id, one->weight, two);
}

uint64_t info_findings_more(const struct info_findings *findings, enum ue_finding_id kind) {
    const struct info_finding_kind *found = find_kind(findings, kind);
    return found != NULL ? found->count - found->kept->len : 0;
}

void info_findings_clear(struct info_findings *findings) {
    for (guint i = 0; findings->kinds != NULL && i < findings->kinds->len; i++) {
        g_ptr_array_unref(g_array_index(findings->kinds, struct info_finding_kind, i).kept);
    }
    g_clear_pointer(&findings->kinds, g_array_unref);
    memset(findings->places, 0, sizeof findings->places);
}
