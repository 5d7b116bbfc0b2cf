/* SPDX-License-Identifier: MIT */
/* The handshake and login of a stream, step by step, with other messages of the control channel (protocol.md 5.1, 12),
   and how they failed. */
#include <uerudp/message.h>
#include "libcodec/findings/findings_state.h"
#include "libcodec/base/text_writer.h"

#include <uerudp/text.h>

/* ---- steps ---- */

static struct ue_login_step *step_at(const struct ue_handshake_login *login, size_t place) {
    return ue_array_at(&login->steps, place);
}

/* Returns NULL when there is no memory. */
static const char *copy_text(struct ue_findings *findings, const char *text) {
    size_t size_bytes = strlen(text) + 1;
    char *copy = size_bytes != 1 ? ue_limited_allocator_resize(&findings->memory, NULL, 0, size_bytes) : NULL;
    return size_bytes == 1 ? "" : copy != NULL ? memcpy(copy, text, size_bytes) : NULL;
}

static void free_text(struct ue_findings *findings, const char *text) {
    if (text != NULL && text[0] != '\0') {
        ue_limited_allocator_resize(&findings->memory, (char *)text, strlen(text) + 1, 0);
    }
}

void ue_handshake_login_clear(struct ue_findings *findings) {
    for (size_t i = 0; i < findings->login.steps.count; i++) {
        free_text(findings, step_at(&findings->login, i)->text);
    }
    ue_array_clear(&findings->memory, &findings->login.steps);
}

static struct ue_login_step *find_again(const struct ue_handshake_login *login, const struct ue_login_step *step) {
    for (size_t i = 0; i < login->steps.count; i++) {
        struct ue_login_step *at = step_at(login, i);
        if (at->is_handshake == step->is_handshake && at->type == step->type && at->side == step->side &&
            at->epoch == step->epoch) {
            return at;
        }
    }
    return NULL;
}

/* A client repeats a message when more than 1 s has passed (endpoint.md 3.1); the network delays them differently. */
#define RETRY_NS INT64_C(500000000)

/* Whether its sender sent the message again; else it is a copy. */
static bool is_retry(const struct ue_login_step *earlier, const struct ue_login_step *step) {
    bool is_numbered = earlier->sent_count != 0 && step->sent_count != 0;
    return ue_time_ns_since(step->time_ns, earlier->sent_ns) >= RETRY_NS &&
           !(is_numbered && earlier->sent_count == step->sent_count);
}

static void add_again(struct ue_login_step *earlier, const struct ue_login_step *step) {
    earlier->count++;
    earlier->last_frame = step->frame;
    earlier->last_ns = step->time_ns;
    if (is_retry(earlier, step)) {
        earlier->sent++;
        earlier->sent_ns = step->time_ns;
        earlier->sent_count = step->sent_count;
    }
}

static bool add_new(struct ue_findings *findings, const struct ue_login_step *step) {
    struct ue_array *steps = &findings->login.steps;
    struct ue_login_step added = *step;
    added.text = steps->count < UE_LOGIN_STEPS_MAX ? copy_text(findings, step->text) : NULL;
    bool is_added = added.text != NULL && ue_array_insert(&findings->memory, steps, steps->count, &added);
    if (!is_added) {
        free_text(findings, added.text);
    }
    return is_added;
}

static void add_step(struct ue_findings *findings, const struct ue_login_step *step) {
    struct ue_login_step *again = find_again(&findings->login, step);
    if (again != NULL) {
        add_again(again, step);
    } else if (!add_new(findings, step)) {
        findings->course.login_more++;
    }
}

static struct ue_login_step step_of(const struct ue_handshake_login *login, const struct ue_observed_event *event,
                                    bool is_handshake, uint8_t type) {
    return (struct ue_login_step){.frame = event->frame,
                                  .last_frame = event->frame,
                                  .time_ns = event->time_ns,
                                  .last_ns = event->time_ns,
                                  .sent = 1,
                                  .sent_ns = event->time_ns,
                                  .side = event->side,
                                  .is_handshake = is_handshake,
                                  .type = type,
                                  .epoch = login->epoch,
                                  .count = 1,
                                  .answer_ns = -1,
                                  .text = ""};
}

/* ---- handshake ---- */

static void describe_versions(char text[UE_LOGIN_STEP_TEXT_BYTES], const struct ue_handshake *handshake) {
    struct ue_text_writer out = {.text = text, .size_bytes = UE_LOGIN_STEP_TEXT_BYTES};
    ue_text_writer_add(&out, "handshake version ");
    ue_text_writer_add_unsigned(&out, handshake->version);
    ue_text_writer_add(&out, ", accepts ");
    ue_text_writer_add_unsigned(&out, handshake->min_version);
    ue_text_writer_add(&out, " and later, network version ");
    ue_text_writer_add_hex(&out, handshake->network_version);
    ue_text_writer_finish(&out);
}

