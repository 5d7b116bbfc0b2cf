/* SPDX-License-Identifier: MIT */
#include "tools/info/finding_text.h"

#include <inttypes.h>
#include <string.h>

#include "tools/print/line_wrap.h"
#include "tools/print/phrase.h"
#include "tools/print/text_style.h"

#define SEVERITY_CHARS 8
#define FINDING_COLUMN (4 + SEVERITY_CHARS + 1) /* where its sentence begins */

void info_print_time(struct text_buffer *out, int64_t time_ns, const char *format, int decimals) {
    GDateTime *time = g_date_time_new_from_unix_utc(time_ns / INT64_C(1000000000));
    g_autofree char *text = time != NULL ? g_date_time_format(time, format) : NULL;
    int64_t ms = time_ns / 1000000 % 1000;
    text_buffer_add_format(out, "%s.%0*" PRId64 " UTC", text != NULL ? text : "?", decimals,
                           decimals == 1 ? ms / 100 : ms);
    g_clear_pointer(&time, g_date_time_unref);
}

void info_print_severity(struct text_buffer *out, enum ue_finding_id id) {
    static const enum text_style styles[] = {[UE_SEVERITY_ERROR] = TEXT_STYLE_ERROR,
                                             [UE_SEVERITY_WARNING] = TEXT_STYLE_WARNING,
                                             [UE_SEVERITY_NOTE] = TEXT_STYLE_NOTE};
    enum ue_severity severity = ue_finding_rows[id].severity;
    text_style_add(out, styles[severity], ue_severity_name(severity));
}

void info_print_moment(struct text_buffer *out, const struct info_connection *info, int64_t time_ns) {
    text_buffer_add_format(out, " [%.3f s, ", phrase_seconds(time_ns - info->course->first_ns));
    info_print_time(out, time_ns, "%H:%M:%S", 1);
    text_buffer_add_char(out, ']');
}

void info_print_finding(struct text_buffer *out, const struct info_connection *info,
                        const struct info_finding *finding) {
    const char *severity = ue_severity_name(ue_finding_rows[finding->id].severity);
    g_autofree char *sentence = info_finding_sentence(finding);
    size_t line = out->length;
    text_buffer_add(out, "    ");
    info_print_severity(out, finding->id);
    text_buffer_add_format(out, "%*s %s", SEVERITY_CHARS - (int)strlen(severity), "", sentence);
    if (finding->has_time) {
        info_print_moment(out, info, finding->time_ns);
    }
    line_wrap(out, line, FINDING_COLUMN);
    text_buffer_add_char(out, '\n');
}
