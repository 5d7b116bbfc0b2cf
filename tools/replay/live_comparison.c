/* SPDX-License-Identifier: MIT */
#include "tools/replay/live_comparison.h"

#include "tools/live/report.h"
#include "tools/print/phrase.h"

void ue_comparison_init(struct ue_comparison *comparison, const struct ue_tale *tale) {
    *comparison = (struct ue_comparison){
        .tale = tale,
        .lives = g_new0(struct ue_live_life, tale->lives->len),
        .by_server = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
    };
    for (uint32_t i = 0; i < tale->lives->len; i++) {
        const struct ue_life *life = ue_tale_life(tale, i);
        comparison->lives[i].is_open = life->kind == UE_KIND_CONTROL;
        if (life->by_server) {
            g_array_append_val(comparison->by_server, i);
        }
    }
}

void ue_comparison_clear(struct ue_comparison *comparison) {
    g_free(comparison->lives);
    g_array_unref(comparison->by_server);
}

struct ue_live_life *ue_comparison_life(const struct ue_comparison *comparison, uint32_t life) {
    return &comparison->lives[life];
}

static struct ue_live_life *find(const struct ue_comparison *c, uint32_t channel) {
    for (guint i = 0; i < c->tale->lives->len; i++) {
        if (c->lives[i].is_open && c->lives[i].channel == channel) {
            return &c->lives[i];
        }
    }
    return NULL;
}

/* The server's next channel stands for the next one that it opened in the capture, whatever their indices. */
static void take_opening(struct ue_comparison *c, const struct ue_event *event) {
    if (c->opened < c->by_server->len) {
        struct ue_live_life *life = &c->lives[g_array_index(c->by_server, uint32_t, c->opened)];
        life->is_open = true;
        life->channel = event->channel;
    }
    c->opened++;
}

void ue_comparison_take(struct ue_comparison *comparison, const struct ue_event *event) {
    struct ue_live_life *life;
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

void ue_comparison_closed(struct ue_comparison *comparison, const struct ue_login *login, enum ue_close_reason reason) {
    const char *told = login->failure[0] != '\0' ? login->failure : login->close_reason;
    comparison->is_closed = true;
    g_strlcpy(comparison->reason, told[0] != '\0' ? told : ue_close_reason_name(reason), UE_TALE_REASON_BYTES);
}

/* ---- the end ---- */

/* The login takes the messages of Control itself; they are not counted here. */
static bool is_compared(const struct ue_life *life) {
    return life->kind != UE_KIND_CONTROL;
}

static bool differs(const struct ue_comparison *c, uint32_t life) {
    const struct ue_life *then = ue_tale_life(c->tale, life);
    return is_compared(then) && then->said[1][1] != c->lives[life].heard[1];
}

bool ue_comparison_is_complete(const struct ue_comparison *comparison) {
    for (uint32_t i = 0; i < comparison->tale->lives->len; i++) {
        const struct ue_life *then = ue_tale_life(comparison->tale, i);
        if (is_compared(then) && comparison->lives[i].heard[1] < then->said[1][1]) {
            return false;
        }
    }
    return comparison->opened >= comparison->by_server->len;
}

static bool closed_differently(const struct ue_comparison *c) {
    return (c->tale->closed_by == 1) != c->is_closed;
}

void ue_comparison_end(struct ue_comparison *comparison) {
    comparison->differences = comparison->opened != comparison->by_server->len;
    comparison->differences += closed_differently(comparison);
    for (uint32_t i = 0; i < comparison->tale->lives->len; i++) {
        comparison->differences += differs(comparison, i);
    }
}

static void report_channels(const struct ue_comparison *c, bool as_json) {
    for (uint32_t i = 0; i < c->tale->lives->len; i++) {
        const struct ue_life *then = ue_tale_life(c->tale, i);
        const struct ue_live_life *now = &c->lives[i];
        if (is_compared(then)) {
            ue_report(as_json, "channel",
                      json_pack("{s:I, s:I, s:I, s:I, s:I, s:b}", "channel", (json_int_t)then->channel,
                                "captured_reliable", (json_int_t)then->said[1][1], "live_reliable",
                                (json_int_t)now->heard[1], "captured_unreliable", (json_int_t)then->said[1][0],
                                "live_unreliable", (json_int_t)now->heard[0], "differs", differs(c, i)));
        }
    }
}

static const char *closer_then(const struct ue_tale *tale) {
    return tale->closed_by < 0 ? "nobody" : ue_side_name((unsigned)tale->closed_by);
}

void ue_comparison_report(const struct ue_comparison *comparison, bool as_json) {
    const struct ue_tale *tale = comparison->tale;
    report_channels(comparison, as_json);
    ue_report(as_json, "server",
              json_pack("{s:i, s:i, s:s, s:s, s:o, s:o, s:b}", "captured_channels", (int)comparison->by_server->len,
                        "live_channels", (int)comparison->opened, "captured_closed_by", closer_then(tale),
                        "live_closed_by", ue_side_name(comparison->is_closed), "captured_reason",
                        ue_report_text(tale->close_reasons[tale->closed_by == 1]), "live_reason",
                        ue_report_text(comparison->is_closed ? comparison->reason : ""), "differs",
                        closed_differently(comparison)));
}
