/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/reassembly_tree.h"

#include <epan/expert.h>
#include <epan/packet.h>

#include "plugin/fields.h"
#include "plugin/first_pass/reassembly_results.h"
#include "plugin/prefs.h"

/* So many frames are told in a sentence. */
#define FRAMES_TOLD 8

static void add_number(const struct ue_reassembled *bunch, proto_tree *tree, enum ue_field field, uint32_t number) {
    if (proto_field_is_referenced(tree, ue_hf[field])) {
        proto_item_set_generated(proto_tree_add_uint(tree, ue_hf[field], bunch->tvb, 0, 0, number));
    }
}

/* ---- fragments ---- */

static void add_fragments(const struct ue_reassembled *bunch, proto_tree *tree, const struct ue_chain *chain) {
    uint64_t bit = 0;
    if (!proto_field_is_referenced(tree, ue_hf[UE_F_FRAGMENT])) {
        return;
    }
    for (uint32_t i = 0; i < chain->fragment_count && ue_items_take(bunch->inside->ground.budget); i++) {
        const struct ue_fragment *fragment = &chain->fragments[i];
        proto_item *item = proto_tree_add_uint(tree, ue_hf[UE_F_FRAGMENT], bunch->tvb, 0, 0, (uint32_t)fragment->frame);
        proto_item_append_text(item, ", bunch %u: ", fragment->item);
        if (!chain->is_whole) {
            proto_item_append_text(item, "%u bits", fragment->bits); /* where in the message is not known */
        } else if (fragment->bits == 0) {
            proto_item_append_text(item, "nothing of the message");
        } else {
            proto_item_append_text(item, "bits %" PRIu64 " to %" PRIu64, bit, bit + fragment->bits - 1);
        }
        proto_item_set_generated(item);
        bit += fragment->bits;
    }
}

static const char *list_frames(const struct ue_reassembled *bunch, const struct ue_chain *chain) {
    wmem_strbuf_t *frames = wmem_strbuf_new(bunch->pinfo->pool, NULL);
    for (uint32_t i = 0; i < chain->fragment_count && i < FRAMES_TOLD; i++) {
        wmem_strbuf_append_printf(frames, "%s%" PRIu64, i != 0 ? ", " : "", chain->fragments[i].frame);
    }
    if (chain->fragment_count > FRAMES_TOLD) {
        wmem_strbuf_append_printf(frames, " and %u more", chain->fragment_count - FRAMES_TOLD);
    }
    return wmem_strbuf_get_str(frames);
}

/* ---- whole messages ---- */

static tvbuff_t *add_tab(const struct ue_reassembled *bunch, const struct ue_chain *chain, const char *name) {
    unsigned size = (unsigned)ue_bits_bytes(chain->content.data.bits);
    tvbuff_t *tvb = tvb_new_child_real_data(bunch->tvb, chain->content.data.base, size, (int)size);
    add_new_data_source(bunch->pinfo, tvb, name);
    return tvb;
}

/* What the message carries, below it and for others. */
static void show_inside(const struct ue_reassembled *bunch, const struct ue_chain *chain, tvbuff_t *tvb,
                        proto_tree *tree) {
    const struct ue_view *data = &chain->content.data;
    const struct ue_bytes bytes = {.base = data->base, .size = ue_bits_bytes(data->bits)};
    struct ue_inside inside = *bunch->inside;
    inside.ground.tvb = tvb;
    inside.ground.bytes = &bytes;
    inside.tree = bunch->wants_inside ? tree : NULL;
    inside.handoff.channel = chain->channel;
    inside.handoff.channel_name = ue_content_kind_name(chain->content.kind);
    inside.handoff.bits = data->bits;
    if (inside.handoffs != NULL && !chain->content.is_custom_exports) {
        ue_handoffs_add_message(inside.handoffs, tvb, &inside.handoff);
    }
    ue_inside_show(&inside, &chain->content);
}