/* A server that closed a connection also requests a restart, of packets that come late. */
static void on_restarting(struct ue_findings *findings, const struct ue_observed_event *event) {
    struct ue_handshake_login *login = &findings->login;
    login->is_restarting = !event->restart.is_withdrawn && !findings->course.is_closed;
    if (login->is_restarting) {
        login->epoch++;
        login->restart_frame = event->frame;
        login->restart_ns = event->time_ns;
    }
}

static void on_handshake(struct ue_findings *findings, const struct ue_observed_event *event,
                         const struct ue_context *context) {
    struct ue_handshake_login *login = &findings->login;
    const struct ue_handshake *handshake = event->handshake.decoded;
    struct ue_login_step step = step_of(login, event, true, (uint8_t)handshake->type);
    step.answer_ns = event->handshake.answer_ns;
    step.sent_count = handshake->sent_count;
    bool has_versions = handshake->type == UE_HANDSHAKE_INITIAL || handshake->type == UE_HANDSHAKE_VERSION_UPGRADE;
    char text[UE_LOGIN_STEP_TEXT_BYTES];
    if (has_versions && context->profile.handshake == UE_HANDSHAKE_V) {
        describe_versions(text, handshake);
        step.text = text;
    }
    add_step(findings, &step);
}

/* ---- control messages ---- */

static void add_text(struct ue_text_writer *out, const char *before, struct ue_text text) {
    char utf8[UE_LOGIN_STEP_TEXT_BYTES];
    if (text.units.bits != 0) {
        ue_text_writer_add(out, before);
        ue_text_writer_add_bytes(out, utf8, ue_text_to_utf8(text, utf8, sizeof utf8));
    }
}

/* A network id in another format (protocol.md 12) is not described. */
static void describe_guid(struct ue_text_writer *out, const struct ue_param *guid) {
    if (guid->text.units.bits == 0) {
        ue_text_writer_add(out, "network id ");
        ue_text_writer_add_unsigned(out, guid->number);
    }
}

/* Without what may be personal. */
static void describe(struct ue_text_writer *out, const struct ue_message *message) {
    const struct ue_param *params = message->params;
    switch (message->type) {
    case UE_MESSAGE_HELLO:
        ue_text_writer_add(out, "network version ");
        ue_text_writer_add_hex(out, (uint32_t)params[UE_HELLO_NETWORK_VERSION].number);
        ue_text_writer_add(out, params[UE_HELLO_ENCRYPTION_TOKEN].text.units.bits != 0 ? ", asks for encryption" : "");
        break;
    case UE_MESSAGE_WELCOME:
        add_text(out, "map ", params[UE_WELCOME_MAP].text);
        add_text(out, ", game ", params[UE_WELCOME_GAME].text);
        break;
    case UE_MESSAGE_UPGRADE:
        ue_text_writer_add(out, "network version ");
        ue_text_writer_add_hex(out, (uint32_t)params[UE_UPGRADE_NETWORK_VERSION].number);
        break;
    case UE_MESSAGE_NETSPEED:
        ue_text_writer_add_signed(out, (int32_t)params[UE_NETSPEED_RATE].number);
        ue_text_writer_add(out, " bytes/s");
        break;
    case UE_MESSAGE_LOGIN: add_text(out, "platform ", params[UE_LOGIN_PLATFORM].text); break;
    case UE_MESSAGE_BEACON_JOIN: add_text(out, "", params[UE_BEACON_JOIN_TYPE].text); break;
    case UE_MESSAGE_BEACON_ASSIGN_GUID: describe_guid(out, &params[UE_BEACON_ASSIGN_GUID_GUID]); break;
    case UE_MESSAGE_BEACON_NET_GUID_ACK: add_text(out, "", params[UE_BEACON_NET_GUID_ACK_TYPE].text); break;
    case UE_MESSAGE_FAILURE: add_text(out, "", params[UE_FAILURE_TEXT].text); break;
    case UE_MESSAGE_CLOSE_REASON: add_text(out, "", params[UE_CLOSE_REASON_TEXT].text); break;
    case UE_MESSAGE_SECURITY_VIOLATION: add_text(out, "", params[UE_SECURITY_VIOLATION_TEXT].text); break;
    default: break;
    }
}

