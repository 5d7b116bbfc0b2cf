/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/tree/analysis_tree.h"

#include <epan/packet.h>

#include <uerudp/seq.h>
#include <uerudp/time_ns.h>
#include "plugin/fields.h"
#include "plugin/first_pass/frame_state.h"
#include "plugin/first_pass/sequence_analysis.h"
#include "plugin/taps/tap.h"
#include "plugin/tree/item_label.h"
#include "plugin/tree/tree_items.h"

/* So many ids are told one by one. */
#define IDS_TOLD 8

/* A packet that came twice says the same of its bunches; they were followed the first time. */
static struct uerudp_analysis_results notes_of_first(const struct uerudp_frame_state *visit, const struct uerudp_analysis_results *notes,
                                      wmem_allocator_t *pool) {
    struct uerudp_analysis_results part = uerudp_analysis_results_of_datagram(notes);
    const struct uerudp_analysis_result *duplicate = uerudp_analysis_results_find(&part, UERUDP_RESULT_DUPLICATE);
    const struct uerudp_frame_state *first =
        duplicate != NULL ? uerudp_sequence_analysis_find_datagram(visit, duplicate->frame, &visit->frame.links.packet_id) : NULL;
    return first != NULL ? uerudp_analysis_results_read(first, pool) : (struct uerudp_analysis_results){0};
}

void uerudp_analysis_tree_init(struct uerudp_analysis_tree *analysis, packet_info *pinfo, const struct uerudp_tree_buffer *ground,
                      const struct uerudp_frame_state *visit, const struct ue_context *context) {
    *analysis = (struct uerudp_analysis_tree){.pinfo = pinfo, .ground = ground, .reliable_buffer = context->reliable_buffer};
    analysis->notes = uerudp_analysis_results_read(visit, pinfo->pool);
    analysis->first = notes_of_first(visit, &analysis->notes, pinfo->pool);
}

/* ---- items ---- */

static void add_number(const struct uerudp_analysis_tree *a, proto_tree *tree, enum ue_field field, uint64_t number) {
    int hf = uerudp_hf[field];
    if (uerudp_tree_item_is_wanted(tree, field)) {
        bool is_wide = ue_field_row(field)->kind == UE_KIND_U64;
        proto_item *item = is_wide ? proto_tree_add_uint64(tree, hf, a->ground->tvb, 0, 0, number)
                                   : proto_tree_add_uint(tree, hf, a->ground->tvb, 0, 0, (uint32_t)number);
        proto_item_set_generated(item);
        uerudp_item_label_set_generated(item, a->ground->labels, field, number, NULL);
    }
}

/* A frame, where it is known. */
static void add_frame(const struct uerudp_analysis_tree *a, proto_tree *tree, enum ue_field field, uint32_t frame) {
    if (frame != 0) {
        add_number(a, tree, field, frame);
    }
}

static void add_span(const struct uerudp_analysis_tree *a, proto_tree *tree, enum ue_field field, int64_t span_ns) {
    int hf = uerudp_hf[field];
    if (span_ns >= 0 && proto_field_is_referenced(tree, hf)) {
        const nstime_t span = {.secs = span_ns / UE_NS_PER_S, .nsecs = (int)(span_ns % UE_NS_PER_S)};
        proto_item *item = proto_tree_add_time(tree, hf, a->ground->tvb, 0, 0, &span);
        proto_item_set_generated(item);
        uerudp_item_label_set_time(item, a->ground->labels, field, span_ns);
    }
}

static proto_tree *subtree(struct uerudp_analysis_tree *a) {
    if (a->tree == NULL && a->parent != NULL) {
        proto_item *item = proto_tree_add_item(a->parent, uerudp_hf_analysis, a->ground->tvb, 0, 0, ENC_NA);
        proto_item_set_generated(item);
        a->tree = proto_item_add_subtree(item, uerudp_ett_analysis);
    }
    return a->tree;
}

