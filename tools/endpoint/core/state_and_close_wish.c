/* SPDX-License-Identifier: MIT */
/* The state of a connection, the event of each change, and the wish to close (endpoint.md 1). Nothing here sends. */
#include "tools/endpoint/core/connection_common.h"

#include <assert.h>

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

/* endpoint.md 1.4. */
void ue_enter_state(struct ue_common *common, enum ue_conn_state state) {
    assert(transitions[common->life.state][state]);
    common->life.state = state;
    const struct ue_event event = {.type = UE_EVENT_STATE, .state = state, .reason = common->life.closed_for};
    ue_event_emit(common, &event);
}

void ue_end(struct ue_common *common, enum ue_close_reason reason) {
    if (common->life.state != UE_CONN_CLOSED) {
        common->life.closed_for = reason;
        ue_enter_state(common, UE_CONN_CLOSED);
    }
}

void ue_want_close(struct ue_common *common, enum ue_close_reason reason, enum ue_close_reason cause) {
    if (!ue_is_ending(common) && !common->life.is_leaving) {
        common->life.close_wish = (struct ue_close_wish){.is_wanted = true, .reason = reason, .cause = cause};
    }
}

void ue_want_close_for_fault(struct ue_common *common, enum ue_close_reason reason, const struct ue_fault *fault,
                             uint32_t channel) {
    ue_event_emit_fault(common, reason, fault, channel);
    ue_want_close(common, reason, UE_CLOSE_NONE);
}
