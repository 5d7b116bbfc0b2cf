/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/reassemble.h"

#include "plugin/first_pass/analysis_results.h"
#include "plugin/first_pass/frame_state.h"
#include "plugin/first_pass/reassembly_results.h"
#include "plugin/first_pass/sequence_analysis.h"
#include "plugin/prefs.h"

/* One datagram on its way. */
struct pass {
    struct uerudp_knowledge *knowledge;
    struct uerudp_frame_state *visit;
    const struct ue_context *context;
    enum ue_reassembly_problem problem;
    bool has_told_kind;
};

static void note_fragments(const struct pass *p, const struct ue_reassembly_event *event, enum uerudp_analysis_result_type type) {
    for (uint32_t i = 0; i < event->fragment_count; i++) {
        const struct ue_fragment *fragment = &event->fragments[i];
        struct uerudp_frame_state *visit = uerudp_sequence_analysis_find_datagram(p->visit, fragment->frame, NULL);
        const struct uerudp_analysis_result note = {
            .type = type, .item = fragment->item, .frame = p->visit->number, .number = event->problem};
        if (visit != NULL) {
            uerudp_analysis_results_add(visit, &note);
        }
    }
}

static void keep(const struct pass *p, const struct ue_reassembly_event *event) {
    bool is_whole = event->type == UE_REASSEMBLY_COMPLETE;
    enum uerudp_analysis_result_type told = is_whole ? UERUDP_RESULT_REASSEMBLED : UERUDP_RESULT_GIVEN_UP;
    uerudp_reassembly_results_add(p->visit, event);
    uerudp_analysis_results_add(p->visit, &(struct uerudp_analysis_result){.type = told, .item = event->item});
    note_fragments(p, event, is_whole ? UERUDP_RESULT_REASSEMBLED_IN : UERUDP_RESULT_GIVEN_UP_IN);
}

static void learn(struct pass *p, const struct ue_reassembly_event *event) {
    uerudp_knowledge_add_message(p->knowledge, p->context, event);
    if (!event->is_joined) {
        uerudp_analysis_results_add(p->visit,
                     &(struct uerudp_analysis_result){.type = UERUDP_RESULT_MESSAGE, .item = event->item, .number = event->content.kind});
        p->has_told_kind = true;
    }
}

static void on_chain(void *user, const struct ue_reassembly_event *event) {
    struct pass *p = user;
    if (event->type == UE_REASSEMBLY_COMPLETE) {
        learn(p, event);
    }
    bool is_given_up = event->type == UE_REASSEMBLY_ABANDONED;
    if ((event->is_joined || is_given_up) && uerudp_prefs_reassemble()) {
        keep(p, event);
        p->problem = is_given_up ? event->problem : p->problem;
    }
}

/* What kind of channel it is, where neither the bunch itself tells nor another note. */
static void note_kind(const struct ue_reassembly *assembly, struct uerudp_frame_state *visit, const struct ue_tracker_event *event) {
    const struct ue_bunch *bunch = event->bunch;
    bool is_guessed;
    if (!bunch->has_name && bunch->ch_type == 0) {
        uint32_t kind = ue_reassembly_channel_kind(assembly, bunch->channel, &is_guessed);
        uerudp_analysis_results_add(visit, &(struct uerudp_analysis_result){.type = UERUDP_RESULT_CHANNEL_KIND, .item = event->item, .number = kind});
    }
}

static struct pass pass_of(const struct uerudp_reassemble_target *to) {
    return (struct pass){.knowledge = to->knowledge, .visit = to->visit, .context = to->context};
}

enum ue_reassembly_problem uerudp_reassemble_event(const struct uerudp_reassemble_target *to, const struct ue_tracker_event *event) {
    struct pass pass = pass_of(to);
    const struct ue_reassembly_callbacks sink = {on_chain, &pass};
    ue_reassembly_feed(to->assembly, to->context, event, &sink);
    if (event->type == UE_TRACKER_BUNCH && !pass.has_told_kind) {
        note_kind(to->assembly, to->visit, event);
    }
    return pass.problem;
}

void uerudp_reassemble_end(const struct uerudp_reassemble_target *to) {
    struct pass pass = pass_of(to);
    const struct ue_reassembly_callbacks sink = {on_chain, &pass};
    ue_reassembly_end_datagram(to->assembly, &sink);
}