static void on_message(struct ue_findings *findings, const struct ue_observed_event *event,
                       const struct ue_message *message) {
    struct ue_login_step step = step_of(&findings->login, event, false, message->type);
    char text[UE_LOGIN_STEP_TEXT_BYTES];
    struct ue_text_writer out = {.text = text, .size_bytes = sizeof text};
    step.text = text;
    describe(&out, message);
    ue_text_writer_finish(&out);
    if (message->type == UE_MESSAGE_NETSPEED && event->side == 0) {
        findings->course.requested_rate = (int32_t)message->params[UE_NETSPEED_RATE].number;
        ue_sender_saturation_on_request(findings, event, findings->course.requested_rate);
    }
    add_step(findings, &step);
}

static void on_messages(struct ue_findings *findings, const struct ue_observed_event *event,
                        const struct ue_context *context) {
    struct ue_handshake_login *login = &findings->login;
    struct ue_view data = event->message.content.data;
    for (size_t bit = 0; bit < data.bits;) {
        struct ue_message message;
        struct ue_fault fault;
        if (ue_message_decode(context, data, &bit, &message, &fault) != UE_OK) {
            login->undecodable_ns = login->undecodable == 0 ? event->time_ns : login->undecodable_ns;
            login->undecodable_frame = login->undecodable++ == 0 ? event->frame : login->undecodable_frame;
            return;
        }
        on_message(findings, event, &message);
    }
}

void ue_handshake_login_on_message(struct ue_findings *findings, const struct ue_observed_event *event,
                                   const struct ue_context *context) {
    const struct ue_content *content = &event->message.content;
    if (event->message.channel != 0 || content->is_custom_exports) {
        return;
    }
    if (event->message.is_joined) {
        findings->login.fragments[event->side] -= event->message.fragment_count;
    }
    if (!content->has_exports && !content->has_mapped && !context->settings.internal_ack) {
        on_messages(findings, event, context);
    }
}

void ue_handshake_login_on_bunch(struct ue_findings *findings, const struct ue_observed_event *event) {
    const struct ue_bunch *bunch = event->bunch.decoded;
    findings->login.has_channels |= bunch->channel != 0;
    if (bunch->channel == 0 && bunch->partial && event->bunch.copy <= 1) {
        findings->login.fragments[event->side]++;
    }
}

void ue_handshake_login_on_event(struct ue_findings *findings, const struct ue_observed_event *event,
                                 const struct ue_context *context) {
    switch (event->type) {
    case UE_OBSERVED_HANDSHAKE: on_handshake(findings, event, context); break;
    case UE_OBSERVED_RESTARTING: on_restarting(findings, event); break;
    case UE_OBSERVED_RESTARTED:
        findings->login.restarts++;
        findings->login.is_restarting = false;
        break;
    default: break;
    }
}

const struct ue_login_step *ue_findings_login(const struct ue_findings *findings, size_t *count) {
    *count = findings->login.steps.count;
    return *count != 0 ? step_at(&findings->login, 0) : NULL;
}

const struct ue_login_step *ue_findings_login_step(const struct ue_findings *findings, bool is_handshake,
                                                   uint8_t type) {
    for (size_t i = 0; i < findings->login.steps.count; i++) {
        const struct ue_login_step *step = step_at(&findings->login, i);
        if (step->is_handshake == is_handshake && step->type == type) {
            return step;
        }
    }
    return NULL;
}

const char *ue_login_step_name(const struct ue_login_step *step) {
    const char *name =
        ue_values_name(step->is_handshake ? UE_VALUES_HANDSHAKE_TYPE : UE_VALUES_MESSAGE_TYPE, step->type);
    return name != NULL ? name : step->is_handshake ? "Challenge or Response" : "?";
}

void ue_handshake_login_clear_spans(struct ue_handshake_login *login) {
    for (size_t i = 0; i < login->steps.count; i++) {
        step_at(login, i)->answer_ns = -1;
    }
}

/* ---- findings ---- */

static struct ue_finding finding_at(enum ue_finding_id id, const struct ue_login_step *step) {
    struct ue_finding finding = ue_finding_of_count(id, step->side, step->count, step->frame);
    ue_finding_set_time(&finding, step->time_ns);
    ue_finding_set(&finding, UE_VALUE_TYPE, step->type);
    finding.text = step->text;
    return finding;
}

static struct ue_finding finding_of_sent(enum ue_finding_id id, const struct ue_login_step *step) {
    struct ue_finding finding = finding_at(id, step);
    ue_finding_set(&finding, UE_VALUE_COUNT, (int64_t)step->sent);
    finding.weight = (int64_t)step->sent;
    return finding;
}

