/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/analysis_tree.h"

#include <epan/packet.h>

#include <uerudp/seq.h>
#include <uerudp/time_ns.h>
#include "plugin/expert_items.h"
#include "plugin/fields.h"
#include "plugin/first_pass/finding_results.h"
#include "plugin/first_pass/frame_state.h"
#include "plugin/first_pass/sequence_analysis.h"
#include "plugin/tree/field_label.h"
#include "plugin/tree/field_items.h"
#include "plugin/tree/info_marks.h"

/* Greatest number of ids that a sentence lists. */
#define IDS_LISTED_MAX 8

/* A duplicate packet contains the same bunches; the results of these belong to the first copy. */
static struct uerudp_analysis_results results_of_first(const struct uerudp_frame_state *state,
                                                       const struct uerudp_analysis_results *results,
                                                       wmem_allocator_t *pool) {
    struct uerudp_analysis_results of_datagram = uerudp_analysis_results_of_datagram(results);
    const struct uerudp_analysis_result *duplicate =
        uerudp_analysis_results_find(&of_datagram, UERUDP_RESULT_DUPLICATE);
    const struct uerudp_frame_state *first =
        duplicate != NULL && duplicate->frame != 0
            ? uerudp_sequence_analysis_find_datagram(state, duplicate->frame, &state->decode.packet_ids.packet_id)
            : NULL;
    return first != NULL ? uerudp_analysis_results_read(first, pool) : (struct uerudp_analysis_results){0};
}

void uerudp_analysis_tree_init(struct uerudp_analysis_tree *analysis, packet_info *pinfo,
                               const struct uerudp_tree_buffer *buffer, const struct uerudp_frame_state *state,
                               const struct ue_context *context) {
    *analysis = (struct uerudp_analysis_tree){.pinfo = pinfo,
                                              .buffer = buffer,
                                              .reliable_limit = context->reliable_limit != 0 ? context->reliable_limit
                                                                                             : UE_RELIABLE_BUFFER_MAX};
    analysis->results = uerudp_analysis_results_read(state, pinfo->pool);
    analysis->first = results_of_first(state, &analysis->results, pinfo->pool);
}

/* ---- items ---- */

static void add_number(const struct uerudp_analysis_tree *a, proto_tree *tree, enum ue_field field, uint64_t number) {
    int hf = uerudp_hf[field];
    if (uerudp_field_item_is_wanted(tree, field)) {
        bool is_wide = ue_field_row(field)->kind == UE_KIND_U64;
        proto_item *item = is_wide ? proto_tree_add_uint64(tree, hf, a->buffer->tvb, 0, 0, number)
                                   : proto_tree_add_uint(tree, hf, a->buffer->tvb, 0, 0, (uint32_t)number);
        proto_item_set_generated(item);
    }
}

static void add_frame(const struct uerudp_analysis_tree *a, proto_tree *tree, enum ue_field field, uint32_t frame) {
    if (frame != 0) {
        add_number(a, tree, field, frame);
    }
}

static void add_span(const struct uerudp_analysis_tree *a, proto_tree *tree, enum ue_field field, int64_t span_ns) {
    int hf = uerudp_hf[field];
    if (span_ns >= 0 && proto_field_is_referenced(tree, hf)) {
        const nstime_t span = {.secs = span_ns / UE_NS_PER_S, .nsecs = (int)(span_ns % UE_NS_PER_S)};
        proto_item *item = proto_tree_add_time(tree, hf, a->buffer->tvb, 0, 0, &span);
        proto_item_set_generated(item);
    }
}

static proto_tree *subtree(struct uerudp_analysis_tree *a) {
    if (a->tree == NULL && a->parent != NULL) {
        proto_item *item = proto_tree_add_item(a->parent, uerudp_hf_analysis, a->buffer->tvb, 0, 0, ENC_NA);
        proto_item_set_generated(item);
        a->tree = proto_item_add_subtree(item, uerudp_ett_analysis);
    }
    return a->tree;
}

/* Adds the expert item of a finding, with a sentence, to the item of a tree. */
static void add_finding(struct uerudp_analysis_tree *a, proto_tree *tree, enum ue_field finding, const char *format,
                        ...) G_GNUC_PRINTF(4, 5);

static void add_finding(struct uerudp_analysis_tree *a, proto_tree *tree, enum ue_field finding, const char *format,
                        ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *sentence = wmem_strdup_vprintf(a->pinfo->pool, format, arguments);
    va_end(arguments);
    expert_add_info_format(a->pinfo, proto_tree_get_parent(tree), uerudp_expert_items_of_event(finding), "%s",
                           sentence);
}

