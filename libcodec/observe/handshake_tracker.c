/* SPDX-License-Identifier: MIT */
/* The handshake, and restarts of it: a connection continues, possibly with other addresses (protocol.md 5.1). */
#include <uerudp/time_ns.h>
#include "libcodec/base/fnv1a.h"
#include "libcodec/observe/tracker_state.h"

/* A client begins a restart only this long after its last handshake message (endpoint.md 5.2): messages of a restart
   sooner after the end of one are late, or duplicates. */
#define RESTART_INTERVAL_NS INT64_C(10000000000)

/* ---- answers ---- */

static bool has_handshake(const struct ue_tracker *tracker, enum ue_handshake_type type) {
    return type < UE_HANDSHAKE_TYPE_UNKNOWN && (tracker->handshakes >> type & 1) != 0;
}

/* The type of the message that a message answers; UE_HANDSHAKE_TYPE_UNKNOWN: none, or not known. */
static enum ue_handshake_type request_of(const struct ue_tracker *tracker, const struct ue_handshake *handshake) {
    switch (handshake->type) {
    case UE_HANDSHAKE_INITIAL: return handshake->restart ? UE_HANDSHAKE_RESTART_REQUEST : UE_HANDSHAKE_TYPE_UNKNOWN;
    case UE_HANDSHAKE_CHALLENGE:
    case UE_HANDSHAKE_VERSION_UPGRADE: return UE_HANDSHAKE_INITIAL;
    case UE_HANDSHAKE_RESPONSE:
    case UE_HANDSHAKE_RESTART_RESPONSE: return UE_HANDSHAKE_CHALLENGE;
    case UE_HANDSHAKE_ACK:
        return has_handshake(tracker, UE_HANDSHAKE_RESTART_RESPONSE) ? UE_HANDSHAKE_RESTART_RESPONSE
                                                                     : UE_HANDSHAKE_RESPONSE;
    case UE_HANDSHAKE_RESTART_REQUEST:
    case UE_HANDSHAKE_TYPE_UNKNOWN: break;
    }
    return UE_HANDSHAKE_TYPE_UNKNOWN;
}

static int64_t answer_ns(const struct ue_tracker_step *p) {
    const struct ue_tracker *tracker = p->tracker;
    enum ue_handshake_type request = request_of(tracker, &p->head->handshake);
    return has_handshake(tracker, request) ? ue_tracker_span_ns(tracker->handshake_ns[request], p->in->time_ns) : -1;
}

/* ---- first sequences ---- */

void ue_handshake_tracker_init_side(struct ue_tracker_side *side, uint16_t first_seq) {
    side->first_seq = first_seq;
    side->newest_id = side->first_id = side->reported_id = side->confirmed_id = side->unreported_id =
        (int64_t)first_seq - 1;
    side->shown_id = side->freed_id = side->unread_id = side->first_id;
    side->has_first = side->has_newest = side->has_reported = true;
}

/* The cookie holds the first sequences of both sides (protocol.md 5.7), except up to 4.17 and in a restart. */
static void learn_sequences(struct ue_tracker_step *p) {
    const struct ue_handshake *handshake = &p->head->handshake;
    struct ue_tracker_side *sides = p->tracker->sides;
    enum ue_direction sender = ue_handshake_sender(handshake->type);
    bool is_bare = p->in->context->profile.handshake == UE_HANDSHAKE_A0 || !handshake->has_body || handshake->restart;
    bool is_restart =
        p->tracker->restart >= UE_TRACKER_RESTART_BEGUN || p->tracker->has_restarted || p->in->context->restarting;
    if (is_bare || is_restart || sender == UE_DIRECTION_UNKNOWN || handshake->type == UE_HANDSHAKE_INITIAL ||
        sides[0].counts.packets + sides[1].counts.packets != 0) {
        return;
    }
    unsigned server = sender == UE_SERVER_TO_CLIENT ? p->in->side : !p->in->side;
    struct ue_sequences first = ue_cookie_sequences(handshake->cookie);
    ue_handshake_tracker_init_side(&sides[server], first.server);
    ue_handshake_tracker_init_side(&sides[!server], first.client);
}

/* ---- restarts ---- */

static void emit_restart(struct ue_tracker_step *p, enum ue_observed_event_type type, bool is_withdrawn) {
    ue_tracker_emit(p, &(struct ue_observed_event){.type = type, .restart.is_withdrawn = is_withdrawn});
}

