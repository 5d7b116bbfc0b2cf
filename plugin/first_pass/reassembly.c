/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/reassembly.h"

#include "plugin/first_pass/analysis_results.h"
#include "plugin/first_pass/frame_state.h"
#include "plugin/first_pass/reassembly_results.h"
#include "plugin/first_pass/sequence_analysis.h"
#include "plugin/prefs.h"

/* The datagram whose events are handled. */
struct reassembly_pass {
    struct uerudp_known_objects *objects;
    struct uerudp_frame_state *state;
    const struct ue_context *context;
    enum ue_reassembly_problem problem;
    bool has_kind;
};

static void add_to_fragments(const struct reassembly_pass *p, const struct ue_reassembly_event *event,
                             enum uerudp_analysis_result_type type) {
    for (uint32_t i = 0; i < event->fragment_count; i++) {
        const struct ue_fragment *fragment = &event->fragments[i];
        struct uerudp_frame_state *state = uerudp_sequence_analysis_find_datagram(p->state, fragment->frame, NULL);
        const struct uerudp_analysis_result result = {
            .type = type, .item = fragment->item, .frame = p->state->frame_number, .number = event->problem};
        if (state != NULL) {
            uerudp_analysis_results_add(state, &result);
        }
    }
}

static void store(const struct reassembly_pass *p, const struct ue_reassembly_event *event) {
    bool is_whole = event->type == UE_REASSEMBLY_COMPLETE;
    enum uerudp_analysis_result_type type = is_whole ? UERUDP_RESULT_REASSEMBLED : UERUDP_RESULT_GIVEN_UP;
    uerudp_reassembly_results_add(p->state, event);
    uerudp_analysis_results_add(p->state, &(struct uerudp_analysis_result){.type = type, .item = event->item});
    add_to_fragments(p, event, is_whole ? UERUDP_RESULT_REASSEMBLED_IN : UERUDP_RESULT_GIVEN_UP_IN);
}

static void add_message(struct reassembly_pass *p, const struct ue_reassembly_event *event) {
    uerudp_known_objects_add_message(p->objects, p->context, event);
    if (!event->is_joined) {
        uerudp_analysis_results_add(p->state, &(struct uerudp_analysis_result){.type = UERUDP_RESULT_MESSAGE,
                                                                               .item = event->item,
                                                                               .number = event->content.kind});
        p->has_kind = true;
    }
}

static void on_reassembly(void *user, const struct ue_reassembly_event *event) {
    struct reassembly_pass *p = user;
    if (event->type == UE_REASSEMBLY_COMPLETE) {
        add_message(p, event);
    }
    bool is_given_up = event->type == UE_REASSEMBLY_ABANDONED;
    if ((event->is_joined || is_given_up) && uerudp_prefs_reassemble()) {
        store(p, event);
        p->problem = is_given_up ? event->problem : p->problem;
    }
}

/* Adds the kind of the channel where neither the bunch nor another result names it. */
static void add_channel_kind(const struct ue_reassembly *assembly, struct uerudp_frame_state *state,
                             const struct ue_tracker_event *event) {
    const struct ue_bunch *bunch = event->bunch;
    bool is_guessed;
    if (!bunch->has_name && bunch->ch_type == 0) {
        uint32_t kind = ue_reassembly_channel_kind(assembly, bunch->channel, &is_guessed);
        uerudp_analysis_results_add(
            state,
            &(struct uerudp_analysis_result){.type = UERUDP_RESULT_CHANNEL_KIND, .item = event->item, .number = kind});
    }
}

static struct reassembly_pass pass_of(const struct uerudp_reassembly_target *to) {
    return (struct reassembly_pass){.objects = to->objects, .state = to->state, .context = to->context};
}

enum ue_reassembly_problem uerudp_reassembly_on_event(const struct uerudp_reassembly_target *to,
                                                      const struct ue_tracker_event *event) {
    struct reassembly_pass pass = pass_of(to);
    const struct ue_reassembly_callbacks sink = {on_reassembly, &pass};
    ue_reassembly_feed(to->assembly, to->context, event, &sink);
    if (event->type == UE_TRACKER_BUNCH && !pass.has_kind) {
        add_channel_kind(to->assembly, to->state, event);
    }
    return pass.problem;
}

void uerudp_reassembly_end_datagram(const struct uerudp_reassembly_target *to) {
    struct reassembly_pass pass = pass_of(to);
    const struct ue_reassembly_callbacks sink = {on_reassembly, &pass};
    ue_reassembly_end_datagram(to->assembly, &sink);
}