/* ---- the datagram ---- */

static void report_missing(struct uerudp_analysis_tree *a, const struct uerudp_analysis_result *result) {
    const char *verb = result->number == 1 ? "packet is" : "packets are";
    const char *doubt = result->is_set ? ", or in malformed datagrams" : "";
    if (result->id < 0) {
        add_finding(a, subtree(a), UE_F_ANALYSIS_LOST, "%u %s missing before this one%s", result->number, verb, doubt);
    } else if (result->number == 1) {
        add_finding(a, subtree(a), UE_F_ANALYSIS_LOST, "1 packet is missing before this one: id %" PRIu64 "%s",
                    ue_seq_display(result->id), result->is_set ? ", or in a malformed datagram" : "");
    } else {
        add_finding(a, subtree(a), UE_F_ANALYSIS_LOST,
                    "%u packets are missing before this one: ids %" PRIu64 " to %" PRIu64 "%s", result->number,
                    ue_seq_display(result->id - result->number + 1), ue_seq_display(result->id), doubt);
    }
    add_number(a, subtree(a), UE_F_ANALYSIS_MISSING, result->number);
}

static bool is_nak(const struct uerudp_analysis_result *result) {
    return result->type == UERUDP_RESULT_NAK && !result->is_set;
}

static bool is_ack_lost(const struct uerudp_analysis_result *result) {
    return result->type == UERUDP_RESULT_NAK && result->is_set;
}

static bool is_ack_of_unseen(const struct uerudp_analysis_result *result) {
    return result->type == UERUDP_RESULT_ACK && result->frame == 0;
}

/* Lists the ids of the matching results. Returns their number; 0: *list is NULL. */
static uint32_t list_ids(const struct uerudp_analysis_tree *a, bool (*is_listed)(const struct uerudp_analysis_result *),
                         wmem_strbuf_t **list) {
    wmem_strbuf_t *ids = NULL;
    uint32_t count = 0;
    for (size_t i = 0; i < a->results.count; i++) {
        const struct uerudp_analysis_result *result = &a->results.results[i];
        if (is_listed(result) && ++count <= IDS_LISTED_MAX) {
            ids = ids != NULL ? ids : wmem_strbuf_new(a->pinfo->pool, NULL);
            wmem_strbuf_append_printf(ids, "%s%" PRIu64, count > 1 ? ", " : "", ue_seq_display(result->id));
        }
    }
    if (count > IDS_LISTED_MAX) {
        wmem_strbuf_append_printf(ids, " and %u more", count - IDS_LISTED_MAX);
    }
    *list = ids;
    return count;
}

static void report_naks(struct uerudp_analysis_tree *a) {
    wmem_strbuf_t *ids;
    uint32_t count = list_ids(a, is_nak, &ids);
    if (count != 0) {
        add_finding(a, subtree(a), UE_F_ANALYSIS_NAK, "%u %s reported as not delivered: %s %s", count,
                    count == 1 ? "packet is" : "packets are", count == 1 ? "id" : "ids", wmem_strbuf_get_str(ids));
    }
}

static void report_unseen(struct uerudp_analysis_tree *a) {
    wmem_strbuf_t *ids;
    uint32_t count = list_ids(a, is_ack_of_unseen, &ids);
    if (count != 0) {
        add_finding(a, subtree(a), UE_F_ANALYSIS_ACK_OF_UNSEEN,
                    "%u %s reported as delivered but not in the capture: %s %s", count,
                    count == 1 ? "packet is" : "packets are", count == 1 ? "id" : "ids", wmem_strbuf_get_str(ids));
    }
}

/* The acks were lost earlier; this packet is the first one after the proof. */
static void report_lost_acks(struct uerudp_analysis_tree *a) {
    wmem_strbuf_t *ids;
    uint32_t count = list_ids(a, is_ack_lost, &ids);
    if (count != 0) {
        expert_add_info_format(a->pinfo, proto_tree_get_parent(subtree(a)), &uerudp_experts.ack_lost,
                               "Regarded as lost by the sender, because the acks were lost: %s %s",
                               count == 1 ? "id" : "ids", wmem_strbuf_get_str(ids));
    }
}

static void show_finding(struct uerudp_analysis_tree *a, uint32_t number) {
    const struct uerudp_finding_result *finding = uerudp_finding_results_at(number);
    expert_add_info_format(a->pinfo, proto_tree_get_parent(subtree(a)), uerudp_expert_items_of_finding(finding->id),
                           "%s", finding->sentence);
    if (uerudp_finding_results_span(finding) >= 0) {
        add_span(a, subtree(a), ue_finding_rows[finding->id].field, finding->span_ns);
    }
}

