/* SPDX-License-Identifier: MIT */
#include "tools/info/diagnosis_text.h"

#include <inttypes.h>

#include "tools/info/both_ends_report.h"
#include "tools/info/finding_text.h"
#include "tools/info/other_end.h"
#include "tools/info/statistics_text.h"
#include "tools/print/line_wrap.h"
#include "tools/print/phrase.h"
#include "tools/print/text_escape.h"
#include "tools/print/text_style.h"

#define LABEL_CHARS 11

/* Where the texts of lines begin. */
#define VALUE_COLUMN (2 + LABEL_CHARS)
#define STEP_COLUMN 39

/* ---- heading ---- */

static void label(struct text_buffer *out, const char *text) {
    text_buffer_add_format(out, "  %-*s", LABEL_CHARS, text);
}

static const char *what_is_reported(const struct info_connection *info) {
    return info->options->is_part ? "this part of the capture" : "the capture";
}

static void print_heading(struct text_buffer *out, const struct info_connection *info) {
    bool has_former = info->former[0] != '\0';
    text_style_add_title(out, "connection %" PRIu32 ": client %s%s%s%s, server %s", info->stream,
                         info->sides[0].address, has_former ? " (before: " : "", info->former, has_former ? ")" : "",
                         info->sides[1].address);
    if (!info->is_server_known) {
        label(out, "sides");
        text_buffer_add(out,
                        "which is the server is not known; assumed: the side with the lower port, or, if the ports are "
                        "equal, the one that sent second\n");
    }
    size_t line = out->length;
    label(out, "generation");
    text_buffer_add_format(out, "%s (%s%s)", info->generations, info->reason, info->bounds);
    line_wrap(out, line, VALUE_COLUMN);
    text_buffer_add_char(out, '\n');
    if (info->first_path != NULL) {
        bool is_one = info->first_path == info->last_path;
        label(out, "file");
        text_buffer_add_format(out, "%s%s%s\n", info->first_path, is_one ? "" : " to ", is_one ? "" : info->last_path);
    }
    if (info->interface != NULL) {
        label(out, "interface");
        text_escape_add_utf8(out, info->interface, TEXT_ESCAPE_PLAIN);
        text_buffer_add_char(out, '\n');
    }
    label(out, "time");
    if (info->course->implausible == 0) {
        info_print_time(out, info->course->first_ns, "%Y-%m-%d %H:%M:%S", 3);
        text_buffer_add_format(out, ", %.3f s", phrase_seconds(info->course->last_ns - info->course->first_ns));
    } else {
        text_buffer_add(out, "not known");
    }
    text_buffer_add_format(out, ", frames %" PRIu64 " to %" PRIu64 "\n", info->first_frame, info->last_frame);
}

static void print_replay(struct text_buffer *out, const struct info_connection *info) {
    if (info->course->is_replay) {
        size_t line = out->length;
        label(out, "replay");
        text_buffer_add(
            out, "packets with internal acks: they have no numbers, and nothing answers them, so losses and round "
                 "trips do not exist");
        line_wrap(out, line, VALUE_COLUMN);
        text_buffer_add_char(out, '\n');
    }
}

static void print_beacon(struct text_buffer *out, const struct info_connection *info) {
    struct info_beacon beacon;
    if (!info_connection_beacon(info, &beacon)) {
        return;
    }
    size_t line = out->length;
    label(out, "beacon");
    if (beacon.type[0] != '\0') {
        text_escape_add_utf8(out, beacon.type, TEXT_ESCAPE_PLAIN);
    } else {
        text_buffer_add_format(out, "type not in %s", what_is_reported(info));
    }
    if (beacon.joined != NULL) {
        text_buffer_add(out, ", joined by ");
    } else {
        text_buffer_add_format(out, ", no BeaconNetGUIDAck in %s: the last message of the join is ",
                               what_is_reported(info));
    }
    text_buffer_add_format(out, "%s in frame %" PRIu64, ue_login_step_name(beacon.last), beacon.last->frame);
    line_wrap(out, line, VALUE_COLUMN);
    text_buffer_add_char(out, '\n');
}

/* ---- the end ---- */

static void print_since(struct text_buffer *out, const struct info_connection *info, int64_t time_ns) {
    text_buffer_add_format(out, ", %.3f s into %s", phrase_seconds(time_ns - info->course->first_ns),
                           info->options->is_part ? "this part of the connection" : "the connection");
}

static void print_close(struct text_buffer *out, const struct info_connection *info) {
    const char *why = ue_findings_close_text(info->detected);
    text_buffer_add_format(out, "closed by the %s in frame %" PRIu64, phrase_side(info->course->closed_by),
                           info->course->closed_frame);
    if (info->course->implausible == 0) {
        print_since(out, info, info->course->closed_ns);
    }
    if (why != NULL) {
        text_buffer_add(out, ": ");
        text_escape_add_utf8(out, why, TEXT_ESCAPE_PLAIN);
    }
}

/* Why no close is known; packets that were not read may contain it. */
static void print_no_close(struct text_buffer *out, const struct info_connection *info) {
    uint64_t unread = 0;
    for (unsigned side = 0; side < 2; side++) {
        const struct ue_side_totals *totals = info->sides[side].totals;
        unread += totals->opaque + totals->unreadable + totals->cut + totals->malformed;
    }
    if (unread == 0) {
        text_buffer_add_format(out, "no close of it is in %s", what_is_reported(info));
    } else {
        text_buffer_add_format(out, "no close of it was read; of %s the content, or its end, is not known",
                               phrase_count(unread, "datagram").text);
    }
}

