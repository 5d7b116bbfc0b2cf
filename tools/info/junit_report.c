/* SPDX-License-Identifier: MIT */
#include "tools/info/junit_report.h"

#include <inttypes.h>

#include "tools/info/budget.h"
#include "tools/print/phrase.h"

/* XML has no form for other control characters than tab and line feed. */
static void add_escaped(struct text_buffer *out, const char *text) {
    g_autofree char *shown = g_strdup(text);
    for (char *at = shown; *at != '\0'; at++) {
        *at = (unsigned char)*at < ' ' && *at != '\t' && *at != '\n' ? ' ' : *at;
    }
    g_autofree char *escaped = g_markup_escape_text(shown, -1);
    text_buffer_add(out, escaped);
}

/* ---- one kind of finding ---- */

static void write_failure(struct text_buffer *out, const struct info_finding *finding) {
    text_buffer_add_format(out, "      <failure type=\"%s\" message=\"",
                           ue_severity_name(ue_finding_rows[finding->id].severity));
    g_autofree char *sentence = info_finding_sentence(finding);
    add_escaped(out, sentence);
    text_buffer_add(out, "\"/>\n");
}

static void write_sentence(struct text_buffer *out, const struct info_finding *finding) {
    text_buffer_add_format(out, "%s: ", ue_severity_name(ue_finding_rows[finding->id].severity));
    g_autofree char *sentence = info_finding_sentence(finding);
    add_escaped(out, sentence);
    text_buffer_add_char(out, '\n');
}

/* findings NULL: none of this kind. The worst ones precede. */
static void write_case(struct text_buffer *out, const char *kind, const GPtrArray *findings) {
    text_buffer_add_format(out, "    <testcase classname=\"uerudp.info\" name=\"%s\"", kind);
    if (findings == NULL) {
        text_buffer_add(out, "/>\n");
        return;
    }
    text_buffer_add(out, ">\n");
    const struct info_finding *worst = info_findings_at(findings, 0);
    for (guint i = 0; i < findings->len && !worst->is_failure; i++) {
        worst = info_findings_at(findings, i);
    }
    if (worst->is_failure) {
        write_failure(out, worst);
    }
    text_buffer_add(out, "      <system-out>");
    for (guint i = 0; i < findings->len; i++) {
        write_sentence(out, info_findings_at(findings, i));
    }
    text_buffer_add(out, "</system-out>\n    </testcase>\n");
}

static void write_budget(struct text_buffer *out, const struct info_budget_result *result) {
    struct text_buffer text = {0};
    text_buffer_add(&text, "budget ");
    info_budget_add_name(&text, result);
    text_buffer_add_char(&text, '\0');
    text_buffer_add(out, "    <testcase classname=\"uerudp.info\" name=\"");
    add_escaped(out, text.text);
    text_buffer_free(&text);
    info_budget_add_sentence(&text, result);
    text_buffer_add_char(&text, '\0');
    text_buffer_add(out,
                    result->is_exceeded ? "\">\n      <failure type=\"budget\" message=\"" : "\">\n      <system-out>");
    add_escaped(out, text.text);
    text_buffer_add(out, result->is_exceeded ? "\"/>\n    </testcase>\n" : "</system-out>\n    </testcase>\n");
    text_buffer_free(&text);
}

/* ---- one connection ---- */

static bool is_kind(unsigned id) {
    return ue_finding_kind((enum ue_finding_id)id) == (enum ue_finding_id)id;
}

static bool has_failure(const GPtrArray *findings) {
    bool has = false;
    for (guint i = 0; findings != NULL && i < findings->len; i++) {
        has |= info_findings_at(findings, i)->is_failure;
    }
    return has;
}

/* where: the name of the capture, if there are two; else NULL. */
static void write_suite(struct text_buffer *out, const struct info_connection *info, const char *where) {
    unsigned kinds = 0, failures = 0;
    g_autoptr(GArray) budgets = info_budget_results(info);
    bool is_unjudged = info_budget_is_unjudged(info);
    for (unsigned id = 0; id < UE_FINDING_COUNT; id++) {
        kinds += is_kind(id);
        failures += has_failure(info_findings_kept(&info->findings, id));
    }
    for (guint i = 0; i < budgets->len; i++) {
        failures += g_array_index(budgets, struct info_budget_result, i).is_exceeded;
    }
    text_buffer_add_format(out, "  <testsuite name=\"connection %" PRIu32 ": client %s, server %s", info->stream,
                           info->sides[0].address, info->sides[1].address);
    if (where != NULL) {
        text_buffer_add(out, ", ");
        add_escaped(out, where);
    }
    text_buffer_add_format(
        out, "\" tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"%u\" time=\"%.3f\">\n",
        kinds + budgets->len + is_unjudged, failures, (unsigned)is_unjudged,
        info->course->implausible == 0 ? phrase_seconds(info->course->last_ns - info->course->first_ns) : 0.0);
    for (unsigned id = 0; id < UE_FINDING_COUNT; id++) {
        if (is_kind(id)) {
            write_case(out, ue_finding_rows[id].name, info_findings_kept(&info->findings, id));
        }
    }
    for (guint i = 0; i < budgets->len; i++) {
        write_budget(out, &g_array_index(budgets, struct info_budget_result, i));
    }
    if (is_unjudged) {
        text_buffer_add(out,
                        "    <testcase classname=\"uerudp.info\" name=\"budget\">\n      <skipped message=\"times of "
                        "the capture are implausible\"/>\n    </testcase>\n");
    }
    text_buffer_add(out, "  </testsuite>\n");
}

void info_write_junit(struct text_buffer *out, const GPtrArray *infos) {
    text_buffer_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"uerudp info\">\n");
    for (guint i = 0; i < infos->len; i++) {
        const struct info_connection *info = g_ptr_array_index(infos, i);
        bool are_two = info->other_end != NULL;
        write_suite(out, info, are_two ? info->ends->captures[0]->name : NULL);
        if (are_two) {
            write_suite(out, info->other_end, info->ends->captures[1]->name);
        }
    }
    text_buffer_add(out, "</testsuites>\n");
}
