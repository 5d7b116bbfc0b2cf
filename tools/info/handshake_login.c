/* SPDX-License-Identifier: MIT */
#include "tools/info/handshake_login.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/info/connection_info.h"
#include "tools/print/phrase.h"
#include "tools/print/text_buffer.h"

/* ---- steps ---- */

#define STEP(login, i) (&g_array_index((login)->steps, struct info_login_step, i))

static struct info_login_step *find_again(struct info_login *login, const struct info_login_step *step) {
    for (guint i = 0; i < login->steps->len; i++) {
        struct info_login_step *at = STEP(login, i);
        if (at->is_handshake == step->is_handshake && at->type == step->type && at->side == step->side &&
            at->epoch == step->epoch) {
            return at;
        }
    }
    return NULL;
}

static void add(struct info_login *login, const struct info_login_step *step) {
    if (login->steps == NULL) {
        login->steps = g_array_new(FALSE, FALSE, sizeof(struct info_login_step));
    }
    struct info_login_step *again = find_again(login, step);
    if (again != NULL) {
        again->count++;
        again->last_ns = step->time_ns;
    } else if (login->steps->len < INFO_LOGIN_STEPS_MAX) {
        g_array_append_vals(login->steps, step, 1);
    } else {
        login->more++;
    }
}

static struct info_login_step step_of(const struct info_login *login, const struct ue_observed_event *event,
                                      bool is_handshake, uint8_t type) {
    return (struct info_login_step){.frame = event->frame,
                                    .time_ns = event->time_ns,
                                    .last_ns = event->time_ns,
                                    .side = event->side,
                                    .is_handshake = is_handshake,
                                    .type = type,
                                    .epoch = login->epoch,
                                    .count = 1,
                                    .span_ns = -1};
}

/* ---- handshake ---- */

static void describe_handshake(struct info_login *login, const struct ue_observed_event *event,
                               const struct ue_context *context) {
    const struct ue_handshake *handshake = event->handshake.decoded;
    bool is_restart = handshake->type == UE_HANDSHAKE_RESTART_REQUEST ||
                      (handshake->type == UE_HANDSHAKE_INITIAL && handshake->restart);
    if (is_restart && !login->is_restarting) {
        login->is_restarting = true;
        login->epoch++;
    }
    struct info_login_step step = step_of(login, event, true, (uint8_t)handshake->type);
    step.span_ns = event->handshake.answer_ns;
    bool has_versions = handshake->type == UE_HANDSHAKE_INITIAL || handshake->type == UE_HANDSHAKE_VERSION_UPGRADE;
    if (has_versions && context->profile.handshake == UE_HANDSHAKE_V) {
        g_snprintf(step.text, sizeof step.text,
                   "handshake version %u, accepts %u and later, network version 0x%08" PRIx32, handshake->version,
                   handshake->min_version, handshake->network_version);
    }
    add(login, &step);
}

/* ---- control messages ---- */

/* Appends to the text of a step, as far as it has room. */
static void append_text(struct info_login_step *step, const char *before, struct ue_text text) {
    if (text.units.bits == 0) {
        return;
    }
    struct text_buffer out = {0};
    text_buffer_add(&out, step->text);
    text_buffer_add(&out, before);
    text_buffer_add_engine_text(&out, text, TEXT_ESCAPE_PLAIN);
    size_t length = out.length < sizeof step->text ? out.length : sizeof step->text - 1;
    while (length < out.length && ((uint8_t)out.text[length] & 0xc0) == 0x80) {
        length--; /* not inside a UTF-8 character */
    }
    memcpy(step->text, out.text, length);
    step->text[length] = '\0';
    text_buffer_free(&out);
}