/* frame: 0 if the first capture of the packet is too long ago to be known. */
static void add_duplicate(struct uerudp_analysis_tree *a, uint32_t frame) {
    if (frame == 0) {
        add_finding(a, subtree(a), UE_F_ANALYSIS_DUPLICATE, "This packet was captured before");
    } else {
        add_finding(a, subtree(a), UE_F_ANALYSIS_DUPLICATE, "This packet was captured before, in frame %u", frame);
        add_frame(a, subtree(a), UE_F_ANALYSIS_DUPLICATE_OF, frame);
    }
}

static void show_result(struct uerudp_analysis_tree *a, const struct uerudp_analysis_result *result) {
    switch (result->type) {
    case UERUDP_RESULT_MISSING: report_missing(a, result); break;
    case UERUDP_RESULT_OUT_OF_ORDER:
        add_finding(a, subtree(a), UE_F_ANALYSIS_OUT_OF_ORDER,
                    "A packet with a higher id was captured before this one");
        break;
    case UERUDP_RESULT_DUPLICATE: add_duplicate(a, result->frame); break;
    case UERUDP_RESULT_OTHER_VIEW: add_frame(a, subtree(a), UE_F_ANALYSIS_OTHER_VIEW, result->frame); break;
    case UERUDP_RESULT_PACKETS_IN_FLIGHT:
        add_number(a, subtree(a), UE_F_ANALYSIS_PACKETS_IN_FLIGHT, result->number);
        break;
    case UERUDP_RESULT_JITTER: add_span(a, subtree(a), UE_F_ANALYSIS_JITTER, result->span_ns); break;
    case UERUDP_RESULT_HANDSHAKE_RTT: add_span(a, subtree(a), UE_F_ANALYSIS_HANDSHAKE_RTT, result->span_ns); break;
    case UERUDP_RESULT_ACK:
        add_frame(a, subtree(a), UE_F_ANALYSIS_ACKS_FRAME, result->frame);
        add_span(a, subtree(a), UE_F_ANALYSIS_ACK_RTT, result->span_ns);
        break;
    case UERUDP_RESULT_NAK:
        add_frame(a, subtree(a), UE_F_ANALYSIS_NACKS_FRAME, result->is_set ? 0 : result->frame);
        break;
    case UERUDP_RESULT_ACKED_IN: add_frame(a, subtree(a), UE_F_ANALYSIS_ACKED_IN, result->frame); break;
    case UERUDP_RESULT_NEVER_SENT:
        add_finding(a, subtree(a), UE_F_ANALYSIS_ACK_OF_UNSENT,
                    "Acknowledges packets up to id %" PRIu64
                    " that were never sent before this one; frame %u takes that back",
                    ue_seq_display(result->id), result->frame);
        break;
    case UERUDP_RESULT_FINDING: show_finding(a, result->number); break;
    case UERUDP_RESULT_NACKED_IN: add_frame(a, subtree(a), UE_F_ANALYSIS_NACKED_IN, result->frame); break;
    default: break;
    }
}

void uerudp_analysis_tree_add_datagram(struct uerudp_analysis_tree *a, proto_tree *datagram) {
    struct uerudp_analysis_results of_datagram = uerudp_analysis_results_of_datagram(&a->results);
    a->parent = datagram;
    for (size_t i = 0; i < of_datagram.count; i++) {
        show_result(a, &of_datagram.results[i]);
    }
    report_naks(a);
    report_lost_acks(a);
    report_unseen(a);
    if (uerudp_analysis_results_all_flags(&a->results) != 0 &&
        proto_field_is_referenced(a->parent, uerudp_hf[UE_F_ANALYSIS_FLAGS])) {
        proto_item *item =
            proto_tree_add_item(subtree(a), uerudp_hf[UE_F_ANALYSIS_FLAGS], a->buffer->tvb, 0, 0, ENC_NA);
        proto_item_set_generated(item);
        if (uerudp_field_label_is_visible(item)) {
            proto_item_append_text(item, "%s", uerudp_info_marks_of_flags(&a->results, a->pinfo->pool, ": ", ", ", ""));
        }
    }
}

/* ---- bunches ---- */

/* A bunch as the sentences below name it. */
struct shown_bunch {
    proto_tree *tree;
    int64_t id;
    uint64_t channel;
};

