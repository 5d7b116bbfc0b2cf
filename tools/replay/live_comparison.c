/* SPDX-License-Identifier: MIT */
#include "tools/replay/live_comparison.h"

#include "tools/live/report.h"
#include "tools/print/phrase.h"

void live_comparison_init(struct live_comparison *comparison, const struct session_transcript *tale) {
    *comparison = (struct live_comparison){
        .tale = tale,
        .lives = g_new0(struct live_comparison_channel, tale->lives->len),
        .by_server = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
    };
    for (uint32_t i = 0; i < tale->lives->len; i++) {
        const struct session_channel *life = session_transcript_channel(tale, i);
        comparison->lives[i].is_open = life->kind == UE_KIND_CONTROL;
        if (life->by_server) {
            g_array_append_val(comparison->by_server, i);
        }
    }
}

void live_comparison_clear(struct live_comparison *comparison) {
    g_free(comparison->lives);
    g_array_unref(comparison->by_server);
}

struct live_comparison_channel *live_comparison_find_channel(const struct live_comparison *comparison, uint32_t life) {
    return &comparison->lives[life];
}

static struct live_comparison_channel *find(const struct live_comparison *c, uint32_t channel) {
    for (guint i = 0; i < c->tale->lives->len; i++) {
        if (c->lives[i].is_open && c->lives[i].channel == channel) {
            return &c->lives[i];
        }
    }
    return NULL;
}

/* The server's next channel stands for the next one that it opened in the capture, whatever their indices. */
static void take_opening(struct live_comparison *c, const struct ue_event *event) {
    if (c->opened < c->by_server->len) {
        struct live_comparison_channel *life = &c->lives[g_array_index(c->by_server, uint32_t, c->opened)];
        life->is_open = true;
        life->channel = event->channel;
    }
    c->opened++;
}

void live_comparison_event(struct live_comparison *comparison, const struct ue_event *event) {
    struct live_comparison_channel *life;
    switch (event->type) {
    case UE_EVENT_CHANNEL_OPENED: take_opening(comparison, event); break;
    case UE_EVENT_BUNCH:
        comparison->heard++;
        life = find(comparison, event->channel);
        if (life != NULL) {
            life->heard[event->reliable]++;
        }
        break;
    case UE_EVENT_CHANNEL_CLOSED:
        life = find(comparison, event->channel);
        if (life != NULL) {
            life->is_open = false;
        }
        break;
    default: break;
    }
}

void live_comparison_closed(struct live_comparison *comparison, const struct ue_login *login, enum ue_close_reason reason) {
    const char *told = login->failure[0] != '\0' ? login->failure : login->close_reason;
    comparison->is_closed = true;
    g_strlcpy(comparison->reason, told[0] != '\0' ? told : ue_close_reason_name(reason), SESSION_TRANSCRIPT_REASON_BYTES);
}

/* ---- the end ---- */

/* The login takes the messages of Control itself; they are not counted here. */
static bool is_compared(const struct session_channel *life) {
    return life->kind != UE_KIND_CONTROL;
}

static bool differs(const struct live_comparison *c, uint32_t life) {
    const struct session_channel *then = session_transcript_channel(c->tale, life);
    return is_compared(then) && then->said[1][1] != c->lives[life].heard[1];
}

bool live_comparison_is_complete(const struct live_comparison *comparison) {
    for (uint32_t i = 0; i < comparison->tale->lives->len; i++) {
        const struct session_channel *then = session_transcript_channel(comparison->tale, i);
        if (is_compared(then) && comparison->lives[i].heard[1] < then->said[1][1]) {
            return false;
        }
    }
    return comparison->opened >= comparison->by_server->len;
}

static bool closed_differently(const struct live_comparison *c) {
    return (c->tale->closed_by == 1) != c->is_closed;
}

void live_comparison_end(struct live_comparison *comparison) {
    comparison->differences = comparison->opened != comparison->by_server->len;
    comparison->differences += closed_differently(comparison);
    for (uint32_t i = 0; i < comparison->tale->lives->len; i++) {
        comparison->differences += differs(comparison, i);
    }
}

static void report_channels(const struct live_comparison *c, bool as_json) {
    for (uint32_t i = 0; i < c->tale->lives->len; i++) {
        const struct session_channel *then = session_transcript_channel(c->tale, i);
        const struct live_comparison_channel *now = &c->lives[i];
        if (is_compared(then)) {
            live_report(as_json, "channel",
                      json_pack("{s:I, s:I, s:I, s:I, s:I, s:b}", "channel", (json_int_t)then->channel,
                                "captured_reliable", (json_int_t)then->said[1][1], "live_reliable",
                                (json_int_t)now->heard[1], "captured_unreliable", (json_int_t)then->said[1][0],
                                "live_unreliable", (json_int_t)now->heard[0], "differs", differs(c, i)));
        }
    }
}

static const char *closer_then(const struct session_transcript *tale) {
    return tale->closed_by < 0 ? "nobody" : phrase_side((unsigned)tale->closed_by);
}

void live_comparison_report(const struct live_comparison *comparison, bool as_json) {
    const struct session_transcript *tale = comparison->tale;
    report_channels(comparison, as_json);
    live_report(as_json, "server",
              json_pack("{s:i, s:i, s:s, s:s, s:o, s:o, s:b}", "captured_channels", (int)comparison->by_server->len,
                        "live_channels", (int)comparison->opened, "captured_closed_by", closer_then(tale),
                        "live_closed_by", phrase_side(comparison->is_closed), "captured_reason",
                        live_report_text(tale->close_reasons[tale->closed_by == 1]), "live_reason",
                        live_report_text(comparison->is_closed ? comparison->reason : ""), "differs",
                        closed_differently(comparison)));
}
