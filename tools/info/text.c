/* SPDX-License-Identifier: MIT */
#include "tools/info/text.h"

#include <inttypes.h>

#include "tools/info/text_tables.h"
#include "tools/print/phrase.h"

#define LABEL_CHARS 11

/* ---- heading ---- */

static void label(struct ue_out *out, const char *text) {
    ue_out_format(out, "  %-*s", LABEL_CHARS, text);
}

static void print_time(struct ue_out *out, int64_t time_ns) {
    GDateTime *time = g_date_time_new_from_unix_utc(time_ns / INT64_C(1000000000));
    char *text = time != NULL ? g_date_time_format(time, "%Y-%m-%d %H:%M:%S") : NULL;
    ue_out_format(out, "%s.%03" PRId64 " UTC", text != NULL ? text : "?", time_ns / 1000000 % 1000);
    g_free(text);
    g_clear_pointer(&time, g_date_time_unref);
}

static void print_heading(struct ue_out *out, const struct ue_info *info) {
    ue_out_format(out, "connection %" PRIu32 ": client %s", info->stream, info->sides[0].address);
    if (info->former[0] != '\0') {
        ue_out_format(out, " (before: %s)", info->former);
    }
    ue_out_format(out, ", server %s\n", info->sides[1].address);
    label(out, "generation");
    ue_out_format(out, "%s (%s)\n", info->generations, info->reason);
    if (info->first_path != NULL) {
        bool is_one = info->first_path == info->last_path;
        label(out, "file");
        ue_out_format(out, "%s%s%s\n", info->first_path, is_one ? "" : " to ", is_one ? "" : info->last_path);
    }
    if (info->interface != NULL) {
        label(out, "interface");
        ue_out_utf8(out, info->interface, UE_ESCAPE_PLAIN);
        ue_out_char(out, '\n');
    }
    label(out, "time");
    if (info->implausible == 0) {
        print_time(out, info->first_ns);
        ue_out_format(out, ", %.3f s", ue_seconds(info->last_ns - info->first_ns));
    } else {
        ue_out_text(out, "not known");
    }
    ue_out_format(out, ", frames %" PRIu64 " to %" PRIu64 "\n", info->first_frame, info->last_frame);
}

/* ---- the end ---- */

static void print_close(struct ue_out *out, const struct ue_info *info) {
    const char *why = ue_info_close_text(info);
    ue_out_format(out, "closed by the %s in frame %" PRIu64, ue_side_name(info->closed_by), info->closed_frame);
    if (info->implausible == 0) {
        ue_out_format(out, ", %.3f s into the connection", ue_seconds(info->closed_ns - info->first_ns));
    }
    if (why != NULL) {
        ue_out_format(out, ": %s", why);
    }
    ue_out_char(out, '\n');
}

static void print_end(struct ue_out *out, const struct ue_info *info) {
    int gone = ue_info_gone(info);
    label(out, "end");
    if (gone >= 0) {
        const struct ue_voice *voice = &info->silence.voices[gone];
        ue_out_format(out, "timeout: the %s was last heard in frame %" PRIu64 ", %.3f s into the connection%s",
                      ue_side_name((unsigned)gone), voice->last_frame, ue_seconds(voice->last_ns - info->first_ns),
                      info->is_closed ? "; " : "\n");
    }
    if (info->is_closed) {
        print_close(out, info);
    } else if (gone < 0) {
        ue_out_text(out, "nobody closed it while the capture lasted\n");
    }
}

/* ---- diagnosis ---- */

static bool is_last_of_kind(const GPtrArray *findings, guint i) {
    const struct ue_finding *finding = g_ptr_array_index(findings, i);
    for (guint j = i + 1; j < findings->len; j++) {
        if (((const struct ue_finding *)g_ptr_array_index(findings, j))->kind == finding->kind) {
            return false;
        }
    }
    return true;
}

static void print_findings(struct ue_out *out, const struct ue_info *info) {
    GPtrArray *findings = ue_findings_sorted(&info->findings);
    ue_out_text(out, findings->len != 0 ? "  diagnosis, worst first\n" : "  diagnosis  nothing found\n");
    for (guint i = 0; i < findings->len; i++) {
        const struct ue_finding *finding = g_ptr_array_index(findings, i);
        uint64_t more = is_last_of_kind(findings, i) ? ue_findings_more(&info->findings, finding->kind) : 0;
        ue_out_format(out, "    %-8s %s\n", ue_severity_name(finding->severity), finding->text);
        if (more != 0) {
            ue_out_format(out, "             and %" PRIu64 " more of %s\n", more, ue_finding_name(finding->kind));
        }
    }
    g_ptr_array_unref(findings);
}