static void describe(struct info_login_step *step, const struct ue_message *message) {
    const struct ue_param *params = message->params;
    size_t size = sizeof step->text;
    switch (message->type) {
    case UE_MESSAGE_HELLO:
        g_snprintf(step->text, size, "network version 0x%08" PRIx64 "%s", params[UE_HELLO_NETWORK_VERSION].number,
                   params[UE_HELLO_ENCRYPTION_TOKEN].text.units.bits != 0 ? ", asks for encryption" : "");
        break;
    case UE_MESSAGE_WELCOME:
        append_text(step, "map ", params[UE_WELCOME_MAP].text);
        append_text(step, ", game ", params[UE_WELCOME_GAME].text);
        break;
    case UE_MESSAGE_UPGRADE:
        g_snprintf(step->text, size, "network version 0x%08" PRIx64, params[UE_UPGRADE_NETWORK_VERSION].number);
        break;
    case UE_MESSAGE_NETSPEED:
        g_snprintf(step->text, size, "%" PRId32 " bytes/s", (int32_t)params[UE_NETSPEED_RATE].number);
        break;
    case UE_MESSAGE_LOGIN: append_text(step, "platform ", params[UE_LOGIN_PLATFORM].text); break;
    case UE_MESSAGE_FAILURE: append_text(step, "", params[UE_FAILURE_TEXT].text); break;
    case UE_MESSAGE_CLOSE_REASON: append_text(step, "", params[UE_CLOSE_REASON_TEXT].text); break;
    case UE_MESSAGE_SECURITY_VIOLATION: append_text(step, "", params[UE_SECURITY_VIOLATION_TEXT].text); break;
    default: break;
    }
}

static void describe_message(struct info_login *login, const struct ue_observed_event *event,
                             const struct ue_message *message) {
    struct info_login_step step = step_of(login, event, false, message->type);
    describe(&step, message);
    if (message->type == UE_MESSAGE_NETSPEED && event->side == 0) {
        login->rate = (int32_t)message->params[UE_NETSPEED_RATE].number;
    }
    add(login, &step);
}

static void describe_messages(struct info_login *login, const struct ue_observed_event *event,
                              const struct ue_context *context) {
    struct ue_view data = event->bunch.decoded->data;
    for (size_t bit = 0; bit < data.bits;) {
        struct ue_message message;
        struct ue_fault fault;
        if (ue_message_decode(context, data, &bit, &message, &fault) != UE_OK) {
            login->undecodable_frame = login->undecodable++ == 0 ? event->frame : login->undecodable_frame;
            return;
        }
        describe_message(login, event, &message);
    }
}

void info_login_on_event(struct info_login *login, const struct ue_observed_event *event,
                         const struct ue_context *context) {
    switch (event->type) {
    case UE_OBSERVED_HANDSHAKE: describe_handshake(login, event, context); break;
    case UE_OBSERVED_RESTARTED:
        login->restarts++;
        login->is_restarting = false;
        break;
    case UE_OBSERVED_BUNCH:
        if (event->bunch.copy <= 1 && !event->bunch.is_cut && ue_bunch_has_messages(context, event->bunch.decoded)) {
            describe_messages(login, event, context);
        }
        break;
    default: break;
    }
}

const struct info_login_step *info_login_find(const struct info_login *login, bool is_handshake, uint8_t type) {
    for (guint i = 0; login->steps != NULL && i < login->steps->len; i++) {
        if (STEP(login, i)->is_handshake == is_handshake && STEP(login, i)->type == type) {
            return STEP(login, i);
        }
    }
    return NULL;
}

const char *info_login_step_name(const struct info_login_step *step) {
    const char *name =
        ue_values_name(step->is_handshake ? UE_VALUES_HANDSHAKE_TYPE : UE_VALUES_MESSAGE_TYPE, step->type);
    return name != NULL ? name : step->is_handshake ? "Challenge or Response" : "?";
}

/* ---- findings ---- */

static void report_messages(struct info_connection *info) {
    if (info->login.undecodable != 0) {
        const struct ue_finding finding =
            ue_finding_of_count(UE_FINDING_MESSAGE, 0, info->login.undecodable, info->login.undecodable_frame);
        info_findings_add(&info->findings, &finding);
    }
}

static struct ue_finding finding_at(enum ue_finding_id id, const struct info_login_step *step) {
    struct ue_finding finding = ue_finding_of_count(id, step->side, step->count, step->frame);
    ue_finding_set(&finding, UE_VALUE_TYPE, step->type);
    finding.text = step->text;
    return finding;
}