static void begin_restart(struct ue_tracker_step *p, enum ue_tracker_restart progress) {
    struct ue_tracker *tracker = p->tracker;
    bool is_copy =
        tracker->has_restarted && ue_time_ns_since(p->in->time_ns, tracker->restarted_ns) < RESTART_INTERVAL_NS;
    if (progress <= tracker->restart || is_copy) {
        return;
    }
    bool is_first = tracker->restart == UE_TRACKER_NO_RESTART;
    tracker->restart = progress;
    tracker->client = ue_handshake_sender(p->head->handshake.type) == UE_SERVER_TO_CLIENT ? !p->in->side : p->in->side;
    if (is_first) {
        tracker->handshakes = 0; /* its messages answer none of an earlier handshake */
        emit_restart(p, UE_OBSERVED_RESTARTING, false);
    }
}

static void withdraw_restart(struct ue_tracker_step *p) {
    if (p->tracker->restart != UE_TRACKER_NO_RESTART) {
        p->tracker->restart = UE_TRACKER_NO_RESTART;
        emit_restart(p, UE_OBSERVED_RESTARTING, true);
    }
}

static void complete_restart(struct ue_tracker_step *p) {
    if (p->tracker->restart != UE_TRACKER_NO_RESTART) {
        p->tracker->restart = UE_TRACKER_NO_RESTART;
        p->tracker->has_restarted = true;
        p->tracker->restarted_ns = p->in->time_ns;
        emit_restart(p, UE_OBSERVED_RESTARTED, false);
    }
}

/* Only messages of a client tell a restart from another handshake. */
static void follow_handshake(struct ue_tracker_step *p) {
    const struct ue_handshake *handshake = &p->head->handshake;
    switch (handshake->type) {
    case UE_HANDSHAKE_INITIAL:
        handshake->restart ? begin_restart(p, UE_TRACKER_RESTART_BEGUN) : withdraw_restart(p);
        break;
    case UE_HANDSHAKE_RESPONSE: withdraw_restart(p); break;
    case UE_HANDSHAKE_RESTART_REQUEST: begin_restart(p, UE_TRACKER_RESTART_REQUESTED); break;
    case UE_HANDSHAKE_RESTART_RESPONSE: begin_restart(p, UE_TRACKER_RESTART_ANSWERED); break;
    default: break;
    }
}

/* A client that restarts sends no packets until it has the Ack; a server does not know the addresses of the request
   until then. */
void ue_handshake_tracker_follow(struct ue_tracker_step *p) {
    bool is_client = p->in->side == p->tracker->client;
    switch (p->tracker->restart) {
    case UE_TRACKER_NO_RESTART: break;
    case UE_TRACKER_RESTART_REQUESTED:
        if (!is_client) {
            withdraw_restart(p);
        }
        break;
    case UE_TRACKER_RESTART_BEGUN:
        if (is_client) {
            withdraw_restart(p);
        }
        break;
    case UE_TRACKER_RESTART_ANSWERED:
        if (is_client) {
            complete_restart(p);
        }
        break;
    }
}

/* ---- messages ---- */

/* Whether this message was captured before at another capture point. One that is sent again is captured again where it
   was captured first. */
static bool is_other_view(const struct ue_tracker_step *p, enum ue_handshake_type type) {
    const struct ue_handshake_view view = {ue_fnv1a_hash(p->in->bytes, p->in->size_bytes), p->in->point, p->in->frame};
    struct ue_handshake_view *latest = &p->tracker->views[p->in->side][type];
    bool is_other = latest->hash == view.hash && latest->point != view.point;
    *latest = is_other ? *latest : view;
    return is_other;
}

void ue_handshake_tracker_handle(struct ue_tracker_step *p) {
    struct ue_tracker *tracker = p->tracker;
    enum ue_handshake_type type = p->head->handshake.type;
    if (is_other_view(p, type)) {
        ue_tracker_emit(p, &(struct ue_observed_event){.type = UE_OBSERVED_OTHER_VIEW,
                                                       .other_view = {tracker->views[p->in->side][type].frame}});
        return;
    }
    tracker->sides[p->in->side].counts.handshakes++;
    follow_handshake(p);
    ue_tracker_emit(p, &(struct ue_observed_event){.type = UE_OBSERVED_HANDSHAKE,
                                                   .handshake = {&p->head->handshake, &p->head->prefix, answer_ns(p)}});
    learn_sequences(p);
    if (type == UE_HANDSHAKE_ACK) {
        complete_restart(p);
    }
    if (type < UE_HANDSHAKE_TYPE_UNKNOWN) {
        tracker->handshakes |= (uint8_t)(1u << type);
        tracker->handshake_ns[type] = p->in->time_ns;
    }
}
