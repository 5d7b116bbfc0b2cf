/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/reassembly_tree.h"

#include <epan/expert.h>
#include <epan/packet.h>

#include "plugin/fields.h"
#include "plugin/first_pass/reassembly_results.h"
#include "plugin/prefs.h"

/* So many frames are told in a sentence. */
#define FRAMES_TOLD 8

static void add_number(const struct uerudp_reassembly_tree *bunch, proto_tree *tree, enum ue_field field, uint32_t number) {
    if (proto_field_is_referenced(tree, uerudp_hf[field])) {
        proto_item_set_generated(proto_tree_add_uint(tree, uerudp_hf[field], bunch->tvb, 0, 0, number));
    }
}

/* ---- fragments ---- */

static void add_fragments(const struct uerudp_reassembly_tree *bunch, proto_tree *tree, const struct uerudp_reassembly_result *chain) {
    uint64_t bit = 0;
    if (!proto_field_is_referenced(tree, uerudp_hf[UE_F_FRAGMENT])) {
        return;
    }
    for (uint32_t i = 0; i < chain->fragment_count && uerudp_tree_item_reserve(bunch->inside->ground.budget); i++) {
        const struct ue_fragment *fragment = &chain->fragments[i];
        proto_item *item = proto_tree_add_uint(tree, uerudp_hf[UE_F_FRAGMENT], bunch->tvb, 0, 0, (uint32_t)fragment->frame);
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

static const char *list_frames(const struct uerudp_reassembly_tree *bunch, const struct uerudp_reassembly_result *chain) {
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

static tvbuff_t *add_tab(const struct uerudp_reassembly_tree *bunch, const struct uerudp_reassembly_result *chain, const char *name) {
    unsigned size = (unsigned)ue_bits_bytes(chain->content.data.bits);
    tvbuff_t *tvb = tvb_new_child_real_data(bunch->tvb, chain->content.data.base, size, (int)size);
    add_new_data_source(bunch->pinfo, tvb, name);
    return tvb;
}

/* What the message carries, below it and for others. */
static void show_inside(const struct uerudp_reassembly_tree *bunch, const struct uerudp_reassembly_result *chain, tvbuff_t *tvb,
                        proto_tree *tree) {
    const struct ue_view *data = &chain->content.data;
    const struct uerudp_captured_bytes bytes = {.base = data->base, .size = ue_bits_bytes(data->bits)};
    struct uerudp_content_tree inside = *bunch->inside;
    inside.ground.tvb = tvb;
    inside.ground.bytes = &bytes;
    inside.tree = bunch->wants_inside ? tree : NULL;
    inside.handoff.channel = chain->channel;
    inside.handoff.channel_name = ue_content_kind_name(chain->content.kind);
    inside.handoff.bits = data->bits;
    if (inside.handoffs != NULL && !chain->content.is_custom_exports) {
        uerudp_subdissector_queue_add_message(inside.handoffs, tvb, &inside.handoff);
    }
    uerudp_content_tree_add(&inside, &chain->content);
}

static void show_message(const struct uerudp_reassembly_tree *bunch, const struct uerudp_reassembly_result *chain) {
    if (chain->problem == UE_REASSEMBLY_TOO_LARGE) {
        expert_add_info(bunch->pinfo, proto_tree_get_parent(bunch->tree), &uerudp_experts.large_message);
    }
    if (bunch->tree == NULL && bunch->inside->handoffs == NULL && !uerudp_fields_expert_is_collected()) {
        return;
    }
    size_t bits = chain->content.data.bits;
    const char *kind = ue_content_kind_name(chain->content.kind);
    const char *name =
        wmem_strdup_printf(bunch->pinfo->pool, "Reassembled %s, Ch %u%s%s, %u parts",
                           chain->content.is_custom_exports ? "custom exports" : "message", chain->channel,
                           kind != NULL ? " " : "", kind != NULL ? kind : "", chain->fragment_count);
    tvbuff_t *tvb = bits != 0 ? add_tab(bunch, chain, name) : bunch->tvb;
    proto_item *item = proto_tree_add_item(bunch->tree, uerudp_hf_reassembled, tvb, 0, bits != 0 ? -1 : 0, ENC_NA);
    proto_item_set_text(item, "%s, %zu bits", name, bits);
    proto_item_set_generated(item);
    proto_tree *tree = proto_item_add_subtree(item, uerudp_ett_reassembled);
    add_number(bunch, tree, UE_F_FRAGMENT_COUNT, chain->fragment_count);
    add_fragments(bunch, tree, chain);
    add_number(bunch, tree, UE_F_REASSEMBLED_BITS, (uint32_t)bits);
    if (bits != 0 && proto_field_is_referenced(tree, uerudp_hf[UE_F_REASSEMBLED_DATA])) {
        proto_item_set_generated(proto_tree_add_item(tree, uerudp_hf[UE_F_REASSEMBLED_DATA], tvb, 0, -1, ENC_NA));
    }
    if (bits != 0) {
        show_inside(bunch, chain, tvb, tree);
    }
}

/* ---- what is no message ---- */

/* Where the tracker blames this bunch, too, it is an error of the sender. */
static void show_given_up(const struct uerudp_reassembly_tree *bunch, const struct uerudp_reassembly_result *chain, bool is_blamed) {
    expert_field *expert = is_blamed ? uerudp_fields_finding_expert(UE_F_ANALYSIS_PARTIAL_ERROR) : &uerudp_experts.unfinished;
    expert_add_info_format(bunch->pinfo, proto_tree_get_parent(bunch->tree), expert,
                           "%s; the fragments that are given up: channel %u, frame %s",
                           ue_reassembly_problem_text(chain->problem), chain->channel, list_frames(bunch, chain));
    add_fragments(bunch, bunch->tree, chain);
}

static void show_chains(const struct uerudp_reassembly_tree *bunch, bool is_blamed) {
    for (const struct uerudp_reassembly_result *chain = uerudp_reassembly_results_of_datagram(bunch->visit); chain != NULL; chain = chain->next) {
        if (chain->item == bunch->item && chain->is_whole) {
            show_message(bunch, chain);
        } else if (chain->item == bunch->item) {
            show_given_up(bunch, chain, is_blamed);
        }
    }
}

/* Another frame told, perhaps later, that no message comes of this fragment. */
static void show_given_up_in(const struct uerudp_reassembly_tree *bunch, const struct uerudp_analysis_result *note) {
    add_number(bunch, bunch->tree, UE_F_FRAGMENT_GIVEN_UP_IN, note->frame);
    expert_add_info_format(bunch->pinfo, proto_tree_get_parent(bunch->tree), &uerudp_experts.unfinished,
                           "This fragment is given up in frame %u. %s", note->frame,
                           ue_reassembly_problem_text((enum ue_reassembly_problem)note->number));
}

/* On later passes all is known: what was followed, and led to nothing, waits for ever. Copies of reliable bunches stand
   for the first. */
static void show_waiting(const struct uerudp_reassembly_tree *bunch) {
    bool was_followed = uerudp_analysis_results_find(bunch->notes, UERUDP_RESULT_RELIABLE) != NULL ||
                        uerudp_analysis_results_find(bunch->notes, UERUDP_RESULT_MESSAGE) != NULL ||
                        uerudp_analysis_results_find(bunch->notes, UERUDP_RESULT_CHANNEL_KIND) != NULL;
    if (bunch->is_partial && was_followed && bunch->pinfo->fd->visited && uerudp_prefs_reassemble() &&
        uerudp_analysis_results_find(bunch->notes, UERUDP_RESULT_RETRANSMISSION) == NULL) {
        expert_add_info_format(bunch->pinfo, proto_tree_get_parent(bunch->tree), &uerudp_experts.unfinished,
                               "Not all fragments of this message are in the capture");
    }
}

void uerudp_reassembly_tree_add(const struct uerudp_reassembly_tree *bunch) {
    const struct uerudp_analysis_result *in = uerudp_analysis_results_find(bunch->notes, UERUDP_RESULT_REASSEMBLED_IN);
    const struct uerudp_analysis_result *given_up_in = uerudp_analysis_results_find(bunch->notes, UERUDP_RESULT_GIVEN_UP_IN);
    bool has_told =
        uerudp_analysis_results_find(bunch->notes, UERUDP_RESULT_REASSEMBLED) != NULL || uerudp_analysis_results_find(bunch->notes, UERUDP_RESULT_GIVEN_UP) != NULL;
    if (in != NULL) {
        add_number(bunch, bunch->tree, UE_F_REASSEMBLED_IN, in->frame);
    }
    if (given_up_in != NULL && (given_up_in->frame != bunch->pinfo->num || !has_told)) {
        show_given_up_in(bunch, given_up_in);
    }
    if (has_told) {
        show_chains(bunch, uerudp_analysis_results_find(bunch->notes, UERUDP_RESULT_PARTIAL_ERROR) != NULL);
    }
    if (in == NULL && given_up_in == NULL) {
        show_waiting(bunch);
    }
}