static void show_message(const struct ue_reassembled *bunch, const struct ue_chain *chain) {
    if (chain->problem == UE_ASSEMBLY_TOO_LARGE) {
        expert_add_info(bunch->pinfo, proto_tree_get_parent(bunch->tree), &ue_experts.large_message);
    }
    if (bunch->tree == NULL && bunch->inside->handoffs == NULL && !ue_fields_expert_is_collected()) {
        return;
    }
    size_t bits = chain->content.data.bits;
    const char *kind = ue_content_kind_name(chain->content.kind);
    const char *name =
        wmem_strdup_printf(bunch->pinfo->pool, "Reassembled %s, Ch %u%s%s, %u parts",
                           chain->content.is_custom_exports ? "custom exports" : "message", chain->channel,
                           kind != NULL ? " " : "", kind != NULL ? kind : "", chain->fragment_count);
    tvbuff_t *tvb = bits != 0 ? add_tab(bunch, chain, name) : bunch->tvb;
    proto_item *item = proto_tree_add_item(bunch->tree, ue_hf_reassembled, tvb, 0, bits != 0 ? -1 : 0, ENC_NA);
    proto_item_set_text(item, "%s, %zu bits", name, bits);
    proto_item_set_generated(item);
    proto_tree *tree = proto_item_add_subtree(item, ue_ett_reassembled);
    add_number(bunch, tree, UE_F_FRAGMENT_COUNT, chain->fragment_count);
    add_fragments(bunch, tree, chain);
    add_number(bunch, tree, UE_F_REASSEMBLED_BITS, (uint32_t)bits);
    if (bits != 0 && proto_field_is_referenced(tree, ue_hf[UE_F_REASSEMBLED_DATA])) {
        proto_item_set_generated(proto_tree_add_item(tree, ue_hf[UE_F_REASSEMBLED_DATA], tvb, 0, -1, ENC_NA));
    }
    if (bits != 0) {
        show_inside(bunch, chain, tvb, tree);
    }
}

/* ---- what is no message ---- */

/* Where the tracker blames this bunch, too, it is an error of the sender. */
static void show_given_up(const struct ue_reassembled *bunch, const struct ue_chain *chain, bool is_blamed) {
    expert_field *expert = is_blamed ? ue_fields_finding(UE_F_ANALYSIS_PARTIAL_ERROR) : &ue_experts.unfinished;
    expert_add_info_format(bunch->pinfo, proto_tree_get_parent(bunch->tree), expert,
                           "%s; the fragments that are given up: channel %u, frame %s",
                           ue_assembly_problem_text(chain->problem), chain->channel, list_frames(bunch, chain));
    add_fragments(bunch, bunch->tree, chain);
}

static void show_chains(const struct ue_reassembled *bunch, bool is_blamed) {
    for (const struct ue_chain *chain = ue_chains_of(bunch->visit); chain != NULL; chain = chain->next) {
        if (chain->item == bunch->item && chain->is_whole) {
            show_message(bunch, chain);
        } else if (chain->item == bunch->item) {
            show_given_up(bunch, chain, is_blamed);
        }
    }
}

/* Another frame told, perhaps later, that no message comes of this fragment. */
static void show_given_up_in(const struct ue_reassembled *bunch, const struct ue_note *note) {
    add_number(bunch, bunch->tree, UE_F_FRAGMENT_GIVEN_UP_IN, note->frame);
    expert_add_info_format(bunch->pinfo, proto_tree_get_parent(bunch->tree), &ue_experts.unfinished,
                           "This fragment is given up in frame %u. %s", note->frame,
                           ue_assembly_problem_text((enum ue_assembly_problem)note->number));
}

/* On later passes all is known: what was followed, and led to nothing, waits for ever. Copies of reliable bunches stand
   for the first. */
static void show_waiting(const struct ue_reassembled *bunch) {
    bool was_followed = ue_notes_find(bunch->notes, UE_NOTE_RELIABLE) != NULL ||
                        ue_notes_find(bunch->notes, UE_NOTE_WHOLE) != NULL ||
                        ue_notes_find(bunch->notes, UE_NOTE_KIND) != NULL;
    if (bunch->is_partial && was_followed && bunch->pinfo->fd->visited && ue_prefs_reassemble() &&
        ue_notes_find(bunch->notes, UE_NOTE_COPY) == NULL) {
        expert_add_info_format(bunch->pinfo, proto_tree_get_parent(bunch->tree), &ue_experts.unfinished,
                               "Not all fragments of this message are in the capture");
    }
}

void ue_reassembled_show(const struct ue_reassembled *bunch) {
    const struct ue_note *in = ue_notes_find(bunch->notes, UE_NOTE_ASSEMBLED_IN);
    const struct ue_note *given_up_in = ue_notes_find(bunch->notes, UE_NOTE_GIVEN_UP_IN);
    bool has_told =
        ue_notes_find(bunch->notes, UE_NOTE_ASSEMBLED) != NULL || ue_notes_find(bunch->notes, UE_NOTE_GIVEN_UP) != NULL;
    if (in != NULL) {
        add_number(bunch, bunch->tree, UE_F_REASSEMBLED_IN, in->frame);
    }
    if (given_up_in != NULL && (given_up_in->frame != bunch->pinfo->num || !has_told)) {
        show_given_up_in(bunch, given_up_in);
    }
    if (has_told) {
        show_chains(bunch, ue_notes_find(bunch->notes, UE_NOTE_PARTIAL_ERROR) != NULL);
    }
    if (in == NULL && given_up_in == NULL) {
        show_waiting(bunch);
    }
}
