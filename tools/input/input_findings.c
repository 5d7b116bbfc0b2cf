/* SPDX-License-Identifier: MIT */
#include "tools/input/input_findings.h"

/* State while the tracker reports the events of a datagram. */
struct event_handling {
    struct ue_findings *findings;
    const struct input_datagram *captured;
    void (*handle)(void *user, const struct ue_observed_event *event);
    void *user;
    const struct ue_findings_callbacks *callbacks;
};

static void handle_event(void *user, const struct ue_observed_event *event) {
    struct event_handling *handling = user;
    ue_findings_on_event(handling->findings, &handling->captured->context, event, handling->callbacks);
    handling->handle(handling->user, event);
}

bool input_findings_on_datagram(struct ue_findings *findings, const struct input_datagram *captured,
                                void (*handle)(void *user, const struct ue_observed_event *event), void *user,
                                const struct ue_findings_callbacks *callbacks) {
    struct event_handling handling = {findings, captured, handle, user, callbacks};
    const struct ue_observer_callbacks events = {.event = handle_event, .user = &handling, .wants_messages = true};
    ue_findings_on_datagram(findings, captured->observed, callbacks);
    bool is_tracked = ue_observer_track(captured->observer, captured->observed, &events);
    ue_findings_on_result(findings, captured->observed, &captured->result, callbacks);
    for (unsigned side = 0; is_tracked && side < 2; side++) {
        ue_findings_on_counts(findings, side, ue_tracker_counts(ue_observer_tracker(captured->connection), side));
    }
    return is_tracked;
}