/* About the last of equal messages. */
static struct ue_finding finding_after(enum ue_finding_id id, const struct ue_login_step *step) {
    struct ue_finding finding = finding_at(id, step);
    ue_finding_set_time(&finding, step->last_ns);
    finding.frames[0] = step->last_frame;
    return finding;
}

static void report_messages(const struct ue_findings *findings) {
    if (findings->login.undecodable != 0) {
        struct ue_finding finding =
            ue_finding_of_count(UE_FINDING_MESSAGE, 0, findings->login.undecodable, findings->login.undecodable_frame);
        ue_finding_set_time(&finding, findings->login.undecodable_ns);
        ue_findings_report(findings, &finding);
    }
}

static void report_no_answer(const struct ue_findings *findings, const struct ue_login_step *initial) {
    bool is_repeated = initial->sent >= UE_THRESHOLD_NO_ANSWER;
    struct ue_finding finding = finding_of_sent(is_repeated ? UE_FINDING_NO_ANSWER : UE_FINDING_NO_ANSWER_YET, initial);
    ue_finding_set(&finding, UE_VALUE_SPAN, findings->course.last_ns - initial->time_ns);
    ue_findings_report(findings, &finding);
}

/* Whether the answer of this side may be in a packet that was not captured or not read, or in a message of which a
   fragment is missing. */
static bool may_be_unseen(const struct ue_findings *findings, unsigned number) {
    const struct ue_side_totals *side = &findings->totals[number];
    return findings->login.fragments[number] != 0 || side->datagrams == 0 ||
           side->cut + side->opaque + side->unreadable + side->malformed + side->not_captured != 0 ||
           side->counts.missing > side->counts.nacked;
}

/* The step with the latest message; NULL: none. */
static const struct ue_login_step *latest_step(const struct ue_handshake_login *login) {
    const struct ue_login_step *latest = NULL;
    for (size_t i = 0; i < login->steps.count; i++) {
        const struct ue_login_step *step = step_at(login, i);
        latest = latest == NULL || step->last_frame >= latest->last_frame ? step : latest;
    }
    return latest;
}

/* Until the end of the capture or the close; 0: not known. */
static struct ue_finding_value span_since(const struct ue_findings *findings, int64_t time_ns) {
    const struct ue_stream_course *course = &findings->course;
    return ue_findings_span(findings, time_ns, course->is_closed ? course->closed_ns : course->end_ns);
}

static struct ue_finding_value span_after(const struct ue_findings *findings, const struct ue_login_step *step) {
    return span_since(findings, step->last_ns);
}

static bool is_answer_overdue(const struct ue_findings *findings, const struct ue_login_step *step) {
    return !may_be_unseen(findings, !step->side) &&
           span_after(findings, step).at_least >= ue_finding_threshold_ns(UE_FINDING_LOGIN_STOPPED);
}

/* A handshake after which no packet was sent. */
static void report_handshake(const struct ue_findings *findings) {
    const struct ue_handshake_login *login = &findings->login;
    const struct ue_login_step *initial = ue_findings_login_step(findings, true, UE_HANDSHAKE_INITIAL);
    const struct ue_login_step *response = ue_findings_login_step(findings, true, UE_HANDSHAKE_RESPONSE);
    if (login->steps.count == 0 || findings->totals[0].packets + findings->totals[1].packets != 0) {
        return;
    }
    if (initial != NULL && response == NULL && findings->totals[1].datagrams == 0) {
        report_no_answer(findings, initial);
        return;
    }
    const struct ue_login_step *last = latest_step(login);
    bool is_stopped = last->type == UE_HANDSHAKE_CHALLENGE && is_answer_overdue(findings, last);
    struct ue_finding finding = finding_after(is_stopped ? UE_FINDING_HANDSHAKE_STOPPED : UE_FINDING_NO_PACKET, last);
    finding.values[UE_VALUE_SPAN] = span_after(findings, last);
    finding.text = "Response";
    ue_findings_report(findings, &finding);
}

