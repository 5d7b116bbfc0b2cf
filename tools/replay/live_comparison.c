/* SPDX-License-Identifier: MIT */
#include "tools/replay/live_comparison.h"

#include "tools/live/endpoint_report.h"
#include "tools/print/phrase.h"

void live_comparison_init(struct live_comparison *comparison, const struct recorded_session *session) {
    *comparison = (struct live_comparison){
        .session = session,
        .channels = g_new0(struct live_comparison_channel, session->channels->len),
        .by_server = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
    };
    for (uint32_t i = 0; i < session->channels->len; i++) {
        const struct session_channel *slot = recorded_session_channel(session, i);
        comparison->channels[i].is_open = slot->kind == UE_KIND_CONTROL;
        if (slot->by_server) {
            g_array_append_val(comparison->by_server, i);
        }
    }
}

void live_comparison_clear(struct live_comparison *comparison) {
    g_free(comparison->channels);
    g_array_unref(comparison->by_server);
}

struct live_comparison_channel *live_comparison_find_channel(const struct live_comparison *comparison, uint32_t slot) {
    return &comparison->channels[slot];
}

static struct live_comparison_channel *find(const struct live_comparison *c, uint32_t channel) {
    for (guint i = 0; i < c->session->channels->len; i++) {
        if (c->channels[i].is_open && c->channels[i].channel == channel) {
            return &c->channels[i];
        }
    }
    return NULL;
}

/* The n-th channel that the live server opens corresponds to the n-th that it opened in the capture, whatever the
   indices. */
static void match_open(struct live_comparison *c, const struct ue_event *event) {
    if (c->opened < c->by_server->len) {
        struct live_comparison_channel *slot = &c->channels[g_array_index(c->by_server, uint32_t, c->opened)];
        slot->is_open = true;
        slot->channel = event->channel;
    }
    c->opened++;
}

void live_comparison_event(struct live_comparison *comparison, const struct ue_event *event) {
    struct live_comparison_channel *slot;
    switch (event->type) {
    case UE_EVENT_CHANNEL_OPENED: match_open(comparison, event); break;
    case UE_EVENT_BUNCH:
        comparison->received++;
        slot = find(comparison, event->channel);
        if (slot != NULL) {
            slot->received[event->reliable]++;
        }
        break;
    case UE_EVENT_CHANNEL_CLOSED:
        slot = find(comparison, event->channel);
        if (slot != NULL) {
            slot->is_open = false;
        }
        break;
    default: break;
    }
}

void live_comparison_closed(struct live_comparison *comparison, const struct ue_login_status *login,
                            enum ue_close_reason reason) {
    const char *told = login->failure[0] != '\0' ? login->failure : login->close_reason;
    comparison->is_closed = true;
    g_strlcpy(comparison->reason, told[0] != '\0' ? told : ue_close_reason_name(reason), RECORDED_SESSION_REASON_BYTES);
}

void live_comparison_left(struct live_comparison *comparison, enum ue_close_reason reason) {
    g_strlcpy(comparison->reason, ue_close_reason_name(reason), RECORDED_SESSION_REASON_BYTES);
}

/* ---- result ---- */

/* The login consumes the messages of the control channel; they are not counted here. */
static bool is_compared(const struct session_channel *slot) {
    return slot->kind != UE_KIND_CONTROL;
}

static bool differs(const struct live_comparison *c, uint32_t slot) {
    const struct session_channel *then = recorded_session_channel(c->session, slot);
    return is_compared(then) && then->sent[1][1] != c->channels[slot].received[1];
}

bool live_comparison_is_complete(const struct live_comparison *comparison) {
    for (uint32_t i = 0; i < comparison->session->channels->len; i++) {
        const struct session_channel *then = recorded_session_channel(comparison->session, i);
        if (is_compared(then) && comparison->channels[i].received[1] < then->sent[1][1]) {
            return false;
        }
    }
    return comparison->opened >= comparison->by_server->len;
}

static bool opened_differently(const struct live_comparison *c) {
    return c->opened != c->by_server->len;
}

static bool closed_differently(const struct live_comparison *c) {
    return (c->session->closed_by == 1) != c->is_closed;
}

void live_comparison_end(struct live_comparison *comparison) {
    comparison->differences = opened_differently(comparison);
    comparison->differences += closed_differently(comparison);
    for (uint32_t i = 0; i < comparison->session->channels->len; i++) {
        comparison->differences += differs(comparison, i);
    }
}

static void report_channels(const struct live_comparison *c, bool as_json) {
    for (uint32_t i = 0; i < c->session->channels->len; i++) {
        const struct session_channel *then = recorded_session_channel(c->session, i);
        const struct live_comparison_channel *now = &c->channels[i];
        if (is_compared(then)) {
            live_report(as_json, "channel",
                        json_pack("{s:I, s:I, s:I, s:I, s:I, s:b}", "channel", (json_int_t)then->channel,
                                  "captured_reliable", (json_int_t)then->sent[1][1], "live_reliable",
                                  (json_int_t)now->received[1], "captured_unreliable", (json_int_t)then->sent[1][0],
                                  "live_unreliable", (json_int_t)now->received[0], "differs", differs(c, i)));
        }
    }
}

static const char *closer_then(const struct recorded_session *session) {
    return session->closed_by < 0 ? "nobody" : phrase_side((unsigned)session->closed_by);
}

void live_comparison_report(const struct live_comparison *comparison, bool as_json) {
    const struct recorded_session *session = comparison->session;
    report_channels(comparison, as_json);
    live_report(as_json, "server",
                json_pack("{s:i, s:i, s:s, s:s, s:o, s:o, s:b}", "captured_channels", (int)comparison->by_server->len,
                          "live_channels", (int)comparison->opened, "captured_closed_by", closer_then(session),
                          "live_closed_by", phrase_side(comparison->is_closed), "captured_reason",
                          live_report_text(session->close_reasons[session->closed_by == 1]), "live_reason",
                          live_report_text(comparison->reason), "differs",
                          opened_differently(comparison) || closed_differently(comparison)));
}