/* Tells a finding by a sentence below the item of a tree. */
static void report(struct uerudp_analysis_tree *a, proto_tree *tree, enum ue_field finding, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

static void report(struct uerudp_analysis_tree *a, proto_tree *tree, enum ue_field finding, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *sentence = wmem_strdup_vprintf(a->pinfo->pool, format, arguments);
    va_end(arguments);
    expert_add_info_format(a->pinfo, proto_tree_get_parent(tree), uerudp_fields_finding_expert(finding), "%s", sentence);
}

/* ---- names of findings ---- */

G_STATIC_ASSERT(UERUDP_ANALYSIS_BUFFER_HIGH == 1u << (UE_F_ANALYSIS_BUFFER_HIGH - UE_F_ANALYSIS_LOST));

/* All findings of a datagram by name. */
static const char *list_findings(const struct uerudp_analysis_tree *a, const char *before_first, const char *before,
                                 const char *behind) {
    uint32_t flags = uerudp_analysis_results_all_flags(&a->notes);
    wmem_strbuf_t *names = flags != 0 ? wmem_strbuf_new(a->pinfo->pool, NULL) : NULL;
    for (enum ue_field field = UE_F_ANALYSIS_LOST; flags != 0; field++, flags >>= 1) {
        uint32_t number = field == UE_F_ANALYSIS_LOST ? a->missing : field == UE_F_ANALYSIS_NAK ? a->naks : 0;
        if ((flags & 1) == 0) {
            continue;
        }
        wmem_strbuf_append(names, wmem_strbuf_get_len(names) == 0 ? before_first : before);
        wmem_strbuf_append(names, ue_field_row(field)->label);
        if (number != 0) {
            wmem_strbuf_append_printf(names, " %u", number);
        }
        wmem_strbuf_append(names, behind);
    }
    return names != NULL ? wmem_strbuf_get_str(names) : "";
}

const char *uerudp_analysis_tree_info_marks(const struct uerudp_analysis_tree *a) {
    return list_findings(a, "[", "[", "] ");
}

/* ---- the datagram ---- */

static void report_missing(struct uerudp_analysis_tree *a, const struct uerudp_analysis_result *note) {
    const char *verb = note->number == 1 ? "packet is" : "packets are";
    a->missing = note->number;
    if (note->id < 0) {
        report(a, subtree(a), UE_F_ANALYSIS_LOST, "%u %s missing before this one", note->number, verb);
    } else if (note->number == 1) {
        report(a, subtree(a), UE_F_ANALYSIS_LOST, "1 packet is missing before this one: id %" PRIu64,
               ue_seq_display(note->id));
    } else {
        report(a, subtree(a), UE_F_ANALYSIS_LOST, "%u packets are missing before this one: ids %" PRIu64 " to %" PRIu64,
               note->number, ue_seq_display(note->id - note->number + 1), ue_seq_display(note->id));
    }
    add_number(a, subtree(a), UE_F_ANALYSIS_MISSING, note->number);
}

static bool is_nak(const struct uerudp_analysis_result *note) {
    return note->type == UERUDP_RESULT_NAK && !note->is_set;
}

static bool is_ack_lost(const struct uerudp_analysis_result *note) {
    return note->type == UERUDP_RESULT_NAK && note->is_set;
}

static bool is_ack_of_unseen(const struct uerudp_analysis_result *note) {
    return note->type == UERUDP_RESULT_ACK && note->frame == 0;
}

/* Writes the ids of these, where there are any. */
static uint32_t list_verdicts(const struct uerudp_analysis_tree *a, bool (*is_listed)(const struct uerudp_analysis_result *),
                              wmem_strbuf_t **list) {
    wmem_strbuf_t *ids = NULL;
    uint32_t count = 0;
    for (size_t i = 0; i < a->notes.count; i++) {
        const struct uerudp_analysis_result *note = &a->notes.notes[i];
        if (is_listed(note) && ++count <= IDS_TOLD) {
            ids = ids != NULL ? ids : wmem_strbuf_new(a->pinfo->pool, NULL);
            wmem_strbuf_append_printf(ids, "%s%" PRIu64, count > 1 ? ", " : "", ue_seq_display(note->id));
        }
    }
    if (count > IDS_TOLD) {
        wmem_strbuf_append_printf(ids, " and %u more", count - IDS_TOLD);
    }
    *list = ids;
    return count;
}

static void report_naks(struct uerudp_analysis_tree *a) {
    wmem_strbuf_t *ids;
    a->naks = list_verdicts(a, is_nak, &ids);
    if (a->naks != 0) {
        report(a, subtree(a), UE_F_ANALYSIS_NAK, "%u %s reported as not delivered: %s %s", a->naks,
               a->naks == 1 ? "packet is" : "packets are", a->naks == 1 ? "id" : "ids", wmem_strbuf_get_str(ids));
    }
}

static void report_unseen(struct uerudp_analysis_tree *a) {
    wmem_strbuf_t *ids;
    uint32_t count = list_verdicts(a, is_ack_of_unseen, &ids);
    if (count != 0) {
        report(a, subtree(a), UE_F_ANALYSIS_ACK_OF_UNSEEN, "%u %s reported as delivered but not in the capture: %s %s",
               count, count == 1 ? "packet is" : "packets are", count == 1 ? "id" : "ids", wmem_strbuf_get_str(ids));
    }
}

/* Of packets for which this one is just the first to come behind the proof. */
static void report_lost_acks(struct uerudp_analysis_tree *a) {
    wmem_strbuf_t *ids;
    uint32_t count = list_verdicts(a, is_ack_lost, &ids);
    if (count != 0) {
        expert_add_info_format(a->pinfo, proto_tree_get_parent(subtree(a)), &uerudp_experts.ack_lost,
                               "Lost to the sender, which the acknowledgements did not reach: %s %s",
                               count == 1 ? "id" : "ids", wmem_strbuf_get_str(ids));
    }
}

static void show_note(struct uerudp_analysis_tree *a, const struct uerudp_analysis_result *note) {
    switch (note->type) {
    case UERUDP_RESULT_MISSING: report_missing(a, note); break;
    case UERUDP_RESULT_OUT_OF_ORDER:
        report(a, subtree(a), UE_F_ANALYSIS_OUT_OF_ORDER, "A packet with a higher id came before this one");
        break;
    case UERUDP_RESULT_DUPLICATE:
        report(a, subtree(a), UE_F_ANALYSIS_DUPLICATE, "This packet was captured before, in frame %u", note->frame);
        add_frame(a, subtree(a), UE_F_ANALYSIS_DUPLICATE_OF, note->frame);
        break;
    case UERUDP_RESULT_PACKETS_IN_FLIGHT: add_number(a, subtree(a), UE_F_ANALYSIS_PACKETS_IN_FLIGHT, note->number); break;
    case UERUDP_RESULT_JITTER: add_span(a, subtree(a), UE_F_ANALYSIS_JITTER, note->span_ns); break;
    case UERUDP_RESULT_HANDSHAKE_RTT: add_span(a, subtree(a), UE_F_ANALYSIS_HANDSHAKE_RTT, note->span_ns); break;
    case UERUDP_RESULT_ACK:
        add_frame(a, subtree(a), UE_F_ANALYSIS_ACKS_FRAME, note->frame);
        add_span(a, subtree(a), UE_F_ANALYSIS_ACK_RTT, note->span_ns);
        break;
    case UERUDP_RESULT_NAK: add_frame(a, subtree(a), UE_F_ANALYSIS_NACKS_FRAME, note->is_set ? 0 : note->frame); break;
    case UERUDP_RESULT_ACKED_IN: add_frame(a, subtree(a), UE_F_ANALYSIS_ACKED_IN, note->frame); break;
    case UERUDP_RESULT_NACKED_IN: add_frame(a, subtree(a), UE_F_ANALYSIS_NACKED_IN, note->frame); break;
    default: break;
    }
}

void uerudp_analysis_tree_add_datagram(struct uerudp_analysis_tree *a, proto_tree *datagram) {
    struct uerudp_analysis_results part = uerudp_analysis_results_of_datagram(&a->notes);
    a->parent = datagram;
    for (size_t i = 0; i < part.count; i++) {
        show_note(a, &part.notes[i]);
    }
    report_naks(a);
    report_lost_acks(a);
    report_unseen(a);
    if (uerudp_analysis_results_all_flags(&a->notes) != 0 && proto_field_is_referenced(a->parent, uerudp_hf[UE_F_ANALYSIS_FLAGS])) {
        proto_item *item = proto_tree_add_item(subtree(a), uerudp_hf[UE_F_ANALYSIS_FLAGS], a->ground->tvb, 0, 0, ENC_NA);
        proto_item_set_generated(item);
        if (uerudp_item_label_is_visible(item)) {
            proto_item_append_text(item, "%s", list_findings(a, ": ", ", ", ""));
        }
    }
}

/* ---- bunches ---- */

/* A bunch, its subtree, and how sentences call it. */
struct bunch {
    proto_tree *tree;
    int64_t id;
    uint64_t channel;
};

static void show_copy(struct uerudp_analysis_tree *a, const struct bunch *bunch, const struct uerudp_analysis_result *note) {
    if (note->first_frame == 0) {
        report(a, bunch->tree, UE_F_ANALYSIS_RETRANSMISSION,
               "Reliable bunch #%" PRId64 " of channel %" PRIu64 " sent again, long after its first copy", bunch->id,
               bunch->channel);
        return;
    }
    report(a, bunch->tree, UE_F_ANALYSIS_RETRANSMISSION,
           "Reliable bunch #%" PRId64 " of channel %" PRIu64 " sent again: copy %u; first in frame %u, which %s",
           bunch->id, bunch->channel, note->number, note->first_frame,
           note->is_set ? "was acknowledged" : "was not acknowledged");
    if (note->is_set) {
        report(a, bunch->tree, UE_F_ANALYSIS_SPURIOUS_RETRANSMISSION,
               "Reliable bunch #%" PRId64 " of channel %" PRIu64 " sent again although it had been delivered",
               bunch->id, bunch->channel);
    }
    add_frame(a, bunch->tree, UE_F_ANALYSIS_RETRANSMISSION_OF, note->frame);
    mark_frame_as_depended_upon(UERUDP_DEPENDENT_FRAME(a->pinfo), note->frame); /* to be saved with it */
}

static void show_reliable(struct uerudp_analysis_tree *a, const struct bunch *bunch, const struct uerudp_analysis_result *note) {
    add_number(a, bunch->tree, UE_F_BUNCH_RELIABLE_ID, (uint64_t)note->id);
    add_number(a, bunch->tree, UE_F_ANALYSIS_RELIABLE_IN_FLIGHT, note->number);
    if (note->is_set) {
        report(a, bunch->tree, UE_F_ANALYSIS_BUFFER_HIGH,
               "%u reliable bunches of channel %" PRIu64 " are not acknowledged; the buffer holds %u", note->number,
               bunch->channel, a->reliable_buffer);
    }
}

static void show_gap(struct uerudp_analysis_tree *a, const struct bunch *bunch, const struct uerudp_analysis_result *note) {
    if (note->is_set) {
        report(a, bunch->tree, UE_F_ANALYSIS_RELIABLE_JUMP,
               "More reliable bunches of channel %" PRIu64 " are missing before #%" PRId64
               " than the buffer of %u can hold",
               bunch->channel, bunch->id, a->reliable_buffer);
    } else {
        report(a, bunch->tree, UE_F_ANALYSIS_RELIABLE_GAP,
               "Reliable bunches of channel %" PRIu64 " right before #%" PRId64 " were not captured so far",
               bunch->channel, bunch->id);
    }
}

static void show_bunch_note(struct uerudp_analysis_tree *a, const struct bunch *bunch, const struct uerudp_analysis_result *note) {
    switch (note->type) {
    case UERUDP_RESULT_RELIABLE: show_reliable(a, bunch, note); break;
    case UERUDP_RESULT_RETRANSMISSION: show_copy(a, bunch, note); break;
    case UERUDP_RESULT_RETRANSMITTED_IN: add_frame(a, bunch->tree, UE_F_ANALYSIS_RETRANSMITTED_IN, note->frame); break;
    case UERUDP_RESULT_RELIABLE_GAP: show_gap(a, bunch, note); break;
    case UERUDP_RESULT_PARTIAL_ERROR:
        if (note->number != UE_REASSEMBLY_NO_PROBLEM) {
            break; /* it is told with the fragments that are given up */
        }
        report(a, bunch->tree, UE_F_ANALYSIS_PARTIAL_ERROR,
               "This part of a message on channel %" PRIu64 " does not fit those around it", bunch->channel);
        break;
    default: break;
    }
}

void uerudp_analysis_tree_add_bunch(struct uerudp_analysis_tree *a, proto_tree *tree, const struct uerudp_analysis_results *notes, uint32_t item,
                            uint64_t channel) {
    const struct uerudp_analysis_result *reliable = uerudp_analysis_results_find(notes, UERUDP_RESULT_RELIABLE);
    const struct bunch bunch = {tree, reliable != NULL ? reliable->id : 0, channel};
    struct uerudp_analysis_results first = uerudp_analysis_results_of_item(&a->first, item);
    const struct uerudp_analysis_result *known = uerudp_analysis_results_find(&first, UERUDP_RESULT_RELIABLE);
    if (known != NULL) {
        add_number(a, tree, UE_F_BUNCH_RELIABLE_ID, (uint64_t)known->id);
    }
    for (size_t i = 0; i < notes->count; i++) {
        show_bunch_note(a, &bunch, &notes->notes[i]);
    }
}