static void print_timeout(struct text_buffer *out, const struct info_connection *info, unsigned gone) {
    const struct ue_last_packet *last = ue_findings_last_packet(info->detected, gone);
    bool is_acked = last->acked_frame != 0;
    text_buffer_add_format(out, "timeout: %s%s %s in frame %" PRIu64, is_acked ? "the newest packet of the " : "the ",
                           phrase_side(gone), is_acked ? "was acknowledged" : "was last heard",
                           is_acked ? last->acked_frame : last->frame);
    print_since(out, info, is_acked ? last->acked_ns : last->time_ns);
}

static void print_end(struct text_buffer *out, const struct info_connection *info) {
    int gone = info_connection_end(info) == INFO_END_TIMEOUT ? ue_findings_gone_side(info->detected) : -1;
    size_t line = out->length;
    label(out, "end");
    if (gone >= 0) {
        print_timeout(out, info, (unsigned)gone);
        text_buffer_add(out, info->course->is_closed ? "; " : "");
    }
    if (info->course->is_closed) {
        print_close(out, info);
    } else if (gone < 0) {
        print_no_close(out, info);
    }
    line_wrap(out, line, VALUE_COLUMN);
    text_buffer_add_char(out, '\n');
}

/* ---- diagnosis ---- */

static bool is_last_of_kind(const GPtrArray *findings, guint i) {
    const struct info_finding *finding = g_ptr_array_index(findings, i);
    for (guint j = i + 1; j < findings->len; j++) {
        if (ue_finding_kind(((const struct info_finding *)g_ptr_array_index(findings, j))->id) ==
            ue_finding_kind(finding->id)) {
            return false;
        }
    }
    return true;
}

static void print_findings(struct text_buffer *out, const struct info_connection *info) {
    g_autoptr(GPtrArray) findings = info_findings_sorted(&info->findings);
    text_style_add(out, TEXT_STYLE_TITLE, "  diagnosis");
    text_buffer_add(out, findings->len != 0 ? ", worst first\n" : "  nothing found\n");
    for (guint i = 0; i < findings->len; i++) {
        const struct info_finding *finding = g_ptr_array_index(findings, i);
        uint64_t more =
            is_last_of_kind(findings, i) ? info_findings_more(&info->findings, ue_finding_kind(finding->id)) : 0;
        info_print_finding(out, info, finding);
        if (more != 0) {
            text_buffer_add_format(out, "             and %" PRIu64 " more of %s\n", more,
                                   ue_finding_rows[finding->id].name);
        }
    }
}

/* ---- handshake and login ---- */

static void print_step(struct text_buffer *out, const struct info_connection *info, const struct ue_login_step *step) {
    size_t line = out->length;
    if (info->course->implausible == 0) {
        text_buffer_add_format(out, "    %9.3f s", phrase_seconds(step->time_ns - info->course->first_ns));
    } else {
        text_buffer_add_format(out, "    %11s", "?");
    }
    text_buffer_add_format(out, "  frame %-7" PRIu64 " %s  %s%s", step->frame, phrase_side(step->side),
                           step->epoch != 0 && step->is_handshake ? "again " : "", ue_login_step_name(step));
    if (step->count > 1) {
        text_buffer_add_format(out, " (%s)", phrase_times(step->count).text);
    }
    if (step->text[0] != '\0') {
        text_buffer_add(out, ": ");
        text_escape_add_utf8(out, step->text, TEXT_ESCAPE_PLAIN);
    }
    if (step->answer_ns >= 0) {
        text_buffer_add_format(out, " [after %s]", phrase_duration(step->answer_ns).text);
    }
    line_wrap(out, line, STEP_COLUMN);
    text_buffer_add_char(out, '\n');
}

static void print_login(struct text_buffer *out, const struct info_connection *info) {
    size_t steps;
    const struct ue_login_step *login = ue_findings_login(info->detected, &steps);
    if (steps == 0 && info->course->is_replay) {
        return;
    }
    if (steps == 0) {
        bool are_cut = info->sides[0].totals->cut + info->sides[1].totals->cut != 0;
        text_buffer_add_format(out, "  handshake and login are not in %s%s\n", what_is_reported(info),
                               are_cut ? ", or beyond the cut of its snap length" : "");
        return;
    }
    text_style_add(out, TEXT_STYLE_TITLE, "  handshake and control messages");
    text_buffer_add_char(out, '\n');
    for (size_t i = 0; i < steps; i++) {
        print_step(out, info, &login[i]);
    }
    if (info->course->login_more != 0) {
        text_buffer_add_format(out, "    and %" PRIu64 " more\n", info->course->login_more);
    }
}

void info_print_connection(struct text_buffer *out, const struct info_connection *info) {
    print_heading(out, info);
    print_replay(out, info);
    print_beacon(out, info);
    print_end(out, info);
    print_findings(out, info);
    print_login(out, info);
    info_print_both_ends(out, info);
    info_other_end_print(out, info);
    info_print_tables(out, info);
}