/* ---- the story ---- */

static void print_step(struct ue_out *out, const struct ue_info *info, const struct ue_step *step) {
    if (info->implausible == 0) {
        ue_out_format(out, "    %9.3f s", ue_seconds(step->time_ns - info->first_ns));
    } else {
        ue_out_format(out, "    %11s", "?");
    }
    ue_out_format(out, "  frame %-7" PRIu64 " %s  %s%s", step->frame, ue_side_name(step->side),
                  step->epoch != 0 && step->is_handshake ? "again " : "", ue_step_name(step));
    if (step->count > 1) {
        ue_out_format(out, " (%s)", ue_times_words(step->count).text);
    }
    if (step->text[0] != '\0') {
        ue_out_format(out, ": %s", step->text);
    }
    if (step->span_ns >= 0) {
        ue_out_format(out, " [after %s]", ue_span_words(step->span_ns).text);
    }
    ue_out_char(out, '\n');
}

static void print_story(struct ue_out *out, const struct ue_info *info) {
    const GArray *steps = info->story.steps;
    if (steps == NULL) {
        ue_out_text(out, "  handshake and login are not in the capture\n");
        return;
    }
    ue_out_text(out, "  handshake and control messages\n");
    for (guint i = 0; i < steps->len; i++) {
        print_step(out, info, &g_array_index(steps, struct ue_step, i));
    }
    if (info->story.more != 0) {
        ue_out_format(out, "    and %" PRIu64 " more\n", info->story.more);
    }
}

/* ---- several connections ---- */

static const struct ue_finding *worst_of(const GPtrArray *findings) {
    return findings->len != 0 ? g_ptr_array_index(findings, 0) : NULL;
}

/* Connections by their worst finding. */
static gint by_worst(gconstpointer a, gconstpointer b) {
    const struct ue_info *infos[] = {*(struct ue_info *const *)a, *(struct ue_info *const *)b};
    int ranks[2];
    for (int i = 0; i < 2; i++) {
        GPtrArray *findings = ue_findings_sorted(&infos[i]->findings);
        const struct ue_finding *worst = worst_of(findings);
        ranks[i] = worst != NULL ? (int)worst->severity * UE_FINDING_COUNT + (int)worst->kind : INT32_MAX;
        g_ptr_array_unref(findings);
    }
    return ranks[0] != ranks[1] ? (ranks[0] < ranks[1] ? -1 : 1) : 0;
}

static void print_line(struct ue_out *out, const struct ue_info *info) {
    GPtrArray *findings = ue_findings_sorted(&info->findings);
    const struct ue_finding *worst = worst_of(findings);
    char duration[32] = "?";
    if (info->implausible == 0) {
        g_snprintf(duration, sizeof duration, "%.1f s", ue_seconds(info->last_ns - info->first_ns));
    }
    ue_out_format(out, "  %6" PRIu32 "  %-21s %11s  %-9s %s%s%s\n", info->stream, info->sides[0].address, duration,
                  ue_end_name(ue_info_end(info)), worst != NULL ? ue_severity_name(worst->severity) : "nothing found",
                  worst != NULL ? ": " : "", worst != NULL ? worst->text : "");
    g_ptr_array_unref(findings);
}

static void print_overview(struct ue_out *out, const GPtrArray *infos) {
    GPtrArray *sorted = g_ptr_array_new();
    for (guint i = 0; i < infos->len; i++) {
        g_ptr_array_add(sorted, g_ptr_array_index(infos, i));
    }
    g_ptr_array_sort(sorted, by_worst);
    ue_out_format(out, "%u connections, worst first\n", infos->len);
    ue_out_format(out, "  %6s  %-21s %11s  %-9s %s\n", "stream", "client", "duration", "closed by", "worst finding");
    for (guint i = 0; i < sorted->len; i++) {
        print_line(out, g_ptr_array_index(sorted, i));
    }
    ue_out_char(out, '\n');
    g_ptr_array_unref(sorted);
}

void ue_info_print_text(struct ue_out *out, const GPtrArray *infos) {
    if (infos->len > 1) {
        print_overview(out, infos);
    }
    for (guint i = 0; i < infos->len; i++) {
        const struct ue_info *info = g_ptr_array_index(infos, i);
        ue_out_text(out, i != 0 ? "\n" : "");
        print_heading(out, info);
        print_end(out, info);
        print_findings(out, info);
        print_story(out, info);
        ue_info_print_figures(out, info);
    }
}
