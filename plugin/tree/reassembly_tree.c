/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/reassembly_tree.h"

#include <epan/expert.h>
#include <epan/packet.h>

#include "plugin/expert_items.h"
#include "plugin/fields.h"
#include "plugin/first_pass/observer.h"
#include "plugin/first_pass/reassembly_results.h"
#include "plugin/prefs.h"

/* Greatest number of frames that a sentence lists. */
#define FRAMES_LISTED_MAX 8

static void add_number(const struct uerudp_reassembly_tree *bunch, proto_tree *tree, enum ue_field field,
                       uint32_t number) {
    if (proto_field_is_referenced(tree, uerudp_hf[field])) {
        proto_item_set_generated(proto_tree_add_uint(tree, uerudp_hf[field], bunch->tvb, 0, 0, number));
    }
}

/* ---- fragments ---- */

static void add_fragments(const struct uerudp_reassembly_tree *bunch, proto_tree *tree,
                          const struct uerudp_reassembly_result *reassembly) {
    uint64_t bit = 0;
    if (!proto_field_is_referenced(tree, uerudp_hf[UE_F_FRAGMENT])) {
        return;
    }
    for (uint32_t i = 0; i < reassembly->fragment_count && uerudp_field_item_reserve(bunch->content_tree->buffer.limit);
         i++) {
        const struct ue_fragment *fragment = &reassembly->fragments[i];
        proto_item *item =
            proto_tree_add_uint(tree, uerudp_hf[UE_F_FRAGMENT], bunch->tvb, 0, 0, (uint32_t)fragment->frame);
        proto_item_append_text(item, ", bunch %u: ", fragment->item);
        if (!reassembly->is_whole) {
            proto_item_append_text(item, "%u bits", fragment->bits); /* their position in the message is not known */
        } else if (fragment->bits == 0) {
            proto_item_append_text(item, "no bits of the message");
        } else {
            proto_item_append_text(item, "bits %" PRIu64 " to %" PRIu64, bit, bit + fragment->bits - 1);
        }
        proto_item_set_generated(item);
        bit += fragment->bits;
    }
}

static const char *list_frames(const struct uerudp_reassembly_tree *bunch,
                               const struct uerudp_reassembly_result *reassembly) {
    wmem_strbuf_t *frames = wmem_strbuf_new(bunch->pinfo->pool, NULL);
    for (uint32_t i = 0; i < reassembly->fragment_count && i < FRAMES_LISTED_MAX; i++) {
        wmem_strbuf_append_printf(frames, "%s%" PRIu64, i != 0 ? ", " : "", reassembly->fragments[i].frame);
    }
    if (reassembly->fragment_count > FRAMES_LISTED_MAX) {
        wmem_strbuf_append_printf(frames, " and %u more", reassembly->fragment_count - FRAMES_LISTED_MAX);
    }
    return wmem_strbuf_get_str(frames);
}

/* ---- whole messages ---- */

static tvbuff_t *add_data_source(const struct uerudp_reassembly_tree *bunch,
                                 const struct uerudp_reassembly_result *reassembly, const char *name) {
    unsigned size = (unsigned)ue_bits_bytes(reassembly->content.data.bits);
    tvbuff_t *tvb = tvb_new_child_real_data(bunch->tvb, reassembly->content.data.base, size, (int)size);
    add_new_data_source(bunch->pinfo, tvb, name);
    return tvb;
}

/* Shows the content of the message, and queues it for subdissectors. */
static void show_content(const struct uerudp_reassembly_tree *bunch, const struct uerudp_reassembly_result *reassembly,
                         tvbuff_t *tvb, proto_tree *tree) {
    const struct ue_view *data = &reassembly->content.data;
    const struct uerudp_captured_bytes bytes = {.base = data->base, .size = ue_bits_bytes(data->bits)};
    struct uerudp_content_tree content_tree = *bunch->content_tree;
    content_tree.buffer.tvb = tvb;
    content_tree.buffer.bytes = &bytes;
    content_tree.is_bunch = false;
    content_tree.tree = bunch->wants_content ? tree : NULL;
    content_tree.subdissector_data.channel = reassembly->channel;
    content_tree.subdissector_data.channel_name = ue_content_kind_name(reassembly->content.kind);
    content_tree.subdissector_data.bits = data->bits;
    if (content_tree.subdissectors != NULL && !reassembly->content.is_custom_exports) {
        uerudp_subdissector_queue_add_message(content_tree.subdissectors, tvb, &content_tree.subdissector_data);
    }
    uerudp_content_tree_add(&content_tree, &reassembly->content);
}

