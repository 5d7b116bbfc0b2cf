/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/first_pass/reassemble.h"

#include "plugin/first_pass/analysis_results.h"
#include "plugin/first_pass/frame_state.h"
#include "plugin/first_pass/reassembly_results.h"
#include "plugin/first_pass/sequence_analysis.h"
#include "plugin/prefs.h"

/* One datagram on its way. */
struct pass {
    struct ue_knowledge *knowledge;
    struct ue_visit *visit;
    const struct ue_context *context;
    enum ue_assembly_problem problem;
    bool has_told_kind;
};

static void note_fragments(const struct pass *p, const struct ue_assembly_event *event, enum ue_note_type type) {
    for (uint32_t i = 0; i < event->fragment_count; i++) {
        const struct ue_fragment *fragment = &event->fragments[i];
        struct ue_visit *visit = ue_findings_other(p->visit, fragment->frame, NULL);
        const struct ue_note note = {
            .type = type, .item = fragment->item, .frame = p->visit->number, .number = event->problem};
        if (visit != NULL) {
            ue_notes_add(visit, &note);
        }
    }
}

static void keep(const struct pass *p, const struct ue_assembly_event *event) {
    bool is_whole = event->type == UE_ASSEMBLY_WHOLE;
    enum ue_note_type told = is_whole ? UE_NOTE_ASSEMBLED : UE_NOTE_GIVEN_UP;
    ue_chains_keep(p->visit, event);
    ue_notes_add(p->visit, &(struct ue_note){.type = told, .item = event->item});
    note_fragments(p, event, is_whole ? UE_NOTE_ASSEMBLED_IN : UE_NOTE_GIVEN_UP_IN);
}

static void learn(struct pass *p, const struct ue_assembly_event *event) {
    ue_knowledge_learn(p->knowledge, p->context, event);
    if (!event->is_joined) {
        ue_notes_add(p->visit,
                     &(struct ue_note){.type = UE_NOTE_WHOLE, .item = event->item, .number = event->content.kind});
        p->has_told_kind = true;
    }
}

static void on_chain(void *user, const struct ue_assembly_event *event) {
    struct pass *p = user;
    if (event->type == UE_ASSEMBLY_WHOLE) {
        learn(p, event);
    }
    bool is_given_up = event->type == UE_ASSEMBLY_GIVEN_UP;
    if ((event->is_joined || is_given_up) && ue_prefs_reassemble()) {
        keep(p, event);
        p->problem = is_given_up ? event->problem : p->problem;
    }
}

/* What kind of channel it is, where neither the bunch itself tells nor another note. */
static void note_kind(const struct ue_assembly *assembly, struct ue_visit *visit, const struct ue_track_event *event) {
    const struct ue_bunch *bunch = event->bunch;
    bool is_guessed;
    if (!bunch->has_name && bunch->ch_type == 0) {
        uint32_t kind = ue_assembly_kind(assembly, bunch->channel, &is_guessed);
        ue_notes_add(visit, &(struct ue_note){.type = UE_NOTE_KIND, .item = event->item, .number = kind});
    }
}

static struct pass pass_of(const struct ue_reassembly *to) {
    return (struct pass){.knowledge = to->knowledge, .visit = to->visit, .context = to->context};
}

enum ue_assembly_problem ue_reassemble_take(const struct ue_reassembly *to, const struct ue_track_event *event) {
    struct pass pass = pass_of(to);
    const struct ue_assembly_sink sink = {on_chain, &pass};
    ue_assembly_feed(to->assembly, to->context, event, &sink);
    if (event->type == UE_TRACK_BUNCH && !pass.has_told_kind) {
        note_kind(to->assembly, to->visit, event);
    }
    return pass.problem;
}

void ue_reassemble_end(const struct ue_reassembly *to) {
    struct pass pass = pass_of(to);
    const struct ue_assembly_sink sink = {on_chain, &pass};
    ue_assembly_end(to->assembly, &sink);
}
