/* SPDX-License-Identifier: MIT */
#include "tools/info/connection_end.h"

#include <string.h>

#include <uerudp/close_reason.h>
#include "tools/info/connection_info.h"

int info_connection_gone_side(const struct info_connection *info) {
    const struct info_login_step *step = info_login_find(&info->login, false, UE_MESSAGE_CLOSE_REASON);
    if (step != NULL && strstr(step->text, ue_close_reason_name(UE_CLOSE_CONNECTION_TIMEOUT)) != NULL) {
        return !step->side;
    }
    for (unsigned side = 0; side < 2; side++) {
        bool was_closed_before = info->is_closed && info->closed_by == side;
        if (!was_closed_before &&
            ue_findings_silence_ns(info->detected, side) >= ue_finding_threshold_ns(UE_FINDING_TIMEOUT)) {
            return (int)side;
        }
    }
    return -1;
}

const char *info_end_name(enum info_end end) {
    static const char *const names[] = {"none", "client", "server", "timeout"};
    return names[end];
}

enum info_end info_connection_end(const struct info_connection *info) {
    if (info_connection_gone_side(info) >= 0) {
        return INFO_END_TIMEOUT;
    }
    if (info->is_closed) {
        return info->closed_by == 0 ? INFO_END_CLIENT : INFO_END_SERVER;
    }
    return INFO_END_NONE;
}

const char *info_connection_close_text(const struct info_connection *info) {
    static const uint8_t types[] = {UE_MESSAGE_CLOSE_REASON, UE_MESSAGE_FAILURE};
    for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
        const struct info_login_step *step = info_login_find(&info->login, false, types[i]);
        if (step != NULL && step->text[0] != '\0') {
            return step->text;
        }
    }
    return NULL;
}

/* ---- findings ---- */

static bool is_usual(const char *reasons) {
    static const enum ue_close_reason usual[] = {UE_CLOSE_NONE, UE_CLOSE_CONTROL_CHANNEL_CLOSE, UE_CLOSE_CLEANUP,
                                                 UE_CLOSE_DISCONNECT, UE_CLOSE_HOST_CLOSED};
    char **names = g_strsplit(reasons, ",", -1);
    bool all = true;
    for (size_t i = 0; all && names[i] != NULL; i++) {
        enum ue_close_reason reason = ue_close_reason_find(names[i], strlen(names[i]));
        bool is_listed = false;
        for (size_t j = 0; j < G_N_ELEMENTS(usual); j++) {
            is_listed |= reason == usual[j] && (reason != UE_CLOSE_NONE || names[i][0] == '\0');
        }
        all = is_listed;
    }
    g_strfreev(names);
    return all;
}

/* A refusal or a timeout already reports the end. */
static void report_close(struct info_connection *info) {
    const struct info_login_step *step = info_login_find(&info->login, false, UE_MESSAGE_CLOSE_REASON);
    bool is_reported = info->findings.counts[UE_FINDING_REFUSED] != 0 || info_connection_gone_side(info) >= 0;
    if (step == NULL || is_reported || is_usual(step->text)) {
        return;
    }
    struct ue_finding finding = ue_finding_of_count(UE_FINDING_CLOSED, step->side, 0, step->frame);
    finding.text = step->text;
    info_findings_add(&info->findings, &finding);
}

static void report_timeout(struct info_connection *info) {
    int gone = info_connection_gone_side(info);
    if (gone < 0) {
        return;
    }
    const struct ue_last_packet *last = ue_findings_last_packet(info->detected, (unsigned)gone);
    struct ue_finding finding = ue_finding_of_span(
        UE_FINDING_TIMEOUT, (unsigned)gone, ue_findings_silence_ns(info->detected, (unsigned)gone), last->frame, 0);
    ue_finding_set(&finding, UE_VALUE_COUNT, (int64_t)last->peer_packets);
    ue_finding_set(&finding, UE_VALUE_SINCE, last->time_ns - info->first_ns);
    ue_finding_set(&finding, UE_VALUE_OTHERS, info->is_closed);
    info_findings_add(&info->findings, &finding);
}

void info_connection_end_report(struct info_connection *info) {
    report_close(info);
    report_timeout(info);
}
