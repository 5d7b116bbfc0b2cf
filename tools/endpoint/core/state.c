/* SPDX-License-Identifier: MIT */
/* In which state a connection is, and the events that tell the program of it (endpoint.md 1). Nothing here acts. */
#include "tools/endpoint/core/connection.h"

#include <assert.h>

void ue_conn_begin_input(struct ue_conn *c) {
    ue_outbox_settle(&c->datagrams);
    ue_outbox_settle(&c->events);
}

bool ue_conn_is_client_restarting(const struct ue_conn *c) {
    return !ue_conn_is_server(c) && c->handshake.restarting;
}

bool ue_conn_may_send(const struct ue_conn *c) {
    if (!ue_conn_is_server(c) || ue_conn_has_internal_ack(c) || c->config.no_login) {
        return true;
    }
    const struct ue_channel_entry *entry = ue_channel_entry_find(&c->channels, 0);
    return entry != NULL && entry->in_reliable != c->channels.in_first;
}

/* Legal transitions, which only the assertion below reads. */
#ifndef NDEBUG
static const bool transitions[][UE_CONN_CLOSED + 1] = {
    [UE_CONN_INVALID] =
        {[UE_CONN_HANDSHAKE] = true, [UE_CONN_PENDING] = true, [UE_CONN_OPEN] = true, [UE_CONN_CLOSED] = true},
    [UE_CONN_HANDSHAKE] = {[UE_CONN_PENDING] = true, [UE_CONN_CLOSED] = true},
    [UE_CONN_PENDING] = {[UE_CONN_OPEN] = true, [UE_CONN_CLOSED] = true},
    [UE_CONN_OPEN] = {[UE_CONN_CLOSED] = true},
    [UE_CONN_CLOSED] = {false},
};
#endif

void ue_conn_enter(struct ue_conn *c, enum ue_conn_state state) {
    assert(transitions[c->state][state]);
    c->state = state;
    const struct ue_event event = {.type = UE_EVENT_STATE, .state = state, .reason = c->closed_for};
    ue_event_emit(c, &event);
}

void ue_conn_end(struct ue_conn *c, enum ue_close_reason reason) {
    if (c->state != UE_CONN_CLOSED) {
        c->closed_for = reason;
        ue_conn_enter(c, UE_CONN_CLOSED);
    }
}

void ue_conn_want_close(struct ue_conn *c, enum ue_close_reason reason, enum ue_close_reason cause) {
    if (!ue_conn_is_ending(c) && !c->is_leaving) {
        c->close_wish = (struct ue_close_wish){.is_wanted = true, .reason = reason, .cause = cause};
    }
}