static void show_retransmission(struct uerudp_analysis_tree *a, const struct shown_bunch *bunch,
                                const struct uerudp_analysis_result *result) {
    if (result->first_frame == 0) {
        add_finding(a, bunch->tree, UE_F_ANALYSIS_RETRANSMISSION,
                    "Reliable bunch #%" PRId64 " of channel %" PRIu64
                    " retransmitted, long after its first transmission",
                    bunch->id, bunch->channel);
        return;
    }
    add_finding(a, bunch->tree, UE_F_ANALYSIS_RETRANSMISSION,
                "Reliable bunch #%" PRId64 " of channel %" PRIu64
                " retransmitted: transmission %u; the first is in frame %u",
                bunch->id, bunch->channel, result->number, result->first_frame);
    if (result->is_set) {
        add_finding(a, bunch->tree, UE_F_ANALYSIS_SPURIOUS_RETRANSMISSION,
                    "Reliable bunch #%" PRId64 " of channel %" PRIu64 " retransmitted although it had been delivered",
                    bunch->id, bunch->channel);
    }
    add_frame(a, bunch->tree, UE_F_ANALYSIS_RETRANSMISSION_OF, result->frame);
    mark_frame_as_depended_upon(UERUDP_DEPENDENT_FRAME(a->pinfo), result->frame); /* saved with this frame */
}

static void show_reliable(struct uerudp_analysis_tree *a, const struct shown_bunch *bunch,
                          const struct uerudp_analysis_result *result) {
    add_number(a, bunch->tree, UE_F_BUNCH_RELIABLE_ID, (uint64_t)result->id);
    add_number(a, bunch->tree, UE_F_ANALYSIS_RELIABLE_IN_FLIGHT, result->number);
    if (result->is_set) {
        add_finding(a, bunch->tree, UE_F_ANALYSIS_BUFFER_HIGH,
                    "%u reliable bunches of channel %" PRIu64
                    " are not acknowledged by a captured packet; the sender's "
                    "buffer holds %u",
                    result->number, bunch->channel, a->reliable_limit);
    }
}

static void show_gap(struct uerudp_analysis_tree *a, const struct shown_bunch *bunch,
                     const struct uerudp_analysis_result *result) {
    if (result->is_set) {
        add_finding(a, bunch->tree, UE_F_ANALYSIS_RELIABLE_JUMP,
                    "More reliable bunches of channel %" PRIu64 " are missing before #%" PRId64
                    " than the sender's buffer can hold (%u)",
                    bunch->channel, bunch->id, a->reliable_limit);
    } else {
        add_finding(a, bunch->tree, UE_F_ANALYSIS_RELIABLE_GAP,
                    "Reliable bunches of channel %" PRIu64 " directly before #%" PRId64
                    " have not been captured so far",
                    bunch->channel, bunch->id);
    }
}

static void show_bunch_result(struct uerudp_analysis_tree *a, const struct shown_bunch *bunch,
                              const struct uerudp_analysis_result *result) {
    switch (result->type) {
    case UERUDP_RESULT_RELIABLE: show_reliable(a, bunch, result); break;
    case UERUDP_RESULT_RETRANSMISSION: show_retransmission(a, bunch, result); break;
    case UERUDP_RESULT_RETRANSMITTED_IN:
        add_frame(a, bunch->tree, UE_F_ANALYSIS_RETRANSMITTED_IN, result->frame);
        break;
    case UERUDP_RESULT_RELIABLE_GAP: show_gap(a, bunch, result); break;
    case UERUDP_RESULT_PARTIAL_ERROR:
        if (result->number != UE_REASSEMBLY_NO_PROBLEM) {
            break; /* the sentence about the fragments that are given up covers it */
        }
        add_finding(a, bunch->tree, UE_F_ANALYSIS_PARTIAL_ERROR,
                    "The partial flags of this fragment on channel %" PRIu64 " contradict the fragments around it",
                    bunch->channel);
        break;
    default: break;
    }
}

void uerudp_analysis_tree_add_bunch(struct uerudp_analysis_tree *a, proto_tree *bunch_tree,
                                    const struct uerudp_analysis_results *results, uint32_t item, uint64_t channel) {
    const struct uerudp_analysis_result *reliable = uerudp_analysis_results_find(results, UERUDP_RESULT_RELIABLE);
    const struct shown_bunch bunch = {bunch_tree, reliable != NULL ? reliable->id : 0, channel};
    struct uerudp_analysis_results first = uerudp_analysis_results_of_item(&a->first, item);
    const struct uerudp_analysis_result *known = uerudp_analysis_results_find(&first, UERUDP_RESULT_RELIABLE);
    if (known != NULL) {
        add_number(a, bunch_tree, UE_F_BUNCH_RELIABLE_ID, (uint64_t)known->id);
    }
    for (size_t i = 0; i < results->count; i++) {
        show_bunch_result(a, &bunch, &results->results[i]);
    }
}