static void show_message(const struct uerudp_reassembly_tree *bunch,
                         const struct uerudp_reassembly_result *reassembly) {
    if (reassembly->problem == UE_REASSEMBLY_TOO_LARGE) {
        expert_add_info(bunch->pinfo, proto_tree_get_parent(bunch->tree), &uerudp_experts.large_message);
    }
    if (bunch->tree == NULL && bunch->content_tree->subdissectors == NULL && !uerudp_expert_items_are_collected()) {
        return;
    }
    size_t bits = reassembly->content.data.bits;
    struct uerudp_known_objects_actor actor;
    uerudp_known_objects_find_actor(bunch->content_tree->objects, bunch->pinfo->pool, reassembly->channel,
                                    bunch->pinfo->num, &actor);
    const char *subject = actor.name != NULL ? actor.name : ue_content_kind_name(reassembly->content.kind);
    const char *name =
        wmem_strdup_printf(bunch->pinfo->pool, "Reassembled %s, Ch %u%s%s, %u fragments",
                           reassembly->content.is_custom_exports ? "custom exports" : "message", reassembly->channel,
                           subject != NULL ? " " : "", subject != NULL ? subject : "", reassembly->fragment_count);
    tvbuff_t *tvb = bits != 0 ? add_data_source(bunch, reassembly, name) : bunch->tvb;
    proto_item *item = proto_tree_add_item(bunch->tree, uerudp_hf_reassembled, tvb, 0, bits != 0 ? -1 : 0, ENC_NA);
    proto_item_set_text(item, "%s, %zu bits", name, bits);
    proto_item_set_generated(item);
    proto_tree *tree = proto_item_add_subtree(item, uerudp_ett_reassembled);
    add_number(bunch, tree, UE_F_FRAGMENT_COUNT, reassembly->fragment_count);
    add_fragments(bunch, tree, reassembly);
    add_number(bunch, tree, UE_F_REASSEMBLED_BITS, (uint32_t)bits);
    if (bits != 0 && proto_field_is_referenced(tree, uerudp_hf[UE_F_REASSEMBLED_DATA])) {
        proto_item_set_generated(proto_tree_add_item(tree, uerudp_hf[UE_F_REASSEMBLED_DATA], tvb, 0, -1, ENC_NA));
    }
    if (bits != 0) {
        show_content(bunch, reassembly, tvb, tree);
    }
}

/* ---- incomplete messages ---- */

/* If sequence analysis also reports this bunch, the sender has made an error. */
static void show_given_up(const struct uerudp_reassembly_tree *bunch, const struct uerudp_reassembly_result *reassembly,
                          bool is_error) {
    expert_field *expert =
        is_error ? uerudp_expert_items_of_event(UE_F_ANALYSIS_PARTIAL_ERROR) : &uerudp_experts.unfinished;
    expert_add_info_format(
        bunch->pinfo, proto_tree_get_parent(bunch->tree), expert, "%s; fragments given up on channel %u: frame %s",
        ue_reassembly_problem_text(reassembly->problem), reassembly->channel, list_frames(bunch, reassembly));
    add_fragments(bunch, bunch->tree, reassembly);
}

static void show_results(const struct uerudp_reassembly_tree *bunch, bool is_error) {
    for (const struct uerudp_reassembly_result *reassembly = uerudp_reassembly_results_of_datagram(bunch->state);
         reassembly != NULL; reassembly = reassembly->next) {
        if (reassembly->item == bunch->item && reassembly->is_whole) {
            show_message(bunch, reassembly);
        } else if (reassembly->item == bunch->item) {
            show_given_up(bunch, reassembly, is_error);
        }
    }
}

/* Shows at a fragment that another frame reveals its message to be incomplete. */
static void show_given_up_in(const struct uerudp_reassembly_tree *bunch, const struct uerudp_analysis_result *result) {
    add_number(bunch, bunch->tree, UE_F_FRAGMENT_GIVEN_UP_IN, result->frame);
    expert_add_info_format(bunch->pinfo, proto_tree_get_parent(bunch->tree), &uerudp_experts.unfinished,
                           "This fragment was given up in frame %u. %s", result->frame,
                           ue_reassembly_problem_text((enum ue_reassembly_problem)result->number));
}

/* After the first pass all results are known: an observed fragment without one is still waiting. A retransmission, and
   a packet that another interface captured before, have no fragments of their own. */
static void show_waiting(const struct uerudp_reassembly_tree *bunch) {
    bool was_followed = uerudp_analysis_results_find(bunch->results, UERUDP_RESULT_RELIABLE) != NULL ||
                        uerudp_analysis_results_find(bunch->results, UERUDP_RESULT_MESSAGE) != NULL ||
                        uerudp_analysis_results_find(bunch->results, UERUDP_RESULT_CHANNEL_KIND) != NULL;
    if (bunch->is_awaited && was_followed && !bunch->state->is_other_view && uerudp_observer_is_finished() &&
        uerudp_prefs_reassemble() &&
        uerudp_analysis_results_find(bunch->results, UERUDP_RESULT_RETRANSMISSION) == NULL) {
        expert_add_info_format(bunch->pinfo, proto_tree_get_parent(bunch->tree), &uerudp_experts.unfinished,
                               "Not all fragments of this message are in the capture");
    }
}

void uerudp_reassembly_tree_add(const struct uerudp_reassembly_tree *bunch) {
    const struct uerudp_analysis_result *in =
        uerudp_analysis_results_find(bunch->results, UERUDP_RESULT_REASSEMBLED_IN);
    const struct uerudp_analysis_result *given_up_in =
        uerudp_analysis_results_find(bunch->results, UERUDP_RESULT_GIVEN_UP_IN);
    bool has_results = uerudp_analysis_results_find(bunch->results, UERUDP_RESULT_REASSEMBLED) != NULL ||
                       uerudp_analysis_results_find(bunch->results, UERUDP_RESULT_GIVEN_UP) != NULL;
    if (in != NULL) {
        add_number(bunch, bunch->tree, UE_F_REASSEMBLED_IN, in->frame);
    }
    if (given_up_in != NULL && (given_up_in->frame != bunch->pinfo->num || !has_results)) {
        show_given_up_in(bunch, given_up_in);
    }
    if (has_results) {
        show_results(bunch, uerudp_analysis_results_find(bunch->results, UERUDP_RESULT_PARTIAL_ERROR) != NULL);
    }
    if (in == NULL && given_up_in == NULL) {
        show_waiting(bunch);
    }
}