static void report_silence_of_server(struct info_connection *info, const struct info_login_step *initial) {
    bool is_repeated = initial->count >= UE_THRESHOLD_NO_ANSWER;
    struct ue_finding finding = finding_at(is_repeated ? UE_FINDING_NO_ANSWER : UE_FINDING_NO_ANSWER_YET, initial);
    ue_finding_set(&finding, UE_VALUE_SPAN, info->last_ns - initial->time_ns);
    info_findings_add(&info->findings, &finding);
}

/* A handshake after which no packet was sent. */
static void report_handshake(struct info_connection *info) {
    const struct info_login_step *initial = info_login_find(&info->login, true, UE_HANDSHAKE_INITIAL);
    const struct info_login_step *response = info_login_find(&info->login, true, UE_HANDSHAKE_RESPONSE);
    if (info->login.steps == NULL || info->sides[0].totals->packets + info->sides[1].totals->packets != 0) {
        return;
    }
    if (initial != NULL && response == NULL && info->sides[1].totals->datagrams == 0) {
        report_silence_of_server(info, initial);
        return;
    }
    const struct info_login_step *last =
        &g_array_index(info->login.steps, struct info_login_step, info->login.steps->len - 1);
    const struct ue_finding finding = finding_at(UE_FINDING_NO_PACKET, last);
    info_findings_add(&info->findings, &finding);
}

static void report_refusal(struct info_connection *info, enum ue_finding_id id, uint8_t type) {
    const struct info_login_step *step = info_login_find(&info->login, false, type);
    if (step != NULL) {
        const struct ue_finding finding = finding_at(id, step);
        info_findings_add(&info->findings, &finding);
    }
}

static void report_upgrade(struct info_connection *info) {
    const struct info_login_step *step = info_login_find(&info->login, false, UE_MESSAGE_UPGRADE);
    const struct info_login_step *hello = info_login_find(&info->login, false, UE_MESSAGE_HELLO);
    if (step != NULL) {
        struct ue_finding finding =
            finding_at(hello != NULL ? UE_FINDING_OTHER_VERSION : UE_FINDING_UNSEEN_VERSION, step);
        finding.other_text = hello != NULL ? hello->text : NULL;
        info_findings_add(&info->findings, &finding);
    }
}

static void report_versions(struct info_connection *info) {
    const struct info_login_step *step = info_login_find(&info->login, true, UE_HANDSHAKE_VERSION_UPGRADE);
    if (step != NULL) {
        const struct ue_finding finding = finding_at(UE_FINDING_VERSION, step);
        info_findings_add(&info->findings, &finding);
    }
}

static void report_retries(struct info_connection *info) {
    for (guint i = 0; info->login.steps != NULL && i < info->login.steps->len; i++) {
        const struct info_login_step *step = &g_array_index(info->login.steps, struct info_login_step, i);
        if (step->is_handshake && step->side == 0 && step->count >= UE_THRESHOLD_RETRIED &&
            info->sides[1].totals->datagrams != 0) {
            struct ue_finding finding = finding_at(UE_FINDING_RETRIED, step);
            ue_finding_set(&finding, UE_VALUE_SPAN, step->last_ns - step->time_ns);
            info_findings_add(&info->findings, &finding);
        }
    }
}

static void report_restarts(struct info_connection *info) {
    if (info->login.epoch > info->login.restarts) {
        const struct ue_finding finding = ue_finding_of_count(UE_FINDING_RESTART_OPEN, 0, info->login.epoch, 0);
        info_findings_add(&info->findings, &finding);
    }
    if (info->login.restarts != 0) {
        struct ue_finding finding = ue_finding_of_count(UE_FINDING_RESTART, 0, info->login.restarts, 0);
        finding.text = info->former[0] != '\0' ? info->former : NULL;
        info_findings_add(&info->findings, &finding);
    }
}

void info_login_report(struct info_connection *info) {
    report_messages(info);
    report_handshake(info);
    report_refusal(info, UE_FINDING_REFUSED, UE_MESSAGE_FAILURE);
    report_refusal(info, UE_FINDING_VIOLATION, UE_MESSAGE_SECURITY_VIOLATION);
    report_upgrade(info);
    report_versions(info);
    report_retries(info);
    report_restarts(info);
}

void info_login_clear(struct info_login *login) {
    g_clear_pointer(&login->steps, g_array_unref);
}