/* What answers a message of the login at once, from the other side. Later, a client may load its map for long. */
static const char *answer_to(const struct ue_login_step *step) {
    static const struct {
        uint8_t type, side;
        const char *answer;
    } order[] = {{UE_MESSAGE_HELLO, 0, "Challenge"},
                 {UE_MESSAGE_CHALLENGE, 1, "Login"},
                 {UE_MESSAGE_LOGIN, 0, "Welcome"},
                 {UE_MESSAGE_WELCOME, 1, "Netspeed"},
                 {UE_MESSAGE_BEACON_WELCOME, 1, "BeaconJoin"},
                 {UE_MESSAGE_BEACON_JOIN, 0, "BeaconAssignGUID"},
                 {UE_MESSAGE_BEACON_ASSIGN_GUID, 1, "BeaconNetGUIDAck"}};
    for (size_t i = 0; i < sizeof order / sizeof *order && !step->is_handshake; i++) {
        if (step->type == order[i].type && step->side == order[i].side) {
            return order[i].answer;
        }
    }
    return NULL;
}

static void report_stopped(const struct ue_findings *findings) {
    const struct ue_handshake_login *login = &findings->login;
    const struct ue_stream_course *course = &findings->course;
    const struct ue_login_step *last = latest_step(login);
    const char *answer = last != NULL ? answer_to(last) : NULL;
    if (answer != NULL && login->undecodable == 0 && !login->has_channels && course->login_more == 0 &&
        is_answer_overdue(findings, last)) {
        struct ue_finding finding = finding_after(UE_FINDING_LOGIN_STOPPED, last);
        finding.values[UE_VALUE_SPAN] = span_after(findings, last);
        finding.text = answer;
        ue_findings_report(findings, &finding);
    }
}

static void report_step(const struct ue_findings *findings, enum ue_finding_id id, bool is_handshake, uint8_t type) {
    const struct ue_login_step *step = ue_findings_login_step(findings, is_handshake, type);
    if (step != NULL) {
        const struct ue_finding finding = finding_at(id, step);
        ue_findings_report(findings, &finding);
    }
}

static void report_upgrade(const struct ue_findings *findings) {
    const struct ue_login_step *step = ue_findings_login_step(findings, false, UE_MESSAGE_UPGRADE);
    const struct ue_login_step *hello = ue_findings_login_step(findings, false, UE_MESSAGE_HELLO);
    if (step != NULL) {
        struct ue_finding finding =
            finding_at(hello != NULL ? UE_FINDING_OTHER_VERSION : UE_FINDING_UNSEEN_VERSION, step);
        finding.other_text = hello != NULL ? hello->text : NULL;
        ue_findings_report(findings, &finding);
    }
}

static void report_retries(const struct ue_findings *findings) {
    for (size_t i = 0; i < findings->login.steps.count; i++) {
        const struct ue_login_step *step = step_at(&findings->login, i);
        if (step->is_handshake && step->side == 0 && step->sent >= UE_THRESHOLD_RETRIED &&
            findings->totals[1].datagrams != 0) {
            struct ue_finding finding = finding_of_sent(UE_FINDING_RETRIED, step);
            ue_finding_set(&finding, UE_VALUE_SPAN, ue_time_ns_since(step->sent_ns, step->time_ns));
            ue_findings_report(findings, &finding);
        }
    }
}

static void report_restarts(const struct ue_findings *findings) {
    const struct ue_handshake_login *login = &findings->login;
    if (login->is_restarting) {
        struct ue_finding finding = ue_finding_of_count(UE_FINDING_RESTART_OPEN, 0, 1, login->restart_frame);
        ue_finding_set_time(&finding, login->restart_ns);
        finding.values[UE_VALUE_SPAN] = span_since(findings, login->restart_ns);
        ue_findings_report(findings, &finding);
    }
    if (login->restarts != 0) {
        const struct ue_finding finding = ue_finding_of_count(UE_FINDING_RESTART, 0, login->restarts, 0);
        ue_findings_report(findings, &finding);
    }
}

bool ue_handshake_login_is_refused(const struct ue_findings *findings) {
    static const uint8_t types[] = {UE_MESSAGE_FAILURE, UE_MESSAGE_SECURITY_VIOLATION, UE_MESSAGE_UPGRADE};
    bool is_refused = false;
    for (size_t i = 0; i < sizeof types; i++) {
        is_refused |= ue_findings_login_step(findings, false, types[i]) != NULL;
    }
    return is_refused;
}

void ue_handshake_login_finish(const struct ue_findings *findings) {
    report_messages(findings);
    report_handshake(findings);
    report_stopped(findings);
    report_step(findings, UE_FINDING_REFUSED, false, UE_MESSAGE_FAILURE);
    report_step(findings, UE_FINDING_VIOLATION, false, UE_MESSAGE_SECURITY_VIOLATION);
    report_upgrade(findings);
    report_step(findings, UE_FINDING_VERSION, true, UE_HANDSHAKE_VERSION_UPGRADE);
    report_retries(findings);
    report_restarts(findings);
}
